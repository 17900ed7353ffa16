r"""How much more likely a histogram is after one user's change: exactly, for any channel, composition and n.

:math:`T_k` is the law of the histogram of n reports when k of the n users hold 1. One report y says
:math:`w(y) = W_1(y)/W_0(y)`. The histogram says

.. math:: \frac{T_{k+1}(h)}{T_k(h)} = \frac{E_{k+1}}{E_k},

where :math:`E_k` is the mean, over all sets of k of the n reports, of the product of their ratios: nobody knows which k
reports came from the holders of 1, and every set was equally likely.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.domain import MAX_USERS, DomainError, integer, real_array
from ..core.engine import log_binomial_probability
from ..core.randomizers import two_input_rows

__all__ = ["likelihood_ratio", "residual_moment"]

_ANGLES = 48  # trapezoid intervals on the upper half of the circle
_DEPTH = 42.0  # the integrand is cut where it has fallen to e^-42


def likelihood_ratio(channel, histogram, ones=0):
    r"""Likelihood ratio of a shuffled histogram: one user's 0 turned into a 1, against unchanged.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), d outputs, every output possible for both; an array is read as the rows.
    histogram : array_like of int, shape (..., d)
        How often each output was reported; one histogram or an array of them. Each adds up to its number n of users,
        at most 10**15.
    ones : int
        How many of the n users hold 1 before the change, ``0 <= ones <= n - 1``.

    Returns
    -------
    float or ndarray
        Shape (...). Between the least and the largest :math:`W_1(y)/W_0(y)` among the reports, relative accuracy 2e-13.
        At ``ones = 0`` the mean of these ratios, at ``ones = n - 1`` their harmonic mean, in between neither.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.lr.general``, ``ext.lr.symmetric``, ``ext.lr.canonical``. Equal to the leave-one-out form
    :math:`\sum_y W_1(y)M(h-e_y)/\sum_y W_0(y)M(h-e_y)`, with M the law of the other users' histogram. Cost O(d), at any
    n: the two symmetric means are probabilities of a sum of independent binomial counts, tilted so that its mean is
    halfway between k and k + 1, where a Fourier integral gives both without cancellation.
    """
    rows = two_input_rows(channel, full_support=True)
    counts = real_array("histogram", histogram, at_least=0, at_most=MAX_USERS)
    if counts.ndim == 0 or counts.shape[-1] != rows.shape[1] or np.any(counts != np.floor(counts)):
        raise DomainError(f"histogram must hold whole numbers, one for each of the {rows.shape[1]} outputs")
    ones = integer("ones", ones, at_least=0, at_most=MAX_USERS)
    users = counts.sum(axis=-1)
    if np.any(users <= ones) or np.any(users > MAX_USERS):
        raise DomainError(f"histogram: every n must satisfy ones + 1 <= n <= {MAX_USERS}, with ones = {ones}")
    with np.errstate(over="ignore", under="ignore"):
        ratio = rows[1] / rows[0]
    if not (ratio.min() > 0 and ratio.max() < math.inf):
        raise DomainError("channel: an entry is so small that the ratio of the rows is not a double")
    flat = counts.reshape(-1, counts.shape[-1])
    out = flat @ ratio / flat.sum(axis=1) if ones == 0 else _ratio_of_symmetric_means(flat, ratio, ones)
    return float(out[0]) if counts.ndim == 1 else out.reshape(users.shape)


def _ratio_of_symmetric_means(counts: np.ndarray, ratio: np.ndarray, k: int) -> np.ndarray:
    r""":math:`E_{k+1}/E_k` for every row of counts.

    With S the number of successes in independent trials of odds :math:`\tau w`, one per report, it is
    :math:`\frac{k+1}{(n-k)\tau}\,P(S=k+1)/P(S=k)` at every :math:`\tau`.
    """
    n = counts.sum(axis=1)
    base = np.log(ratio) + np.log((k + 0.5) / (n - k - 0.5))[:, None]
    shift, small, sure = _tilt(counts, base, k)
    spread = np.sqrt((counts * small * (1 - small)).sum(axis=1))
    angle = 2 * np.arcsin(np.minimum(np.sqrt(0.5 * _DEPTH) / spread, 1.0))
    theta = angle[:, None] * (np.arange(_ANGLES + 1) / _ANGLES)
    sine, cosine = np.sin(theta / 2), np.cos(theta / 2)
    log_size, phase = np.zeros(theta.shape), np.zeros(theta.shape)
    for count, chance, flip in zip(counts.T[:, :, None], small.T[:, :, None], sure.T[:, :, None], strict=True):
        noise = 4 * chance * (1 - chance)
        far = noise * sine * sine > 0.5
        near = np.log1p(-np.where(far, 0.0, noise * sine * sine))
        log_size += 0.5 * count * np.where(far, np.log((1 - 2 * chance) ** 2 + noise * cosine * cosine), near)
        turn = np.arctan2(2 * chance * sine * cosine, 1 - 2 * chance * sine * sine) - chance * theta
        phase += count * np.where(flip, -turn, turn)
    weight = np.exp(log_size)
    weight[:, [0, -1]] *= 0.5
    even, odd = (weight * np.cos(phase) * cosine).sum(axis=1), (weight * np.sin(phase) * sine).sum(axis=1)
    return (k + 1) / (k + 0.5) * ((n - k - 0.5) / (n - k)) * np.exp(-shift) * ((even + odd) / (even - odd))


def _tilt(counts: np.ndarray, base: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The common shift of the log odds ``base`` at which the mean number of successes is k + 1/2.

    With it, for every kind of report, the smaller of the chances of success and of failure, and whether it is failure:
    counted so, a mean of 10^9 keeps its fraction. Newton's method, safeguarded by bisection.
    """
    seen = counts > 0
    offset = np.log(counts.sum(axis=1) - k - 0.5) - math.log(k + 0.5)  # minus the log odds of (k + 1/2)/n
    low = -(np.where(seen, base, -np.inf).max(axis=1) + offset)
    high = -(np.where(seen, base, np.inf).min(axis=1) + offset)
    shift = 0.5 * (low + high)
    for _ in range(200):
        odds = base + shift[:, None]
        sure = odds > 0
        small = 1 / (1 + np.exp(np.minimum(np.abs(odds), 700)))
        surplus = (counts * sure).sum(axis=1) - k + (counts * np.where(sure, -small, small)).sum(axis=1) - 0.5
        low, high = np.where(surplus < 0, shift, low), np.where(surplus > 0, shift, high)
        new = shift - surplus / np.maximum((counts * small * (1 - small)).sum(axis=1), 1e-300)
        new = np.where((low <= new) & (new <= high), new, 0.5 * (low + high))
        if np.all(np.abs(new - shift) <= 4e-16 * np.abs(new) + 1e-300):
            break
        shift = new
    return shift, small, sure


def residual_moment(channel, n, ones=0, order=2) -> float:
    r"""Moment of what the likelihood ratio keeps beyond its best straight line, for a channel with two outputs.

    With N the number of reports of the second output under :math:`T_k`, of variance V, the best affine approximation of
    :math:`L = T_{k+1}/T_k` in mean square is :math:`1 + (b-a)(N - EN)/V`, where a and b are the probabilities of that
    output. The residual is :math:`R = L - 1 - (b-a)(N-EN)/V`.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs, two outputs, no zero entry.
    n : int
        Number of users, ``2 <= n <= 10**6``.
    ones : int
        How many of them hold 1, ``0 <= ones <= n - 1``. At 0 the ratio is affine and R vanishes up to rounding.
    order : int
        Which moment, from 1 (always 0 up to rounding) to 8.

    Returns
    -------
    float
        :math:`E_{T_k}[R^r]`; summed over the counts within 12 standard deviations. R is rounded by about 1e-15.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.lin.residual``, ``ext.lin.residual``: :math:`n^rE[R^r]` has a limit.
    """
    rows = two_input_rows(channel, full_support=True)
    if rows.shape[1] != 2:
        raise DomainError(f"channel must have two outputs, got {rows.shape[1]}")
    n = integer("n", n, at_least=2, at_most=10**6)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    order = integer("order", order, at_least=1, at_most=8)
    first, second = _binomial(n - ones, *rows[0]), _binomial(ones, *rows[1])
    law = np.convolve(first[1], second[1])
    count = first[0] + second[0] + np.arange(len(law))
    variance = (n - ones) * rows[0].prod() + ones * rows[1].prod()
    mean = (n - ones) * rows[0, 1] + ones * rows[1, 1]
    ratio = likelihood_ratio(channel, np.stack([n - count, count], axis=1), ones)
    residual = ratio - 1 - (rows[1, 1] - rows[0, 1]) * (count - mean) / variance
    return math.fsum(law * residual**order)


def _binomial(size: int, q: float, p: float) -> tuple[float, np.ndarray]:
    """First count and probabilities, from there on, of a binomial law, where they matter."""
    reach = 12 * math.sqrt(size * p * q) + 60
    first, last = max(math.floor(size * p - reach), 0), min(math.ceil(size * p + reach), size)
    count = np.arange(first, last + 1.0)
    trials = np.full(count.shape, float(size))
    if size == 0:
        return 0.0, np.ones(1)
    return float(first), np.exp(log_binomial_probability(trials, p, q, count, count - size * p))
