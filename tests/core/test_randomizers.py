"""Local randomizers: blanket mass, law of the ratios, range and second moment of L, sampling, refusals."""

import math

import mpmath as mp
import numpy as np
import pytest

from shuffledp.core.domain import DomainError
from shuffledp.core.randomizers import (
    FiniteChannel,
    GaussianRandomizer,
    GenericRandomizer,
    LaplaceRandomizer,
    RandomizedResponse,
    two_input_rows,
)

CHANNEL = FiniteChannel([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.25, 0.5, 0.25]])
PURE = [RandomizedResponse(2, 0.3), RandomizedResponse(7, 3.0), LaplaceRandomizer(1.5), GenericRandomizer(2.0), CHANNEL]


@pytest.mark.parametrize(
    "value, digits",
    [
        (RandomizedResponse(10, 1).gamma, "0.8533674259065845151241834"),
        (GaussianRandomizer(1).gamma, "0.6170750774519737927245908"),
        (RandomizedResponse(3, 1).amplification_second_moment(0.1), "0.8934257336518948032645182"),
        (LaplaceRandomizer(1).amplification_second_moment(0.1), "0.8459112558819321041131856"),
    ],
)
def test_fifty_digit_values(value, digits):
    assert value == pytest.approx(float(digits), rel=1e-14, abs=0)


@pytest.mark.parametrize("randomizer", PURE, ids=repr)
def test_ratio_laws_are_laws_with_the_right_means(randomizer):
    for law in randomizer.ratio_laws():
        assert law.weight.min() >= 0 and law.weight.sum() == pytest.approx(1, rel=1e-14, abs=0)
        assert law.weight @ law.r == pytest.approx(1 / randomizer.gamma, rel=1e-13, abs=0)
        assert law.weight @ law.r_prime == pytest.approx(1 / randomizer.gamma, rel=1e-13, abs=0)


def test_finite_channel_agrees_with_its_definition():
    least = CHANNEL.matrix.min(axis=0)
    assert CHANNEL.gamma == pytest.approx(least.sum())
    assert CHANNEL.blanket == pytest.approx(least / least.sum())
    assert CHANNEL.epsilon0 == pytest.approx(math.log(3))
    rest = (CHANNEL.matrix - CHANNEL.gamma * CHANNEL.blanket) / (1 - CHANNEL.gamma)
    assert rest.min() >= 0 and rest.sum(axis=1) == pytest.approx([1, 1, 1])


def test_randomized_response_is_the_channel_with_its_matrix():
    rr = RandomizedResponse(4, 1.3)
    channel = FiniteChannel(rr.matrix)
    assert channel.epsilon0 == pytest.approx(rr.epsilon0) and channel.gamma == pytest.approx(rr.gamma)
    assert channel.amplification_range(0.2) == pytest.approx(rr.amplification_range(0.2))
    assert channel.amplification_second_moment(0.2) == pytest.approx(rr.amplification_second_moment(0.2))
    assert RandomizedResponse.from_gamma(4, rr.gamma).epsilon0 == pytest.approx(1.3, rel=1e-14, abs=0)


def test_laplace_second_moment_against_quadrature_of_the_densities():
    e0, eps = mp.mpf(2), mp.mpf("0.3")
    omega = lambda y: e0 / 2 * mp.exp(-e0 * abs(y - 0.5))  # noqa: E731
    mu = lambda x, y: e0 / 2 * mp.exp(-e0 * abs(y - x))  # noqa: E731
    exact = mp.quad(lambda y: (mu(0, y) - mp.exp(eps) * mu(1, y)) ** 2 / omega(y), [-30, 0, 0.5, 1, 30])
    assert LaplaceRandomizer(2).amplification_second_moment(0.3) == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_gaussian_moments_and_blanket_against_quadrature():
    sigma, eps = mp.mpf("0.8"), mp.mpf("0.3")
    mu = lambda x, y: mp.npdf(y, x, sigma)  # noqa: E731
    least = lambda y: min(mu(0, y), mu(1, y))  # noqa: E731
    gamma = mp.quad(least, [-9, 0, 0.5, 1, 10])
    moment = gamma * mp.quad(lambda y: (mu(0, y) - mp.exp(eps) * mu(1, y)) ** 2 / least(y), [-12, -3, 0.5, 4, 13])
    ours = GaussianRandomizer(0.8)
    assert ours.gamma == pytest.approx(float(gamma), rel=1e-12, abs=0)
    assert ours.amplification_second_moment(0.3) == pytest.approx(float(moment), rel=1e-9, abs=0)
    assert ours.blanket(0.2) == pytest.approx(float(least(mp.mpf("0.2")) / gamma), rel=1e-12, abs=0)


def test_what_is_printed_is_looser_and_what_is_generic_covers_every_channel():
    rng = np.random.default_rng(20190307)
    tightest = 0.0
    for _ in range(300):
        rows = rng.uniform(1, math.exp(rng.uniform(0.1, 4)), (2, rng.integers(2, 6)))
        channel = FiniteChannel(rows / rows.sum(axis=1, keepdims=True))
        generic = GenericRandomizer(channel.epsilon0)
        for epsilon in (0.01, 0.5 * channel.epsilon0):
            low, high = channel.amplification_range(epsilon)
            for bound in (channel.amplification_range(epsilon, printed=True), generic.amplification_range(epsilon)):
                assert bound[0] <= low + 1e-12 and high <= bound[1] + 1e-12
            moment = channel.amplification_second_moment(epsilon)
            for bound in (
                channel.amplification_second_moment(epsilon, printed=True),
                generic.amplification_second_moment(epsilon),
            ):
                assert moment <= bound * (1 + 1e-12)
            tightest = max(tightest, moment / generic.amplification_second_moment(epsilon))
    assert tightest > 0.9  # a constant ten per cent smaller would be violated


def test_samples_follow_the_matrix():
    rng = np.random.default_rng(1)
    for channel in (CHANNEL, RandomizedResponse(3, 1.0)):
        for x in range(3):
            seen = np.bincount(channel.sample(np.full(40_000, x), rng), minlength=3) / 40_000
            assert np.abs(seen - channel.matrix[x]).max() < 0.012  # more than four standard errors
    noise = LaplaceRandomizer(2.0).sample(np.zeros(40_000), rng)
    assert np.mean(np.abs(noise)) == pytest.approx(0.5, rel=0.03, abs=0)
    assert GaussianRandomizer(2.0).sample(np.ones((3, 2)), rng).shape == (3, 2)


BAD = [
    lambda: RandomizedResponse(1, 1.0),
    lambda: RandomizedResponse(2.5, 1.0),
    lambda: RandomizedResponse(2, 0),
    lambda: RandomizedResponse(2, math.nan),
    lambda: RandomizedResponse(2, 800),
    lambda: RandomizedResponse.from_gamma(3, 0),
    lambda: RandomizedResponse.from_gamma(3, 1),
    lambda: LaplaceRandomizer(-1),
    lambda: LaplaceRandomizer(math.inf),
    lambda: GaussianRandomizer(0),
    lambda: GaussianRandomizer("1"),
    lambda: GaussianRandomizer(1).amplification_range(0.1),
    lambda: GaussianRandomizer(1).ratio_laws(),
    lambda: GaussianRandomizer(1).amplification_second_moment(0.1, printed=True),
    lambda: GenericRandomizer(True),
    lambda: GenericRandomizer(1).blanket,
    lambda: GenericRandomizer(1).sample([0], np.random.default_rng(0)),
    lambda: FiniteChannel([[0.5, 0.5]]),
    lambda: FiniteChannel([[0.5, 0.5], [0.5, 0.5]]),
    lambda: FiniteChannel([[0.5, 0.5], [0.6, 0.5]]),
    lambda: FiniteChannel([[1.5, -0.5], [0.5, 0.5]]),
    lambda: FiniteChannel([[0.5, 0.5], [1.0]]),
    lambda: FiniteChannel([[1.0, 0.0], [0.0, 1.0]]).blanket,
    lambda: FiniteChannel([[1.0, 0.0], [0.5, 0.5]]).ratio_laws(),
    lambda: CHANNEL.amplification_range(-0.1),
    lambda: CHANNEL.amplification_second_moment(math.nan),
    lambda: CHANNEL.sample([3], np.random.default_rng(0)),
    lambda: RandomizedResponse(2, 1).sample([0.5], np.random.default_rng(0)),
    lambda: LaplaceRandomizer(1).sample([1.5], np.random.default_rng(0)),
]


@pytest.mark.parametrize("call", BAD)
def test_out_of_range_is_refused(call):
    with pytest.raises(DomainError):
        call()


def test_rows_of_a_channel_with_two_inputs():
    assert np.array_equal(two_input_rows([[0.8, 0.2], [0.5, 0.5]]), [[0.8, 0.2], [0.5, 0.5]])
    assert two_input_rows(RandomizedResponse(2, 1.0)).shape == (2, 2)
    assert two_input_rows([[1.0, 0.0], [0.5, 0.5]]).shape == (2, 2)
    for rows, message in (
        (RandomizedResponse(3, 1.0), "two inputs"),
        ([[1.0, 0.0], [0.5, 0.5]], "full support"),
        ([[0.5, 0.5], [0.5, 0.5]], "must differ"),
        ([[0.5, 0.4], [0.5, 0.5]], "sum"),
    ):
        with pytest.raises(DomainError, match=message):
            two_input_rows(rows, full_support=True)
