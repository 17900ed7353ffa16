"""The figures of Section 6 of Balle et al. 2019 on the grids of the authors' notebook, and what is said about them.

The bounds stand here a second time, as closed forms that take whole grids at once and share nothing with the library;
the checks compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...bounds.blanket import blanket_bennett, blanket_hoeffding, unsound_bennett_delta
from ...core.randomizers import GenericRandomizer, LaplaceRandomizer, RandomizedResponse
from ...exact.k_ary import shuffled_krr
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import evaluate

EPSILON = 0.1  # panels ii to iv
DELTA = 1e-6  # panels i to iii


def users(low: float, high: float, count: int) -> np.ndarray:
    """A grid of the authors' notebook: geometric, truncated to whole numbers."""
    return np.geomspace(low, high, count).astype(int)


PANEL_I, PANEL_II, PANEL_IV = users(1e3, 1e6, 100), users(1e2, 1e5, 100), users(1e2, 1e5, 50)


def cube_root(n) -> np.ndarray:
    """Largest whole number whose cube is at most n. (In floating point ``1000**(1/3)`` is below 10.)"""
    root = np.round(np.cbrt(n)).astype(int)
    return root - (root**3 > n)


# -- mechanisms: gamma, width of the range of L, its upper end, second moment ------------------------------------


def generic(epsilon0, epsilon):
    u, e = np.exp(epsilon0), np.exp(epsilon)
    return 1 / u, (1 + e) * (u - 1 / u), u - e / u, u * (e * e + 1) - 2 * e / u**3


def response(k) -> Callable:
    def moments(epsilon0, epsilon):
        g, e = k / (np.expm1(epsilon0) + k), np.exp(epsilon)
        second = g * (2 - g) * (e - 1) ** 2 + (1 - g) ** 2 * k * (e * e + 1)
        return g, (1 - g) * k * (1 + e), g * (1 - e) + (1 - g) * k, second

    return moments


def laplace(epsilon0, epsilon):
    h, e = np.exp(epsilon0 / 2), np.exp(epsilon)
    second = (e * e + 1) / 3 * (2 * h + h**-2) - 2 * e * (2 / h - h**-2)
    return 1 / h, (1 + e) * (h - 1 / h), h - e / h, second


MECHANISMS = {"2-RR": response(2), "100-RR": response(100), "Laplace": laplace}


# -- bounds: log delta --------------------------------------------------------------------------------------------


def hoeffding(n, epsilon, moments):
    g, b, _, _ = moments
    a = np.expm1(epsilon)
    return np.log(b * b / (4 * a * g * n)) + n * np.log1p(g * np.expm1(-2 * (a / b) ** 2))


def _bennett_parts(epsilon, moments):
    g, _, b_plus, c = moments
    a = np.expm1(epsilon)
    u = a * b_plus / c
    s = c / b_plus**2 * ((1 + u) * np.log1p(u) - u)
    return a, g, b_plus, np.log1p(u), s, np.log1p(g * np.expm1(-s))


def bennett(n, epsilon, moments):
    """With the right prefactor."""
    _, g, b_plus, log_u, _, kept = _bennett_parts(epsilon, moments)
    return np.log(b_plus / (g * n * log_u)) + n * kept + np.log(-np.expm1(n * (np.log1p(-g) - kept)))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def mean_inverse(n, p):
    r"""``E[1/m; m >= 1]`` for m ~ Bin(n, p): the integral of ``((1-p+px)^n - (1-p)^n)/x`` over (0, 1)."""
    n, p = (np.asarray(x, float)[..., None] for x in np.broadcast_arrays(n, p))
    end = -np.log1p(-p)
    top = np.minimum(end, 45 / n)
    v = top * _NODES  # 1 - p + p x = e^-v
    integrand = (np.exp(-n * v) - np.exp(-n * end)) * np.exp(-v) / (p + np.expm1(-v))
    return (top * integrand) @ _WEIGHTS


def printed_bennett(n, epsilon, moments):
    """With the prefactor of the first public code: not a bound."""
    a, g, b_plus, log_u, s, kept = _bennett_parts(epsilon, moments)
    tilted = g * np.exp(-s - kept)
    return np.log(b_plus / (a * log_u * g * n)) + n * kept + np.log(mean_inverse(n, tilted))


def largest_epsilon0(bound: Callable, mechanism: Callable, n, delta, epsilon=EPSILON) -> np.ndarray:
    """For each n the epsilon0 up to which the bound is at most delta; epsilon itself where there is none."""
    n = np.asarray(n, float)
    low, high = np.full(n.shape, epsilon * (1 + 1e-9)), np.full(n.shape, 12.0)
    for _ in range(60):
        middle = (low + high) / 2
        fits = bound(n, epsilon, mechanism(middle, epsilon)) <= np.log(delta)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low


def least_epsilon(bound: Callable, mechanism: Callable, n, delta, epsilon0) -> np.ndarray:
    """For each n the first epsilon at which the bound is at most delta; epsilon0 where there is none."""
    n = np.asarray(n, float)
    low, high = np.full(n.shape, 1e-9), np.full(n.shape, epsilon0 * (1 - 1e-12))
    for _ in range(60):
        middle = (low + high) / 2
        fits = bound(n, middle, mechanism(epsilon0, middle)) <= np.log(delta)
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    return high


def earlier(n, epsilon0, delta):
    """The closed form of Erlingsson et al. 2019, nan outside its range or where it does not amplify."""
    epsilon = 12 * epsilon0 * np.sqrt(math.log(1 / delta) / np.asarray(n, float))
    legal = (np.asarray(n) >= 1000) & (epsilon0 <= 0.5) & (delta <= 0.01) & (epsilon <= epsilon0)
    return np.where(legal, epsilon, np.nan)


# -- checks -------------------------------------------------------------------------------------------------------


@check("bbgn19.fig.i.prior")
def earlier_form(claim: Record, tally: Tally) -> None:
    for at in claim.points(30):
        tally.true(claim.value(**at), **at)
    legal = [(int(n), e) for n, e in zip(PANEL_I, earlier(PANEL_I, 0.5, DELTA), strict=True) if e == e]
    for n, _ in legal:
        at = {"epsilon0": 0.5, "n": n, "delta": DELTA}
        tally.true(claim.value(**at), **at)
    for n, epsilon in legal[::30]:
        for bound in (blanket_hoeffding, blanket_bennett):
            curve = bound(GenericRandomizer(0.5), n, variant="published")
            tally.at_most(curve.delta(epsilon), DELTA, n=n, epsilon=epsilon)
    largest = EPSILON / 12 * np.sqrt(PANEL_II / math.log(1 / DELTA))
    others = [(int(n), e) for n, e in zip(PANEL_II, largest, strict=True) if n >= 1000 and EPSILON < e <= 0.5]
    for n, epsilon0 in others[::5]:
        at = {"epsilon0": epsilon0, "n": n, "delta": DELTA}
        tally.true(claim.value(**at), **at)
    tally.note(f"{len(legal)} points of the first panel")


@check("bbgn19.fig.i.cross")
def crossing(claim: Record, tally: Tally) -> None:
    found, correct, wrong = (
        least_epsilon(bound, generic, PANEL_I, DELTA, 0.5) for bound in (hoeffding, bennett, printed_bennett)
    )
    for n, epsilon in zip(PANEL_I[::3], found[::3], strict=True):
        tally.true(claim.value(n=int(n), epsilon=epsilon), n=int(n), epsilon=epsilon)
    for i in (0, 50, 99):
        n, epsilon = int(PANEL_I[i]), float(correct[i])
        curve = blanket_bennett(GenericRandomizer(0.5), n, variant="published")
        tally.equal(curve.epsilon(DELTA), epsilon, 1e-8, n=n)
        tally.equal(unsound_bennett_delta(GenericRandomizer(0.5), n, float(wrong[i])), DELTA, 1e-8, n=n)
    better = np.count_nonzero(correct < found), np.count_nonzero(wrong < found)
    tally.note(f"Bennett is better at {better[0]} of 100 points, with the wrong prefactor at {better[1]}")


@check("bbgn19.fig.ii.specific")
def specific(claim: Record, tally: Tally) -> None:
    for at in claim.points(30):
        tally.true(claim.value(**at), **at)
    any_randomizer = largest_epsilon0(hoeffding, generic, PANEL_II, DELTA)
    for n, epsilon0 in zip(PANEL_II[::4], any_randomizer[::4], strict=True):
        if epsilon0 > 1.01 * EPSILON:
            at = {"n": int(n), "epsilon0": epsilon0}
            tally.true(claim.value(**at), **at)
    for moments in MECHANISMS.values():
        tally.true(np.all(largest_epsilon0(hoeffding, moments, PANEL_II, DELTA) >= any_randomizer), what="every point")
    n, epsilon0 = 10**4, 0.75
    widest = blanket_hoeffding(GenericRandomizer(epsilon0), n, variant="published").delta(EPSILON)
    for randomizer in (RandomizedResponse(2, epsilon0), RandomizedResponse(100, epsilon0), LaplaceRandomizer(epsilon0)):
        tally.at_most(blanket_hoeffding(randomizer, n).delta(EPSILON), widest, n=n, epsilon0=epsilon0)
    n, epsilon0 = 10**5, 2.8  # the generic form kept consistent, beyond what the panel has for two of the mechanisms
    tally.at_most(blanket_hoeffding(GenericRandomizer(epsilon0), n).delta(EPSILON), DELTA, n=n, epsilon0=epsilon0)
    for name in ("100-RR", "Laplace"):
        tally.true(largest_epsilon0(hoeffding, MECHANISMS[name], n, DELTA) < epsilon0, what="the panel has less")


@check("bbgn19.fig.iii.bennett")
def every_mechanism(claim: Record, tally: Tally) -> None:
    counts = []
    for name, moments in MECHANISMS.items():
        found, correct, wrong = (
            largest_epsilon0(bound, moments, PANEL_II, DELTA) for bound in (hoeffding, bennett, printed_bennett)
        )
        for n, epsilon0 in zip(PANEL_II[::9], found[::9], strict=True):
            at = {"n": int(n), "epsilon0": epsilon0}
            tally.true(claim.value(**at), **at)
        counts.append(f"{name} {np.count_nonzero(correct > found)} ({np.count_nonzero(wrong > found)})")
        randomizer = {"2-RR": lambda e: RandomizedResponse(2, e), "100-RR": lambda e: RandomizedResponse(100, e)}
        make = randomizer.get(name, LaplaceRandomizer)
        n, at_n = int(PANEL_II[66]), 66
        tally.equal(blanket_hoeffding(make(found[at_n]), n).delta(EPSILON), DELTA, 1e-8, n=n)
        tally.equal(blanket_bennett(make(correct[at_n]), n).delta(EPSILON), DELTA, 1e-8, n=n)
        tally.equal(unsound_bennett_delta(make(wrong[at_n]), n, EPSILON), DELTA, 1e-8, n=n)
    tally.note("points of 100 where Bennett is better (with the wrong prefactor): " + ", ".join(counts))


@check("bbgn19.fig.iii.k100")
def largest_gain(claim: Record, tally: Tally) -> None:
    gains = {}
    for name, moments in MECHANISMS.items():
        found, correct = (largest_epsilon0(bound, moments, PANEL_II, DELTA) for bound in (hoeffding, bennett))
        gains[name] = correct / found
    for i, n in enumerate(PANEL_II):
        tally.true(gains["100-RR"][i] > max(gains["2-RR"][i], gains["Laplace"][i]), n=int(n))
    for at in claim.points(40):
        tally.true(claim.value(**at), **at)
        epsilon0 = at["epsilon0"]
        share = []
        for randomizer in (RandomizedResponse(100, epsilon0), LaplaceRandomizer(epsilon0)):
            low, high = randomizer.amplification_range(EPSILON)
            share.append(randomizer.amplification_second_moment(EPSILON) / (high - low) ** 2)
        tally.at_most(*share, **at)
    tally.note("largest gain in epsilon0: " + ", ".join(f"{name} {gain.max():.3f}" for name, gain in gains.items()))


@check("bbgn19.fig.iv")
def growing_alphabet(claim: Record, tally: Tally) -> None:
    k = cube_root(PANEL_IV)
    found, correct = (
        largest_epsilon0(bound, response(k), PANEL_IV, 1.0 / PANEL_IV**2) for bound in (hoeffding, bennett)
    )
    for n, size, better, epsilon0 in zip(PANEL_IV, k, correct, found, strict=True):
        tally.true(better > 1.1 * epsilon0, n=int(n))
        tally.true(claim.value(k=int(size), epsilon0=epsilon0), n=int(n), epsilon0=epsilon0)
    for at in claim.points(30):
        tally.true(claim.value(**at), **at)
        randomizer, n = RandomizedResponse(at["k"], at["epsilon0"]), at["k"] ** 3
        tally.true(
            blanket_bennett(randomizer, n).log_delta(EPSILON) <= blanket_hoeffding(randomizer, n).log_delta(EPSILON),
            **at,
        )
    tally.note(
        f"largest gain in epsilon0 {float((correct / found).max()):.3f}, least {float((correct / found).min()):.3f}"
    )


@check("bbgn19.fig.valid")
def guarantees(claim: Record, tally: Tally) -> None:
    true_delta = claim.read("D")
    for at in claim.points(3):
        tally.true(claim.value(**at), **at)
        curve = shuffled_krr(at["k"], at["epsilon0"], at["n"], "third")
        tally.at_most(evaluate(true_delta, at), curve.delta(at["epsilon"]) * (1 + 1e-9), **at)
    k = cube_root(PANEL_IV)
    curve = largest_epsilon0(printed_bennett, response(k), PANEL_IV, 1.0 / PANEL_IV**2)
    excess = {
        int(n): shuffled_krr(int(size), float(e), int(n)).delta(EPSILON) * float(n) ** 2
        for n, size, e in list(zip(PANEL_IV, k, curve, strict=True))[::11]
    }
    beyond = [n for n, x in excess.items() if x > 1]
    most = max(excess.values())
    tally.note(f"fourth panel: beyond the target at {len(beyond)} of {len(excess)} points, up to {most:.0f} times")
