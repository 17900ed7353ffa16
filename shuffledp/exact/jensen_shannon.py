r"""Exact Jensen-Shannon divergence of two neighbouring histograms, in nats.

:math:`T_k` is the law of the histogram of n users' messages when k of them hold 1. With

.. math:: x = \frac{T_{k+1} - T_k}{T_{k+1} + T_k}, \qquad \bar T = \tfrac12(T_k + T_{k+1}), \qquad
    \mathrm{JSD}(T_k, T_{k+1}) = \mathrm E_{\bar T}\, g(x), \qquad
    g(x) = \tfrac12[(1+x)\log(1+x) + (1-x)\log(1-x)],

no term is negative. What must not cancel is x: it is computed without ever subtracting one law from the other.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..core.divergences import midpoint_generator
from ..core.domain import MAX_USERS, DomainError, integer
from ..core.engine import log_binomial_probability
from ..core.randomizers import rows_and_shift
from .channels import log_laws_and_ratio

__all__ = ["jensen_shannon"]

_LEAST_ENTRY = 1e-270
_TINY = 1e-300  # what is less probable before the change has probability below _TINY/_LEAST_ENTRY after it


def jensen_shannon(channel, n, ones=0) -> float:
    r"""Exact Jensen-Shannon divergence between the shuffled messages before and after one user's 0 becomes 1.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both; an array is read as the rows.
    n : int
        Number of users, at least 2: up to ``10**15`` with two outputs, as far as `shuffled_channel` goes with more.
    ones : int
        How many of the n users hold 1 before the change: ``0 <= ones <= n - 1``.

    Returns
    -------
    float
        In nats, positive and at most ln 2; divide by ``log(2)`` for bits. Symmetric in the two laws.

        Two outputs: relative error below 1e-14 (1e-13 where an entry is below 1e-40), at a cost that does not grow with
        n. Each row is read by its smaller entry, the other being what is missing to 1, and the accuracy is relative to
        rows so read: entries rounded to doubles may miss a sum of 1 by a good part of what close rows differ by.

        More outputs: relative error below 1e-12.

    Raises
    ------
    DomainError
        If the channel has not two inputs or an entry is zero, another argument is outside its range, or the histogram
        has too many cells.

    Notes
    -----
    Accuracies as measured against 60-digit sums, and for two outputs against the expansion up to ``10**15`` users.
    For the expansion in 1/n see `shuffledp.limits.jensen_shannon`, and for two given laws
    `shuffledp.core.divergences.jensen_shannon`.
    """
    rows, change = rows_and_shift(channel)
    two = rows.shape[1] == 2
    n = integer("n", n, at_least=2, at_most=MAX_USERS if two else None)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    if rows.min() < _LEAST_ENTRY:
        raise DomainError(f"channel must have entries >= {_LEAST_ENTRY:g}, got {rows.min():g}")
    if two:
        return _two_outputs(rows, change, n, ones)
    before, after, loss = log_laws_and_ratio(rows, change, n, ones)
    possible = before > -math.inf
    middle = 0.5 * (np.exp(before[possible]) + np.exp(after[possible]))
    return math.fsum(middle * midpoint_generator(np.tanh(0.5 * loss[possible])))


def _two_outputs(rows: np.ndarray, change: np.ndarray, n: int, ones: int) -> float:
    r"""The divergence of two laws of a count; ``change`` is :math:`W_1 - W_0`.

    Before the change the count is :math:`U + V`, with :math:`U \sim \mathrm{Bin}(n-k, a)` from the users who hold 0
    and V from the k others. If U were seen, the likelihood ratio would be linear in it. As only the sum is seen,

    .. math:: \frac{T_{k+1}}{T_k}(j) - 1 = (b-a)\,\mathrm E\Big[\frac{U - (n-k)a}{(n-k)\,a(1-a)} \,\Big|\, U+V=j\Big] .

    Every term of this sum is a product of probabilities and a distance from a mean, which is measured from the mean's
    whole part. The group with the larger variance takes the role of U: there the terms of both signs cancel least. Both
    groups are counted by their rarer output, so that small probabilities stay small numbers.

    Sums run over every s-th count only, s a quarter of a standard deviation, times s. The characteristic function of
    a sum of independent bits of variance :math:`\sigma^2` is at most :math:`\exp(-2\sigma^2\sin^2(\theta/2))`, and a
    strided sum differs from the full one by its values at the multiples of :math:`2\pi/s`: below 1e-50.
    """
    zeros = n - ones
    if zeros * rows[0].prod() < (ones + 1) * rows[1].prod():  # exchange the inputs: the users who hold 1 are U
        rows, change, zeros, ones = rows[::-1], -change, ones + 1, zeros - 1
    rare = int(np.argmin(rows[0]))
    along = 1 if rows[1, rare] <= 0.5 else -1  # V is counted by the same output as U, or by the other one
    first, second = _Count(zeros, rows[0, rare]), _Count(ones, rows[1].min())
    total = first.variance + second.variance

    v, step_v = _grid(second.variance, first.variance * second.variance / total)
    chance = second.probability(v)
    v, chance = v[chance > 0], chance[chance > 0]
    j, step_j = _grid(total, total)
    u = j[:, None] - along * v
    joint = first.probability(u) * chance
    before, moved = joint.sum(axis=1), (joint * (u - first.part)).sum(axis=1)
    possible = before > _TINY
    before, moved = before[possible], moved[possible] * (change[rare] / first.variance)
    middle = before + 0.5 * moved
    x = np.clip(0.5 * moved / middle, -1, 1)  # where one law has next to nothing, rounding may go beyond
    return step_j * step_v * math.fsum(middle * midpoint_generator(x))


class _Count:
    """A binomial count with success probability p <= 1/2, its places measured from the whole part of its mean."""

    def __init__(self, users: int, p: float):
        mean = users * Fraction(p)
        self.whole = math.floor(mean)
        self.part = float(mean - self.whole)
        self.users, self.p, self.variance = users, p, users * p * (1 - p)

    def probability(self, place: np.ndarray) -> np.ndarray:
        count = place + self.whole
        inside = (count >= 0) & (count <= self.users)
        place, count = place[inside], count[inside]
        users, p, q = (np.full(count.shape, float(value)) for value in (self.users, self.p, 1 - self.p))
        out = np.zeros(inside.shape)
        out[inside] = np.exp(log_binomial_probability(users, p, q, count, place - self.part))
        return out


def _grid(variance: float, resolved: float) -> tuple[np.ndarray, int]:
    """Places around a mean beyond which a sum of bits of this variance lies with probability below e^-45 on each side,
    by Bernstein's inequality; the step is a quarter of the standard deviation to be resolved, at least 1."""
    reach = math.ceil(15 + math.sqrt(225 + 90 * variance))
    step = max(1, int(math.sqrt(resolved) / 4))
    return np.arange(-reach, reach + 2, step, dtype=float), step
