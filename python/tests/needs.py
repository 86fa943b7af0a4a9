"""Packages that some tests need and that may be missing: such tests are skipped and named; with CI=true they fail."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest


def package(name: str) -> ModuleType:
    """Imports a package, or skips the tests of the module or the test that asks for it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        problem = f"{name} is not installed ({error})"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{problem}, expected with CI=true", pytrace=False)
        pytest.skip(problem, allow_module_level=True)
