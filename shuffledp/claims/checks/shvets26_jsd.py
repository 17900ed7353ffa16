"""Checks of the Jensen-Shannon statements: enumeration in exact rationals for few users, slopes and extrapolated limits
for many."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np

from ...core.divergences import chi_square, kullback_leibler
from ...core.randomizers import RandomizedResponse
from ...exact.channels import log_laws
from ...exact.jensen_shannon import jensen_shannon
from ...limits.fisher import fisher_constant
from ...limits.jensen_shannon import jsd_expansion
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import DIGITS
from ._exactly import as_floats, digits, neighbouring_laws

CHANNELS = tuple(
    tuple(tuple(Fraction(x, sum(row)) for x in row) for row in rows)
    for rows in (
        ((4, 1), (1, 1)),
        ((2, 1), (1, 3)),
        ((10, 6, 4), (4, 5, 11)),
        ((7, 2, 1), (1, 2, 7)),
        ((4, 3, 2, 1), (1, 1, 3, 5)),
    )
)


def neighbours(rows, n: int, k: int):
    """The two laws, as lists over the same histograms."""
    before, after = neighbouring_laws(rows, n, k)
    return list(before.values()), [after[h] for h in before]


def divergence(before, after) -> mp.mpf:
    """Jensen-Shannon divergence of two exact laws, from the definition."""
    with mp.workdps(DIGITS):
        pairs = [(digits(p), digits(q)) for p, q in zip(before, after, strict=True)]
        return mp.fsum(p * mp.log(2 * p / (p + q)) + q * mp.log(2 * q / (p + q)) for p, q in pairs) / 2


def exact_fisher(rows, pi: Fraction) -> Fraction:
    """J/A, exactly."""
    pairs = [(w0, w1, (1 - pi) * w0 + pi * w1) for w0, w1 in zip(*rows, strict=True)]
    return sum((w1 - w0) ** 2 / p for w0, w1, p in pairs) / sum(w0 * w1 / p for w0, w1, p in pairs)


def likelihood_cumulants(rows) -> dict[str, Fraction]:
    """Second to fifth cumulant of ``W_1/W_0``, exactly."""
    m = [sum(w0 * (w1 / w0 - 1) ** power for w0, w1 in zip(*rows, strict=True)) for power in range(6)]
    return {"kappa2": m[2], "kappa3": m[3], "kappa4": m[4] - 3 * m[2] ** 2, "kappa5": m[5] - 10 * m[2] * m[3]}


def by_moments(kappa2, kappa3, kappa4, kappa5, n) -> mp.mpf:
    """The expansion from the moments of a sample mean, each a polynomial in 1/n kept through the fourth power."""
    with mp.workdps(DIGITS + 10):
        kappa = [mp.mpf(0)] * 2 + [mp.mpf(x) for x in (kappa2, kappa3, kappa4, kappa5)] + [mp.mpf(0)] * 3
        moments = [[mp.mpf(1)] + [mp.mpf(0)] * 4]  # the higher cumulants do not reach the fourth power
        for r in range(1, 9):
            row = [mp.mpf(0)] * 5
            for j in range(2, r + 1):
                for power, value in enumerate(moments[r - j]):
                    if power + j - 1 <= 4:
                        row[power + j - 1] += math.comb(r - 1, j - 1) * kappa[j] * value
            moments.append(row)
        total = mp.mpf(0)
        for j in range(2, 9):
            taylor = (-1) ** j * (1 - mp.mpf(2) ** (1 - j)) / (2 * j * (j - 1))
            total += taylor * mp.fsum(c / mp.mpf(n) ** power for power, c in enumerate(moments[j]))
        return total


def slope(errors: list, ratio: float) -> float:
    """Of the log of an error against the log of n, over a step of n by this factor."""
    return float(mp.log(abs(errors[1] / errors[0])) / math.log(ratio))


@check("shvets26.jsd.canonical")
def canonical(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        tally.equal(by_moments(**at), claim.value(**at), 1e-30, **at)
    for rows, n in product(CHANNELS, (2, 6)):  # what the comparison with exact values rests on
        tally.equal(jensen_shannon(as_floats(rows), n), divergence(*neighbours(rows, n, 0)), 1e-13, n=n)
    for rows, n in zip(CHANNELS, (200, 200, 120, 120, 32), strict=True):
        cumulants = {name: digits(value) for name, value in likelihood_cumulants(rows).items()}
        sums = [claim.value(**cumulants, n=m) for m in (n, 2 * n)]
        errors = [jensen_shannon(as_floats(rows), m) - total for m, total in zip((n, 2 * n), sums, strict=True)]
        tally.equal(jsd_expansion(as_floats(rows), n, 0, 4), sums[0], 1e-13, n=n)
        if len(rows[0]) == 2:
            tally.at_most(abs(slope(errors, 2) + 5), 0.15, what="slope", n=n)
        else:  # too few users for a slope
            last = sums[1] - jsd_expansion(as_floats(rows), 2 * n, 0, 3)
            tally.at_most(abs(errors[1]), abs(last), what="error below the last term", n=2 * n)


@check("shvets26.jsd.proportional")
def proportional(claim: Record, tally: Tally) -> None:
    for at in claim.points(20):
        a, b, n, k = (at[name] for name in "abnk")
        exact, leading = jensen_shannon([[1 - a, a], [1 - b, b]], n, k), claim.value(**at)
        # n^2 times the error tends to |c2 + I'/16|, and |c2| <= 3 I^2/64
        fisher = float(8 * n * leading)
        steep = fisher * abs(b * (1 - b) - a * (1 - a)) / ((1 - k / n) * a * (1 - a) + k / n * b * (1 - b))
        tally.at_most(abs(exact - leading), (fisher**2 / 16 + steep / 12) / n**2, **at)
    for rows in CHANNELS[:2]:
        a, b = rows[0][1], rows[1][1]
        for share, n in product((Fraction(1, 4), Fraction(1, 2), Fraction(4, 5)), (200, 20_000)):
            at = [{"a": digits(a), "b": digits(b), "n": m, "k": int(share * m)} for m in (n, 4 * n)]
            errors = [jensen_shannon(as_floats(rows), p["n"], p["k"]) - claim.value(**p) for p in at]
            tally.at_most(abs(slope(errors, 4) + 2), 0.05, what="slope", **at[1])
    for rows in CHANNELS:  # any alphabet: the same constant, by exact rationals for few users
        for n, k in ((3, 1), (6, 3)):
            tally.equal(jensen_shannon(as_floats(rows), n, k), divergence(*neighbours(rows, n, k)), 1e-13, n=n, k=k)
        fisher = digits(exact_fisher(rows, Fraction(1, 2)))
        tally.equal(fisher_constant(as_floats(rows), 0.5), fisher, 1e-13)
        users = (48, 96) if len(rows[0]) < 4 else (20, 40)
        errors = [jensen_shannon(as_floats(rows), n, n // 2) - fisher / (8 * n) for n in users]
        tally.at_most(abs(slope(errors, 2) + 2), 0.3, what="slope", outputs=len(rows[0]))
    rows, scaled = CHANNELS[0], {"limit": [], "k/n": []}  # the limit of k/n in place of k/n
    for n in (10**2, 10**4, 10**6):
        k = n // 4 + math.isqrt(n)
        exact = jensen_shannon(as_floats(rows), n, k)
        at = {"a": digits(rows[0][1]), "b": digits(rows[1][1]), "n": n, "k": k}
        scaled["k/n"].append(n**2 * (exact - claim.value(**at)))
        scaled["limit"].append(n**2 * (exact - claim.value(**(at | {"k": n // 4}))))
    tally.at_most(max(map(abs, scaled["k/n"])), 0.02, what="n^2 error with k/n")
    tally.at_most(25, scaled["limit"][2] / scaled["limit"][0], what="n^2 error with the limit grows")


@check("ext.jsd.c2")
def second_coefficient(claim: Record, tally: Tally) -> None:
    for at in claim.points(12):  # randomized response has omega = 1 - 2 pi
        q = 1 / (1 + math.exp(2 * math.asinh(math.sqrt(at["I"]) / 2)))
        compare([[1 - q, q], [q, 1 - q]], 1000, (1 - at["omega"]) / 2, claim, tally)
    for a, b, share in ((0.2, 0.5, 0.25), (0.1, 0.7, 0.6), (0.9, 0.55, 0.1), (0.02, 0.3, 0.5), (0.4, 0.8, 0.99)):
        compare([[1 - a, a], [1 - b, b]], 1000, share, claim, tally)
    for rows, n in zip(CHANNELS[2:], (60, 60, 20), strict=True):  # three and four outputs: the library's coefficient
        for share in (0.25, 0.5):
            k = int(share * n)
            tally.equal(extrapolated(as_floats(rows), n, k), by_library(as_floats(rows), n, k), 0.06, n=n, k=k)


def compare(rows, n: int, share: float, claim: Record, tally: Tally) -> None:
    """The statement with the limit found from exact values, and with the library's coefficient."""
    k = min(int(share * n), n - 1)
    middle = (k + 0.5) / n
    first, second = ((1 - middle) * math.prod(rows[0]), middle * math.prod(rows[1]))
    fisher = fisher_constant(rows, middle)
    at = {"I": fisher, "omega": (first - second) / (first + second)}
    unit = fisher**2 / 64
    tally.equal(4 + extrapolated(rows, n, k) / unit, 4 + claim.value(**at) / unit, 2e-3, **at)
    if 0 < k < n - 1:
        tally.equal(4 + by_library(rows, n, k) / unit, 4 + claim.value(**at) / unit, 1e-9, **at)


def by_library(rows, n: int, k: int) -> float:
    return n**2 * (jsd_expansion(rows, n, k, 2) - jsd_expansion(rows, n, k, 1))


def extrapolated(rows, n: int, k: int) -> float:
    """The limit of ``n^2 (JSD - I/8n)`` along compositions with the midpoint ``(k + 1/2)/n``, from n and 3n users."""
    fisher = fisher_constant(rows, (k + 0.5) / n)
    scaled = [m**2 * (jensen_shannon(rows, m, j) - fisher / (8 * m)) for m, j in ((n, k), (3 * n, 3 * k + 1))]
    return (3 * scaled[1] - scaled[0]) / 2


@check("ext.jsd.lower")
def lower_bound(claim: Record, tally: Tally) -> None:
    for rows, n in product(CHANNELS, (1, 2, 4, 8)):
        if len(rows[0]) == 4 and n > 4:
            continue
        for k in range(n):
            before, after = neighbours(rows, n, k)
            fisher = exact_fisher(rows, Fraction(2 * k + 1, 2 * n))
            square = sum((q - p) ** 2 / (p + q) for p, q in zip(before, after, strict=True)) / 2
            tally.true(square >= fisher / (4 * n + fisher), what="mean square of x", n=n, k=k)
            tally.at_most(claim.value(I=digits(fisher), n=n), divergence(before, after), n=n, k=k)
    for at in claim.points(30):
        channel = RandomizedResponse(2, 2 * math.asinh(math.sqrt(at["I"]) / 2))
        n = at["n"]
        for k in (0, n // 2, n - 1):
            exact = jensen_shannon(channel, n, k) if n > 1 else math.log(2)
            tally.at_most(claim.value(**at), exact * (1 + 1e-14), **at, k=k)


@check("ext.fdiv")
def smooth_divergences(claim: Record, tally: Tally) -> None:
    for rows, n in product(CHANNELS, (1, 3, 6)):  # chi-square of the canonical pair: exact
        before, after = neighbours(rows, n, 0)
        exact = sum((q - p) ** 2 / p for p, q in zip(before, after, strict=True))
        at = {"c": 2, "I": digits(exact_fisher(rows, Fraction(0))), "n": n}
        tally.equal(digits(exact), claim.value(**at), 1e-45, **at)
    for rows, k_of in product(CHANNELS[:3], (lambda n: 0, lambda n: n // 4, lambda n: n // 2)):
        users = (400, 800) if len(rows[0]) == 2 else (80, 160)
        found: dict[tuple[str, float], list[float]] = {}
        for n in users:
            before, after = (np.exp(law).ravel() for law in log_laws(np.array(as_floats(rows)), n, k_of(n)))
            before, after = before[before > 0] / before.sum(), after[before > 0] / after.sum()
            root = (np.sqrt(after) + np.sqrt(before)) ** 2
            hellinger = math.fsum((after - before) ** 2 / root)
            for name, c, value in (
                ("KL", 1.0, kullback_leibler(after, before)),
                ("reverse KL", 1.0, kullback_leibler(before, after)),
                ("chi-square", 2.0, chi_square(after, before)),
                ("Hellinger", 0.5, hellinger),
                ("Jensen-Shannon", 0.25, jensen_shannon(as_floats(rows), n, k_of(n))),
            ):
                found.setdefault((name, c), []).append(n * value)
        for (name, c), (first, second) in found.items():
            n = users[1]
            fisher = fisher_constant(as_floats(rows), k_of(n) / n)
            limit = 2 * second - first  # the error falls with 1/n
            tally.equal(limit, n * claim.value(c=c, I=fisher, n=n), 2e-3, what=name, n=n, k=k_of(n))
