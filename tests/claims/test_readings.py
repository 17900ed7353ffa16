"""Formulas from outside: right, subtly wrong, damaged, malicious. Nothing is evaluated, nothing hangs."""

import json

import pytest
from sympy.logic.boolalg import Boolean

from shuffledp import claims
from shuffledp.claims.readings import Unreadable, damages, from_latex, parse, show
from shuffledp.cli import main

GENERAL, REFINED, SIMPLE = "efmrtt19.thm7.general", "efmrtt19.thm7.refined", "efmrtt19.thm7.simple"

SAME = [
    (SIMPLE, "12*epsilon0*sqrt(log(1/delta)/n)"),
    (SIMPLE, "12 ε₀ √(log(1/δ)/n)"),
    (SIMPLE, "12 eps0 sqrt(ln(1/delta)/n)"),
    (SIMPLE, "ε ≤ 12 e0 sqrt(log(1/δ)) / sqrt(n)"),
    (SIMPLE, "12 × ε0 · (−log(δ)/n)^½"),
    (SIMPLE, "12 ε0 (log(1/δ) n⁻¹)^0.5"),
    (SIMPLE, "epsilon = 12 epsilon_0 [ log(1/delta) / n ]^(1/2)"),
    (SIMPLE, "144^(1/2) ε0 exp(log(log(1/δ)/n)/2)"),
    (GENERAL, "e1 sqrt(2n log(1/δ)) + ne1(exp(e1) − 1)"),
    (GENERAL, "ε₁ √(2 n log(1/δ)) + n ε₁ (e^ε₁ − 1)"),
    (GENERAL, "2e^(2ε0)(e^ε0 - 1)(sqrt(2 log(1/δ)/n) + e^(2e^(2ε0)(e^ε0 - 1)/n) - 1)"),
    (REFINED, "exp(2ε0)(exp(ε0) − 1) √(8 log(1/δ)/n) + 6 exp(4ε0)(exp(ε0) − 1)²/n"),
    (REFINED, "e^(2ε0) (e^ε0 - 1) sqrt(8 ln(1/δ)/n) + 6 (e^(2ε0) (e^ε0 - 1))**2 / n"),
]

L2, RR, LAPLACE, GAUSS = "bbgn19.rr.l2", "bbgn19.gamma.rr", "bbgn19.gamma.lap", "bbgn19.gamma.gauss"
SECOND, MIXTURE, FREQUENCY = "bbgn19.lap.l2", "shvets26.cov.mixture", "shvets26.freq.estimator"
CLONES, LOCAL, HOEFFDING = "fmt21.thm3.1", "bbgn19.krr", "bbgn19.lem.hoeffding"

SAME += [
    (L2, "γ(2 − γ)(e^ε − 1)² + (1 − γ)² k (e^(2ε) + 1)"),
    (L2, "γ²(1 − e^ε)² + (1 − γ)² k (e^(2ε) + 1) + 2γ(1 − γ)(1 − e^ε)²"),
    (RR, "k / (e^ε₀ + k − 1)"),
    (RR, "γ = 1/(1 + (exp(eps0) - 1)/k)"),
    (LAPLACE, "1/√(e^ε0)"),
    (GAUSS, "2 Phi(-1/(2 sigma))"),
    (SECOND, "(1+e^(2ε))(2e^(ε0/2) + e^(−ε0))/3 − 2e^ε (2e^(−ε0/2) − e^(−ε0))"),
    (MIXTURE, "1/(1/I + π(1 − π))"),
    (FREQUENCY, "e^ε0 / (n (e^ε0 − 1)²)"),
    (FREQUENCY, "(2 n (cosh(ε0) - 1))^(-1) / 1"),
    (CLONES, "ln(1 + (e^ε0 − 1)/(e^ε0 + 1) * (8 √(e^ε0 ln(4/δ)/n) + 8 e^ε0/n))"),
    (LOCAL, "log((k − γ(k − 1))/γ)"),
    (HOEFFDING, "b² e^(−2ma²/b²)/(4a)"),
]

LATEX_SAME = [
    (SIMPLE, r"12\varepsilon_0\sqrt{\frac{\log(1/\delta)}{n}}"),
    (SIMPLE, r"12\,\epsilon_{0}\sqrt{\frac{\ln\left(1/\delta\right)}{n}}"),
    (SIMPLE, r"\varepsilon \le 12\varepsilon_0\sqrt{\log(1/\delta)/n}"),
    (SIMPLE, r"12\varepsilon_0\left(\frac{\log\frac{1}{\delta}}{n}\right)^{1/2}"),
    (SIMPLE, r"12 \cdot \varepsilon_0 \frac{\sqrt{-\ln(\delta)}}{\sqrt n}"),
    (SIMPLE, r"\frac{12\varepsilon_0}{\sqrt{n}}\sqrt{\log\Bigl(\tfrac1\delta\Bigr)}"),
    (SIMPLE, r"12\varepsilon_{0}\sqrt[2]{\frac{\log(1/\delta)}{n}}"),
    (SIMPLE, r"$12\varepsilon_0\sqrt{\dfrac{\log(1/\delta)}{n}}$"),
    (SIMPLE, r"12\mathrm{\varepsilon_0}\sqrt{\log(1/\delta)\, n^{-1}}"),
    (GENERAL, r"\varepsilon_1\sqrt{2n\log(1/\delta)}+n\varepsilon_1(e^{\varepsilon_1}-1)"),
    (GENERAL, r"\varepsilon_1 \sqrt{2 n \ln\frac{1}{\delta}} + n \varepsilon_1 \left(\exp(\varepsilon_1)-1\right)"),
    (
        REFINED,
        r"e^{2\varepsilon_0}(e^{\varepsilon_0}-1)\sqrt{\frac{8\log(1/\delta)}n}"
        r"+\frac{6e^{4\varepsilon_0}(e^{\varepsilon_0}-1)^2}n",
    ),
]

LATEX_SAME += [
    (L2, r"\gamma(2-\gamma)(e^{\varepsilon}-1)^2+(1-\gamma)^2k(e^{2\varepsilon}+1)"),
    (RR, r"\frac{k}{e^{\varepsilon_0}+k-1}"),
    (LAPLACE, r"e^{-\varepsilon_0/2}"),
    (
        SECOND,
        r"\frac{e^{2\varepsilon}+1}3\left(2e^{\varepsilon_0/2}+e^{-\varepsilon_0}\right)"
        r"-2e^{\varepsilon}(2e^{-\varepsilon_0/2}-e^{-\varepsilon_0})",
    ),
    (MIXTURE, r"\frac{I}{1+\pi(1-\pi)I}"),
    (FREQUENCY, r"\frac{1}{4n\sinh(\varepsilon_0/2)^2}"),
    (HOEFFDING, r"\frac{b^2}{4a}\exp\left(-\frac{2ma^2}{b^2}\right)"),
    (LOCAL, r"\ln\left(1+\frac{k(1-\gamma)}{\gamma}\right)"),
]

DIFFERENT = [
    (SIMPLE, "12ε0 log(1/δ)/n", "a lost square root over log(1/delta)/n"),
    (SIMPLE, "11 ε0 √(log(1/δ)/n)", "a constant factor 0.91666667"),
    (SIMPLE, "12 ε0 √(log2(1/δ)/n)", "a constant factor 1.2011224"),
    (SIMPLE, "12 √(log(1/δ)/n)", "a missing factor epsilon0"),
    (SIMPLE, "12 ε0 √(log(1/δ))", "a missing division by n"),
    (SIMPLE, "12 ε0 √(log(2/δ)/n)", ""),
    (SIMPLE, "0", ""),
    (GENERAL, "e1 2n log(1/δ) + ne1(exp(e1) − 1)", "a lost square root over 2*n*log(1/delta)"),
    (GENERAL, "e1 sqrt(2n log(1/δ)) + ne1 exp(e1)", "a missing term 1"),
    (GENERAL, "e1 sqrt(2n log(1/δ)) - ne1(exp(e1) − 1)", "a changed sign"),
    (GENERAL, "e1 sqrt(2n log(1/δ)) + e1(exp(e1) − 1)", "a missing factor n"),
    (REFINED, "exp(2ε0)(exp(ε0) − 1) 8 log(1/δ)/n + 6 exp(4ε0)(exp(ε0) − 1)2/n", "an exponent 2 read as a factor"),
    (REFINED, "exp(2ε0)(exp(ε0) − 1) √(8 log(1/δ)/n) + 6 exp(4ε0)(exp(ε0) − 1)/n", "a lost exponent 2"),
    (REFINED, "exp(2ε0)(exp(ε0) − 1) √(8 log(1/δ)/n)", "a missing term"),
]

DIFFERENT += [
    (L2, "γ²(1 − e^ε)² + (1 − γ)² k (e^(2ε) − 1) + 2γ(1 − γ)(1 − e^ε)²", "a changed sign of 1"),
    (L2, "γ²(1 − e^ε)² + (1 − γ)² (e^(2ε) + 1) + 2γ(1 − γ)(1 − e^ε)²", "a missing factor k"),
    (RR, "k/(e^ε₀ + k)", "a missing term 1"),
    (RR, "1/(e^ε₀ + k − 1)", ""),
    (LAPLACE, "exp(-ε0)", "a missing division by 2"),
    (GAUSS, "Phi(-1/(2 sigma))", "a constant factor 0.5"),
    (MIXTURE, "I/(1 + π(1 + π)I)", "a changed sign of pi"),
    (MIXTURE, "I/(1 + π I)", "a missing factor"),
    (FREQUENCY, "1/(4 n sinh(ε0/2))", "a lost exponent 2"),
    (FREQUENCY, "1/(2 n sinh(ε0/2)²)", "a constant factor 2"),
    (CLONES, "log(1 + (e^ε0 − 1)/(e^ε0 + 1) * (8 √(e^ε0 log(2/δ)/n) + 8 e^ε0/n))", ""),
    (LOCAL, "log(1 + (1 − γ)/γ)", "a missing factor k"),
    (HOEFFDING, "b²/(4a) * e^(−ma²/b²)", "a missing factor 2"),
]

HOSTILE = [
    "", "   ", "(", ")", "()", "12 ε0 √(log(1/δ)/n", "12 ε0 log", "log log n", "1 +", "* 2", "2 ** ", "^2", "1 2 3 )",
    "__import__('os').system('x')", "open('x')", "lambda: 0", "x", "12 ε0 sqrt(L/n)", "12 ε0 sqrt(log(1/δ)/m)",
    "eval(n)", "n.real", "n;n", "n, n", "n if n else n", "[n for n in n]", "n!", "n%2", "n@n", "n = n = n", "a=b=c",
    "1/0", "0/0", "log(0)", "log(-n)", "sqrt(-n)", "0^(-1)", "(-2)^(1/2)", "exp(exp(exp(n)))", "9^9^9^9", "n^n^n^n",
    "9**9**9**9", "10^(10^(10^10))", "cosh(n^2)", "1/2 n", "1/2ε0", "log(1/δ)/n ε0", "nε1n",
    "(" * 5000 + ")" * 5000, "(" * 500 + "n" + ")" * 500, "-" * 1000 + "n", "n^" * 900 + "n", "√" * 500 + "n",
    "n+" * 999 + "n)", "x" * 10**7, "1e999999999", "1e-999999999 n", "n x ε0", "\x00", "\ud800", "١٢", "∑", "∫n dn",
    "💥", "\\frac{1}{2}", "{n", "n}", "|n|", "#", "n\\", "'", '"', "`n`", "$n$", "n_", "_n", "n__0",
]  # fmt: skip

HOSTILE_LATEX = [
    "", "\\", "\\frac", "\\frac{1}", "\\frac{12", "}", "{", "{" * 500, "\\sqrt", "\\sqrt[", "^", "n^", "_",
    "\\input{x}",
    "\\write18{x}", "\\begin{align}n\\end{align}", "\\def\\x{n}\\x", "\\left", "\\frac" * 300, "\\unknown", "\\\\",
]  # fmt: skip


@pytest.mark.parametrize("claim_id, text", SAME)
def test_the_right_formula_in_other_words(claim_id, text):
    assert isinstance(answer := claims.compare(claim_id, text), claims.Same), answer


@pytest.mark.parametrize("claim_id, text", LATEX_SAME)
def test_the_right_formula_in_latex(claim_id, text):
    assert isinstance(answer := claims.compare(claim_id, text, "latex"), claims.Same), answer


@pytest.mark.parametrize("claim_id, text, hint", DIFFERENT)
def test_a_wrong_formula_and_what_it_looks_like(claim_id, text, hint):
    answer = claims.compare(claim_id, text)
    assert isinstance(answer, claims.Different), answer
    assert hint in answer.hint and bool(hint) == bool(answer.hint)
    assert claims.record(claim_id).inside(answer.point) and answer.ours != answer.yours


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: repr(t[:20]))
def test_what_is_no_formula_is_unreadable_at_once(text):
    assert isinstance(answer := claims.compare(SIMPLE, text), Unreadable), answer
    assert str(answer) and answer.to_dict()["answer"] == "unreadable"


@pytest.mark.parametrize("text", HOSTILE_LATEX, ids=lambda t: repr(t[:20]))
def test_what_is_no_latex_is_unreadable_at_once(text):
    assert isinstance(answer := claims.compare(SIMPLE, text, "latex"), Unreadable), answer


@pytest.mark.parametrize("text", [None, 12, b"n", ["n"], object()])
def test_what_is_no_text_is_unreadable(text):
    assert isinstance(claims.compare(SIMPLE, text), Unreadable)
    assert isinstance(claims.compare(SIMPLE, text, "latex"), Unreadable)


def test_every_small_change_of_every_formula_is_noticed():
    changed = 0
    for claim in claims.ledger():
        if isinstance(claim.statement, Boolean):
            continue
        try:
            tree = parse(claim.statement_text, set(claim.symbols) | set(claim.where))
        except Unreadable:
            continue
        assert isinstance(answer := claims.compare(claim.id, show(tree)), claims.Same), (claim.id, answer)
        for what, damaged in list(damages(tree))[:12]:
            if what.startswith("a logarithm"):
                continue
            assert not isinstance(claims.compare(claim.id, show(damaged)), claims.Same), (claim.id, what)
            changed += 1
    assert changed > 60


def test_a_relation_is_not_a_formula():
    relation = next(claim for claim in claims.ledger() if isinstance(claim.statement, Boolean))
    assert isinstance(claims.compare(relation.id, "1"), Unreadable)


def test_wrong_requests_are_errors():
    with pytest.raises(KeyError):
        claims.compare("no.such.claim", "1")
    with pytest.raises(ValueError):
        claims.compare(SIMPLE, "1", "word")


def test_translation_of_latex():
    assert from_latex(r"\frac12 + x_{0}^{2}").split() == ["((1)/(2))", "+", "x_0^(2)"]


@pytest.mark.parametrize("formula, status", [(SAME[0][1], 0), (DIFFERENT[0][1], 1), ("1/0", 2)])
def test_command_line(formula, status, capsys):
    assert main(["compare", SIMPLE, formula]) == status
    assert capsys.readouterr().out.split()[0] in ("Same", "Different", "Unreadable:")
    assert main(["compare", SIMPLE, formula, "--json"]) == status
    assert json.loads(capsys.readouterr().out)["answer"] in ("same", "different", "unreadable")
