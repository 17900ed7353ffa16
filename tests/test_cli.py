"""The command line: what it prints, and its exit status."""

import json

import pytest

from shuffledp.claims import evidence, ledger
from shuffledp.cli import main

ID = "efmrtt19.thm7.refined"


def test_claims_lists_every_id(capsys):
    assert main(["claims"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [claim.id for claim in ledger()]


def test_claims_shows_one_claim_whole(capsys):
    assert main(["claims", ID, "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["id"] == ID and "6*exp(4*epsilon0)" in shown["statement"]


def test_verify_prints_one_line_and_succeeds(capsys):
    assert main(["verify", ID]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("ok") and ID in out[0] and "points" in out[0]
    assert out[-1].startswith("1 of 1 claims as recorded")


def test_verify_json_is_json(capsys):
    assert main(["verify", ID, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "holds" and found["points"] > 0 and found["as_recorded"]


def test_verify_fails_when_a_claim_does_not_hold_as_recorded(capsys, monkeypatch):
    evidence.checks()
    monkeypatch.setitem(evidence._CHECKS, ID, lambda claim, tally: tally.true(False, n=3))
    assert main(["verify", ID]) == 1
    assert "NOT" in capsys.readouterr().out


@pytest.mark.parametrize("args", [["claims", "nonsense"], ["verify", "nonsense"], ["verify", "--source", "nonsense"]])
def test_what_does_not_exist_is_named(args, capsys):
    assert main(args) == 2
    assert "nonsense" in capsys.readouterr().err
