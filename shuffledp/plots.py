"""One look for every figure of the book; the only module that imports matplotlib."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler

from .core.curves import PrivacyCurve

__all__ = ["COLOURS", "EXACT", "REFERENCE", "curves", "epsilon_against_n", "figure"]

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


def curves(labelled: dict[str, PrivacyCurve], epsilons, *, size: tuple[float, float] = (6.4, 4.0)):
    """Delta against epsilon, on a log scale, for several curves at one setting.

    Parameters
    ----------
    labelled : dict of str to PrivacyCurve
        Curves by label; those of kind "exact" are drawn in black.
    epsilons : array_like
        Where to evaluate; at least 0.

    Returns
    -------
    Figure, Axes
    """
    fig, ax = figure(size=size)
    epsilons = np.asarray(epsilons, float)
    for label, curve in labelled.items():
        deltas = curve.delta(epsilons)
        shown = deltas > 0
        ax.semilogy(epsilons[shown], deltas[shown], label=label, **(EXACT if curve.kind == "exact" else {}))
    ax.set(xlabel=r"central privacy parameter $\varepsilon$", ylabel=r"$\delta$")
    ax.legend()
    return fig, ax


def epsilon_against_n(labelled: dict, users, delta: float, *, size: tuple[float, float] = (6.4, 4.0)):
    """Epsilon at a fixed delta against the number of users, both on log scales.

    Parameters
    ----------
    labelled : dict of str to callable
        From label to a function of n that returns a `PrivacyCurve`; exact ones are drawn in black.
    users : sequence of int
    delta : float
        In (0, 1). Points where epsilon is 0 are left out.

    Returns
    -------
    Figure, Axes
    """
    fig, ax = figure(size=size)
    for label, make in labelled.items():
        made = [make(int(n)) for n in users]
        epsilons = np.array([curve.epsilon(delta) for curve in made])
        shown = epsilons > 0
        style = EXACT if made[0].kind == "exact" else {}
        ax.loglog(np.asarray(users, float)[shown], epsilons[shown], label=label, **style)
    ax.set(xlabel="number of users $n$", ylabel=rf"$\varepsilon$ at $\delta$ = {delta:g}")
    ax.legend()
    return fig, ax
