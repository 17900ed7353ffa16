r"""The boundary of the Gaussian regime: randomized response so truthful that only a few users lie.

Each of n users flips a bit with probability :math:`q = 1/(1+e^{\varepsilon_0})`. Where :math:`e^{\varepsilon_0}` grows
like n, the number of liars stays finite, :math:`\lambda = nq`, and the count of reported ones keeps a discrete law as
:math:`n\to\infty`. With :math:`c^2 = e^{\varepsilon_0}/n` the limit has :math:`\lambda = 1/c^2`; for small c it passes
into the Gaussian limit with :math:`\mu = c`.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.curves import PrivacyCurve
from ..core.domain import MAX_USERS, choice, integer, real
from ..core.engine import log_two_group_excess

__all__ = ["poisson_distance", "poisson_floor", "poisson_limit", "skellam_limit"]

_NO_FLIP = 2.0**-500  # a flip probability so small that a binomial count of mean lam is Poisson to every digit
_FAR = 35.0  # from this epsilon on delta is taken there, where it is at least as large


def poisson_limit(lam, direction="both") -> PrivacyCurve:
    r"""Limit of shuffled randomized response when all other users agree and :math:`\lambda` of the n users lie.

    The count of reported ones is :math:`X\sim\mathrm{Poi}(\lambda)` before one user's 0 turns into a 1, and
    :math:`1+X` after; the likelihood ratio at count j is :math:`j/\lambda`.

    .. math:: \delta_\rightarrow = \tfrac1\lambda E(X-\lambda e^{\varepsilon})_+,\qquad
        \delta_\leftarrow = \tfrac{e^\varepsilon}\lambda E(\lambda e^{-\varepsilon}-X)_+ \ge e^{-\lambda}.

    Parameters
    ----------
    lam : float
        Expected number of liars, ``n q``, in [1e-9, 1e9].
    direction : {"both", "forward", "reverse"}
        As for `shuffledp.shuffled_rr`: ``"forward"`` is the law after the change against the law before.

    Returns
    -------
    PrivacyCurve
        Of kind "limit": not a guarantee for any n; `poisson_distance` bounds what is missing. Error of ``log_delta``
        1e-11, or 1e-12 of its size where that is larger. Beyond ``epsilon = 35`` the value at 35 is returned. The
        reverse direction never falls below `poisson_floor`, so no epsilon gives a smaller delta.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.boundary.poisson``, ``shvets26.boundary.floor``.
    """
    lam = _liars(lam)
    direction = choice("direction", direction, ("both", "forward", "reverse"))
    return _limit(lam, 0.0, direction, f"Poisson limit: lambda = {lam:g}, {direction}")


def skellam_limit(lam, pi, direction="both") -> PrivacyCurve:
    r"""The same limit when a share of the other users holds 1.

    Counted from the true number of ones, the reports are off by :math:`U-V`, with
    :math:`U\sim\mathrm{Poi}((1-\pi)\lambda)` lying zeros and :math:`V\sim\mathrm{Poi}(\pi\lambda)` lying ones; one
    user's change moves the difference by 1. Its law is named after Skellam.

    Parameters
    ----------
    lam : float
        Expected number of liars, ``n q``, in [1e-9, 1e9].
    pi : float
        Share of the users who hold 1, in [0, 1]. At 0 this is `poisson_limit`, at 1 the same with the directions
        exchanged; in between there is no floor.
    direction : {"both", "forward", "reverse"}

    Returns
    -------
    PrivacyCurve
        Kind, accuracy and range as for `poisson_limit`.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claim ``shvets26.boundary.skellam``. The law is log-concave, so the best event is a half line, and delta is the
    largest value of a contour integral without cancellation: the one for two groups of users, at a flip probability
    at which its groups are Poisson to every digit.
    """
    lam = _liars(lam)
    pi = real("pi", pi, at_least=0, at_most=1)
    direction = choice("direction", direction, ("both", "forward", "reverse"))
    name = f"Skellam limit: lambda = {lam:g}, pi = {pi:g}, {direction}"
    return _limit((1 - pi) * lam, pi * lam, direction, name)


def poisson_floor(lam) -> float:
    r"""What the reverse direction of `poisson_limit` never falls below: :math:`e^{-\lambda} = e^{-1/c^2}`.

    It is the probability that nobody lies. Then no one is reported, which cannot happen once a truthful user holds 1.
    ``lam`` as for `poisson_limit`.

    Notes
    -----
    Claim ``shvets26.boundary.floor``.
    """
    return math.exp(-_liars(lam))


def poisson_distance(epsilon0, n, ones=0) -> tuple[float, float]:
    r"""Bounds of the total variation distance between the count at n users and its Poisson or Skellam limit.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter of the binary randomized response, natural log, in (0, 700].
    n : int
        Number of users, ``2 <= n <= 10**15``. The limit is taken at ``lam = n q`` and ``pi = ones/n``.
    ones : int
        How many of the n users hold 1 before the change, ``0 <= ones <= n - 1``.

    Returns
    -------
    before, after : float
        Upper bounds for the law before and after the change of one user from 0 to 1. With ``ones = 0`` they are
        :math:`q(1-e^{-\lambda})` and at most 3q; otherwise at most 2q and 4q. They bound the error of the limit curves:
        forward by ``after + e**epsilon * before``, in reverse by ``before + e**epsilon * after``.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claim ``ext.boundary.distance``. Barbour and Hall 1984 for a binomial count of m trials,
    :math:`TV(\mathrm{Bin}(m,q),\mathrm{Poi}(mq)) \le q(1-e^{-mq})`, quoted; then the triangle inequality: after the
    change the user reports 1 except with probability q, and one zero less moves a Poisson mean by q.
    """
    epsilon0 = real("epsilon0", epsilon0, above=0, at_most=700)
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    q = 1 / (1 + math.exp(epsilon0))
    lying_ones = -q * math.expm1(-ones * q)
    before = lying_ones - q * math.expm1(-(n - ones) * q)
    after = lying_ones - q * math.expm1(-(n - 1 - ones) * q) + q - math.expm1(-q)
    return before * (1 + 1e-12), after * (1 + 1e-12)


def _liars(lam) -> float:
    return real("lam", lam, at_least=1e-9, at_most=1e9)


def _limit(zeros: float, ones: float, direction: str, name: str) -> PrivacyCurve:
    """The limit with these expected numbers of lying zeros and lying ones; reverse is forward with them exchanged."""
    groups = {"forward": [(zeros, ones)], "reverse": [(ones, zeros)], "both": [(zeros, ones), (ones, zeros)]}

    def log_delta(epsilon: np.ndarray) -> np.ndarray:
        x = np.expm1(np.minimum(epsilon, _FAR))
        logs = [
            log_two_group_excess(_NO_FLIP, z / _NO_FLIP, o / _NO_FLIP, (math.floor(z - o), (z - o) % 1.0), x, 0.0)
            for z, o in groups[direction]
        ]
        return np.minimum(np.max(logs, axis=0), 0.0)

    return PrivacyCurve(log_delta, name=name, kind="limit", accuracy=1e-11, scale=1 / math.sqrt(zeros + ones))
