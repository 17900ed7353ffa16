"""Several messages per user, exactly: all shuffled together, or each user's kept together, for few users."""

from __future__ import annotations

import math

import numpy as np

from ..core.bundles import bundle_types, log_multinomial
from ..core.curves import PrivacyCurve
from ..core.domain import MAX_USERS, DomainError, choice, integer, real_array
from ..core.randomizers import rows_and_shift, two_input_rows
from .channels import histogram_curve, log_laws_and_ratio

__all__ = ["shuffled_messages", "unbundled_chi_square", "unbundled_likelihood_ratio"]

_MAX_MESSAGES = 200  # binomial coefficients are kept as whole numbers


def shuffled_messages(channel, n, messages, ones=0, bundled=False, direction="both") -> PrivacyCurve:
    r"""Exact privacy curve when each of n users sends several independent messages about the same input.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        The channel of one message: two inputs (rows), d >= 2 outputs; entries may be 0.
    n : int
        Number of users, at least 2.
    messages : int
        Messages per user, m, at least 1.
    ones : int
        How many of the n users hold 1 before the change, which turns one user's 0 into 1: ``0 <= ones <= n - 1``.
    bundled : bool
        False: all n m messages are shuffled together, :math:`(nm)^{d-1}` cells at most 2 million. True: the m messages
        of a user stay together, which is one message of the product channel; its outputs are counted by how often each
        symbol occurs in the bundle, since the order says nothing.
    direction : {"both", "forward", "reverse"}
        As for `shuffled_channel`.

    Returns
    -------
    PrivacyCurve
        Exact, with the accuracy of `shuffled_channel`. Replace-one neighbours: all messages of one user.

    Raises
    ------
    DomainError
        If an argument is outside its range, or there are too many cells.

    Notes
    -----
    Claims ``shvets26.bundle.unb`` and ``shvets26.bundle.bund`` say what the two become for many users.
    """
    rows, shift = rows_and_shift(channel, full_support=False)
    n = integer("n", n, at_least=2)
    messages = integer("messages", messages, at_least=1)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    direction = choice("direction", direction, ("both", "forward", "reverse"))
    if not isinstance(bundled, bool):
        raise DomainError(f"bundled must be True or False, got {bundled!r}")
    together = "bundles of " if bundled else ""
    if bundled:
        laws = log_laws_and_ratio(*_product(rows, shift, messages), n, ones)
    else:
        laws = log_laws_and_ratio(rows, shift, n, ones, messages)
    name = f"{together}{messages} messages of each of n = {n} users, shuffled: ones = {ones}, {direction}"
    return histogram_curve(laws, direction, name)


def unbundled_likelihood_ratio(channel, histogram, messages) -> float:
    r"""Likelihood ratio of a histogram when one user's m messages change from 0 to 1 and all others hold 0.

    .. math:: L(h) = \binom Nm^{-1}\,[\tau^m]\prod_y\Big(1 + \tau\,\frac{W_1(y)}{W_0(y)}\Big)^{h_y}:

    the mean, over all sets of m of the N = n m messages, of the product of their own ratios.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both.
    histogram : array_like of int
        How often each output occurs; the counts add up to N, a multiple of ``messages``.
    messages : int
        Messages per user, m, from 1 to 200.

    Returns
    -------
    float
        Positive; between the m-th powers of the least and the largest ratio of one message.

    Raises
    ------
    DomainError
        If an argument is outside its range, or the m-th power of a ratio is beyond the range of doubles.

    Notes
    -----
    Claim ``shvets26.bundle.esp``. A sum of positive terms: relative accuracy 1e-12.
    """
    rows = two_input_rows(channel, full_support=True)
    messages = integer("messages", messages, at_least=1, at_most=_MAX_MESSAGES)
    counts = real_array("histogram", histogram, at_least=0, at_most=MAX_USERS)
    if counts.shape != rows[0].shape or np.any(counts != np.floor(counts)):
        raise DomainError(f"histogram must hold {rows.shape[1]} whole numbers, one per output, got {histogram!r}")
    total = int(counts.sum())
    if total == 0 or total % messages:
        raise DomainError(f"histogram must add up to a positive multiple of messages = {messages}, got {total}")
    if messages * abs(np.log(rows[1]) - np.log(rows[0])).max() > 700:
        raise DomainError(f"messages = {messages}: the product of so many ratios is beyond the range of doubles")
    sizes = range(messages + 1)
    means, seen = [1.0] + [0.0] * messages, 0  # over sets of j messages among those seen, for every size j
    for ratio, count in zip((rows[1] / rows[0]).tolist(), counts.astype(int).tolist(), strict=True):
        old, new, both = ([math.comb(size, j) for j in sizes] for size in (seen, count, seen + count))
        means = [
            math.fsum(new[i] * old[j - i] / both[j] * ratio**i * means[j - i] for i in range(j + 1) if both[j])
            for j in sizes
        ]
        seen += count
    return means[messages]


def unbundled_chi_square(channel, n, messages) -> float:
    r"""Chi-square divergence of all messages shuffled, one user holding 1, from the same with no user holding 1.

    .. math:: \chi^2(T_{nm,m}\,\|\,T_{nm,0}) = \sum_{j=1}^m \binom mj^2\binom{nm}j^{-1}\,\chi^2(W_1\|W_0)^j

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), every output possible for both.
    n, messages : int
        Users (from 1 to ``10**15``) and messages per user (from 1 to 200).

    Returns
    -------
    float
        Positive. With one user :math:`(1+\chi^2)^m - 1`, for many about :math:`m\chi^2/n`.

    Raises
    ------
    DomainError
        If an argument is outside its range, or the value is beyond that of doubles.

    Notes
    -----
    Claim ``ext.bundle.chi-square``. Exact for every n, up to the rounding of ``rows[1] - rows[0]``.
    """
    rows = two_input_rows(channel, full_support=True)
    n = integer("n", n, at_least=1, at_most=MAX_USERS)
    messages = integer("messages", messages, at_least=1, at_most=_MAX_MESSAGES)
    chi_square = math.fsum((rows[1] - rows[0]) ** 2 / rows[0])
    try:
        return math.fsum(
            math.comb(messages, j) ** 2 / math.comb(n * messages, j) * chi_square**j for j in range(1, messages + 1)
        )
    except OverflowError:
        raise DomainError(f"messages = {messages}: the divergence is beyond the range of doubles") from None


def _product(rows: np.ndarray, shift: np.ndarray, messages: int) -> tuple[np.ndarray, np.ndarray]:
    """The channel of a whole bundle, whose outputs are the histograms of the bundle, and the difference of its rows."""
    counts = bundle_types(rows.shape[1], messages)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, second = (np.exp(log_multinomial(counts, np.log(row))) for row in rows)
        gain = np.where(counts > 0, counts * np.log1p(shift / rows[0]), 0.0).sum(axis=1)
        change = np.where(np.abs(gain) < 0.5, first * np.expm1(gain), second - first)
    return np.array([first, second]), change
