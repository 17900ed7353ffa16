"""Checks of this book's additions on frequency estimation: exact rationals, and very many users for the limit."""

from __future__ import annotations

import math
from fractions import Fraction

from ...bounds.blanket import blanket_exact
from ...core.curves import calibrate_epsilon0
from ...core.randomizers import RandomizedResponse
from ...exact.randomized_response import shuffled_rr
from ...protocols.frequency import frequency_variance, log_upper_tail
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import digits, exact_log
from .shvets26 import ODDS, law_of_the_count
from .shvets26_frequency import moments


@check("ext.freq.population")
def population(claim: Record, tally: Tally) -> None:
    for odds in ODDS:
        for f in (Fraction(1, 4), Fraction(9, 10)):
            n, one = 5, (f * odds + 1 - f) / (1 + odds)  # probability that one user reports 1
            law = [math.comb(n, t) * one**t * (1 - one) ** (n - t) for t in range(n + 1)]
            mean, variance = moments(law, odds)
            at = {"epsilon0": exact_log(odds), "n": n, "f": digits(f)}
            tally.true(mean == f, what="unbiased", **at)
            tally.equal(digits(variance), claim.value(**at), 1e-45, **at)
    for at in claim.points(40):
        ours = frequency_variance(at["epsilon0"], at["n"]) + at["f"] * (1 - at["f"]) / at["n"]
        tally.equal(ours, claim.value(**at), 1e-13, **at)


@check("ext.freq.tail-step")
def tail_step(claim: Record, tally: Tally) -> None:
    for odds in ODDS[:2]:
        for n in (2, 5):
            laws = [law_of_the_count((1,) * k + (0,) * (n - k), odds) for k in range(n + 1)]
            for k in range(n):
                for j in range(1, n + 1):
                    at = {"epsilon0": exact_log(odds), "n": n, "k": k, "j": j}
                    step = digits(sum(laws[k + 1][j:]) - sum(laws[k][j:]))
                    tally.equal(step, claim.value(**at), 1e-45, **at)
                    tally.true(step > 0, what="likelier", **at)
    for at in claim.points(40):  # the tails that the interval is made of; their difference loses digits, not their sum
        epsilon0, n, k, j = (at[name] for name in ("epsilon0", "n", "k", "j"))
        less, more = (math.exp(log_upper_tail(epsilon0, n - ones, ones, j)) for ones in (k, k + 1))
        if 0 < less < more < 1:
            tally.equal(more, less + claim.value(**at), 1e-9, **at)


@check("ext.freq.blanket-ratio")
def blanket_ratio(claim: Record, tally: Tally) -> None:
    """At 10^12 users, two standard deviations out: what the exact curve allows where the blanket allows epsilon0."""
    n = 10**12
    for at in ({"epsilon0": 0.1}, {"epsilon0": 1.0}, {"epsilon0": 3.0}, {"epsilon0": 8.0}):
        allowed = at["epsilon0"]
        curve = blanket_exact(RandomizedResponse(2, allowed), n)
        epsilon = 2 * curve.scale
        exact = calibrate_epsilon0(lambda e: shuffled_rr(e, n), epsilon, curve.delta(epsilon))
        ratio = math.sqrt(frequency_variance(allowed, n) / frequency_variance(exact, n))
        tally.equal(ratio, claim.value(**at), 2e-4, **at)
