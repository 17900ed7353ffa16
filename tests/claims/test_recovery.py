"""Damaged texts: what has to be put back, that nothing else fits, and that hostile texts are refused soon."""

import json

import pytest
from sympy.logic.boolalg import Boolean

from shuffledp import claims
from shuffledp.claims.recovery import _LONGEST
from shuffledp.cli import main

GENERAL, REFINED, SIMPLE = "efmrtt19.thm7.general", "efmrtt19.thm7.refined", "efmrtt19.thm7.simple"

DAMAGED = [
    (SIMPLE, "12ε0 log(1/δ)/n", ["a square root over log(1/delta)/n"]),
    (SIMPLE, "ε = 12 ε0 log(1/δ) n", ["a fraction bar", "a square root"]),
    (SIMPLE, "12 ε₀ √(log(1/δ)/n)", []),
    (GENERAL, "e1 2n log(1/δ) + ne1(exp(e1) − 1)", ["a square root over 2*n*log(1/delta)"]),
    (
        REFINED,
        "exp(2ε0)(exp(ε0) − 1) 8 log(1/δ)/n + 6 exp(4ε0)(exp(ε0) − 1)2/n",
        ["a square root over 8*log(1/delta)/n", "2 as an exponent of exp(epsilon0) - 1"],
    ),
    (
        REFINED,
        "e2ε0(eε0 − 1) 8 log(1/δ)/n + 6e4ε0(eε0 − 1)2/n",
        [
            "2*epsilon0 as an exponent of e",
            "epsilon0 as an exponent of e",
            "a square root",
            "4*epsilon0 as an exponent of e",
            "epsilon0 as an exponent of e",
            "2 as an exponent of exp(epsilon0) - 1",
        ],
    ),
]

WRONG = [
    (SIMPLE, "13ε0 log(1/δ)/n"),
    (SIMPLE, "12ε0 log(1/δ)"),
    (SIMPLE, "12ε0 log(2/δ)/n"),
    (GENERAL, "e1 2n log(1/δ) − ne1(exp(e1) − 1)"),
    (GENERAL, "e1 2n log(1/δ) + ne1(exp(e1) − 2)"),
    (REFINED, "exp(2ε0)(exp(ε0) − 1) 8 log(1/δ)/n + 6 exp(4ε0)(exp(ε0) − 1)3/n"),
]

HOSTILE = [
    "", " ", "(", ")", "(]", "12 ε0 )", "__import__('os').system('x')", "12 ε0 x", "12 = 3 = 4", "n!", "💥", "n " * 46,
    "n " * 45, "n+" * 22 + "n", "1/" * 22 + "n", "2" * 45, "n" * 3000, "(" * 5000, 12, None, b"n",
]  # fmt: skip


@pytest.mark.parametrize("claim_id, text, repairs", DAMAGED)
def test_a_damaged_text_is_repaired_in_one_way(claim_id, text, repairs):
    answer = claims.recover(claim_id, text)
    assert isinstance(answer, claims.Recovery), answer
    (reading,) = answer.readings
    assert len(reading.repairs) == len(repairs)
    assert all(made.startswith(wanted) for made, wanted in zip(reading.repairs, repairs, strict=True)), reading
    assert isinstance(claims.compare(claim_id, reading.formula), claims.Same)
    assert answer.examined > 50
    assert [readable for _, readable in answer.altered] == [False] * 3


@pytest.mark.parametrize("claim_id, text", WRONG)
def test_a_wrong_text_is_not_repaired_into_the_claim(claim_id, text):
    answer = claims.recover(claim_id, text)
    assert isinstance(answer, claims.Recovery) and answer.readings == (), answer
    assert answer.examined > 100


@pytest.mark.parametrize("alteration", range(3))
def test_an_altered_claim_is_found_where_the_text_is_that_one(alteration):
    """The altered forms are looked for in earnest: the text of one is read as that one."""
    form, _ = claims.recover(SIMPLE, "12ε0 log(1/δ)/n").altered[alteration]
    answer = claims.recover(SIMPLE, form.replace("sqrt", ""))
    assert answer.readings == ()
    assert [readable for _, readable in answer.altered] == [number == alteration for number in range(3)]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: repr(t)[:20])
def test_a_hopeless_text_is_refused(text):
    assert isinstance(answer := claims.recover(SIMPLE, text), claims.Unreadable), answer
    assert str(answer) and answer.to_dict()["answer"] == "unreadable"


def test_the_limit_is_the_stated_one():
    assert "more than 45" in str(claims.recover(SIMPLE, "n " * (_LONGEST + 1)))


def test_a_relation_has_no_readings():
    relation = next(claim for claim in claims.ledger() if isinstance(claim.statement, Boolean))
    assert isinstance(claims.recover(relation.id, "1"), claims.Unreadable)
    with pytest.raises(KeyError):
        claims.recover("no.such.claim", "1")


@pytest.mark.parametrize("text, status", [(DAMAGED[0][1], 0), (WRONG[0][1], 1), ("(", 2)])
def test_command_line(text, status, capsys):
    assert main(["recover", SIMPLE, text]) == status
    assert capsys.readouterr().out.split(":")[0] in ("Recovered", "Not recovered", "Unreadable")
    assert main(["recover", SIMPLE, text, "--json"]) == status
    assert json.loads(capsys.readouterr().out)["answer"] in ("recovered", "not recovered", "unreadable")
