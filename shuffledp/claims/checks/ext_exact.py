"""Checks of what the exact curves rest on: the excess of a binomial count, and which composition is worst."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np

from ...core.engine import log_binomial_excess
from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import digits, exact_log
from .shvets26 import ODDS, neighbours, stick


def _excess(p: Fraction, n: int, t: Fraction) -> Fraction:
    """``E(T - t)_+`` from the definition."""
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) * (j - t) for j in range(math.ceil(t), n + 1)), Fraction(0))


def _library(p: float, n: int, t: float) -> float:
    m = math.ceil(t)
    distance = Fraction(m) - n * Fraction(p)
    given = (n, p, float(1 - Fraction(p)), m, float(distance), m - t, n - m)
    return math.exp(log_binomial_excess(*(np.array([float(x)]) for x in given))[0])


@check("ext.exact.excess")
def excess(claim: Record, tally: Tally) -> None:
    for p, n, part in product((Fraction(1, 4), Fraction(7, 8)), (1, 9), (Fraction(1, 8), Fraction(2, 3), Fraction(1))):
        with mp.workdps(60):
            at = {"p": digits(p), "n": n, "t": digits(part * n)}
        tally.equal(digits(_excess(p, n, part * n)), claim.value(**at), 1e-38, **at)
    for at in claim.points(10):
        tally.equal(digits(_excess(Fraction(at["p"]), at["n"], Fraction(at["t"]))), claim.value(**at), 1e-38, **at)
        if at["t"] >= at["n"] * at["p"]:  # the library's range
            tally.equal(_library(**at), claim.value(**at), 1e-12, **at)


@check("ext.exact.worst")
def worst(claim: Record, tally: Tally) -> None:
    for odds in ODDS:  # the statement, from the enumeration of all outputs
        alike, mixed = (stick(*reversed(neighbours(3, k, odds)), Fraction(1)) for k in (0, 1))
        at = {"epsilon0": exact_log(odds)}
        tally.true((mixed > alike) == claim.value(**at), **at)
    for at in claim.points(40):
        tally.true(claim.value(**at), **at)
        alike, mixed = (shuffled_rr(at["epsilon0"], 3, k).delta(0.0) for k in (0, 1))
        tally.true(mixed > alike * (1 - 1e-11), what="library", **at)
    for odds, order, n in product(ODDS[:2], (Fraction(1), Fraction(5, 4)), (3, 6)):
        curves = [stick(*reversed(neighbours(n, k, odds)), order) for k in range(n)]
        certified = shuffled_rr(math.log(odds), n, "worst").delta(math.log(order))
        tally.equal(certified, digits(max(curves)), 1e-11, epsilon0=math.log(odds), n=n)
        for a, b in product(range(3), repeat=2):  # one more report of either kind never helps the observer
            here, zero, one = (
                stick(*reversed(neighbours(x + y + 1, y, odds)), order) for x, y in ((a, b), (a + 1, b), (a, b + 1))
            )
            tally.true(max(zero, one) <= here, what="monotone", a=a, b=b)
