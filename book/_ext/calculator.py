"""Sphinx extension of the calculator page: its rows, and the tables its script reads.

What has a closed form the script computes, and binary randomized response by a short sum. The exact values of k-ary
randomized response and of the clones take too long in a browser; here they are fitted by polynomials. With s the
epsilon in units of the Gaussian limit's mu, and x the inverse root of the expected messages of one kind, the log of
delta differs from the limit's by x times a smooth function of x, s, epsilon0 and, for k symbols, of the share v.
"""

import json
import math
from pathlib import Path

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.polynomial import polyvander

import shuffledp as sdp
from shuffledp import claims

PAGE = "book/calculator"
ROWS = (  # key in the script, name, what it holds for, claim
    ("exact", "Exact value", "<i>k</i>-ary randomized response", "shvets26.exact.canonical"),
    ("hoeffding", "Blanket, Hoeffding", "<i>k</i>-ary randomized response", "bbgn19.lem.hoeffding"),
    ("bennett", "Blanket, Bennett", "<i>k</i>-ary randomized response", "ext.pb.bennett.mix"),
    ("clones", "Clones", "every randomizer", "fmt21.clones"),
    ("clonesClosed", "Clones, closed form", "every randomizer", "fmt21.thm3.1"),
    ("hoeffdingFree", "Blanket, Hoeffding", "every randomizer", "ext.pb.hoeffding.free"),
    ("bennettFree", "Blanket, Bennett", "every randomizer", "ext.pb.bennett.free"),
    ("lastSwap", "Theorem 7, last swap", "every randomizer, adaptive", "ext.thm7.half"),
    ("sharpened", "Theorem 7, sharpened", "every randomizer, adaptive", "ext.thm7.sharpened"),
    ("general", "Theorem 7, general", "every randomizer, adaptive", "efmrtt19.thm7.general"),
    ("refined", "Theorem 7, refined", "every randomizer, adaptive", "efmrtt19.thm7.refined"),
    ("simple", "Theorem 7, simple", "every randomizer, adaptive", "efmrtt19.thm7.simple"),
    ("limit", "Gaussian limit", "<i>k</i>-ary randomized response, not a bound", "shvets26.gdp.curve"),
)
EPSILON0 = (0.1, 5.0)  # the ranges of the tables
DEVIATIONS = (0.1, 7.5)  # s
MESSAGES = 150  # least expected number of messages of one kind, x**-2
ERROR = {"clones": 5e-4, "krr": 1e-3}  # relative, in epsilon; the tests measure it
SHAPE = {"clones": (3, 7, 9, 1), "krr": (3, 5, 8, 3)}  # powers of x, Chebyshev in epsilon0 and s, powers of v


def crowd(kind: str, epsilon0: float, n: int, k: int = 2) -> tuple[float, float, float]:
    """mu of the Gaussian limit, x and v at one setting."""
    if kind == "clones":
        messages, share = n * math.exp(-epsilon0), 1.0
        mu = 2 * math.tanh(epsilon0 / 2) / math.sqrt(messages)
    else:
        flip = 1 / (math.expm1(epsilon0) + k)
        messages, share = n * flip, (math.exp(epsilon0) + 2) * flip
        mu = math.expm1(epsilon0) * flip * math.sqrt(2 / messages)
    return mu, 1 / math.sqrt(messages), share


def basis(kind: str, x, epsilon0, s, v) -> np.ndarray:
    """The functions whose combination, times x, is the difference of the logs; one row per point."""
    powers, first, second, shares = SHAPE[kind]

    def unit(value, ends):
        return (2 * np.asarray(value) - ends[0] - ends[1]) / (ends[1] - ends[0])

    factors = (
        polyvander(np.asarray(x) * math.sqrt(MESSAGES), powers - 1),
        chebvander(unit(epsilon0, EPSILON0), first - 1),
        chebvander(unit(s, DEVIATIONS), second - 1),
        polyvander(np.asarray(v), shares - 1),
    )
    return np.einsum("pa,pb,pc,pd->pabcd", *factors).reshape(len(np.atleast_1d(x)), -1)


def nodes(count: int, ends: tuple[float, float]) -> np.ndarray:
    return ends[0] + (ends[1] - ends[0]) * (1 - np.cos((np.arange(count) + 0.5) * math.pi / count)) / 2


def table(kind: str) -> list[float]:
    """The coefficients, in the order of `basis`."""
    powers, first, second, shares = SHAPE[kind]
    s = nodes(second, DEVIATIONS)
    rows, values = [], []
    for epsilon0 in nodes(first, EPSILON0):
        for share in np.linspace(1, 0.2, shares):
            k = round((math.exp(epsilon0) + 2) / share - math.expm1(epsilon0))
            for ratio in np.linspace(1, 0.4, powers):
                messages = MESSAGES / ratio**2
                n = round(messages * (math.exp(epsilon0) if kind == "clones" else math.expm1(epsilon0) + k))
                mu, x, v = crowd(kind, epsilon0, n, k)
                curve = sdp.clones(epsilon0, n) if kind == "clones" else sdp.shuffled_krr(k, epsilon0, n)
                gain = (curve.log_delta(s * mu) - sdp.gdp(mu).log_delta(s * mu)) / x
                rows.append(basis(kind, np.full(second, x), np.full(second, epsilon0), s, np.full(second, v)))
                values.append(gain)
    return np.linalg.lstsq(np.concatenate(rows), np.concatenate(values))[0].tolist()


def chapter(record) -> str:
    """Where a claim is derived, or else the first of those it rests on."""
    if record.derived_in:
        return record.derived_in.replace(".ipynb", ".html")
    return next(chapter(claims.record(other)) for other in record.depends_on)


def rows_text() -> str:
    """The rows of the page, to be filled by the script; each names its claim and its chapter."""
    rows = []
    for key, name, scope, claim_id in ROWS:
        record = claims.record(claim_id)
        rows.append(
            f'<tr data-row="{key}"><th scope="row"><span class="name">{name}</span> <small>{scope}. '
            f'<a href="ledger.html#{record.anchor}">claim</a> · <a href="../{chapter(record)}">chapter</a></small>'
            '<small class="note"></small></th><td class="value"></td><td class="times"></td></tr>'
        )
    return "\n".join(rows)


def fill(app, docname, source):
    if docname == PAGE:
        errors = {f"<!-- calculator: {kind} -->": f"{100 * error:g} %" for kind, error in ERROR.items()}
        for marker, text in {"<!-- calculator: rows -->": rows_text(), **errors}.items():
            source[0] = source[0].replace(marker, text)


def write_tables(app, exception):
    """A script, not data to fetch: a page opened from disk may not fetch."""
    if exception or app.builder.format != "html" or PAGE not in app.env.found_docs:
        return
    ranges = {"epsilon0": EPSILON0, "deviations": DEVIATIONS, "messages": MESSAGES}
    tables = {kind: {"error": ERROR[kind], "shape": SHAPE[kind], "coefficients": table(kind)} for kind in SHAPE}
    text = json.dumps({"ranges": ranges, **tables})
    (Path(app.outdir) / "_static" / "calculator-tables.js").write_text(f"window.calculatorTables = {text};\n")


def setup(app):
    app.connect("source-read", fill)
    app.connect("build-finished", write_tables)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
