"""Checks of the steps of the proof of Theorem 7, and of its text as damaged in the PDF, against exact quantities."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb, factorial

import mpmath as mp
import numpy as np

from ...bounds.theorem7 import theorem7
from ...core.divergences import kullback_leibler
from ...exact.randomized_response import shuffled_rr
from ...exact.transcripts import answerer, step_ratio
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import difference, evaluate
from ._shuffled_rr import bounds_shuffled_rr


@check("efmrtt19.thm7.text-layer")
def text_layer(claim: Record, tally: Tally) -> None:
    """The damaged simple form, and the damaged refined form, are below the exact epsilon where n is large."""
    for point in claim.special:
        curve = shuffled_rr(point["epsilon0"], point["n"])
        epsilon = claim.value(**point)
        tally.at_most(curve.epsilon(point["delta"]), epsilon, **point)
        tally.note(f"true delta {curve.delta(float(epsilon)):.3g} at epsilon0={point['epsilon0']}, n={point['n']}")
    bounds_shuffled_rr(claim, tally)
    at = {"epsilon0": 0.49, "n": 10**6, "delta": 1e-6}
    refined = "exp(2*epsilon0)*(exp(epsilon0) - 1)*8*log(1/delta)/n + 6*exp(4*epsilon0)*(exp(epsilon0) - 1)**2/n"
    tally.true(evaluate(claim.read(refined), at) < shuffled_rr(0.49, 10**6).epsilon(1e-6), **at)


@check("efmrtt19.thm7.swap")
def swap(claim: Record, tally: Tally) -> None:
    """Every permutation of n <= 6 users comes from exactly one order of the others and one position."""
    for n in range(2, 7):
        made = Counter()
        for others in permutations(range(1, n)):
            for position in range(n):
                seats = [0, *others]
                seats[0], seats[position] = seats[position], seats[0]
                made[tuple(seats)] += 1
        expected = claim.value(n=n) * n * factorial(n - 1)  # of all pairs of an order and a position
        for order in permutations(range(n)):
            tally.equal(made[order], expected, 1e-40, n=n)


def _extremes(epsilon0: float, n: int, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Every choice of likelihoods 1 or e^epsilon0 that step i of the order "first" can read; the rest are 1.

    The posterior and the step ratio are linear-fractional in each likelihood, so no likelihoods between do worse.
    """
    read = np.zeros((n + 1, i), dtype=bool)  # the last row: user 1 with the other value
    read[:, 0] = read[0] = read[n] = True
    read[range(1, i), range(1, i)] = True
    bits = (np.arange(2 ** read.sum())[:, None] >> np.arange(read.sum())) & 1
    likelihood = np.ones((len(bits), n + 1, i))
    likelihood[:, read] = np.exp(epsilon0 * bits)
    return likelihood[:, :n], likelihood[:, n]


_STEPS = [(epsilon0, n, i) for epsilon0 in (0.1, 1.0, 3.0) for n in (2, 3, 4) for i in range(1, n + 1)]


@check("efmrtt19.thm7.posterior")
def posterior(claim: Record, tally: Tally) -> None:
    for epsilon0, n, i in _STEPS + [(0.5, 5, 5)]:
        if i >= 2:
            at = {"epsilon0": epsilon0, "n": n, "i": i}
            likelihood, _ = _extremes(epsilon0, n, i)
            tally.equal(answerer(likelihood, i, "first")[:, 0].max(), claim.value(**at), 1e-13, **at)
    tally.note("attained by extreme likelihoods at every step of n <= 4")
    for point in claim.points(40):
        tally.at_most(claim.value(**point), mp.exp(2 * mp.mpf(point["epsilon0"])) / point["n"], **point)


@check("efmrtt19.thm7.per-step")
def per_step(claim: Record, tally: Tally) -> None:
    for epsilon0, n, i in _STEPS:
        worst = step_ratio(*_extremes(epsilon0, n, i), i, "first").max()
        tally.at_most(np.log(worst), claim.value(epsilon0=epsilon0, n=n), epsilon0=epsilon0, n=n, i=i)
    for point in claim.points(100):
        tally.equal(theorem7(**point, delta=0.5).epsilon1, claim.value(**point), 1e-13, **point)


_FORMS = [theorem7(epsilon0, n, 1e-6) for epsilon0 in (0.05, 0.5, 1.0, 2.0) for n in (10, 1000, 10**6)]


@check("efmrtt19.thm7.kl")
def kl(claim: Record, tally: Tally) -> None:
    """Pairs of laws whose ratio is within e^epsilon1, randomized response among them."""
    rng = np.random.default_rng(20190507)
    for point in claim.points(100):
        epsilon1 = point["epsilon1"]
        bound = claim.value(**point)
        tally.at_most(epsilon1 * np.tanh(epsilon1 / 2), bound, kind="randomized response", **point)
        weights = rng.exponential(size=6) * np.exp(epsilon1 / 2 * rng.uniform(-1, 1, size=(2, 6)))
        p, q = weights / weights.sum(axis=1, keepdims=True)
        if abs(np.log(p / q)).max() <= epsilon1:
            tally.at_most(kullback_leibler(p, q), bound, kind="random", **point)
    for form in _FORMS:
        fluctuation = form.epsilon1 * mp.sqrt(2 * form.n * form.log_inv_delta)
        total = fluctuation + form.n * claim.value(epsilon1=form.epsilon1)
        tally.equal(form.epsilon_general, total, 1e-12, epsilon0=form.epsilon0, n=form.n)


@check("efmrtt19.thm7.azuma")
def azuma(claim: Record, tally: Tally) -> None:
    """Against the exact tail of n fair steps of size epsilon1, in integers; and it solves the exponent for delta."""
    flattened = claim.read("epsilon1*2*n*log(1/delta)")
    for point in claim.points(100):
        epsilon1, n, delta = mp.mpf(point["epsilon1"]), point["n"], mp.mpf(point["delta"])
        with mp.workdps(50):

            def exponential(t, n=n, epsilon1=epsilon1):
                return mp.exp(-(t**2) / (2 * n * epsilon1**2))

            bound = claim.value(**point)
            tally.equal(exponential(bound), delta, 1e-40, **point)
            tally.true(difference(exponential(evaluate(flattened, point)), delta) > 1e-4, **point)
            ups = int(mp.ceil((n + bound / epsilon1) / 2))
            tail = mp.mpf(sum(comb(n, k) for k in range(ups, n + 1))) / 2**n
        tally.at_most(tail, delta, **point)
    for form in _FORMS:
        fluctuation = claim.value(epsilon1=form.epsilon1, n=form.n, delta=form.delta)
        total = fluctuation + form.n * form.epsilon1 * mp.expm1(form.epsilon1)
        tally.equal(form.epsilon_general, total, 1e-12, epsilon0=form.epsilon0, n=form.n)
