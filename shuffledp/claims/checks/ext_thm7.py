"""Checks of what this book adds to Theorem 7: sharp constants, and the sharper reading of its proof."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np

from ...core.divergences import kullback_leibler
from ..evidence import Tally, check
from ..ledger import Record


@check("ext.thm7.kl-sharp")
def kl_sharp(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(7)
    for point in claim.points(40):
        bound, epsilon = claim.value(**point), mp.mpf(point["epsilon"])
        with mp.workdps(40):
            p, q = 1 / (1 + mp.exp(-epsilon)), 1 / (1 + mp.exp(epsilon))
            attained = p * mp.log(p / q) + q * mp.log(q / p)
        tally.equal(attained, bound, 1e-13, **point)
        for _ in range(5):  # two laws on 2 to 6 points: q, and p = q + s step with the largest s the ratios allow
            size = rng.integers(2, 7)
            q, step = rng.dirichlet(np.ones(size)), np.diff(rng.dirichlet(np.ones(size), 2), axis=0)[0]
            room = q * np.where(step > 0, math.expm1(epsilon), math.expm1(-epsilon)) / step
            tally.at_most(kullback_leibler(q + room.min() * step, q), bound, **point)
    tally.note("binary randomized response attains it, random pairs of laws stay below")
