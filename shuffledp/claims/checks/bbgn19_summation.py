"""Checks of the summation protocol and of its lower bound: laws enumerated in exact rationals, then the library."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np

from ...bounds.blanket import blanket_exact
from ...bounds.histogram import shuffled_rr_constant
from ...core.randomizers import RandomizedResponse
from ...protocols.summation import SummationProtocol, summation_lower_bound
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import digits

SETTINGS = list(product((1, 2, 3, 7), (Fraction(1, 16), Fraction(1, 2), Fraction(7, 8))))
VALUES = [Fraction(i, 16) for i in (0, 1, 5, 8, 11, 15, 16)]


def rounded_law(x: Fraction, k: int) -> list[Fraction]:
    """Law of the label before randomized response."""
    law = [Fraction(0)] * (k + 2)
    below = math.floor(x * k)
    law[below] += 1 - (x * k - below)
    law[below + 1] += x * k - below
    return law[: k + 1]


def message_law(x: Fraction, k: int, gamma: Fraction) -> list[Fraction]:
    """Law of the label that is sent."""
    return [(1 - gamma) * p + gamma / (k + 1) for p in rounded_law(x, k)]


def mean_square(law: list[Fraction], k: int, around: Fraction) -> Fraction:
    """Mean of (label/k - around)^2."""
    return sum((p * (Fraction(y, k) - around) ** 2 for y, p in enumerate(law)), Fraction(0))


def open_protocol(n: int, k: int, gamma: float) -> SummationProtocol:
    """With an epsilon so large that any of these gammas is private."""
    return SummationProtocol(n, 10.0, 1e-3, k, gamma)


def cases() -> Iterator[tuple[Fraction, int, Fraction]]:
    yield from ((x, k, gamma) for (k, gamma), x in product(SETTINGS, VALUES))


@check("bbgn19.sum.protocol")
def mean_of_a_message(claim: Record, tally: Tally) -> None:
    for x, k, gamma in cases():
        law = message_law(x, k, gamma)
        at = {"x": x, "k": k, "gamma": gamma}
        mean = sum(Fraction(y, k) * p for y, p in enumerate(law))
        tally.equal(digits(mean), claim.value(**_exact(at)), 1e-45, **_shown(at))
    for point in claim.points(100):  # the analyzer inverts the mean
        x, k, gamma = Fraction(point["x"]), point["k"], Fraction(point["gamma"])
        mean = sum(Fraction(y, k) * p for y, p in enumerate(message_law(x, k, gamma)))
        tally.equal(digits(mean), claim.value(**point), 1e-45, **point)
    for k, gamma, x in product((1, 3), (0.25, 0.5), (0.125, 0.75)):
        law = [float(p) for p in message_law(Fraction(x), k, Fraction(gamma))]
        protocol = open_protocol(2, k, gamma)
        pairs = product(range(k + 1), repeat=2)
        estimate = math.fsum(law[y] * law[z] * protocol.analyze([y, z]) for y, z in pairs)
        tally.equal(estimate, 2 * x, 1e-13, k=k, gamma=gamma, x=x)


def _exact(at: dict) -> dict:
    return {name: digits(Fraction(value)) for name, value in at.items()}


def _shown(at: dict) -> dict:
    return {name: float(value) for name, value in at.items()}


@check("bbgn19.sum.mse")
def error_of_a_user(claim: Record, tally: Tally) -> None:
    def variance(x, k, gamma):
        around = (1 - gamma) * x + gamma / 2
        return mean_square(message_law(x, k, gamma), k, around) / (1 - gamma) ** 2

    for x, k, gamma in cases():
        at = {"x": x, "k": k, "gamma": gamma}
        tally.equal(digits(variance(x, k, gamma)), claim.value(**_exact(at)), 1e-45, **_shown(at))
    for point in claim.points(60):
        x, k, gamma = Fraction(point["x"]), point["k"], Fraction(point["gamma"])
        tally.equal(digits(variance(x, k, gamma)), claim.value(**point), 1e-40, **point)
    for x, k, gamma in ((0.3, 3, 0.2), (0.0, 1, 0.5), (0.85, 7, 0.01)):
        error = open_protocol(3, k, gamma).mse([x] * 3)
        tally.equal(error, 3 * claim.value(x=x, k=k, gamma=gamma), 1e-12, x=x, k=k, gamma=gamma)


@check("bbgn19.sum.round")
def rounding(claim: Record, tally: Tally) -> None:
    for x, k in product(VALUES, (1, 2, 3, 7, 8, 100)):
        at = {"x": x, "k": k}
        cost = mean_square(rounded_law(x, k), k, x)
        tally.equal(digits(cost), claim.statement.lhs.subs({claim.symbols[name]: v for name, v in at.items()}), 1e-15)
        tally.true(claim.value(**_exact(at)) and cost <= Fraction(1, 4 * k**2), **_shown(at))
    for point in claim.points(300):
        tally.true(claim.value(**point), **point)


@check("ext.pb.sum.worst")
def worst_case(claim: Record, tally: Tally) -> None:
    for k, gamma in SETTINGS:
        at = {"n": 10, "k": k, "gamma": float(gamma)}
        protocol = open_protocol(10, k, float(gamma))
        tally.equal(protocol.worst_mse(), claim.value(**at), 1e-13, **at)
        tally.equal(protocol.mse([protocol.worst_input] * 10), claim.value(**at), 1e-13, **at)
        grid = [mean_square(message_law(x, k, gamma), k, (1 - gamma) * x + gamma / 2) for x in _grid(200)]
        tally.at_most(float(10 * max(grid) / (1 - gamma) ** 2), float(claim.value(**at)) * (1 + 1e-14), **at)
    for n in (10**5, 10**9):
        protocol = SummationProtocol(n, 1.0, 1e-6)
        at = {"n": n, "k": protocol.k, "gamma": protocol.gamma}
        tally.equal(protocol.worst_mse(), claim.value(**at), 1e-13, **at)
        tally.at_most(claim.value(**at), protocol.mse_bound(), **at)


def _grid(size: int) -> list[Fraction]:
    return [Fraction(i, size) for i in range(size + 1)]


@check("bbgn19.sum.k")
def cube_root(claim: Record, tally: Tally) -> None:
    """At n = 10^15 the error is within 0.1 per cent of its limit."""
    n = 10**15
    for delta in (1e-6, 1e-12):
        c = shuffled_rr_constant(1.0, delta)
        unit = (n / c) ** (1 / 3)
        for point in claim.points(40):
            k = round(point["kappa"] * unit)
            error = SummationProtocol(n, 1.0, delta, k=k).worst_mse()
            tally.equal(error / (c * c * n) ** (1 / 3), claim.value(kappa=k / unit), 1e-3, kappa=k / unit)
        best = SummationProtocol(n, 1.0, delta).k / unit
        tally.true(abs(best - 1.5 ** (1 / 3)) < 1e-3)
        for other in (0.9 * best, 1.1 * best):
            tally.at_most(claim.value(kappa=best), claim.value(kappa=other), kappa=other)


@check("ext.pb.sum.exact")
def poisson_limit(claim: Record, tally: Tally) -> None:
    """The blanket bound of 101-ary randomized response at n = 10^9, within one in a thousand of the limit."""
    n, k = 10**9, 100
    for point in [*claim.special, {"c": 0.5, "epsilon": 0.4, "M": 30}, {"c": 2.5, "epsilon": 1.2, "M": 30}]:
        curve = blanket_exact(RandomizedResponse.from_gamma(k + 1, point["c"] * (k + 1) / n), n)
        tally.equal(curve.delta(point["epsilon"]), claim.value(**point), 1e-3, **point)


def pair_errors(j: int, K: int) -> Fraction:
    """Sum over i != j of (|i - j| - 1/2)^2 - 1/4, in units of the squared cell width."""
    return sum(((abs(i - j) - Fraction(1, 2)) ** 2 - Fraction(1, 4) for i in range(1, K + 1) if i != j), Fraction(0))


def bayes_error(channel: np.ndarray, values: np.ndarray) -> float:
    """Least mean squared error of guessing a uniform one of the values from one message."""
    joint = channel / len(values)
    guess = values @ joint / joint.sum(axis=0)
    return float(((values[:, None] - guess) ** 2 * joint).sum())


@check("ext.pb.sum.lb")
def lower_bound(claim: Record, tally: Tally) -> None:
    for point in claim.points(40):
        n, K, lam = point["n"], point["K"], Fraction(point["lam"])
        with mp.workdps(60):
            rest = 1 - digits(lam / n)
            tau = (rest - mp.mpf(point["delta"]) * rest ** (1 - n)) * mp.exp(-mp.mpf(point["epsilon"]))
            costs = [min(n * tau / 4, digits(lam * pair_errors(j, K))) for j in range(1, K + 1)]
            ours = sum(costs) / K**3
        tally.equal(ours, claim.value(**point), 1e-40, **point)
        tally.equal(summation_lower_bound(*(point[name] for name in ("n", "epsilon", "delta", "K", "lam"))), ours, 1e-9)
    for n, epsilon, delta, k in ((300, 1.0, 1e-3, 1), (300, 5.0, 1e-2, 3), (1000, 2.0, 1e-4, 2)):
        protocol = SummationProtocol(n, epsilon, delta, k=k, calibration="exact")
        for K in (3, 5, 12):  # no analyzer does better on the hard inputs
            values = (np.arange(K) + 0.5) / K
            rounded = np.maximum(0, 1 - np.abs(k * values[:, None] - np.arange(k + 1)))
            error = n * bayes_error(rounded @ protocol.randomizer.matrix, values)
            tally.at_most(summation_lower_bound(n, epsilon, delta, K), error, n=n, epsilon=epsilon, k=k, K=K)


@check("bbgn19.sum.lb")
def cube_root_of_n(claim: Record, tally: Tally) -> None:
    for point in claim.points(15):
        n, epsilon, delta = point["n"], point["epsilon"], point["delta"]
        lam, tau = math.log(0.5 / delta), math.exp(-epsilon) / 2
        K = round((3 * n * tau / lam) ** (1 / 3))
        tally.equal(summation_lower_bound(n, epsilon, delta, K, lam), claim.value(**point), 1e-3, **point)
        tally.at_most(claim.value(**point), summation_lower_bound(n, epsilon, delta), **point)


@check("ext.pb.sum.lb-constant")
def best_constant(claim: Record, tally: Tally) -> None:
    n, epsilon, delta, lam = 10**15, 1.0, 1e-6, 12.0
    tau = math.exp(-epsilon) * (1 - lam / n - delta * math.exp(-(n - 1) * math.log1p(-lam / n)))
    for point in claim.points(40):
        unit = (n * tau / lam) ** (1 / 3)
        K = round(point["v"] ** (1 / 3) * unit)
        v = min(max((K / unit) ** 3, 0.75), 3.0)
        found = summation_lower_bound(n, epsilon, delta, K, lam) / (tau * lam**2 * n) ** (1 / 3)
        tally.equal(found, claim.value(v=v), 1e-3, v=v)
    for v in (1.0, 1.065, 2.0):  # from the definition, by quadrature
        middle = mp.mpf(1) / 2 - mp.sqrt((3 - v) / (12 * mp.mpf(v)))
        integral = mp.quad(lambda x, v=v: min(0.25, v * (x**3 + (1 - x) ** 3) / 3), [0, middle, 1 - middle, 1])
        tally.equal(integral / mp.mpf(v) ** (mp.mpf(2) / 3), claim.value(v=v), 1e-12, v=v)
    root = float(next(r for r in np.roots([4, 72, 1161, -1323]) if r.imag == 0).real)
    for v in np.linspace(0.75, 3, 60):
        tally.at_most(claim.value(v=float(v)), claim.value(v=root), v=float(v))


@check("ext.pb.sum.lb-limit")
def best_lambda(claim: Record, tally: Tally) -> None:
    """The library's optimum over K and lambda, and a plain scan over lambda."""
    n, v = 10**14, 1.0650294
    constant = v ** (-2 / 3) / 4 - 4 / 3 * v ** (1 / 3) * ((3 - v) / (12 * v)) ** 1.5
    for point in claim.points(12):
        epsilon, delta = point["epsilon"], point["delta"]
        found = summation_lower_bound(n, epsilon, delta) / n ** (1 / 3)
        tally.equal(found / constant, claim.value(**point), 1e-3, **point)
        lam = np.linspace(0, math.log(1 / delta), 20_001)
        scan = np.max(np.exp(-epsilon) * (1 - delta * np.exp(lam)) * lam**2) ** (1 / 3)
        tally.equal(scan, claim.value(**point), 1e-6, **point)
