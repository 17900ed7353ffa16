"""Every applicable bound, the exact value and the limit at one setting, side by side."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from .bounds.blanket import blanket_bennett, blanket_exact, blanket_hoeffding, blanket_mgf
from .bounds.clones import clones, clones_closed_form
from .bounds.theorem7 import theorem7
from .core.curves import PrivacyCurve
from .core.domain import DomainError, integer, real
from .core.gaussian import gdp
from .core.randomizers import GenericRandomizer, RandomizedResponse
from .core.tables import html_table, text_table
from .exact.k_ary import shuffled_krr
from .exact.randomized_response import shuffled_rr

__all__ = ["Comparison", "Row", "compare"]


@dataclass(frozen=True)
class Row:
    """One number of a comparison.

    Attributes
    ----------
    name : str
    kind : {"exact", "upper bound", "limit"}
    scope : str
        What it holds for.
    epsilon : float or None
        At the comparison's delta; None where the form does not apply.
    ratio : float or None
        Epsilon over the exact value.
    condition : str
        Why there is no value, or empty.
    seconds : float
        What it took.
    """

    name: str
    kind: str
    scope: str
    epsilon: float | None
    ratio: float | None
    condition: str
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns: the setting and its rows, the exact value first."""

    epsilon0: float
    n: int
    delta: float
    k: int
    rows: tuple[Row, ...]

    def to_dict(self) -> dict:
        """Setting and rows as plain Python values."""
        return asdict(self)

    def _table(self) -> tuple[str, list[tuple[str, object, str]]]:
        title = f"epsilon at epsilon0 = {self.epsilon0:g}, n = {self.n:,}, delta = {self.delta:g}, k = {self.k}"
        rows = []
        for row in self.rows:
            ratio = f"{row.ratio:8.4g} x exact" if row.ratio is not None else ""
            note = row.condition or "  ".join(part for part in (ratio, row.kind, row.scope) if part)
            rows.append((row.name, row.epsilon, note))
        return title, rows

    def __str__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def compare(epsilon0, n, delta, k=None) -> Comparison:
    """Every bound that applies, the exact value and the Gaussian limit at one setting.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; in (0, 230].
    n : int
        Number of users, at least 2.
    delta : float
        In (0, 1).
    k : int, optional
        Size of the alphabet of randomized response, at least 2; 2 by default.

    Returns
    -------
    Comparison
        The first row is exact: k-ary randomized response, for binary the larger direction with all others alike, for
        k >= 3 with all others at a third symbol. No bound that holds for every randomizer can be below it. The Gaussian
        limit is not a bound.

    Raises
    ------
    DomainError
        If an argument is out of range. A single form that does not apply at the setting is a row without a value.
    """
    epsilon0 = real("epsilon0", epsilon0, above=0, at_most=230)
    n = integer("n", n, at_least=2)
    delta = real("delta", delta, above=0, below=1)
    k = 2 if k is None else integer("k", k, at_least=2)
    rr, generic = RandomizedResponse(k, epsilon0), GenericRandomizer(epsilon0)
    every, answer = "any randomizer", f"{k}-ary randomized response"

    def exact() -> PrivacyCurve:
        return shuffled_rr(epsilon0, n) if k == 2 else shuffled_krr(k, epsilon0, n)

    def theorem(form: str, valid: str = "", condition: str = "") -> Callable[[], float]:
        def value() -> float:
            result = theorem7(epsilon0, n, delta)
            if valid and not getattr(result, valid):
                raise DomainError(f"needs {condition}")
            bound = getattr(result, form)
            if bound is None:
                raise DomainError("needs n >= 3")
            return min(bound, epsilon0)

        return value

    def at_delta(make: Callable[[], PrivacyCurve]) -> Callable[[], float]:
        return lambda: make().epsilon(delta)

    limit = 2 * math.sinh(epsilon0 / 2) / math.sqrt(n)  # binary, all others alike
    forms: list[tuple[str, str, str, Callable[[], float]]] = [
        ("exact", "exact", answer, at_delta(exact)),
        ("blanket, exact expectation", "upper bound", answer, at_delta(lambda: blanket_exact(rr, n))),
        ("blanket, moment generating function", "upper bound", answer, at_delta(lambda: blanket_mgf(rr, n))),
        ("blanket, Hoeffding", "upper bound", answer, at_delta(lambda: blanket_hoeffding(rr, n))),
        ("blanket, Bennett", "upper bound", answer, at_delta(lambda: blanket_bennett(rr, n))),
        ("clones", "upper bound", every, at_delta(lambda: clones(epsilon0, n))),
        ("clones, closed form", "upper bound", every, lambda: clones_closed_form(epsilon0, n, delta)),
        ("blanket, moment generating function", "upper bound", every, at_delta(lambda: blanket_mgf(generic, n))),
        ("blanket, Hoeffding", "upper bound", every, at_delta(lambda: blanket_hoeffding(generic, n))),
        ("blanket, Bennett", "upper bound", every, at_delta(lambda: blanket_bennett(generic, n))),
        ("Theorem 7, last swap", "upper bound", f"{every}, adaptive", theorem("epsilon_last_swap")),
        ("Theorem 7, sharpened", "upper bound", f"{every}, adaptive", theorem("epsilon_sharpened")),
        ("Theorem 7, general", "upper bound", f"{every}, adaptive", theorem("epsilon_general")),
        (
            "Theorem 7, refined",
            "upper bound",
            f"{every}, adaptive",
            theorem("epsilon_refined", "refined_valid", "epsilon0 <= log(n/4)/3"),
        ),
        (
            "Theorem 7, simple",
            "upper bound",
            f"{every}, adaptive",
            theorem("epsilon_simple", "simple_valid", "n >= 1000, epsilon0 < 1/2, delta < 1/100"),
        ),
    ]
    if k == 2:
        forms.append(("Gaussian limit", "limit", f"{answer}; not a bound", at_delta(lambda: gdp(limit))))

    rows: list[Row] = []
    for name, kind, scope, value in forms:
        start = time.perf_counter()
        try:
            epsilon, condition = value(), ""
        except (DomainError, ArithmeticError) as error:
            epsilon, condition = None, str(error)
        seconds = time.perf_counter() - start
        base = rows[0].epsilon if rows else epsilon
        ratio = epsilon / base if epsilon is not None and base else None
        rows.append(Row(name, kind, scope, epsilon, ratio, condition, round(seconds, 6)))
    return Comparison(epsilon0, n, delta, k, tuple(rows))
