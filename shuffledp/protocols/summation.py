r"""Summation of real values in the shuffle model, one message per user, and the error no such protocol can beat.

Everybody rounds a value in [0, 1] at random to one of the k + 1 fractions i/k and sends i through (k+1)-ary randomized
response; the shuffler forgets who sent what; the analyzer adds up and corrects the mean. Balle, Bell, Gascon, Nissim
2019 (arXiv:1903.02837v2), Section 4. Replace-one neighbours, natural logs.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ..bounds.blanket import blanket_exact, blanket_mgf
from ..bounds.histogram import shuffled_rr_constant, shuffled_rr_gamma
from ..core.domain import MAX_USERS, DomainError, GuaranteeWarning, choice, integer, real, real_array
from ..core.numerics import golden_section, safe_root
from ..core.randomizers import RandomizedResponse

__all__ = ["SummationProtocol", "summation_lower_bound"]


class SummationProtocol:
    r"""Private sum of n values in [0, 1] in the shuffle model, one message of a few bits per user.

    Parameters
    ----------
    n : int
        Number of users, all of whom follow the protocol; 2 to 10^15. If only h of them do, take the gamma of n = h.
    epsilon, delta : float
        The guarantee: epsilon in (0, 10], for the theorem in (0, 1]; delta in (0, 1); replace-one.
    k : int or "paper", optional
        Number of steps of the grid, at least 1; messages are 0, ..., k. By default the integer with the least
        worst-case error; "paper" is the integer nearest to :math:`(n/c)^{1/3}`, at least 1, found in exact arithmetic,
        with :math:`c = \max\{14\log(2/\delta)/\varepsilon^2, 27/\varepsilon\}`.
    gamma : float, optional
        Probability, in (0, 1), of answering at random; needs k. By default what the calibration prescribes.
    calibration : {"theorem", "exact"}
        Where gamma comes from: Theorem 3.1 with k + 1 symbols, ``c (k+1)/(n-1)``; or the least gamma that the exact
        blanket bound (`blanket_exact`) shows to suffice, within a relative 1e-8 and rounded up. The second is about
        five times smaller and exists for every n; finding it may take seconds.

    Attributes
    ----------
    k, gamma : int, float
    bits : int
        Length of a message: the least b with ``2**b >= k + 1``.
    randomizer : RandomizedResponse
        What every user applies to the rounded value.

    Raises
    ------
    DomainError
        If an argument is out of range, gamma comes without k, or n is too small for Theorem 3.1 to give a gamma below
        1: the message says which n would do.
    ArithmeticError
        If the exact blanket bound cannot be evaluated to its accuracy.

    Warns
    -----
    GuaranteeWarning
        If gamma is given and the exact blanket bound does not show that it gives (epsilon, delta).

    Notes
    -----
    Claims ``bbgn19.sum.protocol``, ``bbgn19.sum.mse``, ``ext.pb.sum.worst``, ``ext.pb.sum.exact``. Theorem 3.1 as we
    recall it, see `shuffled_rr_gamma`. The generators of numpy are for study: use a vetted library for production.
    """

    def __init__(self, n, epsilon, delta, k=None, gamma=None, *, calibration="theorem"):
        self.n = integer("n", n, at_least=2, at_most=MAX_USERS)
        self.epsilon = real("epsilon", epsilon, above=0, at_most=10)
        self.delta = real("delta", delta, above=0, below=1)
        setting = self.n, self.epsilon, self.delta
        calibrate = _exact if choice("calibration", calibration, ("theorem", "exact")) == "exact" else _by_theorem
        if isinstance(k, str):
            choice("k", k, ("paper",))
            k = _nearest_cube_root(Fraction(self.n) / Fraction(shuffled_rr_constant(self.epsilon, self.delta)))
        elif k is not None:
            k = integer("k", k, at_least=1, at_most=10**6)
        if gamma is None:
            self.k, self.gamma = calibrate(*setting, k)
        elif k is None:
            raise DomainError("k must be given with gamma: at a fixed gamma the error falls with every further k")
        else:
            self.k, self.gamma = k, real("gamma", gamma, above=0, below=1)
            if not _is_shown(*setting, RandomizedResponse.from_gamma(k + 1, self.gamma)):
                goal = f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"
                warnings.warn(f"gamma = {self.gamma:.6g} was not shown to give {goal}.", GuaranteeWarning, stacklevel=2)
        self.bits = self.k.bit_length()
        self.randomizer = RandomizedResponse.from_gamma(self.k + 1, self.gamma)

    def __repr__(self) -> str:
        setting = f"n={self.n}, epsilon={self.epsilon:g}, delta={self.delta:g}"
        return f"SummationProtocol({setting}, k={self.k}, gamma={self.gamma:.6g})"

    def encode(self, x, rng: np.random.Generator) -> np.ndarray:
        """Messages of users with these values.

        Parameters
        ----------
        x : array_like
            Values in [0, 1], any shape, at least one.
        rng : numpy.random.Generator
            Source of all randomness: the same seed gives the same messages.

        Returns
        -------
        ndarray of int
            Labels 0, ..., k, same shape as ``x``. Given the value, the mean of label/k is ``(1-gamma) x + gamma/2``.

        Raises
        ------
        DomainError
            If a value is outside [0, 1] or not finite, there is none, or ``rng`` is not a generator.
        """
        if not isinstance(rng, np.random.Generator):
            raise DomainError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")
        scaled = self.k * _values("x", x, at_least=0, at_most=1)
        below = np.floor(scaled)
        rounded = below + (rng.random(scaled.shape) < scaled - below)
        return self.randomizer.sample(rounded, rng)

    def analyze(self, messages) -> float:
        """Unbiased estimate of the sum of the users' values, from all n messages in any order.

        Parameters
        ----------
        messages : array_like of int, shape (n,)
            Labels 0, ..., k.

        Returns
        -------
        float
            ``(sum of label/k - gamma n/2)/(1 - gamma)``: may fall outside [0, n].

        Raises
        ------
        DomainError
            If there are not n messages, or one is not a label.
        """
        labels = self._one_per_user("messages", messages, at_least=0, at_most=self.k)
        if np.any(labels != np.floor(labels)):
            raise DomainError(f"messages must be whole labels 0, ..., {self.k}")
        return (float(labels.sum()) / self.k - self.gamma * self.n / 2) / (1 - self.gamma)

    def run(self, x, rng: np.random.Generator) -> float:
        """Encode the values of all n users, shuffle the messages, analyze; see `encode` and `analyze`."""
        messages = self.encode(self._one_per_user("x", x, at_least=0, at_most=1), rng)
        return self.analyze(rng.permutation(messages))

    def mse(self, x) -> float:
        r"""Exact mean squared error of the estimate for these inputs: its variance, since it is unbiased.

        .. math::

            \frac1{(1-\gamma)^2}\sum_i\Bigl[\frac{(1-\gamma)f_i(1-f_i)}{k^2} + \frac{\gamma(k+2)}{12k}
            + \gamma(1-\gamma)\bigl(x_i-\tfrac12\bigr)^2\Bigr],\qquad f_i = kx_i - \lfloor kx_i\rfloor

        Parameters
        ----------
        x : array_like, shape (n,)
            Values in [0, 1].

        Raises
        ------
        DomainError
            If there are not n values, or one is outside [0, 1].

        Notes
        -----
        Claim ``bbgn19.sum.mse``. A function of the data: not private.
        """
        x = self._one_per_user("x", x, at_least=0, at_most=1)
        k, gamma = self.k, self.gamma
        f = k * x - np.floor(k * x)
        varying = (1 - gamma) * f * (1 - f) / k**2 + gamma * (1 - gamma) * (x - 0.5) ** 2
        return (float(varying.sum()) + self.n * gamma * (k + 2) / (12 * k)) / (1 - gamma) ** 2

    @property
    def worst_input(self) -> float:
        """The value for which, held by every user, the error is largest; so is 1 minus it."""
        return max(1 - self.gamma * self.k, 0) / (2 * (1 - self.gamma) * self.k)

    def worst_mse(self) -> float:
        r"""Largest mean squared error over all inputs, attained when all users hold `worst_input`.

        .. math::

            \frac n{(1-\gamma)^2}\Bigl[\frac{\gamma(k+2)}{12k} + \frac{\gamma(1-\gamma)}4
            + \frac{\max\{1-\gamma k, 0\}^2}{4k^2}\Bigr]

        Notes
        -----
        Claim ``ext.pb.sum.worst``.
        """
        return _worst_mse(self.n, self.k, self.gamma)

    def mse_bound(self) -> float:
        r"""The simple upper bound :math:`\frac n{(1-\gamma)^2}\bigl(\frac1{4k^2}+\frac\gamma2\bigr)` of `worst_mse`."""
        return self.n / (1 - self.gamma) ** 2 * (1 / (4 * self.k**2) + self.gamma / 2)

    def _one_per_user(self, name: str, given, **condition) -> np.ndarray:
        array = _values(name, given, **condition)
        if array.shape != (self.n,):
            raise DomainError(f"{name} must hold one entry for each of the n = {self.n} users, got shape {array.shape}")
        return array


def _values(name: str, given, **condition) -> np.ndarray:
    if np.size(given) == 0:
        raise DomainError(f"{name} must not be empty")
    return real_array(name, given, **condition)


def _worst_mse(n: int, k: int, gamma: float) -> float:
    rounding = max(1 - gamma * k, 0) ** 2 / (4 * k**2)
    return n / (1 - gamma) ** 2 * (gamma * (k + 2) / (12 * k) + gamma * (1 - gamma) / 4 + rounding)


def _nearest_cube_root(x: Fraction) -> int:
    """Integer nearest to the cube root of x, at least 1."""
    root = max(1, math.floor(float(x) ** (1 / 3)) - 1)
    while Fraction(2 * root + 1, 2) ** 3 < x:
        root += 1
    return root


def _least(f: Callable[[int], float], start: int) -> int:
    """Where f, falling and then rising, is least over the positive integers."""
    while f(start + 1) < f(start):
        start += 1
    while start > 1 and f(start - 1) < f(start):
        start -= 1
    return start


def _likely_k(n: int, c: float) -> int:
    """Best k to leading order for gamma = c (k+1)/(n-1)."""
    return max(1, round((1.5 * n / c) ** (1 / 3)))


def _by_theorem(n: int, epsilon: float, delta: float, k: int | None) -> tuple[int, float]:
    """k, the best if none is given, and the gamma of Theorem 3.1."""

    def gamma(k: int) -> float:
        return shuffled_rr_gamma(k + 1, n, epsilon, delta)

    if k is None:
        gamma(1)  # if even one step is too many, the error says which n would do
        c = shuffled_rr_constant(epsilon, delta)

        def error(k: int) -> float:
            try:
                return _worst_mse(n, k, gamma(k))
            except DomainError:  # not below 1
                return math.inf

        k = _least(error, max(1, min(_likely_k(n, c), int((n - 1) / c) - 2)))
    return k, gamma(k)


def _is_shown(n: int, epsilon: float, delta: float, randomizer: RandomizedResponse) -> bool:
    """Whether the exact blanket bound gives (epsilon, delta); first a bound of it that is quick and always exists."""
    quick = blanket_mgf(randomizer, n)
    if quick.log_delta(epsilon) + quick.accuracy <= math.log(delta):
        return True
    return _log_excess(n, epsilon, delta, randomizer) <= 0


def _log_excess(n: int, epsilon: float, delta: float, randomizer: RandomizedResponse) -> float:
    """At most 0 where the exact blanket bound shows (epsilon, delta), its accuracy and a rounded gamma allowed for."""
    curve = blanket_exact(randomizer, n)
    return curve.log_delta(epsilon) + 2 * curve.accuracy - math.log(delta)


def _exact(n: int, epsilon: float, delta: float, k: int | None) -> tuple[int, float]:
    """k, the best if none is given, and the least gamma that the exact blanket bound allows."""
    c = shuffled_rr_constant(min(epsilon, 1.0), delta) / 5  # a first guess; c hardly depends on k

    @functools.cache
    def gamma(k: int) -> float:
        nonlocal c
        found = RandomizedResponse(k + 1, _largest_epsilon0(n, epsilon, delta, k, c)).gamma
        c = found * (n - 1) / (k + 1)
        return found

    if k is None:
        for _ in range(2):
            k = _likely_k(n, c)
            gamma(k)
        k = _least(lambda k: _worst_mse(n, k, gamma(k)), k)
    return k, gamma(k)


def _largest_epsilon0(n: int, epsilon: float, delta: float, k: int, c: float) -> float:
    """Largest local parameter that is safe, searched from gamma = c (k+1)/(n-1) outwards; epsilon itself always is."""

    @functools.cache
    def excess(epsilon0: float) -> float:
        return _log_excess(n, epsilon, delta, RandomizedResponse(k + 1, epsilon0))

    # at gamma = 1/2 it is log(k + 2); near epsilon the curve falls faster than can be evaluated
    safe = unsafe = max(math.log1p(max((n - 1) / c - (k + 1), k + 1)), 1.1 * epsilon)
    step = 0.005
    while excess(safe) > 0:
        if safe < (1 + 1e-12) * epsilon:
            return epsilon
        unsafe, safe, step = safe, max(safe - step, (safe + epsilon) / 2), 2 * step
    while excess(unsafe) <= 0:
        safe, unsafe, step = unsafe, unsafe + step, 2 * step
    return safe_root(excess, unsafe, safe, rtol=1e-10)


def summation_lower_bound(n, epsilon, delta, K=None, lam=None) -> float:
    r"""Mean squared error that no one-message shuffle protocol for sums avoids on every input.

    .. math::

        \sup_x E\Bigl(A - \sum_i x_i\Bigr)^2 \ \ge\ \frac1{K^3}\sum_{j=1}^K\min\Bigl\{\frac{n\tau}4,\ \lambda s_j\Bigr\}

    with :math:`\tau = e^{-\varepsilon}\bigl(1-\frac\lambda n-\delta(1-\frac\lambda n)^{-(n-1)}\bigr)` and
    :math:`s_j = \frac13[(j-2)(j-1)j+(K-j-1)(K-j)(K-j+1)]`.

    Parameters
    ----------
    n : int
        Number of users, 2 to 10^15.
    epsilon, delta : float
        What the shuffled messages satisfy: ``epsilon >= 0``, ``0 <= delta < 1``; replace-one.
    K : int, optional
        Number of values the hard inputs take, 2 to 10^6; K = 2 gives 0. By default the best one found.
    lam : float, optional
        In (0, n), with tau > 0. By default the best one.

    Returns
    -------
    float
        At least 0; a lower bound whatever K and lam are.

    Raises
    ------
    DomainError
        If an argument is out of range, or ``lam`` makes tau at most 0.

    Notes
    -----
    Claims ``ext.pb.sum.lb``, ``bbgn19.sum.lb``. For protocols in which all n users apply the same randomizer with
    private coins, send one message each in one round, and all follow the protocol; the analyzer is arbitrary. Grows
    like n^(1/3) at fixed epsilon and delta, and like log(1/delta)^(2/3). At every K the bound is concave in lam.
    """
    n = integer("n", n, at_least=2, at_most=MAX_USERS)
    epsilon, delta = real("epsilon", epsilon, at_least=0), real("delta", delta, at_least=0, below=1)
    if K is not None:
        K = integer("K", K, at_least=2, at_most=10**6)
    if lam is not None:
        lam = real("lam", lam, above=0, below=n)
        if not _tau(n, epsilon, delta, lam) > 0:
            raise DomainError(f"lam violates tau > 0: privacy forces nothing at lam = {lam!r}")

    def tau(lam: float) -> float:
        return _tau(n, epsilon, delta, lam)

    @functools.cache
    def minus_bound(K: int) -> float:
        j = np.arange(1.0, K + 1)
        s = ((j - 2) * (j - 1) * j + (K - j - 1) * (K - j) * (K - j + 1)) / 3

        def bound(lam: float) -> float:
            return float(np.minimum(n * tau(lam) / 4, lam * s).sum()) / K**3

        return -bound(highest(bound) if lam is None else lam)

    # (1 - lam/n)^-(n-1) >= e^(lam (n-1)/n): beyond this end tau is negative
    end = min(n, -math.log(delta) * n / (n - 1)) if delta > 0 else n

    def highest(f) -> float:
        return golden_section(lambda lam: -f(lam), 0.0, end, 50)

    if K is None:
        best = highest(lambda lam: lam * math.sqrt(max(tau(lam), 0.0))) if lam is None else lam
        K = _least(minus_bound, max(3, round((1.065 * n * tau(best) / best) ** (1 / 3))))
    return abs(minus_bound(K))


def _tau(n: int, epsilon: float, delta: float, lam: float) -> float:
    """What is left of the probability that a message far from its value must have."""
    log_growth = min(-(n - 1) * math.log1p(-lam / n), 700.0)
    return math.exp(-epsilon) * (1 - lam / n - delta * math.exp(log_growth))
