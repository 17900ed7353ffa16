"""Faults found in other software for the same numbers: each is described by what it does, and shown not to happen here.

The merging of outputs with different likelihood ratios has its test with the four-valued sums.
"""

import math

import numpy as np
import pytest

from shuffledp import (
    DomainError,
    GenericRandomizer,
    PrivacyCurve,
    RandomizedResponse,
    blanket_exact,
    blanket_mgf,
    clones,
    shuffled_krr,
    shuffled_rr,
)

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


@pytest.mark.parametrize(
    "curve, epsilon, delta",
    [
        (clones(40, 1000), 1.0, 0.9999999999999978),
        (clones(100, 10**6), 1.0, 0.9999999999999999),
        (clones(20, 1000), 19.0, 0.632119906728655),
        (clones(37.5, 1000), 36.5, 0.6321205588285412),
        (clones(1, 1000), 0.9999999, 4.725737711351535e-96),
        (clones(1, 2), math.nextafter(1, 0), 6.623455872045793e-17),
        (blanket_exact(RandomizedResponse(5, 100.0), 1000), 1.0, 0.9999999999999999),
        (blanket_exact(RandomizedResponse(10, 1.0), 200), 0.9999999, 1.2192945000407922e-134),
        (shuffled_krr(3, 30, 10**6), 29.0, 0.6321204652523108),
        (shuffled_krr(3, 8, 12), 7.9992, 8.016584854349075e-13),
        (shuffled_krr(5, 8, 100), 7.9992, 2.412673930763705e-81),
        (shuffled_krr(10, 22.8, 996), 22.7999999, 4.70246503441185e-15),
        (shuffled_krr(10, 28.5, 100, "first"), 28.4999999, 9.999999613086563e-08),
        (shuffled_krr(4, 6, 300, "first"), 5.9999999, 1.0832457741155836e-08),
    ],
    ids=lambda value: f"{value.name}" if hasattr(value, "name") else f"{value:.3g}",
)
def test_corners_of_the_domain(curve, epsilon, delta):
    """Subtracting e^epsilon from e^epsilon0, or a rare count from the total, loses the digits of what is left.

    The values are enclosed by `shuffledp.certify`.
    """
    assert curve.delta(epsilon) == pytest.approx(delta, rel=1e-12, abs=0)


def test_compositions_next_to_epsilon0():
    """Far from the best threshold a large circle of integration leaves only rounding, which must not win."""
    curve = shuffled_rr(1.0, 150, ones=148, direction="reverse")
    logs = curve.log_delta([1 - 1e-15, math.nextafter(1, 0)])
    assert logs[0] == pytest.approx(-229.5288291200743, rel=1e-13, abs=0)
    assert logs[1] == pytest.approx(-231.72605369741052, rel=1e-13, abs=0)
    assert shuffled_rr(355, 5, 2, "forward").log_delta(354.999) == pytest.approx(-716.9082552373391, rel=1e-13, abs=0)
    with pytest.raises(DomainError, match="epsilon0 <= 600"):
        shuffled_rr(671.5, 17, 8)


def test_moment_bound_at_huge_epsilon0():
    """The square of e^epsilon0 e^epsilon overflows; a value that is no number must not make the search endless."""
    curve = blanket_mgf(GenericRandomizer(230), 10**6)
    assert 0.99 < curve.delta(170.0) <= 1 and 229 < curve.epsilon(1e-6) < 230
    void = PrivacyCurve(lambda epsilon: np.full(epsilon.shape, np.nan), name="void", kind="upper bound")
    with pytest.raises(ArithmeticError, match="void has no value"):
        void.epsilon(1e-6)


@pytest.mark.parametrize("n", [1017480, 10**9])
def test_delta_far_below_any_double_is_0_where_its_log_cannot_be_vouched_for(n):
    """Over the whole range of epsilon, as for a plot: once an ArithmeticError."""
    curve = shuffled_krr(100, 0.25399444076507466, n)
    deltas = curve.delta(np.linspace(0, 0.26, 60))
    assert deltas[0] > 0 and np.all(np.diff(deltas) <= 0) and deltas[-1] == 0
    single = shuffled_krr(5, 0.25399444076507466, 1017480)
    with pytest.raises(ArithmeticError, match="vouches"):
        single.log_delta(0.23655659025279552)
    assert single.delta(0.23655659025279552) == 0.0
