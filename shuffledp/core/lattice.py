r"""Expected positive part of a sum whose terms have a density and no exponential moment: from above, by a lattice.

The terms are those of the privacy blanket of Gaussian noise on [0, 1], for the inputs 0 and 1: with the infimum of the
two densities as measure of mass gamma,

.. math:: G = r - e^\varepsilon r',\qquad \min(r, r') = 1,

and 0 otherwise, so that :math:`\delta \le E(G_1+\dots+G_n)_+/n`. Three changes, each of which can only increase the
expectation: G is capped at c and :math:`E(G-c)_+` added, because positive parts are subadditive; values below a floor
are raised to it; and every value is split between its two neighbours on a lattice with the mean kept, an increase in
the convex order. The last needs only :math:`E(G-x)_+` and :math:`E(x-G)_+` on the lattice, which are closed forms:
claim ``ext.pb.exact.cont``.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from .four_atoms import saddle

__all__ = ["log_gaussian_excess"]

_FINENESS = 50  # lattice steps in one standard deviation of a term
_COMFORTABLE, _LARGEST = 2**20, 2**23  # points of a transform: tried for, and at most
_NOISE = 1e-15  # of the transform, relative to its largest value; added, so that the result stays a bound
_DEVIATIONS = 12  # of the tilted sum, on either side of its mean, that the transform holds
_SHARE = 1e-3  # of the result that the excess over the cap may make up


def log_gaussian_excess(sigma: float, gamma: float, second: float, epsilon: float, n: int) -> float:
    r"""Upper bound of the log of :math:`E(G_1+\dots+G_n)_+/n` for Gaussian noise; too large by less than a per cent.

    Parameters
    ----------
    sigma, gamma : float
        Standard deviation of the noise; mass of its blanket.
    second : float
        :math:`E G^2`, which sets the step of the lattice.
    epsilon : float
        At least 0.
    n : int
        Number of terms.

    Raises
    ------
    ArithmeticError
        If the lattice would need too many points: noise much smaller than the range, or n beyond some millions.
    """
    step = math.sqrt(second) / _FINENESS
    floor = math.floor(_where(sigma, epsilon, 1e-4 * math.sqrt(second / n), below=True) / step)
    goal, bound = 1e-3, math.inf
    while True:
        cap = math.ceil(_where(sigma, epsilon, goal) / step)
        if cap - floor > _LARGEST:
            raise ArithmeticError(f"sigma = {sigma!r} is too small for a lattice at epsilon = {epsilon!r}, n = {n}")
        beyond = float(_excess(sigma, math.exp(epsilon) + cap * step))
        inside = _log_excess(_weights(sigma, gamma, epsilon, step, floor, cap), step, floor, n) - math.log(n)
        bound = min(bound, np.logaddexp(inside, math.log(beyond)) if beyond > 0 else inside)
        if beyond <= 3 * _SHARE * math.exp(bound) or goal < 1e-290:
            return float(bound)
        goal = _SHARE * math.exp(bound)


def _excess(sigma, u):
    """The integral of ``(r - u)_+`` over the infimum of the two densities, for ``u >= 1``."""
    cut = 0.5 - sigma**2 * np.log(u)
    return ndtr(cut / sigma) - u * ndtr((cut - 1) / sigma)


def _where(sigma, epsilon, goal, below=False) -> float:
    """The value beyond which the excess of G is less than ``goal``; with ``below`` where the shortfall is."""
    e = math.exp(epsilon)
    low, high = (0.0, 1.0) if below else (epsilon, epsilon + 1)  # log u; G = u - e above, 1 - e u below

    def excess(log_u):
        return float(_excess(sigma, math.exp(log_u))) * (e if below else 1.0)

    while excess(high) > goal:
        low, high = high, 2 * high
        if high > 300:
            raise ArithmeticError(f"sigma = {sigma!r} is too small for a lattice")
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > goal else (low, middle)
    return 1 - e * math.exp(high) if below else math.exp(high) - e


def _weights(sigma, gamma, epsilon, step, floor, cap) -> np.ndarray:
    """Law of G on the points ``floor, ..., cap`` times ``step``, with the mean of the capped and raised G."""
    e = math.exp(epsilon)
    points = step * np.arange(floor, cap + 1)
    above = points >= 1 - e  # the value of G where r = r' = 1
    call = np.where(above, _excess(sigma, np.maximum(points + e, 1.0)), 0.0)
    put = np.where(above, 0.0, e * _excess(sigma, np.maximum((1 - points) / e, 1.0)))
    first_above = int(np.argmax(above))
    line = (1 - e) - gamma * points  # call - put
    weights = np.zeros(points.size)
    for values, other, sign, part in (
        (call, put, 1.0, slice(first_above, None)),
        (put, call, -1.0, slice(None, first_above)),
    ):
        # at the border the other function is continued by the line between them
        whole = np.where(above == (sign > 0), values, other + sign * line)
        inner = np.zeros(points.size)
        inner[1:-1] = whole[:-2] - 2 * whole[1:-1] + whole[2:]
        inner[0], inner[-1] = whole[1] - whole[0], whole[-2] - whole[-1]
        weights[part] = inner[part] / step
    weights = np.maximum(weights, 0.0)
    weights[-floor] += 1 - gamma
    return weights


def _log_excess(weights, step, floor, n) -> float:
    """Log of the expected positive part of the sum of n terms on the lattice, by one transform of a tilted law.

    At the saddle no digit is lost, but a heavy tail can make the tilted law very wide there: then it is tilted less.
    """
    points = np.arange(floor, floor + weights.size, dtype=float)
    theta = saddle(n, weights, points)
    while True:
        exponent = theta * points
        top = exponent.max()
        tilted = weights * np.exp(exponent - top)
        total = tilted.sum()
        tilted /= total
        mean = float(tilted @ points)
        spread = math.sqrt(n * float(tilted @ (points - mean) ** 2))
        width = 2 * _DEVIATIONS * spread + 2 * abs(n * mean)
        if width <= max(_COMFORTABLE, 2 * weights.size) or theta * points[-1] < 1:
            break
        theta *= 0.7
    size = 2 ** math.ceil(math.log2(max(width, 2 * weights.size)))
    if size > _LARGEST:
        raise ArithmeticError(f"a lattice for n = {n} terms would need {size} points")
    circle = np.zeros(size)
    circle[np.arange(floor, floor + weights.size) % size] = tilted
    transform = np.fft.rfft(circle)
    law = np.fft.irfft(np.exp(n * np.log(np.where(transform == 0, 1e-300, transform))), size)
    s = np.arange(1, size // 2, dtype=float)
    part = s * np.exp(-theta * s)
    noise = _NOISE * float(law.max()) * float(part.sum())
    positive = float(part @ np.maximum(law[1 : size // 2], 0.0))
    if noise > _SHARE * positive:
        raise ArithmeticError(f"the transform for n = {n} terms is too noisy")
    return n * (top + math.log(total)) + math.log(positive + noise) + math.log(step)
