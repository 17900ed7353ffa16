"""What the library refuses, and how it says so.

Every public function checks its arguments here before it computes anything, so that a nan, an infinity, a string or a
value outside the range of a theorem never turns into a plausible number.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

__all__ = [
    "MAX_USERS",
    "DomainError",
    "GuaranteeWarning",
    "choice",
    "integer",
    "probability_vector",
    "real",
    "real_array",
]


MAX_USERS = 10**15  # up to here every count is a double, with room for fractions of its spread
_LARGEST = 10**300  # of an integer without an upper end: it will meet doubles


class DomainError(ValueError):
    """An argument is outside the range in which the answer is known to be right; the message names the condition."""


class GuaranteeWarning(UserWarning):
    """A privacy guarantee is void, or weaker than it looks; the message says which and why."""


def _condition(name: str, above, at_least, below, at_most) -> str:
    low = f"{name} > {above!r}" if above is not None else f"{name} >= {at_least!r}" if at_least is not None else ""
    high = f"{name} < {below!r}" if below is not None else f"{name} <= {at_most!r}" if at_most is not None else ""
    return " and ".join(part for part in (low, high) if part) or f"{name} finite"


def _violates(value, above, at_least, below, at_most) -> bool:
    return (
        (above is not None and not value > above)
        or (at_least is not None and not value >= at_least)
        or (below is not None and not value < below)
        or (at_most is not None and not value <= at_most)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _scalar(value: Any) -> Any:
    """Unwrap a zero-dimensional array; everything else passes through."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def real(name: str, value: Any, *, above=None, at_least=None, below=None, at_most=None) -> float:
    """Return ``value`` as a finite float inside the stated range.

    Parameters
    ----------
    name : str
        The argument's public name, used in the message.
    value : object
        A Python or numpy real scalar. Booleans, strings, complex numbers and arrays are refused.
    above, at_least, below, at_most : float, optional
        The range: strict (``above``, ``below``) or closed (``at_least``, ``at_most``) ends.

    Returns
    -------
    float

    Raises
    ------
    DomainError
        If ``value`` is not a finite real number in the range; the message names the violated condition.
    """
    value = _scalar(value)
    condition = _condition(name, above, at_least, below, at_most)
    if not _is_number(value):
        raise DomainError(f"{name} must be a real number ({condition}), got {type(value).__name__} {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise DomainError(f"{name} must be finite ({condition}), got an integer too large for a double") from None
    if not math.isfinite(number):
        raise DomainError(f"{name} must be finite ({condition}), got {number!r}")
    if _violates(number, above, at_least, below, at_most):
        raise DomainError(f"{name} violates {condition}: got {number!r}")
    return number


def integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """Return ``value`` as a Python int inside the stated range.

    An integral float such as ``1e6`` is accepted; ``1.5``, nan, infinities, booleans and strings raise `DomainError`.
    So does, where no upper end is given, an integer beyond 1e300.
    """
    value = _scalar(value)
    condition = _condition(name, None, at_least, None, at_most)
    if not _is_number(value):
        raise DomainError(f"{name} must be an integer ({condition}), got {type(value).__name__} {value!r}")
    if not (isinstance(value, numbers.Integral) or math.isfinite(value)):
        raise DomainError(f"{name} must be a finite integer ({condition}), got {value!r}")
    if value != int(value):
        raise DomainError(f"{name} must be an integer ({condition}), got {value!r}")
    number = int(value)
    if at_most is None and abs(number) > _LARGEST:
        raise DomainError(f"{name} must be at most 1e300 in size ({condition}), got more")
    if _violates(number, None, at_least, None, at_most):
        raise DomainError(f"{name} violates {condition}: got {number!r}")
    return number


def real_array(name: str, value: Any, *, above=None, at_least=None, below=None, at_most=None) -> np.ndarray:
    """Return ``value`` (a scalar or any array-like of numbers) as a float array with every entry finite and in range.

    The shape is kept; a scalar gives a zero-dimensional array.
    """
    condition = _condition(name, above, at_least, below, at_most)
    try:
        raw = np.asarray(value)
    except ValueError:
        raise DomainError(f"{name} must be an array of real numbers ({condition}), got a ragged sequence") from None
    if raw.dtype.kind == "O" and raw.size and all(_is_number(item) for item in raw.flat):
        raw = np.array([real(name, item) for item in raw.flat]).reshape(raw.shape)
    if raw.dtype.kind not in "iuf":
        raise DomainError(f"{name} must hold real numbers ({condition}), got dtype {raw.dtype}")
    array = raw.astype(float)
    if not np.all(np.isfinite(array)):
        raise DomainError(f"{name} must be finite ({condition}), got {array[~np.isfinite(array)].flat[0]!r}")
    bad = (
        (array <= above if above is not None else False)
        | (array < at_least if at_least is not None else False)
        | (array >= below if below is not None else False)
        | (array > at_most if at_most is not None else np.zeros(array.shape, bool))
    )
    if np.any(bad):
        raise DomainError(f"{name} violates {condition}: got {float(array[bad].flat[0])!r}")
    return array


def probability_vector(name: str, value: Any, *, tolerance: float = 1e-12) -> np.ndarray:
    """Return ``value`` as a one-dimensional law: entries at least 0, summing to 1 within ``tolerance``."""
    law = real_array(name, value, at_least=0)
    if law.ndim != 1 or law.size == 0:
        raise DomainError(f"{name} must be a non-empty one-dimensional law, got shape {law.shape}")
    total = math.fsum(law)
    if abs(total - 1) > tolerance:
        raise DomainError(f"{name} must sum to 1 within {tolerance:g}, got {total!r}")
    return law


def choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the ``allowed`` strings."""
    if not isinstance(value, str) or value not in allowed:
        raise DomainError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value
