"""Checks of the covariance of a fixed composition: every law enumerated, every matrix solved, in exact rationals."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import mpmath as mp

from ...core.randomizers import RandomizedResponse
from ...limits.fisher import fisher_constant, mixture_fisher_constant, moments
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import Rows, as_floats, digits, law_of_the_histogram


def channel(rng: random.Random, outputs: int) -> Rows:
    """Two random laws with full support, in small fractions."""
    rows = []
    for _ in range(2):
        parts = [rng.randint(1, 9) for _ in range(outputs)]
        rows.append([Fraction(part, sum(parts)) for part in parts])
    return tuple(rows) if rows[0] != rows[1] else channel(rng, outputs)


def mean(law: dict, of) -> Fraction:
    """Expectation of a function of the histogram."""
    return sum((chance * of(histogram) for histogram, chance in law.items()), Fraction(0))


def covariance(law: list[Fraction]) -> list[list[Fraction]]:
    """Covariance matrix of a one-hot vector."""
    return [[(p if i == j else 0) - p * q for j, q in enumerate(law)] for i, p in enumerate(law)]


def mixed(rows: Rows, pi: Fraction) -> list[Fraction]:
    """The law of a message of a user who holds 1 with probability pi."""
    return [(1 - pi) * a + pi * b for a, b in zip(*rows, strict=True)]


def constant(matrix: list[list[Fraction]], v: list[Fraction]) -> Fraction:
    """``v' S^+ v``, by Gaussian elimination on all coordinates but the last, which is minus the sum of the others."""
    d = len(v) - 1
    table = [[*row[:d], x] for row, x in zip(matrix[:d], v, strict=False)]
    for i in range(d):
        table[i] = [x / table[i][i] for x in table[i]]
        for j in set(range(d)) - {i}:
            table[j] = [x - table[j][i] * y for x, y in zip(table[j], table[i], strict=True)]
    return sum((x * row[d] for x, row in zip(v, table, strict=False)), Fraction(0))


def fisher_from_the_definition(rows: Rows, pi: Fraction) -> Fraction:
    """The constant of a fixed composition."""
    pairs = zip(*map(covariance, rows), strict=True)
    true = [[(1 - pi) * x + pi * y for x, y in zip(*pair, strict=True)] for pair in pairs]
    return constant(true, shift(rows))


def shift(rows: Rows) -> list[Fraction]:
    """``W_1 - W_0``."""
    return [b - a for a, b in zip(*rows, strict=True)]


def cases(count: int, outputs=(2, 3, 4)):
    """Random channels and compositions, every sixth at either end."""
    rng = random.Random(20260209)
    for index in range(count):
        yield channel(rng, outputs[index % len(outputs)]), Fraction(index // len(outputs) % 6, 5)


@check("shvets26.model")
def model(claim: Record, tally: Tally) -> None:
    rng = random.Random(1)
    for outputs, n in ((2, 1), (2, 8), (3, 2), (3, 5), (4, 4)):
        rows = channel(rng, outputs)
        ratios = [b / a for a, b in zip(*rows, strict=True)]
        parts = [covariance(row) for row in rows]
        laws = [law_of_the_histogram(rows, (1,) * k + (0,) * (n - k)) for k in range(n + 1)]
        for k, law in enumerate(laws):
            means = [mean(law, lambda h, y=y: h[y]) for y in range(outputs)]
            for i, j in product(range(outputs), repeat=2):
                moment = mean(law, lambda h, i=i, j=j: h[i] * h[j]) - means[i] * means[j]
                tally.true(moment == (n - k) * parts[0][i][j] + k * parts[1][i][j], n=n, k=k)
                if i == j:
                    at = {"a": digits(rows[0][i]), "b": digits(rows[1][i]), "n": n, "k": k}
                    tally.equal(digits(moment), claim.value(**at), 1e-45, **at)
            if k < n:  # the likelihood ratio of neighbours stays between the least and the largest of one message
                bounded = all(min(ratios) <= laws[k + 1][h] / p <= max(ratios) for h, p in law.items())
                tally.true(bounded, what="likelihood ratio", n=n, k=k)
    for at in claim.points(60):
        n, k = at["n"], at["k"]
        found = moments([[1 - at["a"], at["a"]], [1 - at["b"], at["b"]]], k / n)
        tally.equal(n * found.covariance[1, 1], claim.value(**at), 1e-11, **at)


@check("shvets26.cov.fisher")
def fisher(claim: Record, tally: Tally) -> None:
    for rows, pi in cases(60, (3,)):
        exact = fisher_from_the_definition(rows, pi)
        at = {"a1": rows[0][0], "a2": rows[0][1], "b1": rows[1][0], "b2": rows[1][1], "pi": pi}
        at = {name: digits(value) for name, value in at.items()}
        tally.equal(digits(exact), claim.value(**at), 1e-45, **at)
        tally.equal(fisher_constant(as_floats(rows), float(pi)), claim.value(**at), 1e-13, **at)
    for rows, pi in cases(60, (2, 4, 5)):  # other alphabets, by the library
        exact = fisher_from_the_definition(rows, pi)
        tally.equal(fisher_constant(as_floats(rows), float(pi)), digits(exact), 1e-13, pi=pi, rows=len(rows[0]))
    for at in claim.points(100):
        rows = [[at[row + "1"], at[row + "2"], 1 - at[row + "1"] - at[row + "2"]] for row in "ab"]
        tally.equal(fisher_constant(rows, at["pi"]), claim.value(**at), 1e-12, **at)
    for epsilon0, pi in product((1e-6, 1.0, 20.0), (0.0, 0.3, 1.0)):
        closed = 4 * mp.sinh(mp.mpf(epsilon0) / 2) ** 2
        tally.equal(fisher_constant(RandomizedResponse(2, epsilon0), pi), closed, 1e-14, epsilon0=epsilon0, pi=pi)


@check("shvets26.cov.mixture")
def mixture(claim: Record, tally: Tally) -> None:
    for rows, pi in cases(120):
        true = fisher_from_the_definition(rows, pi)
        of_the_mixture = constant(covariance(mixed(rows, pi)), shift(rows))
        at = {"I": digits(true), "pi": digits(pi)}
        tally.equal(digits(of_the_mixture), claim.value(**at), 1e-45, **at)
        tally.true(of_the_mixture < true or pi in (0, 1), what="smaller", pi=pi)
        tally.equal(mixture_fisher_constant(as_floats(rows), float(pi)), claim.value(**at), 1e-13, **at)


@check("ext.cov.endpoints")
def endpoints(claim: Record, tally: Tally) -> None:
    for rows, pi in cases(120, (2, 3, 4, 5)):
        ends = [fisher_from_the_definition(rows, Fraction(end)) for end in (0, 1)]
        at = {"I_0": digits(ends[0]), "I_1": digits(ends[1]), "pi": digits(pi)}
        inside = fisher_from_the_definition(rows, pi)
        ratios = {b / a for a, b in zip(*rows, strict=True)}
        if len(ratios) == 2 or pi in (0, 1):
            tally.equal(digits(inside), claim.value(**at), 1e-45, **at)
        else:
            tally.at_most(digits(inside), claim.value(**at), **at)
            tally.true(ends[0] * ends[1] > inside * ((1 - pi) * ends[1] + pi * ends[0]), what="strict", pi=pi)
        step = Fraction(1, 50)  # convexity: second differences
        if step < pi < 1 - step:
            near = [fisher_from_the_definition(rows, pi + sign * step) for sign in (-1, 1)]
            tally.true(near[0] + near[1] >= 2 * inside, what="convex", pi=pi)
