"""Checks of the Gaussian limit, its certificate and its Le Cam distance: exact curves of small and large crowds, laws
summed from their definition, and a sweep of more than 10,000 points."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np

from ...core.curves import PrivacyCurve
from ...core.gaussian import gdp
from ...core.randomizers import RandomizedResponse
from ...exact.channels import shuffled_channel
from ...exact.randomized_response import shuffled_rr
from ...limits.berry_esseen import berry_esseen
from ...limits.gaussian import asymmetry_constant, gdp_certified, gdp_mu, gdp_second_order
from ...limits.le_cam import le_cam_distance
from ..evidence import Tally, check
from ..ledger import Record

_SQRT_2PI = math.sqrt(2 * math.pi)
WAYS = ("forward", "reverse")


def _rows(a: float, b: float):
    return ((1 - a, a), (1 - b, b))


def _binomial(size: int, chance: float, reach: float) -> tuple[int, np.ndarray]:
    """First count and probabilities of a binomial law, within ``reach`` of its mean."""
    from scipy.special import gammaln

    low, high = max(0, math.floor(size * chance - reach)), min(size, math.ceil(size * chance + reach))
    j = np.arange(low, high + 1.0)
    log = gammaln(size + 1) - gammaln(j + 1) - gammaln(size - j + 1)
    return low, np.exp(log + j * math.log(chance) + (size - j) * math.log1p(-chance))


def _law(n: int, ones: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts of output 1 and their probabilities when ``ones`` of n users hold 1, within 12 standard deviations."""
    reach = 12 * math.sqrt((n - ones) * a * (1 - a) + ones * b * (1 - b)) + 2
    (first, law), (second, more) = _binomial(n - ones, a, reach), _binomial(ones, b, reach)
    law = np.convolve(law, more)
    return first + second + np.arange(law.size), law / law.sum()


def _pair(a: float, b: float, n: int, ones: int) -> list[PrivacyCurve]:
    """Both directions' curves of the two-output channel, added up from the definition of the divergence."""
    _, others = _law(n - 1, ones, a, b)
    before, after = (np.append((1 - c) * others, 0) + np.append(0, c * others) for c in (a, b))

    def curve(p: np.ndarray, q: np.ndarray) -> PrivacyCurve:
        def log_delta(epsilon: np.ndarray) -> np.ndarray:
            return np.log(np.maximum(np.maximum(p - np.exp(epsilon)[:, None] * q, 0).sum(axis=1), 1e-300))

        return PrivacyCurve(log_delta, name="two outputs, from the definition", kind="exact")

    return [curve(after, before), curve(before, after)]


@check("shvets26.gdp.curve")
def limit_curve(claim: Record, tally: Tally) -> None:
    """The mean of the two directions, in which the terms of order 1/n cancel, and the library's curve."""
    for point in claim.points(12):
        n, rows = point["n"], _rows(point["a"], point["b"])
        k = round(point["pi_k"] * n)
        point["pi_k"] = k / n
        mu = gdp_mu(rows, n, k / n)
        if mu * math.sqrt(n) < 0.2:  # nearly equal rows: nothing to tell apart
            continue
        epsilon = point["t"] * mu
        tally.equal(gdp(mu).delta(epsilon), claim.value(**point), 1e-10, **point)
        mean = sum(curve.delta(epsilon) for curve in _pair(point["a"], point["b"], n, min(k, n - 1))) / 2
        tally.at_most(abs(mean - claim.value(**point)), 3 * (mu + mu**3 * n) / n, **point)


@check("shvets26.gdp.tangent")
def tangent(claim: Record, tally: Tally) -> None:
    for point in claim.points(60):
        mu, t = mp.mpf(point["mu"]), mp.mpf(point["t"])
        with mp.workdps(50):
            exact = mp.ncdf(mu / 2 - t) - mp.exp(t * mu) * mp.ncdf(-mu / 2 - t)
        tally.equal(gdp(point["mu"]).delta(point["mu"] * point["t"]), exact, 1e-9, **point)
        tally.at_most(abs(exact / claim.value(**point) - 1), mu**2 * (1 + t**2) / 4, **point)


def _sums(count: np.ndarray, n, a: float) -> np.ndarray:
    """``P(N >= count)`` for binomial N."""
    from scipy.special import bdtrc

    return np.where(count <= 0, 1.0, bdtrc(np.clip(count - 1, 0, n), n, a))


@check("shvets26.be.llr")
def kolmogorov(claim: Record, tally: Tally) -> None:
    """The distribution function on both sides of its jumps, and the log ratio; three and four outputs."""
    from scipy.special import ndtr

    largest = tests = 0
    for point in claim.points(340):
        a, n, bound = point["a"], point["n"], float(claim.value(**point))
        sd = math.sqrt(n * a * (1 - a))
        count = np.unique(np.clip(np.rint(n * a + np.linspace(-3, 3, 21) * sd), 0, n))
        normal = ndtr((count - n * a) / sd)
        below, above = 1 - _sums(count + 1, n, a), 1 - _sums(count, n, a)
        error = np.maximum(np.abs(below - normal), np.abs(above - normal))
        tests, largest = tests + 2 * error.size, max(largest, error.max() / bound)
        tally.at_most(error.max(), bound, **point)
        if n > 1:
            tally.equal(berry_esseen(_rows(a, 0.3 + 0.5 * (a < 0.5)), n).null, claim.value(**point), 1e-12, **point)
        mu = 0.3 / math.sqrt(n)  # log(1 + mu S) against its normal limit, whatever the other row is
        level = 1 + mu * (count - n * a) / sd
        level, keep = np.log(level[level > 0]), level > 0
        shifted = ndtr(level / mu + mu / 2)
        error = np.maximum(np.abs(below[keep] - shifted), np.abs(above[keep] - shifted))
        tally.at_most(error.max(initial=0), bound + mu / math.sqrt(8 * math.pi), **point)
    tally.note(f"{tests} points of the distribution function, largest error/bound {largest:.3f}")


@check("shvets26.be.curve")
def curve_bound(claim: Record, tally: Tally) -> None:
    from scipy.special import ndtr

    for point in claim.points(60):
        epsilon0, n, epsilon = point["epsilon0"], point["n"], point["epsilon"]
        channel = RandomizedResponse(2, epsilon0)
        mu, value = gdp_mu(channel, n, 0), float(claim.value(**point))
        tally.equal(berry_esseen(channel, n).curve(epsilon), value, 1e-11, **point)
        x = math.expm1(epsilon) / mu
        normal = ndtr(mu - x) - math.exp(epsilon) * ndtr(-x)
        exact = shuffled_rr(epsilon0, n, direction="forward").delta(epsilon)
        tally.at_most(abs(exact - normal), value, **point)
        tally.at_most(2.5 * gdp(mu).delta(epsilon), value, **point)


@check("ext.gdp.second")
def second_term(claim: Record, tally: Tally) -> None:
    """The difference of the directions at n and 4n, extrapolated; the library's constant; three outputs."""
    for point in claim.points(10):
        rows, value = _rows(point["a"], point["b"]), float(claim.value(**point))
        tally.equal(1 + asymmetry_constant(rows, point["pi_k"]), 1 + value, 1e-12, **point)
        pi = round(200 * point["pi_k"]) / 200
        at = point | {"pi_k": pi}
        value, found = float(claim.value(**at)), []
        for n in (800, 3200):
            mu, t = gdp_mu(rows, n, pi), np.linspace(0.5, 2, 31)
            ones = min(round(pi * n), n - 1)
            forward, reverse = (curve.delta(t * mu) for curve in _pair(point["a"], point["b"], n, ones))
            shape = t * np.exp(-t * t / 2) / _SQRT_2PI
            found.append(n * ((forward - reverse) @ shape) / (2 * shape @ shape))
        size = 0.02 * (1 + abs(value) + float((point["b"] - point["a"]) ** 2))
        tally.true(abs(2 * found[1] - found[0] - value) < size, **at)
    rows = ((0.5, 0.3, 0.2), (0.2, 0.25, 0.55))
    for pi in (0, 0.5):
        for way in WAYS:
            n = 200
            mu, t = gdp_mu(rows, n, pi), np.linspace(0.5, 2, 16)
            exact = shuffled_channel(rows, n, round(pi * n), way).delta(t * mu)
            gap = [np.abs(curve.delta(t * mu) - exact).max() for curve in (gdp_second_order(rows, n, pi, way), gdp(mu))]
            tally.at_most(4 * gap[0], gap[1], pi=pi)


def _mean_excess(t: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    return np.exp(-t * t / 2) / _SQRT_2PI - t * ndtr(-t)


def _binomial_excess(t: np.ndarray, n: int, a: float) -> np.ndarray:
    """``E(S - t)_+`` for a standardised binomial count, from two tails."""
    sd = math.sqrt(n * a * (1 - a))
    threshold = n * a + t * sd
    first = np.ceil(threshold)
    beyond = np.where(first > n, 0.0, _sums(first, n, a))
    weighted = n * a * np.where(first > n, 0.0, _sums(first - 1, max(n - 1, 1), a))
    return (weighted - threshold * beyond) / sd


@check("ext.gdp.certified")
def certificate(claim: Record, tally: Tally) -> None:
    """A sweep over channels, numbers of users and t, in both directions; then three and four outputs."""
    t = np.concatenate([np.linspace(0, 4, 13), [6.0, 9.0]])
    tests, largest = 0, 0.0
    for point in claim.points(300):
        a, b, n = point["a"], point["b"], point["n"]
        radius, mu = float(claim.value(**point)), abs(b - a) / math.sqrt(n * a * (1 - a))
        if abs(b - a) < 1e-3:
            continue
        tally.equal(gdp_certified(_rows(a, b), n).radius, claim.value(**point), 1e-10, **point)
        rising = a if b > a else 1 - a  # the output that one 1 makes likelier
        for chance, threshold in ((rising, np.expm1(t * mu) / mu), (1 - rising, -np.expm1(-t * mu) / mu)):
            error = mu * np.abs(_binomial_excess(threshold, n, chance) - _mean_excess(threshold)).max()
            tests += t.size
            largest = max(largest, error / radius if radius else math.inf)
            tally.at_most(error, radius, **point)
    rng = np.random.default_rng(20260209)
    for d, n in [(3, 2), (3, 5), (3, 25), (4, 2), (4, 9)] * 6:
        rows = 0.02 + 0.98 * rng.dirichlet(np.ones(d), 2)
        rows /= rows.sum(axis=1, keepdims=True)
        for way in WAYS:
            certified = gdp_certified(rows, n, way)
            epsilons = np.linspace(0, 5, 31) * certified.mu
            exact = shuffled_channel(rows, n, 0, way).delta(epsilons)
            tests += epsilons.size
            growth = np.exp(epsilons) if way == "reverse" else 1.0
            inside = epsilons < shuffled_channel(rows, n, 0, way).epsilon_max
            error = np.abs(exact - certified.centre.delta(epsilons)) / growth
            largest = max(largest, error[inside].max() / certified.radius)
            tally.at_most(error[inside].max(), certified.radius, d=d, n=n)
            lower, upper = certified.lower.delta(epsilons), certified.upper.delta(epsilons)
            tally.true(np.all(lower <= exact) and np.all(exact <= upper), d=d, n=n)
    tally.note(f"{tests} points (channel, n, t), largest error/bound {largest:.3f}")


def _local_expansion(epsilon0: float, eta: float, pi: float, n: int) -> tuple[float, float]:
    """Mean of the log ratio, and root mean square of what the expansion leaves out, for eta sqrt(n) more ones."""
    q = 1 / (1 + math.exp(epsilon0))
    ones, more = round(pi * n), round(eta * math.sqrt(n))
    eta = more / math.sqrt(n)
    count, before = _law(n, ones, q, 1 - q)
    shifted, after = _law(n, ones + more, q, 1 - q)
    common = np.intersect1d(count, shifted)
    p, r = before[common - count[0]], after[common - shifted[0]]
    mean = (n - ones) * q + ones * (1 - q)
    keep = np.abs(common - mean) < 7 * math.sqrt(n * q * (1 - q))
    common, p, log_ratio = common[keep], p[keep], np.log(r[keep]) - np.log(p[keep])
    score = (1 - 2 * q) / (q * (1 - q)) * (common - mean) / math.sqrt(n)
    information = (1 - 2 * q) ** 2 / (q * (1 - q))
    rest = log_ratio - eta * score + eta**2 * information / 2
    return float(p @ log_ratio), math.sqrt(p @ rest**2)


@check("shvets26.lan")
def local_normality(claim: Record, tally: Tally) -> None:
    for point in claim.points(8):
        for pi in (0.0, 0.3, 0.5):
            means = []
            for n in (6400, 25600):
                step = round(point["eta"] * math.sqrt(n)) / math.sqrt(n)
                means.append(_local_expansion(**point, pi=pi, n=n)[0] * (point["eta"] / step) ** 2)
            tally.equal(2 * means[1] - means[0], claim.value(**point), 0.01, **point, pi=pi)


@check("ext.lan.remainder")
def local_remainder(claim: Record, tally: Tally) -> None:
    for point in claim.points(8):
        if abs(1 - 2 * point["pi_k"]) < 0.1:
            continue
        scaled = []
        for n in (10000, 40000):  # step sizes that are whole numbers for eta in hundredths
            eta = round(100 * point["eta"]) / 100
            pi = round(point["pi_k"] * 100) / 100
            scaled.append(math.sqrt(n) * _local_expansion(point["epsilon0"], eta, pi, n)[1])
        at = {"epsilon0": point["epsilon0"], "eta": eta, "pi_k": pi}
        tally.equal(2 * scaled[1] - scaled[0], claim.value(**at), 0.02, **at)


@check("shvets26.lecam")
def gaussian_against_nothing(claim: Record, tally: Tally) -> None:
    nothing = PrivacyCurve(
        lambda epsilon: np.full(epsilon.shape, -np.inf), name="no information", kind="exact", epsilon_max=0.0
    )
    for point in claim.points(8):
        tally.equal(le_cam_distance(gdp(point["mu"]), nothing), claim.value(**point), 1e-11, **point)
    for epsilon0, n in ((1.0, 400), (2.0, 1600)):  # the exact pair is as close to nothing, to leading order
        pair = [shuffled_rr(epsilon0, n, direction=way) for way in WAYS]
        mu = gdp_mu(RandomizedResponse(2, epsilon0), n, 0)
        tally.equal(le_cam_distance(pair, nothing), claim.value(mu=mu), 0.02, mu=mu)


@check("ext.lecam.sharp")
def distance_from_the_limit(claim: Record, tally: Tally) -> None:
    for point in claim.points(4):
        pi = round(20 * point["pi_k"]) / 20
        at, rows = point | {"pi_k": pi}, _rows(point["a"], point["b"])
        scaled, value = [], float(claim.value(**at))
        for n in (400, 1600):
            ones = min(round(pi * n), n - 1)
            scaled.append(n * le_cam_distance(_pair(point["a"], point["b"], n, ones), gdp(gdp_mu(rows, n, pi))))
        # what is left is of order 1/sqrt(n), with a ripple that has no limit
        tally.true(abs(2 * scaled[1] - scaled[0] - value) < 0.15 * value + 0.004, **at)
        tally.true(abs(scaled[1] - value) < 0.12 * value + 0.015, **at)


def _generator(x: np.ndarray) -> np.ndarray:
    """``((1+x) log(1+x) + (1-x) log(1-x))/2``, for a Jensen-Shannon divergence at the midpoint law."""
    series = x * x * (1 / 2 + x * x * (1 / 12 + x * x * (1 / 30 + x * x / 56)))
    large = np.where(np.abs(x) < 0.03, 0.0, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = ((1 + large) * np.log1p(large) + (1 - large) * np.log1p(-large)) / 2
    return np.where(np.abs(x) < 0.03, series, exact)


def _divergence(before: np.ndarray, after: np.ndarray) -> float:
    total = before + after
    seen = total > 0
    return float((total[seen] / 2) @ _generator((after[seen] - before[seen]) / total[seen]))


def _score_loss(d: float, r: float, n: int) -> float:
    """Jensen-Shannon divergence of the whole histogram less that of the score, (n - 1)/2 others holding 1."""
    rows = [((1 - r + d) / 2, (1 - r - d) / 2), ((1 - r - d) / 2, (1 - r + d) / 2)]

    def add(law: np.ndarray, row) -> np.ndarray:
        out = r * law
        out[1:, :] += row[0] * law[:-1, :]
        out[:, 1:] += row[1] * law[:, :-1]
        return out

    others = np.zeros((n + 1, n + 1))
    others[0, 0] = 1
    for _ in range((n - 1) // 2):
        others = add(add(others, rows[0]), rows[1])
    laws = [add(others, row) for row in rows]
    scores = [np.array([np.trace(law, offset) for offset in range(-n, n + 1)]) for law in laws]
    return _divergence(*(law.ravel() for law in laws)) - _divergence(*scores)


@check("shvets26.score")
def score_loss(claim: Record, tally: Tally) -> None:
    for point in claim.points(6):
        scaled = [n**2 * _score_loss(**point, n=n) for n in (33, 65, 129)]
        steps = [2 * b - a for a, b in zip(scaled, scaled[1:], strict=False)]
        tally.equal((4 * steps[1] - steps[0]) / 3, claim.value(**point), 0.01, **point)
