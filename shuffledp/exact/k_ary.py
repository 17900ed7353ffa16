r"""k-ary randomized response with k >= 3, shuffled: exact privacy curves for given data of the other users.

Each of n users holds one of k symbols and sends it with probability :math:`e^{\varepsilon_0}p`, any other one with
probability :math:`p = 1/(e^{\varepsilon_0}+k-1)` each. One user's symbol changes from the first to the second.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ..core.curves import PrivacyCurve
from ..core.domain import choice, integer, real
from ..core.engine import log_binomial_call, log_binomial_probability
from ..core.four_atoms import log_excess_by_contour, log_four_atom_excess, saddle, tilted, window
from ..core.losses import TermLaw
from ..core.numerics import log_sum_exp

__all__ = ["shuffled_krr"]

_OTHERS = ("third", "first", "worst")
_MANY = 12000.0  # expected messages of one given symbol from which the integral is tried before the sum


def shuffled_krr(k, epsilon0, n, others="third") -> PrivacyCurve:
    r"""Exact privacy curve of n users' k-ary randomized response, shuffled, for given data of the other users.

    Parameters
    ----------
    k : int
        Number of symbols, at least 3 (for two symbols use `shuffled_rr`).
    epsilon0 : float
        Local privacy parameter, natural log; ``0 < epsilon0 <= 30``.
    n : int
        Number of users, ``2 <= n <= 10**12``.
    others : {"third", "first", "worst"}
        What the other n - 1 users hold: all a third symbol, all the first, or whichever of the two gives the larger
        delta at that epsilon.

    Returns
    -------
    PrivacyCurve
        Exact for the data named, both directions: error of ``log_delta`` at most 1e-10, or 1e-14 of its size where that
        is larger. Delta is 0 from ``epsilon0``.

        It is not proved that one of these data sets is the worst of all. To leading order as n grows the third symbol
        is worse than the first; far in the tail the first can be worse. The privacy blanket bounds every data set.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claim ``shvets26.lr.canonical``. With all others alike the likelihood ratio is the mean over
    the messages of a function of the message, so that delta is the expected positive part of a sum of independent
    terms: four-valued with a third symbol, three-valued with the first.
    """
    k = integer("k", k, at_least=3)
    epsilon0 = real("epsilon0", epsilon0, above=0, at_most=30)
    others = choice("others", others, _OTHERS)
    n = integer("n", n, at_least=2, at_most=10**12)
    # of the squared mu with a third symbol: frequent messages tell less
    share = (1 + math.exp(-epsilon0)) / 2 if others == "first" else 1.0
    parts = {"third": (_third,), "first": (_first,), "worst": (_third, _first)}[others]

    def log_delta(epsilon: np.ndarray, rough: bool = False) -> np.ndarray:
        return np.minimum(np.max([part(k, epsilon0, n, epsilon, rough) for part in parts], axis=0) - math.log(n), 0.0)

    return PrivacyCurve(
        log_delta,
        rough=functools.partial(log_delta, rough=True),
        scale=math.sqrt(2 * share / (math.expm1(epsilon0) + k) / n) * math.expm1(epsilon0),
        name=f"{k}-ary randomized response, shuffled: epsilon0 = {epsilon0:g}, n = {n:g}, others {others}",
        kind="exact",
        accuracy=1e-10,
        epsilon_max=epsilon0,
        term_laws=tuple(TermLaw(held, k, epsilon0, n) for held in _OTHERS[:2] if others in (held, "worst")),
    )


def _third(k: int, epsilon0: float, n: int, epsilon: np.ndarray, rough: bool) -> np.ndarray:
    """All others at a third symbol; swapping the first two symbols shows that both directions are the same."""
    growth = math.exp(epsilon0)
    p = 1 / (math.expm1(epsilon0) + k)
    gain = np.exp(epsilon) * np.expm1(epsilon0 - epsilon)  # e^epsilon0 - e^epsilon
    loss = -np.expm1(epsilon)
    return log_four_atom_excess(
        n, (p, p, growth * p, (k - 3) * p), (gain, -np.expm1(epsilon + epsilon0), loss / growth, loss), loss, rough
    )


def _first(k: int, epsilon0: float, n: int, epsilon: np.ndarray, rough: bool) -> np.ndarray:
    r"""All others at the first symbol: the larger direction.

    With :math:`u = e^{\varepsilon_0}` and counts F and S of the first and the second symbol the ratio of the two laws
    is :math:`1 + (u-1)S/n - (1-1/u)F/n`, the mean over the messages of a ratio r. Forward needs the positive part of
    the sum of :math:`r - e^\varepsilon`, reverse that of :math:`e^{-\varepsilon} - r`, times :math:`e^\varepsilon`.
    """
    p = 1 / (math.expm1(epsilon0) + k)
    weights = np.array([p, math.exp(epsilon0) * p, (k - 2) * p])  # of the second, the first, any other symbol
    above, below = np.exp(epsilon), np.exp(-epsilon)
    rise = [above * np.expm1(epsilon0 - epsilon), above * np.expm1(-epsilon0 - epsilon), -np.expm1(epsilon)]
    fall = [-below * np.expm1(epsilon0 + epsilon), -below * np.expm1(epsilon - epsilon0), np.expm1(-epsilon)]
    values = np.concatenate([np.stack(rise, axis=1), np.stack(fall, axis=1)])
    scale = values.max(axis=1)
    values = values / scale[:, None]
    logs = np.full(scale.size, np.nan)
    if rough or n * p > _MANY:
        logs = log_excess_by_contour(n, weights, values, values[:, 2], rough)
    for i in np.flatnonzero(np.isnan(logs)):
        logs[i] = _first_sum(n, weights, values[i])
    logs += np.log(scale)
    return np.maximum(logs[: epsilon.size], logs[epsilon.size :] + epsilon)


def _first_sum(n: int, weights: np.ndarray, values: np.ndarray) -> float:
    r"""The same as a sum over the count S of the second symbol, which has positive terms.

    Given S, of the two other values let g be the larger, h the smaller and N the count of the latter, which is
    binomial: the sum is :math:`(g-h)(\tau-N)` with :math:`(g-h)\tau = g_0 S + g(n-S)`.
    """
    low, high = window(n, tilted(weights, values, saddle(n, weights, values))[0])
    seconds = np.arange(low, high + 1)
    smaller, larger = np.argsort(values[1:]) + 1
    rest, step = weights[1] + weights[2], values[larger] - values[smaller]
    tau = (values[0] * seconds + values[larger] * (n - seconds)) / step
    excess = log_binomial_call(n - seconds, weights[smaller] / rest, weights[larger] / rest, tau, above=False)
    log_seconds = log_binomial_probability(np.array([float(n)]), weights[0], rest, seconds, seconds - n * weights[0])
    return math.log(step) + log_sum_exp(excess + log_seconds)
