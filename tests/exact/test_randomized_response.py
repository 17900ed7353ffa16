"""Shuffled binary randomized response against exact enumeration, 60-digit continued fractions and published digits."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

import shuffledp as sdp
from shuffledp import DomainError, shuffled_rr
from shuffledp.exact.randomized_response import _canonical_log_delta, _forward, _general_log_delta

DIRECTIONS = ("forward", "reverse")


# references ----------------------------------------------------------------------------------------------------------


def exact_exp(x: float) -> Fraction:
    """e^x as a fraction, right to 60 digits."""
    return Fraction(Context(prec=60).exp(Decimal(x)))


def count_law(flip: Fraction, zeros: int, ones: int) -> list[Fraction]:
    """Law of the number of ones sent, one user after the other."""
    law = [Fraction(1)]
    for chance in [flip] * zeros + [1 - flip] * ones:
        law = [a * (1 - chance) + b * chance for a, b in zip([*law, Fraction(0)], [Fraction(0), *law], strict=True)]
    return law


def enumerated(epsilon0: float, n: int, epsilon: float, ones: int, direction: str) -> float:
    """The hockey-stick divergence from its definition, in exact rationals."""
    flip = 1 / (1 + exact_exp(epsilon0))
    before, after = count_law(flip, n - ones, ones), count_law(flip, n - ones - 1, ones + 1)
    p, q = (after, before) if direction == "forward" else (before, after)
    order = exact_exp(epsilon)
    return float(sum(max(a - order * b, Fraction(0)) for a, b in zip(p, q, strict=True)))


def continued_fraction(epsilon0: float, n: int, epsilon: float, direction: str) -> mp.mpf:
    """Log delta of the canonical pair, the tail of the count by the incomplete beta function's continued fraction."""
    with mp.workdps(60 + int(epsilon0)):
        e0, eps = mp.mpf(epsilon0), mp.mpf(epsilon)
        scale = 2 * mp.sinh(e0) / n
        flip = 1 / (1 + mp.exp(e0))
        if direction == "forward":
            p, t = flip, (mp.exp(eps) - mp.exp(-e0)) / scale
        else:
            p, t, scale = 1 - flip, n - (mp.exp(-eps) - mp.exp(-e0)) / scale, scale * mp.exp(eps)
        m = int(mp.ceil(t))
        q, d = 1 - p, m - n * p
        a, b, lam = m, n - m + 1, m - (n + 1) * p

        def beta(i):
            inner = i * (b - i) * p / (a + 2 * i - 1) if i else 0
            return i + inner + mp.mpf(a + i) / (a + 2 * i + 1) * (lam + 1 + i * (1 + q))

        def alpha(i):
            return (a + i - 1) * (a + b + i - 1) * i * (b - i) * (p / (a + 2 * i - 1)) ** 2

        steps = 40
        value = previous = mp.inf
        while steps < 40000:  # twice as long until nothing moves
            tail = mp.mpf(0)
            for i in range(min(steps, b), 0, -1):
                tail = alpha(i) / (beta(i) + tail)
            previous, value = value, tail
            if steps >= b or abs(value - previous) <= mp.mpf(10) ** -25 * abs(value):
                break
            steps *= 2
        else:
            raise ArithmeticError("continued fraction has not converged")
        sf_over_pmf = m * q / (beta(0) + tail)
        log_pmf = mp.loggamma(n + 1) - mp.loggamma(m + 1) - mp.loggamma(n - m + 1) + m * mp.log(p) + (n - m) * mp.log(q)
        return mp.log(scale) + log_pmf + mp.log((m - t) * sf_over_pmf + m * q - d * sf_over_pmf)


def difference_of_tails(epsilon0: float, n: int, epsilon: float) -> float:
    """The forward divergence as people write it: P(T_1 >= m) - e^eps P(T_0 >= m)."""
    q = 1 / (1 + math.exp(epsilon0))
    m = math.ceil(n * (math.exp(epsilon) - math.exp(-epsilon0)) / (2 * math.sinh(epsilon0)))
    below, at = betainc(m, n - m, q), betainc(m - 1, n - m + 1, q)
    return q * below + (1 - q) * at - math.exp(epsilon) * betainc(m, n - m + 1, q)


# values --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("epsilon0", [1e-12, 0.3, 1.0, 2.7, 40.0])
def test_small_n_equals_exact_enumeration(epsilon0, n):
    points = 0
    for fraction in (0.0, 1e-9, 0.01, 0.2, 0.5, 0.77, 0.99, 1 - 1e-12):
        for ones in (0, n - 1):
            for direction in DIRECTIONS:
                exact = enumerated(epsilon0, n, fraction * epsilon0, ones, direction)
                curve = shuffled_rr(epsilon0, n, ones=ones, direction=direction)
                assert curve.delta(fraction * epsilon0) == pytest.approx(exact, rel=3e-13, abs=0)
                points += exact > 0
    assert points == 32


@pytest.mark.parametrize(
    "epsilon0, n",
    [(0.01, 10**4), (1.0, 10**4), (1.0, 10**6), (1.0, 10**9), (1.0, 10**12), (3.0, 10**7), (8.0, 10**5), (8.0, 10**12)],
)
@pytest.mark.parametrize("deviations", [2.0, 6.0, 36.0, 90.0])
def test_large_n_equals_60_digit_continued_fraction(epsilon0, n, deviations):
    epsilon = deviations * 2 * math.sinh(epsilon0 / 2) / math.sqrt(n)
    if epsilon >= epsilon0:
        epsilon = epsilon0 * (1 - 1 / deviations)
    for direction in DIRECTIONS:
        reference = continued_fraction(epsilon0, n, epsilon, direction)
        error = abs(shuffled_rr(epsilon0, n, direction=direction).log_delta(epsilon) - reference)
        assert error <= 2e-13 * max(1, abs(reference) / 100)


@pytest.mark.parametrize("epsilon0, n, epsilon", [(700.0, 50, 1.0), (700.0, 50, 699.99), (300.0, 10**6, 280.0)])
def test_huge_epsilon0(epsilon0, n, epsilon):
    for direction in DIRECTIONS:
        reference = continued_fraction(epsilon0, n, epsilon, direction)
        log_delta = shuffled_rr(epsilon0, n, direction=direction).log_delta(epsilon)
        assert log_delta == pytest.approx(float(reference), rel=1e-14, abs=2e-13)
        assert log_delta <= 0


@pytest.mark.parametrize("epsilon0, n", [(1.0, 10**4), (1.0, 10**7), (8.0, 10**6)])
@pytest.mark.parametrize("deviations", [0.5, 1.0])
def test_close_to_the_mean(epsilon0, n, deviations):
    epsilon = deviations * 2 * math.sinh(epsilon0 / 2) / math.sqrt(n)
    for direction in DIRECTIONS:
        reference = continued_fraction(epsilon0, n, epsilon, direction)
        assert shuffled_rr(epsilon0, n, direction=direction).log_delta(epsilon) == pytest.approx(
            float(reference), rel=0, abs=1e-13
        )


def test_log_delta_at_minus_four_thousand():
    epsilon = 0.0903
    reference = continued_fraction(1.0, 10**6, epsilon, "forward")
    assert -4100 < reference < -3900
    curve = shuffled_rr(1.0, 10**6, direction="forward")
    assert curve.log_delta(epsilon) == pytest.approx(float(reference), rel=1e-15, abs=0)
    assert curve.delta(epsilon) == 0.0  # underflows: only the log shows it


@pytest.mark.parametrize(
    "epsilon0, n, epsilon, direction, value, rel",
    [
        (1.0, 100, 0.2, "reverse", 0.00175414729602704337376607859846, 1e-13),
        (2.0, 10**7, 0.003, "reverse", 0.00000000461322350379837213936403060213, 1e-13),
        (2.0, 100, 0.5, "forward", 4.64e-4, 1e-3),
        (2.0, 100, 0.5, "reverse", 5.12e-3, 1e-3),
    ],
)
def test_reference_values(epsilon0, n, epsilon, direction, value, rel):
    assert shuffled_rr(epsilon0, n, direction=direction).delta(epsilon) == pytest.approx(value, rel=rel, abs=0)


def test_zero_threshold_is_total_variation_at_any_n():
    """At epsilon = 0 delta is (1 - 2q) times the largest probability among n - 1 users."""
    for n in (2, 101, 10**4 + 1):
        q = mp.mpf(1) / (1 + mp.exp(1))
        largest = max(
            mp.binomial(n - 1, j) * q**j * (1 - q) ** (n - 1 - j)
            for j in range(max(0, int(n * q) - 2), min(n, int(n * q) + 3))
        )
        assert shuffled_rr(1.0, n).delta(0) == pytest.approx(float((1 - 2 * q) * largest), rel=1e-13, abs=0)


# the checks can fail -------------------------------------------------------------------------------------------------


def test_difference_of_tails_would_be_caught():
    """A formula that subtracts two nearly equal tails loses the digits these tests ask for."""
    n, epsilon = 10**8, 6 * 2 * math.sinh(0.5) / 1e4
    reference = float(mp.exp(continued_fraction(1.0, n, epsilon, "forward")))
    assert shuffled_rr(1.0, n, direction="forward").delta(epsilon) == pytest.approx(reference, rel=2e-13, abs=0)
    assert difference_of_tails(1.0, n, epsilon) != pytest.approx(reference, rel=1e-9, abs=0)
    assert difference_of_tails(1.0, 10, 0.2) == pytest.approx(enumerated(1.0, 10, 0.2, 0, "forward"), rel=1e-12, abs=0)


def test_directions_differ_and_both_is_the_larger():
    curves = {name: shuffled_rr(2.0, 100, direction=name) for name in (*DIRECTIONS, "both")}
    epsilon = np.linspace(0, 1.99, 57)
    forward, reverse, both = (curves[name].delta(epsilon) for name in (*DIRECTIONS, "both"))
    assert reverse[14] > 10 * forward[14]
    np.testing.assert_array_equal(both, np.maximum(forward, reverse))


def test_mirrored_composition_swaps_the_directions():
    epsilon = np.linspace(0, 1.4, 9)
    for mine, other in (("forward", "reverse"), ("reverse", "forward"), ("both", "both")):
        np.testing.assert_array_equal(
            shuffled_rr(1.5, 40, ones=39, direction=mine).delta(epsilon),
            shuffled_rr(1.5, 40, direction=other).delta(epsilon),
        )


# any composition -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, ones", [(3, 1), (12, 1), (12, 5), (12, 10)])
@pytest.mark.parametrize("epsilon0", [1e-6, 1.0, 3.0, 40.0])
def test_any_composition_equals_exact_enumeration(epsilon0, n, ones):
    for fraction in (0.0, 1e-9, 0.01, 0.3, 0.8, 1 - 1e-12):
        for direction in DIRECTIONS:
            exact = enumerated(epsilon0, n, fraction * epsilon0, ones, direction)
            delta = shuffled_rr(epsilon0, n, ones=ones, direction=direction).delta(fraction * epsilon0)
            assert delta == pytest.approx(exact, rel=1e-12, abs=0)
            if (
                0.001 < fraction < 0.9 and 0.5 < epsilon0 < 9 and n > 3
            ):  # the check can fail: a neighbouring composition differs
                assert delta != pytest.approx(
                    enumerated(epsilon0, n, fraction * epsilon0, ones - 1, direction), rel=1e-9
                )


def test_reference_value_at_half_ones():
    value = 0.0380521925712642516397665152874
    assert shuffled_rr(2.0, 80, ones=40, direction="forward").delta(0.2) == pytest.approx(value, rel=1e-13, abs=0)


@pytest.mark.parametrize("epsilon0", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("n", [10**3, 10**6, 10**12])
def test_contour_and_closed_form_agree_where_both_apply(epsilon0, n):
    """Two independent algorithms: the circle integral for any composition, the real integral for the canonical one."""
    epsilon = np.array([0, 0.1, 1, 3, 8, 20, 60]) * curve_scale(epsilon0, n)
    epsilon = epsilon[epsilon < epsilon0]
    for up in (True, False):
        closed = _canonical_log_delta(epsilon0, n, (up,))(epsilon)
        contour = _general_log_delta(epsilon0, n, 0, (up,))(epsilon)
        np.testing.assert_allclose(contour, closed, rtol=2e-14, atol=2e-12)


def circle_integral(epsilon0, n, ones, epsilon):
    """Log of the forward delta by the integral over a circle in 50 digits: what is left to double arithmetic."""
    with mp.workdps(50):
        e0, eps = mp.mpf(epsilon0), mp.mpf(epsilon)
        q, a, b = 1 / (1 + mp.exp(e0)), n - 1 - ones, ones
        gain = 1 - q - mp.exp(eps) * q
        x = mp.expm1(eps) / gain
        tilt = 1 + x
        center = a * q * tilt / (1 - q + q * tilt) + b * (1 - q) * tilt / (q + (1 - q) * tilt)
        spread = mp.sqrt((a + b) * q * (1 - q))
        j = int(mp.floor(center + mp.mpf(1) / 2)) + 1
        radius, step = 1 + max(x, 1 / spread), mp.mpf(1) / (10 * spread)

        def log_term(z):
            return a * mp.log(1 - q + q * z) + b * mp.log(q + (1 - q) * z) + (1 - j) * mp.log(z)

        top = log_term(radius)
        points = [radius * mp.expj(i * step) for i in range(100)]
        terms = [mp.exp(log_term(z) - top) * (z - tilt) / (z - 1) * (1 if i else 0.5) for i, z in enumerate(points)]
        best = max(sum((t * z**-d).real for z, t in zip(points, terms, strict=True)) for d in (-1, 0, 1))
        return float(mp.log(gain) + top + mp.log(best * step / mp.pi))


@pytest.mark.parametrize(
    "epsilon0, n, ones", [(1.0, 10**6, 250000), (3.0, 10**9, 7), (0.1, 10**9, 5 * 10**8), (2.0, 10**12, 10**11)]
)
def test_any_composition_of_many_users_equals_50_digits(epsilon0, n, ones):
    for deviations in (0.0, 2.0, 15.0):
        epsilon = deviations * curve_scale(epsilon0, n)
        log_delta = shuffled_rr(epsilon0, n, ones=ones, direction="forward").log_delta(epsilon)
        assert log_delta == pytest.approx(circle_integral(epsilon0, n, ones, epsilon), rel=0, abs=1e-12)
    assert log_delta != pytest.approx(circle_integral(epsilon0, n, ones + n // 10, epsilon), rel=1e-9, abs=0)


def test_half_ones_far_below_the_smallest_double():
    """At 1e12 users delta is e^-4000, or e^-10^9 and less: its log is finite and decreases."""
    curve = shuffled_rr(1.0, 10**12, ones=5 * 10**11)
    logs = curve.log_delta([9e-5, 0.05, 0.9])
    assert -4200 < logs[0] < -3700 and np.all(np.diff(logs) < 0) and np.all(np.isfinite(logs))


# the worst composition -----------------------------------------------------------------------------------------------


def scanned(epsilon0, n, epsilon):
    """The forward direction over all compositions covers both."""
    ones = np.arange(float(n))
    return _forward(epsilon0)(n - 1 - ones, ones, np.array([epsilon])).max()


@pytest.mark.parametrize("epsilon0, n, epsilon", [(3.0, 21, 0.0), (1.0, 50, 0.1), (1.0, 50, 0.4), (0.5, 200, 0.01)])
def test_worst_equals_a_full_scan_for_few_users(epsilon0, n, epsilon):
    assert shuffled_rr(epsilon0, n, ones="worst").log_delta(epsilon) == pytest.approx(
        scanned(epsilon0, n, epsilon), abs=1e-12
    )


def test_worst_is_not_always_the_composition_with_all_others_alike():
    """At epsilon = 0 and n = 3 one 1 among the others is worse than none, by hand."""
    epsilon0 = 1.3
    q = 1 / (1 + math.exp(epsilon0))
    one = (1 - 2 * q) * (q**2 + (1 - q) ** 2)
    none = (1 - 2 * q) * max((1 - q) ** 2, 2 * q * (1 - q))
    assert shuffled_rr(epsilon0, 3, ones="worst").delta(0) == pytest.approx(one, rel=1e-12, abs=0)
    assert shuffled_rr(epsilon0, 3).delta(0) == pytest.approx(none, rel=1e-12, abs=0)
    assert one > none


def test_worst_is_an_upper_bound_within_its_tolerance():
    for n, epsilon in ((1500, 0.0), (1500, 0.06)):
        log_worst, log_scan = shuffled_rr(1.0, n, ones="worst").log_delta(epsilon), scanned(1.0, n, epsilon)
        assert -1e-11 <= log_worst - log_scan <= 0.01 + 5e-4 * abs(log_scan)


@pytest.mark.parametrize(
    "epsilon0, n, delta", [(1.0, 30, 1e-2), (1.0, 10**4, 1e-6), (3.0, 10**9, 1e-9), (1.0, 10**12, 0.5)]
)
def test_worst_inverts_on_the_safe_side(epsilon0, n, delta):
    curve = shuffled_rr(epsilon0, n, ones="worst")
    epsilon = curve.epsilon(delta)
    assert curve.delta(epsilon) <= delta
    assert shuffled_rr(epsilon0, n).epsilon(delta) <= epsilon * (1 + 1e-12)
    assert epsilon <= 1.05 * shuffled_rr(epsilon0, n).epsilon(delta)


def test_worst_answers_at_epsilon0_and_refuses_other_words():
    assert shuffled_rr(1.0, 10, ones="worst").delta(1.0) == 0.0
    with pytest.raises(DomainError, match="worst"):
        shuffled_rr(1.0, 10, ones="best")


# the edges of the range ----------------------------------------------------------------------------------------------


def test_delta_is_exactly_zero_from_epsilon0_on():
    curve = shuffled_rr(1.0, 10)
    assert curve.delta(1.0) == 0.0 and curve.delta(5.0) == 0.0 and curve.log_delta(1.0) == -math.inf
    assert curve.delta(math.nextafter(1.0, 0)) > 0


def test_arrays_keep_their_shape_and_agree_with_scalars():
    curve = shuffled_rr(1.0, 10**6)
    epsilon = np.array([[0.0, 0.004], [0.03, 1.0]])
    deltas = curve.delta(epsilon)
    assert deltas.shape == epsilon.shape and curve.delta([]).shape == (0,)
    for e, d in zip(epsilon.ravel(), deltas.ravel(), strict=True):
        assert curve.delta(e) == pytest.approx(d, rel=1e-14, abs=0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((math.nan, 10), "epsilon0"),
        ((math.inf, 10), "epsilon0"),
        ((0.0, 10), "epsilon0 >= 1e-15"),
        ((-1.0, 10), "epsilon0 >= 1e-15"),
        ((800.0, 10), "epsilon0 <= 700"),
        (("1", 10), "epsilon0"),
        ((True, 10), "epsilon0"),
        ((1.0, 1), "n >= 2"),
        ((1.0, 1.5), "integer"),
        ((1.0, math.nan), "integer"),
        ((1.0, 10**16), "n <= 1000000000000000"),
        ((1.0, 10, -1), "ones >= 0"),
        ((1.0, 10, 10), "ones <= 9"),
        ((1.0, 10, 0.5), "integer"),
        ((1.0, 10, 0, "up"), "direction"),
    ],
)
def test_hostile_arguments_are_refused(arguments, message):
    with pytest.raises(DomainError, match=message):
        shuffled_rr(*arguments)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf, "0.1", True, [0.1, math.nan], None])
def test_hostile_epsilon_is_refused(epsilon):
    with pytest.raises(DomainError):
        shuffled_rr(1.0, 10).delta(epsilon)


# properties ----------------------------------------------------------------------------------------------------------

QUICK = settings(derandomize=True, max_examples=25, deadline=None)
EPSILON0 = st.floats(1e-6, 20.0)
USERS = st.integers(2, 10**9)


@QUICK
@given(EPSILON0, USERS, st.sampled_from(["forward", "reverse", "both"]))
def test_delta_decreases_and_is_convex_in_the_order(epsilon0, n, direction):
    curve = shuffled_rr(epsilon0, n, direction=direction)
    order = np.linspace(1.0, math.exp(min(epsilon0, 8 * curve_scale(epsilon0, n))), 50)
    delta = curve.delta(np.log(order))
    change = np.diff(delta)
    rounding = 1e-12 * delta[1:-1] + 1e-15 * np.abs(change[1:]) / (order[1] - 1)  # of delta and of log(order)
    assert np.all(change <= 1e-13 * delta[:-1])
    assert np.all(np.diff(change) >= -rounding)
    assert 0 <= delta[-1] <= delta[0] <= -math.expm1(-epsilon0)


def curve_scale(epsilon0, n):
    return 2 * math.sinh(epsilon0 / 2) / math.sqrt(n)


@QUICK
@given(EPSILON0, st.integers(2, 10**6), st.floats(0, 0.999))
def test_more_users_or_a_smaller_epsilon0_never_hurt(epsilon0, n, fraction):
    epsilon = fraction * min(epsilon0, 6 * curve_scale(epsilon0, n))
    for direction in DIRECTIONS:
        here = shuffled_rr(epsilon0, n, direction=direction).log_delta(epsilon)
        assert shuffled_rr(epsilon0, n + 1, direction=direction).log_delta(epsilon) <= here + 1e-12
        assert shuffled_rr(epsilon0 * 1.01, n, direction=direction).log_delta(epsilon) >= here - 1e-12


@QUICK
@given(EPSILON0, USERS, st.floats(0.01, 0.99))
def test_epsilon_inverts_delta_on_the_safe_side(epsilon0, n, fraction):
    curve = shuffled_rr(epsilon0, n)
    epsilon = fraction * min(epsilon0, 8 * curve_scale(epsilon0, n))
    delta = curve.delta(epsilon)
    found = curve.epsilon(delta)
    assert curve.delta(found) <= delta
    # the promise costs at most the accuracy allowed for, divided by the slope of log delta
    slope = (curve.log_delta(epsilon) - curve.log_delta(epsilon * (1 - 1e-6))) / (1e-6 * epsilon)
    assert found == pytest.approx(epsilon, rel=1e-12, abs=4e-12 / abs(slope))


def test_exported():
    assert sdp.shuffled_rr is shuffled_rr
