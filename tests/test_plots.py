"""Figures of the book share one look, and numbers never need matplotlib."""

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from shuffledp.plots import COLOURS, figure  # noqa: E402


def test_curves_differ_in_colour_and_in_line_style():
    fig, ax = figure()
    lines = [ax.plot([0, 1], [0, k])[0] for k in range(len(COLOURS))]
    assert len({line.get_color() for line in lines}) == len(COLOURS)
    assert len({str(line.get_linestyle()) + str(line._unscaled_dash_pattern) for line in lines}) == len(COLOURS)
    assert fig.get_facecolor() == ax.get_facecolor() == (1, 1, 1, 1)
    plt.close(fig)


def test_axes_side_by_side_share_the_look():
    fig, axes = figure(2, sharey=True)
    assert [ax.plot([0, 1])[0].get_color() for ax in axes] == [COLOURS[0]] * 2
    plt.close(fig)


def test_the_library_does_not_import_matplotlib():
    code = "import sys, shuffledp, shuffledp.claims; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
