"""What the argument checks accept and refuse, and that the message names the condition."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp import DomainError
from shuffledp.core.domain import choice, integer, probability_vector, real, real_array

NOT_NUMBERS = ["1", None, True, np.True_, 1j, [1.0], {}, object()]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float32("nan")]


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), Fraction(1), np.array(1.0)])
def test_real_and_integer_accept_every_real_scalar(value):
    assert real("x", value) == 1.0 and type(real("x", value)) is float
    assert integer("x", value) == 1 and type(integer("x", value)) is int


@pytest.mark.parametrize("value", NOT_NUMBERS + NOT_FINITE)
def test_real_and_integer_refuse(value):
    for check in (real, integer):
        with pytest.raises(DomainError, match="x"):
            check("x", value)


def test_integer_takes_integral_floats_only():
    assert integer("n", 1e6) == 10**6
    assert integer("n", 10**40) == 10**40
    with pytest.raises(DomainError, match="integer"):
        integer("n", 1.5)


def test_an_integer_no_double_holds_is_refused():
    with pytest.raises(DomainError, match="too large"):
        real("x", 10**400)
    with pytest.raises(DomainError, match="at most 1e300"):
        integer("n", 10**400, at_least=1)
    assert integer("n", 10**300) == 10**300


@pytest.mark.parametrize(
    "limits, inside, outside, condition",
    [
        ({"above": 0}, 1e-300, 0, "x > 0"),
        ({"at_least": 0}, 0, -1e-300, "x >= 0"),
        ({"below": 1}, 0.5, 1, "x < 1"),
        ({"at_most": 1}, 1, 1 + 1e-15, "x <= 1"),
        ({"above": 0, "below": 1}, 0.5, 1, "x > 0 and x < 1"),
    ],
)
def test_ranges_are_strict_or_closed_as_stated(limits, inside, outside, condition):
    assert real("x", inside, **limits) == inside
    assert real_array("x", [inside, inside], **limits).tolist() == [inside, inside]
    for check in (lambda: real("x", outside, **limits), lambda: real_array("x", [inside, outside], **limits)):
        with pytest.raises(DomainError) as caught:
            check()
        assert condition in str(caught.value)


def test_real_array_keeps_the_shape():
    assert real_array("x", 2).shape == ()
    assert real_array("x", [[1, 2, 3]]).shape == (1, 3)
    assert real_array("x", []).shape == (0,)
    assert real_array("x", [Fraction(1, 2), 1]).tolist() == [0.5, 1.0]


@pytest.mark.parametrize("value", ["12", ["1"], [True], [None], [1j], [[1.0], [1.0, 2.0]], [1.0, math.nan], [math.inf]])
def test_real_array_refuses(value):
    with pytest.raises(DomainError, match="x"):
        real_array("x", value)


def test_probability_vector():
    assert probability_vector("p", [0.25, 0.75]).tolist() == [0.25, 0.75]
    for bad in ([0.5, 0.6], [-0.5, 1.5], [], [[1.0]], 1.0, [0.5, 0.5 + 1e-9]):
        with pytest.raises(DomainError, match="p"):
            probability_vector("p", bad)


def test_choice():
    assert choice("side", "left", ("left", "right")) == "left"
    for bad in ("up", 1, None, ["left"]):
        with pytest.raises(DomainError, match="side must be one of 'left', 'right'"):
            choice("side", bad, ("left", "right"))
