"""Checks of the exact statements about the canonical pair: enumeration of every output in exact rationals, then the
library and direct 50-digit evaluation at sizes no enumeration reaches."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath as mp

from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import DIGITS
from ._exactly import digits, exact_log

ODDS = (Fraction(3), Fraction(3, 2), Fraction(11))  # e^epsilon0: what makes every probability a rational


def law_of_the_count(inputs: tuple[int, ...], odds: Fraction) -> list[Fraction]:
    """Law of the number of ones that users with these inputs report, by adding up all ``2^n`` outputs."""
    truth, lie = odds / (1 + odds), 1 / (1 + odds)
    law = [Fraction(0)] * (len(inputs) + 1)
    for outputs in product((0, 1), repeat=len(inputs)):
        law[sum(outputs)] += math.prod(truth if x == y else lie for x, y in zip(inputs, outputs, strict=True))
    return law


def canonical_laws(n: int, odds: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Laws of the count when all n users hold 0, and when one of them holds 1."""
    return law_of_the_count((0,) * n, odds), law_of_the_count((1,) + (0,) * (n - 1), odds)


@check("shvets26.lr.canonical")
def likelihood_ratio(claim: Record, tally: Tally) -> None:
    for odds, n in product(ODDS, (2, 3, 8)):
        zeros, one = canonical_laws(n, odds)
        for t in range(n + 1):
            at = {"epsilon0": exact_log(odds), "n": n, "t": t}
            tally.equal(digits(one[t] / zeros[t]), claim.value(**at), 1e-45, **at)
    for at in claim.points(60):  # from the binomial coefficients, as n = 10^6 needs
        n, t = at["n"], at["t"]
        with mp.workdps(DIGITS):
            odds = mp.exp(at["epsilon0"])
            # the other users report t - 1 ones beside a true 1, or t ones beside a false 0
            given_one = mp.binomial(n - 1, t - 1) * odds if t else mp.mpf(0)
            given_zero = mp.binomial(n - 1, t) / odds if t < n else mp.mpf(0)
            tally.equal((given_one + given_zero) / mp.binomial(n, t), claim.value(**at), 1e-40, **at)


@check("shvets26.exact.canonical")
def exact_delta(claim: Record, tally: Tally) -> None:
    for odds, order, n in product(ODDS, (Fraction(1), Fraction(5, 4), Fraction(4)), (1, 2, 7)):
        zeros, one = canonical_laws(n, odds)
        delta = sum(max(p - order * q, Fraction(0)) for p, q in zip(one, zeros, strict=True))
        at = {"epsilon0": exact_log(odds), "epsilon": exact_log(order), "n": n}
        tally.equal(digits(delta), claim.value(**at), 1e-45, **at)
    for at in claim.points(40):
        curve = shuffled_rr(at["epsilon0"], at["n"], direction="forward")
        tally.equal(curve.delta(at["epsilon"]), claim.value(**at), 1e-11, **at)


def inputs(n: int, ones: int) -> tuple[int, ...]:
    """The first user holds 0, ``ones`` of the other n - 1 hold 1."""
    return (0,) + (1,) * ones + (0,) * (n - 1 - ones)


def neighbours(n: int, ones: int, odds: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Laws of the count before and after the first user changes from 0 to 1."""
    before = inputs(n, ones)
    return law_of_the_count(before, odds), law_of_the_count((1,) + before[1:], odds)


def stick(after: list[Fraction], before: list[Fraction], order: Fraction) -> Fraction:
    """Hockey-stick divergence of order ``e^epsilon``, exactly."""
    return sum((max(p - order * q, Fraction(0)) for p, q in zip(after, before, strict=True)), Fraction(0))


@check("shvets26.exact.general")
def any_composition(claim: Record, tally: Tally) -> None:
    for odds, order, n in product(ODDS[:2], (Fraction(1), Fraction(5, 4)), (2, 5)):
        for k in range(n):
            before, after = neighbours(n, k, odds)
            at = {"epsilon0": exact_log(odds), "epsilon": exact_log(order), "n": n, "k": k}
            gains = [sum(after[j:]) - order * sum(before[j:]) for j in range(1, n + 1)]
            for j, gain in enumerate(gains, 1):
                tally.equal(1 + digits(gain), 1 + claim.value(**at, j=j), 1e-45, **at, j=j)  # the gain may be 0
            tally.true(max(gains) == stick(after, before, order), what="a threshold is best", **at)
            mirrored = neighbours(n, n - 1 - k, odds)
            tally.true(stick(*mirrored, order) == max(gains), what="reverse at n - 1 - k", **at)
            for ones, direction in ((k, "forward"), (n - 1 - k, "reverse")):
                curve = shuffled_rr(math.log(odds), n, ones, direction)
                tally.equal(curve.delta(math.log(order)), digits(max(gains)), 1e-11, **at)
    for at in claim.points(12):  # the library's value is attained at one threshold and exceeded at none
        delta = shuffled_rr(at["epsilon0"], at["n"], at["k"], "forward").delta(at["epsilon"])
        values = {j: claim.value(**(at | {"j": j})) for j in range(max(at["j"] - 1, 1), min(at["j"] + 1, at["n"]) + 1)}
        tally.true(max(values.values()) <= delta * (1 + 1e-11), what="no threshold gives more", **at)
    for n, k, j in ((12, 0, 5), (12, 11, 11), (24, 10, 14)):
        at = {"epsilon0": 2.0, "epsilon": 0.5, "n": n, "k": k}
        best = max(claim.value(**at, j=i) for i in range(max(j - 2, 1), min(j + 2, n) + 1))
        tally.equal(shuffled_rr(2.0, n, k, "forward").delta(0.5), best, 1e-11, **at)


@check("shvets26.exact.mlr")
def log_concave(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        tally.true(claim.value(**at), **at)
    for odds, n in product(ODDS, (3, 6)):
        for k in range(n):
            others = law_of_the_count(inputs(n, k)[1:], odds)
            at = {"epsilon0": exact_log(odds), "n": n, "k": k}
            for j in range(1, n - 1):
                truth = others[j] ** 2 >= others[j - 1] * others[j + 1]
                tally.true(truth == claim.value(**at, j=j), **at, j=j)
            before, after = neighbours(n, k, odds)
            ratios = [p / q for p, q in zip(after, before, strict=True)]
            tally.true(ratios == sorted(ratios), what="the ratio increases with the count", **at)
