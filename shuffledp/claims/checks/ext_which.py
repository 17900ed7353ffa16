"""Checks of the chapter on the choice of a bound: 10^15 users, hundreds of standard deviations out."""

from __future__ import annotations

import math

from ...bounds.blanket import blanket_bennett
from ...bounds.clones import clones, clones_closed_form
from ...core.curves import PrivacyCurve
from ...core.numerics import safe_root
from ...core.randomizers import GenericRandomizer
from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record

USERS = 10**15
FAR = 300  # standard deviations: delta is about e^-45000, so that factors in front of an exponential hardly matter


def log_delta(curve: PrivacyCurve, epsilon: float) -> float:
    return float(curve.log_delta(epsilon))


def level(epsilon0: float) -> tuple[float, float]:
    """Epsilon of the exact curve that far out, and the log of its delta."""
    exact = shuffled_rr(epsilon0, USERS)
    epsilon = FAR * 2 * math.sinh(epsilon0 / 2) / math.sqrt(USERS)
    return epsilon, log_delta(exact, epsilon)


@check("ext.which.clones")
def not_knowing(claim: Record, tally: Tally) -> None:
    for at in ({"epsilon0": 0.1}, {"epsilon0": 1.0}, {"epsilon0": 3.0}, {"epsilon0": 6.0}):
        exact, goal = level(at["epsilon0"])
        curve = clones(at["epsilon0"], USERS)
        bound = safe_root(lambda epsilon, c=curve, g=goal: log_delta(c, epsilon) - g, 0.9 * exact, 3 * exact)
        tally.equal(bound / exact, claim.value(**at), 2e-4, **at)


@check("ext.which.closed")
def closed_form(claim: Record, tally: Tally) -> None:
    """Both as multiples of the root of log(1/delta): the closed form from a delta that is a double."""
    for epsilon0 in (0.1, 1.0, 3.0, 6.0):
        epsilon, _ = level(epsilon0)
        bound = epsilon / math.sqrt(-log_delta(clones(epsilon0, USERS), epsilon))
        closed = clones_closed_form(epsilon0, USERS, 1e-300) / math.sqrt(math.log(4) - math.log(1e-300))
        tally.equal(closed / bound, claim.value(), 2e-3, epsilon0=epsilon0)


@check("ext.which.crossover")
def crossover(claim: Record, tally: Tally) -> None:
    def gain(epsilon0: float) -> float:
        epsilon = 1.7 * level(epsilon0)[0]
        bennett = blanket_bennett(GenericRandomizer(epsilon0), USERS)
        return log_delta(bennett, epsilon) - log_delta(clones(epsilon0, USERS), epsilon)

    tally.true(gain(1.5) > 0, epsilon0=1.5)
    tally.true(gain(3.0) < 0, epsilon0=3.0)
    tally.equal(safe_root(gain, 1.5, 3.0, rtol=1e-9), claim.value(), 5e-4)
