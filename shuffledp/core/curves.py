"""Privacy curves: delta as a function of epsilon, in log space, inverted on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erfcx

from .domain import DomainError, real, real_array
from .numerics import safe_root

__all__ = ["PrivacyCurve", "SlowCurve", "calibrate_epsilon0", "calibrate_n"]


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
    kind : {"exact", "upper bound", "lower bound", "limit"}
        What kind of number delta is. Only exact values and upper bounds are guarantees.
    accuracy : float
        Relative accuracy of delta: the computed delta is within a factor ``1 +- accuracy`` of the curve's true value
        (absolutely of ``log_delta`` where delta underflows, or 1e-14 of its size, what a double holds, where that is
        larger). `epsilon` allows for it.
    epsilon_max : float
        From here on delta is exactly 0 (pure differential privacy), or ``inf``.
    scale : float, optional
        mu of the curve's Gaussian limit, where it has one: where `epsilon` looks first.
    rough : callable, optional
        As ``log_delta``, much quicker and off by up to 100: `epsilon` inverts it first, and what it finds is corrected
        by a few values of ``log_delta``; `delta` is 0.0 where it is below -2000. Needs `scale`.
    loss_laws : tuple
        The privacy-loss laws, one per direction, of which the curve is the larger; empty where they are not known.
        `shuffledp.compose` needs them.
    term_laws : tuple
        The laws of terms, of whose curves this is the largest; empty where they are not known. `shuffledp.certify`
        needs them.
    """

    KINDS = ("exact", "upper bound", "lower bound", "limit")

    def __init__(
        self,
        log_delta: Callable[[np.ndarray], np.ndarray],
        *,
        name: str,
        kind: str,
        accuracy: float = 1e-12,
        epsilon_max: float = math.inf,
        scale: float | None = None,
        rough: Callable[[np.ndarray], np.ndarray] | None = None,
        loss_laws: tuple = (),
        term_laws: tuple = (),
    ):
        if kind not in self.KINDS:
            raise ValueError(f"kind must be one of {self.KINDS}, got {kind!r}")
        self._log_delta = log_delta
        self.name = name
        self.kind = kind
        self.accuracy = accuracy
        self.epsilon_max = epsilon_max
        self.scale = scale
        self._rough = rough
        self.loss_laws = loss_laws
        self.term_laws = term_laws

    def __repr__(self) -> str:
        return f"<PrivacyCurve: {self.name} ({self.kind})>"

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
        out = self._values(epsilons.ravel())
        return float(out[0]) if epsilons.ndim == 0 else out.reshape(epsilons.shape)

    def delta(self, epsilon):
        """Delta at epsilon; array in, array out. See `log_delta` for range and errors.

        For an upper bound the value is never below the bound's true value by more than the relative `accuracy`. It is
        0.0 far below the smallest double, also where the log could not be vouched for.
        """
        epsilons = real_array("epsilon", epsilon, at_least=0)
        out = np.zeros(epsilons.size)
        some = ~self._underflows(epsilons.ravel())
        out[some] = np.exp(self._values(epsilons.ravel()[some]))
        return float(out[0]) if epsilons.ndim == 0 else out.reshape(epsilons.shape)

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
        out = self._invert(np.log(deltas.ravel()) - self.accuracy)
        return float(out[0]) if deltas.ndim == 0 else out.reshape(deltas.shape)

    def _underflows(self, epsilon: np.ndarray) -> np.ndarray:
        """Where delta is far below any double: known from the rough curve, and many deviations out."""
        out = np.zeros(epsilon.shape, bool)
        far = epsilon > (40 * self.scale if self._rough else math.inf)
        if far.any():
            with np.errstate(all="ignore"):
                out[far] = self._inside(self._rough, epsilon[far]) < _UNDERFLOW
        return out

    def _values(self, epsilon: np.ndarray) -> np.ndarray:
        """Log delta of a flat array that is known to be in range."""
        out = self._inside(self._log_delta, epsilon)
        if np.isnan(out).any():
            raise ArithmeticError(f"{self.name} has no value at epsilon = {epsilon[np.isnan(out)][0]:g}")
        return out

    def _inside(self, log_delta, epsilon: np.ndarray) -> np.ndarray:
        """The function below epsilon_max, and -inf from there on."""
        out = np.full(epsilon.shape, -np.inf)
        inside = epsilon < self.epsilon_max
        if inside.any():
            out[inside] = log_delta(epsilon[inside])
        return out

    def _invert(self, goal: np.ndarray) -> np.ndarray:
        """For every goal an evaluated epsilon with ``log_delta(epsilon) <= goal``, and hardly a smaller one."""
        tolerance = max(_FINEST, 1e-2 * self.accuracy)
        out = self._corrected(goal, tolerance) if self.scale else np.full(goal.shape, np.nan)
        left = np.flatnonzero(np.isnan(out))
        if self._rough is None:
            out[left] = self._search(self._values, goal[left], tolerance)
            return out
        for i in left:
            out[i] = self._find(float(goal[i]), tolerance)
        return out

    def _corrected(self, goal: np.ndarray, tolerance: float) -> np.ndarray:
        """Where the rough curve reaches each goal, corrected by secants; nan where that does not lead to the goal.

        Heights are ``sqrt(-log delta)``, nearly linear in epsilon. Every round evaluates two points around the
        corrected one, closer than the tolerance.
        """
        out = np.full(goal.shape, np.nan)

        def rough(epsilon: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                logs = self._inside(self._rough or self._log_delta, epsilon)
            return np.where(np.isnan(logs), -np.inf, logs)

        def excess(epsilon: np.ndarray) -> np.ndarray:
            logs = self._values(epsilon.ravel()).reshape(epsilon.shape)
            return np.sqrt(np.clip(-logs, 0, 1e300)) - np.sqrt(-goal[rows])[:, None]

        try:
            start = self._search(rough, goal, 1e-2, inner=True)
            rows = np.flatnonzero((start > 1e-3 * self.scale) & (start < 0.999 * self.epsilon_max))
            points = start[rows, None] * (1 + 1e-8 * _SIDES)
            heights = excess(points)
            slope = (heights[:, 1] - heights[:, 0]) / (points[:, 1] - points[:, 0])
            for _ in range(_MAX_CORRECTIONS):
                before, height = points[:, 1], heights[:, 1]
                step = -height / np.where(slope > 0, slope, np.nan)
                kept = (np.abs(step) < 0.5 * (before + step)) & (height < 1e100)  # false for nan as well
                if not kept.all():
                    rows, before, height, step, slope = (x[kept] for x in (rows, before, height, step, slope))
                if not rows.size:
                    break
                middle = before + step
                points = middle[:, None] * (1 + 0.4 * tolerance * _SIDES)
                heights = excess(points)
                found = (heights[:, 0] < 0) & (heights[:, 1] >= 0)
                out[rows[found]] = points[found, 1]
                if found.all():
                    break
                secant = (heights[:, 1] - height) / (points[:, 1] - before)
                slope = np.where(np.abs(step) > 1e3 * tolerance * middle, secant, slope)
                rows, slope, points, heights = (x[~found] for x in (rows, slope, points, heights))
        except ArithmeticError:  # too few users for the rough curve
            pass
        return out

    def _search(self, log_delta, goal: np.ndarray, tolerance: float, inner: bool = False) -> np.ndarray:
        """The first crossing below each goal, from above: an evaluated epsilon with ``log_delta(epsilon) <= goal``.

        All goals are bracketed on one grid, near the Gaussian limit's epsilon where it is known; then every round
        evaluates, for all of them at once, a ladder of points around an interpolated guess, and keeps the first step
        of the ladder that is low enough. With ``inner`` the last guess is returned, not the safe end.
        """
        if goal.size == 0:
            return goal
        if self.scale:
            limit = self.scale * np.interp(math.log(self.scale) - goal, _DEPTHS, _DEVIATIONS)
            limit = np.maximum(limit, 1e-3 * self.scale)
            grid = (limit[:, None] * _AROUND).ravel()
            even = np.arange(math.log(grid.min()), math.log(grid.max()) + 0.009, 0.009)
            if even.size < grid.size:  # one grid for all goals
                grid = np.exp(even)
            grid = (
                grid[grid < self.epsilon_max] if grid.min() < self.epsilon_max else np.array([0.9 * self.epsilon_max])
            )
            grid = np.unique(grid)
        else:
            grid = min(self.epsilon_max, 1.0) * _COARSE
        values = log_delta(grid)
        while grid[0] > 0 and not values[0] > goal.max():
            lower = np.append(0.0, grid[0] * _QUARTERS)
            grid, values = np.append(lower, grid), np.append(log_delta(lower), values)
        while not values.min() <= goal.min():
            if not grid[-1] < 1e300:
                raise DomainError(f"delta is never reached: {self.name} stays above it at every epsilon")
            higher = np.unique(np.minimum(_FARTHER * grid[-1], self.epsilon_max))
            grid, values = np.append(grid, higher), np.append(values, log_delta(higher))
        out = np.zeros(goal.shape)
        rows = np.flatnonzero(~(values[0] <= goal))
        points, logs = np.tile(grid, (rows.size, 1)), np.tile(values, (rows.size, 1))
        for _ in range(_MAX_ROUNDS):
            first = np.argmax(logs <= goal[rows, None], axis=1)
            index = np.arange(rows.size)
            low, high = points[index, first - 1], points[index, first]
            near = np.minimum(np.maximum(first[:, None] + _NEIGHBOURS, 0), points.shape[1] - 1)
            near_points, near_logs = points[index[:, None], near], logs[index[:, None], near]
            guess = _interpolate(near_points, near_logs, goal[rows])
            guess = np.where((low < guess) & (guess < high), guess, 0.5 * (low + high))
            out[rows] = guess if inner else high
            wide = high - low > np.maximum(tolerance * high, math.ulp(0.0))
            if not wide.any():
                return out
            rows, ends = rows[wide], near_logs[wide, 1:3]
            low, high, guess = low[wide, None], high[wide, None], guess[wide, None]
            width = high - low
            ladder = np.maximum(width * _LADDER, 0.4 * tolerance * guess)
            steps = np.concatenate([guess - ladder, guess + ladder, 0.5 * (low + high)], axis=1)
            steps = np.sort(np.minimum(np.maximum(steps, low), high), axis=1)
            points = np.concatenate([low, steps, high], axis=1)
            logs = np.concatenate([ends[:, :1], log_delta(steps.ravel()).reshape(steps.shape), ends[:, 1:]], axis=1)
        raise ArithmeticError(f"{self.name} could not be inverted: it is not a decreasing function of epsilon")

    def _find(self, goal: float, rtol: float) -> float:
        """The same for one goal, in few evaluations and none far from the root."""

        def excess(epsilon: float) -> float:
            return _excess_over(float(self._values(np.array([epsilon]))[0]), goal)

        z = max(float(np.interp(math.log(self.scale) - goal, _DEPTHS, _DEVIATIONS)), 1e-3)
        point = min(z * self.scale, 0.9 * self.epsilon_max)
        height = excess(point)
        # one step by the Gaussian slope of the excess, and a little farther, brackets the root in most cases
        step, side = height * self.scale * 2 * math.sqrt(-goal) / (z + 1.25 / (1 + z)), height > 0
        step += (0.1 * abs(step) + 1e-6 * point) * (1 if side else -1)
        while True:
            if side:
                other = min(point + step, self.epsilon_max)
            else:
                other = max(point + step, 0.0)
            if point > 1e300:
                raise DomainError(f"delta is never reached: {self.name} stays above it at every epsilon")
            if (excess(other) > 0) != side:
                break
            if other == 0.0:
                return 0.0
            point, step = other, 2 * step + (0.02 * other if side else -0.02 * other)
        low, high = (point, other) if side else (other, point)
        found = self._find_near_end(goal, rtol, 1 - low / high) if high == self.epsilon_max else 0.0
        return found or safe_root(excess, low, high, rtol=rtol)

    def _find_near_end(self, goal: float, rtol: float, left: float) -> float:
        """The same next to `epsilon_max`, where delta falls about like the distance from it; 0 where it does not.

        From a relative distance ``left`` on.
        """
        end, before = self.epsilon_max, None
        for _ in range(2 * _MAX_CORRECTIONS):
            points = np.clip(end * (1 - left + 0.4 * rtol * _SIDES), 0, end)
            values = self._values(points)
            if values[0] > goal >= values[1]:
                return float(points[1])
            here = math.log(left + 0.4 * rtol), float(values[0])
            slope = 1.0 if before is None else (here[1] - before[1]) / (here[0] - before[0] or math.nan)
            if not (slope > 0 and here[1] > -math.inf):
                break
            before, left = here, math.exp(min(here[0] + (goal - here[1]) / slope, -1.0))
        return 0.0


class SlowCurve(PrivacyCurve):
    """A curve whose values take long: each epsilon is found on its own, in few evaluations and none far from the root.

    Parameters
    ----------
    rtol : float
        Relative width of the bracket in which the search stops, on its safe side.
    **description
        As for `PrivacyCurve`; `scale` is needed.
    """

    def __init__(self, log_delta, *, scale: float, rtol: float = 1e-12, **description):
        super().__init__(log_delta, scale=scale, **description)
        self._rtol = rtol

    def _invert(self, goal: np.ndarray) -> np.ndarray:
        return np.array([self._find(float(one), self._rtol) for one in goal])


def _excess_over(log_delta: float, goal: float) -> float:
    """The sign of ``log_delta - goal``, on a scale on which Gaussian curves are nearly straight."""
    if log_delta == -math.inf:
        return log_delta
    return (log_delta - goal) / (math.sqrt(-min(log_delta, 0.0)) + math.sqrt(-goal))


_MAX_ROUNDS = 200
_FINEST = 8e-14  # relative width of the bracket at the end, or a hundredth of the curve's accuracy
_COARSE = np.append(0.0, 4.0 ** np.arange(-15, 1))  # of the largest epsilon to begin with
_DEVIATIONS = np.linspace(0, 60, 1200)  # of the Gaussian limit, delta = mu (phi(z) - z Phi(-z)) to leading order
_DEPTHS = 0.5 * _DEVIATIONS**2 + 0.5 * math.log(2 * math.pi)  # log mu - log delta
_DEPTHS -= np.log(1 - math.sqrt(math.pi / 2) * _DEVIATIONS * erfcx(_DEVIATIONS / math.sqrt(2)))
_AROUND = 1 + np.array([-0.1, -0.02, -0.004, 0.004, 0.02, 0.1])
_FARTHER = np.array([1.2, 1.6, 2.5, 5.0])
_NEIGHBOURS = np.array([-2, -1, 0, 1])
_OTHERS = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
_SIDES = np.array([-1.0, 1.0])
_MAX_CORRECTIONS = 6
_UNDERFLOW = -2000.0  # a rough value below it, which is hardly 100 off, is that of a delta far below any double
_QUARTERS = np.array([0.25, 0.5, 0.75])
_LADDER = np.array([3e-2, 1e-4, 1e-8])


def _interpolate(points: np.ndarray, logs: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Inverse interpolation, row by row through four points, in ``sqrt(-log delta)``: nearly linear in epsilon.

    The middle two points are the bracket; they alone are used where the four give no number inside it.
    """
    height = np.sqrt(np.maximum(-logs, 0))
    away = np.sqrt(-goal)[:, None] - height
    with np.errstate(divide="ignore", invalid="ignore"):
        # Lagrange: for every point the product, over the other three, of the target's distance by the point's
        share = away[:, _OTHERS] / (height[:, :, None] - height[:, _OTHERS])
        cubic = (points * share.prod(axis=2)).sum(axis=1)
        low, high = points[:, 1], points[:, 2]
        linear = low + (high - low) * (away[:, 1] / (height[:, 2] - height[:, 1]))
    return np.where((low < cubic) & (cubic < high), cubic, linear)


def calibrate_epsilon0(make_curve: Callable[[float], PrivacyCurve], epsilon, delta) -> float:
    """Largest local parameter whose curve keeps a central guarantee, rounded down.

    Parameters
    ----------
    make_curve : callable
        From epsilon0 to a `PrivacyCurve` whose delta increases with epsilon0, such as
        ``lambda epsilon0: shuffled_rr(epsilon0, 10**6)``.
    epsilon : float
        The central epsilon, at least 0.
    delta : float
        The central delta, in (0, 1).

    Returns
    -------
    float
        An epsilon0 at which ``make_curve(epsilon0).delta(epsilon) <= delta`` was found to hold, its accuracy allowed
        for; within a relative 1e-12 no larger one does.

    Raises
    ------
    DomainError
        If an argument is out of range, no epsilon0 qualifies, or the curve refuses an epsilon0 on the way (which means
        that every one it accepts may qualify).
    """
    epsilon, excess = real("epsilon", epsilon, at_least=0), _excess(make_curve, epsilon, delta)
    point, step = _gaussian_epsilon0(make_curve, epsilon, math.log(delta)), 1.05
    if excess(point) <= 0:
        safe, unsafe = point, step * point
        while excess(unsafe) <= 0:
            step = min(step * step, 2.0)
            safe, unsafe = unsafe, step * unsafe
    else:
        unsafe, safe = point, point / step
        while excess(safe) > 0:
            if safe < 1e-300:
                raise DomainError(f"no epsilon0 > 0 gives delta({epsilon!r}) <= {delta!r}")
            step = min(step * step, 2.0)
            unsafe, safe = safe, safe / step
    return safe_root(excess, unsafe, safe, rtol=1e-13)


def _gaussian_epsilon0(make_curve, epsilon: float, log_delta: float) -> float:
    """Where the Gaussian limits of the curves keep the guarantee, roughly; the curves themselves are not evaluated.

    A search that began at epsilon would begin far in the tail, where some curves cannot vouch for their values.
    """

    def under(epsilon0: float) -> bool:
        scale = make_curve(epsilon0).scale or 0.0
        return scale == 0 or scale * np.interp(math.log(scale) - log_delta, _DEPTHS, _DEVIATIONS) <= epsilon

    low = high = epsilon or 1.0
    while low > 1e-300 and not under(low):
        low, high = low / 2, low
    if not make_curve(low).scale:
        return low
    while under(high):
        low, high = high, 2 * high
    while high > 1.02 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if under(middle) else (low, middle)
    return low


def calibrate_n(make_curve: Callable[[int], PrivacyCurve], epsilon, delta) -> int:
    """Smallest number of users whose curve keeps a central guarantee.

    Parameters
    ----------
    make_curve : callable
        From n to a `PrivacyCurve` whose delta decreases with n, such as ``lambda n: shuffled_rr(1.0, n)``. It is called
        from n = 2 on.
    epsilon : float
        The central epsilon, at least 0.
    delta : float
        The central delta, in (0, 1).

    Returns
    -------
    int
        An n at which ``make_curve(n).delta(epsilon) <= delta`` was found to hold, its accuracy allowed for, and did not
        at n - 1 (or n = 2).

    Raises
    ------
    DomainError
        If an argument is out of range, or the curve refuses an n on the way.
    """
    excess = _excess(make_curve, real("epsilon", epsilon, at_least=0), delta)
    low, high = 1, 2
    while excess(high) > 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


def _excess(make_curve, epsilon: float, delta) -> Callable[[float], float]:
    """A function of the parameter that is at most 0 where its curve keeps the guarantee."""
    if not callable(make_curve):
        raise DomainError(f"make_curve must be a function that returns a PrivacyCurve, got {make_curve!r}")
    log_target = math.log(real("delta", delta, above=0, below=1))

    def excess(parameter) -> float:
        curve = make_curve(parameter)
        return _excess_over(curve.log_delta(epsilon), log_target - curve.accuracy)

    return excess
