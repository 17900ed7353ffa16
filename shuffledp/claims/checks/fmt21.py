"""Checks of the clones bound: against the pair itself, exact values of randomizers, and its closed forms."""

from __future__ import annotations

import itertools
import math

import mpmath as mp

from ...bounds.blanket import blanket_exact
from ...bounds.clones import clones, clones_closed_form
from ...core.randomizers import RandomizedResponse
from ...exact.channels import shuffled_channel
from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record, record

_SETTINGS = [(n, delta) for n in (30, 1000, 10**5, 10**9) for delta in (0.3, 1e-3, 1e-6, 1e-20)]


def _pair(epsilon0: float, n: int, epsilon: float) -> mp.mpf:
    """Hockey-stick divergence of the pair from its definition, 50 digits."""
    with mp.workdps(50):
        clone = mp.exp(-mp.mpf(epsilon0))
        truth = 1 / (1 + clone)
        laws: dict = {}
        for c in range(n):
            weight = mp.binomial(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) / 2**c
            for a, (d, here, there) in itertools.product(range(c + 1), ((1, truth, 1 - truth), (0, 1 - truth, truth))):
                law = laws.setdefault((a + d, c - a + 1 - d), [mp.mpf(0), mp.mpf(0)])
                law[0] += weight * mp.binomial(c, a) * here
                law[1] += weight * mp.binomial(c, a) * there
        return mp.fsum(max(p - mp.exp(epsilon) * q, 0) for p, q in laws.values())


@check("fmt21.clones")
def pair(claim: Record, tally: Tally) -> None:
    """The sum is the delta of the pair and of the library, and above the exact delta of three randomizers."""
    for point in claim.points(12):
        epsilon0, n, epsilon = point.values()
        value = claim.value(**point)
        tally.equal(_pair(**point), value, 1e-40, **point)
        tally.equal(clones(epsilon0, n).delta(epsilon), value, 1e-9, **point)
        e, exact = math.exp(epsilon0), shuffled_rr(epsilon0, n).delta(epsilon)
        for third in (0.2, 1.0):  # weight of an output that both inputs give equally often
            rows = [[x / (e + 1 + third) for x in row] for row in ([e, 1, third], [1, e, third])]
            exact = max(exact, *(shuffled_channel(rows, n, ones).delta(epsilon) for ones in (0, n - 1)))
        tally.at_most(exact, float(value) * (1 + 1e-9), **point)


def _holds(claim: Record, tally: Tally, needed: int = 16) -> None:
    """At the claimed epsilon, the exact delta of the clones is at most delta: from small epsilon0 to the edge."""
    for n, delta in _SETTINGS:
        room = (n - 1) / (needed * math.log(2 / delta))
        for part in (0.1, 0.6, 1.0) if room > 1 else ():
            at = {"epsilon0": part * math.log(room) * (1 - 1e-12), "n": n, "delta": delta}
            if claim.inside(at) and (epsilon := claim.value(**at)) < at["epsilon0"]:
                tally.at_most(clones(at["epsilon0"], n).delta(float(epsilon)), delta, **at)


@check("fmt21.thm3.1")
def closed_form(claim: Record, tally: Tally) -> None:
    shorter = record("ext.clones.closed")
    for point in claim.points(150):
        value = claim.value(**point)
        tally.equal(clones_closed_form(**point), min(value, point["epsilon0"]), 1e-12, **point)
        tally.true(shorter.value(**point) < value, **point)
    _holds(claim, tally)


@check("fmt21.code.closed")
def as_programmed(claim: Record, tally: Tally) -> None:
    """Against the steps of the program, and above the theorem as recalled."""
    for point in claim.points(150):
        epsilon0, n, delta = point.values()
        a = 8 * math.sqrt(math.exp(epsilon0) * math.log(4 / delta) / n)
        c = 8 * math.exp(epsilon0) / n
        e = math.log(1 + a + c)
        programmed = math.log1p((1 - math.exp(-epsilon0)) / (1 + math.exp(-epsilon0 - e)) * (a + c))
        value = claim.value(**point)
        tally.equal(programmed, value, 1e-11, **point)
        tally.true(record("fmt21.thm3.1").value(**point) < value, **point)
    _holds(claim, tally)


@check("ext.clones.explicit")
def two_tails(claim: Record, tally: Tally) -> None:
    """The ratio of the two laws at the edge of both tails; and against the clones."""
    for point in claim.points(60):
        epsilon0, n, delta = point.values()
        with mp.workdps(50):
            odds, tail = mp.exp(mp.mpf(epsilon0)), mp.log(2 / mp.mpf(delta))
            fewest = (n - 1) / odds - mp.sqrt(2 * (n - 1) / odds * tail)
            most = fewest / 2 + mp.sqrt(fewest * tail / 2)
            ratio = (most + 1) / (fewest - most)
            tally.equal(mp.log((odds * ratio + 1) / (ratio + odds)), claim.value(**point), 1e-40, **point)
    _holds(claim, tally, needed=6)


@check("ext.clones.closed")
def closed_form_with_one_tail(claim: Record, tally: Tally) -> None:
    sharper = record("ext.clones.explicit")
    for point in claim.points(150):
        tally.at_most(sharper.value(**point), claim.value(**point), **point)
    _holds(claim, tally)


@check("ext.clones.spread")
def spread(claim: Record, tally: Tally) -> None:
    for point in claim.points(12):
        tally.true(claim.value(**point), **point)
    for epsilon0, n, part in itertools.product((0.3, 1.0, 3.0), (5, 300, 10**9), (0.02, 0.3)):
        epsilon = part * epsilon0 * min(1, 30 / math.sqrt(n))
        low = blanket_exact(RandomizedResponse(2, epsilon0), n).delta(epsilon)
        tally.at_most(low, clones(epsilon0, n).delta(epsilon), epsilon0=epsilon0, n=n, epsilon=epsilon)
