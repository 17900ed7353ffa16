"""Statements are evaluated with 50 digits, sums, integrals and integer parts included."""

from fractions import Fraction

import mpmath as mp
import pytest
import sympy as sp

from shuffledp.claims import statements

SYMBOLS = {"x": sp.Symbol("x", positive=True), "n": sp.Symbol("n", integer=True, positive=True)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Sum(binomial(n, k)*x**k, (k, 0, n))", (Fraction(1.1) + 1) ** 7),
        ("Sum(binomial(n - 7, k - 1) + binomial(2, k), (k, 0, n))", Fraction(5)),
        ("Sum(1/k, (k, 1, n))", Fraction(363, 140)),
        ("Sum(j/k, (j, 1, k), (k, 1, n))", Fraction(35, 2)),
        ("Sum((k + 1)**2 + 1/(k + 1)**2, (k, 1, 2))", Fraction(481, 36)),
        ("Integral(n*v**(n - 1)/x, (v, 0, 1))", 1 / Fraction(1.1)),
        ("floor(n*x)", Fraction(7)),
    ],
)
def test_sums_integrals_and_integer_parts_have_fifty_digits(text, value):
    found = statements.evaluate(statements.read(text, SYMBOLS), {"n": 7, "x": 1.1})
    with mp.workdps(60):
        assert abs(found * value.denominator / value.numerator - 1) < mp.mpf("1e-48")


def test_a_relation_between_a_symbol_and_a_number_is_compared():
    n, x = SYMBOLS["n"], SYMBOLS["x"]
    points = [{"n": 7, "x": 1.1}]
    assert statements.same(sp.Implies(n >= 5, x > n), sp.Implies(n >= 5, x > n), SYMBOLS, points) == "symbolically"
    assert statements.same(sp.Implies(n >= 4, x > n), sp.Implies(n >= 5, x > n), SYMBOLS, points) is None
