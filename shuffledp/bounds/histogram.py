r"""Shuffled k-ary randomized response through the histogram of the random answers: Theorem 3.1, and sharpened.

Balle, Bell, Gascon, Nissim 2019 (arXiv:1903.02837v2). Replace-one neighbours, natural logs.
"""

from __future__ import annotations

import math

from ..core.domain import DomainError, integer, real

__all__ = ["shuffled_rr_constant", "shuffled_rr_gamma", "shuffled_rr_gamma_sharp"]


def shuffled_rr_constant(epsilon, delta) -> float:
    r"""The constant of Theorem 3.1: it prescribes :math:`\gamma = ck/(n-1)` for k symbols and n users.

    .. math:: c = \max\Bigl\{\frac{14\log(2/\delta)}{\varepsilon^2},\ \frac{27}{\varepsilon}\Bigr\}

    Arguments, errors and source as for `shuffled_rr_gamma`.
    """
    epsilon = real("epsilon", epsilon, above=1e-100, at_most=1)
    delta = real("delta", delta, above=0, below=1)
    return max(14 * (math.log(2) - math.log(delta)) / epsilon**2, 27 / epsilon)


def shuffled_rr_gamma(k, n, epsilon, delta) -> float:
    r"""Blanket probability that makes shuffled k-ary randomized response (epsilon, delta)-DP, by Theorem 3.1.

    .. math:: \gamma = \max\Bigl\{\frac{14k\log(2/\delta)}{(n-1)\varepsilon^2},\ \frac{27k}{(n-1)\varepsilon}\Bigr\}

    Parameters
    ----------
    k : int
        Alphabet size, in [2, 10^15].
    n : int
        Number of users, at least 2.
    epsilon : float
        In (1e-100, 1].
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In (0, 1); larger values are private too. Five to eight times larger than needed.

    Raises
    ------
    DomainError
        If an argument is out of range, or n is too small for any gamma below 1: the message says which n would do.

    Notes
    -----
    Theorem 3.1 of arXiv:1903.02837v2 as we recall it; the paper was not read again for these constants.
    """
    delta = real("delta", delta, above=0, below=1)
    return _share(k, n, shuffled_rr_constant(epsilon, delta), 1, "Theorem 3.1")


def shuffled_rr_gamma_sharp(k, n, epsilon, delta) -> float:
    r"""Blanket probability that makes shuffled k-ary randomized response (epsilon, delta)-DP: Theorem 3.1, sharpened.

    .. math:: \gamma = \frac{k\log(1/\delta)}{n f(\varepsilon)}, \qquad f = 2(1 - e^{-h}),
        \quad h = s\tanh s - \log\cosh s, \quad s = \varepsilon/2

    In the range below :math:`f \ge \varepsilon^2/4.77`, so this is at most
    :math:`4.77\,k\log(1/\delta)/(n\varepsilon^2)`.

    Parameters
    ----------
    k : int
        Alphabet size, in [2, 10^15].
    n : int
        Number of users, at least 2.
    epsilon : float
        In (1e-100, 1].
    delta : float
        In (0, 0.7].

    Returns
    -------
    float
        In (0, 1); larger values are private too. At most 0.35 times `shuffled_rr_gamma`.

    Raises
    ------
    DomainError
        If an argument is out of range, or n is too small for any gamma below 1: the message says which n would do.

    Notes
    -----
    Claim ``ext.pb.thm3.1.sharp``: h is the Kullback-Leibler divergence of a coin with bias :math:`\tanh s` from a fair
    one, which is what Chernoff's bound needs for the difference of the two counts.
    """
    epsilon = real("epsilon", epsilon, above=1e-100, at_most=1)
    delta = real("delta", delta, above=0, at_most=0.7)
    s = epsilon / 2
    h = s * math.tanh(s) - math.log1p(2 * math.sinh(s / 2) ** 2)
    return _share(k, n, -math.log(delta) / (-2 * math.expm1(-h)), 0, "the theorem")


def _share(k, n, c: float, apart: int, theorem: str) -> float:
    """``c k/(n - apart)``, if that is a probability below 1."""
    k, n = integer("k", k, at_least=2, at_most=10**15), integer("n", n, at_least=2)
    gamma = k * c / (n - apart)
    if gamma >= 1:
        least = math.floor(k * c) + 1 + apart
        raise DomainError(f"n violates gamma < 1: {theorem} needs n >= {least} here, got n = {n}")
    return gamma
