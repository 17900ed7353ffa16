r"""Berry and Esseen's theorem for the likelihood ratio of the canonical pair, with explicit constants.

All other users hold 0. Under the law of n zeros the likelihood ratio is 1 plus the mean of n independent copies of
:math:`X = W_1(Y)/W_0(Y) - 1`; under the law with one 1, one of the n messages has law :math:`W_1` instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.domain import MAX_USERS, integer, real_array
from .fisher import canonical_law, moments

__all__ = ["BerryEsseen", "berry_esseen"]

ALIKE = 0.4690  # independent terms of one law; Shevtsova 2013, quoted
INDEPENDENT = 0.5583  # independent terms of any laws; the same source


@dataclass(frozen=True)
class BerryEsseen:
    r"""What `berry_esseen` returns.

    Attributes
    ----------
    null : float
        Bound of :math:`\sup_x|P(S \le x) - \Phi(x)|` with :math:`S = (L-1)/\mu`, all n users holding 0.
    alternative : float
        The same with one user holding 1 and S centred and scaled by its own mean and standard deviation.
    """

    null: float
    alternative: float

    def curve(self, epsilon):
        r"""Bound of the error of the forward delta that follows: :math:`\Delta_1 + e^\varepsilon\Delta_0`.

        :math:`\delta_\to(\varepsilon) = P_1(L > e^\varepsilon) - e^\varepsilon P_0(L > e^\varepsilon)` has two
        distribution functions in it, each of which may be off by its own bound.

        Parameters
        ----------
        epsilon : float or array_like
            At least 0.

        Returns
        -------
        float or ndarray
            True and of no use: for binary randomized response it is more than 2.5 times the Gaussian delta, whatever
            epsilon, epsilon0 and n (claim ``shvets26.be.curve``). Use `gdp_certified`.
        """
        epsilons = real_array("epsilon", epsilon, at_least=0, at_most=700)
        out = self.alternative + np.exp(epsilons) * self.null
        return float(out) if epsilons.ndim == 0 else out


def berry_esseen(channel, n) -> BerryEsseen:
    r"""Kolmogorov distance of the canonical likelihood ratio from a normal law: bounds that hold at every n.

    .. math:: \Delta_0 \le 0.4690\,\frac{E_0|X|^3}{(E_0X^2)^{3/2}\sqrt n}, \qquad
        \Delta_1 \le 0.5583\,\frac{(n-1)\,E_0|X|^3 + E_1|X-E_1X|^3}{\bigl((n-1)\,E_0X^2+\mathrm{Var}_1X\bigr)^{3/2}}

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both; an array is read as the rows.
    n : int
        Number of users, ``2 <= n <= 10**15``.

    Returns
    -------
    BerryEsseen
        Upper bounds; 1 or more says nothing.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``shvets26.be.llr``, ``shvets26.be.curve``. The constants are those of Shevtsova 2013, quoted and not
    re-proved here. No constant for one law can be below :math:`(3+\sqrt{10})/(6\sqrt{2\pi}) = 0.40973` (Esseen 1956),
    which binomial counts attain in the limit.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    x, weight = canonical_law(channel)
    x = x / np.abs(x).max()  # the bounds do not depend on the scale of X
    one = moments(channel, 0).rows[1]
    variance, third = math.fsum(weight * x**2), math.fsum(weight * np.abs(x) ** 3)
    away = x - one @ x
    total = (n - 1) * variance + math.fsum(one * away**2)
    return BerryEsseen(
        null=ALIKE * (third / variance) / math.sqrt(variance * n),
        alternative=INDEPENDENT * (((n - 1) * third + math.fsum(one * np.abs(away) ** 3)) / total) / math.sqrt(total),
    )
