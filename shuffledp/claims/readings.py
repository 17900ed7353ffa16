"""Reading a formula from outside, in plain text or LaTeX, and comparing it with a claim.

Outside text is never evaluated: it is tokenised and parsed here, into trees of numbers, declared names, the four
operations, powers and a short list of functions. What is not understood, or can be understood in two ways, is an error
that says where.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import mpmath as mp
import sympy as sp
from sympy.logic.boolalg import Boolean

from .ledger import Record, record
from .statements import evaluate, same

__all__ = ["Different", "Same", "Unreadable", "compare", "from_latex", "parse"]

_LONGEST = 2000  # characters
_DEEPEST = 40  # nested brackets
_DIGITS, _POINTS, _FEW = 60, 24, 6  # few where the statement has a sum or an integral
_AGREE = mp.mpf(10) ** -35  # of 60 and 50 digits some are lost where terms cancel
_HUGE = mp.mpf(10) ** 400  # e^x is not evaluated beyond this x

_GREEK = {
    "ε": "epsilon", "ϵ": "epsilon", "δ": "delta", "γ": "gamma", "α": "alpha", "π": "pi", "σ": "sigma", "μ": "mu",
    "λ": "lam", "Δ": "Delta", "Φ": "Phi", "φ": "phi", "ϕ": "phi", "θ": "theta", "τ": "tau",
}  # fmt: skip
_SIGNS = {"−": "-", "–": "-", "‐": "-", "·": "*", "⋅": "*", "×": "*", "∗": "*", "÷": "/", "⁄": "/", "√": " sqrt "}
FUNCTIONS = {
    "exp": sp.exp, "log": sp.log, "ln": sp.log, "sqrt": sp.sqrt, "cbrt": sp.cbrt, "sinh": sp.sinh, "cosh": sp.cosh,
    "tanh": sp.tanh, "abs": sp.Abs, "log2": lambda x: sp.log(x) / sp.log(2), "log10": lambda x: sp.log(x) / sp.log(10),
    "Phi": lambda x: sp.erfc(-x / sp.sqrt(2)) / 2,
}  # fmt: skip
_NUMERIC = {
    "exp": mp.exp, "log": mp.log, "ln": mp.log, "sqrt": mp.sqrt, "cbrt": mp.cbrt, "sinh": mp.sinh, "cosh": mp.cosh,
    "tanh": mp.tanh, "abs": abs, "log2": lambda x: mp.log(x, 2), "log10": mp.log10, "Phi": mp.ncdf,
}  # fmt: skip
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?P<power>[eE][+-]\d+)?)|(?P<name>[A-Za-z]+(?:_?\d+|_[A-Za-z](?![A-Za-z]))?)"
    r"|(?P<sign>\*\*|[-+*/^()\[\]{}]))",
    re.ASCII,
)
_CLOSE = {"(": ")", "[": "]", "{": "}"}

# A tree is ("num", digits), ("name", name), ("neg", tree), ("call", function, tree) or (operation, tree, tree) with
# operation one of + - * / ^.
Tree = tuple


class Unreadable(ValueError):
    """The text is not a formula in the claim's symbols.

    Attributes
    ----------
    reason : str
    where : int
        Position in ``text``.
    text : str
        The text as it was read: one spelling for Greek letters, signs, sub- and superscripts.
    """

    def __init__(self, reason: str, where: int = 0, text: str = ""):
        super().__init__(reason)
        self.reason, self.where, self.text = reason, where, text

    def __str__(self) -> str:
        near = self.text[max(self.where - 20, 0) : self.where + 20]
        return f"{self.reason}, at {self.where}, near {near!r}" if near else self.reason

    def to_dict(self) -> dict:
        """The answer as plain Python values."""
        return {"answer": "unreadable", "reason": self.reason, "where": self.where, "text": self.text}


@dataclass(frozen=True)
class Same:
    """The formula is the claim's statement; ``how`` says how that was established."""

    id: str
    how: str

    def __str__(self) -> str:
        return f"Same as {self.id}\n  {self.how}"

    def to_dict(self) -> dict:
        """The answer as plain Python values."""
        return {"answer": "same", **asdict(self)}


@dataclass(frozen=True)
class Different:
    """The formula differs from the claim's statement.

    Attributes
    ----------
    id : str
    point : dict
        A point of the claim's range where the two differ.
    ours, yours : float
        The values there.
    ratio : float
        ``yours/ours``.
    hint : str
        What the difference looks like, or empty.
    """

    id: str
    point: dict
    ours: float
    yours: float
    ratio: float
    hint: str

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value:.6g}" for name, value in self.point.items())
        lines = [
            f"Different from {self.id}",
            f"  at     {at}" if at else "",
            f"  claim  {self.ours:.10g}",
            f"  yours  {self.yours:.10g}, {self.ratio:.6g} times as much",
            f"  It looks like {self.hint}." if self.hint else "",
        ]
        return "\n".join(line for line in lines if line)

    def to_dict(self) -> dict:
        """The answer as plain Python values."""
        return {"answer": "different", **asdict(self)}


def compare(claim_id: str, text: str, notation: str = "plain") -> Same | Different | Unreadable:
    r"""Whether a formula is the statement of a claim.

    Parameters
    ----------
    claim_id : str
        An id of the ledger whose statement is an expression.
    text : str
        The formula, in the claim's symbols; ``eps0``, ``ε₀`` and ``epsilon_0`` all stand for ``epsilon0``. At most 2000
        characters. Of "x = ..." or "x <= ..." the right-hand side is read.
    notation : {"plain", "latex"}

    Returns
    -------
    Same, Different or Unreadable
        Never raised, always returned. "Same" rests on 35 digits at 24 points of the claim's range and, where it says
        so, on sympy; at 6 points where the statement has a sum or an integral. "Different" shows a point.

    Raises
    ------
    KeyError
        If there is no such claim.
    ValueError
        If the notation is neither of the two.
    """
    claim = record(claim_id)
    if notation not in ("plain", "latex"):
        raise ValueError(f"notation must be 'plain' or 'latex', got {notation!r}")
    try:
        if isinstance(claim.statement, Boolean):
            raise Unreadable(f"{claim_id} states a relation, not a formula: {claim.statement_text}")
        names = declared(claim)
        yours = parse(from_latex(text) if notation == "latex" else text, names)
        return compare_tree(claim, yours)
    except Unreadable as answer:
        return answer


def compare_tree(claim: Record, yours: Tree) -> Same | Different:
    abbreviations = {name: claim.read(name) for name in declared(claim) - set(claim.symbols)}
    count = _FEW if claim.statement.has(sp.Sum, sp.Integral) else _POINTS
    points = [point for point, _ in zip(claim.points(count), range(count), strict=False)] or [{}]
    values = [(claim.value(**point), value_at(yours, with_abbreviations(claim, point))) for point in points]
    apart = [i for i, (a, b) in enumerate(values) if abs(a - b) > _AGREE * max(abs(a), abs(b))]
    if not apart:
        how = f"{len(points)} points of its range agree to 35 digits"
        if _size(yours) <= 80:
            expr = _sympy(yours, claim.symbols | abbreviations)
            if same(expr, claim.statement, claim.symbols, points[:4]) == "symbolically":
                how = f"sympy reduces the difference to zero, and {how}"
        return Same(claim.id, how)
    shown = [i for i in apart if all(mp.isfinite(float(x)) for x in values[i])]
    if not shown:
        raise Unreadable("the formula exceeds the largest double wherever it was tried")
    worst = max(shown, key=lambda i: abs(mp.log(abs(values[i][1] / values[i][0]))) if all(values[i]) else mp.inf)
    ours, theirs = values[worst]
    ratio = float(theirs / ours) if ours else float("inf")
    hint = _hint(claim, points, [b for _, b in values])
    return Different(claim.id, dict(points[worst]), float(ours), float(theirs), ratio, hint)


def with_abbreviations(claim: Record, point: dict) -> dict:
    """A point with the values of the claim's abbreviations added."""
    return {name: mp.mpf(value) for name, value in point.items()} | {
        name: evaluate(claim.read(name), point) for name in declared(claim) - set(claim.symbols)
    }


# ---- what a difference looks like


def _hint(claim: Record, points: list[dict], yours: list) -> str:
    """The single damage of the statement, or the pair of them, that gives the other formula's values."""
    if not any(yours):
        return ""
    with mp.workdps(_DIGITS):
        ours = [claim.value(**point) for point in points]
        ratios = [b / a for a, b in zip(ours, yours, strict=True)] if all(ours) else [mp.mpf(0)]
        if len(ratios) > 1 and ratios[0] and all(abs(r / ratios[0] - 1) < _AGREE for r in ratios):
            return f"a constant factor {mp.nstr(ratios[0], 8)}"
    pairs = list(zip([with_abbreviations(claim, point) for point in points], yours, strict=True))

    def agrees(tree: Tree) -> bool:
        try:
            return all(abs(value_at(tree, p) - b) <= _AGREE * abs(b) for p, b in pairs)
        except Unreadable:
            return False

    try:
        singles = list(damages(of_statement(claim)))
    except Unreadable:  # the statement has a sum or another function that is not read here
        return ""
    for what, damaged in singles:
        if agrees(damaged):
            return what
    for what, damaged in singles[:60] if len(singles) <= 120 else ():
        for more, twice in damages(damaged):
            if agrees(twice):
                return f"{what}, and {more}"
    return ""


def damages(tree: Tree) -> Iterator[tuple[str, Tree]]:
    """Every single damage of a formula: what was done, in words, and the damaged tree."""
    kind = tree[0]
    if kind == "call":
        if tree[1] == "sqrt":
            yield f"a lost square root over {show(tree[2])}", tree[2]
        if tree[1] == "log":
            yield "a logarithm to base 2", ("call", "log2", tree[2])
            yield "a logarithm to base 10", ("call", "log10", tree[2])
        if tree[1] == "exp":
            yield f"a lost exponent, e times {show(tree[2])}", ("*", ("call", "exp", ("num", "1")), tree[2])
        for what, inner in damages(tree[2]):
            yield what, ("call", tree[1], inner)
    elif kind == "neg":
        yield f"a changed sign of {show(tree[1])}", tree[1]
        for what, inner in damages(tree[1]):
            yield what, ("neg", inner)
    elif kind in "+-*/^" and len(tree) == 3:
        left, right = tree[1:]
        if kind == "^":
            yield f"a lost exponent {show(right)} of {show(left)}", left
            yield f"an exponent {show(right)} read as a factor", ("*", left, right)
        if kind in "+-":
            yield f"a missing term {show(right)}", left
            yield f"a missing term {show(left)}", right if kind == "+" else ("neg", right)
            yield f"a changed sign of {show(right)}", ("-" if kind == "+" else "+", left, right)
        if kind == "*":
            yield f"a missing factor {show(right)}", left
            yield f"a missing factor {show(left)}", right
        if kind == "/":
            yield f"a missing division by {show(right)}", left
        for what, inner in damages(left):
            yield what, (kind, inner, right)
        for what, inner in damages(right):
            yield what, (kind, left, inner)


def show(tree: Tree) -> str:
    """A tree as plain text."""
    return _shown(tree)[0]


def _shown(tree: Tree) -> tuple[str, int]:
    """Text and how strongly it binds: 1 sums, 2 products, 3 powers, 4 atoms."""

    def part(inner: Tree, least: int) -> str:
        text, bound = _shown(inner)
        return text if bound >= least else f"({text})"

    match tree:
        case ("num" | "name", word):
            return word, 4
        case ("neg", inner):
            return f"-{part(inner, 2)}", 1
        case ("call", function, inner):
            return f"{function}({_shown(inner)[0]})", 4
        case ("+" | "-" as sign, left, right):
            return f"{part(left, 1)} {sign} {part(right, 2)}", 1
        case ("*" | "/" as sign, left, right):
            return f"{part(left, 2)}{sign}{part(right, 3)}", 2
        case ("^", left, right):
            return f"{part(left, 4)}^{part(right, 4)}", 3
    raise AssertionError(tree)


# ---- values


def _size(tree: Tree) -> int:
    return 1 + sum(_size(part) for part in tree[1:] if isinstance(part, tuple))


def value_at(tree: Tree, point: dict):
    """A tree at a point, 60 digits; Unreadable where it has no finite real value of reasonable size."""
    with mp.workdps(_DIGITS):
        try:
            value = _walk(tree, point)
        except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
            if isinstance(error, Unreadable):
                raise
            raise Unreadable(f"the formula has no value at a point of the claim's range: {error}") from None
        if not (isinstance(value, mp.mpf) and mp.isfinite(value)):
            raise Unreadable("the formula has no finite real value at a point of the claim's range")
        return value


def _walk(tree: Tree, point: dict):
    match tree:
        case ("num", digits):
            return mp.mpf(digits)
        case ("name", "e"):
            return mp.e + 0 if "e" not in point else point["e"]
        case ("name", "pi"):
            return mp.pi + 0 if "pi" not in point else point["pi"]
        case ("name", name):
            return point[name]
        case ("neg", inner):
            return -_walk(inner, point)
        case ("call", function, inner):
            argument = _walk(inner, point)
            if function in ("exp", "sinh", "cosh") and abs(argument) > _HUGE:
                raise Unreadable(f"{function} of {mp.nstr(argument, 5)} is beyond what is evaluated")
            return _NUMERIC[function](argument)
        case ("^", left, right):
            base, exponent = _walk(left, point), _walk(right, point)
            if base and abs(exponent * mp.log(abs(base))) > _HUGE:
                raise Unreadable("a power is beyond what is evaluated")
            return base**exponent
        case (operation, left, right):
            a, b = _walk(left, point), _walk(right, point)
            return {"+": a.__add__, "-": a.__sub__, "*": a.__mul__, "/": a.__truediv__}[operation](b)
    raise AssertionError(tree)


def _sympy(tree: Tree, names: dict):
    match tree:
        case ("num", digits):
            return sp.Rational(digits)
        case ("name", name):
            return names.get(name, {"e": sp.E, "pi": sp.pi}.get(name))
        case ("neg", inner):
            return -_sympy(inner, names)
        case ("call", function, inner):
            return FUNCTIONS[function](_sympy(inner, names))
        case (operation, left, right):
            a, b = _sympy(left, names), _sympy(right, names)
            return {"+": a + b, "-": a - b, "*": a * b, "/": a / b, "^": a**b}[operation]
    raise AssertionError(tree)


# ---- reading


def parse(text: str, names: set[str]) -> Tree:
    """Plain text as a tree in the declared names; raises `Unreadable`."""
    return _Parser(right_hand_side(normalise(text)), names).formula()


def declared(claim: Record) -> set[str]:
    """Names a formula may use: the claim's symbols, and those of its abbreviations that have a value by themselves."""
    values = {name for name in claim.where if {s.name for s in claim.read(name).free_symbols} <= set(claim.symbols)}
    return set(claim.symbols) | values


def of_statement(claim: Record) -> Tree:
    """A claim's statement as a tree; raises `Unreadable` where it has a sum or another word that is not read here."""
    text = re.sub(r"\bRational\((\d+), *(\d+)\)", r"(\1/\2)", claim.statement_text)
    return parse(text, declared(claim))


def normalise(text: str) -> str:
    """One spelling for Greek letters, signs, sub- and superscripts."""
    if not isinstance(text, str):
        raise Unreadable(f"a formula is a string, got {type(text).__name__}")
    if len(text) > _LONGEST:
        raise Unreadable(f"the formula has {len(text)} characters, more than {_LONGEST}")
    out, raised = "", ""
    for char in text:
        kind = unicodedata.decomposition(char).split(" ")[0]
        if kind == "<super>":
            raised += _SIGNS.get(plain := unicodedata.normalize("NFKC", char), plain)
            continue
        if raised:
            out, raised = f"{out}^({raised})", ""
        if kind == "<sub>":
            out += unicodedata.normalize("NFKC", char)
        elif kind == "<fraction>":
            out += "(" + "".join(_SIGNS.get(c, c) for c in unicodedata.normalize("NFKC", char)) + ")"
        elif char in _GREEK:
            out += (" " if out[-1:].isalpha() else "") + _GREEK[char]
        else:
            out += _SIGNS.get(char, char)
    return out + (f"^({raised})" if raised else "")


def right_hand_side(text: str) -> str:
    sides = re.split(r"<=|>=|[=<>≤≥≈≃]", text)
    if len(sides) > 2:
        raise Unreadable("more than one relation sign", text.index(sides[1]), text)
    return sides[-1]


class _Parser:
    """Recursive descent; juxtaposition multiplies, and is refused right after a division, where it is ambiguous."""

    def __init__(self, text: str, names: set[str]):
        self.text, self.names = text, names
        self.tokens = list(self._tokens())
        self.at = self.depth = 0

    def _error(self, reason: str) -> Unreadable:
        where = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        return Unreadable(reason, where, self.text)

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        position, end = 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if not match:
                place = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                raise Unreadable(f"cannot read {self.text[place]!r}", place, self.text)
            kind = next(k for k in ("number", "name", "sign") if match[k])
            start, word = match.start(kind), match[kind]
            if kind == "name":
                for part in self._cut(word, start):
                    yield ("call" if part in FUNCTIONS and part not in self.names else "name"), part, start
            elif len(match["power"] or "") > 6:
                raise Unreadable("a number with more than four digits in its exponent", start, self.text)
            else:
                yield kind, "^" if word == "**" else word, start
            position = match.end()

    def _known(self, word: str) -> str | None:
        """The declared name, function or constant that a word stands for."""
        bare = word.replace("_", "")
        spelled = (word, bare, re.sub(r"^(eps|e)(?=\d)", "epsilon", bare), {"eps": "epsilon"}.get(bare, bare))
        for candidate in spelled:
            if candidate in self.names or candidate in FUNCTIONS:
                return candidate
        return word if word in ("e", "pi") else None

    def _cut(self, word: str, start: int) -> list[str]:
        """A word as one declared name, or as two run together where that can be read in one way only."""
        if (known := self._known(word)) is not None:
            return [known]
        cuts = {
            (first, second)
            for i in range(1, len(word))
            if (first := self._known(word[:i])) is not None and (second := self._known(word[i:])) is not None
        }
        if len(cuts) == 1:
            return list(cuts.pop())
        problem = "ambiguous name" if cuts else "undeclared name"
        raise Unreadable(f"{problem} {word!r} (declared: {', '.join(sorted(self.names))})", start, self.text)

    def _peek(self) -> str:
        """The sign ahead, or the kind of token that starts a factor."""
        if self.at == len(self.tokens):
            return ""
        kind, word, _ = self.tokens[self.at]
        return word if kind == "sign" else kind

    def formula(self) -> Tree:
        if not self.tokens:
            raise Unreadable("there is no formula", 0, self.text)
        tree = self._sum()
        if self.at < len(self.tokens):
            raise self._error(f"unexpected {self.tokens[self.at][1]!r}")
        return tree

    def _sum(self) -> Tree:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} brackets inside each other")
        sign = self._peek()
        if sign in ("+", "-"):
            self.at += 1
        tree = ("neg", self._product()) if sign == "-" else self._product()
        while (sign := self._peek()) in ("+", "-"):
            self.at += 1
            tree = (sign, tree, self._product())
        self.depth -= 1
        return tree

    def _product(self) -> Tree:
        tree, divided = self._power(), False
        while (ahead := self._peek()) in ("*", "/", "number", "name", "call", "(", "[", "{"):
            if ahead in ("*", "/"):
                self.at += 1
                tree, divided = (ahead, tree, self._power()), ahead == "/"
            elif divided:
                raise self._error("after a division a product needs a sign or brackets: a/b c is ambiguous")
            else:
                tree = ("*", tree, self._power())
        return tree

    def _power(self) -> Tree:
        base = self._atom()
        if self._peek() != "^":
            return base
        self.at += 1
        if self._peek() == "-":
            self.at += 1
            exponent: Tree = ("neg", self._power())
        else:
            exponent = self._power()
        if base == ("name", "e") and "e" not in self.names:
            return ("call", "exp", exponent)
        return ("^", base, exponent)

    def _atom(self) -> Tree:
        if self.at == len(self.tokens):
            raise self._error("the formula ends too early")
        kind, word, _ = self.tokens[self.at]
        if kind == "sign" and word not in _CLOSE:
            raise self._error(f"unexpected {word!r}")
        self.at += 1
        if kind == "number":
            return ("num", word)
        if kind == "name":
            return ("name", word)
        if kind == "call":
            return self._call(word)
        inner = self._sum()
        if self._peek() != _CLOSE[word]:
            raise self._error(f"expected {_CLOSE[word]!r}")
        self.at += 1
        return inner

    def _call(self, function: str) -> Tree:
        """A function and its argument: a bracket, or a single number or name."""
        raised = None
        if self._peek() == "^":  # log^2(x) is (log x)^2
            self.at += 1
            raised = self._atom()
        if self._peek() not in ("(", "[", "{", "number", "name"):
            raise self._error(f"{function} needs an argument")
        tree = ("call", "log" if function == "ln" else function, self._atom())
        return tree if raised is None else ("^", tree, raised)


_LATEX_NAMES = {"varepsilon": "epsilon", "lambda": "lam", "varphi": "phi", "ln": "log"}
_LATEX_SPACE = {"left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "quad", "qquad", ",", ";", "!", ":", " "}
_LATEX_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[A-Za-z0-9.]|.", re.S)


def from_latex(text: str) -> str:
    r"""LaTeX as plain text: fractions, roots, powers, subscripts, Greek letters and spacing; raises `Unreadable`."""
    if not isinstance(text, str):
        raise Unreadable(f"a formula is a string, got {type(text).__name__}")
    if len(text) > _LONGEST:
        raise Unreadable(f"the formula has {len(text)} characters, more than {_LONGEST}")
    tokens = _LATEX_TOKEN.findall(text.replace("$", " ").replace("&", " "))
    tokens.reverse()
    return _latex_run(tokens, "", 0)


def _latex_run(tokens: list[str], stop: str, depth: int) -> str:
    """Tokens (last first) up to ``stop`` as plain text."""
    if depth > _DEEPEST:
        raise Unreadable(f"more than {_DEEPEST} braces inside each other")
    out = ""
    while tokens:
        token = tokens.pop()
        if token == stop:
            return out
        if token == "}":
            raise Unreadable("a closing brace too many")
        out += _latex_piece(token, tokens, depth)
    if stop:
        raise Unreadable(f"a missing {stop!r}")
    return out


def _latex_group(tokens: list[str], depth: int) -> str:
    """The next argument: a braced group or a single token."""
    while tokens and tokens[-1].isspace():
        tokens.pop()
    if not tokens:
        raise Unreadable("a LaTeX command without its argument")
    token = tokens.pop()
    return _latex_run(tokens, "}", depth + 1) if token == "{" else _latex_piece(token, tokens, depth + 1)


def _latex_piece(token: str, tokens: list[str], depth: int) -> str:
    if depth > _DEEPEST:
        raise Unreadable(f"more than {_DEEPEST} braces inside each other")
    if token == "{":
        return f"({_latex_run(tokens, '}', depth + 1)})"
    if token == "^":
        return f"^({_latex_group(tokens, depth)})"
    if token == "_":
        return "_" + _latex_group(tokens, depth).strip()
    if not token.startswith("\\"):
        return token
    word = token[1:]
    if word in _LATEX_SPACE:
        return " "
    if word in ("frac", "dfrac", "tfrac"):
        return f"(({_latex_group(tokens, depth)})/({_latex_group(tokens, depth)}))"
    if word == "sqrt":
        if tokens and tokens[-1] == "[":
            tokens.pop()
            index = _latex_run(tokens, "]", depth + 1)
            return f"(({_latex_group(tokens, depth)})^(1/({index})))"
        return f" sqrt({_latex_group(tokens, depth)})"
    if word in ("cdot", "times"):
        return "*"
    if word in ("le", "leq", "ge", "geq", "approx"):
        return "<="
    if word in ("mathrm", "operatorname", "text"):
        return f" {_latex_group(tokens, depth).strip()} "
    return f" {_LATEX_NAMES.get(word, word)}"
