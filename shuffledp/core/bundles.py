"""Several messages of one user, kept together: by symmetry their histogram says all that the sequence says."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from .domain import DomainError
from .numerics import stirling_remainder

__all__ = ["bundle_types", "log_multinomial"]

_MAX_TYPES = 200_000


def bundle_types(outputs: int, messages: int) -> np.ndarray:
    """Every histogram of ``messages`` messages over ``outputs`` symbols: shape (types, outputs), rows sum to messages.

    Raises `DomainError` beyond 200,000 of them.
    """
    types = math.comb(messages + outputs - 1, outputs - 1)
    if types > _MAX_TYPES:
        raise DomainError(
            f"messages = {messages} of {outputs} symbols make {types} kinds of bundle: too many, at most {_MAX_TYPES}"
        )
    places = messages + outputs - 1  # the bars between messages written as stars
    bars = np.array(list(combinations(range(places), outputs - 1)), dtype=np.int64).reshape(types, outputs - 1)
    edges = np.hstack([np.full((types, 1), -1), bars, np.full((types, 1), places)])
    return np.diff(edges, axis=1) - 1


def log_multinomial(counts: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Log probability that independent messages with log probabilities ``logs`` have these histograms.

    Shapes: ``counts`` (types, outputs), the result (types,). An impossible symbol has the log ``-inf``.
    """
    messages = int(counts[0].sum())
    with np.errstate(invalid="ignore"):  # 0 times the log of 0
        terms = counts * (logs + math.log(messages) - np.log(np.maximum(counts, 1)))
    terms = np.where(counts > 0, terms, 0.0) - stirling_remainder(counts)
    return terms.sum(axis=1) + float(stirling_remainder(messages))
