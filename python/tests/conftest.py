"""What the tests share: the command `losscause`, whose path `LOSSCAUSE` holds."""

import os
import subprocess
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def losscause_command() -> Callable[..., str]:
    """Runs the command of the same source and returns what it prints."""
    program = os.environ["LOSSCAUSE"]

    def run(*arguments: str) -> str:
        made = subprocess.run([program, *arguments], capture_output=True, check=True, text=True)
        return made.stdout

    return run
