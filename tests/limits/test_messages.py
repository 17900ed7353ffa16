"""Limits for several messages: the product channel by brute force, the ends, the equality case, exact curves."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp import (
    DomainError,
    RandomizedResponse,
    bundled_mu,
    fisher_constant,
    gdp,
    shuffled_messages,
    unbundled_mu,
)
from shuffledp.limits.messages import bundled_fisher_constant

CHANNELS = [
    [[2 / 3, 1 / 3], [1 / 4, 3 / 4]],
    [[0.5, 0.3, 0.2], [0.2, 0.25, 0.55]],
    [[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]],
]


@pytest.mark.parametrize("rows", CHANNELS, ids=["two", "three", "four"])
@pytest.mark.parametrize("messages", [1, 2, 3, 4])
@pytest.mark.parametrize("pi", [0, 0.25, 0.5, 0.9, 1])
def test_types_give_what_all_sequences_give(rows, messages, pi):
    product = [[math.prod(s) for s in itertools.product(row, repeat=messages)] for row in rows]
    brute = fisher_constant(np.array(product) / np.sum(product, axis=1, keepdims=True), pi)
    assert bundled_fisher_constant(rows, pi, messages) == pytest.approx(brute, rel=1e-13, abs=0)
    ours = bundled_mu(rows, 1000, pi, messages)
    assert ours == pytest.approx(math.sqrt(brute / 1000), rel=1e-13, abs=0)
    free = unbundled_mu(rows, 1000, pi, messages)
    assert free == pytest.approx(math.sqrt(messages * fisher_constant(rows, pi) / 1000), rel=1e-15, abs=0)
    assert free <= ours * (1 + 1e-14)


@pytest.mark.parametrize("rows", [*CHANNELS, RandomizedResponse(2, 1.0)], ids=["two", "three", "four", "rr"])
@pytest.mark.parametrize("messages", [2, 10, 50])
def test_at_the_ends_the_power_of_one_plus_chi_square(rows, messages):
    for pi in (0, 1):
        power = math.expm1(messages * math.log1p(fisher_constant(rows, pi)))
        assert bundled_fisher_constant(rows, pi, messages) == pytest.approx(power, rel=1e-12, abs=0)
    inside = math.expm1(messages * math.log1p(fisher_constant(rows, 0.5)))
    assert bundled_fisher_constant(rows, 0.5, messages) < inside * (1 - 1e-3)  # the slip: the same at one half


def test_equality_for_two_messages_of_randomized_response_at_balance():
    for epsilon0 in (1e-9, 0.5, 2.0, 10.0, 40.0):
        channel = RandomizedResponse(2, epsilon0)
        twice = 2 * fisher_constant(channel, 0.5)
        assert bundled_fisher_constant(channel, 0.5, 2) == pytest.approx(twice, rel=1e-13, abs=0)
    channel = RandomizedResponse(2, 1.0)
    assert bundled_fisher_constant(channel, 0.45, 2) > 2 * fisher_constant(channel, 0.45) * (1 + 1e-4)
    assert bundled_fisher_constant(channel, 0.5, 3) > 3 * fisher_constant(channel, 0.5) * (1 + 1e-4)


def test_equality_at_the_predicted_composition_of_any_binary_channel():
    for rows in ([[0.8, 0.2], [0.5, 0.5]], CHANNELS[0], [[0.9, 0.1], [0.6, 0.4]]):
        first, second = (one / zero for zero, one in zip(*rows, strict=True))
        pi = 1 / (1 + first * second)
        twice = 2 * fisher_constant(rows, pi)
        assert bundled_fisher_constant(rows, pi, 2) == pytest.approx(twice, rel=1e-13, abs=0)


@pytest.mark.parametrize("bundled, mu", [(False, unbundled_mu), (True, bundled_mu)])
@pytest.mark.parametrize("rows", [CHANNELS[0], RandomizedResponse(2, 1.0)], ids=["asymmetric", "rr"])
@pytest.mark.parametrize("pi", [0.0, 0.3])
def test_exact_curves_approach_the_limit(bundled, mu, rows, pi):
    errors = []
    for n in (50, 200):
        scale = mu(rows, n, pi, 2)
        curve = shuffled_messages(rows, n, 2, round(pi * n), bundled)
        epsilons = scale * np.arange(4)
        errors.append(np.abs(curve.delta(epsilons) - gdp(scale).delta(epsilons)).max() / scale)
    assert errors[1] < 0.65 * errors[0] and errors[1] < 0.02  # of order mu, against delta of order mu
    single = scale / math.sqrt(2)  # the slip: as if each user sent one message
    assert np.abs(curve.delta(epsilons) - gdp(single).delta(epsilons)).max() / scale > 0.1


def test_binary_closed_form_of_two_messages():
    a, b, pi = Fraction(1, 5), Fraction(1, 2), Fraction(3, 8)
    zero = [(1 - a) ** 2, a * (1 - a), a * (1 - a), a * a]
    one = [(1 - b) ** 2, b * (1 - b), b * (1 - b), b * b]
    A = sum(x * y / ((1 - pi) * x + pi * y) for x, y in zip(zero, one, strict=True))
    exact = (1 / A - 1) / (pi * (1 - pi))
    assert bundled_fisher_constant([[0.8, 0.2], [0.5, 0.5]], 0.375, 2) == pytest.approx(float(exact), rel=1e-14, abs=0)


def test_extreme_arguments():
    assert bundled_mu(RandomizedResponse(2, 1e-9), 10**9, 0.5, 2) == pytest.approx(
        math.sqrt(2e-18 / 1e9), rel=1e-12, abs=0
    )
    assert bundled_mu([[1 - 1e-30, 1e-30], [0.5, 0.5]], 10**12, 0, 3) > 1e30
    assert bundled_mu([[0.5, 0.5], [1 - 1e-30, 1e-30]], 10, 0.5, 3) > 0
    with pytest.raises(DomainError, match="beyond the range"):
        bundled_mu(RandomizedResponse(2, 200.0), 100, 0, 10)
    with pytest.raises(DomainError, match="too many"):
        bundled_mu(CHANNELS[2], 100, 0, 1000)


@pytest.mark.parametrize("function", [bundled_mu, unbundled_mu])
@pytest.mark.parametrize(
    "change",
    [
        {"n": 1}, {"n": 10**400}, {"n": 1.5}, {"n": math.nan}, {"n": "10"}, {"pi": -0.1}, {"pi": 1.1}, {"pi": math.nan},
        {"messages": 0}, {"messages": 1.5}, {"messages": True}, {"channel": [[0.5, 0.5, 0], [0.1, 0.4, 0.5]]},
        {"channel": [[0.5, 0.5], [0.5, 0.5]]}, {"channel": RandomizedResponse(3, 1.0)},
    ],
    ids=str,
)  # fmt: skip
def test_hostile_arguments_are_refused(function, change):
    with pytest.raises(DomainError):
        function(**{"channel": CHANNELS[0], "n": 10, "pi": 0.5, "messages": 2} | change)
