"""Checks of blanket masses: exact rationals for finite channels, quadrature of the infimum for densities."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np

from ...core.randomizers import (
    FiniteChannel,
    GaussianRandomizer,
    GenericRandomizer,
    LaplaceRandomizer,
    RandomizedResponse,
)
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import DIGITS
from ._exactly import digits, exact_log


def blanket_mass(rows: list[list[Fraction]]) -> Fraction:
    """Sum over the outputs of the least entry."""
    return sum((min(column) for column in zip(*rows, strict=True)), Fraction(0))


def _random_rows(rng, inputs: int, outputs: int) -> list[list[Fraction]]:
    rows = [[int(x) for x in row] for row in rng.integers(1, 60, (inputs, outputs))]
    return [[Fraction(x, sum(row)) for x in row] for row in rows]


@check("bbgn19.gamma.def")
def definition(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(41)
    for inputs, outputs in product((2, 3, 6), (2, 4, 6)):
        rows = _random_rows(rng, inputs, outputs)
        gamma, least = blanket_mass(rows), [min(column) for column in zip(*rows, strict=True)]
        remainders = [[(a - b) / (1 - gamma) for a, b in zip(row, least, strict=True)] for row in rows]
        tally.true(all(min(nu) >= 0 and sum(nu) == 1 for nu in remainders), what="remainders are laws")
        # gamma is the largest part in common: at every output some remainder is 0
        tally.true(all(min(column) == 0 for column in zip(*remainders, strict=True)), what="nothing more in common")
        channel = FiniteChannel([[float(x) for x in row] for row in rows])
        tally.equal(channel.gamma, digits(gamma), 1e-13)
        for x in range(inputs):
            gap = np.abs(channel.remainder(x) - [float(a) for a in remainders[x]]).max()
            tally.at_most(gap, 1e-13)
        if inputs == outputs == 2:
            at = {"p": digits(rows[0][0]), "q": digits(rows[1][0])}
            tally.equal(digits(gamma), claim.value(**at), 1e-45, **at)
    for at in claim.points(40):
        p, q = mp.mpf(at["p"]), mp.mpf(at["q"])
        with mp.workdps(DIGITS):
            tally.equal(min(p, q) + min(1 - p, 1 - q), claim.value(p=p, q=q), 1e-45, **at)


def complementary(s: int, odds: Fraction) -> list[list[Fraction]]:
    """s inputs and outputs; every symbol but the true one has ``odds`` times the probability of the true one."""
    total = 1 + (s - 1) * odds
    return [[(1 if x == y else odds) / total for y in range(s)] for x in range(s)]


def _random_private(rng, s: int, odds: float) -> np.ndarray:
    """A random channel with s inputs whose columns have entries within a factor ``odds`` of each other."""
    rows = odds ** (rng.random((s, rng.integers(2, 7))) * 0.5)
    return rows / rows.sum(axis=1, keepdims=True)


@check("bbgn19.gamma.lower")
def lower_bound(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(42)
    for at in claim.points(60):
        epsilon0, bound = at["epsilon0"], claim.value(**at)
        tally.equal(GenericRandomizer(epsilon0).gamma, bound, 1e-14, **at)
        channel = FiniteChannel(_random_private(rng, int(rng.integers(2, 7)), math.exp(epsilon0)))
        tally.at_most(claim.value(epsilon0=channel.epsilon0), channel.gamma, epsilon0=channel.epsilon0)
    for odds in (Fraction(3), Fraction(3, 2)):  # approached: no larger bound is possible
        for s in (2, 20, 200):
            rows = complementary(s, odds)
            at = {"epsilon0": exact_log(odds)}
            tally.at_most(claim.value(**at), digits(blanket_mass(rows)), **at, s=s)
        tally.at_most(digits(blanket_mass(rows)), claim.value(**at) * (1 + mp.mpf(1) / 100), **at, s=s)


@check("ext.pb.gamma.finite")
def finite_inputs(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(43)
    for s, odds in product((2, 3, 5, 9), (Fraction(3), Fraction(3, 2), Fraction(11))):
        rows = complementary(s, odds)
        at = {"epsilon0": exact_log(odds), "s": s}
        tally.true(max(max(column) / min(column) for column in zip(*rows, strict=True)) == odds, what="odds", **at)
        tally.equal(digits(blanket_mass(rows)), claim.value(**at), 1e-45, **at)
    for at in claim.points(60):
        s = min(at["s"], 40)
        channel = FiniteChannel(_random_private(rng, s, math.exp(at["epsilon0"])))
        tally.at_most(claim.value(epsilon0=channel.epsilon0, s=s), channel.gamma, epsilon0=channel.epsilon0, s=s)


@check("bbgn19.gamma.rr")
def randomized_response(claim: Record, tally: Tally) -> None:
    for k, odds in product((2, 3, 8), (Fraction(3), Fraction(3, 2), Fraction(11))):
        other = 1 / (odds + k - 1)
        rows = [[odds * other if x == y else other for y in range(k)] for x in range(k)]
        at = {"epsilon0": exact_log(odds), "k": k}
        tally.equal(digits(blanket_mass(rows)), claim.value(**at), 1e-45, **at)
    for at in claim.points(60):
        rr = RandomizedResponse(at["k"], at["epsilon0"])
        tally.equal(rr.gamma, claim.value(**at), 1e-14, **at)
    reference = "0.8533674259065845151241834"
    tally.equal(claim.value(epsilon0=1, k=10), mp.mpf(reference), 1e-15)


def _mass_of_infimum(density, width) -> mp.mpf:
    """Integral of the least of the densities of five inputs in [0, 1]; the breaks are where it may have kinks."""
    inputs = [mp.mpf(i) / 4 for i in range(5)]
    return mp.quad(
        lambda y: min(density(y - x) for x in inputs), [-width, -width / 4, 0, 0.5, 1, 1 + width / 4, 1 + width]
    )


@check("bbgn19.gamma.lap")
def laplace(claim: Record, tally: Tally) -> None:
    for epsilon0 in (mp.mpf(1) / 2, mp.mpf(4)):
        mass = _mass_of_infimum(lambda d, e0=epsilon0: e0 / 2 * mp.exp(-e0 * abs(d)), 40 / epsilon0)
        tally.equal(mass, claim.value(epsilon0=epsilon0), 1e-12, epsilon0=epsilon0)
    for at in claim.points(40):
        tally.equal(LaplaceRandomizer(at["epsilon0"]).gamma, claim.value(**at), 1e-14, **at)


@check("bbgn19.gamma.lapblanket")
def laplace_blanket(claim: Record, tally: Tally) -> None:
    inputs = [mp.mpf(i) / 20 for i in range(21)]
    for at in claim.points(60):
        epsilon0, y = mp.mpf(at["epsilon0"]), mp.mpf(at["y"])
        with mp.workdps(DIGITS):
            least = min(epsilon0 / 2 * mp.exp(-epsilon0 * abs(y - x)) for x in inputs)
            tally.equal(least / mp.exp(-epsilon0 / 2), claim.value(epsilon0=epsilon0, y=y), 1e-45, **at)
        laplace = LaplaceRandomizer(at["epsilon0"])
        tally.equal(float(laplace.blanket(at["y"])), claim.value(**at), 1e-13, **at)
        tally.equal(float(laplace.law(0.5)(at["y"])), claim.value(**at), 1e-13, **at)


@check("bbgn19.gamma.gauss")
def gauss(claim: Record, tally: Tally) -> None:
    for sigma in (mp.mpf(1) / 5, mp.mpf(2)):
        mass = _mass_of_infimum(lambda d, s=sigma: mp.npdf(d, 0, s), 9 * sigma)
        tally.equal(mass, claim.value(sigma=sigma), 1e-12, sigma=sigma)
    for at in claim.points(40):
        tally.equal(GaussianRandomizer(at["sigma"]).gamma, claim.value(**at), 1e-13, **at)
    tally.equal(claim.value(sigma=1), mp.mpf("0.6170750774519737927245908"), 1e-15)


def unary_rows(k: int, odds_of_a_bit: Fraction) -> list[list[Fraction]]:
    """Laws of the k bits for every symbol: its own bit is set, and then each is flipped with probability 1/(1+odds)."""
    flip = 1 / (1 + odds_of_a_bit)
    return [
        [math.prod(1 - flip if bit == (i == x) else flip for i, bit in enumerate(bits))
         for bits in product((0, 1), repeat=k)]
        for x in range(k)
    ]  # fmt: skip


@check("ext.pb.gamma.unary")
def unary(claim: Record, tally: Tally) -> None:
    for k, odds in product((2, 3, 6), (Fraction(3), Fraction(3, 2))):
        rows = unary_rows(k, odds)
        largest = max(max(column) / min(column) for column in zip(*rows, strict=True))
        tally.true(largest == odds**2, what="epsilon0 is twice that of a bit", k=k)
        at = {"epsilon0": exact_log(odds**2), "k": k}
        tally.equal(digits(blanket_mass(rows)), claim.value(**at), 1e-45, **at)
    for at in claim.points(8):
        k = min(at["k"], 9)
        rows = unary_rows(k, math.exp(at["epsilon0"] / 2))
        tally.equal(FiniteChannel(rows).gamma, claim.value(epsilon0=at["epsilon0"], k=k), 1e-12, **at)
