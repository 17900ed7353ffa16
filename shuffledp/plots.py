"""One look for every figure of the book; the only module that imports matplotlib."""

from __future__ import annotations

import matplotlib.pyplot as plt
from cycler import cycler

__all__ = ["COLOURS", "EXACT", "REFERENCE", "figure"]

# Okabe and Ito's palette without its yellow: distinct for colour-blind readers, visible on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)))

EXACT = {"color": "black", "linestyle": "-", "linewidth": 2.0}  # exact values, in every figure
REFERENCE = {"color": "0.45", "linestyle": "-", "linewidth": 0.8}  # axes of comparison such as ratio 1


def figure(columns: int = 1, *, size: tuple[float, float] = (6.4, 4.0), **subplots):
    """A white figure whose curves differ in colour and in line style.

    Parameters
    ----------
    columns : int
        Number of axes side by side.
    size : pair of float
        Width and height in inches.
    **subplots
        Passed to `matplotlib.pyplot.subplots`, for example ``sharey=True``.

    Returns
    -------
    Figure, Axes or array of Axes
    """
    fig, axes = plt.subplots(1, columns, figsize=size, facecolor="white", layout="constrained", **subplots)
    for ax in fig.axes:
        ax.set_facecolor("white")
        ax.set_prop_cycle(cycler(color=COLOURS) + cycler(linestyle=_STYLES))
        ax.grid(True, color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return fig, axes
