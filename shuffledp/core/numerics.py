"""Log-space arithmetic and root finding that ends on the guaranteed side."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

__all__ = [
    "divide_up",
    "expm1_minus",
    "golden_section",
    "log1p_minus",
    "log_add_exp",
    "log_expm1",
    "log_sum_exp",
    "safe_root",
    "stirling_remainder",
]


def log_expm1(x: float) -> float:
    """``log(e**x - 1)`` for ``x > 0``: full relative accuracy for tiny ``x``, no overflow for large ``x``."""
    return math.log(math.expm1(x)) if x < 1 else x + math.log1p(-math.exp(-x))


def log_add_exp(a: float, b: float) -> float:
    """``log(e**a + e**b)``; ``-inf`` is the log of zero."""
    low, high = sorted((a, b))
    return high if low == -math.inf or high == math.inf else high + math.log1p(math.exp(low - high))


def log_sum_exp(logs: np.ndarray) -> float:
    """Log of the sum of ``e**logs``; ``-inf`` where there are none, or all are."""
    top = float(logs.max(initial=-math.inf))
    return top if top == -math.inf else top + math.log(np.exp(logs - top).sum())


def divide_up(a: float, b: float) -> float:
    """Smallest double that is at least ``a / b`` exactly, for ``a, b > 0``; ``inf`` where the quotient overflows."""
    quotient = a / b
    if quotient < math.inf and Fraction(quotient) * Fraction(b) < Fraction(a):
        return math.nextafter(quotient, math.inf)
    return quotient


def log1p_minus(x: np.ndarray) -> np.ndarray:
    """``log(1 + x) - x`` for an array: full relative accuracy near 0; never positive for real ``x > -1``."""
    size = np.abs(x)
    largest = float(size.max(initial=0.0))
    if largest < 0.2:
        return _log1p_minus_series(x, largest)
    small = size < 0.2
    return np.where(small, _log1p_minus_series(np.where(small, x, 0.0), 0.2), np.log(1 + x) - x)


def expm1_minus(x: np.ndarray) -> np.ndarray:
    """``e**x - 1 - x`` for a real or complex array, by its series near 0."""
    small = np.abs(x) < 0.3
    y = np.where(small, x, 0.0)
    series = 1 / math.factorial(15)
    for k in range(14, 1, -1):
        series = series * y + 1 / math.factorial(k)
    return np.where(small, series * y * y, np.expm1(x) - x)


def _log1p_minus_series(x: np.ndarray, largest: float) -> np.ndarray:
    """``2 artanh(r) - x = 2 r^3 (1/3 + r^2/5 + ...) - r x`` at ``r = x/(2 + x)``, with the terms ``|x|`` needs."""
    r = x / (2 + x)
    square = r * r
    bound = (largest / (2 - largest)) ** 2
    last = 3 + 2 * min(8, int(-39 / math.log(bound + 1e-300)))
    series = np.full_like(square, 1 / last)
    for k in range(last - 2, 1, -2):
        series *= square
        series += 1 / k
    return r * (2 * square * series - x)


# log k! - k log k + k for k < 16: exact factorials, rounded once
_SMALL_REMAINDERS = np.array([0.0] + [math.log(math.factorial(k)) - k * math.log(k) + k for k in range(1, 16)])


def stirling_remainder(k: np.ndarray) -> np.ndarray:
    """``log k! - k log k + k`` for an array of whole numbers ``k >= 0`` (0 at 0), absolute error below 1e-14."""
    k = np.asarray(k, float)
    if k.min(initial=16.0) >= 16:
        return _stirling_series(k)
    small = _SMALL_REMAINDERS[np.minimum(k, 15).astype(int)]
    return np.where(k < 16, small, _stirling_series(np.maximum(k, 16.0)))


def _stirling_series(k: np.ndarray) -> np.ndarray:
    y = 1 / (k * k)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - y / 1188) * y) * y) * y) / k
    return 0.5 * np.log(2 * np.pi * k) + series


def safe_root(f: Callable[[float], float], unsafe: float, safe: float, *, rtol: float = 4e-16) -> float:
    """Cross from ``f > 0`` to ``f <= 0`` and stop on the side where ``f <= 0``.

    Parameters
    ----------
    f : callable
        A continuous function of one real number with ``f(unsafe) > 0 >= f(safe)``; ``unsafe`` may lie on either side.
    unsafe, safe : float
        The bracket.
    rtol : float
        Stop when the bracket is at most ``rtol * |safe end|`` wide (or has no double inside).

    Returns
    -------
    float
        A point where ``f`` was evaluated and found ``<= 0``: the safe end of the last bracket, never its unsafe end.

    Raises
    ------
    ArithmeticError
        If the bracket does not satisfy ``f(unsafe) > 0 >= f(safe)``.

    Notes
    -----
    Chandrupatla's method: inverse quadratic interpolation where the last three points promise that it converges,
    bisection elsewhere. A step never lands closer to an end than half the tolerance, so that the bracket closes from
    both sides.
    """
    new, f_new, old, f_old = safe, f(safe), unsafe, f(unsafe)
    if not (f_old > 0 >= f_new):
        raise ArithmeticError(f"no bracket: f({unsafe!r}) = {f_old!r}, f({safe!r}) = {f_new!r}")
    share = 0.5  # of the way from the newest point to the other end of the bracket
    while True:
        safe, f_safe = (new, f_new) if f_new <= 0 else (old, f_old)
        width = abs(new - old)
        tolerance = max(rtol * abs(safe), math.ulp(safe))
        if f_safe == 0 or width <= tolerance:
            return safe
        edge = 0.5 * tolerance / width
        x = new + min(max(share, edge), 1 - edge) * (old - new)
        if x in (new, old):
            x = new + 0.5 * (old - new)
        value = f(x)
        if math.isnan(value):
            raise ArithmeticError(f"f({x!r}) is not a number")
        if (value > 0) == (f_new > 0):
            last, f_last = new, f_new
        else:
            last, f_last, old, f_old = old, f_old, new, f_new
        new, f_new = x, value
        share = _inverse_quadratic_share(new, f_new, old, f_old, last, f_last)


def _inverse_quadratic_share(new, f_new, old, f_old, last, f_last) -> float:
    """Where between new (0) and old (1) the inverse quadratic through three points is 0; 0.5 if it may not converge."""
    if not (math.isfinite(f_old) and math.isfinite(f_last) and math.isfinite(f_new)):
        return 0.5
    if f_last in (f_old, f_new):
        return 0.5
    place, height = (new - old) / (last - old), (f_new - f_old) / (f_last - f_old)
    if not (height * height < place and (1 - height) ** 2 < 1 - place):
        return 0.5
    by_old = f_new / (f_old - f_new) * (f_last / (f_old - f_last))
    return by_old + (last - new) / (old - new) * (f_new / (f_last - f_new)) * (f_old / (f_last - f_old))


def golden_section(f: Callable[[float], float], low: float, high: float, rounds: int) -> float:
    """Where f, falling and then rising between the ends, is least: the better of the last two points evaluated."""
    share = (math.sqrt(5) - 1) / 2
    x, y = high - share * (high - low), low + share * (high - low)
    f_x, f_y = f(x), f(y)
    for _ in range(rounds):
        if f_x <= f_y:
            high, y, f_y = y, x, f_x
            x = high - share * (high - low)
            f_x = f(x)
        else:
            low, x, f_x = x, y, f_y
            y = low + share * (high - low)
            f_y = f(y)
    return x if f_x <= f_y else y
