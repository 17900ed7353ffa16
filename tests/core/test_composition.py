"""Composition against exact rationals and 40-digit convolutions, against other methods, and its refusals."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from shuffledp import DomainError, compose, gaussian_curve, gdp, shuffled_channel, shuffled_rr
from shuffledp.core.composition import _Approached, _Enumerated, _exp_minus, tilted_law


def one_round(epsilon0, n, direction):
    """The two laws of the count, in exact rationals of a flip probability right to 60 digits."""
    with mp.workdps(60):
        flip = Fraction(str(1 / (1 + mp.exp(mp.mpf(epsilon0)))))

    def law(ones):
        out = [Fraction(1)]
        for chance in [1 - flip] * ones + [flip] * (n - ones):
            out = [a * (1 - chance) + b * chance for a, b in zip([*out, 0], [0, *out], strict=True)]
        return out

    return (law(1), law(0)) if direction == "forward" else (law(0), law(1))


def enumerated(epsilon0, n, rounds, epsilon, direction):
    """Log delta from its definition: every sequence of counts."""
    p, q = one_round(epsilon0, n, direction)
    pairs = [(Fraction(1), Fraction(1))]
    for _ in range(rounds):
        pairs = [(a * c, b * d) for a, b in pairs for c, d in zip(p, q, strict=True)]
    with mp.workdps(60):
        order = Fraction(str(mp.exp(mp.mpf(epsilon))))
        total = sum(max(a - order * b, 0) for a, b in pairs)
        return float(mp.log(mp.mpf(total.numerator) / total.denominator))


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("n, rounds", [(2, 2), (5, 2), (12, 2), (2, 3), (6, 3)])
@pytest.mark.parametrize("epsilon0", [0.3, 1.0, 3.0])
def test_few_users_and_rounds_against_the_definition(epsilon0, n, rounds, direction):
    curve = compose(shuffled_rr(epsilon0, n, direction=direction), rounds)
    assert curve.kind == "exact"
    for share in (0.0, 0.1, 0.45, 0.8):
        epsilon = share * rounds * epsilon0
        reference = enumerated(epsilon0, n, rounds, epsilon, direction)
        assert curve.log_delta(epsilon) == pytest.approx(reference, abs=1e-12)
    assert curve.delta(rounds * epsilon0) == 0


@pytest.mark.parametrize("left", [1e-3, 1e-6, 1e-9])
def test_next_to_the_largest_loss_the_enumeration_is_on_the_safe_side(left):
    for epsilon0, n, rounds in ((1.0, 4, 3), (0.02, 6, 2), (3.0, 3, 4)):
        curve = compose(shuffled_rr(epsilon0, n, direction="forward"), rounds)
        epsilon = (1 - left) * rounds * epsilon0
        reference = enumerated(epsilon0, n, rounds, epsilon, "forward")
        assert -1e-15 * abs(reference) <= curve.log_delta(epsilon) - reference <= 1e-12 / left
        assert abs(curve.log_delta((1 - 2 * left) * rounds * epsilon0) - reference) > 1e-12 / left


def test_the_directions_differ_and_both_is_the_larger():
    both, *single = (compose(shuffled_rr(2, 8, direction=d), 3) for d in ("both", "forward", "reverse"))
    forward, reverse = (curve.delta(0.7) for curve in single)
    assert forward < reverse == both.delta(0.7)
    mirrored = compose(shuffled_rr(2, 8, ones=7, direction="forward"), 3)
    assert mirrored.delta(0.7) == reverse


@pytest.mark.parametrize("epsilon0, n, rounds", [(1, 100, 2), (4, 60, 3), (0.2, 10, 7), (1, 2, 100)])
def test_the_grid_is_never_below_the_enumerated_value_and_close(epsilon0, n, rounds):
    for law in shuffled_rr(epsilon0, n).loss_laws:
        exact, grid = _Enumerated(law, rounds), _Approached(law, rounds)
        spread = law.mu * math.sqrt(rounds)
        epsilon = np.array([0.0, 0.7, 2.0, 4.0]) * spread
        epsilon = epsilon[epsilon < 0.8 * rounds * epsilon0]
        above = grid(epsilon) - exact(epsilon)
        assert np.all(above > -1e-11) and np.all(above < 1e-5)


def test_at_a_kink_the_grid_is_above_but_by_no_more_than_it_says():
    law = shuffled_rr(1, 3).loss_laws[0]
    exact, grid = _Enumerated(law, 8), _Approached(law, 8)
    kinks = np.unique(exact._loss[exact._loss > 0].round(10))[:40:8]
    above = grid(kinks) - exact(kinks)
    assert above.max() > 1e-9  # the spreading shows
    assert np.all((above > -1e-11) & (above < 1e-2))


@pytest.mark.parametrize("epsilon0, n, rounds", [(1, 10**4, 100), (2, 10**5, 30)])
def test_integral_and_grid_agree_to_the_noise_that_the_integral_adds(epsilon0, n, rounds):
    law = shuffled_rr(epsilon0, n).loss_laws[1]
    both = _Approached(law, rounds)
    for deviations in (0.5, 4.0):
        epsilon = deviations * law.mu * math.sqrt(rounds)
        tilted = both._saddle(epsilon)
        integral, rise = both._integral(tilted, epsilon)
        grid = both._log_delta(epsilon)
        assert 0.3 * rise < integral - grid < 1.1 * rise < 1e-3


@pytest.mark.parametrize(
    "epsilon0, n, epsilon, direction",
    [(1, 3000, 0.1, "forward"), (30, 10**6, 48.0, "reverse"), (10, 10**4, 16.0, "reverse"), (6, 2000, 2.0, "forward")],
)
def test_two_rounds_against_a_sum_over_the_first(epsilon0, n, epsilon, direction):
    """delta_2(eps) = sum P(t) delta_1(eps - L(t)); below 0, delta_1(-e) = 1 - e^-e + e^-e delta_reverse(e).

    Few outcomes far apart are among the cases: the sum of the losses then ends at an edge of the grid.
    """
    curve, other = (shuffled_rr(epsilon0, n, direction=d) for d in ("forward", "reverse"))
    if direction == "reverse":
        curve, other = other, curve
    law = curve.loss_laws[0]
    loss, log_p = law.at(np.arange(-law.centre, min(n, 10**4) + 1.0 - law.centre))
    above, below = np.maximum(epsilon - loss, 0), np.minimum(epsilon - loss, 0)
    second = np.where(epsilon >= loss, curve.delta(above), -np.expm1(below) + np.exp(below) * other.delta(-below))
    reference = math.fsum(np.exp(log_p) * second)
    composed = compose(curve, 2)
    assert composed.kind == "upper bound"
    assert 0 <= composed.delta(epsilon) / reference - 1 + 1e-10 < 1e-7


@pytest.mark.parametrize(
    "n, rounds, deviations", [(10**6, 10**3, 1), (10**9, 10, 5), (10**12, 2, 10), (10**15, 10**6, 5)]
)
def test_many_users_come_close_to_gaussian_dp(n, rounds, deviations):
    curve = shuffled_rr(1, n)
    mu = curve.loss_laws[0].mu * math.sqrt(rounds)
    epsilon = deviations * mu
    composed, limit = compose(curve, rounds).log_delta(epsilon), gdp(mu).log_delta(epsilon)
    correction = deviations**3 * curve.loss_laws[0].mu / math.sqrt(rounds)
    assert 0 <= composed - limit < 2 * correction + 3e-6
    assert composed != pytest.approx(gdp(1.01 * mu).log_delta(epsilon), rel=1e-3, abs=0)


def test_one_round_is_the_curve_itself():
    curve = shuffled_rr(1, 1000)
    assert compose(curve, 1) is curve


def test_the_general_method_gives_one_round_back():
    curve = shuffled_rr(1, 10**4, direction="reverse")
    once = _Approached(curve.loss_laws[0], 1)
    for epsilon in (0.003, 0.03, 0.1):
        assert 0 <= once(np.array([epsilon]))[0] - curve.log_delta(epsilon) + 1e-11 < 1e-6


def test_gaussian_rounds_add_squares():
    assert compose(gdp(0.3), 16).delta(1.0) == pytest.approx(gdp(1.2).delta(1.0), rel=1e-12, abs=0)
    assert compose(gaussian_curve(2, 1), 4).delta(1.0) == pytest.approx(gdp(1.0).delta(1.0), rel=1e-12, abs=0)


def test_epsilon_is_safe_and_tight():
    curve = compose(shuffled_rr(1, 10**9), 50)
    for delta in (1e-6, 1e-12, 1e-100):
        epsilon = curve.epsilon(delta)
        assert curve.delta(epsilon) <= delta < curve.delta(epsilon * (1 - 1e-7))
    assert curve.epsilon(0.5) == 0.0


def test_more_rounds_and_fewer_users_cost_more():
    deltas = [compose(shuffled_rr(1, 10**7), rounds).delta(0.01) for rounds in (20, 40, 80)]
    assert deltas == sorted(deltas) and len(set(deltas)) == 3
    assert compose(shuffled_rr(1, 10**6), 20).delta(0.01) > deltas[0]


def test_strided_sums_equal_full_ones():
    law = shuffled_rr(1, 10**6).loss_laws[0]
    for s in (0.0, 3.0, 2000.0):
        some, every = tilted_law(law, s), tilted_law(law, s, every=True)
        assert some.stride > 40 and len(every.loss) > 40 * len(some.loss) / 2
        assert some.mean == pytest.approx(every.mean, rel=1e-11, abs=1e-16)
        assert some.variance == pytest.approx(every.variance, rel=1e-11, abs=0)


def test_exponential_minus_its_start():
    for x in (1e-9, -1e-4, 0.29, -0.31, 2.0):
        with mp.workdps(60):
            reference = float(mp.exp(mp.mpf(x)) - 1 - mp.mpf(x))
        assert float(_exp_minus(np.array([x]))[0]) == pytest.approx(reference, rel=3e-15, abs=0)


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True, "2", math.nan, math.inf, 10**6 + 1])
def test_rounds_out_of_range(rounds):
    with pytest.raises(DomainError, match="rounds"):
        compose(gdp(1), rounds)


def test_curves_without_a_loss_law():
    for curve in (
        shuffled_rr(1, 100, ones=50),
        shuffled_rr(1, 100, ones="worst"),
        shuffled_channel([[0.9, 0.1], [0.2, 0.8]], 5),
    ):
        with pytest.raises(DomainError, match="loss law"):
            compose(curve, 2)
    with pytest.raises(DomainError, match="PrivacyCurve"):
        compose(1.0, 2)


def test_what_cannot_be_vouched_for_raises():
    with pytest.raises(ArithmeticError, match="vouched"):
        compose(shuffled_rr(30, 10**6, direction="forward"), 2).delta(59.94)
