"""Checks of the clipped private mean and the Gaussian mechanism, from their definitions."""

from __future__ import annotations

import itertools
import math
import random
import warnings

import mpmath as mp
import numpy as np
from scipy.special import ndtri

from ...core.domain import DomainError, GuaranteeWarning
from ...core.gaussian import classical_epsilon_max, gaussian_curve
from ...protocols.private_mean import PrivateMean, laplace_scale, private_mean
from ..evidence import Tally, check
from ..ledger import Record


def _study(y, **arguments) -> PrivateMean:
    """The private mean with noise fixed at 0 unless given, its warnings silenced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        return private_mean(y, **{"noise": 0.0, **arguments})


@check("dr14.mean.sensitivity")
def sensitivity(claim: Record, tally: Tally) -> None:
    rng = random.Random(claim.id)
    for point in claim.points(100):
        C, n = point["C"], point["n"]
        bound = claim.value(**point)
        tally.equal(_study([0.0] * n, C=C, lower=-C).sensitivity, bound, 1e-15, **point)
        rest = [rng.uniform(-2 * C, C) for _ in range(n - 1)]
        moved = [_study([*rest, last], C=C, lower=-C).clipped_mean for last in (-9 * C, rng.uniform(-C, 0), 9 * C)]
        for a, b in itertools.combinations(moved, 2):
            tally.at_most(abs(a - b), bound * (1 + mp.mpf(2) ** -40), **point)  # sums of doubles are rounded
        tally.equal(abs(moved[0] - moved[2]), bound, 1e-12, **point)  # attained


@check("dr14.mean.laplace")
def laplace(claim: Record, tally: Tally) -> None:
    for point in claim.points(100):
        shift, epsilon = point["Delta"], point["epsilon"]
        b = claim.value(**point)
        tally.equal(laplace_scale(shift, epsilon), b, 1e-15, **point)
        losses = [(abs(z - mp.mpf(shift)) - abs(z)) / b for z in (-shift, 0, shift * mp.mpf("0.3"), shift, 2 * shift)]
        tally.equal(max(map(abs, losses)), epsilon, 1e-15, **point)  # no larger, and attained


@check("dr14.gauss.curve")
def gauss_curve(claim: Record, tally: Tally) -> None:
    quadratures = 0
    for point in claim.points(100):
        shift, sigma, epsilon = (mp.mpf(point[name]) for name in ("Delta", "sigma", "epsilon"))
        exact = claim.value(**point)
        if exact < mp.mpf("1e-30"):  # the two tails of the statement have lost too many of its 50 digits
            continue
        tally.equal(gaussian_curve(float(sigma), float(shift)).delta(float(epsilon)), exact, 1e-12, **point)
        if quadratures < 6 and exact > mp.mpf("1e-10"):  # hockey-stick divergence of the two densities
            quadratures += 1
            start = shift / 2 + epsilon * sigma**2 / shift
            area = mp.quad(
                lambda z, s=sigma, d=shift, e=epsilon: mp.npdf(z, d, s) - mp.exp(e) * mp.npdf(z, 0, s),
                mp.linspace(start, max(start, shift) + 12 * sigma, 7),
            )
            tally.equal(area, exact, 1e-9, **point)


@check("dr14.gauss.classical")
def gauss_classical(claim: Record, tally: Tally) -> None:
    held = 0
    for point in claim.points(100):
        epsilon, delta = point["epsilon"], point["delta"]
        holds = claim.value(**point)
        tally.true(holds, **point)
        held += bool(holds)
        if holds != (epsilon <= classical_epsilon_max(delta)):
            tally.note(f"classical_epsilon_max({delta}) does not tell where the calibration holds")
    tally.note(
        f"it holds at {held} of {tally.points} points, exactly those with epsilon <= classical_epsilon_max(delta)"
    )


@check("dr14.mean.clip-bias")
def clip_bias(claim: Record, tally: Tally) -> None:
    middle = (np.arange(4000) + 0.5) / 4000
    for point in claim.points(12):
        mu, s, lower, C = (mp.mpf(point[name]) for name in ("mu", "s", "lower", "C"))
        upper = lower + C
        below = mp.quad(lambda x, m=mu, s=s, a=lower: (a - x) * mp.npdf(x, m, s), [-mp.inf, lower - s, lower])
        above = mp.quad(lambda x, m=mu, s=s, a=upper: (x - a) * mp.npdf(x, m, s), [upper, upper + s, mp.inf])
        bias = claim.value(**point)
        tally.true(abs(below - above - bias) < 1e-12 * s, **point)
        sample = float(mu) + float(s) * ndtri(middle)  # a population of 4000 equally likely quantiles
        found = _study(sample, C=point["C"], lower=point["lower"]).clipping_bias
        tally.true(abs(found - bias) < 2e-3 * s, **point)


@check("dr14.mean.ci")
def interval(claim: Record, tally: Tally) -> None:
    for point in claim.points(100):
        z, se, b = point["z"], point["se"], point["b"]
        half, alpha = claim.value(**point), claim.read("alpha")
        alpha = float(alpha.subs(claim.symbols["z"], z).evalf(30))
        width = 4 * se + 1
        result = _study([0.0, 2 * se], C=width, lower=-1.0, epsilon=width / 2 / b, alpha=alpha)  # n = 2
        tally.equal(result.ci_upper - result.estimate, half, 1e-9, **point)
        outside = 2 * mp.mpf(1 - _cdf_normal_plus_laplace(half, mp.mpf(se), mp.mpf(b)))
        tally.at_most(outside, alpha, **point)
        tally.at_most(b * mp.log(1 / mp.mpf(alpha)), half - z * mp.mpf(se), **point)


def _cdf_normal_plus_laplace(x, s, b):
    """Distribution function of N(0, s^2) + Laplace(b), in closed form."""
    with mp.workdps(60):
        return mp.ncdf(x / s) - mp.exp(s**2 / (2 * b**2)) / 2 * (
            mp.exp(-x / b) * mp.ncdf(x / s - s / b) - mp.exp(x / b) * mp.ncdf(-x / s - s / b)
        )


@check("dr14.mean.noise-param")
def noise_param(claim: Record, tally: Tally) -> None:
    for point in claim.points(100):
        draw = claim.value(**point)
        with mp.workdps(40):  # the Laplace distribution function
            tally.equal(1 - mp.exp(-draw / point["b"]) / 2, mp.mpf(1) / 2 + point["v"], 1e-30, **point)
        given = {"C": 8, "lower": 0, "noise": float(draw)}
        first, again = _study(range(1, 9), **given), _study(range(1, 9), **given)
        tally.equal(first.estimate, mp.mpf("4.5") + draw, 1e-15, **point)
        tally.true(first == again and not first.private, **point)


def _reference_mean(y: np.ndarray, C: float) -> float:
    """What the documented function does with a width alone: its window is centred on the mean of the data."""
    lower = y.mean() - C / 2
    return float(np.clip(y, lower, lower + C).mean())


@check("dr14.mean.holes")
def holes(claim: Record, tally: Tally) -> None:
    for point in claim.points(100):
        M, C, n = point["M"], point["C"], point["n"]
        left = claim.statement.lhs.subs({claim.symbols[k]: v for k, v in point.items()})
        zeros, one = np.zeros(n), np.zeros(n)
        one[0] = M
        tally.equal(_reference_mean(one, C) - _reference_mean(zeros, C), float(left), 1e-9, **point)
        tally.true(claim.value(**point), **point)
        tally.true(_refused(one, C=C), **point)
    for refused in (
        _refused([1.0, 1.0]),
        _refused([0.0, 1.0], C=1, lower=0, n=16),
        _refused([0.0, 1.0, math.nan], C=1, lower=0),
    ):
        tally.true(refused)


def _refused(y, **arguments) -> bool:
    try:
        private_mean(y, **arguments)
    except DomainError:
        return True
    return False
