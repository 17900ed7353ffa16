"""`derived` accepts the statement in any form, refuses everything else, and cannot be fed its own answer."""

import pytest
import sympy as sp

from shuffledp import claims

ID = "efmrtt19.thm7.general"
epsilon0, n, delta = sp.symbols("epsilon0 n delta", positive=True)
epsilon1 = 2 * sp.exp(2 * epsilon0) * (sp.exp(epsilon0) - 1) / n
GENERAL = epsilon1 * sp.sqrt(2 * n * sp.log(1 / delta)) + n * epsilon1 * (sp.exp(epsilon1) - 1)


def test_the_statement_in_another_form_is_accepted():
    assert "symbolically" in str(claims.derived(ID, sp.expand(GENERAL)))


def test_the_stamp_links_to_the_ledger():
    assert "ledger.html#efmrtt19-thm7-general" in claims.derived(ID, GENERAL)._repr_html_()


@pytest.mark.parametrize(
    "wrong",
    [
        GENERAL + sp.Rational(1, 10**30),
        GENERAL.subs(delta, delta**2),
        epsilon1 * 2 * n * sp.log(1 / delta) + n * epsilon1 * (sp.exp(epsilon1) - 1),
        sp.Le(GENERAL, 1),
        sp.true,
        sp.nan,
    ],
    ids=["tiny shift", "delta squared", "lost root", "a relation", "true", "nan"],
)
def test_anything_else_is_refused(wrong):
    with pytest.raises(claims.NotDerived):
        claims.derived(ID, wrong)


def test_an_undeclared_symbol_is_an_error():
    with pytest.raises(KeyError, match="undeclared symbols: x"):
        claims.derived(ID, sp.Symbol("x") * GENERAL)


def test_a_perturbed_ledger_refuses_the_truth_and_exposes_a_tautology():
    with claims.perturbed():
        with pytest.raises(claims.NotDerived):
            claims.derived(ID, GENERAL)
        claims.derived(ID, claims.record(ID).statement)  # feeding the ledger its own statement would pass: caught
