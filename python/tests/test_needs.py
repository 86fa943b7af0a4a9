"""Tests whose packages are missing are skipped and named; with CI=true they fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import needs

needs.package("no_such_package")


def test_nothing():
    raise AssertionError("cannot run")
"""


@pytest.mark.parametrize(("ci", "status", "words"), [("true", 2, "1 error"), ("", 0, "1 skipped"), ("false", 0, "1 skipped")])
def test_a_missing_package_skips_a_test_and_fails_it_with_ci(tmp_path, ci, status, words):
    (tmp_path / "test_it.py").write_text(PROGRAM)
    environment = os.environ | {"CI": ci, "PYTHONPATH": str(Path(__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "test_it.py"]
    made = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    # Pytest ends with 5 if there was no test to run.
    assert made.returncode in ({status, 5} if status == 0 else {status}), made.stdout
    assert words in made.stdout and "no_such_package is not installed" in made.stdout
