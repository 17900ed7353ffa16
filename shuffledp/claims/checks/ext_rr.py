"""Checks of our results on shuffled randomized response."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import digits, exact_log
from .shvets26 import ODDS, canonical_laws


@check("ext.rr.total-variation")
def total_variation(claim: Record, tally: Tally) -> None:
    for odds, n in product(ODDS, (1, 2, 3, 8)):
        zeros, one = canonical_laws(n, odds)
        distance = sum(abs(p - q) for p, q in zip(one, zeros, strict=True)) / Fraction(2)
        at = {"epsilon0": exact_log(odds), "n": n}
        tally.equal(digits(distance), claim.value(**at), 1e-45, **at)
    for at in claim.points(60):
        tally.equal(shuffled_rr(**at).delta(0.0), claim.value(**at), 1e-11, **at)
