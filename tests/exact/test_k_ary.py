"""Shuffled k-ary randomized response against exact enumeration of histograms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp import DomainError, gdp, shuffled_channel, shuffled_krr
from shuffledp.core.randomizers import RandomizedResponse
from shuffledp.exact import k_ary


def enumerated_third(k, growth, n, order):
    """The hockey-stick divergence of (second, third, ...) from (first, third, ...) in exact rationals."""
    p = Fraction(1) / (growth + k - 1)

    def add(law, symbol):
        grown = {}
        for histogram, chance in law.items():
            for y in range(k):
                key = tuple(count + (i == y) for i, count in enumerate(histogram))
                grown[key] = grown.get(key, 0) + chance * p * (growth if y == symbol else 1)
        return grown

    others = {(0,) * k: Fraction(1)}
    for _ in range(n - 1):
        others = add(others, 2)
    before, after = add(others, 0), add(others, 1)
    return float(sum(max(after[h] - order * before[h], 0) for h in after))


@pytest.mark.parametrize("k, n", [(3, 2), (3, 9), (4, 7), (5, 4)])
def test_third_equals_exact_enumeration(k, n):
    for growth, order in (
        (Fraction(3), Fraction(1)),
        (Fraction(3), Fraction(3, 2)),
        (Fraction(6, 5), Fraction(11, 10)),
    ):
        delta = shuffled_krr(k, math.log(growth), n).delta(math.log(order))
        assert delta == pytest.approx(enumerated_third(k, growth, n, order), rel=1e-12, abs=0)
    assert delta != pytest.approx(enumerated_third(k + 1, growth, n, order), rel=1e-6, abs=0)


@pytest.mark.parametrize("k, epsilon0, n", [(3, 1.0, 2), (3, 2.0, 60), (4, 1.0, 40), (5, 0.3, 12)])
def test_first_equals_the_channel_of_the_two_symbols(k, epsilon0, n):
    epsilon = np.array([0, 0.01, 0.1, 0.3, 0.5, 0.9]) * epsilon0
    rows = RandomizedResponse(k, epsilon0).matrix[:2]
    np.testing.assert_allclose(
        shuffled_krr(k, epsilon0, n, "first").log_delta(epsilon),
        shuffled_channel(rows, n).log_delta(epsilon),
        rtol=0,
        atol=1e-11,
    )


@pytest.mark.parametrize(
    "k, epsilon0, n, epsilon, third, first",
    [(3, 1.0, 20, 0.3, 0.016072, 0.010997), (3, 2.0, 20, 0.1, 0.22708, 0.16451), (4, 4.0, 100, 3.5, 2.1342e-3, None)],
)
def test_published_values_and_the_worse_of_two(k, epsilon0, n, epsilon, third, first):
    assert shuffled_krr(k, epsilon0, n).delta(epsilon) == pytest.approx(third, rel=5e-5, abs=0)
    if first:
        assert shuffled_krr(k, epsilon0, n, "first").delta(epsilon) == pytest.approx(first, rel=5e-5, abs=0)
        assert shuffled_krr(k, epsilon0, n, "worst").delta(epsilon) == pytest.approx(third, rel=5e-5, abs=0)


def test_neither_data_set_is_always_worse():
    deltas = {others: shuffled_krr(4, 4.0, 100, others).delta(3.95) for others in ("third", "first", "worst")}
    assert deltas["first"] > 10 * deltas["third"] > 0
    assert deltas["worst"] == deltas["first"]


@pytest.mark.parametrize("k, epsilon0, n", [(10, 1.0, 10**6), (30, 2.0, 10**9), (3, 1.0, 10**12)])
def test_large_n_approaches_the_gaussian_curve(k, epsilon0, n):
    """At one standard deviation the Gaussian limit is right to O(mu): the third symbol's Fisher constant."""
    mu = math.sqrt(2 / (math.expm1(epsilon0) + k) / n) * math.expm1(epsilon0)
    gaussian = ndtr(mu / 2 - 1) - math.exp(mu) * ndtr(-mu / 2 - 1)
    exact = shuffled_krr(k, epsilon0, n).delta(mu)
    assert exact == pytest.approx(gaussian, rel=2 * mu + 1e-6)
    assert shuffled_krr(k, epsilon0, n).delta(1.1 * mu) != pytest.approx(gaussian, rel=0.05, abs=0)


@pytest.mark.parametrize("others", ["third", "first", "worst"])
@pytest.mark.parametrize("k, epsilon0, n, delta", [(3, 0.5, 50, 1e-4), (10, 1.0, 10**5, 1e-8)])
def test_epsilon_is_safe_and_inverts(others, k, epsilon0, n, delta):
    curve = shuffled_krr(k, epsilon0, n, others)
    epsilon = curve.epsilon(delta)
    assert curve.delta(epsilon) <= delta < curve.delta(epsilon * (1 - 1e-9))


def test_edges():
    curve = shuffled_krr(3, 1.0, 10)
    assert curve.delta(1.0) == 0.0 and curve.delta(2.0) == 0.0 and curve.epsilon(0.9) == 0.0
    assert 0 < curve.delta(1 - 1e-9) < 1e-12
    assert curve.epsilon(1e-300) <= 1.0


@pytest.mark.parametrize(
    "arguments",
    [(2, 1.0, 10), (3.5, 1.0, 10), (3, 0.0, 10), (3, math.nan, 10), (3, 40.0, 10), (3, 1.0, 1), (3, 1.0, 10, "second")],
)
def test_hostile_arguments_are_refused(arguments):
    with pytest.raises(DomainError):
        shuffled_krr(*arguments)


# the evaluators change with n and epsilon: nothing must show ----------------------------------------------------------


@pytest.mark.parametrize("others", ["third", "first"])
@pytest.mark.parametrize("k, epsilon0, n", [(4, 1.0, 500), (20, 3.0, 10**6), (3, 0.2, 10**5)])
def test_delta_decreases_and_is_convex_in_the_order(others, k, epsilon0, n):
    mu = math.sqrt(2 / (math.expm1(epsilon0) + k) / n) * math.expm1(epsilon0)
    order = np.linspace(1 + 0.1 * mu, math.exp(min(epsilon0, 7 * mu)), 12)
    delta = shuffled_krr(k, epsilon0, n, others).delta(np.log(order))
    change = np.diff(delta)
    assert np.all(change < 0)
    assert np.all(np.diff(change) >= -1e-9 * delta[1:-1])
    assert delta[0] <= math.tanh(epsilon0 / 2)


@pytest.mark.parametrize("others", ["third", "first"])
def test_more_users_or_more_noise_never_hurt(others):
    logs = [shuffled_krr(5, 1.0, n, others).log_delta(0.1) for n in (2, 3, 10, 100, 1000, 1001, 10**4, 10**5)]
    assert np.all(np.diff(logs) < 1e-10)
    logs = [shuffled_krr(5, epsilon0, 500, others).log_delta(0.1) for epsilon0 in (0.11, 0.5, 1.0, 1.01, 3.0, 9.0)]
    assert np.all(np.diff(logs) > -1e-10)


@pytest.mark.parametrize("k, epsilon0, n", [(4, 2.0, 10**5), (3, 0.2, 10**5)])
def test_first_by_integral_equals_first_by_sum(k, epsilon0, n, monkeypatch):
    mu = math.sqrt(2 / (math.expm1(epsilon0) + k) / n) * math.expm1(epsilon0)
    epsilon = np.array([0.5, 2, 6]) * mu
    monkeypatch.setattr(k_ary, "_MANY", 300.0)
    integral = shuffled_krr(k, epsilon0, n, "first").log_delta(epsilon)
    monkeypatch.setattr(k_ary, "_MANY", math.inf)
    np.testing.assert_allclose(shuffled_krr(k, epsilon0, n, "first").log_delta(epsilon), integral, rtol=0, atol=1e-11)


@pytest.mark.parametrize("k, epsilon0, n", [(10, 1.0, 10**5), (30, 2.0, 3 * 10**5)])
def test_small_epsilon_is_like_any_other(k, epsilon0, n):
    """Far below the Gaussian limit's mu the sum is nearly periodic; delta there is a line in epsilon of slope -1/2."""
    curve = shuffled_krr(k, epsilon0, n, "worst")
    epsilon = np.array([0.0, 1e-9, 1e-4, 1e-2]) * curve.scale
    delta = curve.delta(epsilon)
    drop = (delta[0] - delta[1:]) / epsilon[1:]
    np.testing.assert_allclose(drop[1:], 0.5, rtol=0.02)
    assert delta[1] == pytest.approx(delta[0], rel=3e-9, abs=0) and np.all(np.diff(delta) < 0)


def test_epsilon_takes_few_evaluations(monkeypatch):
    curve, points = shuffled_krr(10, 1.0, 10**8), []
    inner = curve._log_delta
    monkeypatch.setattr(curve, "_log_delta", lambda epsilon: (points.append(epsilon.size), inner(epsilon))[1])
    curve.epsilon(1e-8)
    assert len(points) <= 4 and sum(points) <= 30


def test_first_of_many_users():
    """The first symbol's Fisher constant, (a-b)^2 (a+b)/(ab) of the two probabilities, at one standard deviation."""
    k, epsilon0, n = 4, math.log(2), 10**12
    b = 1 / (math.expm1(epsilon0) + k)
    a = math.exp(epsilon0) * b
    mu = math.sqrt((a - b) ** 2 * (a + b) / (a * b) / n)
    gaussian = ndtr(mu / 2 - 1) - math.exp(mu) * ndtr(-mu / 2 - 1)
    assert shuffled_krr(k, epsilon0, n, "first").delta(mu) == pytest.approx(gaussian, rel=5e-6, abs=0)
    assert shuffled_krr(k, epsilon0, n, "third").delta(mu) != pytest.approx(gaussian, rel=0.05, abs=0)


@pytest.mark.parametrize("others", ["third", "first"])
def test_scale_is_mu_of_the_gaussian_limit(others):
    curve = shuffled_krr(10, 2.0, 10**12, others)
    wrong = shuffled_krr(10, 2.0, 10**12, "first" if others == "third" else "third").scale
    for deviations in (0.5, 2.0, 5.0):
        limit = gdp(curve.scale).log_delta(deviations * curve.scale)
        assert curve.log_delta(deviations * curve.scale) == pytest.approx(limit, abs=1e-3)
        assert gdp(wrong).log_delta(deviations * curve.scale) != pytest.approx(limit, abs=1e-1)
