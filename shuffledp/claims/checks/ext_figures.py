"""Checks of what decides between the two closed forms of the blanket bound."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np

from ...bounds.blanket import bennett_lemma, hoeffding_lemma
from ...core.randomizers import RandomizedResponse
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import DIGITS
from ._exactly import digits
from .bbgn19_figures import mean_inverse


@check("ext.pb.hoeffding-wins")
def hoeffding_wins(claim: Record, tally: Tally) -> None:
    used = 0
    for at in claim.points(200):
        tally.true(claim.value(**at), **at)
        a, b, b_plus, c = (at[name] for name in ("a", "b", "b_plus", "c"))
        if c >= b * b / 4:
            used += 1
            for m in (1, 3, 50):
                low, high = hoeffding_lemma(a, b, m), bennett_lemma(a, b_plus, c, m)
                tally.true(low <= high * (1 + 1e-12), m=m, **at)
    tally.note(f"the condition holds at {used} points")


@check("ext.pb.gain")
def gain(claim: Record, tally: Tally) -> None:
    for at in claim.points(60):
        randomizer = RandomizedResponse(at["k"], at["epsilon0"])
        low, high = randomizer.amplification_range(0)
        tally.equal(4 * randomizer.amplification_second_moment(0) / (high - low) ** 2, claim.value(**at), 1e-9, **at)


@check("ext.pb.mean-inverse")
def inverse(claim: Record, tally: Tally) -> None:
    for g in (Fraction(1, 2), Fraction(1, 9)):
        for n in (1, 2, 7):
            mean = sum(math.comb(n, m) * g**m * (1 - g) ** (n - m) / m for m in range(1, n + 1))
            at = {"g": digits(g), "n": n}
            tally.equal(digits(mean), claim.value(**at), 1e-40, **at)
    for at in claim.points(10):
        with mp.workdps(DIGITS):
            g, n = mp.mpf(at["g"]), at["n"]
            mean = mp.fsum(mp.binomial(n, m) * g**m * (1 - g) ** (n - m) / m for m in range(1, n + 1))
        tally.equal(mean, claim.value(**at), 1e-40, **at)
        tally.equal(float(mean_inverse(np.array(n), np.array(at["g"]))), claim.value(**at), 1e-12, **at)
