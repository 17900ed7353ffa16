"""Checks of what this book adds to Theorem 7: sharp constants, and the sharper reading of its proof."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np

from ...bounds.theorem7 import sharpened_sum, theorem7
from ...core.divergences import kullback_leibler
from ...exact.transcripts import answerer, step_ratio
from ..evidence import Tally, check
from ..ledger import Record
from ._shuffled_rr import bounds_shuffled_rr

_ROUNDING = 1 - 1e-12  # what doubles may add to a value that is attained


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


@check("ext.thm7.refined-constant")
def refined_constant(claim: Record, tally: Tally) -> None:
    """The second term of the general bound over that of the refined form without its 6, inside the range."""

    def constant(epsilon0, n):
        epsilon1 = 2 * mp.exp(2 * epsilon0) * mp.expm1(epsilon0) / n
        return n * epsilon1 * mp.expm1(epsilon1) * n / (mp.exp(4 * epsilon0) * mp.expm1(epsilon0) ** 2)

    best = claim.value()
    with mp.workdps(60):
        tally.equal(constant(mp.log(mp.mpf(10) ** 60 / 4) / 3, mp.mpf(10) ** 60), best, 1e-19)
        for n in (5, 10, 100, 1000, 10**6, 10**12):
            edge = mp.log(mp.mpf(n) / 4) / 3
            for part in (0.1, 0.5, 0.9, 1):
                tally.at_most(constant(part * edge, n), best, n=n, part=part)


@check("ext.thm7.simple-constant")
def simple_constant(claim: Record, tally: Tally) -> None:
    """General bound over epsilon0 sqrt(log(1/delta)/n), towards and away from the excluded corner."""

    def constant(epsilon0, n, delta):
        return theorem7(epsilon0, n, delta).epsilon_general / (epsilon0 * math.sqrt(-math.log(delta) / n))

    best = float(claim.value())
    tally.equal(constant(0.5, 1000, 0.01), best, 1e-12)
    for epsilon0 in (1e-6, 0.1, 0.3, 0.49, 0.4999999):
        for n in (1000, 1001, 10**4, 10**6, 10**9):
            for delta in (0.00999999, 0.005, 1e-3, 1e-6, 1e-30, 1e-300):
                tally.at_most(constant(epsilon0, n, delta), best, epsilon0=epsilon0, n=n, delta=delta)


@check("ext.thm7.no-amplification")
def no_amplification(claim: Record, tally: Tally) -> None:
    """On the edge, beyond it, and by the library at delta next to 1."""
    edge = [
        {"epsilon0": math.log(n / 2) / 3 + step, "n": n}
        for n in (3, 4, 5, 6, 7, 10, 100, 10**4, 10**9)
        for step in (1e-12, 1e-3, 0.1, 1.0)
    ]
    for point in [*claim.points(150), *edge]:
        tally.true(claim.value(**point), **point)
        if point["n"] >= 5 and point["epsilon0"] > math.log(point["n"] / 2) / 3:
            tally.at_most(point["epsilon0"], theorem7(**point, delta=1 - 1e-15).epsilon_general, **point)


@check("ext.thm7.per-step")
def per_step(claim: Record, tally: Tally) -> None:
    """The two mixtures of the proof at random and extreme settings, then whole transcripts of up to 6 users."""
    rng = np.random.default_rng(77)
    for point in claim.points(60):
        bound, u, p = claim.value(**point), math.exp(point["epsilon0"]), float(point["p"])
        tally.equal(math.log1p(p * (u - 1)), bound, 1e-11, **point)  # attained: a = u, b = 1
        b = u ** rng.uniform(-1, 1, 200)
        a = np.clip(b * u ** rng.choice([-1, 1, *rng.uniform(-1, 1, 4)], 200), 1 / u, u)
        weights = p * rng.choice([0, 1, *rng.random(2)], (2, 200))
        gap = (weights[0] * (a - 1) - weights[1] * (b - 1)) / (1 + weights[1] * (b - 1))  # P/Q - 1
        tally.at_most(np.abs(np.log1p(gap)).max() * _ROUNDING, bound, **point)
    for epsilon0 in (0.1, 1.0, 3.0):
        u = math.exp(epsilon0)
        for n in range(2, 7):
            for i in range(2, n + 1):
                p = 1 / (1 + (n - i + 1) / u + (i - 2) / u**2)
                bound = claim.value(epsilon0=epsilon0, p=p)
                cases = u ** rng.choice([0, 1, rng.random()], (200, n + 1, n))
                found = np.log(step_ratio(cases[:, :n], cases[:, n], i, "first"))
                tally.at_most(np.abs(found).max() * _ROUNDING, bound, epsilon0=epsilon0, n=n, i=i)
                worst = np.ones((n, i))  # user i likely at step 1, the users of steps 2, ..., i - 1 at their own
                worst[i - 1, 0] = u
                worst[range(1, i - 1), range(1, i - 1)] = u
                alternative = worst[0].copy()
                worst[0, i - 1] = u
                tally.equal(answerer(worst, i, "first")[0], p, 1e-12, epsilon0=epsilon0, n=n, i=i)
                tally.equal(math.log(step_ratio(worst, alternative, i, "first")), bound, 1e-12)
    tally.note("attained by a transcript for every n <= 6 and every step, the order of the others being known")


@check("ext.thm7.sharpened-sum")
def sharpened_sum_(claim: Record, tally: Tally) -> None:
    for point in claim.points(60):
        tally.equal(sharpened_sum(**point), claim.value(**point), 1e-12, **point)
    for epsilon0 in (0.05, 0.5, 1.0, 3.0):
        for n in (2, 10, 1000, 10**5):
            for delta in (0.1, 1e-6, 1e-12):
                closed = theorem7(epsilon0, n, delta).epsilon_sharpened
                tally.at_most(sharpened_sum(epsilon0, n, delta), closed, epsilon0=epsilon0, n=n, delta=delta)


@check("ext.thm7.sharpened")
def sharpened(claim: Record, tally: Tally) -> None:
    for point in claim.points(200):
        form = theorem7(**point)
        tally.equal(form.epsilon_sharpened, claim.value(**point), 1e-12, **point)
        if math.isfinite(form.epsilon_general):
            tally.at_most(claim.value(**point), form.epsilon_general, **point)
    bounds_shuffled_rr(claim, tally)
