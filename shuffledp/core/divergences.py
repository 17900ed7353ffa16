"""Divergences between two laws on the same finite set, in nats."""

from __future__ import annotations

import math

import numpy as np

from .domain import DomainError, probability_vector, real_array
from .numerics import log1p_minus

__all__ = ["chi_square", "hockey_stick", "jensen_shannon", "kullback_leibler", "midpoint_generator", "total_variation"]


def _pair(p, q) -> tuple[np.ndarray, np.ndarray]:
    p, q = probability_vector("p", p), probability_vector("q", q)
    if p.shape != q.shape:
        raise DomainError(f"p and q must be laws on the same set, got shapes {p.shape} and {q.shape}")
    return p, q


def hockey_stick(p, q, epsilon):
    r"""Hockey-stick divergence :math:`\sum_y (p(y) - e^\varepsilon q(y))_+`: the smallest delta for that order.

    Parameters
    ----------
    p, q : array_like
        Two laws on the same finite set (one-dimensional, non-negative, summing to 1).
    epsilon : float or array_like
        Natural log of the order; at least 0.

    Returns
    -------
    float or ndarray
        Same shape as ``epsilon``, between 0 and `total_variation`. One direction only: a mechanism needs the larger of
        ``hockey_stick(p, q, epsilon)`` and ``hockey_stick(q, p, epsilon)``.

    Raises
    ------
    DomainError
        If an argument is not a law, the shapes differ, or epsilon is negative, nan or infinite.
    """
    p, q = _pair(p, q)
    epsilons = real_array("epsilon", epsilon, at_least=0)
    support = p > 0
    p, q = p[support], q[support]
    with np.errstate(divide="ignore"):  # q = 0: the whole of p(y) counts, at any order
        log_ratio = np.log(q) - np.log(p)
    # p (1 - e^(epsilon + log q - log p)): no overflow, and no cancellation between p and e^epsilon q
    gain = -np.expm1(np.minimum(epsilons[..., None] + log_ratio, 0.0))
    out = gain @ p
    return float(out) if epsilons.ndim == 0 else out


def total_variation(p, q) -> float:
    r"""Total variation distance :math:`\tfrac12\sum_y |p(y) - q(y)|`, in [0, 1]; raises `DomainError` for non-laws."""
    p, q = _pair(p, q)
    return 0.5 * math.fsum(np.abs(p - q))


def kullback_leibler(p, q) -> float:
    r"""Kullback-Leibler divergence :math:`\sum_y p(y) \log(p(y)/q(y))` in nats; ``inf`` where q is 0 and p is not.

    Every term is written as :math:`p\,(e^{-t} - 1 + t) \ge 0` with :math:`t = \log(p/q)` (the terms added sum to zero),
    so that close laws keep relative accuracy. Raises `DomainError` for non-laws.
    """
    p, q = _pair(p, q)
    if np.any((p > 0) & (q == 0)):
        return math.inf
    both = p > 0
    a, b = p[both], q[both]
    x = (b - a) / a  # e^-t - 1: exact to rounding where the laws are close, and used only there
    near = np.abs(x) < 0.2
    term = np.where(near, -log1p_minus(np.where(near, x, 0.0)), x - (np.log(b) - np.log(a)))
    return math.fsum(a * term) + math.fsum(q[~both])


def chi_square(p, q) -> float:
    r"""Chi-square divergence :math:`\sum_y (p(y) - q(y))^2/q(y)`; ``inf`` where q vanishes and p does not.

    Raises `DomainError` for non-laws.
    """
    p, q = _pair(p, q)
    if np.any((p > 0) & (q == 0)):
        return math.inf
    support = q > 0
    p, q = p[support], q[support]
    return math.fsum((p - q) ** 2 / q)


def jensen_shannon(p, q) -> float:
    r"""Jensen-Shannon divergence in nats, equal weights, in [0, ln 2]; raises `DomainError` for non-laws.

    Written at the midpoint :math:`m = (p+q)/2` with :math:`x = (p-q)/(p+q)` as :math:`\sum_y m(y)\,g(x)`,
    :math:`g(x) = \tfrac12[(1+x)\log(1+x) + (1-x)\log(1-x)] \ge 0`, which does not cancel.
    """
    p, q = _pair(p, q)
    support = p + q > 0
    p, q = p[support], q[support]
    x = (p - q) / (p + q)
    return math.fsum(0.5 * (p + q) * midpoint_generator(x))


def midpoint_generator(x: np.ndarray) -> np.ndarray:
    r"""Generator of `jensen_shannon` at the midpoint, :math:`\tfrac12[(1+x)\log(1+x) + (1-x)\log(1-x)]`, elementwise.

    For an array x in [-1, 1]; between 0 and ln 2, even. By its series :math:`\sum_j x^{2j}/(2j(2j-1))` near 0.
    """
    square = x * x
    small = square < 0.05
    y = np.where(small, square, 0.0)
    series = np.zeros_like(y)
    for j in range(12, 0, -1):
        series = series * y + 1 / (2 * j * (2 * j - 1))
    away = np.where(small, 0.0, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_minus = np.where(away == 1, 0.0, (1 - away) * np.log1p(-away))
        log_plus = np.where(away == -1, 0.0, (1 + away) * np.log1p(away))
    return np.where(small, series * y, 0.5 * (log_plus + log_minus))
