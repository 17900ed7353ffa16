"""The tables of the notation page: every name of code exists, every field of the two results is explained."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import shuffledp

PAGE = (Path(__file__).resolve().parents[2] / "book" / "notation.md").read_text(encoding="utf8")


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def column(text: str, index: int) -> list[str]:
    """The code names in one column of the tables of a text."""
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row[index])]


def public_names() -> set[str]:
    """Functions, classes, attributes and arguments that the library's modules make public."""
    names = set()
    for module in pkgutil.walk_packages(shuffledp.__path__, "shuffledp."):
        if ".claims." in module.name or module.name.endswith(("__main__", ".cli")):
            continue
        module = importlib.import_module(module.name)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            names.add(name)
            parts = [thing]
            if inspect.isclass(thing):
                members = [m for m in dir(thing) if not m.startswith("_")]
                names.update(members, thing.__dict__.get("__annotations__", ()))
                parts += [getattr(thing, m) for m in members]
            for part in filter(callable, parts):
                try:
                    names.update(inspect.signature(part).parameters)
                except ValueError:  # a built-in without a signature
                    pass
    return names


NAMES = public_names()


@pytest.mark.parametrize("name", column(section("Symbols and names"), 2))
def test_every_name_in_the_table_exists(name):
    assert name in NAMES


def test_a_name_that_does_not_exist_would_be_noticed():
    assert column("| term | $x$ | `blanket_mass` | |", 2) == ["blanket_mass"]
    assert "blanket_mass" not in NAMES
    assert not {"N", "eps_local", "eps1"} & NAMES


FUNCTIONS = [
    ("From `Shfflm` to `theorem7`", shuffledp.theorem7, shuffledp.Theorem7),
    ("From `morie_dp_mean` to `private_mean`", shuffledp.private_mean, shuffledp.PrivateMean),
]


@pytest.mark.parametrize(("title", "function", "result"), FUNCTIONS, ids=["theorem7", "private_mean"])
def test_every_argument_and_field_is_explained(title, function, result):
    explained = set(column(section(title), 0))
    wanted = {field.name for field in dataclasses.fields(result)} | set(inspect.signature(function).parameters)
    assert explained == wanted
