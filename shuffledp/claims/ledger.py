"""The ledger: one record per published claim, read from the yaml files beside this module."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files

import sympy as sp
import yaml

from . import statements
from .typeset import latex

__all__ = ["EXPECTED", "Record", "ledger", "perturbed", "record", "sources"]

# what the ledger says of a claim, and what its check must therefore find
EXPECTED = {
    "holds": "holds",
    "holds with correction": "holds",
    "looser than needed": "holds",
    "true but uninformative": "holds",
    "false as printed": "refuted",
    "open": "unknown",
}

_PERTURB = "SHUFFLEDP_PERTURB"  # set (to anything but "") to serve every statement with its slip


@dataclass(frozen=True)
class Record:
    """One claim: what is said, where, in which range, what it rests on, and what we found.

    Attributes
    ----------
    id : str
        Source key, subject, short name; never changes.
    source : dict
        ``key``, ``version`` and ``where`` (the place in the source).
    title, kind, verdict, divergence : str
        ``kind`` is identity, upper bound, lower bound, asymptotic or algorithm; ``verdict`` one of `EXPECTED`;
        ``divergence`` says what the source prints and what we find, or is empty.
    statement : sympy expression or relation
        In the claim's symbols.
    symbols : dict of str to sympy.Symbol
    domain : tuple of str
        Conditions under which the statement is claimed.
    depends_on : tuple of str
        Ids of the claims it rests on.
    code : str or None
        Dotted name of the function that computes it.
    derived_in : str or None
        The notebook whose ``derived(id, ...)`` derives it; its label there is ``derived-<anchor>``.
    no_derivation : str
        Why there is no derivation, where there is none.
    slip : str
        A plausible wrong form, which the check and the derivation must both reject.
    """

    id: str
    source: dict
    title: str
    kind: str
    verdict: str
    statement_text: str
    slip: str
    symbols: dict
    where: dict
    domain: tuple[str, ...]
    tested_on: dict
    special: tuple[dict, ...]
    depends_on: tuple[str, ...]
    code: str | None
    derived_in: str | None
    no_derivation: str
    divergence: str
    kinds: dict = field(repr=False)

    @property
    def anchor(self) -> str:
        """The claim's anchor on the ledger page."""
        return self.id.replace(".", "-")

    @property
    def statement(self):
        """The statement as sympy; the slip instead while the ledger is perturbed."""
        return self.read(self.slip if is_perturbed() else self.statement_text)

    def read(self, text: str):
        """Another form (a slip, a reading) in this claim's symbols and abbreviations."""
        return _read(self.id, text)

    def latex(self) -> str:
        """The statement as LaTeX, its abbreviations below it, a line each."""
        lines = [latex(self.statement_text), *(f"{latex(name)} = {latex(text)}" for name, text in self.where.items())]
        return lines[0] if len(lines) == 1 else r"\begin{gathered}" + r" \\ ".join(lines) + r"\end{gathered}"

    def to_dict(self) -> dict:
        """The record as plain Python values, as ``shuffledp claims --json`` prints it."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "kind": self.kind,
            "statement": str(self.statement_text),
            "abbreviations": {name: str(text) for name, text in self.where.items()},
            "symbols": self.kinds,
            "domain": list(self.domain),
            "slip": str(self.slip),
            "depends_on": list(self.depends_on),
            "code": self.code,
            "derived_in": self.derived_in,
            "verdict": self.verdict,
            "divergence": self.divergence,
        }

    def value(self, **point):
        """The statement at a point, 50 digits: a number, or a truth value."""
        return statements.evaluate(self.statement, point)

    def inside(self, point: dict) -> bool:
        """Whether a point satisfies every condition of the domain."""
        return all(statements.evaluate(self.read(condition), point) for condition in self.domain)

    def points(self, count: int) -> Iterator[dict]:
        """Special points first, then ``count`` reproducible random points of the tested box inside the domain.

        Positive ranges are sampled log-uniformly. Raises ``RuntimeError`` if the box misses the domain.
        """
        yield from self.special
        rng = random.Random(self.id)
        found = 0
        for _ in range(200 * count):
            if found == count:
                return
            point = {name: self._draw(rng, name, *ends) for name, ends in self.tested_on.items()}
            if self.inside(point):
                found += 1
                yield point
        if found < count:
            raise RuntimeError(f"{self.id}: only {found} of {count} points of the tested box lie in the domain")

    def _draw(self, rng: random.Random, name: str, low: float, high: float):
        if low > 0:
            value = low * (high / low) ** rng.random()
        else:
            value = low + (high - low) * rng.random()
        return round(value) if self.kinds[name] == "integer" else value


@functools.cache
def _read(claim_id: str, text: str):
    claim = record(claim_id)
    return statements.read(text, claim.symbols, claim.where)


def _record(raw: dict, source: dict) -> Record:
    raw = dict(raw)
    kinds = raw.pop("symbols", {})
    made = Record(
        id=raw.pop("id"),
        source={"key": source["key"], "version": source["version"], "where": raw.pop("place")},
        title=raw.pop("title"),
        kind=raw.pop("kind"),
        verdict=raw.pop("verdict"),
        statement_text=raw.pop("statement"),
        slip=raw.pop("slip"),
        symbols={name: sp.Symbol(name, **statements.KINDS[kind]) for name, kind in kinds.items()},
        where=raw.pop("abbreviations", {}),
        domain=tuple(raw.pop("domain", ())),
        tested_on={name: tuple(map(float, ends)) for name, ends in raw.pop("tested_on", {}).items()},
        special=tuple(raw.pop("special", ())),
        depends_on=tuple(raw.pop("depends_on", ())),
        code=raw.pop("code", None),
        derived_in=raw.pop("derived_in", None),
        no_derivation=raw.pop("no_derivation", ""),
        divergence=raw.pop("divergence", ""),
        kinds=kinds,
    )
    if raw:
        raise ValueError(f"{made.id}: unknown fields {sorted(raw)}")
    return made


@functools.cache
def _files() -> tuple[tuple[dict, tuple[Record, ...]], ...]:
    loaded = []
    for path in sorted(files(__package__).iterdir(), key=lambda p: p.name):
        if path.name.endswith(".yaml"):
            raw = yaml.safe_load(path.read_text(encoding="utf8"))
            loaded.append((raw["source"], tuple(_record(item, raw["source"]) for item in raw["claims"])))
    return tuple(sorted(loaded, key=lambda pair: pair[0]["order"]))


def sources() -> dict[str, dict]:
    """The sources by key: title, version, citation key."""
    return {source["key"]: source for source, _ in _files()}


@functools.cache
def _by_id() -> dict[str, Record]:
    return {claim.id: claim for _, claims in _files() for claim in claims}


def ledger() -> tuple[Record, ...]:
    """Every record, in the order of the sources and of each source's text."""
    return tuple(_by_id().values())


def record(claim_id: str) -> Record:
    """The record with this id; ``KeyError`` naming near misses if there is none."""
    import difflib

    try:
        return _by_id()[claim_id]
    except KeyError:
        near = difflib.get_close_matches(str(claim_id), _by_id(), n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise KeyError(f"no claim {claim_id!r} in the ledger{hint}") from None


def is_perturbed() -> bool:
    """Whether slips are being served in place of statements."""
    return bool(os.environ.get(_PERTURB))


@contextmanager
def perturbed():
    """Within this context every statement is served with its slip: checks and derivations must then fail."""
    before = os.environ.get(_PERTURB, "")
    os.environ[_PERTURB] = "1"
    try:
        yield
    finally:
        os.environ[_PERTURB] = before
