"""Statements are typeset in the order in which they are written, with the brackets they need."""

import pytest

from shuffledp.claims.typeset import latex


@pytest.mark.parametrize(
    "text, expected",
    [
        ("exp(-2*epsilon0)", r"e^{-2 \varepsilon_{0}}"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a + b)*c**2", "(a + b) c^{2}"),
        ("(a*b)**2", "(a b)^{2}"),
        ("2*3", r"2 \cdot 3"),
        ("sqrt(8*log(1/delta)/n)", r"\sqrt{\frac{8 \log\left(\frac{1}{\delta}\right)}{n}}"),
        ("epsilon0 <= 1/2", r"\varepsilon_{0} \le \frac{1}{2}"),
        ("x_i", "x_{i}"),
        ("b_plus", "b_{+}"),
        ("Implies(a > b, b < a)", r"a > b \;\Longrightarrow\; b < a"),
        ("Sum(x, (i, 1, n))", r"\sum_{i=1}^{n} x"),
        ("Integral(1 + x, (x, 0, 1))", r"\int_{0}^{1} (1 + x)\,dx"),
    ],
)
def test_latex(text, expected):
    assert latex(text) == expected


def test_an_unknown_function_is_an_error():
    with pytest.raises(ValueError, match="launch"):
        latex("launch(x)")
