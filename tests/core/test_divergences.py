"""Divergences of finite laws against exact fractions and 50 digits: close laws, zeros, hostile input."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp import DomainError
from shuffledp.core.divergences import (
    chi_square,
    hockey_stick,
    jensen_shannon,
    kullback_leibler,
    total_variation,
)

EVERY = (
    lambda p, q: hockey_stick(p, q, 0.1),
    total_variation,
    kullback_leibler,
    chi_square,
    jensen_shannon,
)
LAWS = st.lists(st.integers(0, 1000), min_size=2, max_size=6).filter(lambda counts: sum(counts) > 0)
QUICK = settings(derandomize=True, max_examples=60, deadline=None)


def law(counts):
    return np.array(counts, float) / sum(counts)


def reference(p, q):
    """KL, chi-square, JSD and total variation of the very doubles given, in 50 digits."""
    with mp.workdps(50):
        pairs = [(mp.mpf(float(a)), mp.mpf(float(b))) for a, b in zip(p, q, strict=True)]

        def kl(pairs):
            # the doubles do not sum to exactly 1: the terms b - a, which cancel for laws, are kept
            return sum((a * mp.log(a / b) if a else 0) + b - a for a, b in pairs)

        middle = [(a, (a + b) / 2) for a, b in pairs], [(b, (a + b) / 2) for a, b in pairs]
        return (
            float(kl(pairs)) if all(b or not a for a, b in pairs) else math.inf,
            float(sum((a - b) ** 2 / b for a, b in pairs if b)) if all(b or not a for a, b in pairs) else math.inf,
            float(sum(kl([(a, m) for a, m in half if m]) for half in middle) / 2),
            float(sum(abs(a - b) for a, b in pairs) / 2),
        )


@QUICK
@given(LAWS, st.data())
def test_against_50_digits(counts, data):
    other = data.draw(st.lists(st.integers(0, 1000), min_size=len(counts), max_size=len(counts)).filter(any))
    p, q = law(counts), law(other)
    kl, chi2, jsd, tv = reference(p, q)
    assert kullback_leibler(p, q) == pytest.approx(kl, rel=1e-13, abs=1e-300)
    assert chi_square(p, q) == pytest.approx(chi2, rel=1e-13, abs=1e-300)
    assert jensen_shannon(p, q) == pytest.approx(jsd, rel=1e-13, abs=1e-300)
    assert total_variation(p, q) == pytest.approx(tv, rel=1e-13, abs=1e-300)


@QUICK
@given(LAWS, st.data(), st.floats(0, 5))
def test_hockey_stick_against_fractions(counts, data, epsilon):
    other = data.draw(st.lists(st.integers(0, 1000), min_size=len(counts), max_size=len(counts)).filter(any))
    order = Fraction(math.exp(epsilon))
    exact = sum(
        max(Fraction(a, sum(counts)) - order * Fraction(b, sum(other)), 0) for a, b in zip(counts, other, strict=True)
    )
    value = hockey_stick(law(counts), law(other), epsilon)
    assert value == pytest.approx(float(exact), rel=1e-10, abs=1e-15)
    assert 0 <= value <= total_variation(law(counts), law(other)) + 1e-15


@pytest.mark.parametrize("gap", [1e-4, 1e-8, 1e-12])
def test_close_laws_keep_relative_accuracy(gap):
    """Where sum(p log(p/q)) is all rounding, the divergences are still right to 1e-10."""
    p = np.array([0.2, 0.3, 0.5])
    q = p + np.array([gap, -gap, 0.0])
    kl, chi2, jsd, tv = reference(p, q)
    assert kullback_leibler(p, q) == pytest.approx(kl, rel=1e-12, abs=0)
    assert chi_square(p, q) == pytest.approx(chi2, rel=1e-12, abs=0)
    assert jensen_shannon(p, q) == pytest.approx(jsd, rel=1e-12, abs=0)
    assert total_variation(p, q) == pytest.approx(tv, rel=1e-12, abs=0)
    if gap == 1e-12:
        assert abs(float(np.sum(p * np.log(p / q))) / kl - 1) > 0.01  # the textbook formula would be caught


def test_reference_value_of_the_jensen_shannon_divergence():
    """All others alike, 20 users, epsilon0 = 1.5: the two binomial laws, and a published value."""
    n, q = 20, 1 / (1 + math.exp(1.5))
    zero = np.array([math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)])
    others = np.array([math.comb(n - 1, j) * q**j * (1 - q) ** (n - 1 - j) for j in range(n)])
    one = np.append(others * q, 0) + np.append(0, others * (1 - q))
    assert jensen_shannon(zero, one) == pytest.approx(0.0177744157825323767711012000436, rel=1e-12, abs=0)
    assert jensen_shannon(zero, one) != pytest.approx(0.0177744157825323767711012000436 / math.log(2), rel=1e-3, abs=0)


def test_zeros():
    p, q = [0.5, 0.5, 0.0], [0.25, 0.0, 0.75]
    assert kullback_leibler(p, q) == math.inf and chi_square(p, q) == math.inf
    assert hockey_stick(p, q, 50.0) == pytest.approx(0.5)  # what q never sends counts at every order
    assert hockey_stick([1.0, 0.0], [0.0, 1.0], 700.0) == 1.0
    assert jensen_shannon([1.0, 0.0], [0.0, 1.0]) == pytest.approx(math.log(2), rel=1e-15, abs=0)
    assert kullback_leibler([1.0, 0.0], [0.5, 0.5]) == pytest.approx(math.log(2), rel=1e-15, abs=0)
    assert all(f(p, p) == 0 for f in EVERY)


def test_direction_matters():
    p, q = [0.9, 0.1], [0.5, 0.5]
    for f in (lambda p, q: hockey_stick(p, q, 0.3), kullback_leibler, chi_square):
        assert f(p, q) != pytest.approx(f(q, p), rel=1e-3, abs=0)


def test_hockey_stick_of_many_orders():
    p, q = [0.9, 0.1], [0.5, 0.5]
    epsilon = np.array([[0.0, 0.1], [0.5, 5.0]])
    values = hockey_stick(p, q, epsilon)
    assert values.shape == (2, 2) and values[0, 0] == pytest.approx(total_variation(p, q)) and values[1, 1] == 0
    assert isinstance(hockey_stick(p, q, 0.1), float)


@pytest.mark.parametrize(
    "p, q",
    [
        ([0.5, 0.6], [0.5, 0.5]),
        ([0.5, 0.5], [-0.5, 1.5]),
        ([0.5, math.nan], [0.5, 0.5]),
        ([0.5, 0.5], [1.0]),
        ([], []),
        ([[0.5, 0.5]], [[0.5, 0.5]]),
        ("ab", [0.5, 0.5]),
        ([True, False], [0.5, 0.5]),
        ([[0.5], [0.2, 0.3]], [0.5, 0.5]),
        (None, [1.0]),
    ],
)
def test_hostile_laws_are_refused(p, q):
    for divergence in EVERY:
        with pytest.raises(DomainError):
            divergence(p, q)
        with pytest.raises(DomainError):
            divergence(q, p)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf, "1", True])
def test_hostile_orders_are_refused(epsilon):
    with pytest.raises(DomainError):
        hockey_stick([0.5, 0.5], [0.4, 0.6], epsilon)


def test_kullback_leibler_keeps_its_digits_at_extreme_ratios():
    small = 1e-13
    p, q = [1 - small, small], [small, 1 - small]
    with mp.workdps(40):
        exact = sum(mp.mpf(a) * mp.log(mp.mpf(a) / mp.mpf(b)) for a, b in zip(p, q, strict=True))
    assert kullback_leibler(p, q) == pytest.approx(float(exact), rel=1e-14, abs=0)
