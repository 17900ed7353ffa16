"""Reading a damaged formula: which square roots, superscripts and fraction bars must be put back to get a claim?

Text copied from a PDF keeps the characters and loses what was drawn: radicals, raised exponents, fraction bars. All
readings of such a text are built in a chart over its tokens. An entry of the chart is a function, known by its values
at a few random points, so that readings that are the same function are one entry, kept with its cheapest repairs. The
sums of the whole text are never written out: its longest summand is sorted and searched for what the others leave over.
What agrees with the claim is confirmed like any formula.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from sympy.logic.boolalg import Boolean

from .ledger import Record, record
from .readings import (
    FUNCTIONS,
    Same,
    Tree,
    Unreadable,
    compare_tree,
    declared,
    normalise,
    of_statement,
    right_hand_side,
    show,
    value_at,
    with_abbreviations,
)

__all__ = ["Reading", "Recovery", "recover"]

_LONGEST = 45  # tokens
_RADICALS = 2  # lost ones
_FIRST, _REPAIRS = 2, 4  # in one summand: tried first, and at most
_PAIRS = 4 * 10**6  # of readings put together, and sums searched: beyond this the search is given up
_OVERHEAD = 500  # of one such step, in pairs
_SUMMANDS = 6
_BLOCK = 10**6  # sums held at once
_POINTS = 6
_EXPONENT = 7  # tokens of a lost superscript, at most
_NUMPY = {
    "exp": np.exp, "log": np.log, "ln": np.log, "sqrt": np.sqrt, "cbrt": np.cbrt, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "abs": np.abs, "log2": np.log2, "log10": np.log10,
}  # fmt: skip
_WORD = re.compile(r"\s*(?:(?P<number>\d*\.\d+|\d)|(?P<letters>[A-Za-z]+)|(?P<sign>\*\*|[-+*/^()\[\]{}]))", re.ASCII)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Reading:
    """One reading of a damaged text: the formula, what was put back to get it, and how it was found to be the claim."""

    formula: str
    repairs: tuple[str, ...]
    how: str


@dataclass(frozen=True)
class Recovery:
    """What `recover` found.

    Attributes
    ----------
    id : str
    readings : tuple of Reading
        Those that are the claim's statement; empty if none is.
    examined : int
        Different functions that the text can be read as with as many repairs in each of its summands.
    altered : tuple of (str, bool)
        Altered forms of the claim, and whether the same text could be read as them: how discriminating the answer is.
    """

    id: str
    readings: tuple[Reading, ...]
    examined: int
    altered: tuple[tuple[str, bool], ...]

    def __str__(self) -> str:
        if not self.readings:
            return f"Not recovered: none of {self.examined:,} readings is {self.id}"
        lines = [f"Recovered: {self.id}"]
        for reading in self.readings:
            lines.append(f"  {reading.formula}")
            lines += [f"    put back: {repair}" for repair in reading.repairs] or ["    nothing had to be put back"]
            lines.append(f"    {reading.how}")
        lines.append(f"  {self.examined - len(self.readings):,} rival readings examined")
        for form, readable in self.altered:
            lines.append(f"  altered claim {'ALSO' if readable else 'not'} readable from this text: {form}")
        return "\n".join(lines)

    def to_dict(self) -> dict:
        """The answer as plain Python values."""
        return {"answer": "recovered" if self.readings else "not recovered", **asdict(self)}


def recover(claim_id: str, text: str) -> Recovery | Unreadable:
    r"""The readings of a damaged text that are a claim's statement, with the repairs they need.

    Parameters
    ----------
    claim_id : str
        An id of the ledger whose statement is an expression.
    text : str
        The formula as a text layer has it, for example ``"12ε0 log(1/δ)/n"``: square roots gone (at most 2), exponents
        on the line ("n1/3", "eε0", "(1 - γ)2"), fraction bars gone. Brackets, signs and function names must be there.
        At most 45 tokens. Of "x = ..." the right-hand side is read.

    Returns
    -------
    Recovery or Unreadable
        Never raised, always returned. A `Recovery` without readings says how many were examined.

    Raises
    ------
    KeyError
        If there is no such claim.
    """
    claim = record(claim_id)
    try:
        if isinstance(claim.statement, Boolean):
            raise Unreadable(f"{claim_id} states a relation, not a formula: {claim.statement_text}")
        names = declared(claim)
        truth = of_statement(claim)
        text = right_hand_side(normalise(text))
        return _recover(claim, truth, _Tokens(text, names))
    except Unreadable as answer:
        return answer


def _recover(claim: Record, truth: Tree, tokens: _Tokens) -> Recovery:
    points = _random_points(claim, truth)
    wanted = [("", truth), *_altered(truth)]
    targets = [_at(tree, points) for _, tree in wanted]
    known = {name: np.array([float(p[name]) for p in points]) for name in points[0]}
    budget = _Budget()
    for repairs in range(_FIRST, _REPAIRS + 1):
        with np.errstate(all="ignore"):
            chart = _Chart(tokens, known, repairs, budget)
            whole = chart.whole()
            found = [chart.match(whole, target) for target in targets]
        if found[0] is not None:
            break
    examined = sum(math.prod(len(table) for _, table in parts) for parts in whole)
    altered = tuple((form, hit is not None) for (form, _), hit in zip(wanted[1:], found[1:], strict=True))
    if found[0] is None:
        return Recovery(claim.id, (), examined, altered)
    tree, put_back = found[0]
    answer = compare_tree(claim, tree)
    if not isinstance(answer, Same):  # agreement at random points alone
        return Recovery(claim.id, (), examined, altered)
    return Recovery(claim.id, (Reading(show(tree), tuple(put_back), answer.how),), examined, altered)


def _random_points(claim: Record, truth: Tree) -> list[dict]:
    """Points with moderate values, inside the claim's range or not: an identity of functions holds at any of them."""
    rng = random.Random(claim.id)
    ends = {"integer": (2.2, 9.1), "positive": (0.11, 0.94), "real": (0.11, 0.94)}
    points = []
    for _ in range(50 * _POINTS):
        point = {name: rng.uniform(*ends[kind]) for name, kind in claim.kinds.items()}
        try:
            full = with_abbreviations(claim, point)
            if 1e-100 < abs(float(value_at(truth, full))) < 1e100:
                points.append(full)
        except (Unreadable, TypeError, ValueError, ZeroDivisionError):
            continue
        if len(points) == _POINTS:
            return points
    raise Unreadable("the claim has no finite real values at random points")


def _at(tree: Tree, points: list[dict]) -> np.ndarray | None:
    try:
        return np.array([float(value_at(tree, point)) for point in points])
    except Unreadable:
        return None


def _altered(truth: Tree) -> list[tuple[str, Tree]]:
    """Three untrue forms near the claim: one of its numbers raised by one, or else a plain factor or power."""
    forms = [*_raised(truth), ("*", ("num", "3"), truth), ("^", truth, ("num", "3")), ("/", truth, ("num", "5"))]
    step = max((len(forms) - 3) // 3, 1)
    return [(show(tree), tree) for tree in forms[::step][:3]]


def _raised(tree: Tree) -> Iterator[Tree]:
    if tree[0] == "num" and tree[1].isdigit():
        yield ("num", str(int(tree[1]) + 1))
    for place, part in enumerate(tree):
        if isinstance(part, tuple):
            for raised in _raised(part):
                yield (*tree[:place], raised, *tree[place + 1 :])


class _Tokens:
    """Single digits, declared words or parts of them, signs; and what each run of them can stand for."""

    def __init__(self, text: str, names: set[str]):
        self.text, self.names = text, names
        self.words: list[str] = []
        self.places: list[int] = []
        letters = {re.match("[A-Za-z]*", name)[0] for name in names} | set(FUNCTIONS) | {"e", "eps", "epsilon", "pi"}
        position, end = 0, len(text.rstrip())
        text = text.replace("_", " ")
        while position < end:
            match = _WORD.match(text, position)
            if not match:
                raise Unreadable(f"cannot read {text[position:].lstrip()[0]!r}", position, text)
            kind = match.lastgroup
            start = match.start(kind)
            for part in self._cut(match[kind], letters, start) if kind == "letters" else [match[kind]]:
                self.words.append("^" if part == "**" else part)
                self.places.append(start)
                start += len(part)
            position = match.end()
        if not self.words:
            raise Unreadable("there is no formula", 0, text)
        if len(self.words) > _LONGEST:
            raise Unreadable(f"the text has {len(self.words)} tokens, more than {_LONGEST}")
        self.partner = self._brackets()

    def _cut(self, word: str, letters: set[str], start: int) -> list[str]:
        parts = []
        while word:
            size = next((k for k in range(len(word), 0, -1) if word[:k] in letters), 0)
            if not size:
                raise Unreadable(
                    f"undeclared name {word!r} (declared: {', '.join(sorted(self.names))})", start, self.text
                )
            parts.append(word[:size])
            word, start = word[size:], start + size
        return parts

    def _brackets(self) -> dict[int, int]:
        partner, stack = {}, []
        for i, word in enumerate(self.words):
            if word in _OPEN:
                stack.append(i)
            elif word in _CLOSE:
                if not stack or _OPEN.index(self.words[stack[-1]]) != _CLOSE.index(word):
                    raise Unreadable(f"unexpected {word!r}", self.places[i], self.text)
                partner[stack.pop()] = i
        if stack:
            raise Unreadable("a bracket is not closed", self.places[stack[-1]], self.text)
        return partner

    def glued(self, i: int) -> bool:
        """Whether tokens i - 1 and i are digits of one run."""
        a, b = self.words[i - 1], self.words[i]
        return a[-1].isdigit() and b[0].isdigit() and self.places[i] == self.places[i - 1] + len(a)

    def atom(self, i: int, j: int) -> Tree | None:
        """Tokens i to j as one number or one declared name."""
        words = self.words[i:j]
        if all(word[-1].isdigit() for word in words):
            return ("num", "".join(words)) if all(self.glued(k) for k in range(i + 1, j)) else None
        if not words[0].isalpha() or not all(word.isdigit() for word in words[1:]):
            return None
        word = "".join(words)
        spelled = (word, re.sub(r"^(eps|e)(?=\d)", "epsilon", word), re.sub(r"^eps$", "epsilon", word))
        name = next((one for one in spelled if one in self.names), word if word in ("e", "pi") else None)
        return None if name is None else ("name", name)


class _Budget:
    """What a search may cost; beyond it the search is given up, loudly."""

    def __init__(self):
        self.left = _PAIRS

    def spend(self, pairs: int) -> None:
        self.left -= pairs
        if self.left < 0:
            raise Unreadable("the text has too many readings to examine: try one summand or one factor of it")


class _Table:
    """The functions that a span can be read as: values, repairs, lost roots, and where each comes from."""

    def __init__(self, budget: _Budget):
        self.budget = budget
        self.values = np.empty((0, _POINTS))
        self.cost = self.roots = self.source = self.left = self.right = np.empty(0, np.int64)
        self.rules: list[tuple] = []  # (operation, left table, right table)
        self._new: list[tuple] = []

    def add(self, rule: tuple, values, cost, roots, left, right) -> None:
        """Readings from one rule; merged by `settle`."""
        sound = np.all(np.isfinite(values) & (np.abs(values) > 1e-150) & (np.abs(values) < 1e150), axis=1)
        if sound.any():
            source = np.full(int(sound.sum()), len(self.rules))
            self.rules.append(rule)
            self._new.append((values[sound], cost[sound], roots[sound], source, left[sound], right[sound]))

    def leaf(self, tree: Tree, values: np.ndarray) -> None:
        one = np.zeros(1, np.int64)
        self.add(("leaf", tree, None), values[None], one, one, one, one)

    def unary(self, operation: str, inner: _Table, values, cost: int = 0, roots: int = 0, most: int = 99) -> None:
        """Every reading of another table under an operation."""
        keep = np.flatnonzero((inner.cost + cost <= most) & (inner.roots + roots <= _RADICALS))
        if keep.size:
            self.add(
                (operation, inner, None), values(inner.values[keep]), inner.cost[keep] + cost,
                inner.roots[keep] + roots, keep, keep,
            )  # fmt: skip

    def binary(self, operation: str, left: _Table, right: _Table, values, cost: int = 0, most: int = 99) -> None:
        """Every pair of readings of two tables under an operation."""
        if not (left.cost.size and right.cost.size):
            return
        # both tables are sorted by cost: each reading on the left goes with the first so many on the right
        fits = np.searchsorted(right.cost, most - cost - left.cost, "right")
        self.budget.spend(int(fits.sum()) + _OVERHEAD)
        i = np.repeat(np.arange(len(left)), fits)
        j = np.arange(i.size) - np.repeat(np.cumsum(fits) - fits, fits)
        kept = left.roots[i] + right.roots[j] <= _RADICALS
        i, j = i[kept], j[kept]
        if i.size:
            pairs = values(left.values[i], right.values[j])
            self.add(
                (operation, left, right),
                pairs,
                left.cost[i] + right.cost[j] + cost,
                left.roots[i] + right.roots[j],
                i,
                j,
            )

    def settle(self) -> _Table:
        """Merge equal functions, the cheapest first."""
        if self._new:
            old = (self.values, self.cost, self.roots, self.source, self.left, self.right)
            columns = [np.concatenate(column) for column in zip(old, *self._new, strict=True)]
            order = np.argsort(columns[1] * 8 + columns[2], kind="stable")
            mantissa, exponent = np.frexp(columns[0][order, :3])
            rounded = np.round(mantissa * 2**34).astype(np.int64) + exponent.astype(np.int64) * 2**36
            _, first = np.unique(rounded @ np.array([1, 0x9E3779B97F4B, 0x5851F42D4C95]), return_index=True)
            kept = order[np.sort(first)]
            self.values, self.cost, self.roots, self.source, self.left, self.right = (c[kept] for c in columns)
            self._new = []
        return self

    def __len__(self) -> int:
        return len(self.cost)


class _Chart:
    """Tables of every span: factors, terms (products and quotients), and sums where a bracket holds one."""

    def __init__(self, tokens: _Tokens, known: dict[str, np.ndarray], repairs: int, budget: _Budget):
        self.tokens, self.known, self.most, self.budget = tokens, known, repairs, budget
        self.size = len(tokens.words)
        self.factors: dict[tuple[int, int], _Table] = {}
        self.terms: dict[tuple[int, int], _Table] = {}
        self.inside = {(i + 1, j): _Table(self.budget) for i, j in tokens.partner.items()}
        depth = np.cumsum([0] + [(w in _OPEN) - (w in _CLOSE) for w in tokens.words])
        for length in range(1, self.size + 1):
            for i in range(self.size - length + 1):
                j = i + length
                if depth[i] == depth[j] and depth[i : j + 1].min() == depth[i]:
                    self._span(i, j)

    def _span(self, i: int, j: int) -> None:
        factors, terms = _Table(self.budget), _Table(self.budget)
        words = self.tokens.words
        if words[i] not in "+-*/^" and words[j - 1] not in "+-*/^":
            self._atoms(i, j, factors)
            self._powers(i, j, factors)
            factors.settle()
            terms.unary("=", factors, lambda v: v)
            self._products(i, j, terms)
            terms.settle()
            # a lost root over the whole span makes it a factor
            factors.unary("lost root", terms, np.sqrt, 1, 1, self.most)
            factors.settle()
            terms.unary("=", factors, lambda v: v)
            terms.settle()
        self.factors[i, j], self.terms[i, j] = factors, terms
        if (i, j) in self.inside:
            table = self.inside[i, j]
            for parts in self._sums(i, j):
                self._add_up(parts, table)
            table.settle()

    def _add_up(self, parts: list[tuple[str, _Table]], out: _Table) -> None:
        """Every sum of readings of these signed terms."""
        sign, first = parts[0]
        for k, (next_sign, term) in enumerate(parts[1:], 1):
            total = out if k == len(parts) - 1 else _Table(self.budget)
            if k == 1 and sign == "-":
                first = _negated(first)
            total.binary(next_sign, first, term, _OPERATIONS[next_sign], most=self.most)
            first = total if total is out else total.settle()
        if len(parts) == 1:
            out.unary("neg" if sign == "-" else "=", first, np.negative if sign == "-" else np.positive)

    def _atoms(self, i: int, j: int, out: _Table) -> None:
        words = self.tokens.words
        tree = self.tokens.atom(i, j)
        if tree is not None:
            out.leaf(tree, self._leaf_values(tree))
        if self.tokens.partner.get(i) == j - 1:
            out.unary("=", self.inside[i + 1, j - 1], lambda v: v)
            out.unary("lost root", self.inside[i + 1, j - 1], np.sqrt, 1, 1, self.most)
        if words[i] in _NUMPY and words[i] not in self.tokens.names and j > i + 1 and words[i + 1] != "^":
            # the argument of a function: a bracket, or one number or name
            if self.tokens.partner.get(i + 1) == j - 1:
                out.unary(f"call {words[i]}", self.inside[i + 2, j - 1], _NUMPY[words[i]])
            elif self.tokens.atom(i + 1, j) is not None:
                inner = _Table(self.budget)
                inner.leaf(self.tokens.atom(i + 1, j), self._leaf_values(self.tokens.atom(i + 1, j)))
                out.unary(f"call {words[i]}", inner.settle(), _NUMPY[words[i]])

    def _leaf_values(self, tree: Tree) -> np.ndarray:
        kind, word = tree
        if kind == "name" and word in self.known:
            return self.known[word]
        return np.full(_POINTS, {"e": np.e, "pi": np.pi}.get(word) or float(word))

    def _powers(self, i: int, j: int, out: _Table) -> None:
        words = self.tokens.words
        for k in range(i + 1, j):
            base = self.factors.get((i, k))
            if base is None or not len(base):
                continue
            start, lost = (k + 1, 0) if words[k] == "^" else (k, 1)
            minus = words[start] == "-"
            start += minus
            if start >= j or (lost and j - start > _EXPONENT):
                continue
            table = (self.terms if lost else self.factors).get((start, j))
            if table is None:
                continue
            sign = -1.0 if minus else 1.0
            name = ("lost power" if lost else "^") + (" -" if minus else "")
            out.binary(name, base, table, lambda a, b, s=sign: np.power(a, s * b), lost, self.most)

    def _products(self, i: int, j: int, out: _Table) -> None:
        words = self.tokens.words
        for k in range(i + 1, j):
            left = self.terms.get((i, k))
            if left is None or not len(left):
                continue
            if words[k] in "*/" and (k + 1, j) in self.factors:
                out.binary(words[k], left, self.factors[k + 1, j], _OPERATIONS[words[k]], 0, self.most)
                if words[k] == "/":
                    out.binary("long /", left, self.terms[k + 1, j], np.divide, 1, self.most)
            elif (k, j) in self.factors and not self.tokens.glued(k):
                out.binary("*", left, self.factors[k, j], np.multiply, 0, self.most)
                out.binary("lost /", left, self.terms[k, j], np.divide, 1, self.most)

    def _sums(self, i: int, j: int, left: int = _SUMMANDS) -> Iterator[list[tuple[str, _Table]]]:
        """Every way to cut a span into signed terms."""
        words = self.tokens.words
        if left == 0:
            raise Unreadable(f"the text has more than {_SUMMANDS} summands: try some of them")
        sign, start = (words[i], i + 1) if words[i] in "+-" else ("+", i)
        if len(self.terms.get((start, j), ())):
            yield [(sign, self.terms[start, j])]
        for k in range(start + 1, j - 1):
            if words[k] in "+-" and len(self.terms.get((start, k), ())):
                for rest in self._sums(k, j, left - 1):
                    yield [(sign, self.terms[start, k]), *rest]

    def whole(self) -> list[list[tuple[str, _Table]]]:
        """Every way to cut the whole text into signed terms; their sums are never written out."""
        cuts = list(self._sums(0, self.size))
        for parts in cuts:
            sizes = [len(table) for _, table in parts]
            self.budget.spend(math.prod(sizes) // max(sizes))
        return cuts

    def match(self, whole: list[list[tuple[str, _Table]]], target: np.ndarray | None) -> tuple[Tree, list[str]] | None:
        """The cheapest reading with these values, and its repairs."""
        found = [
            (sum(int(table.cost[i]) for (_, table), i in zip(parts, chosen, strict=True)), number, chosen)
            for number, parts in enumerate(whole if target is not None else ())
            for chosen in _agreeing(parts, target)
        ]
        if not found:
            return None
        _, number, chosen = min(found)
        repairs: list[str] = []
        tree = None
        for (sign, table), index in zip(whole[number], chosen, strict=True):
            term = _tree(table, index, repairs)
            tree = (sign, tree, term) if tree else ("neg", term) if sign == "-" else term
        return tree, repairs


def _negated(table: _Table) -> _Table:
    out = _Table(table.budget)
    out.unary("neg", table, np.negative)
    return out.settle()


def _agreeing(parts: list[tuple[str, _Table]], target: np.ndarray) -> Iterator[tuple[int, ...]]:
    """One entry of every table such that their signed sum has these values; the longest table is searched."""
    signs = [-1.0 if sign == "-" else 1.0 for sign, _ in parts]
    values = [sign * table.values for sign, (_, table) in zip(signs, parts, strict=True)]
    longest = max(range(len(parts)), key=lambda k: len(values[k]))
    others = [k for k in range(len(parts)) if k != longest]
    order = np.argsort(values[longest][:, 0])
    searched = np.append(values[longest][order, 0], np.inf)
    by_value = [np.argsort(-values[k][:, 0]) for k in others]  # neighbouring sums are then searched one after another
    shape = tuple(len(values[k]) for k in others)
    total = math.prod(shape)
    for start in range(0, total, _BLOCK):
        places = np.unravel_index(np.arange(start, min(start + _BLOCK, total)), shape) if shape else ()
        chosen = [ranks[place] for ranks, place in zip(by_value, places, strict=True)]
        columns = [values[k][index, 0] for k, index in zip(others, chosen, strict=True)]
        rest = np.broadcast_to(target[0] - sum(columns), (min(_BLOCK, total - start),))
        room = 1e-9 * (np.abs(target[0]) + sum(np.abs(column) for column in columns))
        low = np.searchsorted(searched, rest - room)
        for row in np.flatnonzero(searched[low] <= rest + room):
            for last in order[low[row] : np.searchsorted(searched, (rest + room)[row], "right")]:
                pick = [0] * len(parts)
                pick[longest] = int(last)
                for k, index in zip(others, chosen, strict=True):
                    pick[k] = int(index[row])
                terms = np.array([values[k][i] for k, i in enumerate(pick)])
                if np.all(np.abs(terms.sum(axis=0) - target) <= 1e-9 * np.abs(terms).sum(axis=0)):
                    yield tuple(pick)


_OPERATIONS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


def _tree(table: _Table, index: int, repairs: list[str]) -> Tree:
    """The formula of an entry; what had to be put back is appended to ``repairs``."""
    operation, left, right = table.rules[table.source[index]]
    if operation == "leaf":
        return left
    a = _tree(left, int(table.left[index]), repairs)
    if right is None:
        if operation == "lost root":
            repairs.append(f"a square root over {show(a)}")
            return ("call", "sqrt", a)
        if operation.startswith("call "):
            word = operation.removeprefix("call ")
            return ("call", "log" if word == "ln" else word, a)
        return ("neg", a) if operation == "neg" else a
    b = _tree(right, int(table.right[index]), repairs)
    if operation.endswith(" -"):
        operation, b = operation.removesuffix(" -"), ("neg", b)
    if operation == "lost power":
        repairs.append(f"{show(b)} as an exponent of {show(a)}")
    if operation == "lost /":
        repairs.append(f"a fraction bar between {show(a)} and {show(b)}")
    if operation == "long /":
        repairs.append(f"the whole of {show(b)} below the fraction bar")
    operation = {"lost power": "^", "lost /": "/", "long /": "/"}.get(operation, operation)
    return ("call", "exp", b) if (operation, a) == ("^", ("name", "e")) else (operation, a, b)
