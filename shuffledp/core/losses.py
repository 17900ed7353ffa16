r"""Privacy-loss laws: what a curve must carry so that its mechanism can be composed.

The loss of P against Q is :math:`L = \log(P/Q)` at an outcome drawn from P. In independent rounds the losses add, and
:math:`\delta(\varepsilon) = E_P(1-e^{\varepsilon-L})_+`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property

import numpy as np

from .engine import log_binomial_probability

__all__ = ["BinomialLoss", "GaussianLoss", "TermLaw", "spread"]

_EXACT = Context(prec=50)


@dataclass(frozen=True)
class GaussianLoss:
    """Loss between two unit normal laws whose means are ``mu`` apart; the same in both directions."""

    mu: float


@dataclass(frozen=True)
class BinomialLoss:
    r"""Loss between the counts of ones in n users' shuffled binary randomized response, all others holding 0.

    With ``rising`` it is the loss of :math:`T_1` (user 1 holds 1) against :math:`T_0 \sim \mathrm{Bin}(n, q)`, else of
    :math:`T_0` against :math:`T_1`. The likelihood ratio at count t is
    :math:`1 + (t-nq)\,c/n = e^{-\varepsilon_0} + t\,c/n` with :math:`c = 2\sinh\varepsilon_0`. Counts are measured from
    `centre`, the whole part of nq, so that a distance from the mean keeps its digits at any n.
    """

    epsilon0: float
    n: int
    rising: bool

    @property
    def flip(self) -> float:
        """The probability q of a flipped bit."""
        return 1 / (1 + math.exp(self.epsilon0))

    @cached_property
    def _mean(self) -> tuple[int, float]:
        mean = _EXACT.divide(self.n, _EXACT.add(_EXACT.exp(Decimal(self.epsilon0)), 1))
        return int(mean), float(_EXACT.subtract(mean, int(mean)))

    @property
    def centre(self) -> int:
        """Whole part of the mean nq."""
        return self._mean[0]

    @property
    def spread(self) -> float:
        """Standard deviation of the count."""
        return math.sqrt(self.n * self.flip * (1 - self.flip))

    @property
    def mu(self) -> float:
        """Standard deviation of the loss, as n grows: mu of the Gaussian limit."""
        return 2 * math.sinh(self.epsilon0 / 2) / math.sqrt(self.n)

    def at(self, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Loss, and its log probability under the first law, at whole counts measured from `centre`."""
        whole, part = self._mean
        flip, keep = self.flip, 1 / (1 + math.exp(-self.epsilon0))
        distance = count - part
        slope = math.exp(self.epsilon0) / self.n * -math.expm1(-2 * self.epsilon0)
        excess = distance * slope
        near = np.abs(excess) < 0.5
        ratio = math.exp(-self.epsilon0) + (count + whole) * slope
        log_ratio = np.where(near, np.log1p(np.where(near, excess, 0.0)), np.log(ratio))
        ones = np.ones(count.shape)
        log_q = log_binomial_probability(self.n * ones, flip * ones, keep * ones, count + whole, distance)
        return (log_ratio, log_q + log_ratio) if self.rising else (-log_ratio, log_q)


@dataclass(frozen=True)
class TermLaw:
    r"""Names the law of G where :math:`\delta = \tfrac1n\,E(G_1+\dots+G_n)_+`: what `shuffledp.certify` needs to know.

    ``kind`` is "blanket" (k-ary randomized response), "clones" (k is 2), or what the others hold in k-ary randomized
    response, "third" or "first".
    """

    kind: str
    k: int
    epsilon0: float
    n: int


def spread(loss: np.ndarray, log_p: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Move every loss to the multiples of ``step`` around it, so that the likelihood ratio keeps its mean.

    Returns the multiples and their log probabilities under the first law, lower neighbours first. Delta can only grow:
    it is the mean, under the second law, of a convex function of the ratio.
    """
    below = np.floor(loss / step)
    share = np.clip(np.expm1(loss - below * step) / math.expm1(step), 0, 1)  # of the second law's mass that goes up
    place = np.concatenate([below, below + 1])
    with np.errstate(divide="ignore"):
        log_q = np.tile(log_p - loss, 2) + np.log(np.concatenate([1 - share, share]))
    return place, log_q + place * step
