r"""Expected positive part of a sum of independent terms with four values, two of them equally likely.

This is the common form of k-ary randomized response, of its privacy blanket and of the clones: a message is one of the
two symbols in question, with the same probability w, or one of two further kinds. Two evaluators, chosen by a guard:
the steepest-descent integral together with the echoes of its peak, which a nearly periodic sum needs, wherever all of
them can be counted; and a sum of positive terms, exact at every n, where they cannot. What neither can vouch for
raises. The integral serves any other finite law, and densities, as well.
"""

from __future__ import annotations

import math

import numpy as np

from .engine import log_binomial_outer, log_binomial_probability
from .numerics import expm1_minus, log_sum_exp

__all__ = [
    "LEAST_PAIRS",
    "log_excess_by_contour",
    "log_finite_excess",
    "log_four_atom_excess",
    "saddle",
    "tilted",
    "window",
]

# n w from which the integral is tried, whose half-period echoes have size e^(-4 n w): for four values, and for three,
# of which the sum is quick
LEAST_PAIRS, MANY_PAIRS = 3000.0, 3e4
_LONG = 2 * 10**6  # terms of the sum, at most
_BLOCK = 2**15  # of them at once
_TOLERANCE = 1e-11  # of the result: what the echoes left out may make up
_ECHOES, _TURNS = 2**12, 2**17  # echoes evaluated, and turns that are looked at, at most
_FEWEST = 100  # occurrences of either of two values expected, for the integral
_LOOK = 2**12  # turns of a law with many values that are looked at; echoes of the second half must be all but nothing


def log_four_atom_excess(n: int, weights, values, mean, rough: bool = False):
    r"""Log of :math:`E(G_1 + \dots + G_n)_+` for independent, identically distributed four-valued terms.

    Parameters
    ----------
    n : int
        Number of terms.
    weights : sequence of 4 floats
        Probabilities ``w, w, w3, w4`` (either of the last two may be 0), summing to 1.
    values : sequence of 4 floats or arrays
        ``g1 > 0 > g2`` with ``g1 + g2 <= 0``, and ``g3, g4 <= 0``; arrays as long as ``mean``.
    mean : float or array
        ``E G``, at most 0, computed by the caller without cancellation.
    rough : bool
        A quick value that nothing vouches for, see `log_excess_by_contour`.

    Returns
    -------
    float or ndarray
        Natural log, relative error of the value below 1e-10.

    Raises
    ------
    ArithmeticError
        If no evaluator can vouch for a value.
    """
    scalar, weights = np.ndim(mean) == 0, np.asarray(weights, float)
    table = np.empty((np.size(mean), 4))
    for column, value in enumerate(values):
        table[:, column] = value
    values, mean = table, np.atleast_1d(mean)
    scale = values[:, 0]
    values = values / scale[:, None]
    logs = np.full(len(mean), np.nan)
    pairs = n * weights[0]
    if rough or pairs > (LEAST_PAIRS if 0 < weights[2] < 1 - 2 * weights[0] else MANY_PAIRS):
        logs = log_excess_by_contour(n, weights, values, mean / scale, rough)
    for i in np.flatnonzero(np.isnan(logs)):
        logs[i] = _pair_sum(n, weights, values[i])
    logs += np.log(scale)
    return float(logs[0]) if scalar else logs


def log_finite_excess(n: int, weights, values, mean, rough: bool = False) -> np.ndarray:
    r"""Log of :math:`E(G_1 + \dots + G_n)_+` for terms with any finite law, or a density given at quadrature nodes.

    Parameters
    ----------
    n : int
        Number of terms.
    weights : ndarray
        Probabilities of the law of G.
    values : ndarray
        Its values, one law per row; the first is the largest, and positive.
    mean : ndarray
        ``E G`` of every row, at most 0, computed by the caller without cancellation.
    rough : bool
        A quick value that nothing vouches for, see `log_excess_by_contour`.

    Returns
    -------
    ndarray
        Natural log, by `log_excess_by_contour`.

    Raises
    ------
    ArithmeticError
        If the integrand has not died out after its peak (n is too small for the integral), or is nearly periodic.
    """
    scale = values[:, 0]
    values, mean = values / scale[:, None], mean / scale
    if not rough:
        _, laws = _saddle(n, weights, values)
        if any(_too_few(n, law, row) for law, row in zip(laws, values, strict=True)):
            raise ArithmeticError(f"n = {n} terms are too few for the integral")
    logs = log_excess_by_contour(n, weights, values, mean, rough)
    if np.isnan(logs).any():
        raise ArithmeticError(f"the sum of n = {n} terms is nearly periodic")
    return np.log(scale) + logs


def _too_few(n: int, law: np.ndarray, values: np.ndarray) -> bool:
    """Whether the integrand may not have died out between its peak and its echoes."""
    spread = math.sqrt(n * (law @ (values - law @ values) ** 2))
    heavy = 1 + int(np.argmax(law[1:]))
    turn = 2 * math.pi / (values[0] - values[heavy])  # of the first value's phase
    # between echoes the first value alone, seen n law[0] times, must be enough to keep the integrand down, to e^-25
    if n * law[0] < 15 or turn < 20 / spread:
        return True
    # up to half a turn of the widest phase, log|phi|^n <= -(2/pi^2) (spread u)^2; beyond, by the first value alone
    widest = math.pi / (values[0] - values.min())
    least = min(1 - math.cos(2 * math.pi * widest / turn), 1 - math.cos(0.8 * 2 * math.pi))
    if widest >= 12 / spread and n * law[0] * law[heavy] * least >= -math.log(_TOLERANCE):
        return False
    between = np.linspace(9 / spread, 0.8 * turn, 1024)
    characteristic = np.abs(np.exp(1j * between[:, None] * values) @ law)
    return n * math.log(characteristic.max()) > math.log(_TOLERANCE)


def tilted(weights: np.ndarray, values: np.ndarray, theta) -> np.ndarray:
    """The law with weights proportional to ``weights * exp(theta * values)``; one per row of values and per theta."""
    exponents = np.asarray(theta)[..., None] * values
    law = weights * np.exp(exponents - exponents.max(axis=-1, keepdims=True))
    return law / law.sum(axis=-1, keepdims=True)


def saddle(n: int, weights: np.ndarray, values: np.ndarray):
    """The tilt under which the sum of n terms is typically just above 0: minimiser of ``n K(theta) - 2 log theta``.

    Found to a few per cent, which is near enough; one per row of values.
    """
    return _saddle(n, weights, values)[0]


def _saddle(n: int, weights: np.ndarray, values: np.ndarray):
    """`saddle` and the law tilted by it."""
    center = values @ weights
    variance = (values * values) @ weights - center * center
    theta = (np.sqrt(center * center + 8 * variance / n) - center) / (2 * variance)  # of the Gaussian limit
    low, high = np.zeros_like(theta), np.full_like(theta, np.inf)
    for _ in range(200):
        law = tilted(weights, values, theta)
        weighted = law * values
        center = weighted.sum(axis=-1)
        slope = n * center - 2 / theta
        curvature = n * ((weighted * values).sum(axis=-1) - center * center) + 2 / theta**2
        step = theta - slope / curvature
        done = (np.abs(step - theta) < 0.03 * theta) & (curvature * (step - theta) ** 2 < 0.1)
        if done.all():
            return theta, law
        low, high = np.where(slope < 0, theta, low), np.where(slope < 0, high, theta)
        step = np.clip(step, theta / 4, theta * 4)
        outside = ~((low < step) & (step < high))
        theta = np.where(done, theta, np.where(outside, np.sqrt(low * np.minimum(high, 1e300)), step))
        theta = np.where(theta > 0, theta, high / 2)
    raise ArithmeticError("the tilt that brings the sum to 0 was not found")


def window(n, p) -> tuple[np.ndarray, np.ndarray]:
    """Where a binomial count is, but for at most e^-42 of its law on either side (Bernstein's inequality)."""
    reach = 14 + np.sqrt(196 + 84 * n * p * (1 - p))
    return np.maximum(0, np.floor(n * p - reach)), np.minimum(n, np.ceil(n * p + reach))


def _pair_sum(n: int, weights: np.ndarray, values: np.ndarray) -> float:
    r"""A sum over the pair count T, and over those values of the second count at which the third kind matters.

    Given T and the count R of the third kind the second count N is Bin(T, 1/2), and the sum of the terms is
    :math:`\Delta(\tau - N)` with :math:`\Delta = g_1 - g_2` and :math:`\tau = \tau_0 - cR \le T/2` linear in R. With
    the mean :math:`\bar\tau` of :math:`\tau` given T,

    .. math:: E[(\tau-N)_+ \mid T] = E[(\bar\tau-N)_+ \mid T]
        + \sum_j P(N = j \mid T)\,\bigl\{E[(\tau-j)_+ \mid T] - (\bar\tau-j)_+\bigr\} ,

    where the first part is what `_running_tails` sums, and the braces are a binomial excess, positive and of account
    only where :math:`\tau` may be j. The third kind is the one that is rarer where the sum is positive.
    """
    _, law = _saddle(n, weights, values)
    if law[2] > law[3]:
        weights, values, law = (x[[0, 1, 3, 2]] for x in (weights, values, law))
    w, rest = weights[0], weights[2] + weights[3]
    g1, g2, g3, g4 = values
    delta, c = g1 - g2, (g4 - g3) / (g1 - g2)
    low, high = window(n, law[0] + law[1])
    if high - low > _LONG:
        raise ArithmeticError(f"no evaluator vouches for a sum of n = {n} terms with weights {weights.tolist()}")
    totals = np.arange(low, high + 1)
    others = n - totals
    rho, complement = (weights[2] / rest, weights[3] / rest) if rest > 0 else (0.0, 1.0)
    room = (g1 * totals + g4 * others) / delta
    log_pair = log_binomial_probability(np.array([float(n)]), 2 * w, rest, totals, totals - 2 * w * n)
    logs = [_running_tails(totals, log_pair, (g1 * totals + (rho * g3 + complement * g4) * others) / delta)]
    if 0 < rho < 1 and c != 0:
        share = law[2] / max(law[2] + law[3], 1e-300)
        ends = np.sort([room - c * end for chance in (rho, share) for end in window(others, chance)], axis=0)
        first = np.maximum(np.ceil(ends[0]), 0)
        count = np.maximum(np.minimum(np.floor(ends[-1]), totals) - first + 1, 0).astype(int)
        if count.sum() > _LONG:
            raise ArithmeticError(f"no evaluator vouches for a sum of n = {n} terms with weights {weights.tolist()}")
        last = np.cumsum(count)
        for begin in range(0, int(last[-1]), _BLOCK):
            index = np.arange(begin, min(begin + _BLOCK, last[-1]))
            row = np.searchsorted(last, index, side="right")
            j = first[row] + (index - (last - count)[row])
            excess = log_binomial_outer(others[row], rho, complement, (room[row] - j) / c)
            log_half = log_binomial_probability(totals[row], 0.5, 0.5, j, j - totals[row] / 2)
            logs.append(log_sum_exp(log_pair[row] + log_half + excess + math.log(abs(c))))
    if max(logs) == -math.inf:
        raise ArithmeticError("the sum over the pair count found no outcome above the threshold")
    return math.log(delta) + log_sum_exp(np.array(logs))


def _running_tails(totals: np.ndarray, log_pair: np.ndarray, tau: np.ndarray) -> float:
    r"""Log of :math:`\sum_T P(T)\,E(\tau_T - N_T)_+` for :math:`N_T \sim \mathrm{Bin}(T, 1/2)`, consecutive T and a
    linear :math:`\tau_T \le T/2` with slope between 0 and 1.

    With m the last count below :math:`\tau_T`, :math:`b_T` its probability and :math:`L_T` that of fewer,
    :math:`E(\tau_T-N_T)_+ = E(m-N_T)_+ + (\tau_T-m)(L_T+b_T)`. From T to T + 1 where m stays L falls by half the
    probability of m - 1, and :math:`E(m-N_T)_+` by :math:`\tfrac12 L_T`; where m grows L grows by :math:`\tfrac12 b_T`,
    and :math:`E(m-N_T)_+` by :math:`\tfrac12(L_T+b_T)`. Cumulative sums give them all, from both ends
    to where the tails are largest.
    """
    possible = tau > 0
    if not possible.any():
        return -math.inf
    totals, log_pair, tau = totals[possible], log_pair[possible], tau[possible]
    m = np.ceil(tau) - 1
    log_b = log_binomial_probability(totals, 0.5, 0.5, m, m - totals / 2)
    joint = log_pair + log_b
    some = np.flatnonzero(joint > joint.max() - 60)
    some = slice(some[0], some[-1] + 1)
    totals, log_pair, tau, m, log_b = totals[some], log_pair[some], tau[some], m[some], log_b[some]
    top = int(np.argmax(log_pair + log_b))
    if max(log_b.max() - log_b[top], log_pair.max() - log_pair[top]) > 690:  # too wide for doubles
        return log_sum_exp(log_pair + log_binomial_outer(totals, 0.5, 0.5, tau))
    b, pair = np.exp(log_b - log_b[top]), np.exp(log_pair - log_pair[top])
    stays = m[1:] == m[:-1]
    share = tau / totals
    rate = totals * math.log(2) + tau * np.log(share) + (totals - tau) * np.log1p(-share)  # the tail is about e^-rate
    largest = int(np.argmin(rate))
    (fewer_first, excess_first), (fewer_last, excess_last) = (b[i] * _fair_tail(totals[i], m[i]) for i in (0, -1))
    rise = np.where(stays, -(b * m / (totals - m + 1))[:-1], b[:-1]) / 2
    fewer = _accumulated(fewer_first, rise, fewer_last, largest)
    rise = np.where(stays, -fewer[:-1], (fewer + b)[:-1]) / 2
    excess = _accumulated(excess_first, rise, excess_last, largest)
    return float(log_pair[top] + log_b[top] + np.log(pair @ (excess + (tau - m) * (fewer + b))))


def _fair_tail(total: float, m: float) -> np.ndarray:
    """For a fair binomial count N the probability of fewer than m, and E(m-N)_+, in units of the probability of m."""
    down = np.arange(min(m, 5 * math.sqrt(total) + 40))
    shares = np.cumprod((m - down) / (total - m + down + 1))
    return np.array([shares.sum(), shares @ (down + 1)])


def _accumulated(first: float, rise: np.ndarray, last: float, turn: int) -> np.ndarray:
    """The sequence with the given differences, up to the turn from its first value on, then back from its last one."""
    before, after = np.append(first, rise[:turn]), np.append(last, -rise[:turn:-1])
    return np.append(np.cumsum(before), np.cumsum(after)[::-1])[: rise.size + 1]


_STEP, _STEPS = 0.27, 32  # of the integral over the peak, in standard deviations
_ORDER = 26  # of the series about the saddle, at most
_PEAK = _STEP * np.arange(_STEPS)
_ROTATED = np.array([(1, 1j, -1, -1j)[k % 4] / math.factorial(k) * _PEAK**k for k in range(2, _ORDER + 1)])
_EVEN, _ODD = _ROTATED[::2].real.copy(), _ROTATED[1::2].imag.copy()
_ECHO_STEP = 0.8
_ECHO = _ECHO_STEP * np.arange(-8, 9)


def log_excess_by_contour(
    n: int, weights: np.ndarray, values: np.ndarray, mean: np.ndarray, rough: bool = False
) -> np.ndarray:
    r"""Log of :math:`E(G_1+\dots+G_n)_+ = \frac1\pi\int_0^\infty \mathrm{Re}\,e^{nK(s)}/s^2\,du` on
    :math:`s = \theta + iu`, for any finite law of G whose largest value is 1; one per row of values.

    The peak at u = 0 takes 32 nodes: there K is its series about the saddle, by central moments of the tilted law.
    Wherever all phases come close to whole turns again there is an echo of the peak. After m turns of the first value's
    phase it is at most of the size :math:`A/m^2` with A about :math:`\max(1, z^2)/(40\,n w)`, and a phase that is off
    by x turns keeps it below that times :math:`e^{-Sx^2}` with a known S. By these two bounds all echoes but a finite
    set are left out, which together are below 1e-11 of the result; the set is evaluated. Where it is too large the
    entry is nan: the value cannot be vouched for. (With more than four values, whose phases hardly ever come into step
    again, the first 4096 turns are looked at instead; the echoes of the second half must be below 1e-14.)

    Where ``rough`` the echoes are left out: a quick value, about right for most n, that nothing vouches for.
    """
    theta, law = _saddle(n, weights, values)
    exponents = theta[:, None] * values
    total = mean * theta + expm1_minus(exponents) @ weights  # M(theta) - 1
    center = (mean + (values * np.expm1(exponents)) @ weights) / (1 + total)
    away = values - center[:, None]
    spread = np.sqrt(n * (law * away * away).sum(axis=1))

    unit = away / spread[:, None]
    reach = np.abs(unit).max() * _PEAK[-1]
    if reach < 2:
        order = 2
        while 2 * reach ** (order - 1) > 1e-17 * math.factorial(order + 1):
            order += 1
        power, moments = law * unit, []
        for _ in range(2, order + 1):
            power = power * unit
            moments.append(power.sum(axis=1))
        even, odd = np.array(moments[::2]).T, np.array(moments[1::2]).T
        real, imaginary = even @ _EVEN[: even.shape[1]], odd @ _ODD[: odd.shape[1]]
    else:
        rest = (law[:, None, :] * expm1_minus(1j * _PEAK[:, None] * unit[:, None, :])).sum(axis=2)
        real, imaginary = rest.real, rest.imag
    slant = _PEAK / (theta * spread)[:, None]  # u/theta
    height = np.exp(0.5 * n * np.log1p(2 * real + real * real + imaginary * imaginary))
    angle = n * np.arctan2(imaginary, 1 + real) + (n * center / spread)[:, None] * _PEAK
    square = slant * slant
    integrand = height * (np.cos(angle) * (1 - square) + 2 * np.sin(angle) * slant) / (1 + square) ** 2
    main = _STEP * (integrand.sum(axis=1) - 0.5 * integrand[:, 0])
    if rough:
        return n * np.log1p(total) + np.log(np.maximum(main, 1e-3) / (math.pi * theta**2 * spread))
    if law.shape[1] <= 4:  # few occurrences of one of the first two values are no peak but a comb
        main = np.where(n * law[:, :2].min(axis=1) > _FEWEST, main, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        main = main + _echoes(n, values, law, away, center, theta, spread, main)
        return n * np.log1p(total) + np.log(main / (math.pi * theta**2 * spread))


def _echoes(n, values, law, away, center, theta, spread, main) -> np.ndarray:
    """What the echoes add to the integral over the peak, nan where they cannot be counted."""
    rows = np.arange(len(theta))
    heavy = 1 + np.argmax(law[:, 1:], axis=1)
    width = values[:, 0] - values[rows, heavy]
    turns = (values - values[rows, heavy][:, None]) / width[:, None]  # of each phase while the first makes one
    off = np.abs(turns - np.rint(turns))
    # with the residual phases x and c - tx: log|phi|^n <= -n w_h (2/pi^2) min_x [w_1 x^2 + w_i (c - tx)^2]
    held = n * law[rows, heavy] * law[:, 0]
    strength = 8 * held[:, None] * law / (law[:, :1] + law * turns**2)
    full = math.sqrt(2 * math.pi) * (theta * width / (2 * math.pi)) ** 2 / main  # an echo of full height after one turn
    depth = np.log(np.maximum(4 * full / _TOLERANCE, 1.0))[:, None]
    alive = np.sqrt(depth / np.maximum(strength, 1e-30))  # in turns that a phase may be off
    returns = 7.8 * full[:, None] * off**2 / _TOLERANCE
    quiet = ((alive < off) & (returns < 0.5)).any(axis=1) | (full < 1.5 * _TOLERANCE)
    if quiet.all():
        return np.zeros(len(theta))
    stop = np.ceil(2 * full / _TOLERANCE)  # all turns from here on together are below the tolerance
    strongest = np.argsort(alive, axis=1)[:, :8]
    guide, period = strongest[:, 0].copy(), np.ones(len(theta))
    for i in np.flatnonzero((stop > 500) & ~quiet):
        some = strongest[i, :4]
        last, best, period[i] = _plan(turns[i, some].tolist(), strength[i, some].tolist(), 4 * full[i] / _TOLERANCE)
        stop[i], guide[i] = min(stop[i], last), some[best]
    if law.shape[1] > 4:  # that many phases do not come into step again: only looked at, not proved
        endless, late = stop > _TURNS, np.zeros(len(theta))
        stop, added = np.where(endless, _LOOK, stop), np.zeros(len(theta))
    else:
        # a phase that makes several turns while the first makes one could come back in between
        between = 8 * held < np.where(np.abs(turns).max(axis=1) > 1.5, 60 * (turns**2).max(axis=1), 0.0)
        endless = late = np.zeros(len(theta), bool)
        added = np.where(between | ~(main > 0), np.nan, 0.0)
    near = alive[rows, guide]
    t, period = np.where(near < 0.4, turns[rows, guide], 0.0), np.where(near < 0.4, period, 1.0)
    near = np.minimum(near, 0.4)  # where it can be anything all turns are found, as after a phase of 0
    drift = _from_whole(period * t)
    looks = period + stop * (np.abs(drift) + np.where(t == 0, 1, 2 * near))
    added[~(looks < _TURNS)] = np.nan
    added[quiet] = 0.0

    wanted = np.flatnonzero((stop > 3) & ~quiet & ~np.isnan(added))
    while wanted.size:
        many = max(int(np.searchsorted(np.cumsum(looks[wanted]), _TURNS)), 1)
        (row, turn), wanted = _in_step(wanted[:many], t, near, period, drift, stop), wanted[many:]
        for j in strongest.T if law.shape[1] > 4 else ():
            kept = np.abs(_from_whole(turn * turns[row, j[row]])) < alive[row, j[row]]
            row, turn = row[kept], turn[kept]
        kept = (np.abs(_from_whole(turn[:, None] * turns[row])) < alive[row]).all(axis=1)
        row, turn = row[kept], turn[kept]
        count = np.bincount(row, minlength=len(theta))
        if law.shape[1] <= 4 and count.max() > _ECHOES:
            added[count > _ECHOES] = np.nan
            kept = ~np.isnan(added[row])
            row, turn = row[kept], turn[kept]
        # echoes left out as slighter, and errors of those that are not integrated, make up 4 % of the tolerance
        allowed = 0.02 * _TOLERANCE / np.maximum(count, 1)
        block = 4 * _ECHOES // law.shape[1]
        for first in range(0, row.size, block):
            some, m = row[first : first + block], turn[first : first + block]
            u = (np.rint(m[:, None] * turns[some]) * (away * law)[some]).sum(axis=1)
            u *= 2 * math.pi * n / spread[some] ** 2
            turned = law[some] * np.exp(1j * (u[:, None] * away[some]))
            height = full[some] / (m * m) * np.abs(turned.sum(axis=1)) ** n
            if endless.any():
                late += np.bincount(some, height * (m > _LOOK / 2), minlength=len(theta))
            kept = height > allowed[some]
            some, u, turned = some[kept], u[kept], turned[kept]
            unit, law_of = away[some] / spread[some, None], (center[some], theta[some], spread[some])
            echo, error = _echo(n, turned, unit, u, *law_of)
            tall = ~(error < main[some] * allowed[some])
            if tall.any():
                echo[tall] = _integrated_echo(n, turned[tall], unit[tall], u[tall], *(x[tall] for x in law_of))
            added += np.bincount(some, echo, minlength=len(theta))
    added[endless & ~quiet & ~(late < 1e-3 * _TOLERANCE)] = np.nan
    return added


def _integrated_echo(n, turned, unit, u, center, theta, spread):
    """One echo each by the trapezoid rule."""
    phi = np.einsum("ej,ejv->ev", turned, np.exp(1j * _ECHO * unit[..., None]))
    u = u[:, None] + _ECHO / spread[:, None]
    whole = np.exp(n * (np.log(phi) + 1j * u * center[:, None])) / (1 + 1j * u / theta[:, None]) ** 2
    return _ECHO_STEP * whole.real.sum(axis=1)


def _echo(n, turned, unit, u, center, theta, spread):
    """One echo each by its cumulants, to the order 1/n, and an estimate of the error."""
    power = turned * unit
    total = turned.sum(axis=1)
    a1 = power.sum(axis=1) / total
    power = power * unit
    a2 = power.sum(axis=1) / total
    power = power * unit
    a3 = power.sum(axis=1) / total
    a4 = (power * unit).sum(axis=1) / total
    square = a1 * a1
    width = n * (a2 - square)
    third = -1j / 6 * n * (a3 - a1 * (3 * a2 - 2 * square))
    fourth = n / 24 * (a4 - 4 * a1 * a3 - 3 * a2 * a2 + 6 * square * (2 * a2 - square))
    slope = 1j * n * (a1 + center / spread)
    c, v = slope / width, 1 / width
    cc = c * c
    skew = third * c * (cc + 3 * v)
    rest = fourth * (cc * (cc + 6 * v) + 3 * v * v)
    rest = rest + 0.5 * third * third * (cc * (cc * (cc + 15 * v) + 45 * v * v) + 15 * v**3)
    s = 1 + 1j * (u + c / spread) / theta
    value = np.exp(n * (np.log(total) + 1j * u * center) + 0.5 * slope * c) * np.sqrt(2 * math.pi * v) / (s * s)
    small = np.abs(skew) + np.sqrt(np.abs(rest))
    error = 60 * small**3 + 10 * (1 + np.abs(c)) ** 2 / (u * spread) ** 2
    return (value * (1 + skew + rest)).real, np.where(width.real > 0.1, error * np.abs(value), np.inf)


def _plan(turns: list[float], strength: list[float], full: float) -> tuple[float, int, float]:
    r"""Of one law: the turn from which on the echoes, of the size :math:`A/m^2` each at most, make up less than the
    tolerance; the phase by which to find those before, and the period by which to count them.

    With the denominators :math:`q_k` of the continued fraction of t, any two of :math:`q_k` consecutive multiples of t
    are at least :math:`\|q_{k-1}t\|` apart from each other, so that at most :math:`1 + 2a/\|q_{k-1}t\|` of them
    come nearer to whole numbers than a, for every a. Their factors :math:`e^{-Sx^2}` hence sum to at most
    :math:`1 + \sqrt{\pi/S}/\|q_{k-1}t\|`.
    """
    last, guide, most = math.inf, 0, 0.0
    for j, (t, s) in enumerate(zip(turns, strength, strict=True)):
        x = abs(t - round(t))
        if x > 1e-9 and s > most:
            guide, most = j, s
        before, q, apart = 0.0, 1.0, 1.0  # apart is the distance of before * t from the next whole number
        reach = math.sqrt(math.pi / s) if s > 50 else 4.0
        while x > 1e-9 and 16 * apart > reach and q < last:
            whole = int(1 / x)
            before, q, apart, x = q, whole * q + before, apart * x, 1 / x - whole
            last = min(last, max(q, full * (1 + reach / apart) / q))
    last = math.ceil(min(last, full))
    x = abs(turns[guide] - round(turns[guide]))
    before, q, apart, period, cost = 0.0, 1.0, 1.0, 1.0, 1 + last * x
    while x > 1e-9 and q < cost:
        whole = int(1 / x)
        before, q, apart, x = q, whole * q + before, apart * x, 1 / x - whole
        if q + last * apart * x < cost:
            cost, period = q + last * apart * x, q
    return last, guide, period


def _in_step(names, t, near, period, drift, last) -> tuple[np.ndarray, np.ndarray]:
    """Of every law named the turns, up to the last one, after which its phase t is nearly whole.

    Turn ``r + j period``, with r below the period, has the phase ``r t + j drift``: near a whole number for one
    interval of j.
    """
    row, rest = _counted(names, period[names])
    base, a = _from_whole(rest * t[row]), near[row] * (1 + 1e-9) + 1e-12
    laps, step = np.ceil(last / period)[row], drift[row]
    step = np.where(np.abs(step) > 1e-300, step, 1e-300)
    end = base + laps * step
    low = np.ceil(np.minimum(base, end) - a)
    local, whole = _counted(np.arange(row.size), np.floor(np.maximum(base, end) + a) - low + 1)
    row, rest, step, a, laps = row[local], rest[local], step[local], a[local], laps[local]
    middle, reach = (low[local] + whole - base[local]) / step, a / np.abs(step)
    first = np.maximum(np.ceil(middle - reach), 0)
    local, lap = _counted(np.arange(row.size), np.minimum(np.floor(middle + reach), laps) - first + 1)
    row, turn = row[local], rest[local] + (first[local] + lap) * period[row[local]]
    return row[turn > 0], turn[turn > 0]


def _counted(names: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every name as often as its count says, and a number from 0 on beside it."""
    counts = np.maximum(counts, 0).astype(int)
    return np.repeat(names, counts), np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _from_whole(turns: np.ndarray) -> np.ndarray:
    return turns - np.rint(turns)
