"""Checks of the likelihood ratios: every output enumerated in exact rationals, then the library at many users."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np

from ...exact.likelihood import likelihood_ratio, residual_moment
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import Rows, as_floats, digits, neighbouring_laws


def _tenths(*rows: tuple[int, ...]) -> Rows:
    return tuple(tuple(Fraction(x, sum(row)) for x in row) for row in rows)


BINARY = (_tenths((4, 1), (1, 1)), _tenths((2, 1), (1, 3)), _tenths((3, 1), (1, 3)))
TERNARY = (_tenths((10, 6, 4), (4, 5, 11)), _tenths((7, 2, 1), (1, 2, 7)))
QUATERNARY = (_tenths((4, 3, 2, 1), (1, 1, 3, 5)),)


def ratios(rows: Rows, n: int, ones: int) -> dict[tuple[int, ...], Fraction]:
    """The likelihood ratio of every histogram, from its definition."""
    before, after = neighbouring_laws(rows, n, ones)
    return {histogram: after[histogram] / chance for histogram, chance in before.items()}


def singles(rows: Rows) -> dict[str, mp.mpf]:
    """What the single reports say."""
    return {f"w{y}": digits(b / a) for y, (a, b) in enumerate(zip(*rows, strict=True), 1)}


@check("shvets26.lr.general")
def leave_one_out(claim: Record, tally: Tally) -> None:
    for rows, n in product(BINARY, (1, 2, 6)):
        for k in range(n):
            exact = ratios(rows, n, k)
            ours = likelihood_ratio(as_floats(rows), list(exact), k)
            for (_, j), value, ratio in zip(exact, ours, exact.values(), strict=True):
                at = {"a": digits(rows[0][1]), "b": digits(rows[1][1]), "n": n, "k": k, "j": j}
                tally.equal(claim.value(**at), digits(ratio), 1e-40, **at)
                tally.equal(value, digits(ratio), 1e-13, **at)
    for rows, n in ((TERNARY[0], 5), (TERNARY[1], 5), (QUATERNARY[0], 4)):
        for k in range(n):
            exact = ratios(rows, n, k)
            ours = likelihood_ratio(as_floats(rows), list(exact), k)
            for histogram, value, ratio in zip(exact, ours, exact.values(), strict=True):
                tally.equal(value, digits(ratio), 1e-13, n=n, k=k, histogram=histogram)
    for at in claim.points(16):
        rows = [[1 - at["a"], at["a"]], [1 - at["b"], at["b"]]]
        if abs(at["a"] - at["b"]) > 0.01:  # the rows are rounded, so their ratios are
            ours = likelihood_ratio(rows, [at["n"] - at["j"], at["j"]], at["k"])
            tally.equal(ours, claim.value(**at), 1e-12, **at)


@check("ext.lr.canonical")
def mean_of_the_reports(claim: Record, tally: Tally) -> None:
    for rows, n in product(TERNARY, (1, 3, 6)):
        for (h1, h2, h3), ratio in ratios(rows, n, 0).items():
            at = {"h1": h1, "h2": h2, "h3": h3} | singles(rows)
            tally.equal(claim.value(**at), digits(ratio), 1e-45, n=n, h1=h1, h2=h2, h3=h3)
    for rows, n in (*product(BINARY, (2, 8)), *product(QUATERNARY, (2, 5))):
        exact = ratios(rows, n, 0)
        mean = {h: sum(c * b / a for c, a, b in zip(h, *rows, strict=True)) / n for h in exact}
        tally.true(exact == mean, n=n, outputs=len(rows[0]))


@check("ext.lr.symmetric")
def symmetric_means(claim: Record, tally: Tally) -> None:
    for rows, n in product(TERNARY, (2, 4)):
        for k in range(n):
            exact = ratios(rows, n, k)
            for h, ratio in exact.items():
                at = {"h1": h[0], "h2": h[1], "h3": h[2], "k": k} | singles(rows)
                tally.equal(claim.value(**at), digits(ratio), 1e-40, n=n, k=k, h1=h[0], h2=h[1])
    for at in claim.points(8):
        w = np.array([float(at[f"w{y}"]) for y in (1, 2, 3)])
        rows = _with_ratios(w)
        if rows is not None:
            histogram = [at["h1"], at["h2"], at["h3"]]
            tally.equal(likelihood_ratio(rows, histogram, at["k"]), claim.value(**at), 1e-12, **at)


def _with_ratios(w: np.ndarray):
    """A channel whose single-report ratios are these, if both rows can be laws; the largest must exceed 1."""
    if not w.min() < 0.99 < 1.01 < w.max():
        return None
    low, high = np.argmin(w), np.argmax(w)
    first = np.full(3, 1e-3)
    rest = 1 - w[3 - low - high] * 1e-3
    first[low], first[high] = np.linalg.solve([[1, 1], [w[low], w[high]]], [1 - 1e-3, rest])
    return np.array([first, first * w]) if first.min() > 0 else None


@check("ext.lr.sandwich")
def pinned(claim: Record, tally: Tally) -> None:
    for at in claim.points(15):
        tally.true(claim.value(**at), **at)
    for rows, n in (*product(BINARY, (2, 5)), *product(TERNARY, (2, 4)), (QUATERNARY[0], 4)):
        w = [b / a for a, b in zip(*rows, strict=True)]
        for k in range(n):
            for h, ratio in ratios(rows, n, k).items():
                first, second = (
                    sum(c * x / ((n - m) * ratio + m * x) for c, x in zip(h, w, strict=True)) for m in (k, k + 1)
                )
                equal = k == 0 or max(h) == n
                tally.true(first == 1 if equal else first > 1, n=n, k=k, histogram=h)
                equal = k == n - 1 or max(h) == n
                tally.true(second == 1 if equal else second < 1, n=n, k=k, histogram=h)
    for n, ones in ((10**6, 300_000), (10**9, 10)):  # the library, far beyond any enumeration
        rows = np.array(as_floats(TERNARY[0]))
        h = np.floor(n * np.array([0.4, 0.3, 0.3]))
        ratio = likelihood_ratio(rows, h, ones)
        for m, sign in ((ones, 1), (ones + 1, -1)):
            total = (h * rows[1] / ((n - m) * ratio * rows[0] + m * rows[1])).sum()
            tally.true(sign * (total - 1) > -1e-14, n=n, ones=ones)


@check("shvets26.lin.residual")
def residual(claim: Record, tally: Tally) -> None:
    for at in claim.points(3):
        q = 1 / (1 + math.exp(at["epsilon0"]))
        _settles(claim, tally, [[1 - q, q], [q, 1 - q]], at)


@check("ext.lin.residual")
def residual_of_any_binary_channel(claim: Record, tally: Tally) -> None:
    for at in claim.points(3):
        _settles(claim, tally, [[1 - at["a"], at["a"]], [1 - at["b"], at["b"]]], at)


def _settles(claim: Record, tally: Tally, rows, at: dict) -> None:
    """n^r E[R^r] at two sizes, and what they extrapolate to."""
    r, limit = at["r"], float(claim.value(**at))
    sizes = (400, 1600)
    values = []
    for n in sizes:
        share = at["pi"] * n
        low = math.floor(share)
        ends = [n**r * residual_moment(rows, n, low + i, r) for i in (0, 1)]
        values.append(ends[0] + (share - low) * (ends[1] - ends[0]))
    tally.true(abs(values[1] - limit) < 0.4 * abs(values[0] - limit) + 1e-3 * limit, what="closer like 1/n", **at)
    tally.equal((4 * values[1] - values[0]) / 3, limit, 2e-2, **at)


@check("ext.lin.lattice")
def lattice_ratio(claim: Record, tally: Tally) -> None:
    for rows, share in ((BINARY[0], 0.25), (BINARY[2], 0.5), (BINARY[1], 0.75)):
        a, b = (float(row[1]) for row in rows)
        scaled = []
        for n in (200, 3200):
            k = round(share * n)
            law = np.array([1.0])
            for chance, size in ((a, n - 1 - k), (b, k)):
                law = np.convolve(law, _binomial(size, chance))
            mean = (n - 1 - k) * a + k * b
            s2 = (n - 1 - k) * a * (1 - a) + k * b * (1 - b)
            kappa3 = (n - 1 - k) * a * (1 - a) * (1 - 2 * a) + k * b * (1 - b) * (1 - 2 * b)
            middle, reach = round(mean), int(2 * math.sqrt(s2))
            worst = 0.0
            for j in range(middle - reach, middle + reach + 1, max(reach // 12, 1)):
                predicted = float(claim.value(x=j - 0.5 - mean, V=s2, kappa3=kappa3))
                worst = max(worst, abs(math.log(law[j - 1] / law[j]) - predicted))
            scaled.append(n**1.5 * worst)
        tally.at_most(scaled[1], 1.4 * scaled[0], channel=str(rows), share=share)


def _binomial(size: int, chance: float) -> np.ndarray:
    """All probabilities of a binomial law, the far tails as they underflow."""
    count = np.arange(size + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(count[1:], 1)))])
    choose = logs[-1] - logs - logs[::-1]
    return np.exp(choose + count * math.log(chance) + (size - count) * math.log1p(-chance))
