r"""Exact quantities of a shuffled transcript: who answered a step, given the outputs before it, and what that reveals.

User 1 holds one of two values, the others are fixed. Entry ``likelihood[u, j]`` is the density of output j + 1 at what
was really output, given the outputs before it, if user u + 1 answers; each column may be scaled at will. What is known
of the seats of the others is called ``order``:

``"first"``
    users 2, ..., n sit at steps 2, ..., n and user 1 at step 1; then step 1 and a uniformly random step I swap users;
``"last"``
    users 2, ..., n sit at steps 1, ..., n - 1 and user 1 at step n; then step n and a uniformly random step I swap
    users;
``"random"``
    a uniformly random permutation of all users, nothing else known.

In all three user 1 answers a step I that is uniform on 1, ..., n.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np

from ..core.domain import DomainError, choice, integer, real_array

__all__ = ["answerer", "step_ratio"]

ORDERS = ("first", "last", "random")
_MOST = 8  # users in the order "random": the work doubles with each


def answerer(likelihood, i, order) -> np.ndarray:
    r"""Law of the user who answers step i, given the outputs of steps 1, ..., i - 1.

    Its first entry is the posterior probability that the position I of user 1 is i.

    Parameters
    ----------
    likelihood : array_like, shape (..., n, m)
        Positive; n >= 2 rows, user 1 first; ``m >= max(i - 1, 1)`` columns, of which i - 1 are used. Leading axes are
        independent cases. An array of `fractions.Fraction` gives exact fractions.
    i : int
        The step, 1 to n.
    order : {"first", "last", "random"}
        What is known of the order of the others (see the module); "random" needs n <= 8.

    Returns
    -------
    ndarray, shape (..., n)
        Non-negative, sums to 1. Exact up to rounding.

    Raises
    ------
    DomainError
        If an argument is outside the range above.

    Notes
    -----
    Claims ``efmrtt19.thm7.posterior`` (order "first") and ``ext.thm7.last-swap`` (order "last").

    Examples
    --------
    >>> answerer([[1, 1], [2, 1], [1, 1]], 2, "last")  # weights 1/2, 1, 1 of I = 1, 2, 3; user 2 unless I = 2
    array([0.4, 0. , 0.6])
    """
    matrix, i = _checked(likelihood, i, order, spare=1)
    return _answerer(matrix, i, order)


def step_ratio(likelihood, alternative, i, order):
    r"""How much likelier output i is, given the outputs before it, if user 1 holds the first value than the second.

    Parameters
    ----------
    likelihood : array_like, shape (..., n, m)
        As in `answerer`, with ``m >= i`` columns; row 1 belongs to the first value of user 1.
    alternative : array_like, shape (..., m)
        Row 1 for the second value, columns scaled alike.
    i : int
        The step, 1 to n.
    order : {"first", "last", "random"}
        What is known of the order of the others; "random" needs n <= 8.

    Returns
    -------
    float or ndarray, shape (...)
        The ratio of the two conditional densities; a `fractions.Fraction` if both arrays hold fractions.

    Raises
    ------
    DomainError
        If an argument is outside the range above.

    Notes
    -----
    Claims ``efmrtt19.thm7.per-step``, ``ext.thm7.last-swap``, ``ext.thm7.correlation`` and ``ext.thm7.full``.

    Examples
    --------
    >>> step_ratio([[1, 2], [2, 1], [2, 1]], [1, 1], 2, "last")  # 1 + p (U - 1) with U = 2, p = 1/(2 + 1/2)
    1.4
    """
    matrix, i = _checked(likelihood, i, order, spare=0)
    row = _positive("alternative", alternative)
    if row.ndim < 1 or row.shape[-1] != matrix.shape[-1]:
        raise DomainError(f"alternative must have {matrix.shape[-1]} columns, as likelihood has, got shape {row.shape}")
    try:
        shape = np.broadcast_shapes(row.shape[:-1], matrix.shape[:-2])
    except ValueError:
        raise DomainError(
            f"alternative and likelihood must have matching leading axes, got shapes {row.shape} and {matrix.shape}"
        ) from None
    other = np.array(np.broadcast_to(matrix, shape + matrix.shape[-2:]), dtype=np.result_type(matrix, row))
    other[..., 0, :] = row

    def density(case: np.ndarray):
        return np.sum(_answerer(case, i, order) * case[..., i - 1], axis=-1)

    ratio = density(matrix) / density(other)
    return float(ratio) if isinstance(ratio, np.floating) else ratio


def _positive(name: str, value) -> np.ndarray:
    """The array as floats, or as it is if it holds fractions; every entry positive."""
    raw = np.asarray(value, dtype=object) if isinstance(value, (list, tuple)) else np.asarray(value)
    if raw.dtype == object and raw.size and all(isinstance(entry, Fraction) for entry in raw.flat):
        if min(raw.flat) <= 0:
            raise DomainError(f"{name} violates {name} > 0: got {min(raw.flat)}")
        return raw
    return real_array(name, value, above=0)


def _checked(likelihood, i, order, spare: int) -> tuple[np.ndarray, int]:
    choice("order", order, ORDERS)
    matrix = _positive("likelihood", likelihood)
    if matrix.ndim < 2 or matrix.shape[-2] < 2:
        raise DomainError(f"likelihood must have a row for each of n >= 2 users, got shape {matrix.shape}")
    n, columns = matrix.shape[-2:]
    if order == "random" and n > _MOST:
        raise DomainError(f'order "random" needs n <= {_MOST}, got n = {n}')
    i = integer("i", i, at_least=1, at_most=n)
    needed = max(i - spare, 1)
    if columns < needed:
        raise DomainError(f"likelihood must have at least {needed} columns for step {i}, got {columns}")
    return matrix, i


def _answerer(a: np.ndarray, i: int, order: str) -> np.ndarray:
    weight = _random(a, i) if order == "random" else _swapped(a, i, order)
    return weight / np.sum(weight, axis=-1, keepdims=True)


def _swapped(a: np.ndarray, i: int, order: str) -> np.ndarray:
    """Unnormalised law of who answers step i when step I and the first or last have swapped users."""
    n = a.shape[-2]
    lone = 0 if order == "first" else n - 1  # the step that user 1 leaves, counted from 0
    host = [(k if order == "first" else k + 1) % n for k in range(n)]  # who would answer step k without the swap
    swap = []  # weight of I = k + 1, over a factor common to all
    for k in range(n):
        weight = a[..., 0, 0] ** 0  # one, of the right type and shape
        if k != lone and k < i - 1:
            weight = weight * a[..., 0, k] / a[..., host[k], k]
        if lone < i - 1:
            weight = weight * a[..., host[k], lone]
        swap.append(weight)
    out = [0 * swap[0] for _ in range(n)]
    for k in range(n):
        user = 0 if k == i - 1 else host[k] if i - 1 == lone else host[i - 1]
        out[user] = out[user] + swap[k]
    return np.stack(out, axis=-1)


def _random(a: np.ndarray, i: int) -> np.ndarray:
    """Unnormalised law of who answers step i under a uniformly random permutation."""
    n = a.shape[-2]
    placed = {(): a[..., 0, 0] ** 0}  # by set of users: likelihood of the first outputs, summed over their orders
    for step in range(i - 1):
        placed = {
            users: sum(
                a[..., user, step] * placed[users[:place] + users[place + 1 :]] for place, user in enumerate(users)
            )
            for users in combinations(range(n), step + 1)
        }
    return np.stack([sum(value for users, value in placed.items() if user not in users) for user in range(n)], axis=-1)
