"""The ledger as built: the file for other software, the drawings of what rests on what, and their text twins."""

import copy
import json
import re
from pathlib import Path

import jsonschema
import pytest

from shuffledp import claims

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
LEDGER = claims.ledger()
SCHEMA = json.loads((ROOT / "book/_static/ledger.schema.json").read_text(encoding="utf8"))
LINK = re.compile(r'<a href="(?:\.\./book/)?ledger\.html#([\w-]+)"( class="node-\w+")?>')


@pytest.fixture(scope="module")
def data():
    return json.loads((SITE / "ledger.json").read_text(encoding="utf8"))


def test_the_file_keeps_its_schema_and_holds_every_claim(data):
    jsonschema.validate(data, SCHEMA)
    assert [item["id"] for item in data["claims"]] == [claim.id for claim in LEDGER]


@pytest.mark.parametrize("field", ["verdict", "evidence", "statement"])
def test_the_schema_notices_a_missing_field(data, field):
    broken = copy.deepcopy(data)
    del broken["claims"][0][field]
    with pytest.raises(jsonschema.ValidationError, match=field):
        jsonschema.validate(broken, SCHEMA)


def test_every_claim_has_its_place_on_the_page(data):
    page = (SITE / "book/ledger.html").read_text(encoding="utf8")
    for item in data["claims"]:
        assert f'id="{item["page"].partition("#")[2]}"' in page


def drawn_and_written(page: Path) -> tuple[set, set]:
    links = LINK.findall(page.read_text(encoding="utf8"))
    return {anchor for anchor, node in links if node}, {anchor for anchor, node in links if not node}


def test_every_dependency_is_drawn_and_written_out():
    drawn, written = drawn_and_written(SITE / "book/graph.html")
    joined = {other for claim in LEDGER for other in (claim.id, *claim.depends_on) if claim.depends_on}
    assert drawn == {claims.record(claim_id).anchor for claim_id in joined}
    assert drawn <= written


@pytest.mark.parametrize("notebook", sorted({claim.derived_in for claim in LEDGER if claim.derived_in}))
def test_a_chapter_ends_with_its_claims(notebook):
    drawn, written = drawn_and_written(SITE / notebook.replace(".ipynb", ".html"))
    assert {claim.anchor for claim in LEDGER if claim.derived_in == notebook} <= drawn <= written
