"""Sphinx extension: the library reference, one section per folder (and one for compare), complete by construction.

A page holds markers such as ``<!-- api: bounds -->``. What takes their place lists the ``__all__`` of every module of
that folder; a name that ``shuffledp`` exports is shown as ``shuffledp.name``.
"""

import dataclasses
import inspect
import pkgutil
import re
from importlib import import_module

import shuffledp
from shuffledp import claims

FOLDERS = [m.name for m in pkgutil.iter_modules(shuffledp.__path__) if m.ispkg or m.name == "compare"]
SHOWN = {"core": {"divergences"}, "claims": set()}  # modules listed whole; elsewhere all of them are
RESULT = 5  # a dataclass with more fields is a result, which nobody constructs


def names(folder):
    """Pairs (module to show it in, name), in the order of the modules."""
    package = import_module(f"shuffledp.{folder}")
    if folder == "claims":
        return [(package.__name__, name) for name in package.__all__]
    modules = [package]
    if hasattr(package, "__path__"):
        modules = [import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    pairs = []
    for module in modules:
        for name in getattr(module, "__all__", ()):
            if name in shuffledp.__all__ and getattr(shuffledp, name) is getattr(module, name):
                pairs.append(("shuffledp", name))
            elif module.__name__.split(".")[-1] in SHOWN.get(folder, {module.__name__.split(".")[-1]}):
                pairs.append((module.__name__, name))
    return pairs


def directive(module, name):
    thing = getattr(import_module(module), name)
    if not inspect.isclass(thing):
        lines = [f".. autofunction:: {name}" if callable(thing) else f".. autodata:: {name}"]
    elif issubclass(thing, BaseException):
        lines = [f".. autoexception:: {name}"]
    else:
        result = dataclasses.is_dataclass(thing) and len(dataclasses.fields(thing)) > RESULT
        lines = [f".. autoclass:: {name}{'()' if result else ''}", "   :members:"]
    return [f".. currentmodule:: {module}", "", *lines, "", *claims_of(thing)]


def claims_of(thing):
    """The claims whose record names this function or class, and the chapters that derive them."""
    named = []
    for claim in claims.ledger():
        home, _, name = (claim.code or "").rpartition(".")
        if home and getattr(import_module(home), name) is thing:
            named.append(claim)
    if not named:
        return []
    line = "Claims: " + ", ".join(f":claim:`{claim.id}`" for claim in named)
    chapters = dict.fromkeys(claim.derived_in.removesuffix(".ipynb") for claim in named if claim.derived_in)
    if chapters:
        line += "; derived in " + ", ".join(f":doc:`/{chapter}`" for chapter in chapters)
    return [".. container:: api-claims", "", f"   {line}", ""]


def section(folder):
    pairs = names(folder)
    listed = (f"   ~{module}.{name}".replace("~shuffledp.", "~") for module, name in pairs)
    table = [".. autosummary::", "   :nosignatures:", "", *listed, ""]
    body = [line for module, name in pairs for line in directive(module, name)]
    return "\n".join(["```{eval-rst}", ".. currentmodule:: shuffledp", "", *table, *body, "```"])


def fill(app, docname, source):
    source[0] = re.sub(r"<!-- api: (\w+) -->", lambda marker: section(marker[1]), source[0])


def repair_backlinks(app, pagename, templatename, context, doctree):
    """On a source page: link each name to where it is shown; viewcode knows only one place per module."""
    if pagename.startswith("_modules/shuffledp"):
        shown = {name: module for folder in FOLDERS for module, name in names(folder)}
        context["body"] = re.sub(
            rf'#shuffledp(?:\.\w+)*\.({"|".join(shown)})(?="|\.[a-z_]\w*")',
            lambda link: f"#{shown[link[1]]}.{link[1]}",
            context["body"],
        )


def setup(app):
    app.connect("source-read", fill)
    app.connect("html-page-context", repair_backlinks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
