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

from ..core.curves import PrivacyCurve, SlowCurve
from ..core.domain import MAX_USERS, choice, integer, real
from ..core.engine import log_binomial_excess, log_two_group_excess
from ..core.losses import BinomialLoss

__all__ = ["shuffled_rr"]

_EXACT = Context(prec=50)
_FINE = Context(prec=400)  # q to 50 digits even where it is e^-700
_SCANNED_USERS = 1000  # up to here the worst composition is found exactly
_MIN_EPSILON0 = 1e-15  # below it the parts of e^epsilon0 - 1 are lost
_MAX_EPSILON0 = 700  # e^epsilon0 must be a double
_MAX_MIXED_EPSILON0 = 600  # with others who differ the threshold is a multiple of e^epsilon0, at most 1e280


def shuffled_rr(epsilon0, n, ones=0, direction="both") -> PrivacyCurve:
    r"""Exact privacy curve of n users' binary randomized response, shuffled.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; ``1e-15 <= epsilon0 <= 700``, at most 600 unless all others are alike.
    n : int
        Number of users, ``2 <= n <= 10**15``.
    ones : int or "worst"
        How many of the n users hold 1 before the change, which turns one user's 0 into 1: ``0 <= ones <= n - 1``. With
        ``"worst"`` delta is the largest over all compositions, at each epsilon.
    direction : {"both", "forward", "reverse"}
        ``"forward"`` is the hockey-stick divergence of the law after the change (``ones + 1``) from the law before,
        ``"reverse"`` the other way round. The guarantee needs ``"both"``, the larger of the two. Over all compositions
        the directions agree: swapping the labels turns one into the other.

    Returns
    -------
    PrivacyCurve
        Exact: error of ``log_delta`` at most 1e-12 with all others alike (``ones`` 0 or n - 1), 1e-11 otherwise, or
        1e-14 of its size where that is larger (unless all others are alike, 1e-7 of its size below -5,000,000). Cost
        per epsilon O(1) in n. Delta is 0 from ``epsilon0`` on.

        ``"worst"``: an upper bound, certified by branch and bound at each epsilon (some hundred to some thousand
        evaluations). Its log is never below that of the largest delta; up to n = 1000 it is exact, beyond it exceeds it
        by at most 0.01 plus 0.05 % of its size. Its ``epsilon`` is safe, and found to a relative 1e-6.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.exact.canonical``, ``shvets26.exact.general``, ``ext.exact.worst``. With all others alike the
    likelihood ratio of :math:`T_1` to :math:`T_0` is linear in the count t,
    :math:`e^{-\varepsilon_0} + (t/n)\,2\sinh\varepsilon_0`, so both directions are expected excesses of a binomial
    count over a threshold. With any others the ratio still increases with the count: the best set is a half line.
    """
    epsilon0 = real("epsilon0", epsilon0, at_least=_MIN_EPSILON0, at_most=_MAX_EPSILON0)
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    direction = choice("direction", direction, ("both", "forward", "reverse"))
    name = f"binary randomized response, shuffled: epsilon0 = {epsilon0:g}, n = {n:g}, ones = {ones}, {direction}"
    if ones not in (0, n - 1):
        real("epsilon0", epsilon0, at_most=_MAX_MIXED_EPSILON0)
    if isinstance(ones, str):
        choice("ones", ones, ("worst",))
        return _WorstComposition(epsilon0, n, name)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    rising = {"both": (True, False), "forward": (True,), "reverse": (False,)}[direction]
    if ones in (0, n - 1):
        if ones:  # swapping the labels 0 and 1 turns T_{n-1}, T_n into T_1, T_0
            rising = tuple(not up for up in rising)
        log_delta, accuracy = _canonical_log_delta(epsilon0, n, rising), 1e-12
        laws = tuple(BinomialLoss(epsilon0, n, up) for up in rising)
    else:
        log_delta, accuracy, laws = _general_log_delta(epsilon0, n, ones, rising), 1e-11, ()
    return PrivacyCurve(
        log_delta,
        name=name,
        kind="exact",
        accuracy=accuracy,
        epsilon_max=epsilon0,
        scale=_gaussian_scale(epsilon0, n),
        loss_laws=laws,
    )


def _gaussian_scale(epsilon0: float, n: int) -> float:
    """mu of the Gaussian limit, the same for every composition."""
    return 2 * math.sinh(epsilon0 / 2) / math.sqrt(n)


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
        # the threshold is rounded by some 1e-16 of its parts: leave that where it is below 1e-13 of the mean excess
        fine = ((part + np.abs(shift)) / 1000 - distance) * (1 - odds) < odds
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


def _forward(epsilon0: float) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Log of the forward delta as a function of (zeros, ones) among the other users, and epsilon."""
    flip, keep = 1 / (1 + math.exp(epsilon0)), 1 / (1 + math.exp(-epsilon0))
    unit = 1 << 160
    fixed = int(_FINE.divide(unit, _FINE.add(_FINE.exp(Decimal(epsilon0)), 1)))  # q in units of 2^-160

    def log_delta(zeros: np.ndarray, ones: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
        means = [divmod((int(z) - int(o)) * fixed, unit) for z, o in zip(zeros, ones, strict=True)]
        whole = np.array([float(w) for w, _ in means])
        part = np.array([p / unit for _, p in means])
        gain = -keep * np.expm1(epsilon - epsilon0)  # (1-q) - e^epsilon q
        return log_two_group_excess(flip, zeros, ones, (whole, part), np.expm1(epsilon) / gain, np.log(gain))

    return log_delta


def _general_log_delta(epsilon0: float, n: int, ones: int, rising: tuple[bool, ...]):
    """Log delta of ``T_ones`` and ``T_{ones+1}`` as a function of epsilon; reverse is forward with swapped labels."""
    forward = _forward(epsilon0)
    groups = [(n - 1 - ones, ones) if up else (ones, n - 1 - ones) for up in rising]

    def log_delta(epsilon: np.ndarray) -> np.ndarray:
        logs = [forward(*(np.array([float(size)]) for size in group), epsilon) for group in groups]
        return np.minimum(np.max(logs, axis=0), 0.0)

    return log_delta


class _WorstComposition(SlowCurve):
    r"""A certified upper bound of the largest delta over all compositions.

    Write :math:`\delta(a, b)` for the forward delta with a zeros and b ones among the others. Further independent
    reports are post-processing, so it decreases in a and in b, and on a cell :math:`k_1 \le k \le k_2` of numbers of
    ones the forward delta is at most :math:`\delta(n-1-k_2, k_1)`. Cells whose bound exceeds the best value attained by
    more than the tolerance are split.
    """

    def __init__(self, epsilon0: float, n: int, name: str):
        super().__init__(
            self._bounds,
            scale=_gaussian_scale(epsilon0, n),
            rtol=1e-6,
            name=name,
            kind="upper bound",
            accuracy=1e-11,
            epsilon_max=epsilon0,
        )
        self._n = n
        self._forward = _forward(epsilon0)

    def _bounds(self, epsilon: np.ndarray) -> np.ndarray:
        return np.array([self._bound(float(e)) for e in epsilon])

    def _bound(self, epsilon: float) -> float:
        n = self._n

        def forward(zeros: np.ndarray, ones: np.ndarray) -> np.ndarray:
            return self._forward(zeros.astype(float), ones.astype(float), np.array([epsilon]))

        tilt = min(epsilon / self.scale / self.scale, 0.5)  # asymptotically the worst: (1/2 + tilt) n ones
        trial = np.array([0, n - 1, min(int((0.5 + tilt) * n), n - 1)])
        low, high = np.array([0]), np.array([n - 1])
        best = certified = -math.inf
        while low.size:
            trial = np.append(trial, (low + high) // 2)
            best = max(best, forward(n - 1 - trial, trial).max())
            bound = forward(n - 1 - high, low)
            slack = 0.0 if n <= _SCANNED_USERS else 0.01 + 5e-4 * abs(best)
            split = (bound > best + slack) & (low < high)
            certified = max(certified, bound[~split].max(initial=-math.inf))
            low, width = low[split, None], (high - low + 1)[split, None]
            edges = low + width // 8 * np.arange(9) + np.minimum(width % 8, np.arange(9))
            low, high, trial = edges[:, :-1].ravel(), edges[:, 1:].ravel() - 1, trial[:0]
            low, high = low[low <= high], high[low <= high]
        return min(max(best, certified), 0.0)
