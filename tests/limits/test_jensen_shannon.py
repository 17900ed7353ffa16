"""Expansion of the Jensen-Shannon divergence: its slopes, its coefficients, and the bound below the exact value."""

import math
from fractions import Fraction

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import DomainError, RandomizedResponse, jensen_shannon, jsd_expansion, jsd_lower_bound

RR = RandomizedResponse(2, 1.0)
BIN_A = [[0.8, 0.2], [0.5, 0.5]]
BIN_B = [[2 / 3, 1 / 3], [0.25, 0.75]]
TRI_A = [[0.5, 0.3, 0.2], [0.2, 0.25, 0.55]]
TRI_B = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]
QUAD_A = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]]


def slope(channel, n, share, order):
    """Of the log of the error against the log of n, between n and 2n users."""
    errors = []
    for users in (n, 2 * n):
        ones = min(int(share * users), users - 1)
        errors.append(abs(jensen_shannon(channel, users, ones) - jsd_expansion(channel, users, ones, order)))
    return math.log2(errors[1] / errors[0])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("channel", [RR, BIN_A, BIN_B])
def test_canonical_error_falls_with_the_next_power(channel, share, order):
    n = {1: 20_000, 2: 4000, 3: 1000, 4: 100}[order]
    assert slope(channel, n, share, order) == pytest.approx(-order - 1, abs=0.06)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.7])
@pytest.mark.parametrize("channel", [RR, BIN_A, BIN_B])
def test_error_at_any_composition_falls_with_the_next_power(channel, share, order):
    assert slope(channel, 4000, share, order) == pytest.approx(-order - 1, abs=0.02)


@pytest.mark.parametrize("channel, n", [(TRI_A, 80), (TRI_B, 80), (QUAD_A, 24)])
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_error_with_more_outputs(channel, n, share):
    assert slope(channel, n, share, 1) == pytest.approx(-2, abs=0.12)
    assert slope(channel, n, share, 2) == pytest.approx(-3, abs=0.2)


def test_the_wrong_third_coefficient_would_be_noticed():
    """The second term centred at k/n instead of the midpoint leaves an error of the second power."""
    errors = []
    for n in (4000, 8000):
        ones = n // 4
        shifted = sdp.fisher_constant(BIN_A, ones / n) / (8 * n)
        right = sdp.fisher_constant(BIN_A, (ones + 0.5) / n) / (8 * n)
        errors.append(abs(jensen_shannon(BIN_A, n, ones) - (jsd_expansion(BIN_A, n, ones) - right + shifted)))
    assert math.log2(errors[1] / errors[0]) == pytest.approx(-2, abs=0.05)


@pytest.mark.parametrize("epsilon0", [0.5, 1.0, 2.0])
def test_randomized_response_in_closed_form(epsilon0):
    n, fisher = 150, 4 * math.sinh(epsilon0 / 2) ** 2
    channel = RandomizedResponse(2, epsilon0)
    first, second = fisher / 8, 3 * fisher**2 / 64
    third = fisher**2 * (17 * fisher - 28) / 384
    for ones in (0, n - 1):
        assert jsd_expansion(channel, n, ones, 1) == pytest.approx(first / n, rel=1e-13, abs=0)
        assert jsd_expansion(channel, n, ones, 2) == pytest.approx(first / n + second / n**2, rel=1e-13, abs=0)
        total = first / n + second / n**2 + third / n**3
        assert jsd_expansion(channel, n, ones, 3) == pytest.approx(total, rel=1e-13, abs=0)
    for ones in (1, 37, 75, 148):
        pi = (ones + 0.5) / n
        second = fisher**2 * (4 * pi - 1) * (4 * pi - 3) / 64
        assert jsd_expansion(channel, n, ones) == pytest.approx(first / n + second / n**2, rel=1e-13, abs=0)


def test_reference_value_of_the_second_coefficient():
    n, ones = 15, 1  # pi = 1/10
    second = (jsd_expansion(RR, n, ones, 2) - jsd_expansion(RR, n, ones, 1)) * n**2
    assert second == pytest.approx(0.0287563161513544968504663109938, rel=1e-12, abs=0)


@pytest.mark.parametrize("channel", [BIN_A, BIN_B, TRI_A, TRI_B, QUAD_A])
def test_second_coefficient_at_the_ends_is_the_canonical_one(channel):
    """Towards pi = 0 the formula for any composition becomes the one in cumulants, up to the shift by half a user."""
    n = 10**7
    canonical = (jsd_expansion(channel, n, 0, 2) - jsd_expansion(channel, n, 0, 1)) * n**2
    rows = np.array(channel)
    near = (jsd_expansion(rows, n, 1, 2) - jsd_expansion(rows, n, 1, 1)) * n**2
    slope_of_fisher = (sdp.fisher_constant(rows, 1e-6) - sdp.fisher_constant(rows, 0)) / 1e-6
    assert near + slope_of_fisher / 16 == pytest.approx(canonical, abs=2e-5, rel=0)


@pytest.mark.parametrize("channel", [BIN_A, BIN_B, TRI_A, TRI_B, QUAD_A])
def test_exchanging_the_inputs_changes_nothing(channel):
    for ones, order in ((0, 4), (39, 4), (13, 2)):
        mirrored = jsd_expansion(channel[::-1], 40, 39 - ones, order)
        assert mirrored == pytest.approx(jsd_expansion(channel, 40, ones, order), rel=1e-12, abs=0)
        assert jsd_lower_bound(channel[::-1], 40, 39 - ones) == pytest.approx(
            jsd_lower_bound(channel, 40, ones), rel=1e-13, abs=0
        )


@pytest.mark.parametrize(
    "channel", [BIN_A, BIN_B, TRI_A, QUAD_A, RandomizedResponse(2, 0.01), RandomizedResponse(2, 4.0)]
)
@pytest.mark.parametrize("n", [2, 3, 5, 8, 16])
def test_the_bound_is_below_the_exact_value(channel, n):
    for ones in range(n):
        assert jsd_lower_bound(channel, n, ones) <= jensen_shannon(channel, n, ones)


def test_the_bound_is_below_at_any_n_and_its_ratio_tends_to_one():
    for epsilon0 in (0.1, 1.0, 5.0):
        channel = RandomizedResponse(2, epsilon0)
        for n in (10**2, 10**4, 10**9, 10**15):
            for ones in (0, n // 4, n // 2):
                exact, bound = jensen_shannon(channel, n, ones), jsd_lower_bound(channel, n, ones)
                assert bound <= exact * (1 + 1e-14)  # the accuracy of the exact value
        assert bound == pytest.approx(exact, rel=3e-14, abs=0)
    # the slip: without the second term it is no bound
    assert sdp.fisher_constant(RR, 0.5) / (8 * 100) > jensen_shannon(RR, 100, 50)


CLOSE = [[0.6733309247050734, 0.3266690752949266], [0.673330924586971, 0.326669075413029]]  # the second adds up to 1-


@pytest.mark.parametrize("channel", [CLOSE, CLOSE[::-1], [row[::-1] for row in CLOSE]])
def test_the_bound_reads_close_rows_as_the_exact_value_does(channel):
    for n, ones in ((3, 1), (3, 0), (10**6, 10**5)):
        bound, exact = jsd_lower_bound(channel, n, ones), jensen_shannon(channel, n, ones)
        assert bound <= exact
    assert jensen_shannon(channel, 3, 1) == pytest.approx(2.6422221868404094558e-21, rel=1e-14, abs=0)


def test_close_rows_on_either_side_of_one_half_are_read_alike():
    channel = [[0.5 + 1e-10, 0.5 - 1.00001e-10], [0.5 - 3e-10, 0.5 + 3.00001e-10]]
    assert jsd_lower_bound(channel, 50, 20) <= jensen_shannon(channel, 50, 20)
    assert jsd_lower_bound(channel, 50, 20) == pytest.approx(jensen_shannon(channel, 50, 20), rel=2e-14, abs=0)


def test_the_bound_is_exact_arithmetic_rounded_down():
    fisher = Fraction(576, 167)  # tri_b at pi = 1/4
    n = 10
    assert sdp.fisher_constant(TRI_B, 0.25) == pytest.approx(float(fisher), rel=1e-14, abs=0)
    ours = jsd_lower_bound(TRI_B, n, 2)  # (2 + 1/2)/10
    assert 0 <= 1 - Fraction(ours) / (fisher / (8 * n + 2 * fisher)) < 3e-14


@pytest.mark.parametrize("ones, order", [(1, 3), (5, 4), (0, 5), (0, 0), (0, 1.5), (0, True), (10, 1), (-1, 1)])
def test_orders_and_compositions_that_are_refused(ones, order):
    with pytest.raises(DomainError):
        jsd_expansion(RR, 10, ones, order)


def test_coefficients_beyond_doubles_are_refused():
    with pytest.raises(DomainError, match="not a double"):
        jsd_expansion([[1 - 1e-200, 1e-200], [0.5, 0.5]], 10)


def test_the_message_says_which_orders_there_are():
    with pytest.raises(DomainError, match="all others are alike"):
        jsd_expansion(RR, 10, 4, 3)


@pytest.mark.parametrize("function", [jsd_expansion, jsd_lower_bound])
@pytest.mark.parametrize(
    "channel",
    [
        [[0.5, 0.6], [0.2, 0.8]],
        [[1.0, 0.0], [0.2, 0.8]],
        [[0.3, 0.7], [0.3, 0.7]],
        RandomizedResponse(3, 1.0),
        None,
    ],
)
def test_channels_that_are_refused(function, channel):
    for ones in (0, 4, 9):
        with pytest.raises(DomainError):
            function(channel, 10, ones)


@pytest.mark.parametrize("function", [jsd_expansion, jsd_lower_bound])
@pytest.mark.parametrize("n, ones", [(1, 0), (2.5, 0), (math.nan, 0), (10, 10), (10, "0"), (10**400, 0)])
def test_numbers_that_are_refused(function, n, ones):
    with pytest.raises(DomainError):
        function(RR, n, ones)
