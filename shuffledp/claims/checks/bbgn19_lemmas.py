"""Checks of the blanket bound, of the moments of L, of the lemmas of concentration and of Theorem 5.1.

The definition is evaluated in exact rationals on small randomizers, the statement at 50 digits, the library in doubles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, permutations

import mpmath as mp
import numpy as np

from ...bounds.blanket import (
    bennett_lemma,
    blanket_bennett,
    blanket_exact,
    blanket_hoeffding,
    blanket_mgf,
    hoeffding_lemma,
    shuffled_ldp_epsilon,
    shuffled_ldp_epsilon0,
)
from ...core.randomizers import FiniteChannel, GenericRandomizer, RandomizedResponse
from ...exact.randomized_response import shuffled_rr
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import DIGITS
from ._exactly import digits, exact_log
from ._mechanisms import (
    amplification_law,
    blanket_bound,
    exact_delta,
    mass,
    moments,
    odds,
    positive_part,
    random_rows,
    ratio_laws,
    response,
    signed_laws,
)

HAIR = Fraction(1, 10**40)
ORDERS = (Fraction(1), Fraction(6, 5), Fraction(2))  # e^epsilon


@check("bbgn19.lem5.3")
def lemma_53(claim: Record, tally: Tally) -> None:
    for rows in random_rows(claim.id, 10, (2, 3)):
        gamma = mass(rows)
        for pair, law in zip(permutations(range(len(rows)), 2), ratio_laws(rows), strict=True):
            for order in ORDERS[:2]:
                values = amplification_law(law, gamma, order)
                for n in (1, 2):
                    bound, exact = blanket_bound(values, gamma, n), exact_delta(rows, n, order, pair)
                    tally.at_most(digits(exact), digits(bound))
                    if n == 1 and len(rows) == 2:
                        tally.true(exact == bound, what="equality at n = 1")
    for rows in random_rows(claim.id + " binary", 10, (2,)):
        rows = rows[:2]
        (p, _), (q, _) = sorted(rows, reverse=True)
        for order in ORDERS[:2]:
            if not q * order < p:
                continue
            law = next(ratio_laws(sorted(rows, reverse=True)))
            for n in (1, 4):
                at = {"p": digits(p), "q": digits(q), "epsilon": exact_log(order), "n": n}
                gamma = mass(rows)
                bound = blanket_bound(amplification_law(law, gamma, order), gamma, n)
                tally.equal(digits(bound), claim.value(**at), 1e-45, **at)
                exact = exact_delta(sorted(rows, reverse=True), n, order, (0, 1))
                tally.at_most(digits(exact * (1 - HAIR)), claim.value(**at))  # equal at n = 1
    for n in (1, 7, 30):  # the library, for binary randomized response
        at = {"p": 0.75, "q": 0.25, "epsilon": 0.25, "n": n}
        curve = blanket_exact(RandomizedResponse(2, math.log(3)), n)
        tally.equal(curve.delta(0.25), claim.value(**at), 1e-11, **at)


@check("ext.pb.lem5.3.sub")
def sub_blanket(claim: Record, tally: Tally) -> None:
    for rows in random_rows(claim.id, 8, (2,)):
        gamma, epsilon0 = mass(rows), exact_log(odds(rows))
        for pair, law in zip(permutations(range(len(rows)), 2), ratio_laws(rows), strict=True):
            for order in ORDERS[1:2]:
                if order >= odds(rows):
                    continue
                # the midpoint as blanket, its mass 1/odds; then the worst law with that odds
                half = [(w * gamma * (r + s) / 2, (r - order * s) * 2 / (r + s)) for w, r, s in law]
                for n in (1, 3):
                    bound = blanket_bound(half, 1 / odds(rows), n)
                    at = {"epsilon0": epsilon0, "epsilon": exact_log(order), "n": n}
                    tally.at_most(digits(blanket_bound(amplification_law(law, gamma, order), gamma, n)), digits(bound))
                    tally.at_most(digits(exact_delta(rows, n, order, pair)), claim.value(**at))
                    with mp.workdps(DIGITS):  # equality where the law takes only its extreme values
                        tally.at_most(digits(bound), claim.value(**at) * (1 + mp.mpf("1e-45")), **at)
    for at in claim.points(40):
        curve = blanket_exact(GenericRandomizer(at["epsilon0"]), at["n"])
        tally.equal(curve.delta(at["epsilon"]), claim.value(**at), 1e-10, **at)


@check("bbgn19.lem5.4.mean")
def mean(claim: Record, tally: Tally) -> None:
    for rows in random_rows(claim.id, 20):
        for law in ratio_laws(rows):
            for order in ORDERS[1:]:
                at = {"epsilon": exact_log(order)}
                tally.equal(digits(moments(amplification_law(law, mass(rows), order))[0]), claim.value(**at), 1e-45)
    for at in claim.points(20):
        for law in RandomizedResponse(5, 2.0).ratio_laws():
            value = RandomizedResponse(5, 2.0).gamma * (law.r - math.exp(at["epsilon"]) * law.r_prime)
            tally.equal(law.weight @ value, claim.value(**at), 1e-13, **at)


def _in_range(claim: Record, tally: Tally, printed: bool) -> None:
    """Every value of L of every random randomizer, and the extreme values of randomized response."""
    for at in claim.points(100):
        tally.true(claim.value(**at), **at)
    for rows in [*random_rows(claim.id, 12), response(2, Fraction(3)), response(4, Fraction(9))]:
        gamma, epsilon0 = mass(rows), odds(rows)
        for law in ratio_laws(rows):
            for (_, r, s), order in ((atom, order) for atom in law for order in ORDERS):
                at = {"epsilon0": exact_log(epsilon0), "epsilon": exact_log(order), "gamma": digits(gamma)}
                # a hair inside: the ends are attained, and logarithms are rounded
                r, s = (r * (1 - HAIR), s) if r > s else (r, s * (1 - HAIR))
                tally.true(claim.value(**at, r=digits(r), r_prime=digits(s)), **at)
    rr, u, e = RandomizedResponse(3, 1.5), math.exp(1.5), math.exp(0.3)
    ends = rr.amplification_range(0.3, printed=printed)
    ours = (
        (rr.gamma / u * (1 - e * u * u), rr.gamma * u * (1 - e / u**2))
        if printed
        else (rr.gamma * (1 - e * u), rr.gamma * (u - e))
    )
    for one, other in zip(ends, ours, strict=True):
        tally.equal(one, other, 1e-14)


@check("bbgn19.lem5.4.range")
def printed_range(claim: Record, tally: Tally) -> None:
    _in_range(claim, tally, printed=True)


@check("ext.pb.lem5.4.range")
def sharp_range(claim: Record, tally: Tally) -> None:
    _in_range(claim, tally, printed=False)


def _second(claim: Record, tally: Tally, attained: bool) -> float:
    """Random randomizers in exact rationals; the largest ratio of bound and truth."""
    loosest = 1.0
    complement = [[Fraction(1 if x == y else 4, 17) for y in range(5)] for x in range(5)]
    special = [response(2, Fraction(3)), response(5, Fraction(4)), response(100, Fraction(3)), complement]
    for rows in [*random_rows(claim.id, 20), *special]:
        gamma = mass(rows)
        for law in islice(ratio_laws(rows), 6):
            for order in (Fraction(11, 10), Fraction(2)):
                at = {"epsilon0": exact_log(odds(rows)), "epsilon": exact_log(order), "gamma": digits(gamma)}
                truth = digits(moments(amplification_law(law, gamma, order))[1])
                bound = claim.value(**at)
                with mp.workdps(DIGITS):
                    tally.at_most(truth, bound * (1 + mp.mpf("1e-45")), **at)
                loosest = max(loosest, float(bound / truth))
                if attained and rows in special:
                    tally.equal(truth, bound, 1e-44, **at)
    return loosest


@check("bbgn19.lem5.4.second")
def printed_second(claim: Record, tally: Tally) -> None:
    loosest = _second(claim, tally, attained=False)
    tally.note(f"up to {loosest:.3g} times the true second moment")
    for at in claim.points(30):
        rr = RandomizedResponse(3, at["epsilon0"])
        at = at | {"gamma": rr.gamma}
        tally.equal(rr.amplification_second_moment(at["epsilon"], printed=True), claim.value(**at), 1e-12, **at)


@check("ext.pb.lem5.4.second")
def sharp_second(claim: Record, tally: Tally) -> None:
    _second(claim, tally, attained=True)
    for at in claim.points(30):  # the generic randomizer takes the worst gamma
        generic = GenericRandomizer(at["epsilon0"])
        grid = np.linspace(math.exp(-at["epsilon0"]), 1, 9)
        worst = max(claim.value(**(at | {"gamma": float(g)})) for g in grid)
        tally.at_most(worst, generic.amplification_second_moment(at["epsilon"]) * (1 + 1e-12), **at)
        rr = RandomizedResponse(4, at["epsilon0"])
        tally.equal(rr.amplification_second_moment(at["epsilon"]), claim.value(**(at | {"gamma": rr.gamma})), 1e-9)


def _law_numbers(law) -> tuple:
    mean, second = moments(law)
    return digits(-mean), digits(max(x for _, x in law)), digits(second)


@check("bbgn19.lem.hoeffding")
def hoeffding(claim: Record, tally: Tally) -> None:
    for law in islice(signed_laws(), 60):
        a, width = _law_numbers(law)[0], max(x for _, x in law) - min(x for _, x in law)
        for m in (1, 2, 4):
            tally.at_most(digits(positive_part(law, m)), claim.value(a=a, b=digits(width), m=m), m=m)
    for at in claim.points(60):
        tally.equal(hoeffding_lemma(**at), claim.value(**at), 1e-12, **at)


@check("bbgn19.lem.bennett")
def bennett_printed(claim: Record, tally: Tally) -> None:
    broken = 0
    for law in islice(signed_laws(), 60):
        a, b_plus, c = _law_numbers(law)
        for m in (1, 2, 4):
            exact, bound = digits(positive_part(law, m)), claim.value(a=a, b_plus=b_plus, c=c, m=m)
            tally.at_most(exact, bound, a=float(a), b_plus=float(b_plus), c=float(c), m=m)
            broken += exact > bound
    if broken:
        tally.note(f"violated by {broken} of {tally.points} sums of small laws")


@check("ext.pb.bennett")
def bennett(claim: Record, tally: Tally) -> None:
    for law in islice(signed_laws(), 60):
        a, b_plus, c = _law_numbers(law)
        for m in (1, 2, 4):
            tally.at_most(digits(positive_part(law, m)), claim.value(a=a, b_plus=b_plus, c=c, m=m), m=m)
    for at in claim.points(60):
        tally.equal(bennett_lemma(**at), claim.value(**at), 1e-11, **at)


def _bennett(a, b_plus, c, m):
    u = a * b_plus / c
    return b_plus / mp.log(1 + u) * mp.exp(-m * c / b_plus**2 * ((1 + u) * mp.log(1 + u) - u))


def _mixture(lemma, gamma, n: int):
    """The blanket average of a bound on the sum of m terms, added up term by term."""
    terms = (mp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m) * lemma(m) for m in range(1, n + 1))
    return mp.fsum(terms) / (gamma * n)


@check("ext.pb.bennett.mix")
def bennett_mixture(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        with mp.workdps(DIGITS):
            gamma, a, b_plus, c = (mp.mpf(at[name]) for name in ("gamma", "a", "b_plus", "c"))
            direct = _mixture(lambda m, a=a, b=b_plus, c=c: _bennett(a, b, c, m), gamma, at["n"])
        tally.equal(direct, claim.value(**at), 1e-35, **at)
    for k, epsilon0, epsilon, n in ((2, 1.0, 0.2, 400), (100, 0.4, 0.005, 5000), (10, 4.0, 0.5, 10**6)):
        rr = RandomizedResponse(k, epsilon0)
        at = {"gamma": rr.gamma, "a": math.expm1(epsilon), "b_plus": rr.amplification_range(epsilon)[1]}
        at |= {"c": rr.amplification_second_moment(epsilon), "n": n}
        tally.equal(blanket_bennett(rr, n).delta(epsilon), claim.value(**at), 1e-9, **at)


@check("ext.pb.efactor")
def factor_e(claim: Record, tally: Tally) -> None:
    for at in claim.points(150):
        tally.true(claim.value(**at), **at)
    for law in islice(signed_laws(), 60):  # the consequence, in exact rationals
        a, b_plus, c = map(float, _law_numbers(law))
        width = float(max(x for _, x in law) - min(x for _, x in law))
        for m in (1, 2, 4):
            exact = float(positive_part(law, m))
            tally.at_most(exact, hoeffding_lemma(a, width, m, divide_by_e=True) * (1 + 1e-12), m=m)
            tally.at_most(exact, bennett_lemma(a, b_plus, c, m, divide_by_e=True) * (1 + 1e-12), m=m)


@check("ext.pb.mgf")
def exact_moment_generating_function(claim: Record, tally: Tally) -> None:
    for odd, order in ((Fraction(3), Fraction(6, 5)), (Fraction(3, 2), Fraction(11, 10)), (Fraction(9), Fraction(3))):
        for k, n in ((2, 5), (3, 3), (6, 4)):
            rows = response(k, odd)
            law = amplification_law(next(ratio_laws(rows)), mass(rows), order)
            exact = digits(blanket_bound(law, mass(rows), n))
            for theta in (0.1, 0.3, 1.0, 3.0, 10.0):
                at = {"theta": theta, "epsilon0": exact_log(odd), "epsilon": exact_log(order), "k": k, "n": n}
                tally.at_most(exact, claim.value(**at), theta=theta, k=k, n=n)
    for at in claim.points(6):  # the library's minimum over theta, found again by golden section
        rr, log_theta = RandomizedResponse(at["k"], at["epsilon0"]), [-12.0, 5.0]

        def value(x, at=at):
            return claim.value(**(at | {"theta": math.exp(x)}))

        for _ in range(28):
            low, high = log_theta
            one, two = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
            log_theta = [low, two] if value(one) < value(two) else [one, high]
        least = value(sum(log_theta) / 2)
        local = math.log(-math.expm1(at["epsilon"] - at["epsilon0"])) - math.log1p(math.exp(-at["epsilon0"]))
        curve = blanket_mgf(rr, at["n"])
        tally.at_most(min(least, math.exp(local)) * (1 - 1e-7), curve.delta(at["epsilon"]), **at)
        tally.at_most(curve.delta(at["epsilon"]), least * (1 + 1e-6), **at)


@check("ext.pb.variance")
def variance(claim: Record, tally: Tally) -> None:
    for law in islice(signed_laws(), 80):
        a, _, c = _law_numbers(law)
        for gamma, n in ((Fraction(1), 1), (Fraction(1), 3), (Fraction(1, 3), 4)):
            with mp.workdps(DIGITS):
                at = {"epsilon": mp.log(1 + a), "gamma": digits(gamma), "c": c, "n": n}
            tally.at_most(digits(blanket_bound(law, gamma, n)), claim.value(**at), n=n)


def _log_hoeffding(a, b, gamma, n):
    return 2 * mp.log(b) - mp.log(4 * a * gamma * n) + n * mp.log1p(-gamma * (1 - mp.exp(-2 * (a / b) ** 2)))


@check("ext.pb.hoeffding.free")
def hoeffding_free(claim: Record, tally: Tally) -> None:
    for at in claim.points(25):
        with mp.workdps(DIGITS):
            epsilon0, epsilon, n = mp.mpf(at["epsilon0"]), mp.mpf(at["epsilon"]), at["n"]
            a, width = mp.expm1(epsilon), mp.expm1(epsilon0) * (1 + mp.exp(epsilon))
            least, log_bound = mp.exp(-epsilon0), mp.log(claim.value(**at))
            grid = [least, *(least + (1 - least) * i / 12 for i in range(1, 12)), mp.mpf(1)]
            masses = [g * (1 - mp.exp(-2 * (a / (g * width)) ** 2)) for g in grid]
            kept = (log_bound - 2 * mp.log(width) + mp.log(4 * a * n)) / n
            tally.equal(1 - mp.exp(kept), min(masses), 1e-20, **at)  # the worst mass is at an end of the grid
            for g in grid:
                tally.at_most(mp.exp(_log_hoeffding(a, g * width, g, n)), mp.exp(log_bound) * (1 + mp.mpf("1e-40")))
        curve = blanket_hoeffding(GenericRandomizer(at["epsilon0"]), n)
        tally.true(curve.log_delta(at["epsilon"]) <= log_bound + 1e-9, **at)


@check("ext.pb.bennett.free")
def bennett_free(claim: Record, tally: Tally) -> None:
    for at in claim.points(25):
        with mp.workdps(DIGITS):
            epsilon0, epsilon, n = mp.mpf(at["epsilon0"]), mp.mpf(at["epsilon"]), at["n"]
            a, log_bound = mp.expm1(epsilon), mp.log(claim.value(**at))
            for part in (0, 0.1, 0.5, 1):
                gamma = mp.exp(-epsilon0 * (1 - part))
                b_plus, c = gamma * mp.exp(epsilon0), gamma * mp.exp(epsilon0) * (mp.exp(2 * epsilon) + 1)
                factor = _bennett(a, b_plus, c, 0)
                s = mp.log(factor / _bennett(a, b_plus, c, 1))
                log_mixture = mp.log(factor / (gamma * n)) + n * mp.log1p(-gamma * (1 - mp.exp(-s)))
                if part == 0:
                    tally.equal(log_mixture, log_bound, 1e-30, **at)
                tally.true(log_mixture <= log_bound + mp.mpf("1e-30"), **at)
        curve = blanket_bennett(GenericRandomizer(at["epsilon0"]), n)
        tally.true(curve.log_delta(at["epsilon"]) <= log_bound + 1e-9, **at)


@check("ext.pb.midpoint")
def midpoint(claim: Record, tally: Tally) -> None:
    for at in claim.points(30):
        generic, n = GenericRandomizer(at["epsilon0"]), at["n"]
        (law,) = generic.ratio_laws()
        with mp.workdps(DIGITS):
            epsilon = mp.mpf(at["epsilon"])
            r, r_prime = map(mp.mpf, law.r), map(mp.mpf, law.r_prime)
            values = [generic.gamma * (x - mp.exp(epsilon) * y) for x, y in zip(r, r_prime, strict=True)]
            direct = _log_hoeffding(mp.expm1(epsilon), max(values) - min(values), generic.gamma, n)
            log_bound = mp.log(claim.value(**at))
        tally.true(abs(direct - log_bound) <= 1e-11 * max(1, abs(log_bound)), **at)
        tally.true(blanket_hoeffding(generic, n).log_delta(at["epsilon"]) <= log_bound + 1e-9, **at)
    for rows in random_rows(claim.id, 10, (2, 3)):
        for order in ORDERS[1:]:
            if order < odds(rows):
                at = {"epsilon0": exact_log(odds(rows)), "epsilon": exact_log(order), "n": 3}
                tally.at_most(digits(exact_delta(rows, 3, order, (0, 1))), claim.value(**at))


@check("ext.pb.thm5.1.half")
def growth_half(claim: Record, tally: Tally) -> None:
    for at in claim.points(150):
        epsilon, n, delta = claim.value(**at), at["n"], at["delta"]
        tally.equal(shuffled_ldp_epsilon(**at), epsilon, 1e-13, **at)
        tally.true(epsilon <= 3.51 * math.tanh(at["epsilon0"] / 2) * math.sqrt(math.exp(at["epsilon0"]) / n)
                   * math.sqrt(-math.log(delta)), **at)  # fmt: skip
        generic = GenericRandomizer(at["epsilon0"])
        if float(epsilon) < at["epsilon0"]:
            tally.at_most(blanket_hoeffding(generic, n).delta(float(epsilon)), delta, **at)
    for epsilon0, n in ((4.0, 10**8), (6.0, 10**8), (8.0, 10**8)):  # randomized response grows at the same rate
        truth, bound = shuffled_rr(epsilon0, n).epsilon(1e-6), claim.value(epsilon0=epsilon0, n=n, delta=1e-6)
        tally.true(truth < bound < 6 * truth, epsilon0=epsilon0)


@check("bbgn19.thm5.1")
def theorem_51(claim: Record, tally: Tally) -> None:
    for at in claim.points(60):
        epsilon, epsilon0, n, delta = float(claim.value(**at)), at["epsilon0"], at["n"], at["delta"]
        if epsilon >= epsilon0:
            tally.true(epsilon >= epsilon0, what="local guarantee", **at)
            continue
        bound = blanket_hoeffding(GenericRandomizer(epsilon0), n).log_delta(epsilon)
        tally.at_most(math.exp(bound), delta, **at)
        tally.at_most(shuffled_rr(epsilon0, n).delta(epsilon), delta, **at)


@check("bbgn19.thm5.1.inverse")
def inverse(claim: Record, tally: Tally) -> None:
    for at in claim.points(40):
        epsilon0, epsilon, n, delta = float(claim.value(**at)), at["epsilon"], at["n"], at["delta"]
        ours = shuffled_ldp_epsilon0(**at)
        tally.true(epsilon0 <= ours * (1 + 1e-9), **at)
        if epsilon0 > epsilon:
            tally.at_most(blanket_hoeffding(GenericRandomizer(epsilon0), n).delta(epsilon), delta, **at)
            tally.true(ours < epsilon0 + 3 or epsilon0 < 1, **at)
            tally.equal(shuffled_ldp_epsilon(ours, n, delta), epsilon, 1e-9, **at)
    channel = FiniteChannel([[0.75, 0.25], [0.25, 0.75]])  # binary randomized response with epsilon0 = log 3
    tally.true(channel.epsilon0 <= claim.value(epsilon=1, n=10**4, delta=1e-6))
    slopes = []
    for n in (10**6, 10**9):
        epsilon0 = float(claim.value(epsilon=0.1, n=n, delta=1e-6))
        slopes.append(epsilon0)
        tally.true(shuffled_rr(epsilon0, n).delta(0.1) <= 1e-6, n=n)
        tally.true(shuffled_rr(epsilon0 + 3, n).delta(0.1) > 1e-6, n=n)
    tally.equal((slopes[1] - slopes[0]) / math.log(10**3), 1.0, 1e-9)
