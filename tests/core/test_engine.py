"""The binomial evaluators against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp.core.engine import log_binomial_call, log_binomial_probability


def expected(n, p, t, above):
    total = Fraction(0)
    for j in range(n + 1):
        gain = j - t if above else t - j
        if gain > 0:
            total += math.comb(n, j) * p**j * (1 - p) ** (n - j) * gain
    return float(total)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("n", [1, 2, 9, 40])
@pytest.mark.parametrize("p", [Fraction(1, 1000), Fraction(1, 3), Fraction(9, 10)])
def test_call_and_put_at_every_threshold(n, p, above):
    thresholds = [Fraction(x, 8) for x in range(-8, 8 * n + 9, 3)] + [n * p]
    logs = log_binomial_call(float(n), float(p), float(1 - p), np.array([float(t) for t in thresholds]), above=above)
    for t, log in zip(thresholds, logs, strict=True):
        # in the money the two differ by a sum of positive terms; out of it the threshold is right to a rounding
        assert math.exp(log) == pytest.approx(expected(n, p, t, above), rel=1e-12, abs=1e-15)


def test_call_of_a_rare_event_among_many():
    """Both sides keep their digits where n is far larger than the counts that matter."""
    n, p, t = 10**12, 3e-12, 7.5
    poisson = [3.0**j * math.exp(-3) / math.factorial(j) for j in range(60)]
    call = sum(chance * (j - t) for j, chance in enumerate(poisson) if j > t)
    put = sum(chance * (0.5 - j) for j, chance in enumerate(poisson) if j < 0.5)
    assert math.exp(log_binomial_call(float(n), p, 1 - p, t)) == pytest.approx(call, rel=1e-10, abs=0)
    assert math.exp(log_binomial_call(float(n), p, 1 - p, 0.5, above=False)) == pytest.approx(put, rel=1e-10, abs=0)


def test_probability():
    n, p = 30, Fraction(2, 7)
    counts = np.arange(n + 1.0)
    logs = log_binomial_probability(np.array([float(n)]), float(p), float(1 - p), counts, counts - float(n * p))
    exact = [float(math.comb(n, j) * p**j * (1 - p) ** (n - j)) for j in range(n + 1)]
    np.testing.assert_allclose(np.exp(logs), exact, rtol=2e-14)
