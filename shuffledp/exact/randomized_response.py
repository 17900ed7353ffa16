r"""Binary randomized response, shuffled: exact privacy curves at any number of users.

Each of n users holds a bit, flips it with probability :math:`q = 1/(1+e^{\varepsilon_0})` and sends it to the shuffler,
so that only the number of ones sent is seen. :math:`T_k` is its law when k of the n users hold 1; neighbours are
:math:`T_k` and :math:`T_{k+1}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np

from ..core.curves import PrivacyCurve
from ..core.domain import DomainError, choice, integer, real
from ..core.engine import log_binomial_excess

__all__ = ["shuffled_rr"]

_EXACT = Context(prec=50)
_MAX_EPSILON0 = 700  # e^epsilon0 must be a double
_MAX_USERS = 10**15  # every count must be a double, with room for fractions of its spread


def shuffled_rr(epsilon0, n, ones=0, direction="both") -> PrivacyCurve:
    r"""Exact privacy curve of n users' binary randomized response, shuffled.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; ``0 < epsilon0 <= 700``.
    n : int
        Number of users, ``2 <= n <= 10**15``.
    ones : int
        How many of the n users hold 1 before the change, which turns one user's 0 into 1. Available: ``0`` (all others
        hold 0) and ``n - 1`` (all others hold 1).
    direction : {"both", "forward", "reverse"}
        ``"forward"`` is the hockey-stick divergence of the law after the change (``ones + 1``) from the law before,
        ``"reverse"`` the other way round. The guarantee needs ``"both"``, the larger of the two.

    Returns
    -------
    PrivacyCurve
        Exact: relative error of delta at most 1e-12 (of ``log_delta`` 1e-14 where that is larger). Delta is 0 from
        ``epsilon0`` on. Cost per epsilon O(1) in n.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.exact.canonical``, ``shvets26.lr.canonical``. With all others at 0 the likelihood ratio of
    :math:`T_1` to :math:`T_0` is linear in the count t, :math:`e^{-\varepsilon_0} + (t/n)\,2\sinh\varepsilon_0`, so
    both directions are expected excesses of a binomial count over a threshold.
    """
    epsilon0 = real("epsilon0", epsilon0, above=0, at_most=_MAX_EPSILON0)
    n = integer("n", n, at_least=2, at_most=_MAX_USERS)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    direction = choice("direction", direction, ("both", "forward", "reverse"))
    if ones not in (0, n - 1):
        raise DomainError(f"ones must be 0 or n - 1 (the only compositions available), got {ones} of n = {n}")
    rising = {"both": (True, False), "forward": (True,), "reverse": (False,)}[direction]
    if ones:  # swapping the labels 0 and 1 turns T_{n-1}, T_n into T_1, T_0
        rising = tuple(not up for up in rising)

    return PrivacyCurve(
        _canonical_log_delta(epsilon0, n, rising),
        name=f"binary randomized response, shuffled: epsilon0 = {epsilon0:g}, n = {n:g}, ones = {ones}, {direction}",
        kind="exact",
        accuracy=1e-12,
        epsilon_max=epsilon0,
    )


def _canonical_log_delta(epsilon0: float, n: int, rising: tuple[bool, ...]) -> Callable[[np.ndarray], np.ndarray]:
    r"""Log delta as a function of epsilon: the larger of ``T_1`` against ``T_0`` (True) and ``T_0`` against ``T_1``.

    With :math:`c = 2\sinh\varepsilon_0`, :math:`T \sim \mathrm{Bin}(n, q)` and
    :math:`t_\pm = n\,(e^{\pm\varepsilon} - e^{-\varepsilon_0})/c = nq \pm n\,|e^{\pm\varepsilon}-1|/c`, the two are
    :math:`\tfrac cn E(T - t_+)_+` and :math:`e^\varepsilon\tfrac cn E(t_- - T)_+`; in the second the zeros are counted.
    """
    growth = _EXACT.exp(Decimal(epsilon0))
    mean = _EXACT.divide(n, _EXACT.add(growth, 1))  # n q to 50 digits: its fraction decides the distance d below
    whole = int(mean)
    part = float(_EXACT.subtract(mean, whole))
    flip, keep = 1 / (1 + math.exp(epsilon0)), 1 / (1 + math.exp(-epsilon0))
    log_scale = epsilon0 + math.log(-math.expm1(-2 * epsilon0)) - math.log(n)  # log(c/n)

    up = np.array(rising)[:, None]  # one row per direction
    sign = np.where(up, 1.0, -1.0)
    p, q = np.where(up, flip, keep), np.where(up, keep, flip)
    lowest, highest = np.where(up, 1 - whole, -whole), np.where(up, n - whole, 0)
    scale = math.exp(-log_scale)

    def log_delta(epsilon: np.ndarray) -> np.ndarray:
        # everything on the count axis is measured from `whole`: the threshold, and the first count beyond it
        shift = np.expm1(sign * epsilon) * scale
        threshold = part + shift
        first = np.maximum(np.minimum(np.where(up, np.ceil(threshold), np.floor(threshold)), highest), lowest)
        distance = sign * (first - threshold)
        beyond = np.where(up, highest - first, first + whole)  # counts left beyond the first
        log_unit = log_scale + np.where(up, 0.0, epsilon)
        unit = np.exp(np.minimum(log_unit, 700))
        gap = unit * distance

        odds = beyond * p / ((n - beyond + 1) * q)  # ratio of the next two probabilities: the rest is odds/(1-odds)
        fine = ((part + np.abs(shift)) / 300 - distance) * (1 - odds) < odds
        fine &= (distance > 0) & (log_unit < 600)
        if not fine.all():
            for i, k in np.argwhere(~fine):
                first[i, k], gap[i, k] = _first_beyond(growth, n, float(epsilon[k]), rising[i], whole)
            beyond = np.where(up, highest - first, first + whole)
        slope = np.where(beyond > 0, unit, 0.0) * beyond
        logs = log_binomial_excess(n, p, q, n - beyond, sign * (first - part), gap, slope)
        return np.minimum(logs.max(axis=0), 0.0)

    return log_delta


def _first_beyond(growth: Decimal, n: int, epsilon: float, up: bool, whole: int) -> tuple[float, float]:
    """The first count beyond the threshold, less ``whole``, and its scaled distance, to 50 digits."""
    ratio = _EXACT.exp(Decimal(epsilon if up else -epsilon))
    floor = _EXACT.divide(1, growth)
    scale = _EXACT.divide(_EXACT.subtract(growth, floor), n)
    threshold = _EXACT.divide(_EXACT.subtract(ratio, floor), scale)
    first = math.ceil(threshold) if up else math.floor(threshold)
    gap = _EXACT.multiply(_EXACT.subtract(first, threshold).copy_abs(), scale)
    return float(first - whole), float(gap if up else _EXACT.divide(gap, ratio))
