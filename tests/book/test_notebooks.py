"""The comparison of stored figures with new ones, and the strictness added to nbval."""

import base64
import importlib.util
import io
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("refresh", ROOT / "notebooks" / "refresh.py")
REFRESH = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(REFRESH)


def drawing(slope=1.0, nudge=0.0, size=(300, 400)):
    """A falling curve two pixels wide with soft edges, as a base64 PNG."""
    rows, columns = np.mgrid[: size[0], : size[1]]
    height = 20 + slope * 0.6 * columns + nudge
    ink = np.clip(1.5 - np.abs(rows - height), 0, 1)
    png = io.BytesIO()
    Image.fromarray((255 * (1 - ink)).astype(np.uint8)).save(png, "png")
    return base64.b64encode(png.getvalue()).decode()


@pytest.mark.parametrize("new", [drawing(), drawing(nudge=0.3), drawing(size=(301, 400))])
def test_the_same_picture_drawn_on_another_machine_passes(new):
    assert REFRESH.same_picture(drawing(), new)


@pytest.mark.parametrize("new", [drawing(slope=1.02), drawing(slope=0.98), drawing(nudge=3), drawing(size=(300, 380))])
def test_a_changed_picture_is_noticed(new):
    assert not REFRESH.same_picture(drawing(), new)


SOURCE = "import io\nfrom IPython.display import Image, display\nfrom PIL import Image as P\n"
DRAW = "b = io.BytesIO(); P.new('L', (60, 60), {}).save(b, 'png'); display(Image(b.getvalue()))"


def stripped(notebook):
    for cell in notebook.cells:
        cell.outputs, cell.execution_count = [], None


def emptied(notebook):
    notebook.cells[0].outputs = []


def wrong_number(notebook):
    notebook.cells[0].outputs[0].text = "43\n"


def stale_picture(notebook):
    notebook.cells[1].source = DRAW.format(140)


def ignored(notebook):
    notebook.cells[0].source = "# NBVAL_IGNORE_OUTPUT\n" + notebook.cells[0].source


FAILURES = {stripped: [0, 1], emptied: [0], wrong_number: [0], stale_picture: [1], ignored: [0, 1]}


def test_the_strict_run_finds_each_way_to_go_stale(tmp_path):
    path = tmp_path / "sound.ipynb"
    cells = [nbformat.v4.new_code_cell(SOURCE + "print(6 * 7)"), nbformat.v4.new_code_cell(DRAW.format(40))]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert REFRESH.refresh(path) and not REFRESH.refresh(path)  # a second run changes nothing
    for change in FAILURES:
        notebook = nbformat.read(path, as_version=4)
        change(notebook)
        nbformat.write(notebook, tmp_path / f"{change.__name__}.ipynb")
    for name in ("conftest.py", "refresh.py"):
        (tmp_path / name).write_text((ROOT / "notebooks" / name).read_text())
    options = ["-q", "-rf", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "--nbval", "--nbval-current-env"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)], capture_output=True, text=True, check=False
    )
    failed = set(re.findall(r"^FAILED .*\b(\w+)\.ipynb::Cell (\d)", run.stdout, re.M))
    assert failed == {(change.__name__, str(cell)) for change, cells in FAILURES.items() for cell in cells}, run.stdout
