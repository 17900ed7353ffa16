"""The calculator page: the tables its script reads, at random points against the library, and its rows."""

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.core.numerics import safe_root

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import calculator  # noqa: E402

CURVES = {"clones": lambda epsilon0, n, k: sdp.clones(epsilon0, n), "krr": lambda e, n, k: sdp.shuffled_krr(k, e, n)}


@pytest.fixture(scope="module")
def tables():
    """As the browser reads them."""
    text = (SITE / "_static" / "calculator-tables.js").read_text(encoding="utf8")
    return json.loads(text.removeprefix("window.calculatorTables = ").rstrip().removesuffix(";"))


def interpolated(tables, kind, epsilon0, n, k, delta):
    """The formula of the script: the epsilon at which the Gaussian limit, corrected by the polynomial, meets delta."""
    mu, x, v = calculator.crowd(kind, epsilon0, n, k)
    limit = sdp.gdp(mu)

    def excess(s):
        row = calculator.basis(kind, [x], [epsilon0], [s], [v])[0]
        return float(limit.log_delta(s * mu)) + x * float(row @ tables[kind]["coefficients"]) - math.log(delta)

    return mu * safe_root(excess, *calculator.DEVIATIONS, rtol=1e-9)


def settings(kind, count):
    """Random places in the range of a table, towards few users; delta from the curve, so that it is reached."""
    rng = np.random.default_rng(20260209)
    while count:
        epsilon0, s = rng.uniform(*calculator.EPSILON0), rng.uniform(0.3, 7.4)
        k = 3 if rng.random() < 0.4 else 3 + int(math.exp(rng.uniform(0, 5)))
        messages = calculator.MESSAGES * math.exp(rng.exponential(1.0))
        n = math.ceil(messages * (math.exp(epsilon0) if kind == "clones" else math.expm1(epsilon0) + k))
        curve = CURVES[kind](epsilon0, n, k)
        yield epsilon0, n, k, float(curve.delta(s * calculator.crowd(kind, epsilon0, n, k)[0])), curve
        count -= 1


@pytest.mark.parametrize("kind", calculator.SHAPE)
def test_the_stated_error_of_a_table_is_kept(tables, kind):
    errors = []
    for epsilon0, n, k, delta, curve in settings(kind, 16):
        epsilon = curve.epsilon(delta)
        errors.append(abs(interpolated(tables, kind, epsilon0, n, k, delta) / epsilon - 1))
    stated = tables[kind]["error"]
    assert stated / 100 < max(errors) < stated, max(errors)  # kept, and not stated far too large


def test_a_damaged_table_is_noticed(tables):
    damaged = {"clones": {"coefficients": [1.05 * c for c in tables["clones"]["coefficients"]]}}
    worst = 0.0
    for epsilon0, n, k, delta, curve in settings("clones", 8):
        worst = max(worst, abs(interpolated(damaged, "clones", epsilon0, n, k, delta) / curve.epsilon(delta) - 1))
    assert worst > tables["clones"]["error"]


def test_the_tables_say_what_they_cover_and_are_small(tables):
    assert tables["ranges"] == {
        "epsilon0": list(calculator.EPSILON0),
        "deviations": list(calculator.DEVIATIONS),
        "messages": calculator.MESSAGES,
    }
    for kind, shape in calculator.SHAPE.items():
        assert tables[kind]["shape"] == list(shape)
        assert len(tables[kind]["coefficients"]) == math.prod(shape)
    assert (SITE / "_static" / "calculator-tables.js").stat().st_size < 30_000


def test_every_row_leads_to_its_claim_and_its_chapter():
    page = SITE / "book" / "calculator.html"
    text = page.read_text(encoding="utf8")
    script = (ROOT / "book" / "_static" / "calculator.js").read_text(encoding="utf8")
    assert "<!-- calculator" not in text
    for key, *_ in calculator.ROWS:
        row = re.search(rf'<tr data-row="{key}">.*?</tr>', text, re.DOTALL)[0]
        claim, chapter = re.findall(r'href="([^"]+)"', row)
        file, anchor = claim.split("#")
        assert f'id="{anchor}"' in (page.parent / file).read_text(encoding="utf8")
        assert (page.parent / chapter).exists()
        assert re.search(rf'rows\.{key} = |put\("{key}"|when\("{key}"', script), key
