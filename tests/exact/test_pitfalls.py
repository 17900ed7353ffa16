"""Faults found in other software for the same numbers: each is described by what it does, and shown not to happen here.

The merging of outputs with different likelihood ratios has its test with the four-valued sums.
"""

import math

import numpy as np
import pytest

from shuffledp import shuffled_krr, shuffled_rr

CURVES = [shuffled_rr(1.0, 1000), shuffled_rr(1.0, 1000, ones=300), shuffled_krr(10, 1.0, 200)]


@pytest.mark.parametrize("n", [2, 3, 19, 20, 50, 99, 100])
def test_few_users_get_no_epsilon_near_zero(n):
    """Summing in blocks of users, and leaving the last, incomplete block out, gives epsilon 0 for few users."""
    epsilon = shuffled_rr(1.0, n).epsilon(1e-2)
    assert epsilon > 0.1
    assert shuffled_rr(1.0, n).delta(0.99 * epsilon) > 1e-2


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_no_floor_under_delta(curve):
    """A least delta of 1e-11, added or substituted, turns epsilon into epsilon0 for every smaller target."""
    epsilon = [curve.epsilon(delta) for delta in (1e-10, 1e-11, 1e-12, 1e-17, 1e-30)]
    assert all(later > 1.01 * earlier for earlier, later in zip(epsilon, epsilon[1:], strict=False))
    assert epsilon[-1] < 0.9
    assert curve.delta(0.8) < 1e-11  # a floor would also make a lower bound of this exact value wrong


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_epsilon_zero_and_epsilon0_are_ordinary_arguments(curve):
    """Dividing by epsilon, or by the distance to epsilon0, fails at the two ends."""
    deltas = curve.delta([0.0, 5e-324, 1e-300, 1.0 - 1e-15, 1.0, 50.0])
    assert np.all(np.isfinite(deltas)) and deltas[0] == pytest.approx(deltas[2]) and deltas[0] > 0
    assert deltas[-1] == deltas[-2] == 0.0


def test_large_epsilon0_does_not_overflow():
    """e^epsilon0 - e^epsilon or cosh(epsilon0) in the clear overflow, or leave 0/0, from epsilon0 = 40 or 350 on."""
    for epsilon0 in (40.0, 350.0, 700.0):
        curve = shuffled_rr(epsilon0, 1000)
        assert curve.delta(epsilon0 / 2) == pytest.approx(-math.expm1(-epsilon0 / 2), rel=1e-9, abs=0)
        assert epsilon0 - 20 < curve.epsilon(1e-6) < epsilon0


def test_tails_are_not_cut():
    """A fixed window of a few standard deviations, its mass dropped, returns 0 or far too little in the tail."""
    curve = shuffled_rr(1.0, 1000)
    logs = curve.log_delta(np.linspace(0.1, 0.99, 90))
    assert np.all(np.isfinite(logs)) and np.all(np.diff(logs) < 0)
    assert curve.delta(0.55) > 1e-60 > curve.delta(0.75) > 0


def test_epsilon_is_the_safe_end_of_its_bracket():
    """A bisection that returns the wrong end, or stops in the middle, gives an epsilon whose delta is too large."""
    for curve in CURVES:
        for delta in (1e-3, 1e-6, 1e-9):
            epsilon = curve.epsilon(delta)
            assert curve.delta(epsilon) <= delta < curve.delta(epsilon * (1 - 1e-9))


def test_large_n_is_exact_and_not_cut_off():
    """A sum over at most 1e5 terms loses part of the law from about n = 1e9 on: delta of n = 1e10 is then too small."""
    scaled = [math.sqrt(n) * shuffled_rr(1.0, n).delta(2 / math.sqrt(n)) for n in (10**8, 10**10, 10**12)]
    assert scaled[1] == pytest.approx(scaled[0], rel=1e-3, abs=0) and scaled[2] == pytest.approx(
        scaled[1], rel=1e-4, abs=0
    )
