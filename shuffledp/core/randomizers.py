r"""Local randomizers, their decomposition into blanket and remainder, and the variable L that the blanket bounds need.

With :math:`\gamma\omega` the pointwise infimum of the output laws :math:`\mu_x` (:math:`\omega` the *blanket*,
:math:`\gamma` its mass), :math:`\mu_x = (1-\gamma)\nu_x + \gamma\omega` for a law :math:`\nu_x`, the *remainder*.
A message y carries the pair :math:`r = \mu_x(y)/(\gamma\omega(y))`, :math:`r' = \mu_{x'}(y)/(\gamma\omega(y))`. The
privacy amplification variable at epsilon is :math:`L = \gamma(r - e^\varepsilon r')` for y drawn from the blanket.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx

from .domain import DomainError, integer, probability_vector, real, real_array

__all__ = [
    "FiniteChannel",
    "GaussianRandomizer",
    "GenericRandomizer",
    "LaplaceRandomizer",
    "RandomizedResponse",
    "RatioLaw",
]

# Gauss-Legendre rule for a continuous law; enough for bounds built on it up to epsilon0 = 6, see the tests
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_EPSILON0_MAX = 230.0  # e^(3 epsilon0) must be a double
_MAX_SYMBOLS = 10**15
_SQRT2 = math.sqrt(2)


@dataclass(frozen=True)
class RatioLaw:
    """Law of ``(r, r')`` under the blanket for one ordered pair of inputs: three arrays of equal length.

    Attributes
    ----------
    r, r_prime : ndarray
        The two densities relative to ``gamma`` times the blanket.
    weight : ndarray
        Their probabilities; ``sum(weight) = 1`` and ``sum(weight r) = sum(weight r') = 1/gamma``.
    loss : ndarray, optional
        ``log(r/r')``, where it is known better than from the two.
    """

    r: np.ndarray
    r_prime: np.ndarray
    weight: np.ndarray
    loss: np.ndarray | None = None

    def difference(self, epsilon) -> np.ndarray:
        """``r - e^epsilon r'``, which does not cancel where the two are close; one row per epsilon."""
        epsilon = np.asarray(epsilon, float)[..., None]
        loss = np.log(self.r / self.r_prime) if self.loss is None else self.loss
        return self.r_prime * np.exp(epsilon) * np.expm1(loss - epsilon)


def _epsilon0(value) -> float:
    return real("epsilon0", value, above=0, at_most=_EPSILON0_MAX)


def _epsilon(value) -> float:
    return real("epsilon", value, at_least=0, at_most=_EPSILON0_MAX)


class Randomizer(ABC):
    """What every local randomizer knows about itself. Replace-one neighbours, natural logs."""

    epsilon0: float
    gamma: float

    @property
    @abstractmethod
    def blanket(self):
        """The blanket law: a probability vector, or a density to call."""

    @abstractmethod
    def ratio_laws(self) -> tuple[RatioLaw, ...]:
        """The laws of ``(r, r')`` under the blanket, one per ordered pair of inputs that can be worst."""

    def law(self, x):
        """Law of the message of one user who holds ``x``: like `blanket`, a probability vector or a density to call.

        Raises
        ------
        DomainError
            If x is not one of the inputs.
        """
        raise DomainError(f"the output laws of {self!r} are not known")

    def remainder(self, x):
        r"""The law :math:`\nu_x` left of :math:`\mu_x` when the blanket is taken out, of the same kind as `law`.

        .. math:: \mu_x = (1-\gamma)\,\nu_x + \gamma\,\omega

        Raises
        ------
        DomainError
            If x is not one of the inputs.

        Notes
        -----
        Claim ``bbgn19.gamma.def``.
        """
        raise DomainError(f"the output laws of {self!r} are not known")

    @abstractmethod
    def sample(self, x, rng: np.random.Generator) -> np.ndarray:
        """One random message per entry of ``x``, same shape."""

    def sample_parts(self, x, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        r"""Messages as from `sample`, and which of them came from the blanket.

        Parameters
        ----------
        x : array_like
            The inputs, one per user.
        rng : numpy.random.Generator

        Returns
        -------
        messages, from_blanket : ndarray
            Same shape as ``x``. Each entry of the Boolean ``from_blanket`` is true with probability gamma; given that,
            the message has the law `blanket`, otherwise `remainder`.

        Raises
        ------
        DomainError
            If an entry of x is not one of the inputs.

        Notes
        -----
        A message y of a user with x came from the blanket with probability :math:`\gamma\omega(y)/\mu_x(y)`, by Bayes.
        """
        messages = self.sample(x, rng)
        return messages, rng.random(messages.shape) < self._blanket_share(np.asarray(x), messages)

    def _blanket_share(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        r""":math:`\gamma\omega(y)/\mu_x(y)`, entry by entry."""
        raise NotImplementedError

    def amplification_range(self, epsilon, *, printed: bool = False) -> tuple[float, float]:
        r"""Range ``(b_minus, b_plus)`` of the privacy amplification variable L, for the worst pair of inputs.

        Parameters
        ----------
        epsilon : float
            At least 0.
        printed : bool
            The range of Lemma 5.4 as printed, which holds for every randomizer with this ``epsilon0`` and ``gamma`` and
            is up to twice too wide, instead of this randomizer's own.

        Raises
        ------
        DomainError
            If epsilon is out of range, or L is unbounded (Gaussian).

        Notes
        -----
        Balle, Bell, Gascon, Nissim 2019 (arXiv:1903.02837v2), Lemma 5.4.
        """
        epsilon = _epsilon(epsilon)
        if printed:
            g, e0 = self._gamma_inside, self.epsilon0
            return -g * math.exp(-e0) * math.expm1(epsilon + 2 * e0), -g * math.exp(e0) * math.expm1(epsilon - 2 * e0)
        values = [self.gamma * law.difference(epsilon) for law in self.ratio_laws()]
        return float(min(v.min() for v in values)), float(max(v.max() for v in values))

    def amplification_second_moment(self, epsilon, *, printed: bool = False) -> float:
        """Second moment of L for the worst pair; ``printed=True`` gives the bound of Lemma 5.4 as printed.

        See `amplification_range` for arguments, errors and source.
        """
        epsilon = _epsilon(epsilon)
        if printed:
            g, e0 = self._gamma_inside, self.epsilon0
            return g * math.exp(e0) * (math.exp(2 * epsilon) + 1) - 2 * g * g * math.exp(epsilon - 2 * e0)
        return max(float(law.weight @ (self.gamma * law.difference(epsilon)) ** 2) for law in self.ratio_laws())

    @property
    def _gamma_inside(self) -> float:
        """The gamma that stands inside the moments of L."""
        return self.gamma


class _FiniteRandomizer(Randomizer):
    """Inputs 0, 1, ...; laws are probability vectors, the rows of ``matrix``."""

    matrix: np.ndarray

    def law(self, x) -> np.ndarray:
        return self.matrix[_label("x", x, len(self.matrix))]

    def remainder(self, x) -> np.ndarray:
        left = self.law(x) - self.matrix.min(axis=0)
        mass = math.fsum(left)  # 1 - gamma, to full relative accuracy
        if not mass > 0:
            raise DomainError(f"nothing is left of the law of x = {x!r} without the blanket: gamma is 1 to rounding")
        return left / mass

    def amplification_law(self, epsilon, x=0, x_prime=1) -> tuple[np.ndarray, np.ndarray]:
        r"""Law of the privacy amplification variable :math:`L = (\mu_x(W) - e^\varepsilon\mu_{x'}(W))/\omega(W)`.

        Parameters
        ----------
        epsilon : float
            At least 0.
        x, x_prime : int
            The ordered pair of inputs, not equal.

        Returns
        -------
        values, weights : ndarray
            Values of L, ascending, and their probabilities when W is drawn from the blanket; a value may occur twice.

        Raises
        ------
        DomainError
            If an argument is out of range, or some output is impossible under the blanket but possible for an input.

        Notes
        -----
        Balle, Bell, Gascon, Nissim 2019 (arXiv:1903.02837v2), Section 5.
        """
        epsilon, omega = _epsilon(epsilon), self.blanket
        first, second = self.matrix[list(_pair(x, x_prime, len(self.matrix)))]
        seen = omega > 0
        if np.any((first + second)[~seen] > 0):
            raise DomainError("L is infinite: some output has no part in the blanket but is possible for an input")
        values = (first[seen] - math.exp(epsilon) * second[seen]) / omega[seen]
        order = np.argsort(values)
        return values[order], omega[seen][order]


class FiniteChannel(_FiniteRandomizer):
    """A randomizer with finitely many inputs and outputs, given by its matrix.

    Parameters
    ----------
    rows : array_like, shape (inputs, outputs)
        At least two rows, each a law (non-negative, summing to 1), not all equal.

    Attributes
    ----------
    matrix : ndarray, shape (inputs, outputs)
    epsilon0 : float
        Largest log ratio of two entries of a column; ``inf`` where a column has a zero and a positive entry.
    gamma : float
        Sum over outputs of the least entry.

    Raises
    ------
    DomainError
        If ``rows`` is not such a matrix.
    """

    def __init__(self, rows):
        matrix = real_array("rows", rows, at_least=0)
        if matrix.ndim != 2 or matrix.shape[0] < 2:
            raise DomainError(f"rows must be a matrix with at least two rows (inputs x outputs), got {matrix.shape}")
        for index, row in enumerate(matrix):
            probability_vector(f"rows[{index}]", row)
        matrix = matrix[:, matrix.max(axis=0) > 0]
        if np.all(matrix == matrix[0]):
            raise DomainError("rows must differ: a channel with equal rows reveals nothing")
        self.matrix = matrix
        self.matrix.flags.writeable = False
        least = matrix.min(axis=0)
        self.gamma = math.fsum(least)
        most = matrix.max(axis=0)
        with np.errstate(divide="ignore", over="ignore"):
            ratio = most / least
            losses = np.where(np.isinf(ratio), np.log(most) - np.log(least), np.log(ratio))
        largest = float(losses.max())
        self.epsilon0 = math.nextafter(largest * (1 + 4e-16) + 4e-16, math.inf)  # above all that rounding may lose

    def __repr__(self) -> str:
        return f"FiniteChannel({self.matrix.tolist()})"

    @property
    def blanket(self) -> np.ndarray:
        """The blanket law over the outputs."""
        if self.gamma == 0:
            raise DomainError("the channel has no blanket: gamma = 0, every output rules out some input")
        return self.matrix.min(axis=0) / self.gamma

    def ratio_laws(self) -> tuple[RatioLaw, ...]:
        if not math.isfinite(self.epsilon0):
            raise DomainError("the channel is not purely private: some output is possible for one input only")
        omega = self.blanket
        relative = self.matrix / self.matrix.min(axis=0)
        return tuple(RatioLaw(a, b, omega) for a, b in itertools.permutations(relative, 2))

    def sample(self, x, rng: np.random.Generator) -> np.ndarray:
        labels = _labels(x, self.matrix.shape[0])
        cumulative = np.cumsum(self.matrix, axis=1)
        cumulative /= cumulative[:, -1:]
        return (rng.random(labels.shape)[..., None] >= cumulative[labels]).sum(axis=-1)

    def _blanket_share(self, x, y):
        return self.matrix.min(axis=0)[y] / self.matrix[x.astype(np.int64), y]


def two_input_rows(channel, *, full_support: bool = False) -> np.ndarray:
    """Rows ``(W_0, W_1)`` of a channel with two inputs, shape (2, outputs).

    Parameters
    ----------
    channel : FiniteChannel, RandomizedResponse or array_like
        An array is read as the rows.
    full_support : bool
        Refuse a channel with a zero entry: every output must be possible for both inputs.

    Raises
    ------
    DomainError
        If the channel has not exactly two inputs, its rows are not laws or are equal, or an entry is zero where full
        support is asked for.
    """
    rows = (channel if isinstance(channel, (FiniteChannel, RandomizedResponse)) else FiniteChannel(channel)).matrix
    if len(rows) != 2:
        raise DomainError(f"channel must have two inputs, got {len(rows)}")
    if full_support and not np.all(rows > 0):
        raise DomainError("channel must have full support: every output possible for both inputs, so no zero entry")
    return rows


def rows_and_shift(channel, *, full_support: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The two rows of a channel as by `two_input_rows`, and their difference.

    The difference keeps its digits for randomized response at small epsilon0; where the rows of two outputs are close
    it adds up to 0 only if their larger entries are not taken as they were rounded.
    """
    rows = two_input_rows(channel, full_support=full_support)
    if isinstance(channel, RandomizedResponse):
        shift = math.tanh(channel.epsilon0 / 2)
        return rows, np.array([-shift, shift])
    if rows.shape[1] == 2:
        least = first, second = rows.min(axis=1)
        rare, other = rows.argmin(axis=1)
        shift = second - first if rare == other else (0.5 - first) + (0.5 - second)
        if shift == 0:
            raise DomainError("rows must differ by more than by how far a larger entry is from making their sum 1")
        rows = np.where(rows == least[:, None], rows, 1 - least[:, None])
        return rows, np.array([shift, -shift] if rare == 0 else [-shift, shift])
    return rows, rows[1] - rows[0]


def _label(name: str, x, k: int) -> int:
    return integer(name, x, at_least=0, at_most=k - 1)


def _pair(x, x_prime, k: int) -> tuple[int, int]:
    pair = _label("x", x, k), _label("x_prime", x_prime, k)
    if pair[0] == pair[1]:
        raise DomainError(f"x and x_prime must differ, got {pair[0]} twice")
    return pair


def _labels(x, k: int) -> np.ndarray:
    array = real_array("x", x)
    if np.any(array != np.floor(array)) or np.any((array < 0) | (array >= k)):
        raise DomainError(f"x must hold labels 0, ..., {k - 1}")
    return array.astype(np.int64)


class RandomizedResponse(_FiniteRandomizer):
    r"""k-ary randomized response: the truth with probability :math:`e^{\varepsilon_0}/(e^{\varepsilon_0}+k-1)`.

    Parameters
    ----------
    k : int
        Size of the alphabet, in [2, 10^15]; inputs and messages are ``0, ..., k-1``.
    epsilon0 : float
        Local privacy parameter, natural log, in (0, 230].

    Attributes
    ----------
    gamma : float
        Probability of answering from the blanket, ``k/(e^epsilon0 + k - 1)``.
    blanket : ndarray
        Uniform.
    matrix : ndarray, shape (k, k)

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Balle, Bell, Gascon, Nissim 2019 (arXiv:1903.02837v2); Warner 1965 for k = 2.
    """

    def __init__(self, k, epsilon0):
        self.k = integer("k", k, at_least=2, at_most=_MAX_SYMBOLS)
        self.epsilon0 = _epsilon0(epsilon0)
        self.gamma = self.k / (math.expm1(self.epsilon0) + self.k)

    @classmethod
    def from_gamma(cls, k, gamma) -> RandomizedResponse:
        """The randomized response with this blanket probability, in (0, 1): epsilon0 = log(1 + k (1-gamma)/gamma)."""
        k = integer("k", k, at_least=2, at_most=_MAX_SYMBOLS)
        gamma = real("gamma", gamma, above=0, below=1)
        return cls(k, math.log1p(k * (1 - gamma) / gamma))

    def __repr__(self) -> str:
        return f"RandomizedResponse(k={self.k}, epsilon0={self.epsilon0!r})"

    @property
    def blanket(self) -> np.ndarray:
        return np.full(self.k, 1 / self.k)

    @property
    def matrix(self) -> np.ndarray:
        """Probabilities, inputs x outputs."""
        other = 1 / (math.expm1(self.epsilon0) + self.k)
        return np.where(np.eye(self.k, dtype=bool), math.exp(self.epsilon0) * other, other)

    def ratio_laws(self) -> tuple[RatioLaw, ...]:
        u = math.exp(self.epsilon0)
        weight = np.array([1 / self.k, 1 / self.k, 1 - 2 / self.k])
        loss = np.array([self.epsilon0, -self.epsilon0, 0.0])
        return (RatioLaw(np.array([u, 1.0, 1.0]), np.array([1.0, u, 1.0]), weight, loss),)

    def sample(self, x, rng: np.random.Generator) -> np.ndarray:
        labels = _labels(x, self.k)
        return np.where(rng.random(labels.shape) < self.gamma, rng.integers(self.k, size=labels.shape), labels)

    def law(self, x) -> np.ndarray:
        other = 1 / (math.expm1(self.epsilon0) + self.k)
        out = np.full(self.k, other)
        out[_label("x", x, self.k)] = math.exp(self.epsilon0) * other
        return out

    def remainder(self, x) -> np.ndarray:
        out = np.zeros(self.k)
        out[_label("x", x, self.k)] = 1.0
        return out

    def amplification_law(self, epsilon, x=0, x_prime=1) -> tuple[np.ndarray, np.ndarray]:
        epsilon = _epsilon(epsilon)
        _pair(x, x_prime, self.k)
        law = self.ratio_laws()[0]
        ascending = [1, 2, 0] if self.k > 2 else [1, 0]
        values = self.gamma * law.difference(epsilon)
        return values[ascending], law.weight[ascending]

    def _blanket_share(self, x, y):
        return np.where(x == y, math.exp(-self.epsilon0), 1.0)


class _NoisyRandomizer(Randomizer):
    r"""An input in [0, 1] plus noise of density :math:`c\,e^{-h(|y-x|)}` with h increasing; laws are densities to call.

    The infimum over the inputs is the density of the input farther from y, at the distance :math:`|y-\frac12|+\frac12`.
    """

    _log_scale: float  # log c
    _rest: float  # 1 - gamma, to full relative accuracy

    @abstractmethod
    def _height(self, distance: np.ndarray) -> np.ndarray:
        """h."""

    @abstractmethod
    def _ratio_call(self, u: np.ndarray) -> np.ndarray:
        r""":math:`\gamma\,E(r - u)_+` under the blanket for the pair (0, 1), u at least 1; r' has the same law."""

    @abstractmethod
    def _log_ratio(self, x, y: np.ndarray) -> np.ndarray:
        """Log of the density of x over the infimum: the difference of h at the far distance and at ``|y - x|``."""

    @property
    def blanket(self):
        return lambda y: np.exp(self._log_scale - self._height(_far(np.asarray(y, float)))) / self.gamma

    def law(self, x):
        x = real("x", x, at_least=0, at_most=1)
        return lambda y: np.exp(self._log_scale - self._height(np.abs(np.asarray(y, float) - x)))

    def remainder(self, x):
        x, law = real("x", x, at_least=0, at_most=1), self.law(x)
        return lambda y: law(y) * -np.expm1(-self._log_ratio(x, np.asarray(y, float))) / self._rest

    def amplification_call(self, epsilon, threshold):
        r"""Call function :math:`E(L - s)_+` of the privacy amplification variable for the pair (0, 1), in closed form.

        Parameters
        ----------
        epsilon : float
            At least 0.
        threshold : float or array_like
            s, any finite numbers.

        Returns
        -------
        float or ndarray
            Same shape as ``threshold``; decreasing, convex, relative accuracy 1e-12. It determines the law of L.

        Raises
        ------
        DomainError
            If an argument is out of range.

        Notes
        -----
        At every message one of the two densities is the infimum. So L exceeds :math:`\gamma(1-e^\varepsilon)` where
        r' = 1, and stays below it where r = 1.
        """
        epsilon, s = _epsilon(epsilon), real_array("threshold", threshold)
        a, order = math.expm1(epsilon), math.exp(epsilon)
        above = s >= -self.gamma * a
        call = self._ratio_call(np.where(above, s / self.gamma + order, 1.0))
        put = order * self._ratio_call(np.where(above, 1.0, (1 - s / self.gamma) / order))
        out = np.where(above, call, put - a - s)
        return float(out) if out.ndim == 0 else out

    def _blanket_share(self, x, y):
        return np.exp(-self._log_ratio(x, y))


def _far(y: np.ndarray) -> np.ndarray:
    """Distance from y to the farther end of [0, 1]."""
    return np.abs(y - 0.5) + 0.5


def _nearer(x, y: np.ndarray) -> np.ndarray:
    """By how much x is nearer to y than the farther end of [0, 1] is; no cancellation far out."""
    return np.where(y >= 0.5, np.where(y >= x, x, 2 * y - x), np.where(y >= x, 1 - 2 * y + x, 1 - x))


class LaplaceRandomizer(_NoisyRandomizer):
    r"""Laplace noise of scale :math:`1/\varepsilon_0` added to an input in [0, 1].

    Parameters
    ----------
    epsilon0 : float
        In (0, 6]: the law of L is integrated numerically, and beyond that bounds far in the tail lose digits.

    Attributes
    ----------
    gamma : float
        ``exp(-epsilon0/2)``.
    blanket : callable
        Density of the Laplace law at 1/2 with scale ``1/epsilon0``: what a user with x = 1/2 sends.

    Notes
    -----
    Claims ``bbgn19.gamma.lap``, ``bbgn19.gamma.lapblanket``. The worst pair is taken to be (0, 1): numerical evidence,
    no proof.
    """

    def __init__(self, epsilon0):
        self.epsilon0 = real("epsilon0", epsilon0, above=0, at_most=6)
        self.gamma = math.exp(-self.epsilon0 / 2)
        self._rest = -math.expm1(-self.epsilon0 / 2)
        self._log_scale = math.log(self.epsilon0) - math.log(2)

    def __repr__(self) -> str:
        return f"LaplaceRandomizer(epsilon0={self.epsilon0!r})"

    def _height(self, distance):
        return self.epsilon0 * distance

    def _log_ratio(self, x, y):
        return self.epsilon0 * _nearer(x, y)

    def _ratio_call(self, u):
        # gamma (e^(epsilon0/2) - sqrt(u)), as a quotient
        u = np.minimum(u, math.exp(self.epsilon0))
        return -np.expm1(np.log(u) - self.epsilon0) / (1 + np.sqrt(u) * self.gamma)

    def ratio_laws(self) -> tuple[RatioLaw, ...]:
        e0 = self.epsilon0
        v = 0.5 * (_NODES + 1)
        # outside [0, 1] one ratio is e^epsilon0; inside it is e^(epsilon0 v), v = |2y - 1|; the other one is 1
        loss = np.concatenate(([e0], e0 * v))
        r = np.exp(loss)
        end = 0.5 * math.exp(-e0 / 2)
        p = np.concatenate(([end], _WEIGHTS * 0.125 * e0 * np.exp(-e0 * v / 2)))
        p *= 0.5 / p.sum()
        one = np.ones_like(r)
        loss = np.concatenate((loss, -loss))
        return (RatioLaw(np.concatenate((r, one)), np.concatenate((one, r)), np.concatenate((p, p)), loss),)

    def sample(self, x, rng: np.random.Generator) -> np.ndarray:
        """Messages ``x`` plus noise. For study: floating-point noise leaks through its low bits."""
        array = real_array("x", x, at_least=0, at_most=1)
        return array + rng.laplace(0.0, 1 / self.epsilon0, array.shape)


class GaussianRandomizer(_NoisyRandomizer):
    r"""Gaussian noise of standard deviation sigma added to an input in [0, 1]: not purely private.

    Parameters
    ----------
    sigma : float
        Positive; at least 0.05, below which gamma underflows to nothing useful.

    Attributes
    ----------
    epsilon0 : float
        ``inf``.
    gamma : float
        ``erfc(1/(2 sqrt(2) sigma))``.
    blanket : callable
        Density of the blanket: two half bells that meet in a kink at 1/2 (not Gaussian).

    Notes
    -----
    Claim ``bbgn19.gamma.gauss``.
    """

    epsilon0 = math.inf

    def __init__(self, sigma):
        self.sigma = real("sigma", sigma, at_least=0.05)
        half = 0.5 / (math.sqrt(2) * self.sigma)
        self.gamma, self._rest = math.erfc(half), math.erf(half)
        self._log_scale = -math.log(math.sqrt(2 * math.pi) * self.sigma)

    def __repr__(self) -> str:
        return f"GaussianRandomizer(sigma={self.sigma!r})"

    def _height(self, distance):
        return 0.5 * (distance / self.sigma) ** 2

    def _log_ratio(self, x, y):
        return 0.5 * _nearer(x, y) * (_far(y) + np.abs(y - x)) / self.sigma**2

    def _ratio_call(self, u):
        # Phi(-z) - u Phi(-z - 1/sigma), and u phi(z + 1/sigma) = phi(z)
        z = self.sigma * np.log(u) - 0.5 / self.sigma
        return np.exp(-0.5 * z * z) * 0.5 * (erfcx(z / _SQRT2) - erfcx((z + 1 / self.sigma) / _SQRT2))

    def ratio_laws(self) -> tuple[RatioLaw, ...]:
        raise DomainError("the privacy amplification variable of Gaussian noise is unbounded (epsilon0 is infinite)")

    def amplification_range(self, epsilon, *, printed: bool = False) -> tuple[float, float]:
        """Raises `DomainError`: L is unbounded on both sides."""
        _epsilon(epsilon)
        raise DomainError("the privacy amplification variable of Gaussian noise is unbounded (epsilon0 is infinite)")

    def amplification_second_moment(self, epsilon, *, printed: bool = False) -> float:
        """Second moment of L for the pair (0, 1), exact; Lemma 5.4 as printed needs pure privacy and is refused."""
        epsilon = _epsilon(epsilon)
        if printed:
            raise DomainError("Lemma 5.4 needs a finite epsilon0, and Gaussian noise has none")
        s, g, u = self.sigma, self.gamma, math.exp(epsilon)
        # e^(1/s^2) Phi(3/(2 s)) + gamma/2 = E r^2/gamma; Phi = 1 - erfc/2 keeps its digits
        square = math.exp(1 / s**2) * (1 - 0.5 * math.erfc(1.5 / (math.sqrt(2) * s))) + 0.5 * g
        return (1 + u * u) * g * square - 2 * u * g * (2 - g)

    def sample(self, x, rng: np.random.Generator) -> np.ndarray:
        """Messages ``x`` plus noise. For study: floating-point noise leaks through its low bits."""
        array = real_array("x", x, at_least=0, at_most=1)
        return array + rng.normal(0.0, self.sigma, array.shape)


class GenericRandomizer(Randomizer):
    r"""Any randomizer that is purely epsilon0-private: only what holds for all of them.

    Parameters
    ----------
    epsilon0 : float
        In (0, 230].

    Attributes
    ----------
    gamma : float
        ``exp(-epsilon0)``, the least a blanket can have.
    """

    def __init__(self, epsilon0):
        self.epsilon0 = _epsilon0(epsilon0)
        self.gamma = math.exp(-self.epsilon0)

    def __repr__(self) -> str:
        return f"GenericRandomizer(epsilon0={self.epsilon0!r})"

    @property
    def blanket(self):
        raise DomainError("the blanket of a generic randomizer is not known")

    def sample(self, x, rng: np.random.Generator) -> np.ndarray:
        raise DomainError("a generic randomizer cannot be sampled: it stands for all of them")

    def ratio_laws(self) -> tuple[RatioLaw, ...]:
        r"""The worst case over all randomizers, for the sub-blanket :math:`\tfrac12(\mu_x+\mu_{x'})` of mass gamma.

        By convexity the worst law of ``(r, r')`` takes its two extreme values with probability 1/2 each.
        """
        u = math.exp(self.epsilon0)
        low = 2 * u / (1 + u)
        loss = np.array([self.epsilon0, -self.epsilon0])
        return (RatioLaw(np.array([u * low, low]), np.array([low, u * low]), np.array([0.5, 0.5]), loss),)

    @property
    def _gamma_inside(self) -> float:
        return 1.0

    def amplification_range(self, epsilon, *, printed: bool = False) -> tuple[float, float]:
        """Range of L valid for every epsilon0-private randomizer, whatever its blanket mass in [e^-epsilon0, 1]."""
        if printed:
            return super().amplification_range(epsilon, printed=True)
        epsilon = _epsilon(epsilon)
        top = -math.exp(self.epsilon0) * math.expm1(epsilon - self.epsilon0)
        return -math.expm1(epsilon + self.epsilon0), top if top >= 0 else self.gamma * top

    def amplification_second_moment(self, epsilon, *, printed: bool = False) -> float:
        """Least upper bound of the second moment of L over every epsilon0-private randomizer with two inputs.

        ``printed=True`` gives the form behind the published figures: Lemma 5.4 with gamma = 1 in the first term and
        gamma = e^-epsilon0 in the last.
        """
        epsilon = _epsilon(epsilon)
        if printed:
            e0 = self.epsilon0
            return math.exp(e0) * (math.exp(2 * epsilon) + 1) - 2 * math.exp(epsilon - 3 * e0)
        u, e = math.exp(self.epsilon0), math.exp(epsilon)
        # as a function of gamma: convex up to 2/(1+u), then concave with its top at `top`
        top = ((1 + e * e) * (1 + u) - 4 * e) / (2 * ((1 + e * e) * u - 2 * e))
        candidates = (1 / u, min(max(top, 2 / (1 + u)), 1.0))
        return max(_second_moment_bound(gamma, u, e) for gamma in candidates)


def _second_moment_bound(gamma: float, u: float, e: float) -> float:
    """Sharp bound of the second moment of L at blanket mass gamma, u = e^epsilon0, e = e^epsilon."""
    cross = max(gamma * (2 - gamma), gamma * u * (2 - gamma * u))
    return (1 + e * e) * gamma * (1 + u - gamma * u) - 2 * e * cross
