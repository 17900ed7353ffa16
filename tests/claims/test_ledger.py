"""The rules of the ledger: every record is whole, every id, name, notebook and check it mentions exists."""

import importlib
import re
from pathlib import Path

import nbformat
import pytest

from shuffledp import claims
from shuffledp.claims.evidence import checks
from shuffledp.claims.ledger import EXPECTED
from shuffledp.claims.typeset import latex

ROOT = Path(__file__).resolve().parents[2]
LEDGER = claims.ledger()
IDS = {claim.id for claim in LEDGER}
KINDS = {"identity", "upper bound", "lower bound", "asymptotic", "algorithm"}
NOTEBOOKS = {path: nbformat.read(path, as_version=4) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
each_claim = pytest.mark.parametrize("claim", LEDGER, ids=lambda c: c.id)


def stamps(notebook) -> set[str]:
    """Ids whose derivation left its stamp in the stored outputs."""
    text = "\n".join(
        output.get("data", {}).get("text/plain", "") + output.get("text", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    return set(re.findall(r"^derived: ([\w.-]+) \(", text, re.M))


def test_the_ledger_is_not_empty_and_ids_are_unique():
    raw = re.findall(
        r"^  - id: (\S+)$", "\n".join(p.read_text() for p in (ROOT / "shuffledp/claims").glob("*.yaml")), re.M
    )
    assert raw and sorted(raw) == sorted(IDS)


@each_claim
def test_record_is_whole(claim):
    assert claim.verdict in EXPECTED
    assert claim.kind in KINDS
    assert claim.source["key"] == claim.id.split(".")[0]
    assert claim.title and claim.source["where"] and claim.slip
    assert (claim.verdict in ("holds", "open")) or claim.divergence, "say what differs from the source"
    assert latex(claim.statement_text)
    for text in (claim.statement_text, claim.slip, *claim.domain):
        assert {s.name for s in claim.read(text).free_symbols} <= set(claim.symbols)


@each_claim
def test_statement_differs_from_its_slip_at_some_point(claim):
    slip = claim.read(claim.slip)
    points = list(claim.points(20)) or [{}]
    values = [(claim.value(**p), claims.statements.evaluate(slip, p)) for p in points]
    assert any(ours != theirs for ours, theirs in values)


@each_claim
def test_it_depends_on_claims_that_exist(claim):
    assert set(claim.depends_on) <= IDS


def test_dependencies_are_acyclic():
    needs = {claim.id: set(claim.depends_on) for claim in LEDGER}
    while needs:
        free = {claim_id for claim_id, rest in needs.items() if not rest}
        assert free, f"a cycle among {sorted(needs)}"
        needs = {claim_id: rest - free for claim_id, rest in needs.items() if claim_id not in free}


@each_claim
def test_code_imports(claim):
    if claim.code:
        module, _, name = claim.code.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))


@each_claim
def test_it_has_a_check(claim):
    assert claim.id in checks()


def test_every_check_belongs_to_a_claim():
    assert set(checks()) <= IDS


@each_claim
def test_it_has_a_derivation_or_says_why_not(claim):
    if claim.derived_in is None:
        assert claim.no_derivation
    else:
        assert not claim.no_derivation
        assert claim.id in stamps(NOTEBOOKS[ROOT / claim.derived_in]), "no stamp in the notebook's stored outputs"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_every_derivation_in_a_notebook_is_recorded(path):
    source = "\n".join(cell.source for cell in NOTEBOOKS[path].cells if cell.cell_type == "code")
    called = set(re.findall(r"derived\(\s*[\"']([\w.-]+)[\"']", source))
    assert len(re.findall(r"\bderived\(", source)) == len(re.findall(r"\bderived\(\s*[\"']", source)), (
        "literal ids only"
    )
    assert called == stamps(NOTEBOOKS[path])
    assert all(claims.record(claim_id).derived_in == f"notebooks/{path.name}" for claim_id in called)


def mentioned(text: str) -> set[str]:
    keys = "|".join(claims.sources())
    return set(re.findall(rf"(?<![\w./-])(?:{keys})\.[a-z0-9]+(?:[.-][a-z0-9]+)*", text))


def texts():
    for folder in ("book", "shuffledp", "tests", "notebooks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".md", ".py", ".ipynb", ".yaml") and "_build" not in path.parts:
                yield path
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))


@pytest.mark.parametrize("path", list(texts()), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_id_that_is_mentioned_exists(path):
    assert mentioned(path.read_text(encoding="utf8")) <= IDS | {"efmrtt19.thm7.refine", "efmrtt19.no-such"}


def test_an_unknown_id_would_be_noticed():
    assert mentioned("see efmrtt19.no-such.") == {"efmrtt19.no-such"}
    with pytest.raises(KeyError, match=r"did you mean .*efmrtt19\.thm7\.refined"):
        claims.record("efmrtt19.thm7.refine")
