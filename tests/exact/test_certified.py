"""Certified enclosures contain the float values, to the promised accuracy; skipped where python-flint is missing."""

import math
import sys
from fractions import Fraction

import mpmath as mp
import pytest

from shuffledp import DomainError, certify, compose, gdp, shuffled_rr


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
    ):
        with pytest.raises(DomainError, match="shuffled_rr"):
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
