"""The Gaussian curve against 50 digits and more, and the two calibrations against the curve."""

import math
import random

import mpmath as mp
import numpy as np
import pytest

from shuffledp import DomainError, PrivacyCurve
from shuffledp.core.gaussian import classical_epsilon_max, gaussian_curve, gaussian_sigma, gdp
from shuffledp.core.numerics import divide_up


def log_delta_by_definition(mu, epsilon):
    """Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), with digits for every cancellation."""
    mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
    x = epsilon / mu - mu / 2
    digits = 60 + 2 * abs(int(mp.log10(mu))) + int(mp.log10(1 + x * x)) + int(x * x / 2 / mp.log(10))
    with mp.workdps(digits):
        x = epsilon / mu - mu / 2
        return mp.log((mp.erfc(x / mp.sqrt(2)) - mp.exp(epsilon) * mp.erfc((x + mu) / mp.sqrt(2))) / 2)


def log_delta_by_series(mu, epsilon):
    """The same for x > 1e3 from the asymptotic series of the scaled tail, whose first omitted term is below 1e-24."""
    with mp.workdps(120):
        mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
        x = epsilon / mu - mu / 2

        def tail(t):
            return sum((-1) ** k * mp.fac2(2 * k - 1) / t ** (2 * k + 1) for k in range(5))

        return mp.log(tail(x) - tail(x + mu)) - x * x / 2 - mp.log(2 * mp.pi) / 2


def test_curve_agrees_with_the_definition_down_to_1e_300():
    rng, worst, points = random.Random(20140811), 0.0, 0
    while points < 300:
        mu = 10 ** rng.uniform(-9, 5)
        epsilon = mu * (10 ** rng.uniform(-3, 1.56) * rng.choice((1, 1, -1)) + mu / 2)
        if epsilon >= 0:
            points += 1
            error = mp.mpf(gdp(mu).log_delta(epsilon)) - log_delta_by_definition(mu, epsilon)
            worst = max(worst, abs(float(error)))
    assert worst < 5e-13  # relative error of delta


@pytest.mark.parametrize(
    "mu, epsilon", [(1, 1e4), (1e-3, 5.0), (1e-9, 1.0), (3, 1e6), (2.2, 3e3), (25.0, 1e7), (1e-40, 1.0), (1e6, 1e15)]
)
def test_log_delta_stays_finite_and_accurate_far_below_the_smallest_double(mu, epsilon):
    reference = log_delta_by_series(mu, epsilon)
    assert float(reference) < -1000
    assert gdp(mu).log_delta(epsilon) == pytest.approx(float(reference), rel=1e-14, abs=0)


def test_curve_at_zero_is_the_total_variation_and_a_dropped_factor_shows():
    for mu in (1e-8, 0.3, 2.0, 7.0):
        assert gdp(mu).delta(0) == pytest.approx(math.erf(mu / math.sqrt(8)), rel=1e-13, abs=0)
    slip = 0.5 * math.erfc(0.5 / math.sqrt(2)) - 0.5 * math.erfc(1.5 / math.sqrt(2))  # e^epsilon forgotten
    assert gdp(1).delta(1) != pytest.approx(slip, rel=1e-3, abs=0)


def test_quadrature_and_tails_meet_without_a_step():
    epsilons = np.linspace(0, 60, 4001)
    for mu in (2.0, 2.2, 2.5, 4.0, 6.0):
        logs = gdp(mu).log_delta(epsilons)
        assert np.all(np.diff(logs) < 0)
        assert np.all(np.diff(logs, 2) < 1e-11)  # log delta is concave here; a step would show


def test_extreme_arguments_give_a_delta():
    assert gdp(1e308).delta(1.0) == 1.0
    assert gdp(1e-300).delta(1e300) == 0.0
    assert gdp(1e-300).delta(0.0) == pytest.approx(1e-300 / math.sqrt(2 * math.pi), rel=1e-12, abs=0)
    assert gdp(1e155).delta(1.5e308) == 1.0


def test_a_subnormal_mu_is_refused():
    for curve in (lambda: gdp(1e-301), lambda: gdp(5e-324), lambda: gaussian_curve(1e200, 1e-105)):
        with pytest.raises(DomainError, match="1e-300"):
            curve()


def test_array_in_array_out():
    curve = gdp(0.7)
    epsilons = np.array([[0.0, 0.5], [1.0, 30.0]])
    assert curve.delta(epsilons).shape == (2, 2)
    assert curve.delta(epsilons)[1, 0] == pytest.approx(curve.delta(1.0), rel=1e-14, abs=0)
    assert isinstance(curve, PrivacyCurve) and curve.kind == "exact"


def test_epsilon_inverts_on_the_safe_side():
    for mu in (1e-4, 0.3, 3.0):
        for delta in (1e-300, 1e-12, 1e-6, 0.01):
            epsilon = gdp(mu).epsilon(delta)
            assert gdp(mu).delta(epsilon) <= delta
            assert epsilon == 0 or gdp(mu).delta(epsilon * (1 - 1e-10)) > delta


@pytest.mark.parametrize(
    "mu, delta",
    [(1e-300, 1e-310), (1e-300, 1e-322), (1e-257, 1e-300), (1.9e-208, 2.4e-282), (1e-290, 1e-300), (1e150, 1e-9)],
)
def test_epsilon_is_found_at_extreme_mu(mu, delta):
    epsilon = gdp(mu).epsilon(delta)
    assert gdp(mu).log_delta(epsilon) <= math.log(delta) < gdp(mu).log_delta(epsilon * (1 - 1e-10))


def test_log_delta_is_finite_where_only_the_square_of_x_overflows():
    x = 1.6e154
    assert gdp(1e-208).log_delta(x * 1e-208) == pytest.approx(-0.5 * x * x, rel=1e-14, abs=0)


def test_gaussian_curve_depends_on_the_quotient_only():
    assert gaussian_curve(2.0, 3.0).delta(0.8) == gdp(1.5).delta(0.8)
    classical = gaussian_sigma(1, 1, 1e-6, method="classical")
    assert gaussian_curve(classical, 1).delta(1) == pytest.approx(3.199912819141074663144603e-9, rel=1e-12, abs=0)


def test_analytic_sigma_reference_value():
    assert gaussian_sigma(1, 1, 1e-6) == pytest.approx(4.224678889326835282997321, rel=1e-12, abs=0)
    assert gaussian_sigma(0.25, 1, 1e-6) == pytest.approx(4.224678889326835282997321 / 4, rel=1e-12, abs=0)


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 12.0, 1e4])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 0.4])
def test_analytic_sigma_is_enough_and_a_hair_less_is_not(epsilon, delta):
    sigma = gaussian_sigma(0.3, epsilon, delta)
    assert gaussian_curve(sigma, 0.3).delta(epsilon) <= delta
    assert gaussian_curve(sigma * (1 - 1e-10), 0.3).delta(epsilon) > delta


def test_classical_limit_reference_values():
    assert classical_epsilon_max(1e-5) == pytest.approx(8.419771301536340737815437, rel=1e-12, abs=0)
    assert classical_epsilon_max(0.8962) == pytest.approx(3.786860, abs=1e-6)
    limits = [classical_epsilon_max(d) for d in (1e-300, 1e-12, 1e-6, 0.01, 0.5, 0.8, 0.8962, 0.95, 1 - 1e-10)]
    assert min(limits) == limits[6] > 3.78


def test_classical_limit_is_below_the_largest_where_delta_is_next_to_1():
    for delta in (1 - 1e-9, 1 - 1e-12, 1 - 2**-53):
        limit = classical_epsilon_max(delta)
        assert gaussian_curve(gaussian_sigma(1, limit, delta, method="classical"), 1).delta(limit) <= delta


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 0.1, 0.9])
def test_classical_sigma_holds_up_to_its_limit_and_fails_beyond(delta):
    limit = classical_epsilon_max(delta)
    sigma = gaussian_sigma(1, limit, delta, method="classical")
    assert gaussian_curve(sigma, 1).delta(limit) <= delta
    beyond = limit * (1 + 1e-9)
    factor = math.sqrt(2 * (math.log(1.25) - math.log(delta)))
    assert gaussian_curve(factor / beyond, 1).delta(beyond) > delta
    with pytest.raises(DomainError, match="classical_epsilon_max"):
        gaussian_sigma(1, beyond, delta, method="classical")


def test_classical_sigma_is_the_printed_formula():
    printed = 0.5 * math.sqrt(2 * math.log(1.25 / 1e-6)) / 2
    slip = 0.5 * math.sqrt(2 * math.log(1 / 1e-6)) / 2
    assert gaussian_sigma(0.5, 2, 1e-6, method="classical") == pytest.approx(printed, rel=1e-14, abs=0)
    assert gaussian_sigma(0.5, 2, 1e-6, method="classical") != pytest.approx(slip, rel=1e-3, abs=0)


def test_divide_up_is_the_least_double_above():
    rng = random.Random(5)
    for _ in range(200):
        a, b = rng.uniform(0.1, 9), rng.uniform(0.1, 9)
        quotient = divide_up(a, b)
        with mp.workdps(60):
            assert mp.mpf(quotient) >= mp.mpf(a) / mp.mpf(b) > mp.mpf(math.nextafter(quotient, 0))
    assert divide_up(7, 8) == 0.875
    assert divide_up(1e300, 1e-300) == math.inf


BAD = [math.nan, math.inf, -math.inf, 0, -1, "1", True, None, 1j, [1.0]]


@pytest.mark.parametrize("bad", BAD)
def test_bad_positive_arguments_are_refused(bad):
    for call in (
        lambda: gdp(bad),
        lambda: gaussian_curve(bad, 1),
        lambda: gaussian_curve(1, bad),
        lambda: gaussian_sigma(bad, 1, 1e-6),
        lambda: gaussian_sigma(1, bad, 1e-6),
        lambda: gaussian_sigma(1, 1, bad),
        lambda: classical_epsilon_max(bad),
    ):
        with pytest.raises(DomainError):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: classical_epsilon_max(1),
        lambda: classical_epsilon_max(2),
        lambda: gaussian_sigma(1, 1, 1.0),
        lambda: gaussian_sigma(1, 1, 1e-6, method="Analytic"),
        lambda: gaussian_sigma(1, 1, 1e-6, method=None),
        lambda: gaussian_sigma(1, 10, 1e-6, method="classical"),
        lambda: gaussian_sigma(1e300, 1e-300, 1e-6, method="classical"),
        lambda: gaussian_sigma(1e300, 1e-300, 1e-300),
        lambda: gaussian_curve(1e300, 1e-300),
        lambda: gaussian_curve(1e-300, 1e300),
        lambda: gdp(1).delta(-0.1),
        lambda: gdp(1).log_delta([0.0, math.nan]),
        lambda: gdp(1).epsilon(0),
    ],
)
def test_out_of_range_is_refused(call):
    with pytest.raises(DomainError):
        call()
