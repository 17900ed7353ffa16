"""The last line of a derivation: what was derived is what the ledger states."""

from __future__ import annotations

import html
from dataclasses import dataclass

from . import statements
from .ledger import Record, is_perturbed, record

__all__ = ["Derived", "NotDerived", "derived"]

_POINTS = 12


class NotDerived(AssertionError):
    """The expression is not the claim's statement."""


@dataclass(frozen=True)
class Derived:
    """The stamp a derivation leaves in its notebook: which claim, and how the equality was established."""

    claim: Record
    how: str

    def __str__(self) -> str:
        return f"derived: {self.claim.id} ({self.how}; 40 digits at {_POINTS} points; the slip is rejected)"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        claim = self.claim
        return (
            f'<div class="claim" id="derived-{claim.anchor}">'
            f'<a class="claim-id" href="../book/ledger.html#{claim.anchor}"><code>{html.escape(claim.id)}</code></a> '
            f"derived: equal to the ledger's statement {self.how}, and to 40 digits at {_POINTS} points; "
            "the ledger's slip is rejected</div>"
        )


def derived(claim_id: str, expr) -> Derived:
    """Assert that ``expr`` is the statement of a claim, and leave a stamp that says so.

    Parameters
    ----------
    claim_id : str
        An id of the ledger.
    expr : sympy expression or relation
        The end of a derivation; symbols are matched with the claim's by name.

    Returns
    -------
    Derived
        Displayed by the notebook; the tests look for it in the stored output.

    Raises
    ------
    NotDerived
        If ``expr`` differs from the statement, or cannot be told from the claim's slip.
    KeyError
        If there is no such claim, or ``expr`` has a symbol the claim does not declare.
    """
    claim = record(claim_id)
    points = [dict(point) for _, point in zip(range(_POINTS), claim.points(_POINTS), strict=False)]
    how = statements.same(expr, claim.statement, claim.symbols, points)
    if how is None:
        raise NotDerived(f"{claim_id}: the ledger states {claim.statement}, the derivation ends with {expr}")
    if not is_perturbed() and statements.same(expr, claim.read(claim.slip), claim.symbols, points) is not None:
        raise NotDerived(f"{claim_id}: the derivation does not tell the statement from the slip {claim.slip}")
    return Derived(claim, how)
