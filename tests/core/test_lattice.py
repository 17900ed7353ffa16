"""Gaussian noise: the lattice bound against integrals at one and two users, reference values, and its own slips."""

import math

import numpy as np
import pytest

from shuffledp.bounds.blanket import blanket_exact
from shuffledp.core import lattice
from shuffledp.core.gaussian import gaussian_curve
from shuffledp.core.randomizers import GaussianRandomizer


@pytest.mark.parametrize("sigma, epsilon", [(1.0, 0.3), (2.0, 0.0), (0.5, 1.5)])
def test_one_user_is_the_gaussian_mechanism(sigma, epsilon):
    delta = blanket_exact(GaussianRandomizer(sigma), 1).delta(epsilon)
    exact = gaussian_curve(sigma, 1.0).delta(epsilon)
    assert exact * (1 - 1e-9) <= delta < exact * 1.005


def two_users(sigma, epsilon):
    """Half of E(G_1 + G_2)_+, by integrating the excess of G over -G_1 over the output of the first user."""
    gamma, e = GaussianRandomizer(sigma).gamma, math.exp(epsilon)

    def excess(x):
        above = x >= 1 - e
        call = lattice._excess(sigma, np.maximum(e + x, 1.0))
        put = e * lattice._excess(sigma, np.maximum((1 - x) / e, 1.0))
        return np.where(above, call, put + (1 - e) - gamma * x)

    y = 0.5 + sigma * np.linspace(-14, 14, 400_001)
    low = np.exp(-((np.abs(y - 0.5) + 0.5) ** 2) / (2 * sigma**2)) / math.sqrt(2 * math.pi) / sigma
    ratio = np.exp(np.abs(y - 0.5) / sigma**2)
    first = np.where(y < 0.5, ratio - e, 1 - e * ratio)
    # the second user answers outside the blanket with probability 1 - gamma, and then adds 0
    inner = excess(-first) + (1 - gamma) * np.maximum(first, 0)
    return 0.5 * ((low * inner).sum() * (y[1] - y[0]) + (1 - gamma) * float(excess(np.array(0.0))))


@pytest.mark.parametrize("sigma, epsilon", [(1.0, 0.2), (2.0, 0.1)])
def test_two_users_by_quadrature(sigma, epsilon):
    exact = two_users(sigma, epsilon)
    delta = blanket_exact(GaussianRandomizer(sigma), 2).delta(epsilon)
    assert exact * (1 - 1e-6) <= delta < exact * 1.005
    assert exact < 0.95 * gaussian_curve(sigma, 1.0).delta(epsilon)


@pytest.mark.parametrize(
    "sigma, epsilon, n, reference",
    [(1, 0.3, 1000, 1.4443e-8), (2, 0.1, 1000, 9.23e-10), (1, 0.05, 10**4, 8.853e-6)],
)
def test_reference_values(sigma, epsilon, n, reference):
    delta = blanket_exact(GaussianRandomizer(sigma), n).delta(epsilon)
    assert delta == pytest.approx(reference, rel=2e-3, abs=0)


def test_the_weights_are_a_law_with_the_mean_of_the_capped_variable():
    sigma, epsilon = 1.0, 0.3
    gamma, e = GaussianRandomizer(sigma).gamma, math.exp(epsilon)
    step, floor, cap = 0.05, -400, 900
    weights = lattice._weights(sigma, gamma, epsilon, step, floor, cap)
    points = step * np.arange(floor, cap + 1)
    beyond = lattice._excess(sigma, e + cap * step)
    below = e * lattice._excess(sigma, (1 - floor * step) / e)
    assert weights.sum() == pytest.approx(1, rel=1e-12, abs=0)
    assert weights @ points == pytest.approx(1 - e - beyond + below, rel=1e-10, abs=0)
    assert weights @ points != pytest.approx(1 - e, rel=1e-10, abs=0)


def test_a_finer_lattice_gives_less_and_a_coarse_one_much_more(monkeypatch):
    curve = blanket_exact(GaussianRandomizer(2), 1000)
    usual = curve.delta(0.1)
    monkeypatch.setattr(lattice, "_FINENESS", 200)
    fine = curve.delta(0.1)
    monkeypatch.setattr(lattice, "_FINENESS", 3)
    coarse = curve.delta(0.1)
    assert fine < usual < 1.002 * fine and coarse > 1.05 * fine


def test_inverse_is_on_the_safe_side():
    curve = blanket_exact(GaussianRandomizer(2), 1000)
    epsilon = curve.epsilon(1e-6)
    assert curve.delta(epsilon) <= 1e-6 < curve.delta(0.99 * epsilon)
