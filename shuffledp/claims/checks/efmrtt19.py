"""Checks of Theorem 7 of Erlingsson et al. 2019: the printed forms against the library and against exact values."""

from __future__ import annotations

import mpmath as mp

from ...bounds.theorem7 import theorem7
from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record


def _bounds_exact_rr(claim: Record, tally: Tally, settings) -> None:
    """The claim's bound, capped at epsilon0, against the exact epsilon of shuffled binary randomized response."""
    for epsilon0, n, delta in settings:
        at = {"epsilon0": epsilon0, "n": n, "delta": delta}
        if claim.inside(at):
            exact = shuffled_rr(epsilon0, n).epsilon(delta)
            tally.at_most(exact, min(claim.value(**at), mp.mpf(epsilon0)), **at)


_GRID = [
    (epsilon0, n, delta)
    for epsilon0 in (0.05, 0.2, 0.49, 1.0, 2.0)
    for n in (5, 50, 1000, 10**4, 10**6, 10**8)
    for delta in (0.1, 1e-3, 1e-6, 1e-12)
]


@check("efmrtt19.thm7.general")
def general(claim: Record, tally: Tally) -> None:
    for point in claim.points(300):
        tally.equal(theorem7(**point).log_epsilon_general, mp.log(claim.value(**point)), 1e-13, **point)
    _bounds_exact_rr(claim, tally, _GRID)


@check("efmrtt19.thm7.refined")
def refined(claim: Record, tally: Tally) -> None:
    for point in claim.points(300):
        form = theorem7(**point)
        tally.equal(form.epsilon_refined, claim.value(**point), 1e-12, **point)
        tally.at_most(form.epsilon_general, claim.value(**point), **point)
    _bounds_exact_rr(claim, tally, _GRID)
