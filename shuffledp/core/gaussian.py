r"""The Gaussian mechanism: its exact privacy curve, and the noise it needs.

Adding :math:`N(0, \sigma^2)` to a value of sensitivity :math:`\Delta` means telling :math:`N(0, 1)` from
:math:`N(\mu, 1)` with :math:`\mu = \Delta/\sigma`; everything below is about that one number :math:`\mu`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .curves import PrivacyCurve
from .domain import DomainError, choice, real
from .losses import GaussianLoss
from .numerics import divide_up, safe_root

__all__ = ["classical_epsilon_max", "gaussian_curve", "gaussian_sigma", "gdp"]

_ACCURACY = 1e-12  # relative accuracy of delta wherever delta is a double; measured worst 3e-13, near delta = 1e-300
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1), 0.5 * _WEIGHTS  # on [0, 1]
_REACH = 40.0  # the integral is cut where its Gaussian factor has fallen to e^-40
_SQRT2 = math.sqrt(2.0)
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)

_LEAST_MU = 1e-300  # below it delta and epsilon are subnormal numbers


def _log_delta(mu: float, epsilon: np.ndarray) -> np.ndarray:
    """Natural log of ``Phi(-x) - e^epsilon Phi(-x - mu)`` with ``x = epsilon/mu - mu/2``.

    Written as the integral over ``s > 0`` of ``(1 - e^(-mu s)) phi(s + x)``, whose integrand is positive, so nothing
    cancels however small mu is. Where ``1 - e^(-mu s)`` is too steep for the quadrature the two tails differ clearly
    and are subtracted, scaled by their common factor ``e^(-x^2/2)``.
    """
    from scipy.special import erfcx, exprel, ndtr  # slow to import

    out = np.full(epsilon.shape, -np.inf)  # stays where x^2, and so log delta, is beyond the range of doubles
    with np.errstate(over="ignore", under="ignore"):
        x = _standardised(mu, epsilon)
        peak = -0.5 * x * x
        inside = np.isfinite(peak) | (x < 0)
        x, peak = x[inside], peak[inside]
        far = np.abs(x) + np.hypot(x, math.sqrt(2 * _REACH))
        reach = np.where(x > 0, 2 * _REACH / far, far)
        smooth = mu * reach <= 0.5 * _REACH
        tail, body = ~smooth & (x > 0), ~smooth & (x <= 0)
        log_delta = np.empty(x.shape)
        s = reach[smooth, None] * _NODES
        integrand = _NODES * exprel(-mu * s) * np.exp(-s * (x[smooth, None] + 0.5 * s))
        log_delta[smooth] = (
            peak[smooth] + np.log(integrand @ _WEIGHTS) + 2 * np.log(reach[smooth]) + math.log(mu) - _LOG_SQRT_2PI
        )
        log_delta[tail] = peak[tail] + np.log(0.5 * (erfcx(x[tail] / _SQRT2) - erfcx((x[tail] + mu) / _SQRT2)))
        log_delta[body] = np.log(ndtr(-x[body]) - 0.5 * np.exp(peak[body]) * erfcx((x[body] + mu) / _SQRT2))
    out[inside] = log_delta
    return out


def _standardised(mu: float, epsilon: np.ndarray) -> np.ndarray:
    """``epsilon/mu - mu/2`` to full relative accuracy, by the exact square of mu where that is a double."""
    if not 1e-150 < mu < 1e150:
        return epsilon / mu - 0.5 * mu
    square = mu * mu
    rest = float(Fraction(mu) ** 2 - Fraction(square))
    return ((epsilon - 0.5 * square) - 0.5 * rest) / mu


def gdp(mu: float) -> PrivacyCurve:
    r"""Exact curve of telling :math:`N(0, 1)` from :math:`N(\mu, 1)`, called :math:`\mu`-Gaussian differential privacy.

    .. math:: \delta(\varepsilon) = \Phi\Big(\frac{\mu}{2} - \frac{\varepsilon}{\mu}\Big)
        - e^{\varepsilon}\,\Phi\Big(-\frac{\mu}{2} - \frac{\varepsilon}{\mu}\Big)

    Parameters
    ----------
    mu : float
        Distance of the two means in standard deviations; ``mu >= 1e-300``. The Gaussian mechanism has
        ``mu = sensitivity/sigma``.

    Returns
    -------
    PrivacyCurve
        Of kind "exact", the same in both directions. Relative accuracy of delta 1e-12; ``log_delta`` stays finite far
        below the smallest double.

    Raises
    ------
    DomainError
        If ``mu`` is outside its range.

    Notes
    -----
    Claim ``dr14.gauss.curve``.
    """
    mu = real("mu", mu, at_least=_LEAST_MU)
    return PrivacyCurve(
        lambda epsilon: _log_delta(mu, epsilon),
        name=f"{mu:.6g}-Gaussian DP",
        kind="exact",
        accuracy=_ACCURACY,
        scale=mu,
        loss_laws=(GaussianLoss(mu),),
    )


def gaussian_curve(sigma: float, sensitivity: float) -> PrivacyCurve:
    """Exact privacy curve of adding ``N(0, sigma**2)`` to a value of the given replace-one sensitivity.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise; ``sigma > 0``.
    sensitivity : float
        Largest change of the value when one record is replaced, in the units of sigma; ``sensitivity > 0``.

    Returns
    -------
    PrivacyCurve
        ``gdp(sensitivity/sigma)``, the quotient rounded up.

    Raises
    ------
    DomainError
        If an argument is not finite and positive, or their quotient is outside the range of mu.

    Notes
    -----
    Claim ``dr14.gauss.curve``. Exact for real-number arithmetic; what a floating-point sampler does is another matter.
    """
    sigma, sensitivity = real("sigma", sigma, above=0), real("sensitivity", sensitivity, above=0)
    return gdp(real("sensitivity/sigma", divide_up(sensitivity, sigma), at_least=_LEAST_MU))


def gaussian_sigma(sensitivity: float, epsilon: float, delta: float, method: str = "analytic") -> float:
    r"""Standard deviation with which the Gaussian mechanism is :math:`(\varepsilon, \delta)`-DP.

    Parameters
    ----------
    sensitivity : float
        Replace-one sensitivity; ``sensitivity > 0``.
    epsilon : float
        ``epsilon > 0``, natural log.
    delta : float
        ``0 < delta < 1``.
    method : {"analytic", "classical"}
        "analytic": the smallest sigma whose exact curve passes below ``(epsilon, delta)``; use it always.
        "classical": :math:`\Delta\sqrt{2\ln(1.25/\delta)}/\varepsilon`, larger where it is valid at all.

    Returns
    -------
    float
        In the units of the sensitivity. Rounded up: never too small, and for delta <= 1/2 too
        large by a relative 1e-11 at most.

    Raises
    ------
    DomainError
        If an argument is outside its range, if sigma is not a double, or if "classical" is asked for an epsilon above
        `classical_epsilon_max`, where its sigma is too small.

    Notes
    -----
    Claims ``bw18.analytic-sigma`` and ``dr14.gauss.classical``.
    """
    sensitivity = real("sensitivity", sensitivity, above=0)
    epsilon = real("epsilon", epsilon, above=0)
    delta = real("delta", delta, above=0, below=1)
    if choice("method", method, ("analytic", "classical")) == "analytic":
        sigma = divide_up(sensitivity, _largest_mu(epsilon, delta))
    else:
        limit = classical_epsilon_max(delta)
        if epsilon > limit:
            raise DomainError(
                f"the classical calibration violates epsilon <= classical_epsilon_max({delta!r}) = {limit:.6g}: "
                f"at epsilon = {epsilon!r} its noise is too small; use method='analytic'"
            )
        sigma = divide_up(sensitivity * _classical_factor(delta) * (1 + 4e-16), epsilon)
    return real("sigma", sigma, above=0)


def classical_epsilon_max(delta: float) -> float:
    r"""Largest epsilon for which :math:`\sigma = \Delta\sqrt{2\ln(1.25/\delta)}/\varepsilon` really is enough noise.

    Parameters
    ----------
    delta : float
        ``0 < delta < 1``.

    Returns
    -------
    float
        Rounded down. At every epsilon up to here the classical mechanism is :math:`(\varepsilon, \delta)`-DP, at every
        larger one it is not, except where delta is next to 1: delta is allowed a relative 1e-12 of rounding, which
        leaves out 2e-5 of the range at ``1 - delta = 1e-9`` and 13% at 1e-16. Never below 3.78, whatever delta.

    Raises
    ------
    DomainError
        If delta is outside (0, 1).

    Notes
    -----
    Claim ``ext.gauss.eps-max``: at the classical sigma the exact delta increases strictly with epsilon, from 0 to 1.
    """
    delta = real("delta", delta, above=0, below=1)
    factor, goal = _classical_factor(delta), math.log(delta) - _ACCURACY

    def excess(epsilon: float) -> float:
        return float(_log_delta(epsilon / factor, np.array([epsilon]))[0]) - goal

    unsafe = 4.0
    while excess(unsafe) <= 0:
        unsafe *= 2
    return safe_root(excess, unsafe, 1.0)


def _classical_factor(delta: float) -> float:
    return math.sqrt(2 * (math.log(1.25) - math.log(delta)))


def _largest_mu(epsilon: float, delta: float) -> float:
    """Largest mu with ``gdp(mu).delta(epsilon) <= delta``, rounded down; delta increases with mu."""
    goal = math.log(delta) - _ACCURACY

    def excess(mu: float) -> float:
        return float(_log_delta(mu, np.array([epsilon]))[0]) - goal

    safe = unsafe = math.sqrt(epsilon)
    while excess(safe) > 0:
        safe /= 2
    while excess(unsafe) <= 0:
        unsafe *= 2
    return safe_root(excess, unsafe, safe)
