"""Exact Jensen-Shannon divergence against enumeration in exact rationals, 60-digit sums, and its expansion."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import DomainError, RandomizedResponse
from shuffledp.claims.checks._exactly import as_floats, neighbouring_laws
from shuffledp.core.divergences import jensen_shannon as of_two_laws
from shuffledp.core.divergences import midpoint_generator
from shuffledp.exact.jensen_shannon import _grid, jensen_shannon

BIN_A = ((Fraction(4, 5), Fraction(1, 5)), (Fraction(1, 2), Fraction(1, 2)))
BIN_B = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 4), Fraction(3, 4)))
RARE = ((Fraction(999, 1000), Fraction(1, 1000)), (Fraction(1, 50), Fraction(49, 50)))
RARER = ((Fraction(1, 10**6), 1 - Fraction(1, 10**6)), (Fraction(3, 10**6), 1 - Fraction(3, 10**6)))
TRI_A = ((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 5), Fraction(1, 4), Fraction(11, 20)))
QUAD_A = tuple(tuple(Fraction(i, 10) for i in row) for row in ((4, 3, 2, 1), (1, 1, 3, 5)))


def divergence(p, q):
    """Of two laws with entries of any exact type, from the definition, 60 digits."""
    with mp.workdps(60):
        total = mp.mpf(0)
        for h in p:
            a, b = (mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x for x in (p[h], q[h]))
            total += (a * mp.log(2 * a / (a + b)) + b * mp.log(2 * b / (a + b))) / 2
        return total


def enumerated(rows, n, ones):
    return divergence(*neighbouring_laws(rows, n, ones))


def response(epsilon0, n, ones):
    """The same for randomized response, with exp to 250 digits."""
    with mp.workdps(250):
        q = 1 / (1 + mp.exp(mp.mpf(epsilon0)))
        return enumerated(((1 - q, q), (q, 1 - q)), n, ones)


@pytest.mark.parametrize("close", [1e-3, 1e-7, 1e-11])
def test_close_rows_of_three_outputs_keep_their_digits(close):
    rows = [[0.5, 0.3125, 0.1875], [0.5 + close, 0.3125 - close, 0.1875]]
    exact = [[Fraction(x) for x in row] for row in rows]
    exact[1][1] = 1 - exact[1][0] - exact[1][2]
    rows[1][1] = float(exact[1][1])
    value = float(divergence(*neighbouring_laws(exact, 4, 1)))
    assert jensen_shannon(rows, 4, 1) == pytest.approx(value, rel=1e-12, abs=0)
    assert jensen_shannon(rows, 4, 0) != pytest.approx(value, rel=1e-7 * close, abs=0)


@pytest.mark.parametrize("rows", [BIN_A, BIN_B, RARE, RARER, TRI_A, QUAD_A])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_equals_exact_enumeration_at_every_composition(rows, n):
    for ones in range(n):
        exact = enumerated(rows, n, ones)
        assert jensen_shannon(as_floats(rows), n, ones) == pytest.approx(float(exact), rel=1e-14, abs=0)
        mirrored = jensen_shannon(as_floats(rows[::-1]), n, n - 1 - ones)  # symmetric in the two laws
        assert mirrored == pytest.approx(float(exact), rel=1e-14, abs=0)
    assert float(enumerated(rows, n, 0)) != pytest.approx(jensen_shannon(as_floats(rows), n + 1, 0), rel=1e-3)  # slip


@pytest.mark.parametrize("epsilon0", [1e-3, 0.5, 3.0, 20.0, 230.0])
@pytest.mark.parametrize("n, ones", [(2, 1), (9, 4), (25, 0), (25, 8), (25, 24)])
def test_randomized_response_to_fourteen_digits(epsilon0, n, ones):
    ours = jensen_shannon(RandomizedResponse(2, epsilon0), n, ones)
    assert ours == pytest.approx(float(response(epsilon0, n, ones)), rel=1e-14, abs=0)


@pytest.mark.parametrize("epsilon0, n, ones", [(60.0, 7, 3), (150.0, 30, 15), (200.0, 4, 1), (230.0, 12, 5)])
def test_hardly_any_lies(epsilon0, n, ones):
    """Where one law has next to nothing, rounding carries x beyond 1: once a nan."""
    ours = jensen_shannon(RandomizedResponse(2, epsilon0), n, ones)
    assert ours == pytest.approx(float(response(epsilon0, n, ones)), rel=3e-14, abs=0)
    ours = jensen_shannon([[0.75, 0.25], [1 - 2.0**-60, 2.0**-60]], 2, 1)
    rare = Fraction(1, 2**60)
    exact = enumerated(((Fraction(3, 4), Fraction(1, 4)), (1 - rare, rare)), 2, 1)
    assert ours == pytest.approx(float(exact), rel=3e-14, abs=0)


def test_reference_values():
    value = 0.0177744157825323767711012000436
    assert sdp.jensen_shannon(RandomizedResponse(2, 1.5), 20) == pytest.approx(value, rel=1e-14, abs=0)
    value = 0.00254682950288249319196796110207
    assert sdp.jensen_shannon(as_floats(BIN_B), 40, 10) == pytest.approx(value, rel=1e-14, abs=0)


@pytest.mark.parametrize("epsilon0", [0.01, 1.0, 3.0])
@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
def test_large_n_against_the_first_four_terms(epsilon0, n):
    with mp.workdps(50):
        k2 = 4 * mp.sinh(mp.mpf(epsilon0) / 2) ** 2
        k3, k4 = k2**2, k2**2 * (k2 - 2)
        # the fourth term is below 1e-14 of the first here
        first, second = k2 / 8 / n, (7 * k2**2 - 4 * k3) / 64 / mp.mpf(n) ** 2
        expected = first + second + (93 * k2**3 - 90 * k2 * k3 + 14 * k4) / 384 / mp.mpf(n) ** 3
    channel = RandomizedResponse(2, epsilon0)
    for ones in (0, n - 1):
        assert jensen_shannon(channel, n, ones) == pytest.approx(float(expected), rel=1e-14, abs=0)
    if n == 10**6:
        assert jensen_shannon(channel, n) != pytest.approx(float(first), rel=1e-14, abs=0)  # slip: one term


@pytest.mark.parametrize("n, ones", [(3000, 1000), (20_000, 3)])
def test_every_fourth_of_a_standard_deviation_is_as_good_as_every_count(n, ones, monkeypatch):
    channel = RandomizedResponse(2, 1.0)
    strided = jensen_shannon(channel, n, ones)
    monkeypatch.setattr("shuffledp.exact.jensen_shannon._grid", lambda v, resolved: (_grid(v, 1.0)[0], 1))
    assert jensen_shannon(channel, n, ones) == pytest.approx(strided, rel=4e-15, abs=0)
    coarse = lambda v, resolved: _grid(v, 64 * resolved)  # noqa: E731  slip: steps of two standard deviations
    monkeypatch.setattr("shuffledp.exact.jensen_shannon._grid", coarse)
    assert jensen_shannon(channel, n, ones) != pytest.approx(strided, rel=1e-10, abs=0)


def test_two_outputs_agree_with_the_histogram_path():
    rows = as_floats(BIN_A)
    split = [[rows[0][0], rows[0][1] / 2, rows[0][1] / 2], [rows[1][0], rows[1][1] / 2, rows[1][1] / 2]]
    for n, ones in ((30, 0), (30, 7), (30, 29), (400, 130)):  # a third output that tells nothing new
        assert jensen_shannon(split, n, ones) == pytest.approx(jensen_shannon(rows, n, ones), rel=1e-12, abs=0)


@pytest.mark.parametrize("x", [1e-9, 0.2235, 0.2237, 0.9, 1.0])
def test_midpoint_generator(x):
    with mp.workdps(40):
        y = mp.mpf(x)
        exact = ((1 + y) * mp.log(1 + y) + ((1 - y) * mp.log(1 - y) if x < 1 else 0)) / 2
    assert midpoint_generator(np.array([x, -x])) == pytest.approx([float(exact)] * 2, rel=1e-14, abs=0)


def test_one_user_more_or_less_is_what_two_given_laws_say():
    n, q = 12, 0.3
    before, after = (
        [math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(n + 1)],
        [
            (1 - q) * (math.comb(n - 1, j - 1) * q ** (j - 1) * (1 - q) ** (n - j) if j else 0)
            + q * (math.comb(n - 1, j) * q**j * (1 - q) ** (n - 1 - j))
            for j in range(n + 1)
        ],
    )
    rows = [[1 - q, q], [q, 1 - q]]
    assert jensen_shannon(rows, n) == pytest.approx(of_two_laws(before, after), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    "channel",
    [
        [[0.5, 0.6], [0.2, 0.8]],  # a row that does not sum to 1
        [[1.0, 0.0], [0.2, 0.8]],  # no full support
        [[0.3, 0.7], [0.3, 0.7]],  # equal rows
        [[0.3, 0.7], [0.2, 0.8], [0.1, 0.9]],
        [[1 - 1e-290, 1e-290], [0.5, 0.5]],
        RandomizedResponse(3, 1.0),
        "channel",
        [[math.nan, 0.7], [0.2, 0.8]],
    ],
)
def test_channels_that_are_refused(channel):
    with pytest.raises(DomainError):
        jensen_shannon(channel, 10)


@pytest.mark.parametrize(
    "n, ones", [(1, 0), (1.5, 0), (10, 10), (10, -1), (10, True), ("10", 0), (math.inf, 0), (10, 0.5)]
)
def test_numbers_that_are_refused(n, ones):
    with pytest.raises(DomainError):
        jensen_shannon([[0.3, 0.7], [0.2, 0.8]], n, ones)


def test_what_is_too_large_is_refused():
    with pytest.raises(DomainError, match="n <= 1000000000000000"):
        jensen_shannon([[0.3, 0.7], [0.2, 0.8]], 10**16)
    with pytest.raises(DomainError, match="cells"):
        jensen_shannon(as_floats(QUAD_A), 10**4)
