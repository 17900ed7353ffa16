"""The picture on the welcome page is the one that its notebook draws."""

import base64
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "book" / "_static" / "lost-root.png"


def drawn(notebook: str, name: str) -> bytes:
    """The stored picture of the cell whose figure has this name."""
    for cell in nbformat.read(ROOT / "notebooks" / notebook, as_version=4).cells:
        if cell.metadata.get("mystnb", {}).get("figure", {}).get("name") == name:
            return base64.b64decode(next(o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})))
    raise LookupError(f"{notebook} has no figure {name}")


def test_the_picture_is_what_the_notebook_draws():
    picture = drawn("privacy_models.ipynb", "fig-damaged")
    assert PICTURE.read_bytes() == picture, f"stale: write the notebook's picture fig-damaged to {PICTURE.name}"


def test_another_picture_would_be_noticed():
    assert PICTURE.read_bytes() != drawn("privacy_models.ipynb", "fig-error")
