"""The comparison of bounds: what is in it, that no bound is below the exact value, and the command that prints it."""

import csv
import io
import json
import math

import pytest

from shuffledp import DomainError, compare, shuffled_krr, shuffled_rr, theorem7
from shuffledp.cli import main


@pytest.mark.parametrize(
    "epsilon0, n, delta, k",
    [(1.0, 10**6, 1e-6, None), (0.4, 1000, 1e-6, 10), (4.0, 10**8, 1e-12, 2), (0.01, 2, 0.3, 3)],
)
def test_no_bound_is_below_the_exact_value(epsilon0, n, delta, k):
    rows = compare(epsilon0, n, delta, k).rows
    truth = shuffled_rr(epsilon0, n) if k in (None, 2) else shuffled_krr(k, epsilon0, n)
    assert rows[0].kind == "exact" and rows[0].epsilon == truth.epsilon(delta)
    for row in rows[1:]:
        assert (row.epsilon is None) == bool(row.condition)
        if row.kind == "upper bound" and row.epsilon is not None:
            assert rows[0].epsilon <= row.epsilon <= epsilon0, row.name
            assert row.ratio is None or row.ratio == pytest.approx(row.epsilon / rows[0].epsilon)
    assert ("limit" in [row.kind for row in rows]) == (k in (None, 2))


def test_a_form_outside_its_range_has_no_value_and_says_why():
    rows = {row.name: row for row in compare(1.0, 10**6, 1e-6).rows}
    assert rows["Theorem 7, simple"].epsilon is None and "epsilon0 < 1/2" in rows["Theorem 7, simple"].condition
    assert rows["Theorem 7, general"].epsilon == theorem7(1.0, 10**6, 1e-6).epsilon_general


def test_it_prints_as_a_table():
    comparison = compare(0.4, 1000, 1e-6)
    assert "x exact" in str(comparison) and "<table" in comparison._repr_html_()
    assert comparison.to_dict()["rows"][0]["kind"] == "exact"


@pytest.mark.parametrize("option", [[], ["--json"], ["--csv"]])
def test_command_line(option, capsys):
    assert main(["bounds", "--epsilon0", "0.4", "--n", "1e4", "--delta", "1e-6", *option]) == 0
    out = capsys.readouterr().out
    exact = shuffled_rr(0.4, 10**4).epsilon(1e-6)
    if option == ["--json"]:
        assert json.loads(out)["rows"][0]["epsilon"] == exact
    elif option == ["--csv"]:
        assert float(next(csv.DictReader(io.StringIO(out)))["epsilon"]) == exact
    else:
        assert f"{exact:.7g}" in out


@pytest.mark.parametrize(
    "bad", [(-1, 100, 0.1), (1, 1, 0.1), (1, 100, 1), (1, 100, 0.1, 1), (math.nan, 100, 0.1), (800, 9, 0.1)]
)
def test_out_of_range_is_refused(bad):
    with pytest.raises(DomainError):
        compare(*bad)


def test_the_command_line_says_which_condition_is_violated(capsys):
    assert main(["bounds", "--epsilon0", "-1", "--n", "100", "--delta", "0.1"]) == 2
    assert "epsilon0 > 0" in capsys.readouterr().err
