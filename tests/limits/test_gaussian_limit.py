"""The Gaussian limit: its 1/n term and certificate against exact curves; Berry-Esseen bounds; Le Cam's distance."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import bdtr, ndtr

from shuffledp import DomainError, PrivacyCurve, RandomizedResponse, gdp, shuffled_channel, shuffled_rr
from shuffledp.core.divergences import hockey_stick
from shuffledp.limits.berry_esseen import ALIKE, berry_esseen
from shuffledp.limits.fisher import fisher_constant, mixture_fisher_constant
from shuffledp.limits.gaussian import asymmetry_constant, gdp_certified, gdp_mu, gdp_second_order
from shuffledp.limits.le_cam import le_cam_distance

BIN_A = ((0.8, 0.2), (0.5, 0.5))
BIN_B = ((2 / 3, 1 / 3), (0.25, 0.75))
TRI_A = ((0.5, 0.3, 0.2), (0.2, 0.25, 0.55))
TRI_B = ((0.7, 0.2, 0.1), (0.1, 0.2, 0.7))
QUAD_A = ((0.4, 0.3, 0.2, 0.1), (0.1, 0.1, 0.3, 0.5))
WAYS = {"forward": 1, "reverse": -1}
NOTHING = PrivacyCurve(lambda epsilon: np.full(epsilon.shape, -np.inf), name="nothing", kind="exact", epsilon_max=0.0)


def phi(t):
    return np.exp(-np.square(t) / 2) / math.sqrt(2 * math.pi)


def test_reference_value_of_mu():
    assert gdp_mu(RandomizedResponse(2, 1), 10000, 0) == pytest.approx(
        0.0104219061098749472324485125282, rel=1e-14, abs=0
    )


@pytest.mark.parametrize("pi", [0, 0.1, 0.25, 0.5, 0.9, 1])
@pytest.mark.parametrize("epsilon0", [1e-6, 1.0, 5.0])
def test_asymmetry_of_randomized_response(epsilon0, pi):
    information = 4 * math.sinh(epsilon0 / 2) ** 2
    ours = asymmetry_constant(RandomizedResponse(2, epsilon0), pi)
    assert ours == pytest.approx(-(1 - 2 * pi) * information / 3, rel=1e-9, abs=1e-15 * information)


@pytest.mark.parametrize("rows", [BIN_A, TRI_A, QUAD_A])
def test_asymmetry_of_the_canonical_pair(rows):
    w0, w1 = map(np.array, rows)
    x = w1 / w0 - 1
    second, third = (w0 * x**2).sum(), (w0 * x**3).sum()
    assert asymmetry_constant(rows, 0) == pytest.approx(third / (6 * second) - second / 2, rel=1e-12, abs=0)
    # exchanging the rows exchanges the directions and pi with 1 - pi
    assert asymmetry_constant(rows[::-1], 0.7) == pytest.approx(-asymmetry_constant(rows, 0.3), rel=1e-12, abs=0)


CASES = [
    (RandomizedResponse(2, 1.0), 0, (400, 6400)),
    (RandomizedResponse(2, 1.0), 0.25, (400, 1600)),
    (RandomizedResponse(2, 2.0), 0.5, (400, 1600)),
    (BIN_A, 0.75, (400, 1600)),
    (BIN_B, 0, (400, 1600)),
    (TRI_A, 0, (50, 200)),
    (TRI_A, 0.5, (50, 200)),
]


def residuals(channel, pi, n, sign=1.0):
    """Largest difference of exact and second-order curve over t in [0, 3], times n^(3/2)."""
    mu, t, out = gdp_mu(channel, n, pi), np.linspace(0, 3, 25), []
    for way, direction in WAYS.items():
        exact = shuffled_channel(channel, n, round(pi * n), way).delta(t * mu)
        second = gdp(mu).delta(t * mu) + sign * direction * asymmetry_constant(channel, pi) / n * t * phi(t)
        if sign == 1:
            ours = gdp_second_order(channel, n, pi, way).delta(t * mu)
            assert ours == pytest.approx(np.maximum(second, 0), rel=1e-9, abs=1e-15)
        out.append(np.abs(exact - second).max() * n**1.5)
    return max(out)


@pytest.mark.parametrize("channel, pi, sizes", CASES)
def test_what_is_left_after_the_second_term(channel, pi, sizes):
    """It falls like n^(-3/2)."""
    few, many = (residuals(channel, pi, n) for n in sizes)
    assert many < 1.3 * few + 0.05
    if abs(asymmetry_constant(channel, pi)) > 0.05:  # the slip: the sign; its residual grows like sqrt(n)
        wrong = [residuals(channel, pi, n, sign=-1.0) for n in sizes]
        assert wrong[1] > 1.5 * wrong[0] and wrong[1] > 2 * many


def test_both_directions_and_the_tail():
    channel, n = RandomizedResponse(2, 1.0), 10**6
    mu = gdp_mu(channel, n, 0)
    both, forward, reverse = (gdp_second_order(channel, n, 0, way) for way in ("both", "forward", "reverse"))
    t = np.array([0.0, 1.0, 4.0, 100.0, 1e6])
    assert np.all(both.log_delta(t * mu) == np.maximum(forward.log_delta(t * mu), reverse.log_delta(t * mu)))
    assert math.isfinite(both.log_delta(100 * mu)) and forward.log_delta(100 * mu) == -math.inf
    assert both.kind == forward.kind == "limit"
    assert both.epsilon(1e-6) == pytest.approx(shuffled_rr(1.0, n).epsilon(1e-6), rel=1e-4, abs=0)
    assert gdp(mu).epsilon(1e-6) < both.epsilon(1e-6)  # the Gaussian curve alone is too optimistic


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.5, 3.0])
def test_the_largest_term_that_is_accepted_leaves_the_curve_falling(mu):
    t = np.linspace(0, 12, 3001)
    term = 0.25 * mu * math.erfc(mu / math.sqrt(8))
    for sign in (1, -1):
        values = np.maximum(gdp(mu).delta(t * mu) + sign * term * t * phi(t), 0)
        assert np.diff(values).max() <= 1e-16
    rising = gdp(mu).delta(t * mu) + 8 * term * t * phi(t)
    assert np.diff(rising).max() > 1e-5


@pytest.mark.parametrize("rows", [BIN_A, BIN_B, TRI_A, TRI_B, QUAD_A, ((0.45, 0.55), (0.5, 0.5))])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_the_certificate_encloses_the_exact_curve(rows, n):
    epsilons = np.concatenate([np.linspace(0, 3, 200), [10.0]])
    exact = {way: shuffled_channel(rows, n, 0, way).delta(epsilons) for way in (*WAYS, "both")}
    for way, truth in exact.items():
        certificate = gdp_certified(rows, n, way)
        upper, lower, centre = (
            curve.delta(epsilons) for curve in (certificate.upper, certificate.lower, certificate.centre)
        )
        assert np.all(lower <= truth) and np.all(truth <= upper)
        assert np.all(np.diff(upper) <= 0) and np.all(np.diff(lower) <= 0)
        assert np.all(lower <= centre) and np.all(centre <= np.maximum(upper, centre * (epsilons > 0)))
        assert certificate.upper.kind == "upper bound" and certificate.lower.kind == "lower bound"
        for delta in (0.2, 0.01, 1e-9):
            assert certificate.upper.epsilon(delta) >= shuffled_channel(rows, n, 0, way).epsilon(delta) * (1 - 1e-12)
    assert np.all(gdp_certified(rows, n).upper.delta(epsilons) >= np.maximum(exact["forward"], exact["reverse"]))


def test_the_upper_curve_does_not_end_early_where_entries_are_tiny_and_close():
    a, b = 2.2608696933895145e-139, 2.2608696946729166e-139
    end = math.log1p((b - a) / a)
    for epsilon in (0.99999 * end, np.nextafter(end, 0)):
        assert gdp_certified([[1, a], [1, b]], 2, "forward").upper.delta(epsilon) > 0
        assert gdp_certified([[1, b], [1, a]], 2, "reverse").upper.delta(epsilon) > 0
    assert gdp_certified([[1, a], [1, b]], 2, "forward").upper.epsilon_max < end + 2e-14


def test_the_radius_shrinks_like_1_over_n_and_cannot_be_five_times_smaller():
    q = 1 / (1 + math.e)
    for n in (2, 100, 10**9):
        radius = gdp_certified(RandomizedResponse(2, 1.0), n).radius
        assert radius == pytest.approx((1 - 2 * q) * (q * q + (1 - q) ** 2) / (2 * n * q * (1 - q)), rel=1e-12, abs=0)
    rows, epsilons = ((0.19, 0.81), (0.1, 0.9)), np.linspace(0, 2, 300)
    certificate = gdp_certified(rows, 2, "forward")
    exact = shuffled_channel(rows, 2, 0, "forward").delta(epsilons)
    largest = np.abs(exact - certificate.centre.delta(epsilons)).max() / certificate.radius
    assert 0.2 < largest < 1


def test_certificate_at_large_n_and_extreme_channels():
    certificate, exact = gdp_certified(RandomizedResponse(2, 1.0), 10**9), shuffled_rr(1.0, 10**9)
    epsilon = exact.epsilon(1e-6)
    assert certificate.lower.delta(epsilon) < 1e-6 < certificate.upper.delta(epsilon) < 1.002e-6
    certificate, exact = gdp_certified(RandomizedResponse(2, 230.0), 2), shuffled_rr(230.0, 2)
    for epsilon in (0.0, 1.0, 229.0):
        assert certificate.lower.delta(epsilon) <= exact.delta(epsilon) <= certificate.upper.delta(epsilon) <= 1


def kolmogorov(a, n):
    """Distance of the standardised binomial law from the normal one."""
    count = np.arange(n + 1)
    below, normal = bdtr(count, n, a), ndtr((count - n * a) / math.sqrt(n * a * (1 - a)))
    return max(np.abs(below - normal).max(), np.abs(np.append(0, below[:-1]) - normal).max())


@pytest.mark.parametrize("a", [0.02, 0.3, 0.5, (4 - math.sqrt(10)) / 2])
@pytest.mark.parametrize("n", [2, 7, 100, 20000])
def test_berry_esseen_for_two_outputs(a, n):
    assert kolmogorov(a, n) <= berry_esseen(((1 - a, a), (0.6, 0.4)), n).null


def test_no_constant_below_that_of_esseen_would_do():
    a, n = (4 - math.sqrt(10)) / 2, 20000
    bound = berry_esseen(((1 - a, a), (0.5, 0.5)), n).null
    assert bound * 0.40 / ALIKE < kolmogorov(a, n) < bound


def test_berry_esseen_says_nothing_where_delta_lives():
    for epsilon0 in (0.1, 1.0, 4.0):
        for n in (100, 10**6):
            channel = RandomizedResponse(2, epsilon0)
            epsilons = np.linspace(0, 4, 9) * gdp_mu(channel, n, 0)
            curve = gdp(gdp_mu(channel, n, 0)).delta(epsilons)
            assert np.all(berry_esseen(channel, n).curve(epsilons) > 2.5 * curve)


def deficiency(e, f):
    """How well the best randomization of the pair e imitates the pair f, in total variation: a linear program."""
    outputs, goals = len(e[0]), len(f[0])
    kernel, slack = outputs * goals, 2 * goals
    rows, right = [], []
    for theta in range(2):
        for y in range(goals):
            row = np.zeros(kernel + slack + 1)
            row[np.arange(outputs) * goals + y] = -e[theta]
            row[kernel + theta * goals + y] = -1
            rows.append(row)
            right.append(-f[theta][y])
        row = np.zeros(kernel + slack + 1)
        row[kernel + theta * goals : kernel + (theta + 1) * goals] = 1
        row[-1] = -1
        rows.append(row)
        right.append(0.0)
    sums = np.zeros((outputs, kernel + slack + 1))
    for x in range(outputs):
        sums[x, x * goals : (x + 1) * goals] = 1
    cost = np.zeros(kernel + slack + 1)
    cost[-1] = 1
    return linprog(cost, A_ub=np.array(rows), b_ub=right, A_eq=sums, b_eq=np.ones(outputs)).fun


def curves(pair):
    return [
        PrivacyCurve(
            lambda epsilon, p=p, q=q: np.log(np.maximum(hockey_stick(p, q, epsilon), 1e-300)), name="pair", kind="exact"
        )
        for p, q in (pair[::-1], pair)
    ]


def test_le_cam_distance_is_the_larger_deficiency():
    rng = np.random.default_rng(7)
    for _ in range(8):
        e, f = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(4), 2)
        exact = max(deficiency(e, f), deficiency(f, e))
        ours = le_cam_distance(curves(e), curves(f))
        assert exact * (1 - 2e-4) <= ours <= exact + 1e-9
        doubled = max(  # the slip: total variation alone, which is the prior 1/2
            abs(a.delta(0) - b.delta(0)) / 2 for a, b in zip(curves(e), curves(f), strict=True)
        )
        assert doubled <= ours + 1e-12


def test_le_cam_distance_of_the_limit():
    channel = RandomizedResponse(2, 1.0)
    for n in (400, 6400):
        exact = [shuffled_rr(1.0, n, direction=way) for way in WAYS]
        scaled = n * le_cam_distance(exact, gdp(gdp_mu(channel, n, 0)))
        limit = abs(asymmetry_constant(channel, 0)) * phi(1) / 2
        assert scaled == pytest.approx(limit, rel=1.2 / math.sqrt(n), abs=0)
    assert le_cam_distance(gdp(0.1), NOTHING) == pytest.approx(ndtr(0.05) - 0.5, rel=1e-12, abs=0)
    assert le_cam_distance(gdp(0.1), gdp(0.1)) == 0


def test_the_mixture_constant_gives_another_curve():
    n = 1600
    mu = gdp_mu(BIN_A, n, 0.5)
    exact = sum(shuffled_channel(BIN_A, n, n // 2, way).delta(2 * mu) for way in WAYS) / 2  # the 1/n terms cancel
    assert gdp(mu).delta(2 * mu) == pytest.approx(exact, rel=3e-3, abs=0)
    assert mu == math.sqrt(fisher_constant(BIN_A, 0.5) / n)
    wrong = math.sqrt(mixture_fisher_constant(BIN_A, 0.5) / n)
    assert gdp(wrong).delta(2 * mu) < 0.9 * exact


BAD = [
    ((BIN_A, 1, 0), "n"),
    ((BIN_A, 1.5, 0), "n"),
    ((BIN_A, True, 0), "n"),
    ((BIN_A, math.nan, 0), "n"),
    ((BIN_A, 10**400, 0), "n <= "),
    ((BIN_A, 100, -0.1), "pi"),
    ((BIN_A, 100, 1.1), "pi"),
    ((BIN_A, 100, "0"), "pi"),
    ((((0.5, 0.5), (0.5, 0.5)), 100, 0), "differ"),
    ((((0.5, 0.4), (0.2, 0.8)), 100, 0), "sum to 1"),
    ((((1.0, 0.0), (0.2, 0.8)), 100, 0), "full support"),
    ((RandomizedResponse(3, 1.0), 100, 0), "two inputs"),
]


@pytest.mark.parametrize("arguments, message", BAD)
def test_bad_input_is_refused(arguments, message):
    channel, n, pi = arguments
    with pytest.raises(DomainError, match=message):
        gdp_mu(channel, n, pi)
    with pytest.raises(DomainError, match=message):
        gdp_second_order(channel, n, pi)
    if pi == 0:
        for function in (gdp_certified, berry_esseen):
            with pytest.raises(DomainError, match=message):
                function(channel, n)


def test_a_fraction_is_a_whole_number_and_a_moment_must_be_a_double():
    four = Fraction(400)
    assert "n = 400" in gdp_second_order(BIN_A, four, 0).name and "n = 400" in gdp_certified(BIN_A, four).upper.name
    for function in (lambda rows: asymmetry_constant(rows, 0), lambda rows: gdp_second_order(rows, 10, 0)):
        with pytest.raises(DomainError, match="not a double"):
            function(((1 - 1e-300, 1e-300), (0.5, 0.5)))


def test_an_expansion_without_a_small_parameter_is_refused():
    with pytest.raises(DomainError, match="no correction"):
        gdp_second_order(RandomizedResponse(2, 6.0), 100, 0)
    with pytest.raises(DomainError, match="direction"):
        gdp_second_order(BIN_A, 100, 0, "sideways")
    with pytest.raises(DomainError, match="direction"):
        gdp_certified(BIN_A, 100, 1)
    for pair in (3, "ab", (gdp(1), 2), (gdp(1),) * 3):
        with pytest.raises(DomainError, match="first"):
            le_cam_distance(pair, gdp(1))
    with pytest.raises(DomainError, match="epsilon"):
        berry_esseen(BIN_A, 100).curve(-1)
