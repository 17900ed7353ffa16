"""Checks of frequency estimation: enumeration in exact rationals, then the library's calibrations."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp

from ...bounds.blanket import blanket_exact, blanket_hoeffding
from ...core.curves import calibrate_epsilon0
from ...core.gaussian import gdp
from ...core.randomizers import RandomizedResponse
from ...exact.randomized_response import shuffled_rr
from ...protocols.frequency import calibrate_frequency, frequency_variance
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import digits, exact_log
from .shvets26 import ODDS, law_of_the_count


def moments(law: list[Fraction], odds: Fraction) -> tuple[Fraction, Fraction]:
    """Mean and variance of the estimate, when the count has this law."""
    n, q = len(law) - 1, 1 / (1 + odds)
    values = [(Fraction(t, n) - q) / (1 - 2 * q) for t in range(n + 1)]
    mean = sum(p * v for p, v in zip(law, values, strict=True))
    return mean, sum(p * (v - mean) ** 2 for p, v in zip(law, values, strict=True))


@check("shvets26.freq.estimator")
def estimator(claim: Record, tally: Tally) -> None:
    for odds in ODDS:
        for n in (2, 3, 6):
            at = {"epsilon0": exact_log(odds), "n": n}
            for k in range(n + 1):
                mean, variance = moments(law_of_the_count((1,) * k + (0,) * (n - k), odds), odds)
                tally.true(mean == Fraction(k, n), what="unbiased", k=k, **at)
                tally.equal(digits(variance), claim.value(**at), 1e-45, k=k, **at)
    for at in claim.points(80):
        tally.equal(frequency_variance(**at), claim.value(**at), 1e-13, **at)


@check("shvets26.freq.calibration")
def calibration(claim: Record, tally: Tally) -> None:
    """The bounds allow less, hence more noise; the worst composition keeps the target, the Gaussian curve misses it."""
    for at in claim.points(60):
        deviations = [mp.sqrt(mp.mpf(frequency_variance(at[name], 10**6))) for name in ("b", "epsilon0")]
        tally.equal(deviations[0] / deviations[1], claim.value(**at), 1e-13, **at)
    missed = []
    for n, epsilon, delta in ((10**3, 0.5, 1e-6), (10**4, 1.0, 1e-6)):
        at = {"n": n, "epsilon": epsilon, "delta": delta}
        exact = calibrate_frequency(n, epsilon, delta)
        tally.at_most(shuffled_rr(exact, n, "worst").delta(epsilon), delta, **at)
        for bound in (blanket_exact, blanket_hoeffding):
            allowed = calibrate_epsilon0(lambda e, bound=bound, n=n: bound(RandomizedResponse(2, e), n), epsilon, delta)
            tally.at_most(1.1, claim.value(epsilon0=exact, b=allowed), **at)
        gaussian = calibrate_epsilon0(lambda e, n=n: gdp(2 * math.sinh(e / 2) / math.sqrt(n)), epsilon, delta)
        alike = calibrate_epsilon0(lambda e, n=n: shuffled_rr(e, n), epsilon, delta)
        missed.append(shuffled_rr(gaussian, n).delta(epsilon) / delta)
        tally.true(missed[-1] > 10, what="the Gaussian curve misses the target", **at)
        tally.at_most(shuffled_rr(alike, n, "worst").delta(epsilon), 1.02 * delta, **at)
    tally.note(f"with the Gaussian curve delta is {missed[0]:.0f} and {missed[1]:.0f} times the target")
