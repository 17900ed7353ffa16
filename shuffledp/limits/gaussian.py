r"""The Gaussian limit of a shuffled channel: its curve, the next term, and a certified distance.

With I the Fisher constant at the composition and :math:`\mu = \sqrt{I/n}`, telling two neighbouring histograms apart
comes close to telling :math:`N(0,1)` from :math:`N(\mu,1)`. Both directions approach that curve, from opposite sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.curves import PrivacyCurve
from ..core.domain import MAX_USERS, DomainError, choice, integer
from ..core.gaussian import gdp
from ..core.numerics import safe_root
from ..core.randomizers import two_input_rows
from .fisher import canonical_law, moments

__all__ = ["GaussianCertificate", "asymmetry_constant", "gdp_certified", "gdp_mu", "gdp_second_order"]

_DIRECTIONS = ("both", "forward", "reverse")
_SQRT_2PI = math.sqrt(2 * math.pi)


def gdp_mu(channel, n, pi) -> float:
    r"""Parameter of the Gaussian limit, :math:`\mu = \sqrt{I_\pi/n}`.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both; an array is read as the rows.
    n : int
        Number of users, ``2 <= n <= 10**15``.
    pi : float
        Share of the users who hold 1, in [0, 1].

    Returns
    -------
    float
        The mu of the `shuffledp.gdp` curve that both directions approach: at ``epsilon = t mu`` the error is of order
        1/n. A limit, not a bound: one direction exceeds the curve, by a factor that grows with t.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claim ``shvets26.gdp.curve``.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    return math.sqrt(moments(channel, pi).fisher / n)


def asymmetry_constant(channel, pi) -> float:
    r"""What separates the two directions to second order: the constant S of `gdp_second_order`.

    .. math:: S_\pi = \frac{3\,z^\top(\Sigma_1-\Sigma_0)z - 2\kappa_{3,\pi}(z,z,z)}{6I_\pi}

    with the score z and the averaged third cumulant of one message. Where it is positive the forward direction lies
    above the Gaussian curve, where it is negative the reverse one. For binary randomized response it is
    :math:`-(1-2\pi)I/3`. Arguments and errors as for `fisher_constant`.

    Notes
    -----
    Claim ``ext.gdp.second``.
    """
    m = moments(channel, pi)
    with np.errstate(over="ignore", invalid="ignore"):
        away = m.z - (m.rows @ m.z)[:, None]
        variance, third = ((m.rows * away**power).sum(axis=1) for power in (2, 3))
        value = (3 * (variance[1] - variance[0]) - 2 * ((1 - m.pi) * third[0] + m.pi * third[1])) / (6 * m.fisher)
    if not math.isfinite(value):
        raise DomainError("channel: an entry is so small that the asymmetry constant is not a double")
    return float(value)


def gdp_second_order(channel, n, pi, direction="both") -> PrivacyCurve:
    r"""The Gaussian curve with its 1/n term, which has opposite signs in the two directions.

    .. math:: \delta(\varepsilon) = \delta_\mu(\varepsilon) \pm \frac{S_\pi}{n}\,t\varphi(t),
        \qquad t = \varepsilon/\mu,\quad \mu = \sqrt{I_\pi/n}.

    Parameters
    ----------
    channel, n, pi
        As for `gdp_mu`.
    direction : {"both", "forward", "reverse"}
        Plus for ``"forward"``, the histogram after one user's 0 became a 1 against the one before, minus for
        ``"reverse"``; ``"both"`` is the larger. Where the difference falls below 0 the curve is 0.

    Returns
    -------
    PrivacyCurve
        Of kind "limit": the error at ``epsilon = t mu`` is of order :math:`n^{-3/2}` for bounded t, on either side.

    Raises
    ------
    DomainError
        If an argument is outside its range, or n is so small that the 1/n term is no correction:
        :math:`|S|/n > \tfrac12\mu\Phi(-\mu/2)`. Up to there every direction is non-increasing.

    Notes
    -----
    Claim ``ext.gdp.second``: proved for all other users alike, a formal expansion otherwise. ``pi`` must be the share
    k/n itself, or within 1/n of it; a limit of k/n that is approached more slowly gives another 1/n term.
    """
    direction = choice("direction", direction, _DIRECTIONS)
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    mu, constant = gdp_mu(channel, n, pi), asymmetry_constant(channel, pi)
    term = {"both": abs(constant), "forward": constant, "reverse": -constant}[direction] / n
    if 4 * abs(term) > mu * math.erfc(mu / math.sqrt(8)):
        raise DomainError(
            f"n violates |S|/n <= mu Phi(-mu/2)/2: with n = {n}, S = {constant:.4g}, mu = {mu:.4g} the 1/n term is no "
            "correction any more"
        )
    first = gdp(mu)

    def log_delta(epsilon: np.ndarray) -> np.ndarray:
        main, t = first.log_delta(epsilon), epsilon / mu
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            relative = np.exp(np.log(t) - 0.5 * t * t - main) * (term / _SQRT_2PI)
            total = main + np.log1p(np.maximum(relative, -1.0))
        return np.where(np.isfinite(main), total, -np.inf)

    return PrivacyCurve(
        log_delta,
        name=f"Gaussian limit with its 1/n term: mu = {mu:.6g}, n = {n:g}, {direction}",
        kind="limit",
        scale=mu,
    )


@dataclass(frozen=True)
class GaussianCertificate:
    """What `gdp_certified` returns: a Gaussian curve and how far from it the exact one can be.

    Attributes
    ----------
    mu : float
        Parameter of the Gaussian limit.
    radius : float
        What the exact delta can differ by: forward by ``radius``, in reverse by ``exp(epsilon) * radius``.
    centre : PrivacyCurve
        The Gaussian approximation itself, of kind "limit"; far in the tail it need not fall.
    upper, lower : PrivacyCurve
        The exact curve lies between them, at every epsilon. `upper` is a guarantee for the canonical pair.
    """

    mu: float
    radius: float
    centre: PrivacyCurve
    upper: PrivacyCurve
    lower: PrivacyCurve


def gdp_certified(channel, n, direction="both") -> GaussianCertificate:
    r"""Gaussian approximation of the canonical pair with a proved error of order 1/n.

    With :math:`h(t) = \varphi(t) - t\,\Phi(-t)`, X the likelihood ratio of one message less 1 under
    :math:`W_0`, :math:`\mu = \sqrt{E X^2/n}` and :math:`r = E|X|^3/(2n\,E X^2)`,

    .. math:: \Bigl|\delta_\to(\varepsilon) - \mu\,h\Bigl(\frac{e^\varepsilon-1}\mu\Bigr)\Bigr| \le r, \qquad
        \Bigl|\delta_\leftarrow(\varepsilon) - e^\varepsilon\mu\,h\Bigl(\frac{1-e^{-\varepsilon}}\mu\Bigr)\Bigr|
        \le e^\varepsilon r.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), any number of outputs, every output possible for both; an array is read as the rows.
    n : int
        Number of users, ``2 <= n <= 10**15``. All others hold 0; exchange the rows for others who hold 1.
    direction : {"both", "forward", "reverse"}
        ``"forward"`` is the law with one 1 against the law with none; ``"both"`` the larger of the two.

    Returns
    -------
    GaussianCertificate
        Valid at every n and epsilon. `upper` is never below the exact curve: from its least value on it is continued
        as a constant, and it is 0 from the largest log likelihood ratio on. Useful where delta is well above
        1/n; below `radius` it says nothing.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claim ``ext.gdp.certified``. Rests on the constant 1 of the mean central limit theorem (Goldstein 2010), quoted and
    not re-proved here.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    direction = choice("direction", direction, _DIRECTIONS)
    rows = two_input_rows(channel, full_support=True)
    x, weight = canonical_law(channel)
    mu, radius = gdp_mu(channel, n, 0), _radius(x, weight, n)
    ends = {"forward": _largest_loss(rows[1], rows[0]), "reverse": _largest_loss(rows[0], rows[1])}
    used = ("forward", "reverse") if direction == "both" else (direction,)
    turn = _turning_point(mu, radius)

    def curve(sign: int, kind: str) -> PrivacyCurve:
        def log_delta(epsilon: np.ndarray) -> np.ndarray:
            values = [
                _forward(mu, sign * radius, epsilon)
                if way == "forward"
                else _reverse(mu, sign * radius, np.minimum(epsilon, turn) if sign > 0 else epsilon)
                for way in used
            ]
            with np.errstate(divide="ignore"):
                return np.log(np.clip(np.max(values, axis=0), 0, 1))

        end = max(ends[way] for way in used)
        return PrivacyCurve(
            log_delta,
            name=f"Gaussian {kind} for the canonical pair: mu = {mu:.6g}, n = {n:g}, {direction}",
            kind=kind,
            epsilon_max=max(end + 1e-14 * (1 + abs(end)), 0.0),  # rounded up: no guarantee is cut off early
            scale=mu,
        )

    return GaussianCertificate(mu, radius, curve(0, "limit"), curve(1, "upper bound"), curve(-1, "lower bound"))


def _radius(x: np.ndarray, weight: np.ndarray, n: int) -> float:
    with np.errstate(over="ignore"):
        size = np.abs(x) / np.abs(x).max()
        radius = math.fsum(weight * size**3) / math.fsum(weight * size**2) * np.abs(x).max() / (2 * n)
    if not math.isfinite(radius):
        raise DomainError("channel: an entry is so small that the certificate is not a double")
    return float(radius) * (1 + 1e-14)


def _largest_loss(law: np.ndarray, other: np.ndarray) -> float:
    """Largest log of law/other, whose digits do not depend on how small the entries are."""
    with np.errstate(over="ignore"):
        gain = float(np.max((law - other) / other))
    return math.log1p(gain) if gain < math.inf else float(np.max(np.log(law) - np.log(other)))


def _mean_excess(t: np.ndarray) -> np.ndarray:
    """``h(t) = E(Z - t)_+`` for a standard normal Z and ``t >= 0``: absolute error 1e-16."""
    from scipy.special import ndtr  # slow to import

    t = np.minimum(t, 40.0)
    return np.maximum(np.exp(-0.5 * t * t) / _SQRT_2PI - t * ndtr(-t), 0.0)


def _forward(mu: float, radius: float, epsilon: np.ndarray) -> np.ndarray:
    return mu * _mean_excess(np.expm1(np.minimum(epsilon, 700.0)) / mu) + radius


def _reverse(mu: float, radius: float, epsilon: np.ndarray) -> np.ndarray:
    growth = np.exp(np.minimum(epsilon, 700.0))
    with np.errstate(over="ignore"):  # clipped to [0, 1] afterwards
        return growth * (mu * _mean_excess(-np.expm1(-epsilon) / mu) + radius)


def _turning_point(mu: float, radius: float) -> float:
    """Where the reverse upper bound, convex in ``e^epsilon``, is least; the exact curve only falls from there on."""
    from scipy.special import ndtr

    def slope(u: float) -> float:  # in e^epsilon, at u = 1 - e^-epsilon
        return float(mu * _mean_excess(np.array(u / mu)) + radius - (1 - u) * ndtr(-u / mu))

    return -math.log1p(-safe_root(slope, 1.0, 0.0)) if slope(0.0) < 0 else 0.0
