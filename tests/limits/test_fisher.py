"""The Fisher constant against exact rational algebra from the definition, and what it must refuse."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp import DomainError, FiniteChannel, RandomizedResponse, fisher_constant, mixture_fisher_constant
from shuffledp.limits.fisher import canonical_law, cumulants, moments

EIGHTHS = [Fraction(i, 8) for i in range(9)]
CHANNELS = {  # in units of 1/64, so that every entry is a double exactly
    "two outputs": [[48, 16], [32, 32]],
    "three": [[32, 20, 12], [12, 16, 36]],
    "three, symmetric": [[44, 13, 7], [7, 13, 44]],
    "four": [[26, 19, 13, 6], [6, 7, 19, 32]],
    "five": [[1, 2, 3, 4, 54], [20, 20, 10, 10, 4]],
}
each_channel = pytest.mark.parametrize("rows", CHANNELS.values(), ids=CHANNELS)


def exact(rows):
    return [[Fraction(x, 64) for x in row] for row in rows]


def covariance(law):
    return [[(p if i == j else 0) - p * q for j, q in enumerate(law)] for i, p in enumerate(law)]


def quadratic_form(matrix, v):
    """v' S^-1 v with the last coordinate left out of both: elimination in exact rationals."""
    d = len(v) - 1
    table = [[*matrix[i][:d], v[i]] for i in range(d)]
    for i in range(d):
        pivot = table[i][i]
        table[i] = [x / pivot for x in table[i]]
        for j in range(d):
            if j != i:
                table[j] = [x - table[j][i] * y for x, y in zip(table[j], table[i], strict=True)]
    return sum(v[i] * table[i][d] for i in range(d))


def from_the_definition(rows, pi):
    """(I, J): the constants of the true covariance and of the mixture's."""
    W0, W1 = exact(rows)
    v = [b - a for a, b in zip(W0, W1, strict=True)]
    pairs = zip(covariance(W0), covariance(W1), strict=True)
    true = [[(1 - pi) * a + pi * b for a, b in zip(*pair, strict=True)] for pair in pairs]
    mixture = covariance([(1 - pi) * a + pi * b for a, b in zip(W0, W1, strict=True)])
    return quadratic_form(true, v), quadratic_form(mixture, v)


@each_channel
@pytest.mark.parametrize("pi", EIGHTHS, ids=str)
def test_both_constants_equal_exact_elimination(rows, pi):
    I, J = from_the_definition(rows, pi)  # noqa: E741
    channel = FiniteChannel(np.array(rows) / 64)
    assert fisher_constant(channel, float(pi)) == pytest.approx(float(I), rel=1e-14, abs=0)
    assert mixture_fisher_constant(channel, float(pi)) == pytest.approx(float(J), rel=1e-14, abs=0)
    assert J == I / (1 + pi * (1 - pi) * I)
    assert (J < I) == (0 < pi < 1)  # the slip: one in place of the other
    inside = 0 < pi < 1
    assert (mixture_fisher_constant(channel, float(pi)) == pytest.approx(float(I), rel=1e-3, abs=0)) != inside


def test_published_digits_of_three_outputs():
    rows = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]
    assert fisher_constant(rows, 0.25) == pytest.approx(576 / 167, rel=1e-14, abs=0)


@pytest.mark.parametrize("epsilon0", [1e-150, 1e-12, 0.01, 1.0, 5.0, 40.0, 230.0])
@pytest.mark.parametrize("pi", [0, 0.1, 0.5, 1])
def test_binary_randomized_response_has_one_constant_at_every_composition(epsilon0, pi):
    value = 4 * math.sinh(epsilon0 / 2) ** 2
    assert fisher_constant(RandomizedResponse(2, epsilon0), pi) == pytest.approx(value, rel=1e-14, abs=0)
    mixture = value / (1 + pi * (1 - pi) * value)
    assert mixture_fisher_constant(RandomizedResponse(2, epsilon0), pi) == pytest.approx(mixture, rel=1e-14, abs=0)


@each_channel
def test_ends_are_chi_square_divergences(rows):
    W0, W1 = exact(rows)
    for pi, (p, q) in ((0, (W1, W0)), (1, (W0, W1))):
        chi_square = sum((a - b) ** 2 / b for a, b in zip(p, q, strict=True))
        assert fisher_constant(np.array(rows) / 64, pi) == pytest.approx(float(chi_square), rel=1e-14, abs=0)


@each_channel
def test_the_constant_is_convex_in_the_composition(rows):
    grid = np.linspace(0, 1, 101)
    values = np.array([fisher_constant(np.array(rows) / 64, pi) for pi in grid])
    assert np.diff(values, 2).min() >= -1e-13 * values.max()
    mixture = np.array([mixture_fisher_constant(np.array(rows) / 64, pi) for pi in grid])
    assert values.max() == max(values[0], values[-1])
    assert np.all(mixture <= values * (1 + 1e-15))


@each_channel
@pytest.mark.parametrize("pi", [0.0, 0.125, 0.5, 1.0])
def test_score_and_generalized_inverse_solve_what_they_say(rows, pi):
    found = moments(np.array(rows) / 64, pi)
    S, G, z = found.covariance, found.inverse, found.z
    np.testing.assert_allclose(S @ z, found.v, rtol=0, atol=1e-15)
    np.testing.assert_allclose(S @ G @ S, S, rtol=0, atol=1e-15)
    assert found.p @ z == pytest.approx(0, abs=1e-14)
    assert found.v @ z == pytest.approx(found.fisher, rel=1e-14, abs=0)
    assert found.A == pytest.approx(1 - pi * (1 - pi) * found.J, rel=1e-14, abs=0)
    B = found.covariances[1] - found.covariances[0]
    trace = np.trace(B @ G @ B @ G)
    assert trace == pytest.approx(np.trace(B @ np.linalg.pinv(S) @ B @ np.linalg.pinv(S)), rel=1e-10, abs=0)
    step = 1e-6  # the derivative of I is -z'(Sigma_1 - Sigma_0)z
    if step < pi < 1 - step:
        ends = [moments(np.array(rows) / 64, pi + sign * step).fisher for sign in (-1, 1)]
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(-z @ B @ z, rel=1e-6, abs=1e-8 * found.fisher)


@each_channel
def test_third_cumulant_by_enumeration(rows):
    found = moments(np.array(rows) / 64, 0.375)
    z = found.z + 7.0  # a constant changes nothing
    enumerated = 0.0
    for row, share in zip(found.rows, (0.625, 0.375), strict=True):
        for y, chance in enumerate(row):
            away = np.eye(len(row))[y] - row
            enumerated = enumerated + share * chance * (away @ z) * np.outer(away, away)
    np.testing.assert_allclose(found.third_cumulant(z), enumerated, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.third_cumulant(found.z), enumerated, rtol=0, atol=1e-14)


@each_channel
def test_cumulants_by_exact_moments(rows):
    W0, W1 = exact(rows)
    X = [b / a - 1 for a, b in zip(W0, W1, strict=True)]
    m2, m3, m4, m5 = (sum(p * x**r for p, x in zip(W0, X, strict=True)) for r in (2, 3, 4, 5))
    expected = [m2, m3, m4 - 3 * m2**2, m5 - 10 * m2 * m3]
    np.testing.assert_allclose(cumulants(np.array(rows) / 64), [float(x) for x in expected], rtol=1e-12)
    x, weight = canonical_law(np.array(rows) / 64)
    assert weight @ x == pytest.approx(0, abs=1e-15)


def test_randomized_response_has_cumulants_i_and_i_squared():
    fisher = 4 * math.sinh(0.5e-6) ** 2
    second, third, *_ = cumulants(RandomizedResponse(2, 1e-6))
    assert second == pytest.approx(fisher, rel=1e-14, abs=0)
    assert third == pytest.approx(fisher**2, rel=1e-8, abs=0)  # two values of X that nearly cancel


@pytest.mark.parametrize("function", [fisher_constant, mixture_fisher_constant, moments])
@pytest.mark.parametrize(
    "channel, pi, message",
    [
        ([[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]], 0.5, "full support"),
        ([[0.5, 0.5], [0.5, 0.5]], 0.5, "rows must differ"),
        ([[0.5, 0.6], [0.2, 0.8]], 0.5, "sum to 1"),
        ([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]], 0.5, "two inputs"),
        (RandomizedResponse(3, 1.0), 0.5, "two inputs"),
        (RandomizedResponse(2, 1e-170), 0.5, "not a double"),
        ("channel", 0.5, "rows"),
        ([[0.5, 0.5], [0.2, 0.8]], 1.5, "pi"),
        ([[0.5, 0.5], [0.2, 0.8]], -1e-9, "pi"),
        ([[0.5, 0.5], [0.2, 0.8]], math.nan, "pi"),
        ([[0.5, 0.5], [0.2, 0.8]], "half", "pi"),
        ([[0.5, 0.5], [0.2, 0.8]], True, "pi"),
    ],
)
def test_hostile_arguments_are_refused(function, channel, pi, message):
    with pytest.raises(DomainError, match=message):
        function(channel, pi)
