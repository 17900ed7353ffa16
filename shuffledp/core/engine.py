r"""Expected positive parts, the common form of every single-message curve.

For a single-message protocol :math:`\delta(\varepsilon) = \tfrac1n\,E(G_1+\dots+G_n)_+` with independent, identically
distributed :math:`G_i`. Here is the evaluator for two-valued :math:`G`, a binomial count above a threshold.
"""

from __future__ import annotations

import numpy as np

from .numerics import log1p_minus, stirling_remainder

__all__ = ["log_binomial_excess"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2
_DEPTH = 42.0  # the integral is cut where its weight is below e^-42


def log_binomial_excess(n, p, q, m, d, gap, slope) -> np.ndarray:
    r"""Log of :math:`a\,E(T-t)_+` for a binomial count :math:`T \sim \mathrm{Bin}(n, p)`, a threshold t at or above the
    mean, and a scale :math:`a > 0`. Cost O(1) in n.

    Parameters
    ----------
    n, p, q : ndarray
        Users, success probability and its complement ``q = 1 - p``, each accurate on its own.
    m : ndarray
        The first count above the threshold, :math:`\lceil t \rceil`, a whole number between 1 and n.
    d : ndarray
        ``m - n p``, at least 0, computed by the caller without cancellation: the result depends on it through
        :math:`d^2/2npq`.
    gap : ndarray
        ``a (m - t)``, at least 0.
    slope : ndarray
        ``a (n - m)``.

    Returns
    -------
    ndarray
        Natural log, ``-inf`` where both ``gap`` and ``slope`` are 0.

    Notes
    -----
    With :math:`b(m)` the binomial probability of m and :math:`r = p/q`,

    .. math:: E(T-t)_+ = b(m)\,m\int_0^1 (1-v)^{m-1}(1+rv)^{n-m}\Big[(m-t) + (n-m)\frac{rv}{1+rv}\Big]dv .

    It follows from :math:`\tfrac{d}{dx}E_x[(T-t);T\ge m] = n[(m-t)\,b_{n-1}(m-1) + P_{n-1}(T\ge m)]`, integrated over
    the success probability x from 0 to p, the second part by parts. Every term is positive, so nothing cancels, in the
    bulk or in the tail. The integrand is log-concave and entire: 32 Gauss-Legendre nodes give it to rounding (24
    suffice). The probability b(m) is written by deviances, with d as given.
    """
    r, j = p / q, n - m
    counts, means, distances = np.stack([m, j]), np.stack([n * p, n * q]), np.stack([d, -d])
    log_pmf = stirling_remainder(n) - np.sum(stirling_remainder(counts) + _deviance(counts, means, distances), axis=0)
    start = 1 - d / q  # derivative of the log weight at v = 0
    cut = _cut(m, j, r, start)
    v = cut[..., None] * _NODES
    rv = r[..., None] * v
    log_weight = (m - 1)[..., None] * log1p_minus(-v) + j[..., None] * log1p_minus(rv) + start[..., None] * v
    integral = (np.exp(log_weight) * (gap[..., None] + slope[..., None] * (rv / (1 + rv)))) @ _WEIGHTS
    with np.errstate(divide="ignore"):
        return log_pmf + np.log(m * cut) + np.log(integral)


def _deviance(x, mean, d) -> np.ndarray:
    """``x log(x/mean) - (x - mean)`` for ``d = x - mean``: no cancellation where x is close to the mean."""
    positive = np.maximum(x, 0.5)  # at x = 0 the deviance is the mean
    u = -d / positive
    near = (np.abs(u) < 0.2) & (x > 0)
    out = -positive * log1p_minus(np.where(near, u, 0.0))
    if not near.all():
        out = np.where(near, out, np.where(x == 0, mean, positive * np.log(positive / mean) - d))
    return out


def _cut(m, j, r, start) -> np.ndarray:
    r"""A point, at most 1, beyond which the weight :math:`(1-v)^{m-1}(1+rv)^j` is below :math:`e^{-42}`.

    By :math:`\log(1-v) \le -v - v^2/2` and :math:`\log(1+x) \le x - (x^2/2)/(1 + 2x/3)` the log weight is below
    :math:`sv - Av^2/2 - (B v^2/2)/(1 + bv)` with the start s, ``A = m - 1``, ``B = j r^2`` and ``b = 2r/3``; the cut
    solves the quadratic left when the term :math:`A b v^3` is dropped.
    """
    b = np.where(j > 0, (2 / 3) * r, 0.0)
    curvature = (m - 1) + j * r * r - 2 * start * b
    linear = start + _DEPTH * b
    root = np.sqrt(linear * linear + 2 * _DEPTH * curvature) + np.abs(linear)
    rising = linear > 0  # of the two forms of the solution, the one that does not cancel
    top, bottom = np.where(rising, root, 2 * _DEPTH), np.where(rising, curvature, root)
    return np.where(top < bottom, top / np.maximum(bottom, top), 1.0)
