"""Check of the printed number of rounding steps."""

from __future__ import annotations

import mpmath as mp

from ...bounds.histogram import shuffled_rr_constant
from ...protocols.summation import SummationProtocol
from ..evidence import Tally, check
from ..ledger import Record


@check("bbgn19.sum.k-printed")
def steps(claim: Record, tally: Tally) -> None:
    """The simple bound is least there; and the library takes the nearest integer."""

    def bound(k, n, c):
        return n / (4 * k**2) + c * k / 2

    for point in claim.points(80):
        k = claim.value(**point)
        with mp.workdps(50):
            least = bound(k, **point)
            step = mp.mpf("1e-12")
            for factor in (1 - step, 1 + step):
                tally.at_most(least, bound(k * factor, **point), **point)
    for epsilon, delta, n in ((1.0, 1e-6, 10**6), (0.5, 1e-8, 10**7), (1.0, 1e-10, 10**12), (0.1, 1e-6, 10**9)):
        c = shuffled_rr_constant(epsilon, delta)
        k = claim.value(n=n, c=c)
        tally.true(abs(SummationProtocol(n, epsilon, delta, k="paper").k - k) <= 0.5, n=n, c=c)
