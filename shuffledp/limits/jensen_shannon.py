r"""Jensen-Shannon divergence of neighbouring histograms for many users: its expansion in 1/n, and a bound below it.

Both are centred at the midpoint of the change, :math:`\pi^* = (k+\tfrac12)/n` for k users who hold 1 before it.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.domain import MAX_USERS, DomainError, integer
from ..core.randomizers import RandomizedResponse, two_input_rows
from .fisher import Moments, cumulants, moments

__all__ = ["jsd_expansion", "jsd_lower_bound"]

_ROUNDED = 1 - 1e-14  # the Fisher constant has a relative accuracy of 1e-14


def jsd_expansion(channel, n, ones=0, order=2) -> float:
    r"""Partial sum, through :math:`n^{-\mathrm{order}}`, of the expansion of `shuffledp.jensen_shannon`.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both; an array is read as the rows.
    n : int
        Number of users, ``2 <= n <= 10**15``.
    ones : int
        How many of the n users hold 1 before one 0 becomes 1: ``0 <= ones <= n - 1``.
    order : int
        1 to 4 if all other users are alike (``ones`` 0 or n - 1), else 1 or 2.

    Returns
    -------
    float
        In nats. A limit, not a bound: it may lie on either side of the exact value, and for small n even be negative.
        With all others alike the coefficients are

        .. math::

            &\frac{\kappa_2}8,\qquad \frac{7\kappa_2^2-4\kappa_3}{64},\qquad
            \frac{93\kappa_2^3-90\kappa_2\kappa_3+14\kappa_4}{384},\\
            &\frac1{6144}\bigl(5715\kappa_2^4-7560\kappa_2^2\kappa_3+1488\kappa_2\kappa_4\\
            &\qquad\quad + 992\kappa_3^2-144\kappa_5\bigr)

        with the cumulants of :math:`W_1(Y)/W_0(Y) - 1`, Y from :math:`W_0` (for ``ones = n - 1`` the rows exchange
        their roles). Otherwise the sum is :math:`I_{\pi^*}/(8n) + c_2(\pi^*)/n^2`, where

        .. math:: c_2 = -\frac{I^2}{64} + \frac14\,\mathrm{tr}\big[(B\Sigma^+)^2\big],\qquad
            B = \tfrac12(\Sigma_1 - \Sigma_0) - \tfrac12\,\kappa_3[z] .

    Raises
    ------
    DomainError
        If the channel has not two inputs or an entry is zero, another argument is outside its range, the order is not
        available for the composition, or a coefficient is not a double.

    Notes
    -----
    Claims ``shvets26.jsd.canonical``, ``shvets26.jsd.proportional``, ``ext.jsd.c2``. The series is asymptotic: at fixed
    n a further term does not always help. For compositions other than all alike it is a formal expansion: the size of
    its remainder is observed, not proved.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    order = integer("order", order, at_least=1, at_most=4)
    if ones in (0, n - 1):
        coefficients = _canonical_coefficients(*cumulants(channel if ones == 0 else _exchanged(channel)))
    elif order <= 2:
        at = moments(channel, (ones + 0.5) / n)
        coefficients = (at.fisher / 8, _second_coefficient(at))
    else:
        raise DomainError(f"order <= 2 unless all others are alike (ones = 0 or n - 1): got order = {order}")
    terms = [c / n**power for power, c in enumerate(coefficients[:order], 1)]
    if not all(map(math.isfinite, terms)):
        raise DomainError("channel: an entry is so small that a coefficient is not a double")
    return math.fsum(terms)


def _exchanged(channel):
    """The channel with its inputs 0 and 1 exchanged; for randomized response that is another name for the outputs."""
    return channel if isinstance(channel, RandomizedResponse) else two_input_rows(channel)[::-1]


def _canonical_coefficients(k2: float, k3: float, k4: float, k5: float) -> tuple[float, ...]:
    """Coefficients of 1/n to 1/n^4, in the cumulants of the likelihood ratio of one message."""
    return (
        k2 / 8,
        (7 * k2**2 - 4 * k3) / 64,
        (93 * k2**3 - 90 * k2 * k3 + 14 * k4) / 384,
        (5715 * k2**4 - 7560 * k2**2 * k3 + 1488 * k2 * k4 + 992 * k3**2 - 144 * k5) / 6144,
    )


def _second_coefficient(at: Moments) -> float:
    """The coefficient of 1/n^2 for any composition, with the first one at the midpoint of the change."""
    first, second = at.covariances
    with np.errstate(over="ignore", invalid="ignore"):
        curved = 0.5 * (second - first - at.third_cumulant(at.z)) @ at.inverse
        return 0.25 * float(np.trace(curved @ curved)) - at.fisher * (at.fisher / 64)


def jsd_lower_bound(channel, n, ones=0) -> float:
    r"""Lower bound of `shuffledp.jensen_shannon`, true for every n and every composition.

    .. math:: \mathrm{JSD} \ge \frac{I_{\pi^*}}{8n + 2I_{\pi^*}} .

    Arguments and errors as for `jsd_expansion`. In nats, positive, rounded down. It has the right first term of the
    expansion, so that the ratio to the exact value tends to 1.

    Notes
    -----
    Claim ``ext.jsd.lower``. The shuffled messages tell the two inputs apart at least as well as their best linear
    statistic does.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    fisher = moments(channel, (ones + 0.5) / n).fisher
    return fisher / (8 * n + 2 * fisher) * _ROUNDED
