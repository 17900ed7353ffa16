"""Small randomizers with rational probabilities: the privacy blanket from its definition, in exact arithmetic."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

Law = list[tuple[Fraction, Fraction, Fraction]]  # weight under the blanket, r, r'


def random_rows(seed: str, count: int, outputs: tuple[int, ...] = (2, 3, 4)) -> Iterator[list[list[Fraction]]]:
    """Random randomizers, half of them with two inputs and half with three."""
    rng = random.Random(seed)
    for index in range(count):
        rows = []
        while not rows or mass(rows) == 1:  # all rows alike
            width = rng.choice(outputs)
            entries = [[rng.randint(1, 9) for _ in range(width)] for _ in range(2 + index % 2)]
            rows = [[Fraction(entry, sum(row)) for entry in row] for row in entries]
        yield rows


def response(k: int, odds: Fraction) -> list[list[Fraction]]:
    """k-ary randomized response whose truth is ``odds`` times as likely as each other symbol."""
    return [[(odds if y == x else 1) / (odds + k - 1) for y in range(k)] for x in range(k)]


def mass(rows) -> Fraction:
    """Gamma: the sum over the outputs of the least probability."""
    return sum(map(min, zip(*rows, strict=True)))


def odds(rows) -> Fraction:
    """``e^epsilon0``: the largest ratio of two probabilities of one output."""
    return max(max(column) / min(column) for column in zip(*rows, strict=True))


def ratio_laws(rows) -> Iterator[Law]:
    """For every ordered pair of inputs the law of ``(r, r')`` under the blanket."""
    least, gamma = [min(column) for column in zip(*rows, strict=True)], mass(rows)
    for first, second in permutations(rows, 2):
        yield [(low / gamma, p / low, q / low) for low, p, q in zip(least, first, second, strict=True)]


def amplification_law(law: Law, gamma: Fraction, order: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Law of L at ``e^epsilon = order``: weights and values."""
    return [(w, gamma * (r - order * r_prime)) for w, r, r_prime in law]


def moments(law) -> tuple[Fraction, Fraction]:
    """Mean and second moment."""
    return sum(w * x for w, x in law), sum(w * x * x for w, x in law)


def positive_part(law, m: int) -> Fraction:
    """``E (L_1 + ... + L_m)_+``, over all counts of the values."""
    total = Fraction(0)
    for picks in combinations_with_replacement(range(len(law)), m):
        ways = math.factorial(m) // math.prod(map(math.factorial, Counter(picks).values()))
        total += ways * math.prod(law[i][0] for i in picks) * max(sum((law[i][1] for i in picks), Fraction(0)), 0)
    return total


def blanket_bound(law, gamma: Fraction, n: int) -> Fraction:
    """Right side of Lemma 5.3 for one law of L."""
    return sum(math.comb(n, m) * gamma**m * (1 - gamma) ** (n - m) * positive_part(law, m) for m in range(1, n + 1)) / (
        gamma * n
    )


def shuffled(rows, inputs: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """Law of the histogram of the messages."""
    law = {(0,) * len(rows[0]): Fraction(1)}
    for x in inputs:
        after: dict[tuple[int, ...], Fraction] = {}
        for counts, p in law.items():
            for y, q in enumerate(rows[x]):
                new = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                after[new] = after.get(new, Fraction(0)) + p * q
        law = after
    return law


def exact_delta(rows, n: int, order: Fraction, pair: tuple[int, int]) -> Fraction:
    """Largest hockey-stick divergence, over the inputs of the others, when one user changes from ``pair[1]``."""
    worst = Fraction(0)
    for others in combinations_with_replacement(range(len(rows)), n - 1):
        after, before = shuffled(rows, (pair[0], *others)), shuffled(rows, (pair[1], *others))
        worst = max(worst, sum(max(p - order * before[key], Fraction(0)) for key, p in after.items()))
    return worst


def signed_laws() -> Iterator[list[tuple[Fraction, Fraction]]]:
    """Laws of a variable with negative mean and some positive value: two-valued at several scales, then random."""
    for scale, chance in product((1, 10, 100), (Fraction(1, 4), Fraction(9, 20), Fraction(1, 50))):
        yield [(chance, Fraction(scale)), (1 - chance, Fraction(-scale))]
    rng = random.Random("signed laws")
    while True:
        weights = [rng.randint(1, 9) for _ in range(3)]
        values = [Fraction(rng.randint(-40, 40), rng.choice((1, 7, 50))) for _ in range(3)]
        law = [(Fraction(w, sum(weights)), x) for w, x in zip(weights, values, strict=True)]
        if moments(law)[0] < 0 < max(values):
            yield law
