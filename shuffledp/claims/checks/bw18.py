"""Checks of the analytic calibration of Gaussian noise."""

from __future__ import annotations

import mpmath as mp

from ...core.gaussian import gaussian_curve, gaussian_sigma
from ..evidence import Tally, check
from ..ledger import Record, record


@check("bw18.analytic-sigma")
def analytic_sigma(claim: Record, tally: Tally) -> None:
    curve = record("dr14.gauss.curve")
    for point in claim.points(60):
        slope = claim.value(**point)
        if abs(slope) < mp.mpf("1e-20"):  # too few of the curve's 50 digits are left for a difference quotient
            continue
        with mp.workdps(50):
            sigma = mp.mpf(point["sigma"])
            step = sigma * mp.mpf("1e-12")
            above, below = (curve.value(**{**point, "sigma": sigma + sign * step}) for sign in (1, -1))
            tally.equal((above - below) / (2 * step), slope, 1e-12, **point)
    for epsilon in (1e-6, 0.1, 1.0, 9.0, 1000.0):
        for delta in (1e-300, 1e-12, 1e-6, 0.1):
            at = {"epsilon": epsilon, "delta": delta}
            sigma = gaussian_sigma(1, epsilon, delta)
            tally.at_most(gaussian_curve(sigma, 1).delta(epsilon), delta, **at)
            tally.true(gaussian_curve(sigma * (1 - 1e-10), 1).delta(epsilon) > delta, **at)
