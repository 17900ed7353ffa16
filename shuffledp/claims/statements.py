"""Statements of claims as sympy expressions: read from a record, evaluated at 50 digits, compared."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import mpmath as mp
import sympy as sp
from sympy.logic.boolalg import Boolean, BooleanFunction
from sympy.parsing.sympy_parser import parse_expr
from sympy.printing.pycode import MpmathPrinter

__all__ = ["KINDS", "difference", "evaluate", "read", "same"]

DIGITS = 50

# what a symbol's kind in a record means
KINDS = {
    "positive": {"positive": True},
    "real": {"real": True},
    "integer": {"integer": True, "positive": True},
}


def _Phi(x):
    """Standard normal distribution function."""
    return sp.erfc(-x / sp.sqrt(2)) / 2


def _phi(x):
    """Standard normal density."""
    return sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)


_WORDS = {name: getattr(sp, name) for name in (
    "exp log sqrt sinh cosh tanh Abs Min Max Sum Integral Rational Integer Float pi E factorial binomial LambertW "
    "And Or Not Implies Eq Le Lt Ge Gt Piecewise floor Symbol true false"
).split()} | {"Phi": _Phi, "phi": _phi}  # fmt: skip


class _Printer(MpmathPrinter):
    """Sums run over numbers of full precision, not over Python integers; a binomial outside its triangle is 0."""

    def _print_binomial(self, expr):
        return f"binomial({', '.join(map(self._print, expr.args))})"

    def _print_Sum(self, expr):
        term = self._print(expr.function)
        loops = (
            f"for {self._print(i)} in map(mpf, range(int({self._print(low)}), int({self._print(high)}) + 1))"
            for i, low, high in reversed(expr.limits)
        )
        return f"fsum({term} {' '.join(loops)})"


def read(text: str, symbols: Mapping[str, sp.Symbol], where: Mapping[str, str] | None = None):
    """Parse a record's statement; ``where`` holds abbreviations, each in terms of the symbols and those before it."""
    names = dict(symbols)
    for name, definition in (where or {}).items():
        names[name] = parse_expr(str(definition), local_dict=names, global_dict=_WORDS)
    return parse_expr(str(text), local_dict=names, global_dict=_WORDS)


@functools.lru_cache(maxsize=4096)
def _arguments(statement) -> tuple[sp.Symbol, ...]:
    return tuple(sorted(statement.free_symbols, key=lambda s: s.name))


@functools.lru_cache(maxsize=4096)
def _function(statement):
    """The statement as a function of its symbols in alphabetical order."""
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    # a subexpression with the index of a sum, or the variable of an integral, cannot be computed outside it
    shared = not statement.has(sp.Sum, sp.Integral)
    return sp.lambdify(_arguments(statement), statement, "mpmath", cse=shared, printer=printer)


def evaluate(statement, point: Mapping[str, object]):
    """The statement at a point, with `DIGITS` digits: a number, or a truth value for a relation.

    Floats stand for the exact doubles they are.
    """
    if statement in (sp.true, sp.false):
        return bool(statement)
    if isinstance(statement, BooleanFunction):
        values = [evaluate(part, point) for part in statement.args]
        if isinstance(statement, sp.Implies):
            return not values[0] or values[1]
        if isinstance(statement, sp.Not):
            return not values[0]
        return (all if isinstance(statement, sp.And) else any)(values)
    if isinstance(statement, sp.core.relational.Relational):
        low, high = (evaluate(side, point) for side in statement.args)
        return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high, "==": low == high}[
            statement.rel_op
        ]
    with mp.workdps(DIGITS):
        return +mp.mpf(_function(statement)(*(mp.mpf(point[s.name]) for s in _arguments(statement))))


def difference(ours, theirs) -> mp.mpf:
    """Relative difference of two numbers (absolute where both are below 1e-300)."""
    with mp.workdps(DIGITS):
        scale = max(abs(mp.mpf(ours)), abs(mp.mpf(theirs)))
        return abs(mp.mpf(ours) - theirs) / scale if scale > mp.mpf("1e-300") else scale * 0


def _rename(expr, symbols: Mapping[str, sp.Symbol]):
    unknown = sorted(s.name for s in expr.free_symbols if s.name not in symbols)
    if unknown:
        raise KeyError(f"undeclared symbols: {', '.join(unknown)}")
    return expr.xreplace({s: symbols[s.name] for s in expr.free_symbols})


def _logical(expr) -> bool:
    return isinstance(expr, Boolean) and not isinstance(expr, sp.Symbol)  # sympy counts a symbol among both


def same(expr, statement, symbols: Mapping[str, sp.Symbol], points) -> str | None:
    """How ``expr`` was found equal to ``statement``, or None if it differs.

    Symbols are matched by name. Numbers must agree to 40 digits at every point; on top of that the difference is
    simplified, and "symbolically" is said only where sympy reduces it to zero. Relations must be of the same form, side
    by side.
    """
    expr = _rename(sp.sympify(expr), symbols)
    if _logical(statement):
        if expr in (sp.true, sp.false) or type(expr) is not type(statement) or len(expr.args) != len(statement.args):
            return None
        parts = [same(a, b, symbols, points) for a, b in zip(expr.args, statement.args, strict=True)]
        return None if None in parts else min(parts, key=lambda how: how == "symbolically")
    if _logical(expr) or expr.has(sp.nan, sp.zoo):
        return None
    if any(difference(evaluate(expr, p), evaluate(statement, p)) > mp.mpf("1e-40") for p in points):
        return None
    if any(side.has(sp.Sum, sp.Integral) for side in (expr, statement)):
        return "numerically"
    gap = expr - statement
    zero = gap == 0 or sp.expand(gap) == 0 or sp.simplify(sp.expand(gap.rewrite(sp.exp), force=True)) == 0
    return "symbolically" if zero else "numerically"
