"""Sphinx extension: the ledger and errata pages from records and evidence, and the role ``claim``.

A page holds a marker, ``<!-- claims: ledger -->`` or ``<!-- claims: errata -->``; the text that takes its place is
MyST, written here from ``shuffledp.claims`` and from ``_build/evidence.json`` (what ``shuffledp verify --json`` found).
"""

import json
import re
from importlib.metadata import version
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from shuffledp import claims
from shuffledp.claims.typeset import latex

LOG = logging.getLogger(__name__)
CHIP = {
    "holds": "holds",
    "holds with correction": "corrected",
    "looser than needed": "loose",
    "true but uninformative": "uninformative",
    "false as printed": "false",
    "open": "open",
}
WRONG = ("holds with correction", "looser than needed", "true but uninformative", "false as printed")


def evidence(app) -> dict:
    path = Path(app.srcdir) / "_build" / "evidence.json"
    if not path.exists():
        raise ExtensionError("_build/evidence.json is missing: `make book` writes it with `shuffledp verify --json`")
    found = {item["id"]: item for item in json.loads(path.read_text())}
    missing = [claim.id for claim in claims.ledger() if claim.id not in found]
    if missing:
        raise ExtensionError(f"_build/evidence.json is stale: nothing on {', '.join(missing)}")
    return found


def chip(verdict: str) -> str:
    return f"[{verdict}]{{.verdict .verdict-{CHIP[verdict]}}}"


def link(claim_id: str) -> str:
    return f"[`{claim_id}`](#{claims.record(claim_id).anchor})"


def linked(text: str) -> str:
    """Prose in which every claim id becomes a link."""
    known = {claim.id for claim in claims.ledger()}
    return re.sub(r"(?<![\w.`])[a-z0-9]+(?:\.[a-z0-9-]+)+", lambda m: link(m[0]) if m[0] in known else m[0], str(text))


def title_of(app, notebook: str) -> str:
    path = Path(app.srcdir) / notebook
    if not path.exists():
        LOG.warning("the ledger names %s, which does not exist", notebook)
        return notebook
    first = nbformat.read(path, as_version=4).cells[0].source
    return first.splitlines()[0].lstrip("# ")


def worst(found: dict) -> str:
    """The evidence's worst number with what it is: an error where something was equal, else a margin."""
    if found["verdict"] == "refuted":
        return "counterexample"
    if found["worst"] is None:
        return ""
    if "largest relative error" in found["detail"]:
        return f"error {found['worst']:.0e}" if found["worst"] else "exact"
    return f"margin {found['worst']:.2g}"


def row(claim, found: dict) -> str:
    name = f"[{claim.title}](#{claim.anchor}) `{claim.id}`"
    cells = (name, claim.source["key"], chip(claim.verdict), found["points"], worst(found))
    return "| " + " | ".join(map(str, cells)) + " |"


def paragraphs(app, claim, found: dict, users: dict) -> str:
    """One claim, whole."""
    source = claim.source
    lines = [
        f"({claim.anchor})=",
        f"### {claim.title}",
        "",
        f"`{claim.id}` {chip(claim.verdict)}",
        "",
        f"$$ {claim.latex()} $$",
        "",
    ]
    facts = [("Claimed for", ", ".join(f"${latex(condition)}$" for condition in claim.domain))]
    facts.append(("Kind", claim.kind))
    facts.append(("Where", f"{source['version']}, {source['where']}"))
    if claim.derived_in:
        page = claim.derived_in.replace(".ipynb", ".html")
        label = title_of(app, claim.derived_in)
        facts.append(("Derived in", f'<a href="../{page}#derived-{claim.anchor}">{label}</a>'))
    else:
        facts.append(("Derived in", linked(claim.no_derivation)))
    if claim.code:
        facts.append(("Computed by", f"{{py:obj}}`{claim.code}`"))
    if claim.depends_on:
        facts.append(("Rests on", ", ".join(map(link, claim.depends_on))))
    if users.get(claim.id):
        facts.append(("Used by", ", ".join(map(link, users[claim.id]))))
    facts.append(("Checked", f"{found['verdict']} at {found['points']} points: {linked(found['detail'])}"))
    facts.append(("Slip that is caught", f"`{claim.slip}`"))
    if claim.divergence:
        facts.append(("What we find", linked(claim.divergence)))
    facts = [(name, fact) for name, fact in facts if fact]
    return "\n".join([*lines, "::::{div} claim-facts", *(f"{name}\n: {fact}\n" for name, fact in facts), "::::", ""])


def ledger_text(app) -> str:
    found = evidence(app)
    users: dict[str, list[str]] = {}
    for claim in claims.ledger():
        for other in claim.depends_on:
            users.setdefault(other, []).append(claim.id)
    parts = [
        "## All claims",
        "",
        ":::{div} claim-table claim-index",
        "| claim | source | verdict | points | worst |",
        "|---|---|---|---:|---:|",
        *(row(claim, found[claim.id]) for claim in claims.ledger()),
        ":::",
        "",
    ]
    for key, source in claims.sources().items():
        chosen = [claim for claim in claims.ledger() if claim.source["key"] == key]
        parts += [f"## {source['title']}", "", source.get("about", ""), ""]
        parts += [paragraphs(app, claim, found[claim.id], users) for claim in chosen]
    return "\n".join(parts)


def errata_text(app) -> str:
    found = evidence(app)
    parts = []
    for verdict in reversed(WRONG):
        chosen = [claim for claim in claims.ledger() if claim.verdict == verdict]
        if not chosen:
            continue
        parts += [f"## {verdict.capitalize()}", ""]
        for claim in chosen:
            item = found[claim.id]
            parts += [
                f"### {claim.title}",
                "",
                f"{link(claim.id)} {chip(verdict)} {claim.source['version']}, {claim.source['where']}",
                "",
                f"$$ {claim.latex()} $$",
                "",
                linked(claim.divergence),
                "",
                f"The check: `shuffledp verify {claim.id}` evaluates {item['points']} points and finds: "
                f"{linked(item['detail'])}.",
                "",
            ]
    return "\n".join(parts)


def ledger_data(found: dict) -> dict:
    """The whole ledger with its evidence, for other software; described by ``_static/ledger.schema.json``."""
    rows = [
        claim.to_dict()
        | {"latex": claim.latex(), "page": f"book/ledger.html#{claim.anchor}"}
        | {"evidence": {key: found[claim.id][key] for key in ("verdict", "points", "worst", "detail")}}
        for claim in claims.ledger()
    ]
    return {"version": version("shuffledp"), "claims": rows}


def write_ledger(app, exception):
    if not exception and app.builder.format == "html":
        text = json.dumps(ledger_data(evidence(app)), indent=1, ensure_ascii=False)
        (Path(app.outdir) / "ledger.json").write_text(text + "\n", encoding="utf8")


WRITERS = {"ledger": ledger_text, "errata": errata_text}


def fill(app, docname, source):
    source[0] = re.sub(r"<!-- claims: (\w+) -->", lambda m: WRITERS[m[1]](app), source[0])


class ClaimRole(SphinxRole):
    """``{claim}`id``` links a claim's id to its place on the ledger page; an unknown id is a warning."""

    def run(self):
        try:
            anchor = claims.record(self.text).anchor
        except KeyError as error:
            LOG.warning(error.args[0], location=self.get_location())
            return [nodes.literal(text=self.text)], []
        reference = pending_xref(
            "",
            nodes.literal(text=self.text),
            refdomain="std",
            reftype="ref",
            reftarget=anchor,
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        return [reference], []


def setup(app):
    app.connect("source-read", fill)
    app.connect("build-finished", write_ledger)
    app.add_role("claim", ClaimRole())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
