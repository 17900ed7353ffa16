"""Run the notebooks and store their outputs: ``python notebooks/refresh.py [paths]`` (all of them by default).

A second run changes nothing: time stamps are dropped, and a figure that looks the same as the stored one is kept.
"""

import base64
import io
import sys
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient
from PIL import Image

HERE = Path(__file__).resolve().parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
BLUR = 4  # pixels: machines may draw the edges of letters and lines a fraction of a pixel apart
TOLERANCE = 48  # of 255 grey levels after the blur; a curve changed by one per cent exceeds it


def picture(png: str) -> np.ndarray:
    """Decode a base64 PNG to grey levels on white, rows x columns, 0 to 255."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    paper = Image.new("RGBA", image.size, "white")
    return np.asarray(Image.alpha_composite(paper, image).convert("L"), dtype=float)


def _blurred(grey: np.ndarray) -> np.ndarray:
    """Mean over every BLUR x BLUR window."""
    total = np.pad(grey.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    return (total[BLUR:, BLUR:] - total[:-BLUR, BLUR:] - total[BLUR:, :-BLUR] + total[:-BLUR, :-BLUR]) / BLUR**2


def same_picture(old: str, new: str) -> bool:
    """Whether two base64 PNGs show the same: sizes within 3 pixels, and no spot that differs after a slight blur."""
    a, b = picture(old), picture(new)
    if max(abs(p - q) for p, q in zip(a.shape, b.shape, strict=True)) > 3:
        return False
    rows, columns = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
    difference = np.abs(_blurred(a[:rows, :columns]) - _blurred(b[:rows, :columns]))
    return bool(difference.max(initial=0.0) <= TOLERANCE)


def pictures(cell) -> list[str]:
    return [o["data"]["image/png"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]


def keep_samepictures(old, new) -> None:
    """Where a cell draws what its stored version shows, put the stored bytes back."""
    stored = {cell.get("id"): pictures(cell) for cell in old.cells}
    for cell in new.cells:
        known = stored.get(cell.get("id"), [])
        drawn = [o["data"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
        if len(known) == len(drawn):
            for was, data in zip(known, drawn, strict=True):
                if same_picture(was, data["image/png"]):
                    data["image/png"] = was


def refresh(path: Path) -> bool:
    """Run one notebook and store its outputs; return whether the file changed."""
    text = path.read_text(encoding="utf8")
    notebook = nbformat.reads(text, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata = METADATA
    for cell in notebook.cells:
        for key in ("execution", "collapsed", "scrolled"):
            cell.metadata.pop(key, None)
    keep_samepictures(nbformat.reads(text, as_version=4), notebook)
    fresh = nbformat.writes(notebook).rstrip("\n") + "\n"
    if fresh != text:
        path.write_text(fresh, encoding="utf8")
    return fresh != text


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb")):
        print(f"{path.name}: {'stored anew' if refresh(path) else 'unchanged'}", flush=True)
