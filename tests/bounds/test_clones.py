"""Clones: the exact bound against the definition and other bounds, the closed form above it, refusals."""

import itertools
import math

import pytest

from shuffledp.bounds.blanket import blanket_exact
from shuffledp.bounds.clones import clones, clones_closed_form
from shuffledp.core.domain import DomainError
from shuffledp.core.randomizers import RandomizedResponse


def enumerated(epsilon0, n, epsilon):
    """Hockey-stick divergence of (A + D, C - A + 1 - D), C ~ Bin(n-1, e^-e0), A ~ Bin(C, 1/2), for D's two laws."""
    p, truth = math.exp(-epsilon0), 1 / (1 + math.exp(-epsilon0))
    laws = {}
    for c in range(n):
        for a in range(c + 1):
            weight = math.comb(n - 1, c) * p**c * (1 - p) ** (n - 1 - c) * math.comb(c, a) / 2**c
            for d, (here, there) in itertools.product((0, 1), [(truth, 1 - truth)]):
                law = laws.setdefault((a + d, c - a + 1 - d), [0.0, 0.0])
                law[0] += weight * (here if d else there)
                law[1] += weight * (there if d else here)
    return math.fsum(max(x - math.exp(epsilon) * y, 0.0) for x, y in laws.values())


@pytest.mark.parametrize("epsilon0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_clones_are_the_enumerated_pair(epsilon0, n):
    for fraction in (0.0, 0.2, 0.7):
        exact = enumerated(epsilon0, n, fraction * epsilon0)
        assert clones(epsilon0, n).delta(fraction * epsilon0) == pytest.approx(exact, rel=1e-10, abs=0)
        assert clones(epsilon0, n + 1).delta(fraction * epsilon0) != pytest.approx(exact, rel=1e-3, abs=0)  # the slip


@pytest.mark.parametrize(
    "epsilon0, n, delta", [(0.5, 10**4, 1e-6), (1.0, 10**4, 1e-6), (2.0, 10**6, 1e-12), (4, 10**8, 1e-9)]
)
def test_closed_form_lies_above_the_exact_bound_and_that_above_randomized_response(epsilon0, n, delta):
    exact = clones(epsilon0, n).epsilon(delta)
    assert blanket_exact(RandomizedResponse(2, epsilon0), n).epsilon(delta) < exact
    assert exact < clones_closed_form(epsilon0, n, delta) < 6 * exact


@pytest.mark.parametrize(
    "call",
    [
        lambda: clones(0, 100),
        lambda: clones(1, 0),
        lambda: clones(800, 100),
        lambda: clones_closed_form(math.nan, 100, 0.1),
        lambda: clones_closed_form(5, 1000, 1e-6),
        lambda: clones_closed_form(1, 10, 1e-6),
        lambda: clones_closed_form(1, 1.5, 1e-6),
        lambda: clones_closed_form(1, 10**6, 0),
        lambda: clones_closed_form(1, 10**6, 1),
        lambda: clones_closed_form("1", 10**6, 0.1),
    ],
)
def test_out_of_range_is_refused(call):
    with pytest.raises(DomainError):
        call()
