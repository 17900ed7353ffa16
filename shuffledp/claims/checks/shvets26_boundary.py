"""Checks of the boundary regime: exact laws at n users against the Poisson and Skellam limits and the normal law."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
from scipy.special import ndtr

from ...core.randomizers import RandomizedResponse
from ...exact.randomized_response import shuffled_rr
from ...limits.berry_esseen import berry_esseen
from ...limits.boundary import poisson_distance, poisson_floor, poisson_limit, skellam_limit
from ..evidence import Tally, check
from ..ledger import Record


def count_law(zeros: int, ones: int, q: float) -> np.ndarray:
    """Law of the number of ones that this many users of either kind report, one user after the other."""
    law = np.ones(1)
    for chance in [q] * zeros + [1 - q] * ones:
        law = np.append(law * (1 - chance), 0.0) + np.append(0.0, law * chance)
    return law


def poisson_law(mean: float, size: int) -> np.ndarray:
    out = np.zeros(size)
    out[0] = math.exp(-mean)
    for j in range(1, size):
        out[j] = out[j - 1] * mean / j
    return out


def epsilon0_of(lam: float, n: int) -> float:
    """The local parameter at which lam of the n users lie on average."""
    return math.log(n / lam - 1)


def _normal_distance(law: np.ndarray, first: int, mean: float, spread: float) -> float:
    """Kolmogorov distance of a lattice law from the normal law, on both sides of every jump."""
    below = np.concatenate([[0.0], np.cumsum(law)])
    normal = ndtr((first + np.arange(len(law)) - mean) / spread)
    return float(max(np.abs(below[1:] - normal).max(), np.abs(below[:-1] - normal).max()))


@check("shvets26.boundary.be")
def normal_count(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        n, q = at["n"], 1 / (1 + math.exp(at["epsilon0"]))
        mean, spread = n * q, math.sqrt(n * q * (1 - q))
        first, last = max(int(mean - 9 * spread - 30), 0), min(int(mean + 9 * spread + 30), n)
        count = np.arange(first, last + 1)
        logs = [math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) for j in count]
        law = np.exp(np.array(logs) + count * math.log(q) + (n - count) * math.log1p(-q))
        bound = claim.value(**at)
        tally.at_most(_normal_distance(law, first, mean, spread), bound, **at)
        tally.equal(berry_esseen(RandomizedResponse(2, at["epsilon0"]), n).null, bound, 1e-12, **at)
    for n, epsilon0 in ((8, 0.5), (8, 3.0), (2, 1.0)):  # the law built up user by user
        q = 1 / (1 + math.exp(epsilon0))
        distance = _normal_distance(count_law(n, 0, q), 0, n * q, math.sqrt(n * q * (1 - q)))
        tally.at_most(distance, claim.value(epsilon0=epsilon0, n=n), epsilon0=epsilon0, n=n)


@check("shvets26.boundary.poisson")
def poisson_pair(claim: Record, tally: Tally) -> None:
    for at in claim.points(30):
        lam, epsilon = float(at["lam"]), float(at["epsilon"])
        limit = claim.value(**at)
        tally.equal(poisson_limit(lam, "reverse").delta(epsilon), limit, 1e-10, **at)
        shifts = []
        for n in (4000, 16000):  # n times the distance settles
            exact = shuffled_rr(epsilon0_of(lam, n), n, direction="reverse").delta(epsilon)
            shifts.append(n * float(exact - limit))
        tally.true(
            abs(shifts[1] - shifts[0]) <= 0.02 * max(1.0, lam) * (1 + lam), what="n (exact - limit) settles", **at
        )
        with mp.workdps(30):  # forward, as the excess of the count: what is missing from the mean is in the shortfall
            means, order = mp.mpf(lam), mp.exp(mp.mpf(epsilon))
            short = mp.fsum(
                means**j / mp.factorial(j) * mp.exp(-means) * (means * order - j)
                for j in range(int(mp.floor(means * order)) + 1)
            )
            forward = (means - means * order + short) / means
        if forward > 1e-12:
            tally.equal(poisson_limit(lam, "forward").delta(epsilon), forward, 1e-10, **at)


@check("shvets26.boundary.skellam")
def skellam_pair(claim: Record, tally: Tally) -> None:
    for at in claim.points(12):
        lam, share, z = float(at["lam"]), float(at["pi"]), float(at["z"])
        claimed = claim.value(**at)
        with mp.workdps(40):
            values = []
            for n in (10**8, 2 * 10**8):
                q, k = mp.mpf(lam) / n, mp.mpf(share) * n
                values.append((n - k) * mp.log(1 - q + q * z) + k * mp.log(1 - q + q / mp.mpf(z)))
            tally.equal(1 + 2 * values[1] - values[0], 1 + claimed, 1e-11, **at)
        size = int(6 * lam + 60)
        zeros, ones = poisson_law((1 - share) * lam, size), poisson_law(share * lam, size)
        law = np.convolve(zeros, ones[::-1])  # of the difference, from 1 - size on
        place = np.arange(1 - size, size)
        tally.equal(float((law * z**place).sum()), mp.exp(claimed), 1e-9, **at)
        for epsilon in (0.0, 0.4):
            forward = np.maximum(np.append(0.0, law) - math.exp(epsilon) * np.append(law, 0.0), 0).sum()
            tally.equal(skellam_limit(lam, share, "forward").delta(epsilon), forward, 1e-9, epsilon=epsilon, **at)
    for share, epsilon in ((0.25, 0.5), (0.5, 1.0)):
        for direction in ("forward", "reverse"):
            limit = skellam_limit(2.0, share, direction).delta(epsilon)
            shifts = [
                n * (shuffled_rr(epsilon0_of(2.0, n), n, round(share * n), direction).delta(epsilon) - limit)
                for n in (400, 4000)
            ]
            tally.true(abs(shifts[1] - shifts[0]) < 0.05, what="n (exact - limit) settles", pi=share, epsilon=epsilon)


@check("shvets26.boundary.floor")
def never_below(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        tally.true(claim.value(**at), **at)
        lam, epsilon = float(at["lam"]), float(at["epsilon"])
        curve = poisson_limit(lam, "reverse")
        tally.at_most(poisson_floor(lam) * (1 - 1e-10), curve.delta(epsilon), **at)
    n, lam = 10**4, 2.0
    epsilon0 = epsilon0_of(lam, n)
    for epsilon in np.linspace(0, epsilon0, 12)[:-1]:  # the floor at n users
        q = lam / n
        floor = (1 - q) ** (n - 1) * (1 - q - math.exp(epsilon) * q)
        tally.at_most(floor * (1 - 1e-9), shuffled_rr(epsilon0, n, direction="reverse").delta(epsilon), epsilon=epsilon)
    for share in (0.2, 0.5):  # none inside
        tally.true(skellam_limit(lam, share).delta(12.0) < poisson_floor(lam) / 10**6, pi=share)


@check("ext.boundary.distance")
def distance(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        n, k, q = at["n"], at["k"], float(at["q"])
        law = count_law(n - 1 - k, k + 1, q)
        zeros, ones = poisson_law((n - k) * q, 250), poisson_law(k * q, 250)
        limit = np.convolve(zeros, ones[::-1])  # of U - V from -249 on; the change shifts it by k + 1
        start = 249 - k - 1
        inside = limit[start : start + n + 1]
        total = 0.5 * (np.abs(law - inside).sum() + 1 - inside.sum())
        tally.at_most(total, claim.value(**at), **at)
        tally.equal(poisson_distance(math.log(1 / q - 1), n, k)[1], claim.value(**at), 1e-11, **at)
