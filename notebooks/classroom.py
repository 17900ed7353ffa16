"""Copies of the notebooks for a class, and sheets to print: ``python notebooks/classroom.py`` writes them.

What is taken out of a student copy follows from the notebook alone, by three rules:

- the text of every solution;
- in a derivation, the expression behind the stamp: the last assignment among the names that ``derived(id, ...)`` uses
  (through mere substitutions to what they are made in);
- in the cell after a solution, one assignment for each assert: the last one that the assert uses.

In its place stands ``your_turn(step)``, which raises until somebody writes an expression there. All asserts and stamps
stay. ``python notebooks/classroom.py restore COPY SOLUTIONS`` puts everything back.
"""

import ast
import html
import json
import re
import shutil
import sys
from collections.abc import Iterator
from copy import deepcopy
from importlib.metadata import files
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SETUP = '''class YourTurn(Exception):
    """A step that nobody has taken yet."""


def your_turn(step):
    raise YourTurn(
        f"step {step}: write an expression in place of your_turn({step})"
    )'''
GIVEN = {
    "symbols",
    "Symbol",
    "Rational",
    "Integer",
    "array",
    "arange",
    "linspace",
    "geomspace",
    "tile",
}  # set the stage
PASSING = {"subs", "simplify", "expand"}  # an answer passed on, not made
SOLUTION = re.compile(r"^:::\{solution\} (\S+)\n.*?^:::$", re.M | re.S)
ANSWER = "*Your answer to {}:*"
STATEMENTS = {
    "prf:theorem",
    "prf:proposition",
    "prf:lemma",
    "prf:definition",
    "prf:conjecture",
}


def chapters() -> list[str]:
    """Names of the notebooks, in the order of the book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))
    pages = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [page.removeprefix("notebooks/") for page in pages if page.startswith("notebooks/")]


# what is taken out -------------------------------------------------------------------------------------------------


class Blank(NamedTuple):
    """The right-hand side of an assignment: the cell's index, where it starts and ends in the source, the name."""

    cell: int
    start: int
    end: int
    name: str


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements in the order of the source, also inside loops, but not inside functions and classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from statements(child)


def used(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def called(node: ast.AST) -> str | None:
    """The last part of the name of what a call calls."""
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


def passed_on(value: ast.expr) -> str | None:
    """The name behind ``x.subs(...)`` or ``sp.simplify(x)``; None for anything else."""
    if called(value) not in PASSING:
        return None
    base = value.func.value if isinstance(value.func, ast.Attribute) else None
    if isinstance(base, ast.Name) and base.id not in ("sp", "sympy"):
        return base.id
    return value.args[0].id if value.args and isinstance(value.args[0], ast.Name) else None


def answer(node: ast.stmt) -> bool:
    """Whether a statement assigns one name something worth asking for."""
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
        return False
    listed = isinstance(
        node.value,
        ast.Constant | ast.Name | ast.List | ast.Tuple | ast.Dict,
    )
    names = used(node.value)
    return not listed and called(node.value) not in GIVEN and "rng" not in names and node.targets[0].id not in names


def blank(cell: int, source: str, node: ast.Assign) -> Blank:
    rows = [row.encode() for row in source.splitlines(keepends=True)]
    starts = [sum(map(len, rows[:i])) for i in range(len(rows))]
    value, raw = node.value, source.encode()
    ends = (
        starts[value.lineno - 1] + value.col_offset,
        starts[value.end_lineno - 1] + value.end_col_offset,
    )
    return Blank(cell, *(len(raw[:end].decode()) for end in ends), node.targets[0].id)


def blanks(notebook: nbformat.NotebookNode) -> list[Blank]:
    """Everything a student has to fill in, in the order of the notebook."""
    latest: dict[str, tuple[int, ast.Assign]] = {}  # by name: the cell and the node that made it
    found, after_solution = set(), False
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            after_solution = bool(SOLUTION.search(cell.source))
            continue
        mine: list[ast.Assign] = []
        for node in statements(ast.parse(cell.source)):
            if answer(node):
                latest[node.targets[0].id] = index, node
                mine.append(node)
            if isinstance(node, ast.Expr) and called(node.value) == "derived" and not after_solution:
                names, seen = used(node.value.args[1]), set()
                while names := {name for name in names if name in latest} - seen:
                    name = max(
                        names,
                        key=lambda name: (
                            latest[name][0],
                            latest[name][1].lineno,
                        ),
                    )
                    where, made = latest[name]
                    seen |= {name}
                    if not (origin := passed_on(made.value)) or origin not in latest:
                        found.add(blank(where, notebook.cells[where].source, made))
                        break
                    names = {origin}
            if isinstance(node, ast.Assert) and after_solution:
                asked = [made for made in mine if made.targets[0].id in used(node.test)]
                spots = {blank(index, cell.source, made) for made in asked}
                if asked and not spots & found:
                    found.add(blank(index, cell.source, asked[-1]))
        after_solution = False
    return sorted(found)


def student_copy(
    notebook: nbformat.NotebookNode,
) -> tuple[nbformat.NotebookNode, dict]:
    """A copy without outputs and answers, and what was taken out: steps by number, answers by label."""
    copy = deepcopy(notebook)
    holes = blanks(notebook)
    taken: dict = {"steps": {}, "answers": {}}
    for step, hole in reversed(list(enumerate(holes, 1))):
        cell = copy.cells[hole.cell]
        taken["steps"][str(step)] = cell.source[hole.start : hole.end]
        cell.source = cell.source[: hole.start] + f"your_turn({step})" + cell.source[hole.end :]
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata = {}
            continue
        for match in SOLUTION.finditer(cell.source):
            taken["answers"][match[1]] = match[0]
        cell.source = SOLUTION.sub(lambda match: ANSWER.format(match[1]), cell.source)
    taken["steps"] = dict(sorted(taken["steps"].items(), key=lambda item: int(item[0])))
    copy.cells.insert(1, nbformat.v4.new_code_cell(SETUP, id="your-turn"))
    return copy, taken


def filled(source: str, steps: dict[str, str]) -> str:
    """The source of a cell with an expression in every open step."""
    return re.sub(r"\byour_turn\((\d+)\)", lambda hole: steps[hole[1]], source)


def restore(copy: nbformat.NotebookNode, taken: dict) -> nbformat.NotebookNode:
    """Put back what ``student_copy`` took out, wherever the student has left it open."""
    solved = deepcopy(copy)
    for cell in solved.cells:
        if cell.get("id") == "your-turn":
            continue
        if cell.cell_type == "code":
            cell.source = filled(cell.source, taken["steps"])
        for label, text in taken["answers"].items():
            cell.source = cell.source.replace(ANSWER.format(label), text)
    return solved


# sheets to print ---------------------------------------------------------------------------------------------------

STYLE = """
:root { font: 11pt/1.45 Georgia, "Times New Roman", serif; color: #111; background: #fff }
body { max-width: 42rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: break-word }
h1 { font-size: 1.5rem; line-height: 1.2 } h2 { font-size: 1.15rem; border-bottom: 1px solid #888; margin-top: 1.6rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem }
.who { display: flex; gap: 2rem } .who span { flex: 1; border-bottom: 1px solid #888 }
.box { border: 1px solid #888; border-left-width: 4px; padding: .2rem .8rem; margin: .8rem 0; overflow-x: auto }
pre { font: .8rem/1.35 "DejaVu Sans Mono", Consolas, monospace; background: #f4f4f4; padding: .5rem; overflow-x: auto }
mark { background: none; border: 1px solid #111; padding: 0 2.5rem } code { font-size: .85em }
mjx-container { max-width: 100% } mjx-container[display="true"] { overflow-x: auto; overflow-y: hidden }
table { border-collapse: collapse } td, th { border: 1px solid #888; padding: .1rem .5rem }
.room { height: 112px; background: repeating-linear-gradient(#fff 0 27px, #bbb 27px 28px) }
.tall { height: 224px }
@page { size: A4; margin: 18mm 16mm }
@media print {
  body { margin: 0; max-width: none; padding: 0 }
  pre { white-space: pre-wrap; background: #fff; border: 1px solid #888 }
  .keep, .box, h2, h3 { break-inside: avoid } h2, h3 { break-after: avoid }
  .room { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: sheet</title>
<style>{style}</style>
<script>MathJax = {{tex: {{macros: {macros}}}}}</script>
<script src="mathjax/tex-svg.js" defer></script>
</head>
<body>
{body}
</body>
</html>
"""


class Box(NamedTuple):
    """A directive of a Markdown cell: ``:::{kind} title``, its options and its text."""

    kind: str
    title: str
    options: dict[str, str]
    text: str


def boxes(source: str) -> Iterator[Box]:
    for match in re.finditer(r"^:::\{([\w:]+)\}([^\n]*)\n(.*?)^:::$", source, re.M | re.S):
        options = dict(re.findall(r"^:(\w+):[ \t]*(.*)$", match[3], re.M))
        text = re.sub(r"^:\w+:.*\n", "", match[3], flags=re.M).strip()
        yield Box(match[1], match[2].strip(), options, text)


def plain_roles(text: str) -> str:
    """Roles that only Sphinx resolves, as ordinary Markdown."""

    def shown(match):
        kind, inside = match[1], match[2]
        if named := re.fullmatch(r"(.*?)\s*<.*>", inside):
            return named[1]
        if kind.startswith("cite"):
            return f"[{inside}]"
        return f"`{inside.removeprefix('shuffledp.')}`"

    text = re.sub(r"\{([\w:]+)\}`([^`]*)`", shown, text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)  # links into the book


def formula(content: str, options: dict) -> str:
    left, right = ("\\[", "\\]") if options["display_mode"] else ("\\(", "\\)")
    return f"{left}{html.escape(content)}{right}"


MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=formula)


def rendered(text: str) -> str:
    return MARKDOWN.render(plain_roles(text))


def sheet(copy: nbformat.NotebookNode) -> str:
    """A student copy as a page to print: objectives, statements, steps, exercises."""
    title, section, after_exercise = "", "", False
    objectives, claims, steps, exercises = [], [], [], []
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if line.startswith("# "):
                    title = line[2:]
                elif heading := re.match(r"##+ (.*)", line):
                    section = heading[1]
            after_exercise = False
            for box in boxes(cell.source):
                if "objectives" in box.options.get("class", ""):
                    objectives.append(rendered(box.text))
                elif box.kind in STATEMENTS:
                    name = box.title or box.kind.removeprefix("prf:").capitalize()
                    claims.append(f'<div class="box"><h3>{inline(name)}</h3>{rendered(box.text)}</div>')
                elif box.kind == "exercise":
                    number, after_exercise = len(exercises) + 1, True
                    name = f"Exercise {number}" + (f". {inline(box.title)}" if box.title else "")
                    exercises.append(f"<h3>{name}</h3>{rendered(box.text)}" + '<div class="room tall"></div>')
        elif not after_exercise and cell.get("id") != "your-turn" and (open_steps := holes_in(cell.source)):
            code = re.sub(
                r"your_turn\((\d+)\)",
                r"<mark>\1</mark>",
                html.escape(cell.source),
            )
            name = "Step " + ", ".join(open_steps)
            steps.append(
                f'<div class="keep"><h3>{name} · {inline(section)}</h3><pre>{code}</pre><div class="room"></div></div>'
            )
    parts = (
        ("What you will be able to do", objectives),
        ("Statements", claims),
        ("Steps to fill in", steps),
        ("Exercises", exercises),
    )
    who = '<p class="who"><span>Name</span><span>Date</span></p>'
    body = f"<h1>{inline(title)}</h1>\n{who}\n" + "\n".join(
        f"<h2>{heading}</h2>\n" + "\n".join(items) for heading, items in parts if items
    )
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    macros = config["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    plain_title = html.escape(re.sub(r"[$\\{}]", "", title))
    return PAGE.format(title=plain_title, style=STYLE, macros=json.dumps(macros), body=body)


def inline(text: str) -> str:
    return MARKDOWN.renderInline(plain_roles(text))


def holes_in(source: str) -> list[str]:
    return re.findall(r"\byour_turn\((\d+)\)", source)


# the command -------------------------------------------------------------------------------------------------------


def write(folder: Path) -> None:
    """Write copies, solutions and sheets of all chapters into a folder that is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("notebooks", "solutions", "sheets/mathjax"):
        (folder / part).mkdir(parents=True)
    script = next(Path(f.locate()) for f in files("sphinx-mathjax-offline") if f.name == "tex-svg.js")
    shutil.copy2(script, folder / "sheets" / "mathjax")
    for name in chapters():
        notebook = nbformat.read(HERE / f"{name}.ipynb", as_version=4)
        copy, taken = student_copy(notebook)
        nbformat.write(copy, folder / "notebooks" / f"{name}.ipynb")
        text = json.dumps(taken, indent=1, ensure_ascii=False)
        (folder / "solutions" / f"{name}.json").write_text(text + "\n", encoding="utf8")
        (folder / "sheets" / f"{name}.html").write_text(sheet(copy), encoding="utf8")
        print(f"{name}: {len(taken['steps'])} steps, {len(taken['answers'])} exercises")


def restore_file(copy_path: Path, solutions_path: Path) -> Path:
    """Write ``NAME-solved.ipynb`` beside a student copy."""
    taken = json.loads(solutions_path.read_text(encoding="utf8"))
    target = copy_path.with_name(f"{copy_path.stem}-solved.ipynb")
    nbformat.write(restore(nbformat.read(copy_path, as_version=4), taken), target)
    return target


if __name__ == "__main__":
    if sys.argv[1:2] == ["restore"]:
        print(restore_file(*map(Path, sys.argv[2:])))
    else:
        write(ROOT / "_build" / "classroom")
