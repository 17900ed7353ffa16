"""Checks of what this book adds to the Gaussian mechanism and the private mean."""

from __future__ import annotations

import mpmath as mp
import numpy as np

from ...core.gaussian import classical_epsilon_max, gdp
from ...protocols.private_mean import private_mean
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import evaluate


@check("ext.gauss.eps-max")
def epsilon_max(claim: Record, tally: Tally) -> None:
    for point in claim.points(100):
        tally.true(claim.value(**point), **point)
        a, c = mp.mpf(point["a"]), mp.mpf(point["c"])
        with mp.workdps(80):
            step = a * mp.mpf("1e-20")
            slope = (_at_classical_sigma(a + step, c) - _at_classical_sigma(a - step, c)) / (2 * step)
        if slope > mp.mpf("1e-20"):  # below, the difference quotient runs out of digits
            tally.equal(slope, evaluate(claim.statement.lhs, point), 1e-12, **point)
    for delta in (1e-300, 1e-12, 1e-6, 1e-2, 0.5, 0.8962, 0.99):
        limit, c = classical_epsilon_max(delta), mp.sqrt(2 * mp.log(mp.mpf("1.25") / delta))
        tally.at_most(gdp(float(limit / c)).delta(limit), delta * (1 + 1e-12), delta=delta)
        beyond = limit * (1 + 1e-9)
        tally.true(gdp(float(beyond / c)).delta(beyond) > delta, delta=delta)
        tally.at_most(3.78, limit, delta=delta)


def _at_classical_sigma(a, c):
    """Exact delta of the classical sigma, in terms of a = epsilon/(2c)."""
    return mp.ncdf(a - c) - mp.exp(2 * a * c) * mp.ncdf(-a - c)


@check("ext.mean.public-interval")
def public_interval(claim: Record, tally: Tally) -> None:
    for point in claim.points(60):
        C, n, b, alpha = (point[name] for name in ("C", "n", "b", "alpha"))
        result = private_mean(np.zeros(n), C=C, lower=0, epsilon=C / n / b, alpha=alpha, rng=np.random.default_rng(n))
        half = claim.value(**point)
        tally.equal(result.release()["ci_public_upper"] - result.estimate, half, 1e-9, **point)
        # the hardest populations for a mean: all mass at the two ends of the window
        sampling = half - mp.mpf(b) * mp.log(2 / mp.mpf(alpha))
        for p in (0.5, 0.1, 1 / n):
            tally.at_most(_outside(n, p, sampling / C), alpha / 2, p=p, **point)


def _outside(n: int, p: float, t) -> mp.mpf:
    """Probability that the mean of n coins of bias p is further than t from p."""
    low, high = (p - t) * n, (p + t) * n
    terms = (
        mp.binomial(n, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** (n - k) for k in range(n + 1) if k < low or k > high
    )
    return mp.fsum(terms)
