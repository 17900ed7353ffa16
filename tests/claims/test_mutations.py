"""Altered statements: constants, exponents, signs, lost roots and lost terms. Every one must be told from the claim."""

import dataclasses
import itertools
import random
import re

import pytest
from sympy.logic.boolalg import Boolean

from shuffledp import claims
from shuffledp.claims import statements
from shuffledp.claims.evidence import Tally, checks
from shuffledp.claims.ledger import Record

LEDGER = claims.ledger()
AT_LEAST, AT_MOST, BY_CHECK = 5, 8, 3
ALTERATIONS = {
    "a number raised by one": (r"(?<![\w.])(\d+)(?![\w.])", lambda m: str(int(m[1]) + 1)),
    "a lost square root": (r"\bsqrt\(", lambda m: "("),
    "a lost logarithm": (r"\blog\(", lambda m: "("),
    "plus for minus": (r"(?<=[\w)]) - (?=\w|\()", lambda m: " + "),
    "minus for plus": (r"(?<=[\w)]) \+ (?=\w|\()", lambda m: " - "),
    "a lost term": (r"(?<=[\w)]) [+-] (?=\w|\()", lambda m: " + 0*"),
    "a division turned over": (r"(?<=[\w)])/(?=\w|\()", lambda m: "*"),
    "a product turned over": (r"(?<=[\w)])\*(?=[a-z(])", lambda m: "/"),
    "a lost exponential": (r"\bexp\(", lambda m: "("),
    "a symbol doubled": (r"(?<![\w.(])([a-z]\w*)(?![\w(])", lambda m: f"2*{m[1]}"),
    "a relation turned round": (r"(?<=[\w)]) ([<>])(?==? )", lambda m: " <" if m[1] == ">" else " >"),
    "a thousandth too much": (r"^(?!.*([<>]|Implies|And|Or)).*$", lambda m: f"({m[0]})*1001/1000"),
    "squared": (r"^(?!.*([<>]|Implies|And|Or)).*$", lambda m: f"({m[0]})**2"),
    "its square root": (r"^(?!.*([<>]|Implies|And|Or)).*$", lambda m: f"sqrt({m[0]})"),
}


def altered_texts(text: str):
    """The text altered at one place at a time."""
    for what, (pattern, change) in ALTERATIONS.items():
        for match in re.finditer(pattern, text):
            yield what, text[: match.start()] + change(match) + text[match.end() :]


def one_line(text) -> str:
    return " ".join(str(text).split())


def alterations(claim: Record, inside: bool = False):
    """Altered statements, those that parse and have another value or another form: (what, text, expression).

    With ``inside`` the claim's abbreviations are altered instead of its statement.
    """
    if inside:
        changed = ((what, name, new) for name, old in claim.where.items() for what, new in altered_texts(one_line(old)))
        tried = ((f"{what} in {name}", new, claim.where | {name: new}) for what, name, new in changed)
        tried = ((what, new, where, one_line(claim.statement_text)) for what, new, where in tried)
    else:
        texts = altered_texts(one_line(claim.statement_text))
        tried = ((what, new, claim.where, new) for what, new in texts)
    tried = list(tried)
    random.Random(claim.id).shuffle(tried)  # a few are taken: of different sorts
    points = list(itertools.islice(claim.points(6), 6)) or [{}]
    for what, new, where, text in tried:
        try:
            expr = statements.read(text, claim.symbols, where)
            if expr == claim.statement or {s.name for s in expr.free_symbols} - set(claim.symbols):
                continue
            relation = isinstance(claim.statement, Boolean)  # true in either form, perhaps: then the form must tell
            if relation or any(statements.evaluate(expr, p) != claim.value(**p) for p in points):
                yield what, new, expr
        except Exception:  # noqa: BLE001, S112 - an alteration without a value is none
            continue


def some(found, most: int) -> list:
    return list(itertools.islice(found, most))


@pytest.mark.parametrize("claim", LEDGER, ids=lambda c: c.id)
def test_altered_statements_are_told_from_the_claim(claim):
    chosen = some(alterations(claim), AT_MOST)
    if len(chosen) < AT_LEAST:
        chosen += some(alterations(claim, inside=True), AT_LEAST)
    assert len(chosen) >= AT_LEAST, chosen
    points = list(itertools.islice(claim.points(12), 12)) or [{}]
    missed = []
    for what, altered, expr in chosen:
        try:
            if statements.same(expr, claim.statement, claim.symbols, points) is not None:
                missed.append((what, altered))
        except (TypeError, ZeroDivisionError):  # no real value somewhere in the claim's range
            continue
    # an altered relation may be the same one: a sum over terms that are zero
    assert missed == [] or (isinstance(claim.statement, Boolean) and len(missed) == 1), missed


IDENTITIES = [c for c in LEDGER if c.kind == "identity" and c.verdict != "false as printed"]


@pytest.mark.parametrize("claim", IDENTITIES, ids=lambda c: c.id)
def test_the_check_of_an_identity_rejects_altered_statements(claim):
    """Besides the slip of the record. An altered bound may still hold; an altered identity cannot."""
    if isinstance(claim.statement, Boolean):
        pytest.skip("a relation may stay true")
    for what, altered, _ in some(alterations(claim), BY_CHECK):
        with pytest.raises(Exception):  # noqa: B017 - caught, or a statement that has no value any more
            checks()[claim.id](dataclasses.replace(claim, statement_text=altered), Tally(strict=True))
            print(f"not noticed: {what}: {altered}")
