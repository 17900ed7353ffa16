"""With every statement replaced by its slip, every derivation of every notebook must fail, and nothing else may."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_derivation_fails_on_a_perturbed_ledger(path, monkeypatch):
    monkeypatch.setenv("SHUFFLEDP_PERTURB", "1")
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    errors = {
        index: [o.ename for o in cell.outputs if o.output_type == "error"]
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code"
    }
    derivations = {i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code" and "derived(" in cell.source}
    assert derivations, "a notebook that derives no claim"
    assert {i for i, names in errors.items() if names == ["NotDerived"]} == derivations
    assert not [i for i, names in errors.items() if names and i not in derivations]
