"""Four-valued sums: the double sum against exact rationals, the integral against the double sum, and the guard."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp.core import four_atoms
from shuffledp.core.four_atoms import log_finite_excess, log_four_atom_excess, saddle
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
def test_double_sum_equals_exact_rationals(make, k):
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
    theta = saddle(n, weights, values)
    pair_window, third, _ = four_atoms._windows(n, weights, values, theta)
    return (
        four_atoms.log_excess_by_contour(n, weights, values, mean, theta),
        four_atoms._double_sum(n, weights, values, pair_window, third),
    )


@pytest.mark.parametrize(
    "make, k, epsilon0, n, deviations",
    [
        (pair_atoms, 4, 1.0, 2000, 1.0),
        (pair_atoms, 10, 4.0, 20000, 3.0),
        (blanket_atoms, 10, 4.0, 20000, 0.1),
        (pair_atoms, 10, 1.0, 10000, 3.0),
        (blanket_atoms, 100, 2.0, 60000, 8.0),
    ],
)
def test_integral_equals_double_sum(make, k, epsilon0, n, deviations):
    growth = math.exp(epsilon0)
    mu = math.sqrt(2 / (growth + k - 1) / n) * (growth - 1)
    integral, double_sum = both_evaluators(n, make(k, growth, math.exp(deviations * mu)))
    assert integral == pytest.approx(double_sum, abs=2e-11)


def test_echoes_matter_and_are_counted(monkeypatch):
    """Without the echoes of a nearly periodic sum the integral is wrong by more than the accuracy promised."""
    atoms = pair_atoms(4, math.e, math.exp(0.004))
    integral, double_sum = both_evaluators(2000, atoms)
    assert integral == pytest.approx(double_sum, abs=2e-11)
    monkeypatch.setattr(four_atoms, "_FAINTEST", math.inf)
    assert both_evaluators(2000, atoms)[0] != pytest.approx(double_sum, abs=1e-8)


def test_guard_refuses_what_it_cannot_vouch_for(monkeypatch):
    monkeypatch.setattr(four_atoms, "_LONG", 0)
    monkeypatch.setattr(four_atoms, "_SHORT", 0)
    with pytest.raises(ArithmeticError, match="vouches"):
        evaluate(300, pair_atoms(5, math.e, math.exp(1e-6)))
    with pytest.raises(ArithmeticError, match="vouches"):
        evaluate(100, pair_atoms(50, math.e, math.exp(0.1)))


@pytest.mark.parametrize("n", [10, 999, 5000])
def test_single_sum_at_epsilon_zero_equals_double_sum(n):
    atoms = pair_atoms(6, math.exp(0.7), 1.0)
    weights, values = (np.array(part) for part in atoms)
    scale = values[0]
    values = values / scale
    window, third, _ = four_atoms._windows(n, weights, values, saddle(n, weights, values))
    double_sum = four_atoms._double_sum(n, weights, values, window, third) + math.log(scale)
    assert log_four_atom_excess(n, *atoms, 0.0) == pytest.approx(double_sum, abs=1e-12)


# any finite law, and densities ---------------------------------------------------------------------------------------


def laplace_blanket(epsilon0, n, epsilon):
    """Delta of the Laplace blanket: the density by its quadrature nodes, and the atom 0 of those not in the blanket."""
    randomizer = LaplaceRandomizer(epsilon0)
    (law,) = randomizer.ratio_laws()
    values = np.append(law.r - math.exp(epsilon) * law.r_prime, 0.0)
    weights = np.append(randomizer.gamma * law.weight, 1 - randomizer.gamma)
    return math.exp(log_finite_excess(n, weights, values, -math.expm1(epsilon))) / n


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
    shuffled = [2, 0, 3, 1]
    general = log_finite_excess(10**6, np.array(weights)[shuffled], np.array(values)[shuffled], mean)
    assert general == pytest.approx(log_four_atom_excess(10**6, weights, values, mean), abs=1e-11)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_too_few_terms_for_the_integral_are_refused(n):
    with pytest.raises(ArithmeticError, match="too few"):
        laplace_blanket(0.2, n, 0.05)
    with pytest.raises(ArithmeticError, match="too few"):
        log_finite_excess(n, *pair_atoms(3, math.e, math.exp(0.1)), -math.expm1(0.1))


def test_a_rare_largest_value_is_refused():
    """Where the first value is hardly ever seen, the others may come into step while it has not made a whole turn."""
    with pytest.raises(ArithmeticError, match="too few"):
        log_finite_excess(1000, (1e-4, 0.3, 0.3, 0.3999), (2.3, 1.0, -1.1, 0.0), 1e-4 * 2.3 + 0.3 - 0.33)
