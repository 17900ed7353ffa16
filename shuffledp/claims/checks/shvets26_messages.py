"""Checks of several messages per user: every sequence of messages enumerated in exact rationals, then the library."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np

from ...core.gaussian import gdp
from ...core.randomizers import RandomizedResponse
from ...exact.messages import shuffled_messages, unbundled_chi_square, unbundled_likelihood_ratio
from ...limits.fisher import fisher_constant
from ...limits.messages import bundled_fisher_constant, bundled_mu, unbundled_mu
from .. import statements
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import Rows, as_floats, digits, law_of_the_histogram
from .shvets26_fisher import channel, fisher_from_the_definition, mean

SIZES = ((2, 1, 3), (2, 2, 3), (2, 3, 2), (2, 4, 2), (3, 2, 2), (3, 1, 3), (4, 2, 2))  # outputs, users, messages


def product_channel(rows: Rows, messages: int) -> Rows:
    """The channel of a whole bundle, every sequence an output of its own."""
    return tuple([math.prod(sequence) for sequence in product(row, repeat=messages)] for row in rows)


def unbundled(rows: Rows, n: int, messages: int, ones: int) -> dict:
    """Law of the histogram of all messages."""
    return law_of_the_histogram(rows, (1,) * (ones * messages) + (0,) * ((n - ones) * messages))


@check("shvets26.bundle.unb")
def all_shuffled(claim: Record, tally: Tally) -> None:
    rng = random.Random(2)
    for (outputs, n, m), k in ((size, k) for size in SIZES for k in range(size[1])):
        rows, pi = channel(rng, outputs), Fraction(k, n)
        score = [(b - a) / ((1 - pi) * a + pi * b) for a, b in zip(*rows, strict=True)]

        def value(histogram, score=score):
            return sum(count * s for count, s in zip(histogram, score, strict=True))

        before, after = unbundled(rows, n, m, k), unbundled(rows, n, m, k + 1)
        centre = mean(before, value)
        spread = mean(before, lambda h: (value(h) - centre) ** 2)  # noqa: B023
        at = {"I": digits(fisher_from_the_definition(rows, pi)), "m": m, "n": n}
        with mp.workdps(60):
            deviations = mp.sqrt(digits((mean(after, value) - centre) ** 2 / spread))
        tally.equal(deviations, claim.value(**at), 1e-45, **at)
        if n > 1:
            tally.equal(unbundled_mu(as_floats(rows), n, float(pi), m), claim.value(**at), 1e-12, **at)
    binary = [[0.75, 0.25], [0.4, 0.6]]
    for m, n, share in product((2, 3), (60, 240), (0, 0.5)):
        mu = float(claim.value(I=fisher_constant(binary, share), m=m, n=n))
        curve = shuffled_messages(binary, n, m, round(share * n))
        epsilons = mu * np.arange(3)
        gap = np.abs(curve.delta(epsilons) - gdp(mu).delta(epsilons)).max()
        tally.at_most(gap, 0.5 * mu**2, m=m, n=n, share=share)  # delta itself is of order mu


@check("shvets26.bundle.esp")
def symmetric_polynomial(claim: Record, tally: Tally) -> None:
    rng = random.Random(3)
    for outputs, n, m in SIZES:
        rows = channel(rng, outputs)
        before, after = unbundled(rows, n, m, 0), unbundled(rows, n, m, 1)
        for histogram, chance in before.items():
            exact = digits(after[histogram] / chance)
            tally.equal(unbundled_likelihood_ratio(as_floats(rows), histogram, m), exact, 1e-12, n=n, m=m)
            if outputs == 2:
                at = {"a": digits(rows[0][1]), "b": digits(rows[1][1]), "n": n, "m": m, "t": histogram[1]}
                tally.equal(exact, claim.value(**at), 1e-45, **at)
    for at in claim.points(40):
        total = at["n"] * at["m"]
        rows = [[1 - at["a"], at["a"]], [1 - at["b"], at["b"]]]
        ours = unbundled_likelihood_ratio(rows, [total - at["t"], at["t"]], at["m"])
        tally.equal(ours, claim.value(**at), 1e-12, **at)


@check("ext.bundle.chi-square")
def chi_square(claim: Record, tally: Tally) -> None:
    rng = random.Random(4)
    for outputs, n, m in SIZES:
        rows = channel(rng, outputs)
        before, after = unbundled(rows, n, m, 0), unbundled(rows, n, m, 1)
        exact = sum((after[h] - p) ** 2 / p for h, p in before.items())
        at = {"I": digits(fisher_from_the_definition(rows, Fraction(0))), "n": n, "m": m}
        tally.equal(digits(exact), claim.value(**at), 1e-45, **at)
        tally.equal(unbundled_chi_square(as_floats(rows), n, m), claim.value(**at), 1e-12, **at)
    for m in (1, 2, 5):  # one user: the bundle itself
        tally.equal(claim.value(I=0.75, n=1, m=m), mp.mpf("1.75") ** m - 1, 1e-45, m=m)


@check("shvets26.bundle.bund")
def bundle(claim: Record, tally: Tally) -> None:
    rng = random.Random(5)
    for m, fifths in product((1, 2, 3), range(6)):
        pi = Fraction(fifths, 5)
        rows = channel(rng, 2)
        exact = fisher_from_the_definition(product_channel(rows, m), pi)
        at = {"a": digits(rows[0][1]), "b": digits(rows[1][1]), "pi": digits(pi), "m": m}
        tally.equal(digits(exact), claim.value(**at), 1e-44, **at)
        if pi in (0, 1):
            one = fisher_from_the_definition(rows, pi)
            tally.true(exact == (1 + one) ** m - 1, what="power at an end", **at)
        three = channel(rng, 3)
        if m < 3:
            exact = fisher_from_the_definition(product_channel(three, m), pi)
            tally.equal(bundled_fisher_constant(as_floats(three), float(pi), m), digits(exact), 1e-12, pi=pi, m=m)
    for at in claim.points(60):
        rows = [[1 - at["a"], at["a"]], [1 - at["b"], at["b"]]]
        tally.equal(bundled_mu(rows, 10**6, at["pi"], at["m"]) ** 2 * 10**6, claim.value(**at), 1e-11, **at)


@check("shvets26.bundle.strict")
def strict(claim: Record, tally: Tally) -> None:
    """The left side is the excess, computed from both definitions; then its sign."""
    rng = random.Random(6)
    excess = claim.read(claim.statement_text).lhs
    for fifths in (*range(6), *range(6)):
        pi = Fraction(fifths, 5)
        rows = sorted(channel(rng, 2), key=lambda row: row[1])
        exact = fisher_from_the_definition(product_channel(rows, 2), pi) - 2 * fisher_from_the_definition(rows, pi)
        at = {"a": digits(rows[0][1]), "b": digits(rows[1][1]), "pi": digits(pi)}
        tally.equal(1 + digits(exact), 1 + statements.evaluate(excess, at), 1e-44, **at)
        tally.true(exact >= 0, what="never negative", **at)
    for at in claim.points(60):
        tally.true(claim.value(**at), **at)
    fair, half = ([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]), Fraction(1, 2)
    pair = fisher_from_the_definition(product_channel(fair, 2), half)
    tally.true(pair == 2 * fisher_from_the_definition(fair, half), what="equality in exact rationals")


@check("ext.bundle.equality")
def equality(claim: Record, tally: Tally) -> None:
    rng = random.Random(7)
    for _ in range(12):
        r_a, r_b = Fraction(rng.randint(1, 9), 10), Fraction(rng.randint(11, 60), 10)
        share = (r_b - 1) / (r_b - r_a)  # of the symbol with ratio r_a, so that both rows add up to 1
        rows = ([share, 1 - share], [share * r_a, (1 - share) * r_b])
        at = {"r_a": digits(r_a), "r_b": digits(r_b)}
        pi = 1 / (1 + r_a * r_b)
        tally.equal(digits(pi), claim.value(**at), 1e-45, **at)
        two, three = product_channel(rows, 2), product_channel(rows, 3)
        for other in {pi, Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(6, 7), Fraction(1)}:
            one = fisher_from_the_definition(rows, other)
            gap = fisher_from_the_definition(two, other) - 2 * one
            tally.true(gap == 0 if other == pi else gap > 0, what="equality here only", pi=other, **at)
            tally.true(fisher_from_the_definition(three, other) > 3 * one, what="three messages", pi=other, **at)
        at_pi = float(claim.value(**at))
        ours, twice = bundled_fisher_constant(as_floats(rows), at_pi, 2), 2 * fisher_constant(as_floats(rows), at_pi)
        tally.equal(ours, twice, 1e-11, **at)
    for _ in range(6):  # three values of the ratio: strict even where two of them would give equality
        rows = channel(rng, 3)
        ratios = sorted({b / a for a, b in zip(*rows, strict=True)})
        if len(ratios) < 3:
            continue
        for pi in {1 / (1 + ratios[i] * ratios[j]) for i, j in ((0, 1), (0, 2), (1, 2))}:
            one = fisher_from_the_definition(rows, pi)
            tally.true(fisher_from_the_definition(product_channel(rows, 2), pi) > 2 * one, what="three ratios", pi=pi)
    for epsilon0 in (0.1, 1.0, 5.0):
        rr = RandomizedResponse(2, epsilon0)
        half = float(claim.value(r_a=mp.exp(-epsilon0), r_b=mp.exp(epsilon0)))
        tally.equal(bundled_fisher_constant(rr, half, 2), 2 * fisher_constant(rr, half), 1e-12, epsilon0=epsilon0)
