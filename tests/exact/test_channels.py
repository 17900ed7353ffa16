"""Shuffled finite channels against exact rational enumeration and published digits."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from shuffledp import (
    DomainError,
    fisher_constant,
    jensen_shannon,
    shuffled_channel,
    shuffled_messages,
    shuffled_rr,
)
from shuffledp.claims.checks._exactly import as_floats, digits, exact_log, neighbouring_laws
from shuffledp.core.randomizers import FiniteChannel, RandomizedResponse

TRI_A = ((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 5), Fraction(1, 4), Fraction(11, 20)))
BIN_A = ((Fraction(4, 5), Fraction(1, 5)), (Fraction(1, 2), Fraction(1, 2)))
HOLE = ((Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)))


def enumerated(rows, n, ones, order, direction):
    before, after = neighbouring_laws(rows, n, ones)
    p, q = (after, before) if direction == "forward" else (before, after)
    return float(sum(max(p[h] - order * q[h], 0) for h in p))


@pytest.mark.parametrize("rows", [TRI_A, BIN_A, HOLE])
@pytest.mark.parametrize("n, ones", [(2, 0), (2, 1), (6, 0), (6, 2), (6, 5)])
def test_equals_exact_enumeration(rows, n, ones):
    positive = 0
    for order, direction in itertools.product((1, Fraction(11, 10), Fraction(3, 2), 2), ("forward", "reverse")):
        exact = enumerated(rows, n, ones, order, direction)
        delta = shuffled_channel(as_floats(rows), n, ones, direction).delta(math.log(order))
        assert delta == pytest.approx(exact, rel=1e-12, abs=1e-15)  # log(order) is rounded
        positive += exact > 0
    assert positive >= 2
    forward = shuffled_channel(as_floats(rows), n, ones, "forward")
    assert any(  # the slip: the other direction
        forward.delta(math.log(order)) != pytest.approx(enumerated(rows, n, ones, order, "reverse"), rel=1e-6, abs=0)
        for order in (Fraction(11, 10), Fraction(3, 2))
    )


def test_reference_value_of_three_outputs():
    value = 0.0768744318683561900059445410333
    assert shuffled_channel(as_floats(TRI_A), 9, 2, "reverse").delta(0.1) == pytest.approx(value, rel=1e-13, abs=0)


@pytest.mark.parametrize("n, ones", [(12, 0), (300, 0), (300, 100), (3000, 1500)])
def test_agrees_with_randomized_response_far_below_the_smallest_double(n, ones):
    epsilon = np.array([0, 0.02, 0.1, 0.5, 0.9])
    curve = shuffled_channel(RandomizedResponse(2, 1.0), n, ones)
    np.testing.assert_allclose(
        curve.log_delta(epsilon), shuffled_rr(1.0, n, ones).log_delta(epsilon), rtol=1e-12, atol=1e-11
    )


def test_a_message_only_one_input_sends_leaves_delta_positive_at_every_epsilon():
    curve = shuffled_channel(as_floats(HOLE), 5, direction="both")
    assert curve.delta(30.0) == pytest.approx(0.5, rel=1e-12, abs=0)
    with pytest.raises(DomainError, match="never reached"):
        curve.epsilon(0.4)


def test_finite_channel_and_rows_are_the_same():
    rows = as_floats(TRI_A)
    assert shuffled_channel(FiniteChannel(rows), 7).delta(0.3) == shuffled_channel(rows, 7).delta(0.3)


def test_delta_is_zero_beyond_the_largest_loss():
    curve = shuffled_channel(as_floats(BIN_A), 4)
    largest = math.log(2.5)  # all ones: (1/2)/(1/5)
    assert curve.delta(largest + 1e-9) == 0.0 and curve.delta(largest - 1e-9) > 0


@pytest.mark.parametrize(
    "arguments",
    [
        ([[0.5, 0.6], [0.5, 0.5]], 3),
        ([[0.5, math.nan], [0.5, 0.5]], 3),
        ([[0.5, 0.5]], 3),
        ([[0.5, 0.5], [0.3, 0.7], [0.1, 0.9]], 3),
        (RandomizedResponse(3, 1.0), 3),
        ("rows", 3),
        (BIN_A, 1),
        (BIN_A, 2.5),
        (BIN_A, 4, 4),
        (BIN_A, 4, -1),
        (BIN_A, 4, 0, "sideways"),
        (TRI_A, 10**4),
    ],
)
def test_hostile_arguments_are_refused(arguments):
    channel = as_floats(arguments[0]) if isinstance(arguments[0], tuple) else arguments[0]
    with pytest.raises(DomainError):
        shuffled_channel(channel, *arguments[1:])


CLOSE = [[["0.458", "0.542"], ["0.53", "0.47"]], [["0.4", "0.6"], ["0.40001", "0.59999"]]]
CLOSE += [
    [["0.4", "0.6"], ["0.4000000001", "0.5999999999"]],
    [["0.25", "0.75"], ["0.2500000000000001", "0.7499999999999999"]],
]


@pytest.mark.parametrize("rows", CLOSE)
@pytest.mark.parametrize("left", [1.0, 0.5, 1e-3, 1e-6, 1e-9])
def test_next_to_the_largest_loss_and_for_close_rows(rows, left):
    """Next to its largest value the loss itself is a double; the docstring says how far delta can be relied on."""
    rows, n = [[Fraction(float(row[0])), 1 - Fraction(float(row[0]))] for row in rows], 3
    before, after = neighbouring_laws(rows, n, 0)
    with mp.workdps(60):
        largest = float(exact_log(max(after[h] / before[h] for h in before)))
        epsilon = largest * (1 - left)
        order = mp.exp(epsilon)
        exact = mp.log(mp.fsum(max(digits(after[h]) - order * digits(before[h]), 0) for h in before))
    allowed = max(1e-11, 1e-13 / left)
    error = shuffled_channel(as_floats(rows), n, direction="forward").log_delta(epsilon) - float(exact)
    assert abs(error) < allowed
    slip = shuffled_channel(as_floats(rows), n + 1, direction="forward").log_delta(0.9 * epsilon) - float(exact)
    assert abs(slip) > allowed


@pytest.mark.parametrize("rows", [[[0.3, 0.7], [0.3, 0.7 + 1e-13]], [[0.5, 0.5], [0.5, 0.5 + 2**-53]]])
def test_rows_that_differ_by_rounding_alone_are_refused(rows):
    for call in (
        lambda: shuffled_channel(rows, 4, 1),
        lambda: shuffled_messages(rows, 4, 2, 1),
        lambda: shuffled_messages(rows, 4, 2, 1, bundled=True),
        lambda: jensen_shannon(rows, 4, 1),
        lambda: fisher_constant(rows, 0.5),
    ):
        with pytest.raises(DomainError, match="rows must differ"):
            call()
