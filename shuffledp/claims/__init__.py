"""The ledger of claims: what the sources state, where, how far it is true, and the checks that say so.

`ledger` lists the records, `verify` runs the check of one, `derived` closes a derivation in a notebook,
`compare` holds a formula from outside against a claim, `recover` repairs a damaged one. The only part of the library
that imports sympy.
"""

from .derivation import NotDerived, derived
from .evidence import Evidence, as_recorded, verify
from .ledger import Record, ledger, perturbed, record, sources
from .readings import Different, Same, Unreadable, compare
from .recovery import Reading, Recovery, recover

__all__ = [
    "Different",
    "Evidence",
    "NotDerived",
    "Reading",
    "Record",
    "Recovery",
    "Same",
    "Unreadable",
    "as_recorded",
    "compare",
    "derived",
    "ledger",
    "perturbed",
    "record",
    "recover",
    "sources",
    "verify",
]
