"""With every statement replaced by its slip, every derivation of every notebook must fail, and no cell it rests on may.

Of a notebook only those cells are run: a derivation, and every earlier cell that makes a name it needs.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

HERE = Path(__file__).resolve()
NOTEBOOKS = sorted((HERE.parents[2] / "notebooks").glob("*.ipynb"))


def names(source: str) -> tuple[set[str], set[str]]:
    """The names a cell makes for later ones (imports included), and those it uses."""
    made, used = set(), set()

    def visit(node, inside: bool) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
        elif isinstance(node, ast.Name) and not inside:
            made.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            used.add(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and not inside:
            made.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom) and not inside:
            made.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        local = ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.comprehension
        for child in ast.iter_child_nodes(node):
            visit(child, inside or isinstance(node, local))

    visit(ast.parse(source), False)
    return made, used


def derives(cell) -> bool:
    return cell.cell_type == "code" and "derived(" in cell.source


def what_derivations_need(notebook) -> list:
    """The derivations and, before them, every cell that makes a name they need, in order."""
    kept, needed = [], set()
    for cell in reversed([cell for cell in notebook.cells if cell.cell_type == "code"]):
        made, used = names(cell.source)
        if derives(cell) or made & needed:
            needed = (needed - made) | used
            kept.insert(0, cell)
    return kept


@pytest.fixture(scope="module")
def run():
    """Runs sources where every statement is replaced by its slip; returns the names of the errors they raise."""
    with subprocess.Popen(
        [sys.executable, HERE.with_name("run_cells.py")],
        cwd=NOTEBOOKS[0].parent,
        env={**os.environ, "SHUFFLEDP_PERTURB": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def ask(sources):
            print(json.dumps(sources), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_derivation_fails_on_a_perturbed_ledger(path, run):
    cells = what_derivations_need(nbformat.read(path, as_version=4))
    assert any(map(derives, cells)), "a notebook that derives no claim"
    found = run([cell.source for cell in cells])
    assert found == ["NotDerived" if derives(cell) else None for cell in cells]


def test_cells_run_as_in_a_notebook(run):
    """One namespace for all cells, a new one for every notebook; a cell that fails does not end it."""
    assert run(["a = 1", "1 / 0", "print(a)", "def f(): return a", "assert f() == 1"]) == [
        None,
        "ZeroDivisionError",
        None,
        None,
        None,
    ]
    assert run(["a", "import os; os._exit(1)"]) is None
    assert run(["a"]) == ["NameError"]


def test_what_a_derivation_does_not_need_is_left_out():
    sources = [
        "import sympy as sp",
        "x = sp.Symbol('x')",
        "y = 2",
        "print(y)",
        "z = x**2",
        "sdp.claims.derived('a.b', z)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    assert [cell.source for cell in what_derivations_need(notebook)] == [sources[i] for i in (0, 1, 4, 5)]
