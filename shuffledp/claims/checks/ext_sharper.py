"""Checks of the sharper Theorem 7: the swap with the last position, correlation decay, and the open problem."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, permutations, product

import mpmath as mp
import numpy as np

from ...bounds.theorem7 import theorem7
from ...exact.transcripts import answerer, step_ratio
from ..evidence import Tally, check
from ..ledger import Record
from ._shuffled_rr import bounds_shuffled_rr


def _largest_loss(rng, epsilon0: float, n: int, i: int, order: str, count: int) -> float:
    """Largest absolute log ratio of step i over random transcripts; half of their entries are extreme."""
    u = math.exp(epsilon0)
    cases = u ** rng.choice([0.0, 1.0, 0.0, 1.0, *rng.random(4)], (count, n + 1, i))
    cases[: count // 4, :, i - 1] = 1  # the shape of the worst cases known: at step i user 1 stands out
    cases[: count // 4, 0, i - 1] = u
    return float(np.abs(np.log(step_ratio(cases[:, :n], cases[:, n], i, order))).max())


def _worst_loss(epsilon0: float, n: int, i: int, order: str) -> float:
    """Log ratio of step i for binary randomized response: user 1 has 0 or 1, all others 1, outputs 1, ..., 1, 0."""
    u = math.exp(epsilon0)
    others = np.append(np.full(i - 1, u), 1.0)
    matrix = np.vstack([np.append(np.ones(i - 1), u), np.tile(others, (n - 1, 1))])
    return math.log(step_ratio(matrix, others, i, order))


@check("ext.thm7.last-swap")
def last_swap(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(11)
    for point in claim.points(100):
        bound = claim.value(**point)
        tally.equal(_worst_loss(**point, order="last"), bound, 1e-11, **point)
        tally.at_most(_largest_loss(rng, **point, order="last", count=100), bound * (1 + mp.mpf("1e-12")), **point)
    tally.note("attained by binary randomized response; 10 200 random and extreme transcripts stay below")


@check("ext.thm7.correlation")
def correlation(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(12)
    for point in claim.points(60):
        epsilon0, n, i = point["epsilon0"], point["n"], point["i"]
        u, bound = math.exp(epsilon0), claim.value(**point)
        tally.at_most(_largest_loss(rng, **point, order="random", count=100), bound, **point)
        # what decays: the law of who answers step i, user 1 apart, may change by a factor of range e^x only
        cases = u ** rng.choice([0.0, 1.0, rng.random()], (100, n + 1, max(i - 1, 1)))
        changed = cases[:, :n].copy()
        changed[:, 0] = cases[:, n]
        ratio = np.log(answerer(cases[:, :n], i, "random") / answerer(changed, i, "random"))[:, 1:]
        tally.at_most(np.ptp(ratio, axis=1).max(), 2 * (u - 1) ** 2 * (u + 1) / (n + u - 3), **point)
        # the library's bound is the first two terms, which are for the other steps, and this loss at the last step
        delta = 0.9
        others = math.sqrt(u) * (u - 1) * math.sqrt(-2 * math.log(delta) / n) + u * (u - 1) ** 2 / (2 * n)
        last = theorem7(epsilon0, n, delta).epsilon_last_swap - others
        tally.equal(last, claim.value(epsilon0=epsilon0, n=n, i=n), 1e-10, **point)
    tally.note("6 100 random and extreme transcripts, n <= 7")


@check("ext.thm7.half")
def half(claim: Record, tally: Tally) -> None:
    for point in claim.points(300):
        tally.equal(theorem7(**point).epsilon_last_swap, claim.value(**point), 1e-12, **point)
    reference = "0.04395485357086959804189735"  # 25 digits, the inputs taken as exact decimals
    tally.equal(claim.value(epsilon0=0.5, n=10**4, delta=mp.mpf("1e-6")), mp.mpf(reference), 1e-15)
    bounds_shuffled_rr(claim, tally)


def coefficients_nonnegative(n: int, i: int, late: int | None = None) -> bool:
    r"""Whether exact algebra proves the bound ``1 + (U - 1)/(n - i + 1 + late/U)`` at step i (``late = i - 1``).

    The ratio is linear-fractional in user 1's entries and in the others' entries of column i: these may be taken
    extreme. The remaining entries are written ``(1 + U tau)/(1 + tau)`` with ``tau >= 0``, and ``U = 1 + s``; after
    clearing denominators, bound - ratio is a polynomial in s and the taus, at most quadratic in each tau, with integer
    coefficients. If none is negative the bound holds.

    A polynomial is an integer array: powers of s along axis 0, and one axis per tau with its values at 0 and 1 and its
    leading coefficient, so that products are taken entry by entry. Takes seconds for (4, 4) and (5, 3), minutes for
    (5, 4); in all of these the coefficients stay far below 2**63.
    """
    one, u = np.array([1]), np.array([1, 1])
    denominator = _times(np.array([n - i + 1]), u) + np.array([i - 1 if late is None else late, 0])
    numerator = np.append(denominator, 0) + np.array([0, 1, 1])  # plus s U
    weights = {row: _weights(n, i, [(one, u)[entry] for entry in row]) for row in product((0, 1), repeat=i - 1)}
    # the first i - 1 columns may be permuted, and so may the other users
    for pairs in combinations_with_replacement(list(product((0, 1), repeat=2)), i - 1):
        first, second = (weights[tuple(pair[side] for pair in pairs)] for side in (0, 1))
        for large in range(n):
            column = [u] * large + [one] * (n - 1 - large)
            ours = _sum(_times(weight, entry) for weight, entry in zip(first, [u, *column], strict=True))
            theirs = _sum(_times(weight, entry) for weight, entry in zip(second, [one, *column], strict=True))
            gap = _sum(
                [_times(_times(theirs, _sum(first)), numerator), -_times(_times(ours, _sum(second)), denominator)]
            )
            for axis in range(1, gap.ndim):
                at = np.moveaxis(gap, axis, 0)
                at[1] -= at[0] + at[2]  # value at 1 to middle coefficient
            if gap.min() < 0:
                return False
    return True


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros((len(a) + len(b) - 1, *np.broadcast_shapes(a.shape[1:], b.shape[1:])), dtype=np.int64)
    for power, coefficient in enumerate(b):
        out[power : power + len(a)] += a * coefficient
    return out


def _sum(terms) -> np.ndarray:
    terms = list(terms)
    out = np.zeros((max(map(len, terms)), *terms[0].shape[1:]), dtype=np.int64)
    for term in terms:
        out[: len(term)] += term
    return out


def _weights(n: int, i: int, row: list[np.ndarray]) -> list[np.ndarray]:
    """Weight of each user at step i, times every ``1 + tau``; ``row`` holds user 1's entries."""
    free, taken = np.array([[1, 2, 1]]), np.array([[1, 2, 1], [0, 1, 1]])  # 1 + tau, 1 + U tau
    weights = []
    for user in range(n):
        terms = []
        for seats in permutations([other for other in range(n) if other != user], i - 1):
            term = row[seats.index(0)] if 0 in seats else np.array([1])
            for other, step in product(range(1, n), range(i - 1)):
                term = _times(term[..., None], taken if seats[step] == other else free)
            terms.append(term)
        weights.append(_sum(terms))
    return weights


@check("ext.thm7.full")
def full(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(13)
    tally.unproved("no counterexample, no proof")
    for point in claim.points(40):
        bound = claim.value(**point)
        tally.equal(_worst_loss(**point, order="random"), bound, 1e-11, **point)
        found = _largest_loss(rng, **point, order="random", count=500)
        tally.at_most(found, bound * (1 + mp.mpf("1e-12")), **point)
    for n, i in ((2, 2), (3, 2), (3, 3), (4, 2), (4, 3)):
        tally.true(coefficients_nonnegative(n, i), n=n, i=i)
    tally.note("20 500 random and extreme transcripts, n <= 5; exact algebra for n <= 3 and n = 4, i <= 3")
