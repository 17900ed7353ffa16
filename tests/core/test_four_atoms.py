"""Four-valued sums: the sum against exact rationals, the integral against the sum, and the guard."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp.core import four_atoms
from shuffledp.core.engine import log_binomial_call, log_binomial_probability
from shuffledp.core.four_atoms import log_finite_excess, log_four_atom_excess
from shuffledp.core.randomizers import LaplaceRandomizer


def multinomial_excess(n, weights, values):
    """E(sum)_+ over all histograms, in exact rationals."""
    total = Fraction(0)
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                counts = (a, b, c, n - a - b - c)
                value = sum(count * g for count, g in zip(counts, values, strict=True))
                if value > 0:
                    ways = math.factorial(n)
                    for count in counts:
                        ways //= math.factorial(count)
                    chance = math.prod(w**count for w, count in zip(weights, counts, strict=True))
                    total += ways * chance * value
    return float(total)


def pair_atoms(k, growth, order):
    """k-ary randomized response, others at a third symbol."""
    p = 1 / (growth + k - 1)
    values = (growth - order, 1 - order * growth, (1 - order) / growth, 1 - order)
    return (p, p, growth * p, (k - 3) * p), values


def blanket_atoms(k, growth, order):
    p = 1 / (growth + k - 1)
    return (p, p, (k - 2) * p, 1 - k * p), (growth - order, 1 - order * growth, 1 - order, 0 * order)


def evaluate(n, atoms):
    weights, values = ([float(x) for x in part] for part in atoms)
    mean = float(sum(w * g for w, g in zip(*atoms, strict=True)))
    return log_four_atom_excess(n, weights, values, mean)


@pytest.mark.parametrize("make", [pair_atoms, blanket_atoms])
@pytest.mark.parametrize("k", [3, 4, 7])
def test_sum_equals_exact_rationals(make, k):
    for n, growth, order in ((2, 3, Fraction(1)), (7, 3, Fraction(3, 2)), (12, Fraction(11, 10), Fraction(21, 20))):
        atoms = make(k, Fraction(growth), order)
        assert math.exp(evaluate(n, atoms)) == pytest.approx(multinomial_excess(n, *atoms), rel=2e-13, abs=0)


def test_merging_two_outputs_would_be_caught():
    """Counting the other symbols as one loses who sent what: the value falls below the true one, and is no bound."""
    weights, values = pair_atoms(5, Fraction(3), Fraction(3, 2))
    true = multinomial_excess(6, weights, values) / 6
    rest = weights[2] + weights[3]
    average = (weights[2] * values[2] + weights[3] * values[3]) / rest
    merged = multinomial_excess(6, (*weights[:2], rest, Fraction(0)), (*values[:2], average, average)) / 6
    assert true == pytest.approx(0.0448665097, rel=1e-8, abs=0)
    assert merged < true
    assert math.exp(evaluate(6, (weights, values))) / 6 == pytest.approx(true, rel=1e-13, abs=0)


def both_evaluators(n, atoms):
    weights, values = (np.array([float(x) for x in part]) for part in atoms)
    mean = float(weights @ values) / values[0]
    values = values / values[0]
    integral = four_atoms.log_excess_by_contour(n, weights, values[None], np.array([mean]))[0]
    return integral, four_atoms._pair_sum(n, weights, values)


@pytest.mark.parametrize(
    "make, k, epsilon0, n, deviations",
    [
        (pair_atoms, 4, 1.0, 100000, 1.0),
        (pair_atoms, 10, 4.0, 200000, 3.0),
        (blanket_atoms, 10, 4.0, 200000, 0.1),
        (pair_atoms, 10, 1.0, 100000, 6.0),
        (blanket_atoms, 100, 2.0, 600000, 8.0),
        (pair_atoms, 3, 1.0, 1000000, 0.05),
    ],
)
def test_integral_equals_pair_sum(make, k, epsilon0, n, deviations):
    growth = math.exp(epsilon0)
    mu = math.sqrt(2 / (growth + k - 1) / n) * (growth - 1)
    integral, pair_sum = both_evaluators(n, make(k, growth, math.exp(deviations * mu)))
    assert integral == pytest.approx(pair_sum, abs=2e-11)


def test_echoes_matter_and_are_counted(monkeypatch):
    """Without the echoes of a nearly periodic sum the integral is wrong by more than the accuracy promised."""
    atoms = pair_atoms(4, math.e, math.exp(0.0012))
    integral, pair_sum = both_evaluators(20000, atoms)
    assert integral == pytest.approx(pair_sum, abs=2e-11)
    monkeypatch.setattr(four_atoms, "_echoes", lambda *_: 0.0)
    assert both_evaluators(20000, atoms)[0] != pytest.approx(pair_sum, abs=1e-8)


def test_guard_refuses_what_it_cannot_vouch_for(monkeypatch):
    monkeypatch.setattr(four_atoms, "_LONG", 0)
    with pytest.raises(ArithmeticError, match="vouches"):
        evaluate(300, pair_atoms(5, math.e, math.exp(1e-6)))
    monkeypatch.setattr(four_atoms, "_TURNS", 0)
    with pytest.raises(ArithmeticError, match="vouches"):
        evaluate(10**5, pair_atoms(10, math.e, math.exp(0.01)))


def double_sum(n, weights, values):
    """The sum over every pair count and third count of the binomial excess in between."""
    (w, _, w3, w4), (g1, g2, g3, g4) = weights, values
    pairs = np.arange(n + 1.0)[:, None]
    thirds = np.arange(n + 1.0)
    possible = pairs + thirds <= n
    others, thirds = n - pairs, np.where(possible, thirds, 0.0)
    tau = (-g2 * pairs - g4 * (others - thirds) - g3 * thirds) / (g1 - g2)
    pairs, others, thirds, tau = np.broadcast_arrays(pairs, others, thirds, tau)
    log = log_binomial_probability(np.full_like(pairs, n), 2 * w, w3 + w4, pairs, pairs - 2 * w * n)
    rho = w3 / (w3 + w4)
    if rho < 1:
        log = log + log_binomial_probability(others, rho, 1 - rho, thirds, thirds - others * rho)
    else:
        possible &= thirds == others
    log = log + np.where(pairs > 0, log_binomial_call(np.maximum(pairs, 1), 0.5, 0.5, tau), -np.inf)
    log = np.where(possible, log, -np.inf)
    return math.log(g1 - g2) + log.max() + math.log(np.exp(log - log.max()).sum())


@pytest.mark.parametrize("make", [pair_atoms, blanket_atoms])
@pytest.mark.parametrize("k, epsilon0, n", [(3, 1.0, 40), (6, 0.7, 90), (200, 5.0, 60)])
def test_pair_sum_equals_double_sum(make, k, epsilon0, n):
    """From epsilon 0, where the third kind does not matter, to far in the tail, where it matters at every count."""
    for epsilon in (0.0, 1e-9, 0.01 * epsilon0, 0.2 * epsilon0, 0.8 * epsilon0):
        atoms = make(k, math.exp(epsilon0), math.exp(epsilon))
        assert evaluate(n, atoms) == pytest.approx(double_sum(n, *atoms), abs=2e-12)


@pytest.mark.parametrize("k, epsilon0, n", [(10, 1.0, 10**5), (3, 2.0, 10**5), (4, 0.5, 10**6), (50, 2.0, 10**7)])
def test_no_value_is_refused_down_to_epsilon_zero(k, epsilon0, n):
    """Near epsilon 0 the sum is all but periodic; its values lie on a convex curve through the one at 0."""
    mu = math.sqrt(2 / (math.expm1(epsilon0) + k) / n) * math.expm1(epsilon0)
    epsilon = np.array([0.0, 1e-12, 1e-4, 1e-3, 0.02]) * mu
    p, growth, loss = 1 / (math.expm1(epsilon0) + k), math.exp(epsilon0), -np.expm1(epsilon)
    values = (growth - np.exp(epsilon), -np.expm1(epsilon + epsilon0), loss / growth, loss)
    excess = np.exp(log_four_atom_excess(n, (p, p, growth * p, (k - 3) * p), values, loss))
    slope = np.diff(excess) / np.diff(np.exp(epsilon))
    assert excess[1] == pytest.approx(excess[0], rel=1e-10, abs=0)
    assert np.all(slope[1:] < 0) and slope[2] > slope[1] * (1 + 1e-5) and slope[3] > slope[2]
    assert slope[1] == pytest.approx(-n / 2, rel=0.01)


def test_turns_that_come_back_are_bounded():
    """All turns from the one named on, weighted as the echoes are, make up less than what they may."""
    turns, strength, full = np.array([1.0, -0.36787944117, 0.0]), np.array([2e5, 7e5, 3e6]), 1e5
    last, guide, _ = four_atoms._plan(turns.tolist(), strength.tolist(), full)
    assert guide == 1
    m = np.arange(last, 40 * last)
    phase = m * turns[1]
    back = np.exp(-strength[1] * (phase - np.rint(phase)) ** 2)
    assert 0.1 < full * (back / m**2).sum() < 1 < full * (1 / m**2).sum()


@pytest.mark.parametrize("t", [0.3678794411714423, 0.5000001, -2 / 7, 1 / 3 + 1e-4, 1e-5, 3.14159])
def test_turns_in_step_are_all_found(t):
    """Against a look at every single turn, by whatever period they are counted."""
    last, near = 5000.0, 0.013
    every = np.arange(1, last + 1)
    distance = np.abs(every * t - np.rint(every * t))
    for period in (1.0, 2.0, 7.0, 19.0, four_atoms._plan([1.0, t, 0.0], [1e4, 1e5, 1e4], 1e7)[2]):
        drift = period * t - round(period * t)
        arrays = (np.array([1.0, value]) for value in (t, near, period, drift, last))
        row, turn = four_atoms._in_step(np.array([1]), *arrays)
        assert np.all(row == 1) and np.unique(turn).size == turn.size
        assert set(every[distance < near]) <= set(turn)
        turn = turn[turn <= last].astype(int)
        assert np.all(distance[turn - 1] < near * 1.001)


def test_echo_by_cumulants_and_its_error():
    """Against the integral by a fine rule: the estimate of the error is above it, and hardly ever idle."""
    rng, idle = np.random.default_rng(1), 0
    step = 0.05 * np.arange(-240, 241)
    for _ in range(200):
        n, law = int(10 ** rng.uniform(4, 9)), rng.dirichlet(np.ones(3) * 3)
        values = np.array([1.0, -rng.uniform(0.5, 3), -rng.uniform(0, 0.4)])
        away = values - law @ values
        spread = math.sqrt(n * (law @ away**2))
        center, theta, u = rng.uniform(0.1, 2) / spread, rng.uniform(0.5, 8) / spread, rng.uniform(2, 40)
        off = rng.normal(size=3) * rng.uniform(0, 3) / math.sqrt(n)  # what the best turn leaves of the phases
        turned = law * np.exp(1j * (off - away * (law @ (away * off)) / (law @ away**2)))
        echo, error = four_atoms._echo(
            n,
            turned[None],
            away[None] / spread,
            np.array([u]),
            np.array([center]),
            np.array([theta]),
            np.array([spread]),
        )
        phi = np.exp(1j * step[:, None] * away / spread) @ turned
        s = 1 + 1j * (u + step / spread) / theta
        whole = 0.05 * np.exp(n * (np.log(phi) + 1j * (u + step / spread) * center)) / s**2
        assert abs(whole.real.sum() - echo[0]) <= error[0] + (1e-12 + 1e-15 * n) * np.abs(whole).sum()
        idle += not error[0] < 1e-2 * abs(echo[0])
    assert idle < 20


# any finite law, and densities ---------------------------------------------------------------------------------------


def laplace_blanket(epsilon0, n, epsilon):
    """Delta of the Laplace blanket: the density by its quadrature nodes, and the atom 0 of those not in the blanket."""
    randomizer = LaplaceRandomizer(epsilon0)
    (law,) = randomizer.ratio_laws()
    values = np.append(law.r - math.exp(epsilon) * law.r_prime, 0.0)
    weights = np.append(randomizer.gamma * law.weight, 1 - randomizer.gamma)
    return math.exp(finite_excess(n, weights, values, -math.expm1(epsilon))) / n


def finite_excess(n, weights, values, mean):
    """Of one law, its values in any order."""
    order = np.argsort(values)[::-1]
    weights, values = np.array(weights)[order], np.array(values)[order]
    return float(log_finite_excess(n, weights, values[None, :], np.array([mean]))[0])


@pytest.mark.parametrize(
    "epsilon0, epsilon, n, value, rel",
    [
        (1.0, 0.3, 100, 1.425207634272e-4, 1e-12),
        (1.0, 0.1, 1000, 2.486275498328e-5, 1e-12),
        (1.0, 0.03, 10**4, 1.230572103396e-5, 1e-12),
        (3.0, 0.3, 10**4, 2.91401374272e-12, 1e-11),
        (1.0, 0.004, 10**6, 4.5571815435e-8, 2e-10),
    ],
)
def test_laplace_blanket_reference_values(epsilon0, epsilon, n, value, rel):
    assert laplace_blanket(epsilon0, n, epsilon) == pytest.approx(value, rel=rel, abs=0)
    assert laplace_blanket(epsilon0, n + n // 50, epsilon) != pytest.approx(value, rel=1e-3, abs=0)


def test_finite_law_agrees_with_the_four_valued_sum():
    weights, values = pair_atoms(10, math.exp(2.0), math.exp(0.005))
    mean = -math.expm1(0.005)
    general = finite_excess(10**6, weights, values, mean)
    assert general == pytest.approx(log_four_atom_excess(10**6, weights, values, mean), abs=1e-11)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_too_few_terms_for_the_integral_are_refused(n):
    with pytest.raises(ArithmeticError, match="too few"):
        laplace_blanket(0.2, n, 0.05)
    with pytest.raises(ArithmeticError, match="too few"):
        finite_excess(n, *pair_atoms(3, math.e, math.exp(0.1)), -math.expm1(0.1))


def test_a_rare_largest_value_is_refused():
    """Where the first value is hardly ever seen, the others may come into step while it has not made a whole turn."""
    with pytest.raises(ArithmeticError, match="too few"):
        finite_excess(1000, (1e-4, 0.3, 0.3, 0.3999), (2.3, 1.0, -1.1, 0.0), 1e-4 * 2.3 + 0.3 - 0.33)
