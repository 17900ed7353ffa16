"""What the page on verifying shows was really printed: its Python runs, its commands are repeated."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from shuffledp import cli

PAGE = (Path(__file__).resolve().parents[2] / "book" / "how-to-verify.md").read_text(encoding="utf8")
CONSOLE = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```", PAGE, re.M | re.S)


def test_the_python_on_the_page_prints_what_is_shown():
    source = "\n".join(re.findall(r"^```pycon\n(.*?)^```", PAGE, re.M | re.S))
    test = doctest.DocTestParser().get_doctest(source, {}, "how-to-verify", None, 0)
    assert len(test.examples) > 10
    said = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert said == []


def lasting(text: str) -> str:
    """Without the timings, and without rounding errors, which differ between machines."""
    return re.sub(r" +\d+\.\d+ s\b", " ? s", re.sub(r"\d\.\de-1\d", "?", text))


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_a_command_on_the_page_prints_what_is_shown(command, shown, capsys, monkeypatch):
    words = shlex.split(command)
    if "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("="))
    assert words[0] == "shuffledp"
    cli.main(words[1:])
    assert lasting(capsys.readouterr().out) == lasting(shown)


def test_the_page_shows_each_command():
    assert {re.sub(r"^\S+=\S+ ", "", command).split()[1] for command, _ in CONSOLE} == {
        "claims",
        "compare",
        "recover",
        "verify",
    }
