"""Every check finds what the ledger records, and no check survives its slip."""

import dataclasses
import json
import math
from pathlib import Path

import pytest

from shuffledp import claims
from shuffledp.claims.evidence import Refuted, Tally, checks
from shuffledp.claims.ledger import EXPECTED

ROOT = Path(__file__).resolve().parents[2]

each_claim = pytest.mark.parametrize("claim", claims.ledger(), ids=lambda c: c.id)


def recorded_evidence() -> dict:
    """What `make book` wrote, if nothing has changed since: every check ran then."""
    path = ROOT / "_build" / "evidence.json"
    sources = [p for pattern in ("*.py", "*.yaml") for p in (ROOT / "shuffledp").rglob(pattern)]
    if not path.exists() or path.stat().st_mtime < max(p.stat().st_mtime for p in sources):
        return {}
    keys = [field.name for field in dataclasses.fields(claims.Evidence)]
    found = json.loads(path.read_text(encoding="utf8"))
    return {item["id"]: claims.Evidence(**{key: item[key] for key in keys}) for item in found}


EVIDENCE = recorded_evidence()


@each_claim
def test_check_finds_what_is_recorded(claim):
    evidence = EVIDENCE.get(claim.id) or claims.verify(claim.id)
    assert evidence.points > 0
    assert claims.as_recorded(claim, evidence), evidence.detail


@each_claim
def test_check_fails_on_the_slip(claim):
    tally = Tally(strict=EXPECTED[claim.verdict] == "holds")
    with claims.perturbed():
        try:
            checks()[claim.id](claim, tally)
        except (Refuted, ArithmeticError):  # or the slip has no value somewhere
            return
    evidence = tally.evidence(0.0)
    assert not claims.as_recorded(claim, evidence), f"the slip passes: {evidence.detail}"


def test_a_check_that_evaluates_nothing_proves_nothing():
    evidence = Tally().evidence(0.0)
    assert evidence.verdict == "unknown" and evidence.points == 0 and math.isnan(evidence.worst)
    assert not claims.as_recorded(claims.ledger()[0], evidence)


def test_a_tally_keeps_the_first_failure_and_the_worst_numbers():
    tally = Tally()
    tally.equal(1.0, 1.0 + 1e-9, 1e-8, n=5)
    tally.at_most(1.0, 4.0)
    assert tally.evidence(0).verdict == "holds"
    tally.at_most(3.0, 2.0, n=7)
    tally.at_most(9.0, 2.0, n=8)
    found = tally.evidence(0)
    assert found.verdict == "refuted" and found.points == 4 and "n=7" in found.detail
    assert found.worst == pytest.approx(1e-9, rel=1e-6, abs=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_number_that_is_none_fails(bad):
    tally = Tally()
    tally.equal(bad, 1.0, 1e-9)
    assert tally.evidence(0).verdict == "refuted"
