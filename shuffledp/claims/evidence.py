"""Checking a claim numerically: points are counted, errors and margins kept, the first failure named."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import mpmath as mp

from .ledger import EXPECTED, Record, record
from .statements import difference

__all__ = ["Evidence", "Tally", "as_recorded", "check", "verify"]


@dataclass(frozen=True)
class Evidence:
    """What a check found.

    Attributes
    ----------
    verdict : {"holds", "refuted", "unknown"}
    points : int
        How many points were really evaluated.
    worst : float
        Largest relative error where the claim is an equality, else the least relative margin of the bound.
    seconds : float
    detail : str
        What was compared, where it was tightest, and where it failed if it did.
    """

    verdict: str
    points: int
    worst: float
    seconds: float
    detail: str

    def to_dict(self) -> dict:
        """All fields by name, plain Python values."""
        return asdict(self)


class Refuted(AssertionError):
    """The first failure met by a strict tally."""


class Tally:
    """What a check writes to: each call evaluates one point. A strict one raises `Refuted` at the first failure."""

    def __init__(self, strict: bool = False):
        self.strict = strict
        self.points = 0
        self.error = None  # largest relative error so far
        self.margin = None  # (least relative margin so far, where)
        self.failure = ""
        self.doubt = ""
        self.notes: list[str] = []

    def _fail(self, what: str, at: dict) -> None:
        if not self.failure:
            self.failure = f"{what} at {_show(at)}" if at else what
        if self.strict:
            raise Refuted(self.failure)

    def equal(self, ours, theirs, rtol: float, **at) -> None:
        """Two numbers agree to relative accuracy ``rtol``."""
        self.points += 1
        gap = float(difference(ours, theirs))
        self.error = max(self.error or 0.0, gap)
        if not gap <= rtol:
            self._fail(f"{_digits(ours)} against {_digits(theirs)}", at)

    def at_most(self, low, high, **at) -> None:
        """``low <= high``; the relative margin ``1 - low/high`` is kept."""
        self.points += 1
        margin = float(1 - mp.mpf(low) / mp.mpf(high)) if high else -float(low)
        if self.margin is None or not margin >= self.margin[0]:
            self.margin = (margin, at)
        if not low <= high:
            self._fail(f"{_digits(low)} is above {_digits(high)}", at)

    def true(self, holds, **at) -> None:
        """A condition holds."""
        self.points += 1
        if not holds:
            self._fail("false", at)

    def unproved(self, why: str) -> None:
        """The points examined do not decide the claim: without a failure the verdict is "unknown"."""
        self.doubt = why

    def note(self, text: str) -> None:
        """Something a reader of the evidence should know."""
        self.notes.append(text)

    def evidence(self, seconds: float) -> Evidence:
        """The verdict. A check that evaluated no point proves nothing: "unknown"."""
        verdict = "refuted" if self.failure else "unknown" if self.doubt or not self.points else "holds"
        parts = list(self.notes)
        if self.error is not None:
            parts.append(f"largest relative error {self.error:.1e}")
        if self.margin is not None:
            parts.append(
                f"least margin {self.margin[0]:.3g}" + (f" at {_show(self.margin[1])}" if self.margin[1] else "")
            )
        if self.failure:
            parts.insert(0, f"fails: {self.failure}")
        elif self.doubt:
            parts.insert(0, self.doubt)
        worst = self.error if self.error is not None else self.margin[0] if self.margin is not None else math.nan
        return Evidence(verdict, self.points, worst, round(seconds, 3), "; ".join(parts))


def _digits(x) -> str:
    return mp.nstr(mp.mpf(x), 8)


def _show(at: dict) -> str:
    return ", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}" for k, v in at.items())


_CHECKS: dict[str, Callable[[Record, Tally], None]] = {}


def check(claim_id: str):
    """Register a function ``(claim, tally)`` as the check of a claim; one function per claim."""

    def register(function):
        if claim_id in _CHECKS:
            raise ValueError(f"two checks for {claim_id}")
        _CHECKS[claim_id] = function
        return function

    return register


def checks() -> dict[str, Callable[[Record, Tally], None]]:
    """Every check by claim id."""
    importlib.import_module(f"{__package__}.checks")
    return dict(_CHECKS)


def verify(claim_id: str) -> Evidence:
    """Run the check of one claim.

    Parameters
    ----------
    claim_id : str
        An id of the ledger.

    Returns
    -------
    Evidence
        ``verdict`` is about the statement in the ledger; a claim recorded as false is expected to be "refuted".

    Raises
    ------
    KeyError
        If there is no such claim, or it has no check.
    """
    claim = record(claim_id)
    function = checks()[claim.id]
    tally = Tally()
    start = time.perf_counter()
    function(claim, tally)
    return tally.evidence(time.perf_counter() - start)


def as_recorded(claim: Record, evidence: Evidence) -> bool:
    """Whether a check found what the ledger says of the claim."""
    return evidence.points > 0 and evidence.verdict == EXPECTED[claim.verdict]
