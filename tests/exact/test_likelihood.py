"""Likelihood ratios against exact rational enumeration, closed forms at any n, and proved inequalities."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp import DomainError, FiniteChannel, RandomizedResponse
from shuffledp.claims.checks._exactly import as_floats, neighbouring_laws
from shuffledp.exact.likelihood import likelihood_ratio, residual_moment

BIN_A = ((Fraction(4, 5), Fraction(1, 5)), (Fraction(1, 2), Fraction(1, 2)))
TRI_A = ((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 5), Fraction(1, 4), Fraction(11, 20)))
QUAD_A = tuple(tuple(Fraction(x, 10) for x in row) for row in ((4, 3, 2, 1), (1, 1, 3, 5)))
STEEP = ((Fraction(999999, 10**6), Fraction(1, 10**6)), (Fraction(1, 10**6), Fraction(999999, 10**6)))
CHANNELS = [BIN_A, TRI_A, QUAD_A, STEEP]


@pytest.mark.parametrize("rows", CHANNELS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_equals_exact_enumeration(rows, n):
    for ones in range(n):
        before, after = neighbouring_laws(rows, n, ones)
        histograms = sorted(before)
        ours = likelihood_ratio(as_floats(rows), histograms, ones)
        exact = [float(after[h] / before[h]) for h in histograms]
        np.testing.assert_allclose(ours, exact, rtol=1e-13)


@pytest.mark.parametrize("rows", [BIN_A, STEEP])
@pytest.mark.parametrize("ones", [1, 13, 60, 79])
def test_equals_exact_enumeration_of_many_users(rows, ones):
    before, after = neighbouring_laws(rows, 80, ones)
    histograms = sorted(before)
    exact = [float(after[h] / before[h]) for h in histograms]
    np.testing.assert_allclose(likelihood_ratio(as_floats(rows), histograms, ones), exact, rtol=1e-13)


def test_where_linearity_ends():
    counts = [[4 - j, j] for j in range(5)]
    wanted = [5 / 8, 25 / 28, 11 / 8, 25 / 13, 5 / 2]
    np.testing.assert_allclose(likelihood_ratio(as_floats(BIN_A), counts, 1), wanted, rtol=1e-14)
    assert not np.allclose(np.diff(wanted, 2), 0, atol=1e-3)
    linear = likelihood_ratio(as_floats(BIN_A), counts, 0)
    np.testing.assert_allclose(np.diff(linear, 2), 0, atol=1e-15)


@pytest.mark.parametrize("n", [10**3, 10**9, 10**15])
def test_the_two_ends_at_any_number_of_users(n):
    channel = FiniteChannel(as_floats(TRI_A))
    ratio = channel.matrix[1] / channel.matrix[0]
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.25, 0.55], [0.9, 0.1, 0.0], [0.0, 0.0, 1.0]])
    counts = np.floor(shares * n)
    counts[:, 0] = n - counts[:, 1:].sum(axis=1)
    np.testing.assert_allclose(likelihood_ratio(channel, counts), counts @ ratio / n, rtol=1e-15)
    np.testing.assert_allclose(likelihood_ratio(channel, counts, n - 1), n / (counts @ (1 / ratio)), rtol=1e-13)


@pytest.mark.parametrize("n", [10**4, 10**9])
@pytest.mark.parametrize("rows", CHANNELS)
def test_sandwich_and_conservation(rows, n):
    """Two proved facts that involve k - 1, k and k + 1 tie the values at large n to each other."""
    channel = FiniteChannel(as_floats(rows))
    ratio = channel.matrix[1] / channel.matrix[0]
    d = len(ratio)
    counts = np.full((3, d), n // d, float)
    counts[1, 0] += (d - 1) * (n // d) - 6 * (d - 1)
    counts[1, 1:] = 6
    counts[2] = np.floor(n * channel.matrix.mean(axis=0))
    for ones in (1, 17, n // 3, n // 2):
        users = counts.sum(axis=1)
        now, before = (likelihood_ratio(channel, counts, k) for k in (ones, ones - 1))
        assert np.all(now <= before * (1 + 1e-14))
        upper = (counts * ratio / ((users - ones)[:, None] * now[:, None] + ones * ratio)).sum(axis=1)
        lower = (counts * ratio / ((users - ones - 1)[:, None] * now[:, None] + (ones + 1) * ratio)).sum(axis=1)
        assert np.all(upper >= 1 - 1e-13) and np.all(lower <= 1 + 1e-13)
        if d == 2 and ratio.max() < 100:  # beyond, the sum of the ratios drowns the smaller one
            total = (users - ones) * now + ones * (ratio.sum() - ratio.prod() / before)
            np.testing.assert_allclose(total, counts @ ratio, rtol=1e-13)


def test_shapes():
    counts = np.array([[[3, 1], [2, 2]], [[1, 3], [0, 4]], [[4, 0], [10, 10]]])
    out = likelihood_ratio(as_floats(BIN_A), counts, 2)
    assert out.shape == (3, 2)
    assert isinstance(likelihood_ratio(as_floats(BIN_A), [3, 1], 2), float)
    assert out[1, 0] == likelihood_ratio(as_floats(BIN_A), [1, 3], 2)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=4),
    st.floats(0.01, 0.99),
    st.lists(st.floats(0.02, 1), min_size=8, max_size=8),
)
def test_it_lies_between_the_least_and_the_largest_single_ratio(counts, share, weights):
    d = len(counts)
    rows = np.array([weights[:d], weights[4 : 4 + d]])
    rows /= rows.sum(axis=1, keepdims=True)
    if np.allclose(rows[0], rows[1], rtol=1e-6):
        return
    ratio = rows[1] / rows[0]
    out = likelihood_ratio(rows, counts, int(share * sum(counts)))
    assert ratio.min() * (1 - 1e-14) <= out <= ratio.max() * (1 + 1e-14)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_residual_moments_from_the_definition(order):
    n, ones = 12, 5
    before, after = neighbouring_laws(BIN_A, n, ones)
    mean = (n - ones) * Fraction(1, 5) + ones * Fraction(1, 2)
    variance = (n - ones) * Fraction(4, 25) + ones * Fraction(1, 4)
    exact = sum(p * (after[h] / p - 1 - Fraction(3, 10) * (h[1] - mean) / variance) ** order for h, p in before.items())
    assert residual_moment(as_floats(BIN_A), n, ones, order) == pytest.approx(float(exact), rel=1e-11)
    assert residual_moment(as_floats(BIN_A), n, ones + 1, order) != pytest.approx(float(exact), rel=1e-3)


def test_residual_vanishes_at_the_end_and_is_centred():
    channel = RandomizedResponse(2, 1.0)
    assert residual_moment(channel, 5000, 0, 2) < 1e-28
    assert abs(residual_moment(channel, 5000, 2000, 1)) < 1e-15


def test_residual_moments_approach_their_limit():
    channel, n = RandomizedResponse(2, 1.0), 8000
    fisher = 4 * math.sinh(0.5) ** 2
    for ones in (2000, 4000):
        scale = ones / n * fisher / n
        for order, moment in ((2, 2), (3, 8), (4, 60)):
            assert residual_moment(channel, n, ones, order) == pytest.approx(moment * scale**order, rel=1e-2)
    assert n**2 * residual_moment(channel, n, 4000) == pytest.approx(0.589873, rel=2e-4)


@pytest.mark.parametrize(
    "arguments",
    [
        ([[0.5, 0.6], [0.5, 0.5]], [1, 1]),
        ([[1.0, 0.0], [0.5, 0.5]], [1, 1]),
        ([[0.5, 0.5], [0.5, 0.5]], [1, 1]),
        (RandomizedResponse(3, 1.0), [1, 1, 1]),
        (as_floats(BIN_A), [1, 1, 1]),
        (as_floats(BIN_A), 3),
        (as_floats(BIN_A), [1, 1.5]),
        (as_floats(BIN_A), [1, -1]),
        (as_floats(BIN_A), [1, math.nan]),
        (as_floats(BIN_A), ["a", "b"]),
        (as_floats(BIN_A), [True, False]),
        (as_floats(BIN_A), [0, 0]),
        (as_floats(BIN_A), [1, 1], 2),
        (as_floats(BIN_A), [1, 1], -1),
        (as_floats(BIN_A), [1, 1], 10**400),
        ([[1 - 1e-310, 1e-310], [0.5, 0.5]], [1, 1]),
        (as_floats(BIN_A), [1, 1], 0.5),
        (as_floats(BIN_A), [[3, 3], [1, 1]], 2),
        (as_floats(BIN_A), [10**15, 1]),
    ],
)
def test_hostile_arguments_are_refused(arguments):
    with pytest.raises(DomainError):
        likelihood_ratio(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [(TRI_A, 5), (BIN_A, 1), (BIN_A, 2.5), (BIN_A, 10**7), (BIN_A, 5, 5), (BIN_A, 5, 1, 0), (BIN_A, 5, 1, 9)],
)
def test_hostile_arguments_of_the_moment_are_refused(arguments):
    rows, *rest = arguments
    with pytest.raises(DomainError):
        residual_moment(as_floats(rows), *rest)
