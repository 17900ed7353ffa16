r"""The Fisher constant of a channel at a composition, and the moments of one message that every limit is made of.

A message of a user who holds b has law :math:`W_b`; a share :math:`\pi` of the users holds 1. The histogram of n users
has covariance :math:`n\Sigma_\pi`, where :math:`\Sigma_\pi = (1-\pi)\Sigma_0 + \pi\Sigma_1` averages the covariances
:math:`\Sigma_b = \mathrm{diag}(W_b) - W_bW_b^\top`, and one user who changes from 0 to 1 moves its mean by
:math:`v = W_1 - W_0`. With :math:`p_\pi = (1-\pi)W_0 + \pi W_1`,

.. math:: J = \sum_y\frac{v_y^2}{p_\pi(y)},\qquad A = \sum_y\frac{W_0(y)W_1(y)}{p_\pi(y)} = 1 - \pi(1-\pi)J,

the score :math:`z = v/(p_\pi A)` solves :math:`\Sigma_\pi z = v`, so that :math:`I_\pi = v^\top z = J/A`: no matrix is
ever inverted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.domain import DomainError, real
from ..core.randomizers import rows_and_shift

__all__ = ["Moments", "canonical_law", "cumulants", "fisher_constant", "mixture_fisher_constant", "moments"]


@dataclass(frozen=True)
class Moments:
    r"""What the limits need to know of a channel with two inputs and d outputs, at a composition.

    Attributes
    ----------
    pi : float
        Share of the users who hold 1, in [0, 1].
    rows : ndarray, shape (2, d)
        The laws :math:`W_0, W_1` of one message.
    v, p : ndarray, shape (d,)
        :math:`W_1 - W_0` and :math:`(1-\pi)W_0 + \pi W_1`.
    J, A : float
        :math:`\sum v^2/p` and :math:`\sum W_0W_1/p = 1 - \pi(1-\pi)J`.
    """

    pi: float
    rows: np.ndarray
    v: np.ndarray
    p: np.ndarray
    J: float
    A: float

    @property
    def fisher(self) -> float:
        r"""The Fisher constant :math:`I_\pi = v^\top z = J/A`."""
        return self.J / self.A

    @property
    def z(self) -> np.ndarray:
        r"""The score :math:`v/(pA)`, shape (d,): :math:`\Sigma_\pi z = v` and :math:`\sum p z = 0`.

        Only its differences matter, since the counts of a histogram add up to n. At :math:`\pi = 0` it is
        :math:`W_1/W_0 - 1`.
        """
        return self.v / (self.p * self.A)

    @property
    def covariances(self) -> tuple[np.ndarray, np.ndarray]:
        r""":math:`\Sigma_0` and :math:`\Sigma_1`, each of shape (d, d)."""
        first, second = (np.diag(row) - np.outer(row, row) for row in self.rows)
        return first, second

    @property
    def covariance(self) -> np.ndarray:
        r""":math:`\Sigma_\pi`, shape (d, d)."""
        first, second = self.covariances
        return (1 - self.pi) * first + self.pi * second

    @property
    def inverse(self) -> np.ndarray:
        r"""A generalized inverse G of :math:`\Sigma_\pi`, symmetric: :math:`\Sigma_\pi G\Sigma_\pi = \Sigma_\pi`.

        Diagonal plus a matrix of rank one, by the formula of Sherman and Morrison. For matrices B whose rows add up to
        0, such as covariances of histograms, the traces of :math:`BG` and :math:`(BG)^2` do not depend on which
        generalized inverse is taken.
        """
        u = self.v / self.p
        return np.diag(1 / self.p) + self.pi * (1 - self.pi) / self.A * np.outer(u, u)

    def third_cumulant(self, z: np.ndarray) -> np.ndarray:
        r"""The third cumulant of one message's histogram, averaged over the users, applied once to z: shape (d, d).

        Entry (i, j) is :math:`\sum_l \kappa_{3,\pi,ijl}\,z_l`; apply the result to z twice more for
        :math:`\kappa_{3,\pi}(z,z,z)`. A constant added to z changes nothing.
        """
        parts = []
        for row in self.rows:
            weighted = row * (z - row @ z)
            cross = np.outer(weighted, row)
            parts.append(np.diag(weighted) - cross - cross.T)
        return (1 - self.pi) * parts[0] + self.pi * parts[1]


def moments(channel, pi) -> Moments:
    """The moments of one message at a composition.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both; an array is read as the rows. With two outputs each row is
        read by its smaller entry, the other being what is missing to 1, as by `shuffledp.jensen_shannon`.
    pi : float
        Share of the users who hold 1, in [0, 1].

    Raises
    ------
    DomainError
        If the channel has not two inputs, an entry is zero, ``pi`` is out of range, or a constant underflows.
    """
    rows, v = rows_and_shift(channel)
    pi = real("pi", pi, at_least=0, at_most=1)
    p = (1 - pi) * rows[0] + pi * rows[1]
    with np.errstate(over="ignore", under="ignore"):
        J, A = math.fsum(v * (v / p)), math.fsum(rows[0] * (rows[1] / p))
    if not (0 < J < math.inf and 0 < A < math.inf):
        raise DomainError("channel: the rows are so close, or an entry is so small, that the constant is not a double")
    return Moments(pi, rows, v, p, J, A)


def fisher_constant(channel, pi) -> float:
    r"""Fisher constant of the shuffled histogram: squared shift of one user over the variance of one message.

    .. math:: I_\pi = \max_s \frac{(s^\top v)^2}{s^\top\Sigma_\pi s} = \frac JA, \qquad
        J = \sum_y\frac{(W_1(y) - W_0(y))^2}{p_\pi(y)},\quad A = \sum_y\frac{W_0(y)W_1(y)}{p_\pi(y)}.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both; an array is read as the rows.
    pi : float
        Share of the users who hold 1, in [0, 1]. At 0 and 1 the value is a chi-square divergence of the two rows.

    Returns
    -------
    float
        Positive, relative accuracy 1e-14. The privacy of n users is that of a Gaussian shift by ``sqrt(I/n)``, up to
        terms of smaller order: a limit, not a bound.

    Raises
    ------
    DomainError
        If the channel has not two inputs, an entry is zero, or ``pi`` is out of range.

    Notes
    -----
    Claim ``shvets26.cov.fisher``. For binary randomized response it is ``4 sinh(epsilon0/2)**2`` at every ``pi``.
    """
    return moments(channel, pi).fisher


def mixture_fisher_constant(channel, pi) -> float:
    r"""The constant J that belongs to the covariance of a *random* message, smaller than the Fisher constant.

    .. math:: J = v^\top\Sigma_{\mathrm{mix}}^+v = \frac{I_\pi}{1+\pi(1-\pi)I_\pi},\qquad
        \Sigma_{\mathrm{mix}} = \mathrm{diag}(p_\pi) - p_\pi p_\pi^\top.

    Right if the other users' inputs are themselves random, independently 1 with probability ``pi``, and unknown to the
    adversary. For fixed inputs it overstates the privacy unless ``pi`` is 0 or 1: the unsafe side. Arguments, errors
    and accuracy as for `fisher_constant`.

    Notes
    -----
    Claim ``shvets26.cov.mixture``.
    """
    return moments(channel, pi).J


def canonical_law(channel) -> tuple[np.ndarray, np.ndarray]:
    r"""Law of :math:`X = W_1(Y)/W_0(Y) - 1` for a message Y of a user who holds 0: its values and their probabilities.

    The likelihood ratio of the canonical pair (all other users hold 0) is 1 plus the mean of n independent copies of X.
    Mean 0, variance the chi-square divergence. Arguments and errors as for `fisher_constant`.
    """
    rows, v = rows_and_shift(channel)
    with np.errstate(over="ignore"):
        return _finite(v / rows[0]), rows[0]


def cumulants(channel) -> tuple[float, float, float, float]:
    """Second to fifth cumulant of the X of `canonical_law`. Arguments and errors as for `fisher_constant`."""
    x, weight = canonical_law(channel)
    with np.errstate(over="ignore", invalid="ignore"):
        powers = weight * x ** np.array([[2], [3], [4], [5]])
        _finite(np.abs(powers).sum(axis=1))
        second, third, fourth, fifth = np.array([math.fsum(power) for power in powers])
        return tuple(_finite(np.array([second, third, fourth - 3 * second**2, fifth - 10 * second * third])).tolist())


def _finite(values: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(values)):
        raise DomainError("channel: an entry is so small that a moment of the likelihood ratio is not a double")
    return values
