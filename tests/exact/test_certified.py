"""Certified enclosures contain the float values, to the promised accuracy; skipped where python-flint is missing."""

import dataclasses
import itertools
import math
import random
import sys
from fractions import Fraction

import mpmath as mp
import pytest

from shuffledp import (
    DomainError,
    FiniteChannel,
    GenericRandomizer,
    LaplaceRandomizer,
    RandomizedResponse,
    blanket_exact,
    blanket_mgf,
    certify,
    clones,
    compose,
    gdp,
    shuffled_krr,
    shuffled_rr,
)
from shuffledp.claims.checks._exactly import law_of_the_histogram
from shuffledp.core.balls import mean_excess


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ImportError, match=r"shuffledp\[certified\]"):
        certify(shuffled_rr(1, 100), 0.1)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf, "1", True, [0.1, 0.2]])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(DomainError, match="epsilon"):
        certify(shuffled_rr(1, 100), epsilon)


def test_other_curves_are_refused():
    for curve in (
        gdp(1),
        shuffled_rr(1, 100, ones=3),
        shuffled_rr(1, 100, ones="worst"),
        compose(shuffled_rr(1, 9), 2),
        blanket_mgf(RandomizedResponse(2, 1), 100),
        blanket_exact(LaplaceRandomizer(1), 1000),
        blanket_exact(FiniteChannel([[0.3, 0.7], [0.7, 0.3]]), 1000),
    ):
        with pytest.raises(DomainError, match="clones, blanket_exact of .*, shuffled_krr, or shuffled_rr"):
            certify(curve, 0.1)
    with pytest.raises(DomainError, match="shuffled_rr"):
        certify(None, 0.1)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("n", [2, 3, 7, 11])
@pytest.mark.parametrize("epsilon0", [0.2, 1.0, 5.0])
def test_the_enclosure_contains_the_value_by_the_definition(epsilon0, n, direction):
    pytest.importorskip("flint")
    with mp.workdps(60):
        flip = Fraction(str(1 / (1 + mp.exp(mp.mpf(epsilon0)))))
    law = {}
    for ones in (0, 1):
        law[ones] = [Fraction(1)]
        for chance in [1 - flip] * ones + [flip] * (n - ones):
            law[ones] = [a * (1 - chance) + b * chance for a, b in zip([*law[ones], 0], [0, *law[ones]], strict=True)]
    p, q = (law[1], law[0]) if direction == "forward" else (law[0], law[1])
    for share in (0.0, 0.3, 0.7, 0.99):
        epsilon = share * epsilon0
        with mp.workdps(60):
            order = Fraction(str(mp.exp(mp.mpf(epsilon))))
        delta = sum(max(a - order * b, 0) for a, b in zip(p, q, strict=True))
        low, high = certify(shuffled_rr(epsilon0, n, direction=direction), epsilon)
        assert Fraction(low) <= delta <= Fraction(high)
        assert high - low <= 2 * math.ulp(high)
        wrong = certify(shuffled_rr(epsilon0, n + 1, direction=direction), epsilon)
        assert not wrong[0] <= delta <= wrong[1]


@pytest.mark.parametrize("direction", ["both", "forward", "reverse"])
@pytest.mark.parametrize("n", [2, 10**4, 10**9, 10**15])
@pytest.mark.parametrize("epsilon0", [1e-6, 0.1, 1.0, 4.0, 12.0])
def test_the_float_value_is_within_its_accuracy_of_the_enclosure(epsilon0, n, direction):
    pytest.importorskip("flint")
    curve = shuffled_rr(epsilon0, n, direction=direction)
    for deviations in (0, 1, 7, 20):
        epsilon = deviations * 2 * math.sinh(epsilon0 / 2) / math.sqrt(n)
        if epsilon < epsilon0:
            low, high = certify(curve, epsilon)
            value = curve.log_delta(epsilon)
            assert high - low <= 2 * math.ulp(high)
            if low > 1e-300:
                slack = max(curve.accuracy, 1e-14 * abs(value))
                assert math.log(low) - slack <= value <= math.log(high) + slack


def test_far_tails_and_pure_privacy():
    pytest.importorskip("flint")
    curve = shuffled_rr(1, 10**6)
    assert certify(curve, 0.09) == (0.0, 5e-324)
    assert certify(curve, 1.0) == certify(curve, 2.0) == (0.0, 0.0)


def test_both_is_the_larger_direction_and_labels_may_be_swapped():
    pytest.importorskip("flint")
    forward, reverse = (certify(shuffled_rr(2, 100, direction=d), 0.5) for d in ("forward", "reverse"))
    assert certify(shuffled_rr(2, 100), 0.5) == max(forward, reverse) == reverse
    assert certify(shuffled_rr(2, 100, ones=99, direction="forward"), 0.5) == reverse


def blanket(k):
    return lambda epsilon0, n: blanket_exact(RandomizedResponse(k, epsilon0), n)


def krr(k, others):
    return lambda epsilon0, n: shuffled_krr(k, epsilon0, n, others)


def exactly(x):
    with mp.workdps(80):
        return Fraction(str(mp.exp(mp.mpf(x))))


def rows_of(k, growth):
    return [[(growth if x == y else 1) / (growth + k - 1) for y in range(k)] for x in range(k)]


def hockey_stick(p, q, order):
    return sum(max(chance - order * q.get(outcome, 0), 0) for outcome, chance in p.items())


def krr_by_definition(k, others):
    def delta(growth, order, n):
        found = []
        for held in {"third": (2,), "first": (0,), "worst": (0, 2)}[others]:
            before, after = (law_of_the_histogram(rows_of(k, growth), (x, *[held] * (n - 1))) for x in (0, 1))
            found += [hockey_stick(before, after, order), hockey_stick(after, before, order)]
        return max(found)

    return delta


def blanket_by_definition(k):
    """Lemma 5.3: m messages of the blanket, each of which is uniform on the symbols."""

    def delta(growth, order, n):
        first, second, *_ = rows_of(k, growth)
        common = 1 / (growth + k - 1)
        gamma, total = k * common, 0
        for m in range(1, n + 1):
            share = math.comb(n, m) * gamma**m * (1 - gamma) ** (n - m)
            for histogram, chance in law_of_the_histogram([[Fraction(1, k)] * k], [0] * m).items():
                values = [gamma * (a - order * b) / common for a, b in zip(first, second, strict=True)]
                total += share * chance * max(sum(c * v for c, v in zip(histogram, values, strict=True)), 0)
        return total / (gamma * n)

    return delta


def clones_by_definition(growth, order, n):
    p, q = {}, {}
    for c in range(n):
        share = math.comb(n - 1, c) * (1 / growth) ** c * (1 - 1 / growth) ** (n - 1 - c)
        for a in range(c + 1):
            chance = share * Fraction(math.comb(c, a), 2**c)
            for law, one in ((p, growth / (1 + growth)), (q, 1 / (1 + growth))):
                law[a + 1, c - a] = law.get((a + 1, c - a), 0) + chance * one
                law[a, c - a + 1] = law.get((a, c - a + 1), 0) + chance * (1 - one)
    return hockey_stick(p, q, order)


DEFINED = {
    "clones": (clones, clones_by_definition),
    "generic": (lambda epsilon0, n: blanket_exact(GenericRandomizer(epsilon0), n), clones_by_definition),
    **{f"blanket {k}": (blanket(k), blanket_by_definition(k)) for k in (2, 3, 5)},
    **{f"third {k}": (krr(k, "third"), krr_by_definition(k, "third")) for k in (3, 4)},
    "first 3": (krr(3, "first"), krr_by_definition(3, "first")),
    "worst 4": (krr(4, "worst"), krr_by_definition(4, "worst")),
}


@pytest.mark.parametrize("name", DEFINED)
@pytest.mark.parametrize("epsilon0", [0.2, 1.0, 4.0])
def test_the_enclosure_contains_the_value_by_the_definition_of_each_kind(name, epsilon0):
    pytest.importorskip("flint")
    make, definition = DEFINED[name]
    for n in (2, 3, 4):
        for share in (0.0, 0.3, 0.9):
            epsilon = share * epsilon0
            delta = definition(exactly(epsilon0), exactly(epsilon), n)
            curve = make(epsilon0, n)
            low, high = certify(curve, epsilon)
            assert Fraction(low) <= delta <= Fraction(high)
            assert high - low <= 2 * math.ulp(high)
            for slip in ({"n": n + 1}, {"epsilon0": math.nextafter(epsilon0, 9) + 1e-14}):
                curve.term_laws = tuple(dataclasses.replace(law, **slip) for law in make(epsilon0, n).term_laws)
                low, high = certify(curve, epsilon)
                assert not Fraction(low) <= delta <= Fraction(high)


def test_the_three_kinds_of_one_randomizer_are_told_apart():
    pytest.importorskip("flint")
    ends = {certify(make(2.0, 30), 0.5) for make in (clones, blanket(4), krr(4, "third"), krr(4, "first"), blanket(5))}
    assert len(ends) == 5
    assert certify(krr(4, "worst")(2.0, 30), 0.5) == max(certify(krr(4, o)(2.0, 30), 0.5) for o in ("third", "first"))
    assert certify(clones(2.0, 30), 0.5) == certify(blanket_exact(GenericRandomizer(2.0), 30), 0.5)


def expected_excess(n, atoms):
    total = Fraction(0)
    for counts in itertools.product(range(n + 1), repeat=len(atoms)):
        if sum(counts) == n:
            ways = math.factorial(n) // math.prod(map(math.factorial, counts))
            chance = math.prod(w**c for c, (w, _) in zip(counts, atoms, strict=True))
            total += ways * chance * max(sum(c * v for c, (_, v) in zip(counts, atoms, strict=True)), 0)
    return total


@pytest.mark.parametrize("values", [3, 4])
@pytest.mark.parametrize("bits", [64, 128])
def test_rational_laws_whose_thresholds_are_often_whole(values, bits):
    flint = pytest.importorskip("flint")
    rng = random.Random(bits + values)

    def ball(x):
        return flint.arb(flint.fmpq(x.numerator, x.denominator))

    for _ in range(40):
        n, w, share = rng.randint(1, 6), Fraction(rng.randint(1, 9), 20), Fraction(rng.randint(1, 5), 6)
        c3 = -Fraction(rng.randint(0, 4), 2)
        atoms = [(w, Fraction(rng.randint(1, 4))), (w, -Fraction(rng.randint(1, 8), 2)), ((1 - 2 * w) * share, c3)]
        atoms.append(((1 - 2 * w) * (1 - share), c3 - Fraction(rng.randint(1, 4), 2)))
        if values == 3:
            atoms = [(w, atoms[0][1]), (w * share, atoms[1][1]), (1 - w - w * share, c3)]
        excess = expected_excess(n, atoms) / n
        with flint.ctx.workprec(bits):
            found = mean_excess(flint.arb, bits, n, [(ball(w), ball(v)) for w, v in atoms])
            assert found.contains(ball(excess).mid()) and found.rel_accuracy_bits() > bits / 2
            assert not found.contains(ball(excess * (1 + Fraction(1, 10**6))))


def assert_close_to_the_enclosure(curve, deviations):
    assert_enclosed(curve, deviations * curve.scale)


def assert_enclosed(curve, epsilon):
    if epsilon < curve.epsilon_max:
        low, high = certify(curve, epsilon)
        value = curve.log_delta(epsilon)
        assert high - low <= 2 * math.ulp(high)
        if low > 1e-300:
            assert math.log(low) - curve.accuracy <= value <= math.log(high) + curve.accuracy
        elif low == 0:
            assert high == 5e-324 and value < math.log(5e-324) + 1e-10


FAMILIES = {"clones": clones, "first 10": krr(10, "first"), "third 3": krr(3, "third"), "blanket 2": blanket(2)}
FAMILIES |= {f"blanket {k}": blanket(k) for k in (3, 4, 10)} | {f"third {k}": krr(k, "third") for k in (4, 10)}


@pytest.mark.parametrize("epsilon0", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_float_values_are_within_their_accuracy_of_the_enclosure(name, epsilon0):
    pytest.importorskip("flint")
    for n in (2, 3, 12, 1000):
        for deviations in (0, 0.1, 1, 7, 20, 45):
            assert_close_to_the_enclosure(FAMILIES[name](epsilon0, n), deviations)
    assert_close_to_the_enclosure(FAMILIES[name](epsilon0, 10**4), 7)
    assert_close_to_the_enclosure(FAMILIES[name](epsilon0, 10**6), 1)


@pytest.mark.parametrize("epsilon0", [0.1, 1.0, 4.0, 20.0, 29.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_float_values_next_to_epsilon0(name, epsilon0):
    """Where what is left of e^epsilon0 - e^epsilon is small, and hardly any outcome is above the threshold."""
    pytest.importorskip("flint")
    for n in (2, 12, 100, 3000):
        for share in (1e-1, 1e-3, 1e-6, 1e-9):
            assert_enclosed(FAMILIES[name](epsilon0, n), epsilon0 * (1 - share))


@pytest.mark.parametrize("make", [clones, blanket(2), krr(3, "third"), krr(100, "third")])
def test_many_users(make):
    pytest.importorskip("flint")
    for deviations in (7, 22):
        assert_close_to_the_enclosure(make(1.0, 10**7), deviations)


def test_one_user_tiny_and_huge_parameters():
    pytest.importorskip("flint")
    low, high = certify(clones(1, 1), 0.3)
    assert Fraction(low) <= (exactly(1) - exactly(0.3)) / (exactly(1) + 1) <= Fraction(high)
    for make in (clones, blanket(2), blanket(5), krr(3, "third"), krr(5, "worst")):
        for epsilon0, epsilon in (
            (1e-300, 0.0),
            (1e-12, 3e-13),
            (1.0, 1e-300),
            (1.0, math.nextafter(1, 0)),
            (30.0, 3.0),
        ):
            low, high = certify(make(epsilon0, 3), epsilon)
            assert 0 < low <= high <= low + 2 * math.ulp(low)
        assert certify(make(1.0, 3), 1.0) == (0.0, 0.0)
        assert certify(make(1.0, 10**9), 0.9) == (0.0, 5e-324)


def test_too_many_terms_are_refused():
    pytest.importorskip("flint")
    with pytest.raises(DomainError, match="terms <= 2000000"):
        certify(shuffled_krr(4, 1, 10**10), 1e-5)
