"""Poisson and Skellam limits against sums of 40 digits, exact curves and exact distances."""

import math

import mpmath as mp
import numpy as np
import pytest

from shuffledp import DomainError, gdp, shuffled_rr
from shuffledp.limits.boundary import poisson_distance, poisson_floor, poisson_limit, skellam_limit

DIRECTIONS = ("forward", "reverse")


def poisson(mean, j):
    return mp.exp(-mean + j * mp.log(mean) - mp.loggamma(j + 1)) if mean else mp.mpf(j == 0)


def series(lam, epsilon, direction):
    """Log delta of the Poisson pair from its definition, summed from the threshold outwards."""
    with mp.workdps(40):
        lam, order = mp.mpf(lam), mp.exp(mp.mpf(epsilon))
        if direction == "forward":
            j, step = int(mp.floor(lam * order)) + 1, 1
        else:
            j, step = int(mp.ceil(lam / order)) - 1, -1
        term, total = poisson(lam, j), mp.mpf(0)
        while j >= 0:
            gain = term * (j / lam - order if step == 1 else 1 - order * j / lam)
            total += gain
            if gain < total * mp.mpf(10) ** -25:
                break
            term *= lam / (j + 1) if step == 1 else j / lam
            j += step
        return float(mp.log(total))


def difference(lam, pi, epsilon, direction):
    """Log delta of the Skellam pair from the convolution of two Poisson laws, far enough out."""
    with mp.workdps(40):
        first, second = mp.mpf(lam) * (1 - mp.mpf(pi)), mp.mpf(lam) * mp.mpf(pi)
        if direction == "reverse":
            first, second = second, first
        order, reach = mp.exp(mp.mpf(epsilon)), int(lam * math.exp(epsilon)) + 40
        zeros, ones = [poisson(first, j) for j in range(2 * reach)], [poisson(second, j) for j in range(reach)]
        law = [mp.fsum(zeros[j + i] * p for i, p in enumerate(ones) if j + i >= 0) for j in range(-20, reach)]
        return float(mp.log(mp.fsum(max(a - order * b, 0) for a, b in zip(law, law[1:], strict=False))))


@pytest.mark.parametrize("lam", [1e-9, 1e-3, 0.5, 2.0, 12.3, 1e4, 1e5])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_poisson_limit_against_its_series(lam, direction):
    curve = poisson_limit(lam, direction)
    assert curve.kind == "limit"
    for deviations in (0.0, 0.3, 3.0, 25.0):
        epsilon = deviations / math.sqrt(lam)
        if epsilon < 30 and lam * deviations < 1e7:
            assert curve.log_delta(epsilon) == pytest.approx(series(lam, epsilon, direction), rel=1e-13, abs=1e-11)
    for epsilon in (0.4, 3.0, 11.0):
        if lam < 20000:
            assert curve.log_delta(epsilon) == pytest.approx(series(lam, epsilon, direction), rel=1e-13, abs=1e-11)


def test_poisson_limit_far_below_the_smallest_double():
    value = poisson_limit(2.0, "forward").log_delta(6.0)
    assert value < -3000 and value == pytest.approx(series(2.0, 6.0, "forward"), rel=1e-13)
    assert poisson_limit(2.0, "forward").delta(6.0) == 0.0


def test_published_digits():
    assert poisson_limit(1.0, "reverse").delta(1.0) == pytest.approx(0.367879441171442321595523770161, rel=1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("lam", "pi"), [(2.0, 0.25), (2.0, 0.5), (0.3, 0.9), (7.5, 0.1), (0.01, 0.5)])
def test_skellam_limit_against_the_convolution(lam, pi, direction):
    curve = skellam_limit(lam, pi, direction)
    for epsilon in (0.0, 1.2):
        assert curve.log_delta(epsilon) == pytest.approx(difference(lam, pi, epsilon, direction), rel=1e-12, abs=1e-11)
    assert curve.delta(0.5) != pytest.approx(skellam_limit(lam, pi / 2, direction).delta(0.5), rel=1e-4)  # slip


@pytest.mark.parametrize(("pi", "wanted"), [(0.3, -881.0460739126512), (0.7, -394.9920172443865)])
def test_skellam_limit_far_below_the_smallest_double(pi, wanted):
    """Forward, lambda = 30, epsilon = 3: the sum of positive terms with Bessel functions, 40 digits."""
    assert skellam_limit(30.0, pi, "forward").log_delta(3.0) == pytest.approx(wanted, rel=1e-13)


def test_the_ends_of_the_skellam_limit():
    epsilon = np.array([0, 0.2, 1.0, 3.0])
    np.testing.assert_array_equal(skellam_limit(3.0, 0).log_delta(epsilon), poisson_limit(3.0).log_delta(epsilon))
    np.testing.assert_array_equal(
        skellam_limit(3.0, 1, "forward").log_delta(epsilon), poisson_limit(3.0, "reverse").log_delta(epsilon)
    )
    both = skellam_limit(3.0, 0.3).log_delta(epsilon)
    sides = [skellam_limit(3.0, 0.3, side).log_delta(epsilon) for side in DIRECTIONS]
    np.testing.assert_array_equal(both, np.max(sides, axis=0))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_n_times_the_error_settles(share, direction):
    scaled = []
    for n in (400, 4000, 40000):
        limit = skellam_limit(2.0, share, direction).delta(0.5)
        scaled.append(n * (shuffled_rr(math.log(n / 2 - 1), n, int(share * n), direction).delta(0.5) - limit))
    assert abs(scaled[2] - scaled[1]) < 0.15 * abs(scaled[1] - scaled[0]) + 1e-6
    assert abs(scaled[2]) < 1.2
    if share == 0:
        assert scaled[2] == pytest.approx({"forward": -0.605, "reverse": -1.163}[direction], abs=2e-3)
    if share == 0.25:
        assert scaled[2] == pytest.approx({"forward": -0.687, "reverse": -1.15}[direction], abs=5e-3)


def test_the_floor():
    curve = poisson_limit(2.0, "reverse")
    assert poisson_floor(2.0) == math.exp(-2)
    assert curve.delta([1, 5, 30, 1e9]) == pytest.approx(math.exp(-2), rel=1e-11)
    assert curve.delta(0.5) > 1.1 * math.exp(-2)
    with pytest.raises(DomainError, match="never reached"):
        curve.epsilon(0.1)
    assert curve.delta(curve.epsilon(0.14)) <= 0.14
    assert skellam_limit(2.0, 0.5, "reverse").delta(4.0) < 1e-70  # no floor inside


def test_small_c_is_the_gaussian_limit():
    for lam, tolerance in ((1e4, 2e-2), (1e8, 2e-4)):
        mu = 1 / math.sqrt(lam)
        for side in DIRECTIONS:
            assert poisson_limit(lam, side).delta(mu) == pytest.approx(gdp(mu).delta(mu), rel=tolerance)


def convolved(zeros, ones, q):
    law = np.array([1.0])
    for chance in [q] * zeros + [1 - q] * ones:
        law = np.append(law * (1 - chance), 0) + np.append(0, law * chance)
    return law


def shifted_skellam(zeros, ones, shift, size):
    """Law of shift + U - V on 0, ..., size - 1, and the mass outside."""
    j = np.arange(400.0)
    logs = np.array([math.lgamma(i + 1) for i in j])
    first, second = (np.exp(j * math.log(m) - m - logs) if m else (j == 0) * 1.0 for m in (zeros, ones))
    law = np.convolve(first, second[::-1])  # of U - V, from -399 on
    start = 399 - shift
    inside = law[start : start + size]
    return inside, law.sum() - inside.sum()


@pytest.mark.parametrize("epsilon0", [0.5, 2.0, 4.0])
@pytest.mark.parametrize(("n", "ones"), [(2, 0), (9, 0), (60, 0), (60, 15), (60, 59)])
def test_distances_are_bounded(epsilon0, n, ones):
    q = 1 / (1 + math.exp(epsilon0))
    bounds = poisson_distance(epsilon0, n, ones)
    for added, bound in enumerate(bounds):
        law = convolved(n - ones - added, ones + added, q)
        inside, outside = shifted_skellam((n - ones) * q, ones * q, ones + added, n + 1)
        distance = 0.5 * (np.abs(law - inside).sum() + outside)
        assert 0 < distance <= bound
        assert distance > bound / 50  # the bound has the right size: a tenth of it would be caught somewhere
    for epsilon in (0.0, 0.7):
        for direction, (p, r) in {"forward": bounds[::-1], "reverse": bounds}.items():
            exact = shuffled_rr(epsilon0, n, ones, direction).delta(epsilon)
            limit = skellam_limit(n * q, ones / n, direction).delta(epsilon)
            assert abs(exact - limit) <= p + math.exp(epsilon) * r


def test_the_bounds_are_the_quoted_ones_and_an_eighth_is_too_small():
    q = 0.5 / 60
    epsilon0 = math.log(1 / q - 1)
    law = convolved(59, 1, q)
    inside, outside = shifted_skellam(60 * q, 0.0, 1, 61)
    worst = 0.5 * (np.abs(law - inside).sum() + outside)
    before, after = poisson_distance(epsilon0, 60)
    assert before == pytest.approx(q * -math.expm1(-60 * q), rel=1e-9)
    assert after / 8 < worst <= after <= 3 * q * (1 + 1e-9)


@pytest.mark.parametrize("lam", [0, -1, math.nan, math.inf, "2", True, 1e-10, 1e10, None])
def test_lambda_out_of_range(lam):
    for make in (poisson_limit, poisson_floor, lambda x: skellam_limit(x, 0.5)):
        with pytest.raises(DomainError, match="lam"):
            make(lam)


@pytest.mark.parametrize("pi", [-0.1, 1.1, math.nan, "0.5", True])
def test_share_out_of_range(pi):
    with pytest.raises(DomainError, match="pi"):
        skellam_limit(2.0, pi)


@pytest.mark.parametrize(
    "arguments", [(0, 5), (-1, 5), (math.nan, 5), (701, 5), (1, 1), (1, 2.5), (1, 5, 5), (1, 5, -1)]
)
def test_distance_out_of_range(arguments):
    with pytest.raises(DomainError):
        poisson_distance(*arguments)


def test_direction_is_checked():
    with pytest.raises(DomainError, match="direction"):
        poisson_limit(2.0, "sideways")
    with pytest.raises(DomainError, match="direction"):
        skellam_limit(2.0, 0.5, "up")
