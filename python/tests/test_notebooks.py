"""The notebooks run, and print what they show."""

from __future__ import annotations

from pathlib import Path

import needs
import pytest

nbformat = needs.package("nbformat")
nbclient = needs.package("nbclient")
needs.package("ipykernel")
needs.package("matplotlib")
# The notebook of sweeps shows what it prints with Ray.
needs.package("ray")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What every cell of code prints."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    streams = [[output.text for output in cell.outputs if output.get("name") == "stdout"] for cell in cells]
    return ["".join(texts) for texts in streams]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 4


@pytest.mark.filterwarnings("default")  # Warnings of the notebooks' kernel are not ours.
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    shown = printed(notebook)
    assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code" and "print" in cell.source)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert printed(notebook) == shown
