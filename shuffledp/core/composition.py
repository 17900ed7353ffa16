r"""Composition: the privacy curve of independent rounds, from the law of the privacy loss of one.

Few outcomes are enumerated. Otherwise the curve of the rounds followed by a little Gaussian noise is computed by a
contour integral, or the loss is spread onto a fine grid without changing the mean of the likelihood ratio. Both can
only raise delta; where they would raise it noticeably, nothing is returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .curves import PrivacyCurve, SlowCurve
from .domain import DomainError, integer
from .gaussian import gdp
from .losses import BinomialLoss, GaussianLoss, spread
from .numerics import log_sum_exp

__all__ = ["compose"]

_ENUMERATED = 10**5  # histograms of the rounds' outcomes
_DEPTH = 60.0  # outcomes whose tilted probability is below e^-60 of the largest are left out
_MOST_OUTCOMES = 4 * 10**6
_NEGLIGIBLE, _TOLERABLE, _LARGEST_RISE = 1e-6, 1e-3, 1e-2  # of log delta above its exact value
_CELLS = 2**18
_CUT = 7.5  # the added noise has killed the integrand where its exponent is -7.5^2/2
_STEP = 0.14  # of the trapezoid rule, in standard deviations
_TAIL = 45.0  # the grid leaves out sums whose tilted probability is below e^-45


def compose(curve: PrivacyCurve, rounds: int) -> PrivacyCurve:
    r"""Privacy curve of independent rounds of a mechanism, each with fresh randomness.

    Parameters
    ----------
    curve : PrivacyCurve
        A curve that knows its privacy-loss law: `gdp`, `gaussian_curve`, or `shuffled_rr` with all others alike
        (``ones`` 0 or n - 1).
    rounds : int
        At least 1, at most 1e6.

    Returns
    -------
    PrivacyCurve
        Gaussian: exact, ``gdp(mu * sqrt(rounds))``, for adaptive rounds too. One round: ``curve`` itself.

        Randomized response, where the outcomes of all rounds can be enumerated (up to 100 000 histograms of them): of
        kind "exact", with a relative error of delta of 1e-9; where epsilon is within a relative 1e-3 of the largest
        loss the error is on the safe side, up to 1e-12 over that distance.

        Else an upper bound of the rounds' exact value. It is above it by a relative 1e-6 or less at ordinary delta, by
        about 1e-2 at most. An epsilon costs some 10 ms, or a fraction of a second where n times ``rounds`` is below
        about 1e8.

    Raises
    ------
    DomainError
        If an argument is out of range, or the curve does not know its loss law.
    ArithmeticError
        From the returned curve, where the bound cannot be brought to about 1 % of the exact value: far in the tail of
        a law with few outcomes far apart, such as n = 2 or epsilon0 = 30.

    Notes
    -----
    What is composed is the fixed pair of neighbours that the curve is about: in every round the others hold the same
    values and the one user's value changes in the same way. With ``direction="both"`` it is the larger of the two
    composed directions. What is said above holds for that pair. It is no guarantee for the worst case, which can be
    larger: the others' values may change between rounds, all others alike is not always the worst composition, and a
    user whose value changes from 0 to 1 in some rounds and from 1 to 0 in others mixes the directions.

    With :math:`K(s) = \log E_P(P/Q)^s` of one round and T rounds,

    .. math:: \delta(\varepsilon) = \frac1{2\pi i}\int_{\Re s > 0}
        \frac{e^{T K(s) - s\varepsilon}}{s(s+1)}\,ds .

    The counts lie on a lattice, so :math:`|e^{K}|` comes back to nearly 1 far from the real axis. One more round of
    :math:`\nu`-Gaussian noise adds :math:`\nu^2 s(s+1)/2` to the exponent and removes that part; by post-processing it
    cannot lower delta. On a grid of step h a loss between two points is moved to them so that the likelihood ratio
    keeps its mean; :math:`(\prod R_i - e^\varepsilon)_+` is convex in every ratio, so by Jensen's inequality this
    cannot lower delta either.
    """
    if not isinstance(curve, PrivacyCurve):
        raise DomainError(f"curve must be a PrivacyCurve, got {type(curve).__name__}")
    rounds = integer("rounds", rounds, at_least=1, at_most=10**6)
    if not curve.loss_laws:
        raise DomainError(f"curve must know its privacy-loss law to be composed; {curve.name} does not")
    if rounds == 1:
        return curve
    if isinstance(curve.loss_laws[0], GaussianLoss):
        return gdp(math.nextafter(curve.loss_laws[0].mu * math.sqrt(rounds), math.inf))
    n = curve.loss_laws[0].n
    few = n + rounds < 1000 and math.comb(n + rounds, rounds) <= _ENUMERATED
    laws = [(_Enumerated if few else _Approached)(law, rounds) for law in curve.loss_laws]
    return SlowCurve(
        lambda epsilon: np.minimum(np.max([law(epsilon) for law in laws], axis=0), 0.0),
        scale=math.sqrt(rounds) * curve.loss_laws[0].mu,
        rtol=1e-9,
        name=f"{rounds} rounds of {curve.name}",
        kind="exact" if few else "upper bound",
        accuracy=1e-9,
        epsilon_max=rounds * curve.loss_laws[0].epsilon0,
    )


class _Enumerated:
    """Log delta by how often each outcome occurs in the rounds."""

    def __init__(self, law: BinomialLoss, rounds: int):
        from scipy.special import gammaln  # slow to import

        loss, log_p = law.at(np.arange(-law.centre, law.n + 1.0 - law.centre))
        left, total, log_total = np.array([rounds]), np.zeros(1), np.full(1, gammaln(rounds + 1))
        for one, log_one in zip(loss[:-1], log_p[:-1], strict=True):
            parent = np.repeat(np.arange(left.size), left + 1)
            times = np.arange(parent.size) - np.searchsorted(parent, parent)
            left, total = left[parent] - times, total[parent] + times * one
            log_total = log_total[parent] + times * log_one - gammaln(times + 1)
        total, log_total = total + left * loss[-1], log_total + left * log_p[-1] - gammaln(left + 1)
        total += 1.2e-16 * (loss.size + 20) * rounds * np.abs(loss).max()  # more than rounding: delta is not too small
        order = np.argsort(-total)
        self._loss, self._log_p = total[order], log_total[order]

    def __call__(self, epsilon: np.ndarray) -> np.ndarray:
        out = np.full(epsilon.shape, -np.inf)
        for i, end in enumerate(np.searchsorted(-self._loss, -epsilon)):
            if end:
                terms = self._log_p[:end] + np.log(-np.expm1(epsilon[i] - self._loss[:end]))
                out[i] = log_sum_exp(terms)
        return out


@dataclass(frozen=True)
class TiltedLaw:
    """One round's law, weighted by ``e^(s L)``: the outcomes that count, and the first moments of the loss."""

    s: float
    loss: np.ndarray
    log_p: np.ndarray
    weight: np.ndarray  # sums to 1
    stride: int
    width: float  # standard deviation of the count, roughly
    smooth: bool  # wide, and not cut off by an end of the support

    @property
    def mean(self) -> float:
        return float(self.weight @ self.loss)

    @property
    def variance(self) -> float:
        return float(self.weight @ (self.loss - self.mean) ** 2)


def tilted_law(law: BinomialLoss, s: float, *, every: bool = False) -> TiltedLaw:
    """Every outcome that counts; or, as the probabilities vary smoothly, a strided sample of eight per deviation.

    A sum over every h-th count replaces the sum over all of them with an error of the law's characteristic function at
    ``2 pi/h``, which is ``e^(-2 (8 pi)^2)`` or so.
    """
    low, high, cut = _window(law, s)
    width = (high - low) / math.sqrt(8 * _DEPTH)
    stride = 1 if every or cut else max(1, int(width / 8))
    if (high - low) / stride > _MOST_OUTCOMES:
        raise ArithmeticError(f"more than {_MOST_OUTCOMES} outcomes matter, too many")
    loss, log_p = law.at(np.arange(low, high + 1, stride))
    log_p = log_p + math.log(stride)
    exponent = log_p + s * loss
    weight = np.exp(exponent - exponent.max())
    return TiltedLaw(s, loss, log_p, weight / weight.sum(), stride, width, width >= 8 and not cut)


def _window(law: BinomialLoss, s: float) -> tuple[float, float, bool]:
    """First and last count whose tilted probability matters, and whether the support ends there."""
    lowest, highest = float(-law.centre), float(law.n - law.centre)
    scale = max(law.spread, 1.0) / 4
    points = np.sinh(np.linspace(math.asinh(lowest / scale), math.asinh(highest / scale), 1025)) * scale
    points[[0, -1]] = lowest, highest
    while True:
        points = np.unique(np.rint(points))
        loss, log_p = law.at(points)
        exponent = log_p + s * loss
        inside = np.flatnonzero(exponent >= exponent.max() - _DEPTH)
        low, high = points[max(inside[0] - 1, 0)], points[min(inside[-1] + 1, len(points) - 1)]
        if high - low > 0.9 * (points[-1] - points[0]) or high - low < 64:
            break
        points = np.linspace(low, high, 257)
    cut = (inside[0] == 0 and low == lowest) or (inside[-1] == len(points) - 1 and high == highest)
    return low, high, cut


def _log_moment(loss: np.ndarray, log_p: np.ndarray, s: float) -> float:
    r"""``log E e^(s L)`` of a law with ``E 1 = E e^(-L) = 1``.

    Where the tilt is slight, from :math:`E[(e^{sL}-1-sL) + s(e^{-L}-1+L)]`, whose terms are positive and which vanishes
    with its relative accuracy: it is multiplied by the number of rounds.
    """
    if abs(s) * float(np.abs(loss).max()) < 5:
        return math.log1p(float(np.exp(log_p) @ (_exp_minus(s * loss) + s * _exp_minus(-loss))))
    exponent = log_p + s * loss
    return log_sum_exp(exponent)


def _exp_minus(x: np.ndarray) -> np.ndarray:
    """``e^x - 1 - x`` to full relative accuracy."""
    small = np.where(np.abs(x) < 0.3, x, 0.0)
    series = np.ones(x.shape)
    for k in range(12, 2, -1):
        series = 1 + small / k * series
    return np.where(np.abs(x) < 0.3, small * small / 2 * series, np.expm1(x) - x)


class _Approached:
    """Log delta of a law that can only be above the composed one."""

    def __init__(self, law: BinomialLoss, rounds: int):
        self._law, self._rounds = law, rounds
        self._reach = 2 * math.sqrt(rounds * tilted_law(law, 0.0).variance)  # of one grid, in epsilon
        self._grid = lru_cache(maxsize=4)(self._make_grid)

    def __call__(self, epsilon: np.ndarray) -> np.ndarray:
        return np.array([self._log_delta(float(one)) for one in epsilon])

    def _log_delta(self, epsilon: float) -> float:
        value, rise = math.inf, math.inf
        tilted = self._saddle(epsilon)
        if tilted.smooth:
            value, rise = self._integral(tilted, epsilon)
        here = epsilon / self._reach
        for place, cells, enough in (
            (math.floor(here), _CELLS, _NEGLIGIBLE),
            (here, _CELLS, _TOLERABLE),
            (here, 8 * _CELLS, _TOLERABLE),
        ):
            if rise < enough:
                break
            logs, grid_rise = self._grid(place, cells).log_delta(epsilon)
            if grid_rise < rise:
                value, rise = logs, grid_rise
        if not rise < _LARGEST_RISE:
            raise ArithmeticError(
                f"delta after {self._rounds} rounds at epsilon = {epsilon:g} cannot be vouched for to 1 %"
            )
        return value

    def _saddle(self, epsilon: float) -> TiltedLaw:
        """The law tilted by s near the saddle point of the integrand, where the slope of its log is 0."""
        rounds = self._rounds
        plain = tilted_law(self._law, 0.0)
        variance = rounds * plain.variance
        s, low, high = max((epsilon - rounds * plain.mean) / variance, 1 / math.sqrt(variance)), 0.0, math.inf
        for _ in range(100):
            tilted = tilted_law(self._law, s)
            slope = rounds * tilted.mean - epsilon - 1 / s - 1 / (s + 1)
            curvature = rounds * tilted.variance + 1 / s**2 + 1 / (s + 1) ** 2
            if abs(slope) < 0.05 * math.sqrt(curvature):
                return tilted
            low, high = (s, high) if slope < 0 else (low, s)
            s = min(max(s - slope / curvature, 0.2 * s), 5 * s)
            if not low < s < high:
                s = (low + high) / 2
        raise ArithmeticError(f"no saddle point at epsilon = {epsilon:g} after {rounds} rounds")

    def _integral(self, tilted: TiltedLaw, epsilon: float) -> tuple[float, float]:
        """Log delta with a little Gaussian noise added, by the trapezoid rule; and the rise that comes from the noise.

        The tilted law of the count is smooth, so the integrand decays as a normal one does until a frequency at which
        neighbouring outcomes are in step, ``2 pi`` over the difference of their losses. The noise is chosen to have
        killed it before.
        """
        from scipy.special import log1p  # of complex numbers; slow to import

        s, rounds = tilted.s, self._rounds
        apart = float(np.abs(np.diff(tilted.loss)).max()) / tilted.stride
        noise = (_CUT * apart / (2 * math.pi - 10 / tilted.width)) ** 2
        rise = noise * s * (s + 1) / 2
        curvature = rounds * tilted.variance + noise + 1 / s**2 + 1 / (s + 1) ** 2
        step = _STEP / math.sqrt(curvature)
        u = np.arange(100) * step
        angle = u[:, None] * (tilted.loss - tilted.mean)
        turn = (-2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle)) @ tilted.weight
        exponent = rounds * log1p(turn) + 1j * u * (rounds * tilted.mean - epsilon)
        exponent += noise / 2 * (1j * u * (2 * s + 1) - u * u)
        line = s + 1j * u
        integrand = (np.exp(exponent) / (line * (line + 1))).real
        total = (integrand.sum() - integrand[0] / 2) * step / math.pi
        log_peak = rounds * _log_moment(tilted.loss, tilted.log_p, s) + rise - s * epsilon
        return log_peak + math.log(total), rise

    def _make_grid(self, place: float, cells: int) -> _Grid:
        return _Grid(tilted_law(self._law, self._saddle(place * self._reach).s, every=True), self._rounds, cells)


class _Grid:
    """The sum of the losses spread onto a grid, by the fast Fourier transform.

    All masses are tilted by s, so that those which matter at an epsilon near are the largest and rounding leaves them
    alone.
    """

    def __init__(self, tilted: TiltedLaw, rounds: int, cells: int):
        s = self._s = tilted.s
        log_moment = _log_moment(tilted.loss, tilted.log_p, s)
        low, high = _range(tilted.loss, tilted.log_p + s * tilted.loss - log_moment, rounds)
        step = 0.0
        while high - low > (cells - 1) * step:  # the moved losses reach a little further
            step = 1.01 * (high - low) / (cells - 1)
            place, log_p = spread(tilted.loss, tilted.log_p, step)
            moved_moment = _log_moment(place * step, log_p, s)
            log_weight = log_p + s * place * step - moved_moment
            low, high = _range(place * step, log_weight, rounds)
        middle = round(tilted.mean / step)
        mass = np.bincount((place - middle).astype(int) % cells, np.exp(log_weight), cells)
        transform = (np.fft.rfft(mass) / mass.sum()) ** rounds
        start = math.floor(low / step) - rounds * middle
        self._mass = np.roll(np.fft.irfft(transform, cells), -(start % cells))
        self._noise = 1.2e-16 * (rounds + 20) * float(np.abs(transform).mean())  # in each mass
        self._sum = (rounds * middle + start + np.arange(cells)) * step
        self._log_total = rounds * moved_moment
        self._rise = rounds * (moved_moment - log_moment)

    def log_delta(self, epsilon: float) -> tuple[float, float]:
        """Log delta, the rounding of the transform added on the safe side; and its rise above the exact value."""
        first = np.searchsorted(self._sum, epsilon)
        beyond = self._sum[first:] - epsilon
        worth = np.exp(-self._s * beyond) * -np.expm1(-beyond)
        gain, noise = float(self._mass[first:] @ worth), self._noise * float(worth.sum())
        if not gain > noise:
            return math.inf, math.inf
        return self._log_total - self._s * epsilon + math.log(gain + noise), self._rise + noise / gain


def _range(loss: np.ndarray, log_weight: np.ndarray, rounds: int) -> tuple[float, float]:
    """Ends beyond which the sum has a probability below e^-45, by Chernoff's bound."""
    mean = float(np.exp(log_weight) @ loss)
    distance = loss - mean
    scale = max(math.sqrt(rounds * float(np.exp(log_weight) @ distance**2)), 1e-9 * rounds * abs(mean))
    ends = []
    for sign in (-1.0, 1.0):
        bounds = []
        for power in range(-6, 10):
            theta = 2.0**power / scale
            exponent = log_weight + sign * theta * distance
            bounds.append((rounds * log_sum_exp(exponent) + _TAIL) / theta)
        ends.append(rounds * mean + sign * min(bounds))
    return ends[0], ends[1]
