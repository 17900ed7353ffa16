"""Checks around Theorem 3.1: the model and its divergence, the theorem, its proof's own view, and what lies below."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product

import mpmath as mp
import numpy as np

from ...bounds.histogram import shuffled_rr_gamma, shuffled_rr_gamma_sharp
from ...core.divergences import hockey_stick
from ...core.domain import DomainError
from ...core.four_atoms import log_four_atom_excess
from ...core.randomizers import RandomizedResponse
from ...exact.k_ary import shuffled_krr
from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record
from ._exactly import digits, exact_log
from .shvets26 import stick


@check("bbgn19.model")
def model(claim: Record, tally: Tally) -> None:
    chances = [Fraction(i, 7) for i in (1, 3, 6, 2, 5)]  # Pr[message 1], user by user, all different
    for n in (1, 2, 4, 5):
        sequences = defaultdict(Fraction)
        orders = list(permutations(range(n)))
        for bits in product((0, 1), repeat=n):
            chance = math.prod(p if bit else 1 - p for p, bit in zip(chances, bits, strict=False))
            for order in orders:
                sequences[tuple(bits[i] for i in order)] += chance / len(orders)
        histogram = defaultdict(Fraction)
        for sequence, chance in sequences.items():
            histogram[sum(sequence)] += chance
        for sequence, chance in sequences.items():
            t = sum(sequence)
            tally.equal(digits(chance / histogram[t]), claim.value(n=n, t=t), 1e-45, n=n, t=t)
    for at in claim.points(20):
        orders = math.factorial(at["n"]) // math.factorial(at["t"]) // math.factorial(at["n"] - at["t"])
        tally.equal(digits(Fraction(1, orders)), claim.value(**at), 1e-45, **at)


def _random_law(rng, size: int) -> list[Fraction]:
    parts = [int(x) for x in rng.integers(1, 50, size)]
    return [Fraction(x, sum(parts)) for x in parts]


@check("bbgn19.hockeystick")
def supremum_over_events(claim: Record, tally: Tally) -> None:
    rng = np.random.default_rng(31)
    for size in (2, 2, 2, 3, 5):
        p, q, other = (_random_law(rng, size) for _ in range(3))
        for order in (Fraction(1), Fraction(5, 4), Fraction(2)):
            exact = stick(p, q, order)
            epsilon = exact_log(order)
            events = [sum(a - order * b for a, b, chosen in zip(p, q, event, strict=True) if chosen)
                      for event in product((0, 1), repeat=size)]  # fmt: skip
            tally.true(max(events) == exact, what="best event", size=size)
            if size == 2:
                at = {"p": digits(p[0]), "q": digits(q[0]), "epsilon": epsilon}
                tally.equal(1 + claim.value(**at), 1 + digits(exact), 1e-45, **at)
            ours = hockey_stick([float(x) for x in p], [float(x) for x in q], float(epsilon))
            tally.equal(1 + ours, 1 + digits(exact), 1e-14, size=size)
            merged = stick([p[0] + p[1], *p[2:]], [q[0] + q[1], *q[2:]], order)
            tally.true(merged <= exact, what="post-processing", size=size)
            mixed = [[(a + b) / 2 for a, b in zip(law, other, strict=True)] for law in (p, q)]
            tally.true(stick(*mixed, order) <= (exact + stick(other, other, order)) / 2, what="convexity", size=size)
    for at in claim.points(40):
        p, q = mp.mpf(at["p"]), mp.mpf(at["q"])
        ours = hockey_stick([at["p"], 1 - at["p"]], [at["q"], 1 - at["q"]], at["epsilon"])
        tally.equal(1 + ours, 1 + claim.value(p=p, q=q, epsilon=at["epsilon"]), 1e-13, **at)


def response(k: int, gamma: Fraction, x: int) -> list[Fraction]:
    """Law of one user's message: the truth, or with probability gamma a uniform symbol."""
    return [gamma / k + (1 - gamma) * (y == x) for y in range(k)]


@check("bbgn19.krr")
def local_privacy(claim: Record, tally: Tally) -> None:
    for k, gamma in product((2, 3, 7), (Fraction(1, 9), Fraction(1, 2), Fraction(6, 7))):
        first, second = response(k, gamma, 0), response(k, gamma, 1)
        largest = max(a / b for a, b in zip(first, second, strict=True))
        at = {"gamma": digits(gamma), "k": k}
        tally.equal(exact_log(largest), claim.value(**at), 1e-45, **at)
        # more random answers are a post-processing of fewer: 1 - gamma' = (1 - eta)(1 - gamma)
        eta = Fraction(1, 4)
        again = [sum(first[y] * response(k, eta, y)[z] for y in range(k)) for z in range(k)]
        tally.true(again == response(k, 1 - (1 - eta) * (1 - gamma), 0), what="post-processing", **at)
    for at in claim.points(60):
        rr = RandomizedResponse.from_gamma(at["k"], at["gamma"])
        tally.equal(rr.epsilon0, claim.value(**at), 1e-13, **at)
        tally.equal(rr.gamma, at["gamma"], 1e-13, **at)


def _log_true_delta(k: int, gamma: float, n: int, epsilon: float) -> float:
    """Log of the exact delta of one pair of neighbours: no valid gamma may leave more than the target."""
    epsilon0 = RandomizedResponse.from_gamma(k, gamma).epsilon0
    curve = shuffled_rr(epsilon0, n) if k == 2 else shuffled_krr(k, epsilon0, n)
    return curve.log_delta(epsilon) if epsilon < epsilon0 else -math.inf


_SETTINGS = [  # n, k, epsilon, delta
    (10**4, 10, 1.0, 1e-6),
    (2000, 3, 1.0, 1e-3),
    (10**6, 2, 0.1, 1e-6),
    (10**6, 10, 0.1, 1e-6),
]


def _gamma_suffices(claim: Record, tally: Tally, library) -> None:
    """With the claim's gamma the proof's view, and so the truth, has at most the delta that is asked for."""
    refused = 0
    for at in claim.points(40):
        gamma = claim.value(**at)
        try:
            ours = library(**at)
        except DomainError:
            refused += 1
            tally.true(gamma >= 1, what="gamma >= 1 is refused, and nothing else", **at)
            continue
        tally.equal(ours, gamma, 1e-13, **at)
        view = log_view(at["k"], float(gamma), at["n"], at["epsilon"])
        tally.at_most(-mp.log(at["delta"]), -mp.mpf(view), **at)
    for setting in _SETTINGS:
        at = dict(zip(("n", "k", "epsilon", "delta"), setting, strict=True))
        true = _log_true_delta(at["k"], float(claim.value(**at)), at["n"], at["epsilon"])
        tally.at_most(-mp.log(at["delta"]), -mp.mpf(true), **at)
    tally.note(f"margins in log delta; {refused} settings need gamma >= 1 and are refused")


def log_view(k: int, gamma: float, n: int, epsilon: float) -> float:
    """Log of the exact divergence of the proof's view: three-valued terms, see `ext.pb.view`."""
    q = gamma / k
    gain = (1 - gamma) / q
    values, mean = (gain, -gain * math.exp(epsilon), 0.0, 0.0), -(1 - gamma) * math.expm1(epsilon)
    return log_four_atom_excess(n, (q, q, 0.0, 1 - 2 * q), values, mean) - math.log(n)


@check("bbgn19.thm3.1")
def theorem(claim: Record, tally: Tally) -> None:
    _gamma_suffices(claim, tally, shuffled_rr_gamma)
    reference = "0.2031415224915882306124138"  # 25 digits, the inputs taken as exact decimals
    tally.equal(claim.value(n=10**4, k=10, epsilon=1, delta=mp.mpf("1e-6")), mp.mpf(reference), 1e-15)


@check("ext.pb.thm3.1.sharp")
def sharpened(claim: Record, tally: Tally) -> None:
    _gamma_suffices(claim, tally, shuffled_rr_gamma_sharp)
    for at in claim.points(40):
        n, epsilon = at["n"], at["epsilon"]
        simple = 4.77 * at["k"] * -mp.log(at["delta"]) / (n * mp.mpf(epsilon) ** 2)
        tally.at_most(claim.value(**at), simple, **at)


def _views(k: int, gamma: Fraction, n: int, x: int) -> dict:
    """Law of (did the victim answer at random, who of the others did, histogram), by adding up every case."""
    law = defaultdict(Fraction)
    for answers in product(range(-1, k), repeat=n):  # -1: the truth, else that symbol at random
        chance = math.prod(1 - gamma if a < 0 else gamma / k for a in answers)
        victim, *others = answers
        random = tuple(a >= 0 for a in others)
        messages = [x if victim < 0 else victim, *(a for a in others if a >= 0)]
        law[(victim >= 0, random, tuple(sorted(messages)))] += chance
    return law


@check("ext.pb.view")
def view(claim: Record, tally: Tally) -> None:
    for n, k, gamma in ((2, 2, Fraction(1, 2)), (3, 3, Fraction(1, 3)), (4, 2, Fraction(4, 5))):
        first, second = _views(k, gamma, n, 0), _views(k, gamma, n, 1)
        for order in (Fraction(1), Fraction(5, 4), Fraction(3)):
            delta = sum(max(p - order * second[seen], Fraction(0)) for seen, p in first.items())
            at = {"gamma": digits(gamma), "epsilon": exact_log(order), "k": k, "n": n}
            tally.equal(1 + digits(delta), 1 + claim.value(**at), 1e-45, **at)
    for at in claim.points(15):
        value = claim.value(**at)
        tally.equal(math.exp(log_view(at["k"], at["gamma"], at["n"], at["epsilon"])), value, 1e-9, **at)
        true = _log_true_delta(at["k"], at["gamma"], at["n"], at["epsilon"])
        tally.at_most(math.exp(true), value * (1 + mp.mpf("1e-9")), **at)


def _histograms(k: int, p: Fraction, odds: Fraction, inputs: tuple[int, ...]) -> dict:
    law = defaultdict(Fraction)
    for messages in product(range(k), repeat=len(inputs)):
        chance = math.prod(odds * p if y == x else p for x, y in zip(inputs, messages, strict=True))
        law[tuple(messages.count(y) for y in range(k))] += chance
    return law


@check("ext.pb.true.lower")
def no_better(claim: Record, tally: Tally) -> None:
    for n, k, odds in ((3, 3, Fraction(3)), (4, 4, Fraction(3, 2)), (3, 5, Fraction(11))):
        p = 1 / (odds + k - 1)
        first, second = (_histograms(k, p, odds, (x,) + (2,) * (n - 1)) for x in (0, 1))
        coarse_first, coarse_second = defaultdict(Fraction), defaultdict(Fraction)
        for counts in first:
            coarse_first[counts[:2]] += first[counts]
            coarse_second[counts[:2]] += second[counts]
        for order in (Fraction(1), Fraction(5, 4)):
            at = {"epsilon0": exact_log(odds), "epsilon": exact_log(order), "k": k, "n": n}
            coarse = sum(max(coarse_first[c] - order * coarse_second[c], Fraction(0)) for c in coarse_first)
            whole = sum(max(first[c] - order * second[c], Fraction(0)) for c in first)
            tally.equal(digits(coarse), claim.value(**at), 1e-45, **at)
            tally.at_most(claim.value(**at), digits(whole) * (1 + mp.mpf("1e-14")), **at)
            tally.equal(shuffled_krr(k, math.log(odds), n).delta(math.log(order)), digits(whole), 1e-9, **at)
    for at in claim.points(10):
        delta, bound = shuffled_krr(at["k"], at["epsilon0"], at["n"]).delta(at["epsilon"]), claim.value(**at)
        tally.at_most(bound, delta * (1 + mp.mpf("1e-9")), **at)
        if at["k"] == 3:
            tally.equal(bound, delta, 1e-9, **at)
