"""The bridge to dp_accounting against the library's own composition; skipped where that package is missing."""

import math
import sys

import pytest

from shuffledp import DomainError, compose, gdp, shuffled_rr, to_pld


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(ImportError, match=r"shuffledp\[pld\]"):
        to_pld(shuffled_rr(1, 100))


@pytest.mark.parametrize("interval", [0, -1.0, math.nan, math.inf, "1", True])
def test_interval_out_of_range(interval):
    with pytest.raises(DomainError, match="interval"):
        to_pld(shuffled_rr(1, 100), interval)


def test_curves_without_a_loss_law():
    with pytest.raises(DomainError, match="loss law"):
        to_pld(shuffled_rr(1, 100, ones=50))
    with pytest.raises(DomainError, match="PrivacyCurve"):
        to_pld(lambda epsilon: 0.1)


@pytest.mark.parametrize("rounds", [1, 10, 100])
@pytest.mark.parametrize("epsilon0, n", [(1, 10**3), (2, 10**6), (0.5, 50)])
@pytest.mark.parametrize("direction", ["both", "reverse"])
def test_never_below_ours_and_within_the_discretisation(epsilon0, n, rounds, direction):
    pytest.importorskip("dp_accounting")
    curve = shuffled_rr(epsilon0, n, direction=direction)
    mu, share = curve.loss_laws[0].mu, 1 / 50.3  # epsilon off the grid
    composed, loss = compose(curve, rounds), to_pld(curve, share * mu)
    if rounds > 1:
        loss = loss.self_compose(rounds)
    for z in (0.5, 2, 4):
        epsilon = z * mu * math.sqrt(rounds)
        if epsilon < 0.9 * rounds * epsilon0:
            rise = loss.get_delta_for_epsilon(epsilon) / composed.delta(epsilon) - 1
            most = 8 if rounds == 1 else 2  # of what a smooth law would give: one round's curve has kinks
            assert -1e-8 < rise < most * (1 + z * z) * share**2 / 12
    one_more = compose(curve, rounds + 1).delta(mu * math.sqrt(rounds))
    assert loss.get_delta_for_epsilon(mu * math.sqrt(rounds)) < 0.999 * one_more  # the comparison can fail


def test_shuffled_and_gaussian_rounds_together():
    """n users' shuffled reports and a Gaussian release, against the Gaussian limit of both."""
    pytest.importorskip("dp_accounting")
    curve = shuffled_rr(1, 10**6)
    mu = curve.loss_laws[0].mu
    both = to_pld(curve, mu / 100).compose(to_pld(gdp(2 * mu), mu / 100))
    for z in (1, 3):
        epsilon = z * math.sqrt(5) * mu
        assert both.get_delta_for_epsilon(epsilon) == pytest.approx(
            gdp(math.sqrt(5) * mu).delta(epsilon), rel=3e-3, abs=0
        )
