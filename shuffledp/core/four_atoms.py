r"""Expected positive part of a sum of independent terms with four values, two of them equally likely.

This is the common form of k-ary randomized response, of its privacy blanket and of the clones: a message is one of the
two symbols in question, with the same probability w, or one of two further kinds. Three evaluators, chosen by a guard:
a positive double sum, exact at every n where it is short enough; the steepest-descent integral; and the echoes of its
peak, which a nearly periodic sum needs. What none of them can vouch for raises. The integral serves any other finite
law, and densities, as well.
"""

from __future__ import annotations

import math

import numpy as np

from .engine import log_binomial_call, log_binomial_probability
from .numerics import expm1_minus, log1p_minus

__all__ = [
    "NearlyPeriodic",
    "log_excess_by_contour",
    "log_finite_excess",
    "log_four_atom_excess",
    "saddle",
    "tilted",
    "window",
]

_SHORT, _LONG = 3 * 10**4, 3 * 10**7  # terms of the double sum: always taken, and at most
_BLOCK = 2 * 10**5  # terms held at once
_LEAST_PAIRS = 300.0  # n w from which the integral is tried; its half-period echoes have size e^(-4 n w)
_BALANCED = 10.0**6  # n w up to which the single sum at epsilon = 0 is taken
_ECHOES, _HOPELESS = 2**16, 2**12  # turns: at most, and where echoes that have not died out no longer will in time
_SINGLE = 20_000  # terms of the sum over the pair count alone, where there is no third kind
_FAINTEST = 1e-16  # echoes below this part of the main peak are left out
_TOLERANCE = 1e-11


def log_four_atom_excess(n: int, weights, values, mean: float) -> float:
    r"""Log of :math:`E(G_1 + \dots + G_n)_+` for independent, identically distributed four-valued terms.

    Parameters
    ----------
    n : int
        Number of terms.
    weights : sequence of 4 floats
        Probabilities ``w, w, w3, w4`` (either of the last two may be 0), summing to 1.
    values : sequence of 4 floats
        ``g1 > 0 > g2`` with ``g1 + g2 <= 0``, and ``g3, g4 <= 0``.
    mean : float
        ``E G``, at most 0, computed by the caller without cancellation.

    Returns
    -------
    float
        Natural log, relative error of the value below 1e-10.

    Raises
    ------
    ArithmeticError
        If no evaluator can vouch for the value.
    """
    weights, values = np.asarray(weights, float), np.asarray(values, float)
    scale, pairs = values[0], n * weights[0]
    values, mean = values / scale, mean / scale
    if mean == 0 and values[1] == -1 and pairs <= _BALANCED:
        return math.log(scale) + _balanced(n, weights[0], weights[2] + weights[3])
    theta = saddle(n, weights, values)
    pair_window, third, terms = _windows(n, weights, values, theta)
    if weights[2] == 0 and pair_window[1] - pair_window[0] < _SINGLE:
        return math.log(scale) + _single_sum(n, weights, values, pair_window)
    if terms > _SHORT and pairs > _LEAST_PAIRS:
        try:
            return math.log(scale) + log_excess_by_contour(n, weights, values, mean, theta)
        except NearlyPeriodic:
            pass
    if terms > _LONG:
        raise ArithmeticError(f"no evaluator vouches for a sum of n = {n} terms with weights {weights.tolist()}")
    return math.log(scale) + _double_sum(n, weights, values, pair_window, third)


def log_finite_excess(n: int, weights, values, mean: float) -> float:
    r"""Log of :math:`E(G_1 + \dots + G_n)_+` for terms with any finite law, or a density given at quadrature nodes.

    Parameters
    ----------
    n : int
        Number of terms.
    weights, values : sequence of float
        The law of G; at least one value positive.
    mean : float
        ``E G``, at most 0, computed by the caller without cancellation.

    Returns
    -------
    float
        Natural log, by `log_excess_by_contour`.

    Raises
    ------
    ArithmeticError
        If the integrand has not died out after its peak (n is too small for the integral), or is nearly periodic.
    """
    order = np.argsort(values)[::-1]
    weights, values = np.asarray(weights, float)[order], np.asarray(values, float)[order]
    scale = values[0]
    values, mean = values / scale, mean / scale
    theta = saddle(n, weights, values)
    law = tilted(weights, values, theta)
    spread = math.sqrt(n * (law @ (values - law @ values) ** 2))
    turn = 2 * math.pi / (values[0] - values[1 + int(np.argmax(law[1:]))])  # of the first value's phase
    between = np.linspace(9 / spread, 0.8 * turn, 1024)
    characteristic = np.abs(np.exp(1j * between[:, None] * values) @ law)
    # between echoes the first value alone, seen n law[0] times, must be enough to keep the integrand down, to e^-25
    if n * law[0] < 15 or turn < 20 / spread or n * math.log(characteristic.max()) > math.log(_TOLERANCE):
        raise ArithmeticError(f"n = {n} terms are too few for the integral")
    return math.log(scale) + log_excess_by_contour(n, weights, values, mean, theta)


class NearlyPeriodic(ArithmeticError):
    """The echoes of the integral's peak die out too slowly to be counted."""


def _cumulant(s, weights, values, mean):
    """Log of the moment generating function of one term, by the remainders ``e^x - 1 - x``: n times it is accurate."""
    total = mean * s
    for w, g in zip(weights, values, strict=True):
        if w > 0:
            total = total + w * expm1_minus(g * s)
    return total + log1p_minus(total)


def tilted(weights: np.ndarray, values: np.ndarray, theta: float) -> np.ndarray:
    """The law with weights proportional to ``weights * exp(theta * values)``."""
    exponents = theta * values
    law = weights * np.exp(exponents - exponents.max())
    return law / law.sum()


def saddle(n: int, weights: np.ndarray, values: np.ndarray) -> float:
    """The tilt under which the sum of n terms is typically just above 0: minimiser of ``n K(theta) - 2 log theta``."""

    def slope(theta: float) -> float:
        return n * float(tilted(weights, values, theta) @ values) - 2 / theta

    low = high = 1.0
    while slope(high) < 0:
        high *= 2
        if high > 1e12:
            raise ArithmeticError("the sum reaches 0 at the very end of its range only")
    while slope(low) > 0:
        low /= 2
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high


def _windows(n, weights, values, theta):
    """The window of the pair count T, the tilted share of the third kind in the rest, and how many terms that makes."""
    law = tilted(weights, values, theta)
    pair, rest = law[0] + law[1], law[2] + law[3]
    pair_window, third = window(n, pair), law[2] / rest if rest > 0 else 0.0
    low, high = window(n, third * (1 - pair))
    return pair_window, third, (pair_window[1] - pair_window[0] + 1) * (high - low + 40)


def window(n: int, p: float) -> tuple[int, int]:
    """Where a binomial count is, but for at most e^-42 of its law on either side (Bernstein's inequality)."""
    reach = 14 + math.sqrt(196 + 84 * n * p * (1 - p))
    return max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))


def _single_sum(n, weights, values, pair_window) -> float:
    r"""The double sum without a third kind: a sum over the pair count T of binomial excesses, each in O(1)."""
    w, rest = weights[0], weights[3]
    g1, g2, _, g4 = values
    totals = np.arange(max(pair_window[0], 1), pair_window[1] + 1, dtype=float)
    tau = (-g2 * totals - g4 * (n - totals)) / (g1 - g2)
    log_pair = log_binomial_probability(np.array([float(n)]), 2 * w, rest, totals, totals - 2 * w * n)
    logs = log_pair + log_binomial_call(totals, 0.5, 0.5, tau)
    peak = logs.max(initial=-np.inf)
    if peak == -np.inf:
        raise ArithmeticError("the sum over the pair count found no outcome above the threshold")
    return math.log(g1 - g2) + peak + math.log(np.exp(logs - peak).sum())


def _double_sum(n, weights, values, pair_window, third) -> float:
    r"""Sum over the pair count T and the third count R of the binomial excess in between; every term is positive.

    Given T and R the first count is Bin(T, 1/2), and the sum of the terms is :math:`\Delta(N_1 - \tau)` with
    :math:`\Delta = g_1 - g_2` and :math:`\tau \ge T/2`: the expected excess is a sum of upper tails.
    """
    w, rest = weights[0], weights[2] + weights[3]
    g1, g2, g3, g4 = values
    rho, rho_complement = (weights[2] / rest, weights[3] / rest) if rest > 0 else (0.0, 1.0)
    every = np.arange(pair_window[0], pair_window[1] + 1, dtype=float)
    log_pair = log_binomial_probability(np.array([float(n)]), 2 * w, rest, every, every - 2 * w * n)
    logs = []
    block = max(1, _BLOCK // (window(n, third)[1] - window(n, third)[0] + 1))
    for begin in range(0, every.size, block):
        totals = every[begin : begin + block, None]
        others = n - totals
        thirds = np.arange(window(int(others[-1, 0]), third)[0], window(int(others[0, 0]), third)[1] + 1.0)
        tau = (-g2 * totals - g4 * (others - thirds) - g3 * thirds) / (g1 - g2)
        possible = (tau < totals) & (thirds <= others)
        if not possible.any():
            continue
        tau, shares = np.where(possible, tau, 0.5 * totals), np.minimum(thirds, others)
        if 0 < rho < 1:
            log_third = log_binomial_probability(others, rho, rho_complement, shares, shares - others * rho)
        else:
            log_third = np.where(shares == others * rho, 0.0, -np.inf)
        first = np.floor(tau) + 1
        start, last = first.min(), totals[-1, 0]
        reach = max(first.max(), last / 2) + 10 * math.sqrt(last) + 40
        counts = np.arange(start, max(start, min(last, reach)) + 1)
        inside = counts <= totals
        shown = np.where(inside, counts, totals)
        log_half = np.where(inside, log_binomial_probability(totals, 0.5, 0.5, shown, shown - totals / 2), -np.inf)
        top = np.maximum(log_half.max(axis=1, keepdims=True), -1e300)
        tails = np.cumsum(np.exp(log_half - top)[:, ::-1], axis=1)[:, ::-1]  # P(N_1 >= j)
        beyond = np.cumsum(tails[:, ::-1], axis=1)[:, ::-1] - tails  # E(N_1 - j)_+
        index = (first - start).astype(int)
        excess = (first - tau) * np.take_along_axis(tails, index, 1) + np.take_along_axis(beyond, index, 1)
        with np.errstate(divide="ignore"):
            terms = log_pair[begin : begin + block, None] + top + log_third + np.log(np.where(possible, excess, 0.0))
        peak = terms.max()
        if peak > -np.inf:
            logs.append(peak + math.log(np.exp(terms - peak).sum()))
    if not logs:
        raise ArithmeticError("the double sum found no outcome above the threshold")
    logs = np.array(logs)
    return math.log(g1 - g2) + logs.max() + math.log(np.exp(logs - logs.max()).sum())


def _balanced(n, w, rest) -> float:
    r"""Log of :math:`E(N_1 - N_2)_+`: given T it is :math:`J\,P(N_1 = J)` with :math:`J = \lfloor T/2\rfloor + 1`."""
    low, high = window(n, 2 * w)
    totals = np.arange(max(low, 1), high + 1, dtype=float)
    first = np.floor(totals / 2) + 1
    terms = log_binomial_probability(np.array([float(n)]), 2 * w, rest, totals, totals - 2 * w * n) + np.log(first)
    terms += log_binomial_probability(totals, 0.5, 0.5, first, first - totals / 2)
    return terms.max() + math.log(np.exp(terms - terms.max()).sum())


def log_excess_by_contour(n: int, weights: np.ndarray, values: np.ndarray, mean: float, theta: float) -> float:
    r"""Log of :math:`E(G_1+\dots+G_n)_+ = \frac1\pi\int_0^\infty \mathrm{Re}\,e^{nK(s)}/s^2\,du` on
    :math:`s = \theta + iu`, for any finite law of G whose first value is the largest, 1.

    The peak at u = 0 takes 46 nodes. Wherever all phases come close to whole turns again there is an echo of it, of
    relative size at most :math:`\max(1, z^2)/(40\,n w\,m^2)` after m turns of the first value's. Echoes are looked for
    turn by turn, in blocks that double, until all that may follow, or the whole last block of many, no longer matters;
    where that never happens, `NearlyPeriodic` is raised.
    """
    law = tilted(weights, values, theta)
    center = law @ values
    spread = math.sqrt(n * (law @ (values - center) ** 2))
    base = float(_cumulant(np.array(theta), weights, values, mean))

    def echo(s):  # a cheaper integrand: an echo needs fewer digits than the peak
        total = sum(w * np.exp(g * s) for w, g in zip(weights, values, strict=True))
        return np.exp(n * (np.log(total) - base)) / (s * s)

    s = theta + 1j * np.arange(46) * (0.2 / spread)
    main = (np.exp(n * (_cumulant(s, weights, values, mean) - base)) / (s * s)).real
    main = (0.5 * main[0] + main[1:].sum()) * (0.2 / spread)
    heavy = 1 + int(np.argmax(law[1:]))
    turns = (values - values[heavy]) / (values[0] - values[heavy])  # of each phase while the first makes one
    # with the residual phases x and c - tx: log|phi|^n <= -n w_h (2/pi^2) min_x [w_1 x^2 + w_i (c - tx)^2]
    rigour = 8 * n * law[heavy] * law[0] * law / (law[0] + law * turns**2)
    v = np.arange(-20, 21) * (0.45 / spread)
    full = math.sqrt(2 * math.pi) / spread / (2 * math.pi / (values[0] - values[heavy])) ** 2  # an echo of full height
    total, low, high = main, 1, 65
    while True:
        whole = np.arange(low, high, dtype=float)
        for rate, strength in zip(turns[1:], rigour[1:], strict=True):
            phase = rate * whole
            whole = whole[strength * (phase - np.rint(phase)) ** 2 < 40]
        place = 2 * math.pi * n * (np.rint(whole[:, None] * turns) * (values - center)) @ law / spread**2
        height = np.abs(echo(theta + 1j * place))
        place = place[height * (3 / spread) > _FAINTEST * main]
        echoes = echo(theta + 1j * (place[:, None] + v)).real.sum(axis=1) * (0.45 / spread)
        total += echoes.sum()
        block = np.abs(echoes).sum()
        if full / high < _TOLERANCE * main or (high > _ECHOES and block < _TOLERANCE * main):
            return n * base + math.log(total / math.pi)
        if high > _ECHOES or (high > _HOPELESS and block > 20 * _TOLERANCE * main):
            raise NearlyPeriodic
        low, high = high, 2 * high - 1
