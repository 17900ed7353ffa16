"""Estimator against enumeration in exact rationals, tails and coverage against exact laws, hostile calls refused."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from shuffledp import (
    DomainError,
    calibrate_frequency,
    estimate_frequency,
    frequency_variance,
    gdp,
    shuffled_rr,
)
from shuffledp.protocols.frequency import log_upper_tail


def law(zeros, ones, flip):
    """Law of the number of ones reported, one user after the other."""
    out = [flip * 0 + 1]
    for chance in [flip] * zeros + [1 - flip] * ones:
        stay, move = [*out, 0], [0, *out]
        out = [(1 - chance) * a + chance * b for a, b in zip(stay, move, strict=True)]
    return out


# -- estimate and variance -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(3), Fraction(50)])
@pytest.mark.parametrize(("n", "k"), [(2, 0), (2, 1), (5, 2), (9, 9)])
def test_unbiased_with_the_stated_variance(odds, n, k):
    flip = 1 / (1 + odds)
    shares = law(n - k, k, flip)
    values = [(Fraction(i, n) - flip) / (1 - 2 * flip) for i in range(n + 1)]
    mean = sum(p * v for p, v in zip(shares, values, strict=True))
    variance = sum(p * (v - mean) ** 2 for p, v in zip(shares, values, strict=True))
    assert mean == Fraction(k, n)
    epsilon0 = math.log(odds)
    assert frequency_variance(epsilon0, n) == pytest.approx(float(variance), rel=1e-14, abs=0)
    assert frequency_variance(2 * epsilon0, n) != pytest.approx(float(variance), rel=0.1, abs=0)  # sinh(eps0), not half
    for i, value in enumerate(values):
        assert estimate_frequency(i, n, epsilon0).estimate == pytest.approx(float(value), rel=1e-14, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-12, 600), st.integers(2, 10**15))
def test_variance_to_fifty_digits(epsilon0, n):
    with mp.workdps(50):
        exact = 1 / (4 * n * mp.sinh(mp.mpf(epsilon0) / 2) ** 2)
    assert frequency_variance(epsilon0, n) == pytest.approx(float(exact), rel=1e-14, abs=0)


def test_clipping_would_make_it_biased():
    flip, n = Fraction(1, 4), 4
    shares = law(n, 0, flip)
    clipped = [min(max((Fraction(i, n) - flip) / (1 - 2 * flip), 0), 1) for i in range(n + 1)]
    assert sum(p * v for p, v in zip(shares, clipped, strict=True)) > Fraction(1, 10)  # the truth is 0


# -- interval ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon0", [1e-3, 1.0, 8.0, 40.0, 600.0])
@pytest.mark.parametrize(("n", "ones"), [(2, 0), (2, 1), (40, 0), (40, 13), (40, 40), (150, 75)])
def test_upper_tail_against_the_law(epsilon0, n, ones):
    with mp.workdps(40):
        flip = 1 / (1 + mp.exp(mp.mpf(epsilon0)))
        shares = law(n - ones, ones, flip)
        below = sum(i * p for i, p in enumerate(shares)) - 6 * mp.sqrt(n * flip * (1 - flip))
        tail = mp.mpf(0)
        for j in range(n, 0, -1):
            tail += shares[j]
            if j - 0.5 >= below:
                assert log_upper_tail(epsilon0, n - ones, ones, j) == pytest.approx(
                    float(mp.log(tail)), rel=1e-12, abs=1e-11
                )
            else:
                assert tail > mp.mpf(35) / 36
                assert log_upper_tail(epsilon0, n - ones, ones, j) == 0


@pytest.mark.parametrize("n", [10**4, 10**9])
@pytest.mark.parametrize("epsilon0", [0.01, 1.0, 12.0])
def test_upper_tail_for_many_users(n, epsilon0):
    q = 1 / (1 + math.exp(epsilon0))
    for t in (-4, 0, 3, 6):
        j = int(n * q + t * math.sqrt(n * q)) + 1
        if j > 0:
            assert log_upper_tail(epsilon0, n, 0, j) == pytest.approx(
                math.log(betainc(j, n - j + 1, q)), abs=1e-9, rel=0
            )


@pytest.mark.parametrize(
    ("n", "epsilon0", "alpha"), [(30, 1.0, 0.05), (30, 5.0, 0.2), (12, 0.1, 0.05), (60, 3.0, 1e-3)]
)
def test_interval_covers_as_promised(n, epsilon0, alpha):
    flip = 1 / (1 + math.exp(epsilon0))
    found = [estimate_frequency(i, n, epsilon0, alpha) for i in range(n + 1)]
    for k in range(n + 1):
        shares = law(n - k, k, flip)
        missed = [
            sum(p for p, e in zip(shares, found, strict=True) if e.ci_lower > k / n),
            sum(p for p, e in zip(shares, found, strict=True) if e.ci_upper < k / n),
        ]
        assert max(missed) <= alpha / 2
    centre = estimate_frequency(n // 2, n, epsilon0, alpha)
    if centre.ci_lower > 0:  # and not by being wide: one step narrower and some frequency is missed too often
        k = round(centre.ci_lower * n) - 1
        assert sum(law(n - k, k, flip)[n // 2 :]) <= alpha / 2


def test_normal_interval_covers_too_rarely_where_few_answers_are_flipped():
    n, epsilon0, k = 60, 6.0, 30
    half = 1.959964 * math.sqrt(frequency_variance(epsilon0, n))
    shares = law(n - k, k, 1 / (1 + math.exp(epsilon0)))
    hit = sum(p for i, p in enumerate(shares) if abs(estimate_frequency(i, n, epsilon0).estimate - k / n) <= half)
    assert hit < 0.9


def test_symmetric_in_the_labels_and_close_to_normal():
    one, other = estimate_frequency(2300, 6366, 2.0), estimate_frequency(6366 - 2300, 6366, 2.0)
    assert one.estimate == pytest.approx(1 - other.estimate, rel=1e-14, abs=0)
    assert one.ci_lower == pytest.approx(1 - other.ci_upper, rel=1e-14, abs=0)
    width = one.ci_upper - one.ci_lower
    assert width == pytest.approx(2 * 1.959964 * one.standard_error, rel=0.01, abs=0)


def test_ends_of_the_range():
    assert estimate_frequency(3, 10, 600.0).ci_lower == estimate_frequency(3, 10, 600.0).ci_upper == 0.3
    blind = estimate_frequency(5 * 10**14, 10**15, 1e-9)
    assert (blind.ci_lower, blind.ci_upper) == (0, 1)
    impossible = estimate_frequency(0, 1000, 0.5)
    assert impossible.estimate < -1 and impossible.ci_lower == impossible.ci_upper == 0


def test_result_prints_and_converts():
    found = estimate_frequency(np.int64(30), 100, np.float64(1.0))
    assert found.to_dict()["n"] == 100 and list(found.to_dict())[0] == "estimate"
    assert "unbiased, not clipped" in str(found) and "<table" in found._repr_html_()
    with pytest.raises(AttributeError):
        found.estimate = 0.0


# -- calibration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(20, 0.3, 0.05), (1000, 0.5, 1e-6), (10**5, 0.05, 1e-6)])
def test_calibration_holds_for_every_composition_and_wastes_little(n, epsilon, delta):
    epsilon0 = calibrate_frequency(n, epsilon, delta)
    for ones in {0, 1, n // 2, n - 1}:
        assert shuffled_rr(epsilon0, n, ones).delta(epsilon) <= delta
    assert shuffled_rr(1.002 * epsilon0, n, "worst").delta(epsilon) > delta


def test_gaussian_calibration_misses_the_target():
    n, epsilon, delta = 10**4, 0.1, 1e-6
    safe = calibrate_frequency(n, epsilon, delta)
    unsafe = 1.05 * safe
    assert gdp(2 * math.sinh(unsafe / 2) / math.sqrt(n)).delta(epsilon) < 1.9 * delta
    assert shuffled_rr(unsafe, n).delta(epsilon) > 2 * delta


# -- refused -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon0", [0, -1, math.nan, math.inf, 601, "1", True, None])
def test_bad_epsilon0(epsilon0):
    with pytest.raises(DomainError, match="epsilon0"):
        frequency_variance(epsilon0, 10)
    with pytest.raises(DomainError, match="epsilon0"):
        estimate_frequency(1, 10, epsilon0)


@pytest.mark.parametrize("n", [1, 0, -5, 1.5, math.nan, math.inf, 10**16, "10", True])
def test_bad_n(n):
    for call in (
        lambda: frequency_variance(1, n),
        lambda: estimate_frequency(1, n, 1),
        lambda: calibrate_frequency(n, 1, 1e-6),
    ):
        with pytest.raises(DomainError, match="n "):
            call()


@pytest.mark.parametrize("ones", [-1, 11, 0.5, math.nan, "3", True, [1, 2]])
def test_bad_count(ones):
    with pytest.raises(DomainError, match="ones_reported"):
        estimate_frequency(ones, 10, 1)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, math.nan, "0.05"])
def test_bad_alpha(alpha):
    with pytest.raises(DomainError, match="alpha"):
        estimate_frequency(1, 10, 1, alpha)


def test_variance_beyond_the_doubles():
    with pytest.raises(DomainError, match="variance must be finite"):
        frequency_variance(1e-200, 10)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0.1), (1, 0), (1, 1), (math.nan, 0.1), (1, 2), ("1", 0.1)])
def test_bad_target(epsilon, delta):
    with pytest.raises(DomainError):
        calibrate_frequency(100, epsilon, delta)
