"""Sphinx extension: how the claims rest on one another, drawn and in words.

A page gets one drawing per source in place of ``<!-- claims: graph -->``; every chapter that derives claims gets a
small one at its end. Everything is read from the ledger's records.
"""

import html
from pathlib import PurePosixPath

from claims_pages import CHIP, WRITERS

from shuffledp import claims

LINE, GAP, PAD, CHAR = 34, 56, 11, 7.3  # height of a row, space between columns, inside a node, width of a letter
HEIGHT = 24
SIGN = {"holds": "", "corrected": "± ", "loose": "≤ ", "uninformative": "… ", "false": "✗ ", "open": "? "}


def columns(chosen: list) -> list[list]:
    """The claims by the length of the longest chain they rest on; neighbours stand near each other."""
    ids = {claim.id for claim in chosen}
    needs = {claim.id: [other for other in claim.depends_on if other in ids] for claim in chosen}
    level: dict[str, int] = {}

    def depth(claim_id: str) -> int:
        if claim_id not in level:
            level[claim_id] = 1 + max((depth(other) for other in needs[claim_id]), default=-1)
        return level[claim_id]

    layers: list[list] = [[] for _ in range(1 + max(map(depth, ids)))]
    for claim in chosen:
        layers[level[claim.id]].append(claim)
    used = {claim.id: [other for other in ids if claim.id in needs[other]] for claim in chosen}
    for _ in range(8):  # each node towards the middle of its neighbours
        place = {claim.id: row / len(layer) for layer in layers for row, claim in enumerate(layer)}
        for layer in layers:
            near = {c.id: [place[o] for o in (*needs[c.id], *used[c.id])] or [place[c.id]] for c in layer}
            layer.sort(key=lambda claim, near=near: sum(near[claim.id]) / len(near[claim.id]))
    return layers


def outline(kind: str, x: float, y: float, width: float) -> str:
    """A node's shape: what holds is a box, what is false has pointed ends, what is open is round."""
    top, bottom, right = y - HEIGHT / 2, y + HEIGHT / 2, x + width
    if kind == "false":
        return f"M{x},{y} L{x + 9},{top} H{right - 9} L{right},{y} L{right - 9},{bottom} H{x + 9} Z"
    round_by = {"open": HEIGHT / 2, "holds": 4}.get(kind, 8)
    return (
        f"M{x + round_by},{top} H{right - round_by} a{round_by},{round_by} 0 0 1 {round_by},{round_by} "
        f"V{bottom - round_by} a{round_by},{round_by} 0 0 1 -{round_by},{round_by} H{x + round_by} "
        f"a{round_by},{round_by} 0 0 1 -{round_by},-{round_by} V{top + round_by} "
        f"a{round_by},{round_by} 0 0 1 {round_by},-{round_by} Z"
    )


def drawing(chosen: list, ledger_page: str, label: str) -> str:
    """An SVG in which every node is a link to its record; a claim stands right of those it rests on."""
    layers = columns(chosen)
    at, x = {}, 1.0
    for layer in layers:
        width = max(len(SIGN[CHIP[claim.verdict]] + claim.id) for claim in layer) * CHAR + 2 * PAD
        for row, claim in enumerate(layer):
            offset = (max(map(len, layers)) - len(layer)) * LINE / 2
            at[claim.id] = (x, offset + row * LINE + LINE / 2, width)
        x += width + GAP
    edges, nodes = [], []
    for claim in chosen:
        left, y, width = at[claim.id]
        for other in claim.depends_on:
            if other in at:
                a, b, w = at[other]
                middle = (a + w + left) / 2
                edges.append(
                    f'<path d="M{a + w:.0f},{b:.0f} C{middle:.0f},{b:.0f} {middle:.0f},{y:.0f} {left:.0f},{y:.0f}"/>'
                )
        kind = CHIP[claim.verdict]
        nodes.append(
            f'<a href="{ledger_page}#{claim.anchor}" class="node-{kind}">'
            f"<title>{html.escape(claim.title)}: {claim.verdict}</title>"
            f'<path d="{outline(kind, left, y, width)}"/>'
            f'<text x="{left + PAD:.0f}" y="{y + 4:.0f}">{SIGN[kind]}{html.escape(claim.id)}</text></a>'
        )
    wide, high = x - GAP + 1, max(map(len, layers)) * LINE
    return (
        f'<div class="claim-graph" role="region" tabindex="0" aria-label="{html.escape(label)}">'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}">'
        f'<g class="edges">{"".join(edges)}</g>{"".join(nodes)}</svg></div>'
    )


def words(chosen: list, ledger_page: str) -> str:
    """The same as a list, for readers who do not see the drawing."""

    def link(claim_id: str) -> str:
        return f'<a href="{ledger_page}#{claims.record(claim_id).anchor}"><code class="literal">{claim_id}</code></a>'

    items = []
    for claim in chosen:
        rests = ", ".join(map(link, claim.depends_on))
        items.append(
            f"<li>{link(claim.id)} {html.escape(claim.title)} ({claim.verdict})"
            + (f", rests on {rests}" if rests else "")
            + "</li>"
        )
    return f'<details class="claim-words"><summary>The same in words</summary><ul>{"".join(items)}</ul></details>'


def graph_text(app) -> str:
    """One section per source: the claims that rest on others or that others rest on, and the rest in a line."""
    parts = []
    for key, source in claims.sources().items():
        own = [claim for claim in claims.ledger() if claim.source["key"] == key]
        joined = {other for claim in own for other in (claim.id, *claim.depends_on) if claim.depends_on}
        joined |= {claim.id for claim in own for other in claims.ledger() if claim.id in other.depends_on}
        chosen = [claim for claim in claims.ledger() if claim.id in joined]
        parts += [f"## {source['title']}", ""]
        if chosen:
            picture = drawing(chosen, "ledger.html", f"Claims of {key}") + words(chosen, "ledger.html")
            parts += ["```{raw} html", picture, "```", ""]
        alone = [f"[`{claim.id}`](#{claim.anchor})" for claim in own if claim.id not in joined]
        if alone:
            parts += [f"On their own: {', '.join(alone)}.", ""]
    return "\n".join(parts)


def close_chapter(app, pagename, templatename, context, doctree):
    """At the end of a chapter: the claims it derives, what they rest on, and what rests on them."""
    own = [claim for claim in claims.ledger() if claim.derived_in == f"{pagename}.ipynb"]
    if not own or "body" not in context or PurePosixPath(pagename).parts[0] != "notebooks":
        return
    ids = {claim.id for claim in own}
    near = ids | {other for claim in own for other in claim.depends_on}
    near |= {claim.id for claim in claims.ledger() if ids & set(claim.depends_on)}
    chosen = [claim for claim in claims.ledger() if claim.id in near]
    context["body"] += (
        '<section id="claims-of-this-chapter" class="chapter-claims"><h2>Claims of this chapter</h2>'
        "<p>Each is a link to its record in the ledger. A claim stands to the right of those it rests on; pointed ends "
        "mean false as printed, round ends open.</p>"
        + drawing(chosen, "../book/ledger.html", "Claims of this chapter and their neighbours")
        + words(chosen, "../book/ledger.html")
        + "</section>"
    )


def setup(app):
    WRITERS["graph"] = graph_text
    app.connect("html-page-context", close_chapter, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
