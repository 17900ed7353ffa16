"""Any finite channel with two inputs, shuffled: exact privacy curves by the law of the histogram, for few users."""

from __future__ import annotations

import math

import numpy as np

from ..core.curves import PrivacyCurve
from ..core.domain import DomainError, choice, integer
from ..core.numerics import log_sum_exp, stirling_remainder
from ..core.randomizers import rows_and_shift

__all__ = ["histogram_curve", "log_laws", "shuffled_channel"]

_MAX_CELLS = 2 * 10**6
_MAX_WORK = 10**9  # cells times users of the smaller group


def shuffled_channel(channel, n, ones=0, direction="both") -> PrivacyCurve:
    r"""Exact privacy curve of n users' messages through a channel with two inputs, shuffled.

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        Two inputs (rows), d >= 2 outputs; an array is read as the rows. Entries may be 0.
    n : int
        Number of users, at least 2. The law of the histogram is kept on :math:`n^{d-1}` cells, at most 2 million.
    ones : int
        How many of the n users hold 1 before the change, which turns one user's 0 into 1: ``0 <= ones <= n - 1``.
    direction : {"both", "forward", "reverse"}
        ``"forward"`` is the hockey-stick divergence of the law after the change from the law before, ``"reverse"`` the
        other way round, ``"both"`` the larger of the two, which a guarantee needs.

    Returns
    -------
    PrivacyCurve
        Exact: error of ``log_delta`` below 1e-11. Where epsilon is within a relative 1e-2 of the largest loss, up to
        1e-13, or 1e-15 of the size of ``log_delta``, divided by that distance. Replace-one neighbours.

        With two outputs each row is read by its smaller entry, the other being what is missing to 1. More outputs are
        taken as they are: close rows which do not add up to exactly 1 differ by that rounding too.

    Raises
    ------
    DomainError
        If an argument is outside its range, or the histogram has too many cells.

    Notes
    -----
    With M the law of the other users' histogram, the histograms
    before and after are :math:`\sum_y W_0(y) M(h - e_y)` and :math:`\sum_y W_1(y) M(h - e_y)`: one user left out, so
    that the ratio of the two is right to rounding however rare h is. The laws are kept as logs; the loss is the log of
    1 plus their difference, :math:`\sum_y (W_1-W_0)(y) M(h - e_y)`, over one of them, and keeps its digits for close
    rows.
    """
    rows, shift = rows_and_shift(channel, full_support=False)
    n = integer("n", n, at_least=2)
    ones = integer("ones", ones, at_least=0, at_most=n - 1)
    direction = choice("direction", direction, ("both", "forward", "reverse"))
    return histogram_curve(
        log_laws_and_ratio(rows, shift, n, ones),
        direction,
        f"channel with {rows.shape[1]} outputs, shuffled: n = {n}, ones = {ones}, {direction}",
    )


def histogram_curve(laws: tuple[np.ndarray, np.ndarray, np.ndarray], direction: str, name: str) -> PrivacyCurve:
    """Exact curve of the histogram with these log laws before and after the change, and this log of their ratio."""
    before, after, loss = laws
    pairs = {"both": [(after, loss), (before, -loss)], "forward": [(after, loss)], "reverse": [(before, -loss)]}
    pairs = [_Loss(*pair) for pair in pairs[direction]]
    return PrivacyCurve(
        lambda epsilon: np.minimum(np.max([loss.log_delta(epsilon) for loss in pairs], axis=0), 0.0),
        name=name,
        kind="exact",
        accuracy=1e-11,
        epsilon_max=max(loss.largest for loss in pairs),
    )


def log_laws(rows, n: int, ones: int, messages: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Log laws of the histogram before and after one user's 0 becomes 1, ``ones`` of the n users holding 1 before.

    Every user sends ``messages`` independent messages, all shuffled together. Over the counts of all outputs but the
    last; ``-inf`` where a count is impossible. Raises `DomainError` if there are too many cells.
    """
    return log_laws_and_ratio(rows, rows[1] - rows[0], n, ones, messages)[:2]


def log_laws_and_ratio(rows, shift, n: int, ones: int, messages: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`log_laws` of these rows, and the log of the ratio of the two laws, from the difference of the rows."""
    outputs, total = rows.shape[1], n * messages
    cells = (total + 1) ** (outputs - 1)
    if cells > _MAX_CELLS or cells * min(ones, n - 1 - ones) * messages > _MAX_WORK:
        raise DomainError(f"{total} messages with {outputs} outputs give {cells} cells: too many, at most {_MAX_CELLS}")
    with np.errstate(divide="ignore"):
        logs = np.log(rows)
    groups = sorted([(n - 1 - ones, logs[0]), (ones, logs[1])], key=lambda group: group[0])
    (few, few_logs), (many, many_logs) = groups
    before = _log_multinomial(many * messages, total, many_logs)
    for _ in range(few * messages):
        before = _add_message(before, few_logs)
    after = apart = before  # apart: what is common to the terms of after - before, all its messages but one
    for sent in range(messages):
        if sent:
            apart = np.logaddexp(_add_message(apart, logs[1]), before)
        before, after = _add_message(before, logs[0]), _add_message(after, logs[1])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gain, fall = (
            sum(change * np.exp(part - law) for change, part in zip(shift, _one_more(apart), strict=True) if change)
            for law in (before, after)
        )
        loss = np.where(gain > 0, np.log1p(gain), -np.log1p(-fall))
    # impossible before or after, or a ratio beyond the range of doubles
    plain = ~np.isfinite(loss) & ((before > -np.inf) | (after > -np.inf))
    loss[plain] = after[plain] - before[plain]
    return before, after, loss


def _log_multinomial(messages: int, room: int, logs: np.ndarray) -> np.ndarray:
    """Log law of the histogram of independent messages alike, in an array with room for more."""
    counts = list(np.indices((room + 1,) * (len(logs) - 1)).astype(float))
    last = messages - sum(counts)
    counts.append(np.maximum(last, 0.0))
    total = np.full(last.shape, float(stirling_remainder(messages)))
    for count, log in zip(counts, logs, strict=True):
        seen = np.maximum(count, 1.0)
        with np.errstate(invalid="ignore"):  # 0 times the log of 0
            term = count * (log + math.log(max(messages, 1)) - np.log(seen))
        total += np.where(count > 0, term, 0.0) - stirling_remainder(count)
    return np.where(last >= 0, total, -np.inf)


def _add_message(law: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Log law of the histogram with one more message, which has these log probabilities."""
    out = np.full(law.shape, -np.inf)
    for shifted, log in zip(_one_more(law), logs, strict=True):
        out = np.logaddexp(out, shifted + log)
    return out


def _one_more(law: np.ndarray):
    """The log law of the histogram with one more message, which is known: one for each output."""
    for axis in range(law.ndim):
        shifted = np.full(law.shape, -np.inf)
        later, earlier = [slice(None)] * law.ndim, [slice(None)] * law.ndim
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        shifted[tuple(later)] = law[tuple(earlier)]
        yield shifted
    yield law


class _Loss:
    """The privacy loss of one law against another, sorted, for the hockey-stick divergence at many orders."""

    def __init__(self, p: np.ndarray, loss: np.ndarray):
        possible = p > -np.inf
        p, loss = p[possible], loss[possible]
        order = np.argsort(-loss)
        self._p, self._loss = p[order], loss[order]
        self.largest = float(self._loss[0])

    def log_delta(self, epsilon: np.ndarray) -> np.ndarray:
        """Log of the sum of ``p (1 - e^(epsilon - loss))`` over the outcomes whose loss exceeds epsilon."""
        out = np.full(epsilon.shape, -np.inf)
        for i, end in enumerate(np.searchsorted(-self._loss, -epsilon)):
            if end:
                terms = self._p[:end] + np.log(-np.expm1(epsilon[i] - self._loss[:end]))
                out[i] = log_sum_exp(terms)
        return out
