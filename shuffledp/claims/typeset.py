"""A record's statement as LaTeX, in the order in which it is written there (sympy would rearrange it)."""

from __future__ import annotations

import ast
import re

__all__ = ["latex"]

_GREEK = set("alpha beta gamma delta kappa lambda mu nu omega pi rho sigma tau theta Delta Phi".split())
_NAMES = {"epsilon": r"\varepsilon", "phi": r"\varphi", "lam": r"\lambda", "oo": r"\infty", "E": "e"}
_RELATIONS = {ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge", ast.Eq: "="}
_RELATION_CALLS = {"Lt": "<", "Le": r"\le", "Gt": ">", "Ge": r"\ge", "Eq": "="}
_PLAIN = {"log": r"\log", "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "Phi": r"\Phi", "phi": r"\varphi",
          "Min": r"\min", "Max": r"\max", "LambertW": "W"}  # fmt: skip

# binding strength: relations, sums, products, powers, atoms
_RELATION, _SUM, _PRODUCT, _POWER, _ATOM = range(5)


def latex(text: str) -> str:
    """The statement ``text`` as LaTeX."""
    return _show(ast.parse(str(text), mode="eval").body)[0]


def _name(name: str) -> str:
    base, prime, index = re.fullmatch(r"([A-Za-z]+?)(_prime)?(\d*|_[a-z0-9]+)", name).groups()
    index = index.lstrip("_").replace("plus", "+")
    if base in _NAMES:
        base = _NAMES[base]
    elif base in _GREEK:
        base = "\\" + base
    elif len(base) > 1:
        base = rf"\mathrm{{{base}}}"
    return base + (f"_{{{index}}}" if index else "") + ("'" if prime else "")


def _at_least(node: ast.AST, strength: int) -> str:
    text, bound = _show(node)
    return text if bound >= strength else _parenthesised(text)


def _parenthesised(text: str) -> str:
    return rf"\left({text}\right)" if r"\frac" in text else f"({text})"


def _show(node: ast.AST) -> tuple[str, int]:
    """LaTeX of a node and how strongly it binds."""
    match node:
        case ast.Constant():
            return str(node.value), _ATOM
        case ast.Name():
            return _name(node.id), _ATOM
        case ast.Compare():
            parts = [_show(node.left)[0]]
            for operator, right in zip(node.ops, node.comparators, strict=True):
                parts += [_RELATIONS[type(operator)], _show(right)[0]]
            return " ".join(parts), _RELATION
        case ast.UnaryOp():
            return f"-{_at_least(node.operand, _PRODUCT)}", _SUM
        case ast.BinOp(op=ast.Mult(), left=ast.UnaryOp()):
            return f"-{_show(ast.BinOp(node.left.operand, ast.Mult(), node.right))[0]}", _SUM
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            sign, right = ("+", _SUM) if isinstance(node.op, ast.Add) else ("-", _PRODUCT)
            return f"{_at_least(node.left, _SUM)} {sign} {_at_least(node.right, right)}", _SUM
        case ast.BinOp(op=ast.Mult()):
            left, right = _at_least(node.left, _PRODUCT), _at_least(node.right, _PRODUCT)
            dot = r"\cdot " if right[0].isdigit() else ""
            return f"{left} {dot}{right}", _PRODUCT
        case ast.BinOp(op=ast.Div()):
            return rf"\frac{{{_show(node.left)[0]}}}{{{_show(node.right)[0]}}}", _PRODUCT
        case ast.BinOp(op=ast.Pow()):
            return f"{_at_least(node.left, _ATOM)}^{{{_show(node.right)[0]}}}", _POWER
        case ast.Call():
            return _call(node.func.id, node.args)
    raise ValueError(f"cannot typeset {ast.dump(node)}")


def _call(name: str, args: list[ast.AST]) -> tuple[str, int]:
    if name == "Sum":
        index, low, high = (_show(part)[0] for part in args[1].elts)
        return rf"\sum_{{{index}={low}}}^{{{high}}} {_at_least(args[0], _PRODUCT)}", _SUM
    if name == "Integral":
        variable, low, high = (_show(part)[0] for part in args[1].elts)
        return rf"\int_{{{low}}}^{{{high}}} {_at_least(args[0], _PRODUCT)}\,d{variable}", _SUM
    shown = [_show(arg)[0] for arg in args]
    if name == "exp":
        return f"e^{{{shown[0]}}}", _POWER
    if name == "sqrt":
        return rf"\sqrt{{{shown[0]}}}", _ATOM
    if name == "Rational":
        return rf"\tfrac{{{shown[0]}}}{{{shown[1]}}}", _PRODUCT
    if name == "Abs":
        return rf"\left|{shown[0]}\right|", _ATOM
    if name == "floor":
        return rf"\left\lfloor {shown[0]} \right\rfloor", _ATOM
    if name == "factorial":
        return f"{_at_least(args[0], _ATOM)}!", _POWER
    if name == "binomial":
        return rf"\binom{{{shown[0]}}}{{{shown[1]}}}", _ATOM
    if name in _RELATION_CALLS:
        return f"{shown[0]} {_RELATION_CALLS[name]} {shown[1]}", _RELATION
    if name == "Implies":
        return rf"{shown[0]} \;\Longrightarrow\; {shown[1]}", _RELATION
    if name == "And":
        return r" \;\text{and}\; ".join(shown), _RELATION
    if name in _PLAIN:
        return _PLAIN[name] + _parenthesised(", ".join(shown)), _ATOM
    raise ValueError(f"cannot typeset the function {name}")
