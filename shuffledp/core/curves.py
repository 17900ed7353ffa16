"""Privacy curves: delta as a function of epsilon, in log space, inverted on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .domain import DomainError, real_array
from .numerics import safe_root

__all__ = ["PrivacyCurve"]


class PrivacyCurve:
    r"""Delta as a function of epsilon for one mechanism, :math:`\delta(\varepsilon)`.

    Neighbours are replace-one, logarithms natural. Curves are made by the functions of this library
    (`shuffledp.shuffled_rr`, `shuffledp.gaussian_curve`, ...); what such a curve is, an exact value, an upper bound or
    a limit, is said by `kind`.

    Parameters
    ----------
    log_delta : callable
        Maps a one-dimensional float array of epsilon, all finite and at least 0, to the natural log of delta (``-inf``
        where delta is exactly 0). Non-increasing.
    name : str
        What the curve describes, for tables and plots.
    kind : {"exact", "upper bound", "limit"}
        What kind of number delta is. Only the first two are guarantees.
    accuracy : float
        Relative accuracy of delta: the computed delta is within a factor ``1 +- accuracy`` of the curve's true value
        (absolutely of ``log_delta`` where delta underflows). `epsilon` allows for it.
    epsilon_max : float
        From here on delta is exactly 0 (pure differential privacy), or ``inf``.
    """

    KINDS = ("exact", "upper bound", "limit")

    def __init__(
        self,
        log_delta: Callable[[np.ndarray], np.ndarray],
        *,
        name: str,
        kind: str,
        accuracy: float = 1e-12,
        epsilon_max: float = math.inf,
    ):
        if kind not in self.KINDS:
            raise ValueError(f"kind must be one of {self.KINDS}, got {kind!r}")
        self._log_delta = log_delta
        self.name = name
        self.kind = kind
        self.accuracy = accuracy
        self.epsilon_max = epsilon_max

    def __repr__(self) -> str:
        return f"<PrivacyCurve: {self.name} ({self.kind})>"

    def _at(self, epsilon: float) -> float:
        """log delta at one epsilon that is known to be in range."""
        if epsilon >= self.epsilon_max:
            return -math.inf
        return float(self._log_delta(np.array([epsilon]))[0])

    def log_delta(self, epsilon):
        """Natural log of delta, finite where delta itself underflows.

        Parameters
        ----------
        epsilon : float or array_like
            Privacy parameter, natural log; every entry finite and at least 0.

        Returns
        -------
        float or ndarray
            Same shape as ``epsilon``; ``-inf`` where delta is exactly 0.

        Raises
        ------
        DomainError
            If an entry is negative, nan or infinite.
        """
        epsilons = real_array("epsilon", epsilon, at_least=0)
        flat = epsilons.ravel()
        out = np.full(flat.shape, -np.inf)
        inside = flat < self.epsilon_max
        if inside.any():
            out[inside] = self._log_delta(flat[inside])
        return float(out[0]) if epsilons.ndim == 0 else out.reshape(epsilons.shape)

    def delta(self, epsilon):
        """Delta at epsilon; array in, array out. See `log_delta` for range and errors.

        For an upper bound the value is never below the bound's true value by more than the relative `accuracy`.
        """
        logs = self.log_delta(epsilon)
        return math.exp(logs) if isinstance(logs, float) else np.exp(logs)

    def epsilon(self, delta):
        """Smallest epsilon with ``delta(epsilon) <= delta``, rounded to the safe side.

        Parameters
        ----------
        delta : float or array_like
            Every entry in (0, 1).

        Returns
        -------
        float or ndarray
            Same shape as ``delta``. Never too small: the curve's delta there, allowing for `accuracy`, is at most
            ``delta``. Exactly 0.0 where ``delta(0)`` already suffices.

        Raises
        ------
        DomainError
            If an entry is outside (0, 1), or the curve never falls to it.
        """
        deltas = real_array("delta", delta, above=0, below=1)
        out = np.array([self._epsilon(math.log(d)) for d in deltas.ravel()])
        return float(out[0]) if deltas.ndim == 0 else out.reshape(deltas.shape)

    def _epsilon(self, log_target: float) -> float:
        goal = log_target - self.accuracy

        def excess(epsilon: float) -> float:
            return self._at(epsilon) - goal

        if excess(0.0) <= 0:
            return 0.0
        if math.isfinite(self.epsilon_max):
            return safe_root(excess, 0.0, self.epsilon_max)
        low, high = 0.0, 1.0
        while excess(high) > 0:
            low, high = high, 2 * high
            if high > 1e300:
                raise DomainError(f"delta is never reached: {self.name} stays above it at every epsilon")
        return safe_root(excess, low, high)
