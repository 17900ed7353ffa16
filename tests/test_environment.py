"""environment.yml, the hash locks and the running interpreter agree."""

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DEPENDENCIES = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
PIP = next(d["pip"] for d in DEPENDENCIES if isinstance(d, dict))
PINS = [requirement for requirement in PIP if requirement != "-e ."]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(name):
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^ \\;]+)", (ROOT / name).read_text(), re.M))


def test_python_is_the_pinned_one():
    want = next(d.split("=")[1] for d in DEPENDENCIES if isinstance(d, str) and d.startswith("python="))
    assert ".".join(map(str, sys.version_info[:2])) == want


@pytest.mark.parametrize("requirement", PINS)
def test_every_pin_is_exact_locked_and_installed(requirement):
    name, pinned = requirement.split("==")
    assert locked("requirements.lock")[normal(name)] == pinned == version(name)


def test_what_is_locked_is_installed():
    lock = locked("requirements.lock")
    assert len(lock) > len(PINS)
    assert {name: version(name) for name in lock} == lock


@pytest.mark.parametrize("requirement", PROJECT["dependency-groups"]["browser"])
def test_the_browser_tools_are_locked(requirement):
    name, pinned = requirement.split("==")
    assert locked("requirements-browser.lock")[normal(name)] == pinned


def test_the_two_locks_agree():
    one, two = locked("requirements.lock"), locked("requirements-browser.lock")
    assert all(one[name] == two[name] for name in one.keys() & two.keys())


def test_what_the_library_needs_is_pinned():
    project = PROJECT["project"]
    needed = project["dependencies"] + project["optional-dependencies"]["plots"]
    assert {normal(name) for name in needed} <= {normal(pin.split("==")[0]) for pin in PINS}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-browser.lock"])
def test_the_locks_name_no_host_and_hash_everything(name):
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert all("--hash=sha256:" in entry for entry in re.split(r"^(?=\S)", text, flags=re.M) if entry)
