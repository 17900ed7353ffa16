r"""Frequency estimation: how many of n users hold 1, from shuffled binary randomized response.

Every user reports her bit, flipped with probability :math:`q = 1/(1+e^{\varepsilon_0})`. If k of them hold 1, the
number of ones reported is :math:`N = \mathrm{Bin}(n-k, q) + \mathrm{Bin}(k, 1-q)`. Replace-one neighbours, natural
logs.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Any

import numpy as np

from ..core.curves import calibrate_epsilon0
from ..core.domain import MAX_USERS, integer, real
from ..core.numerics import log1p_minus
from ..core.tables import html_table, text_table
from ..exact.randomized_response import shuffled_rr

__all__ = ["FrequencyEstimate", "calibrate_frequency", "estimate_frequency", "frequency_variance"]

_MAX_EPSILON0 = 600  # e^-epsilon0 / n is still a normal double
_ANGLES = 96  # trapezoid intervals on the upper half of the circle
_DEPTH = 42.0  # the integral is cut where its weight is below e^-42


@dataclasses.dataclass(frozen=True, repr=False)
class FrequencyEstimate:
    """Result of `estimate_frequency`. A function of the reported count alone: all of it may be published.

    Attributes
    ----------
    estimate : float
        Unbiased for the part of these n users who hold 1. Not clipped: it may lie outside [0, 1], and clipping it would
        make it biased.
    standard_error : float
        Exact standard deviation of the estimate, the same for every frequency.
    ci_lower, ci_upper : float
        Interval inside [0, 1] that contains the frequency among these n users with probability at least ``1 - alpha``,
        whatever that frequency is.
    ones_reported, n : int
    epsilon0 : float
        The local privacy parameter of the reports.
    alpha : float
        Level of the interval.
    """

    estimate: float
    standard_error: float
    ci_lower: float
    ci_upper: float
    ones_reported: int
    n: int
    epsilon0: float
    alpha: float

    def to_dict(self) -> dict[str, Any]:
        """Every field by name."""
        return dataclasses.asdict(self)

    def _table(self) -> tuple[str, list[tuple[str, Any, str]]]:
        notes = {
            "estimate": "unbiased, not clipped",
            "standard_error": "exact, of the estimate",
            "ci_lower": "of the frequency among these users",
            "ci_upper": "of the frequency among these users",
        }
        rows = [(name, value, notes.get(name, "")) for name, value in self.to_dict().items()]
        return "Frequency from shuffled randomized response", rows

    def __str__(self) -> str:
        return text_table(*self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def frequency_variance(epsilon0, n) -> float:
    r"""Variance of the unbiased frequency estimate, whatever the frequency: :math:`1/(4n\sinh^2(\varepsilon_0/2))`.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; ``0 < epsilon0 <= 600``.
    n : int
        Number of users, ``2 <= n <= 10**15``.

    Returns
    -------
    float
        Positive, full relative accuracy. For n users drawn from a large population with frequency f and an estimate
        meant for the population add ``f (1 - f)/n``.

    Raises
    ------
    DomainError
        If an argument is outside its range, or the variance is not a double.

    Notes
    -----
    Claim ``shvets26.freq.estimator``.
    """
    epsilon0, n = _parameters(epsilon0, n)
    root = 0.5 / math.sinh(epsilon0 / 2)
    return real("variance", root / n * root, at_least=sys.float_info.min)


def calibrate_frequency(n, epsilon, delta) -> float:
    r"""Largest epsilon0 with which n users' shuffled randomized response is (epsilon, delta)-private.

    Parameters
    ----------
    n : int
        Number of users, at least 2.
    epsilon : float
        The central epsilon, at least 0; natural log, replace-one.
    delta : float
        The central delta, in (0, 1).

    Returns
    -------
    float
        Safe for every composition: the certified worst one was found to keep the guarantee. Up to n = 1000 no larger
        value does; beyond, the certificate costs about a tenth of a per cent of noise.

    Raises
    ------
    DomainError
        If an argument is out of range.

    Notes
    -----
    Claim ``shvets26.freq.calibration``. Never calibrate with a Gaussian curve, nor with all others alike: the first
    misses delta by factors up to a thousand, the second by a per cent or two.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    return calibrate_epsilon0(lambda epsilon0: shuffled_rr(epsilon0, n, "worst"), epsilon, delta)


def estimate_frequency(ones_reported, n, epsilon0, alpha=0.05) -> FrequencyEstimate:
    r"""Unbiased estimate of a frequency from shuffled randomized response, with its error.

    .. math:: \hat f = \frac{N/n - q}{1 - 2q}

    Parameters
    ----------
    ones_reported : int
        The number of ones among the reports, ``0 <= ones_reported <= n``.
    n : int
        Number of users, ``2 <= n <= 10**15``.
    epsilon0 : float
        Local privacy parameter of the reports, natural log; ``0 < epsilon0 <= 600``.
    alpha : float
        Level of the interval, in (0, 1).

    Returns
    -------
    FrequencyEstimate

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.freq.estimator``, ``ext.freq.tail-step``. The interval holds the frequencies k/n that two
    one-sided tests of level ``alpha/2`` do not reject; both tails of N are computed exactly and change monotonically
    with k. A count so extreme that a test rejects every frequency gives the end of [0, 1] next to it.
    """
    epsilon0, n = _parameters(epsilon0, n)
    ones = integer("ones_reported", ones_reported, at_least=0, at_most=n)
    alpha = real("alpha", alpha, above=0, below=1)
    log_level = math.log(alpha) - math.log(2) - 1e-6  # the tails are computed to better than that
    return FrequencyEstimate(
        estimate=(ones + (2 * ones - n) / math.expm1(epsilon0)) / n,
        standard_error=math.sqrt(frequency_variance(epsilon0, n)),
        ci_lower=_least_ones(ones, n, epsilon0, log_level) / n,
        ci_upper=(n - _least_ones(n - ones, n, epsilon0, log_level)) / n,
        ones_reported=ones,
        n=n,
        epsilon0=epsilon0,
        alpha=alpha,
    )


def _parameters(epsilon0, n) -> tuple[float, int]:
    epsilon0 = real("epsilon0", epsilon0, above=0, at_most=_MAX_EPSILON0)
    return epsilon0, integer("n", n, at_least=2, at_most=MAX_USERS)


def _least_ones(reported: int, n: int, epsilon0: float, log_level: float) -> int:
    """The least k, at most n, for which at least ``reported`` ones are likelier than the level."""
    low, high = -1, n
    while high - low > 1:
        k = (low + high) // 2
        low, high = (low, k) if log_upper_tail(epsilon0, n - k, k, reported) > log_level else (k, high)
    return high


def log_upper_tail(epsilon0: float, zeros: int, ones: int, j: int) -> float:
    r"""Log of :math:`P(N \ge j)` when ``zeros`` users hold 0 and ``ones`` hold 1; absolute error below 1e-6. Cost O(1).

    With :math:`g(\zeta) = (1-q+q\zeta)^z (q+(1-q)\zeta)^o` and any r > 1,

    .. math:: P(N \ge j) = \frac{1}{2\pi}\int_{-\pi}^{\pi} g(\zeta)\,\frac{\zeta^{1-j}}{\zeta-1}\,d\theta,
        \qquad \zeta = r e^{i\theta}.

    The trapezoid rule on the circle through the saddle: r is the tilt that moves the mean of N to j - 1/2, which a
    quadratic gives. More than six standard deviations below the mean 0 is returned: there the tail is at least 35/36.
    """
    n, p, q = zeros + ones, 1 / (1 + math.exp(-epsilon0)), 1 / (1 + math.exp(epsilon0))
    spread = math.sqrt(n * p * q)
    centre = j - 0.5
    above = (centre - ones) - (zeros - ones) * q
    if j <= 0 or above < -6 * spread:
        return 0.0
    middle = (zeros - ones) * math.tanh(epsilon0 / 2) + 2 * above * math.cosh(epsilon0)
    root = math.hypot(middle, 2 * math.sqrt(centre * (n - centre))) + abs(middle)
    tilt = root / (2 * (n - centre)) if middle > 0 else 2 * centre / root
    x = max(tilt - 1, 1 / spread)
    rare, likely = q * (1 + x) / (1 + q * x), p * (1 + x) / (1 + p * x)  # probabilities of a one, tilted
    variance = zeros * rare * p / (1 + q * x) + ones * likely * q / (1 + p * x)
    angle = 2 * math.asin(min(math.sqrt(0.5 * _DEPTH / variance), 1.0)) if variance > 0 else math.pi
    theta = angle * np.arange(_ANGLES + 1) / _ANGLES
    w = x + (1 + x) * (-2 * np.sin(theta / 2) ** 2 + 1j * np.sin(theta))  # zeta - 1
    exponent = zeros * _log1p(q * w) + ones * _log1p(-q * (w / (1 + w))) + (ones + 1 - j) * _log1p(w)
    integrand = (np.exp(exponent - exponent[0].real) / w).real
    integrand[[0, -1]] *= 0.5
    return min(exponent[0].real + math.log(integrand.sum() * angle / (math.pi * _ANGLES)), 0.0)


def _log1p(z: np.ndarray) -> np.ndarray:
    """``log(1 + z)`` of a complex array, accurate near 0 as well."""
    small = np.abs(z) < 0.2
    near = np.where(small, z, 0.0)
    return np.where(small, near + log1p_minus(near), np.log(1 + np.where(small, 0.0, z)))
