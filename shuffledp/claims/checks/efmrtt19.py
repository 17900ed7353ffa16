"""Checks of Theorem 7 of Erlingsson et al. 2019: the printed forms against the library and against exact values."""

from __future__ import annotations

import math

import mpmath as mp

from ...bounds.theorem7 import theorem7
from ..evidence import Tally, check
from ..ledger import Record
from ._shuffled_rr import bounds_shuffled_rr


@check("efmrtt19.thm7.general")
def general(claim: Record, tally: Tally) -> None:
    for point in claim.points(300):
        tally.equal(theorem7(**point).log_epsilon_general, mp.log(claim.value(**point)), 1e-13, **point)
    bounds_shuffled_rr(claim, tally)


@check("efmrtt19.thm7.refined")
def refined(claim: Record, tally: Tally) -> None:
    for point in claim.points(300):
        form = theorem7(**point)
        tally.equal(form.epsilon_refined, claim.value(**point), 1e-12, **point)
        tally.at_most(form.epsilon_general, claim.value(**point), **point)
    bounds_shuffled_rr(claim, tally)


@check("efmrtt19.thm7.simple")
def simple(claim: Record, tally: Tally) -> None:
    for point in claim.points(300):
        form = theorem7(**point)
        tally.equal(form.epsilon_simple, claim.value(**point), 1e-12, **point)
        tally.at_most(form.epsilon_general, claim.value(**point), **point)
    bounds_shuffled_rr(claim, tally)


@check("efmrtt19.thm7.no-amplification")
def no_amplification(claim: Record, tally: Tally) -> None:
    """Just beyond log(n/2)/3, and anywhere beyond it."""
    edge = [
        {"epsilon0": max(math.log(n / 2) / 3, 0) + step, "n": n, "delta": delta}
        for n in (2, 3, 4, 5, 6, 10, 10**3, 10**6)
        for step in (1e-9, 1e-3, 0.1)
        for delta in (1e-6, math.exp(-0.25), 0.95, 0.999, 1 - 1e-12)
    ]
    false = []
    for point in [*claim.points(150), *edge]:
        holds = claim.value(**point)
        tally.true(holds, **point)
        if not holds:
            false.append(point["n"])
            tally.true(theorem7(**point).amplifies, **point)
    if false:
        tally.note(f"false at {len(false)} of {tally.points} points, all with n <= {max(false)}")


@check("efmrtt19.thm7.threshold")
def threshold(claim: Record, tally: Tally) -> None:
    for point in claim.points(150):
        least = claim.value(**point)
        near_zero = theorem7(1e-12, **point)
        tally.equal(near_zero.epsilon_general / 1e-12, least, 1e-9, **point)
        edge = near_zero.threshold
        tally.true((edge is None) == (least >= 1), **point)
        if edge is not None and edge > 1e-9:
            tally.equal(theorem7(edge, **point).epsilon_general, edge, 1e-9, **point)
            tally.true(theorem7(edge * (1 - 1e-9), **point).amplifies, **point)
            tally.true(not theorem7(edge * (1 + 1e-9), **point).amplifies, **point)
            tally.true(point["n"] < 5 or edge < math.log(point["n"] / 2) / 3, **point)


@check("efmrtt19.thm7.fields")
def fields(claim: Record, tally: Tally) -> None:
    """The factor at 50 digits; every other field by its documented meaning; each side condition fails somewhere."""
    conditions = []
    for point in claim.points(200):
        form, (epsilon0, n, delta) = theorem7(**point), point.values()
        if math.isfinite(form.epsilon_general):
            tally.equal(form.amplification_factor, claim.value(**point), 1e-12, **point)
        tally.true(form.estimate == form.epsilon == form.epsilon_general, **point)
        tally.equal(form.log_inv_delta, -mp.log(delta), 1e-15, **point)
        tally.true((form.epsilon0, form.n, form.delta) == (epsilon0, n, delta), **point)
        tally.true(form.refined_valid == (epsilon0 <= math.log(n / 4) / 3), **point)
        tally.true(form.simple_valid == (n >= 1000 and epsilon0 < 0.5 and delta < 0.01), **point)
        conditions.append((form.refined_valid, form.simple_valid))
    for valid in map(set, zip(*conditions, strict=True)):
        tally.true(valid == {True, False})


@check("efmrtt19.thm7.amplifies")
def amplifies(claim: Record, tally: Tally) -> None:
    wrong = 0
    for point in claim.points(300):
        form = theorem7(**point)
        tally.true(claim.value(**point), **point)
        wrong += form.amplifies_as_printed and not form.amplifies
    tally.note(f"the documented flag is 1 without amplification at {wrong} of {tally.points} points")


@check("efmrtt19.thm7.overflow")
def overflow(claim: Record, tally: Tally) -> None:
    """The library's logarithm, absolutely within 1e-14 max(1, |log|)."""
    infinite = 0
    for point in claim.points(400):
        form, exact = theorem7(**point), claim.value(**point)
        infinite += math.isinf(form.epsilon_general)
        with mp.workdps(50):
            error = abs(form.log_epsilon_general - exact) / max(1, abs(exact))
        tally.at_most(error, 1e-14, **point)
    tally.note(f"the bound itself is beyond the doubles at {infinite} points")
