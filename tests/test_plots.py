"""Figures of the book share one look, and numbers never need matplotlib."""

import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from shuffledp import RandomizedResponse, blanket_mgf, shuffled_rr  # noqa: E402
from shuffledp.plots import COLOURS, curves, epsilon_against_n, figure  # noqa: E402

RR = RandomizedResponse(2, 1.0)


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


def test_curves_and_epsilon_against_n_draw_what_the_curves_say():
    fig, ax = curves({"exact": shuffled_rr(1.0, 1000), "bound": blanket_mgf(RR, 1000)}, [0.0, 0.1, 0.2])
    exact, bound = ax.get_lines()
    assert exact.get_color() == "black" != bound.get_color() and ax.get_yscale() == "log"
    assert list(exact.get_ydata()) == list(shuffled_rr(1.0, 1000).delta([0.0, 0.1, 0.2]))
    plt.close(fig)
    fig, ax = epsilon_against_n({"exact": lambda n: shuffled_rr(1.0, n)}, [100, 10**4, 10**15], 1e-6)
    (line,) = ax.get_lines()
    assert list(line.get_xdata()) == [100, 10**4]  # at 10**15 users epsilon is 0
    assert list(line.get_ydata()) == [shuffled_rr(1.0, n).epsilon(1e-6) for n in (100, 10**4)]
    plt.close(fig)
