r"""Expected positive parts, the common form of every single-message curve.

For a single-message protocol :math:`\delta(\varepsilon) = \tfrac1n\,E(G_1+\dots+G_n)_+` with independent, identically
distributed :math:`G_i`. Here are the evaluators of constant cost: two-valued :math:`G`, which is a binomial count above
a threshold, and the count of two groups of users. Four-valued :math:`G` is in `four_atoms`.
"""

from __future__ import annotations

import numpy as np

from .numerics import log1p_minus, stirling_remainder

__all__ = [
    "log_binomial_call",
    "log_binomial_excess",
    "log_binomial_outer",
    "log_binomial_probability",
    "log_two_group_excess",
]

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
    log_pmf = log_binomial_probability(n, p, q, m, d)
    start = 1 - d / q  # derivative of the log weight at v = 0
    cut = _cut(m, j, r, start)
    v = cut[..., None] * _NODES
    rv = r[..., None] * v
    log_weight = (m - 1)[..., None] * log1p_minus(-v) + j[..., None] * log1p_minus(rv) + start[..., None] * v
    integral = (np.exp(log_weight) * (gap[..., None] + slope[..., None] * (rv / (1 + rv)))) @ _WEIGHTS
    with np.errstate(divide="ignore"):
        return log_pmf + np.log(m * cut) + np.log(integral)


def log_binomial_probability(n, p, q, m, d) -> np.ndarray:
    """Log probability of the count m, by deviances from the means; ``d = m - n p`` comes without cancellation."""
    counts, means, distances = np.stack([m, n - m]), np.stack([n * p, n * q]), np.stack([d, -d])
    return stirling_remainder(n) - np.sum(stirling_remainder(counts) + _deviance(counts, means, distances), axis=0)


def log_binomial_call(n, p: float, q: float, threshold, above: bool = True) -> np.ndarray:
    r"""Log of :math:`E(T-t)_+`, or of :math:`E(t-T)_+` where not ``above``, for :math:`T \sim \mathrm{Bin}(n, p)`.

    The threshold t may lie anywhere; the value is as precise as t and n p are in double. On the side of the mean where
    the threshold is rarely passed it is `log_binomial_outer`; on the other side :math:`|np - t|` is added, by which
    the two differ.
    """
    outer = log_binomial_outer(n, p, q, threshold)
    mean, t = n * p, np.asarray(threshold, float)
    rarely = (t >= mean) == above
    if np.all(rarely):
        return outer
    with np.errstate(divide="ignore"):
        return np.where(rarely, outer, np.logaddexp(np.log(np.abs(mean - t)), outer))


def log_binomial_outer(n, p: float, q: float, threshold) -> np.ndarray:
    r"""Log of :math:`E(T-t)_+` for a threshold t from the mean of :math:`T \sim \mathrm{Bin}(n, p)` up, else of
    :math:`E(t-T)_+`.
    """
    n, t = np.broadcast_arrays(np.asarray(n, float), np.asarray(threshold, float))
    upper = t >= n * p
    possible = np.where(upper, t < n, t > 0)
    size, inside = np.where(possible, n, 1.0), np.where(possible, t, np.where(upper, 1 - 0.5 * q, 0.5 * p))
    first = np.where(upper, np.ceil(inside), np.floor(inside))
    beyond = np.where(upper, size - first, first)
    excess = log_binomial_excess(
        size,
        np.where(upper, p, q),
        np.where(upper, q, p),
        size - beyond,
        np.abs(first - size * p),
        np.abs(first - inside),
        beyond,
    )
    return np.where(possible, excess, -np.inf)


def _deviance(x, mean, d) -> np.ndarray:
    """``x log(x/mean) - (x - mean)`` for ``d = x - mean``: no cancellation where x is close to the mean."""
    positive = np.maximum(x, 0.5)  # at x = 0 the deviance is the mean
    u = -d / positive
    near = (np.abs(u) < 0.2) & (x > 0)
    out = -positive * log1p_minus(np.where(near, u, 0.0))
    if not near.all():
        out = np.where(near, out, np.where(x == 0, mean, positive * np.log(positive / np.maximum(mean, 1e-307)) - d))
    return out


def _cut(m, j, r, start) -> np.ndarray:
    r"""A point, at most 1, beyond which the weight :math:`(1-v)^{m-1}(1+rv)^j` is below :math:`e^{-42}`.

    By :math:`\log(1-v) \le -v - v^2/2` and :math:`\log(1+x) \le x - (x^2/2)/(1 + 2x/3)` the log weight is below
    :math:`sv - Av^2/2 - (B v^2/2)/(1 + bv)` with the start s, ``A = m - 1``, ``B = j r^2`` and ``b = 2r/3``; the cut
    solves the quadratic left when the term :math:`A b v^3`, which would bring it nearer, is dropped.
    """
    b = np.where(j > 0, (2 / 3) * r, 0.0)
    curvature = (m - 1) + j * r * r - 2 * start * b
    linear = start + _DEPTH * b
    root = np.sqrt(linear * linear + 2 * _DEPTH * curvature) + np.abs(linear)
    rising = linear > 0  # of the two forms of the solution, the one that does not cancel
    top, bottom = np.where(rising, root, 2 * _DEPTH), np.where(rising, curvature, root)
    return np.where(top < bottom, top / np.maximum(bottom, top), 1.0)


_ANGLES = 80  # trapezoid intervals on the upper half of the circle
_SHIFTS = np.arange(-2, 3)


def log_two_group_excess(q, zeros, ones, mean, x, log_gain) -> np.ndarray:
    r"""Log of :math:`\max_j\,A\,P(M = j-1) - A x\,P(M \ge j)` for a count M of two groups. Cost O(1) in their sizes.

    :math:`M = \mathrm{Bin}(z, q) + \mathrm{Bin}(o, 1-q)`.

    Parameters
    ----------
    q : float
        Success probability of the first group, in (0, 1/2).
    zeros, ones : ndarray
        The group sizes z and o, whole numbers.
    mean : tuple of ndarray
        Whole part and fraction, in [0, 1), of :math:`(z - o) q`, computed by the caller without rounding the sum.
    x : ndarray
        At least 0.
    log_gain : ndarray
        Log of the scale A.

    Returns
    -------
    ndarray
        Natural log; error below 1e-11, or 1e-14 of its size where that is larger. Below -5,000,000, where rounding the
        exponents costs more than what is left of the integrand, 1e-7 of its size.

    Raises
    ------
    ArithmeticError
        Where the sum of the integrand is not positive, so that the value cannot be vouched for.

    Notes
    -----
    With :math:`g(\zeta) = (1-q+q\zeta)^z (q+(1-q)\zeta)^o` the value at j is

    .. math:: \frac{A}{2\pi}\int_{-\pi}^{\pi} g(\zeta)\,\zeta^{1-j}\,\frac{\zeta-1-x}{\zeta-1}\,d\theta,
        \qquad \zeta = r e^{i\theta},\quad r > 1 .

    M is log-concave, so the best j is where :math:`P(M=j-1)/P(M=j)` passes 1 + x, which is close to the tilt of M with
    mean j - 1/2; five neighbours are tried. At r near 1 + x the integrand's real part is positive around the saddle, so
    nothing cancels. The trapezoid rule converges exponentially; its step resolves the pole at 1, its range ends where
    :math:`|g|` has fallen to :math:`e^{-42}`. The exponent is arranged around :math:`w = \zeta - 1` with the linear
    part taken out, so that what is left is of the size of the result.
    """
    zeros, ones, whole, part, x, log_gain = np.broadcast_arrays(zeros, ones, *mean, np.minimum(x, 1e280), log_gain)
    p = 1 - q
    spread = np.sqrt(np.maximum(_tilted_variance(q, zeros, ones, x), 1e-280))
    shift = q * zeros * p * (x / (1 + q * x)) + p * ones * q * (x / (1 + p * x))
    j = np.floor(part + shift + 0.5) + 1  # less `whole` and `ones`
    j = np.maximum(np.minimum(j, zeros + 1 - whole), 1 - ones - whole)

    y = np.maximum(x, 1 / spread)[..., None]
    spread = np.sqrt(_tilted_variance(q, zeros, ones, y[..., 0]))
    angle = 2 * np.arcsin(np.minimum(np.sqrt(0.5 * _DEPTH) / np.maximum(spread, 1e-140), 1.0))
    theta = angle[..., None] * (np.arange(_ANGLES + 1) / _ANGLES)
    turn = -2 * np.sin(theta / 2) ** 2 + 1j * np.sin(theta)  # e^(i theta) - 1
    w = y + (1 + y) * turn
    z, o, exponent = zeros[..., None], ones[..., None], (1 - whole - j)[..., None]
    first, second = q * w, -q * (w / (1 + w))
    centred = (part + 1 - j)[..., None] * w - o * w * second
    centred = centred + z * log1p_minus(first) + o * log1p_minus(second) + exponent * log1p_minus(w)
    if np.any(y > 0.3):
        plain = z * _log1p(first) + o * _log1p(second) + exponent * _log1p(w)
        centred = np.where(y > 0.3, plain, centred)
    top = centred[..., :1].real
    integrand = np.exp(centred - top) * ((w - x[..., None]) / w)
    integrand[..., 0] *= 0.5
    integrand[..., -1] *= 0.5
    radius = np.log1p(y)
    back = 1 + turn.conj()  # e^(-i theta)
    values = [(integrand * back**i).real.sum(axis=-1) for i in _SHIFTS]
    values, place = np.stack(values, axis=-1), j[..., None] + _SHIFTS
    trusted = (place <= (zeros + 1 - whole)[..., None]) & (place >= (1 - ones - whole)[..., None])
    # far from the best j a large circle leaves less than rounding, which grows with what `plain` adds up
    size = z * np.log1p(first[..., :1].real) - o * np.log1p(second[..., :1].real) + np.abs(exponent) * radius
    clear = trusted & (values > 1e-12 + np.where(y > 0.3, 4e-15 * size, 0.0))
    trusted = np.where(clear.any(axis=-1, keepdims=True), clear, trusted & (values > 1e-12))
    logs = np.log(np.where(trusted, values, 1.0)) - _SHIFTS * radius
    best = np.where(trusted, logs, -np.inf).max(axis=-1)
    best = np.where(top[..., 0] < -1e10, np.maximum(best, -28.0), best)  # below the accuracy of so large a log
    if not np.all(best > -np.inf):
        raise ArithmeticError("the contour integral lost its positive part")
    return log_gain + top[..., 0] + best + np.log(angle / (np.pi * _ANGLES))


def _tilted_variance(q, zeros, ones, x):
    """Variance of the two-group count under the tilt 1 + x."""
    p = 1 - q
    first = q * ((1 + x) / (1 + q * x)) * (p / (1 + q * x))
    second = p * ((1 + x) / (1 + p * x)) * (q / (1 + p * x))
    return zeros * first + ones * second


def _log1p(z: np.ndarray) -> np.ndarray:
    """``log(1 + z)`` of a complex array, accurate near 0 as well."""
    small = np.abs(z) < 0.2
    near = np.where(small, z, 0.0)
    return np.where(small, near + log1p_minus(near), np.log(1 + np.where(small, 0.0, z)))
