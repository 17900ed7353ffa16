"""A result as a small table with two faces: plain text for a terminal, html for a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

__all__ = ["html_table", "text_table"]

Row = tuple[str, Any, str]  # name, value, note


def _cell(value: Any) -> str:
    """Seven significant digits for a float, yes or no for a flag, a dash for what is absent."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.7g}"
    return str(value)


def text_table(title: str, rows: Iterable[Row]) -> str:
    """Rows of ``(name, value, note)`` under a title, in columns; a row whose note is ``""`` ends after its value."""
    cells = [(name, _cell(value), note) for name, value, note in rows]
    names = max((len(name) for name, _, _ in cells), default=0)
    values = max((len(value) for _, value, note in cells if note), default=0)
    lines = [f"  {name:<{names}}  {value:<{values}}  {note}".rstrip() for name, value, note in cells]
    return "\n".join([title, *lines])


def html_table(title: str, rows: Iterable[Row]) -> str:
    """The same rows as one html table of class ``sdp``; everything is escaped. Text without a note gets its column."""
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>'
        + (
            f'<td colspan="2">{html.escape(value)}</td></tr>'
            if isinstance(value, str) and not note
            else f"<td>{html.escape(_cell(value))}</td><td>{html.escape(note)}</td></tr>"
        )
        for name, value, note in rows
    )
    return f'<table class="sdp"><caption>{html.escape(title)}</caption><tbody>{body}</tbody></table>'
