"""A test that every bound must pass: it is never below the exact epsilon of shuffled binary randomized response."""

from __future__ import annotations

import functools

from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally
from ..ledger import Record

_SETTINGS = [
    (epsilon0, n, delta)
    for epsilon0 in (0.05, 0.2, 0.49, 1.0, 2.0)
    for n in (5, 50, 1000, 10**4, 10**6, 10**8)
    for delta in (0.1, 1e-3, 1e-6, 1e-12)
]


@functools.cache
def _exact(epsilon0: float, n: int, delta: float) -> float:
    return shuffled_rr(epsilon0, n).epsilon(delta)


def bounds_shuffled_rr(claim: Record, tally: Tally) -> None:
    """Compare the claim's bound, capped at epsilon0, with the exact value at every setting inside its domain."""
    for epsilon0, n, delta in _SETTINGS:
        at = {"epsilon0": epsilon0, "n": n, "delta": delta}
        if claim.inside(at):
            tally.at_most(_exact(**at), min(claim.value(**at), epsilon0), **at)
