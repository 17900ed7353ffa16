"""What several checks compute from the definition, in exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp

from ..statements import DIGITS

Rows = Sequence[Sequence[Fraction]]  # W_0 and W_1
HistogramLaw = dict[tuple[int, ...], Fraction]


def digits(x: Fraction) -> mp.mpf:
    """A rational to all the digits that statements are evaluated with, and a few more."""
    with mp.workdps(DIGITS + 10):
        return mp.mpf(x.numerator) / x.denominator


def exact_log(x: Fraction) -> mp.mpf:
    """Natural log of a rational, to as many digits."""
    with mp.workdps(DIGITS + 10):
        return mp.log(digits(x))


def as_floats(rows: Rows) -> list[list[float]]:
    """A channel for the library."""
    return [list(map(float, row)) for row in rows]


def law_of_the_histogram(rows: Rows, inputs: Sequence[int]) -> HistogramLaw:
    """Law of how often each output is reported by users with these inputs, one user's message after the other's."""
    law: HistogramLaw = {(0,) * len(rows[0]): 1}
    for x in inputs:
        grown: HistogramLaw = {}
        for histogram, chance in law.items():
            for y, p in enumerate(rows[x]):
                key = tuple(count + (i == y) for i, count in enumerate(histogram))
                grown[key] = grown.get(key, 0) + chance * p
        law = grown
    return law


def neighbouring_laws(rows: Rows, n: int, ones: int) -> tuple[HistogramLaw, HistogramLaw]:
    """Laws before and after the first user's 0 becomes 1, where ``ones`` of the n - 1 others hold 1."""
    others = (1,) * ones + (0,) * (n - 1 - ones)
    return law_of_the_histogram(rows, (0, *others)), law_of_the_histogram(rows, (1, *others))
