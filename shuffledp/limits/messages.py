r"""Several messages per user, in the limit of many users.

*Unbundled*, all n m messages are shuffled together; *bundled*, the m messages of a user stay together and the n bundles
are shuffled. A bundle is one message of the product channel, and that channel has a Fisher constant of its own.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.bundles import bundle_types, log_multinomial
from ..core.domain import MAX_USERS, DomainError, integer
from .fisher import canonical_law, moments

__all__ = ["bundled_fisher_constant", "bundled_mu", "unbundled_mu"]


def unbundled_mu(channel, n, pi, messages) -> float:
    r"""Gaussian limit when all messages are shuffled together: :math:`\mu = \sqrt{m I_\pi/n}`.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        The channel of one message: two inputs (rows), every output possible for both.
    n : int
        Number of users, ``2 <= n <= 10**15``.
    pi : float
        Share of the users who hold 1, in [0, 1].
    messages : int
        Messages per user, m, at least 1: independent, all of the same input.

    Returns
    -------
    float
        mu of the `shuffledp.gdp` curve that both directions approach: a limit, not a bound.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claim ``shvets26.bundle.unb``.
    """
    n, messages = _users_and_messages(n, messages)
    return math.sqrt(messages * moments(channel, pi).fisher / n)


def bundled_mu(channel, n, pi, messages) -> float:
    r"""Gaussian limit when the messages of a user stay together, at every composition.

    :math:`\mu = \sqrt{I/n}` with the `bundled_fisher_constant` I. At least `unbundled_mu`, since unbundling is
    post-processing. Arguments, errors and caveat as there; ``messages`` may make at most 200,000 kinds of bundle.

    Notes
    -----
    Claim ``shvets26.bundle.bund``.
    """
    n, messages = _users_and_messages(n, messages)
    return _double("mu", 0.5 * (_log_bundled_constant(channel, pi, messages) - math.log(n)))


def bundled_fisher_constant(channel, pi, messages) -> float:
    r"""Fisher constant of the product channel: J/A, added up over the histograms of a bundle.

    At ``pi = 0`` it is :math:`(1+\chi^2)^m - 1` with :math:`\chi^2 = \chi^2(W_1\|W_0)`, at ``pi = 1`` the same with the
    other chi-square divergence, and in between in general neither. Relative accuracy 1e-12. Arguments and errors as for
    `bundled_mu`.

    Notes
    -----
    Claim ``shvets26.bundle.bund``.
    """
    messages = integer("messages", messages, at_least=1)
    return _double("the constant", _log_bundled_constant(channel, pi, messages))


def _log_bundled_constant(channel, pi, messages: int) -> float:
    """Log of J/A for the product channel; the log ratio of a bundle is kept apart, so that close rows stay exact."""
    one = moments(channel, pi)
    x, weight = canonical_law(channel)
    counts = bundle_types(len(weight), messages)
    log_zero = log_multinomial(counts, np.log(weight))
    near = np.abs(x) < 0.5  # elsewhere the two logs do not cancel
    log_ratio = counts @ np.where(near, np.log1p(np.where(near, x, 0.0)), np.log(one.rows[1]) - np.log(weight))
    with np.errstate(divide="ignore"):
        log_p = np.logaddexp(np.log1p(-one.pi), np.log(one.pi) + log_ratio)  # over the law of a bundle of zeros
        larger = np.maximum(log_ratio, 0.0) + np.log(-np.expm1(-np.abs(log_ratio)))
    return _log_sum(log_zero + 2 * larger - log_p) - _log_sum(log_zero + log_ratio - log_p)


def _log_sum(logs: np.ndarray) -> float:
    top = logs.max()
    return float(top + math.log(math.fsum(np.exp(logs - top))))


def _users_and_messages(n, messages) -> tuple[int, int]:
    return integer("n", n, at_least=2, at_most=MAX_USERS), integer("messages", messages, at_least=1, at_most=MAX_USERS)


def _double(what: str, log: float) -> float:
    if not log < 709:
        raise DomainError(f"{what} is beyond the range of doubles: e^{log:.6g}")
    return math.exp(log)
