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


ATOMS = [RandomizedResponse(5, 0.7), RandomizedResponse(2, 4.0), CHANNEL]
NOISES = [LaplaceRandomizer(2.0), LaplaceRandomizer(0.1), GaussianRandomizer(0.5), GaussianRandomizer(3.0)]


@pytest.mark.parametrize("randomizer", ATOMS, ids=repr)
def test_a_row_is_blanket_plus_remainder(randomizer):
    for x, row in enumerate(randomizer.matrix):
        remainder = randomizer.remainder(x)
        assert randomizer.law(x) == pytest.approx(row, rel=1e-15, abs=0)
        assert remainder.min() >= 0 and remainder.sum() == pytest.approx(1, rel=1e-15, abs=0)
        mixed = (1 - randomizer.gamma) * remainder + randomizer.gamma * randomizer.blanket
        assert mixed == pytest.approx(row, rel=1e-14, abs=0)
    assert (randomizer.matrix - 1.01 * randomizer.gamma * randomizer.blanket).min() < 0  # gamma is all there is


@pytest.mark.parametrize("randomizer", NOISES, ids=repr)
@pytest.mark.parametrize("x", [0.0, 0.3, 0.5, 1.0])
def test_a_density_is_blanket_plus_remainder(randomizer, x):
    law, blanket, remainder = randomizer.law(x), randomizer.blanket, randomizer.remainder(x)
    width = 40 / randomizer.epsilon0 if isinstance(randomizer, LaplaceRandomizer) else 12 * randomizer.sigma
    pieces = sorted({0.0, x, 0.5, 1.0} | {-width, 1 + width} | set(np.linspace(-width, 1 + width, 40)))
    node, weight = np.polynomial.legendre.leggauss(20)
    low, high = np.array(pieces[:-1])[:, None], np.array(pieces[1:])[:, None]
    y, w = 0.5 * (low + high + (high - low) * node), 0.5 * (high - low) * weight
    for density in (law, blanket, remainder):
        assert density(y).min() >= 0 and np.sum(w * density(y)) == pytest.approx(1, rel=1e-12, abs=0)
    mixed = (1 - randomizer.gamma) * remainder(y) + randomizer.gamma * blanket(y)
    assert mixed == pytest.approx(law(y), rel=1e-12, abs=0)
    least = np.minimum(randomizer.law(0)(y), randomizer.law(1)(y))
    assert randomizer.gamma * blanket(y) == pytest.approx(least, rel=1e-12, abs=0)
    assert np.all(law(y) >= least * (1 - 1e-12))


def test_the_blanket_of_laplace_noise_is_what_the_middle_sends():
    laplace, y = LaplaceRandomizer(1.3), np.linspace(-3, 4, 50)
    assert laplace.blanket(y) == pytest.approx(laplace.law(0.5)(y), rel=1e-14, abs=0)
    gauss = GaussianRandomizer(0.7)
    assert np.abs(gauss.blanket(y) / gauss.law(0.5)(y) - 1).max() > 0.1


def far_apart(seen, law, draws):
    """Largest distance in standard errors between observed frequencies and a law."""
    return np.max(np.abs(seen / draws - law) / np.sqrt(np.maximum(law * (1 - law), 1e-9) / draws))


@pytest.mark.parametrize("randomizer", ATOMS, ids=repr)
def test_the_parts_of_a_sample_follow_blanket_and_remainder(randomizer):
    rng, draws, k = np.random.default_rng(5), 40_000, randomizer.matrix.shape[1]
    for x in range(2):
        y, blanket = randomizer.sample_parts(np.full(draws, x), rng)
        assert far_apart(np.array([blanket.sum()]), np.array([randomizer.gamma]), draws) < 4.5
        assert far_apart(np.bincount(y, minlength=k), randomizer.matrix[x], draws) < 4.5
        assert far_apart(np.bincount(y[blanket], minlength=k), randomizer.blanket, blanket.sum()) < 4.5
        assert far_apart(np.bincount(y[~blanket], minlength=k), randomizer.remainder(x), (~blanket).sum()) < 4.5
        assert far_apart(np.bincount(y[blanket], minlength=k), randomizer.matrix[x], blanket.sum()) > 10


@pytest.mark.parametrize("randomizer", NOISES[::2], ids=repr)
def test_the_parts_of_a_noisy_sample_follow_blanket_and_remainder(randomizer):
    rng, draws, x = np.random.default_rng(6), 40_000, 0.2
    y, blanket = randomizer.sample_parts(np.full(draws, x), rng)
    assert far_apart(np.array([blanket.sum()]), np.array([randomizer.gamma]), draws) < 4.5
    edges = np.linspace(-0.5, 1.5, 9)
    node, weight = np.polynomial.legendre.leggauss(40)
    for density, part in ((randomizer.blanket, y[blanket]), (randomizer.remainder(x), y[~blanket])):
        inside = np.array([0.5 * (b - a) * weight @ density(0.5 * (a + b + (b - a) * node)) for a, b in
                           zip(edges[:-1], edges[1:], strict=True)])  # fmt: skip
        assert far_apart(np.histogram(part, edges)[0], inside, part.size) < 4.5


@pytest.mark.parametrize("randomizer", ATOMS, ids=repr)
def test_the_law_of_the_amplification_variable(randomizer):
    for epsilon in (0.0, 0.2, 0.7 * randomizer.epsilon0):
        found = [randomizer.amplification_law(epsilon, x, y) for x in range(2) for y in range(2) if x != y]
        for values, weights in found:
            assert weights.sum() == pytest.approx(1, rel=1e-14, abs=0) and np.all(np.diff(values) >= 0)
            assert values @ weights == pytest.approx(-math.expm1(epsilon), rel=1e-13, abs=1e-13)
        if randomizer is not CHANNEL:
            assert (found[0][0][0], found[0][0][-1]) == randomizer.amplification_range(epsilon)
            second = found[0][0] ** 2 @ found[0][1]
            assert second == pytest.approx(randomizer.amplification_second_moment(epsilon), rel=1e-14, abs=0)
    channel = FiniteChannel(ATOMS[0].matrix)
    assert channel.amplification_law(0.3)[0][[0, -1]] == pytest.approx(ATOMS[0].amplification_law(0.3)[0][[0, -1]])


@pytest.mark.parametrize("randomizer", NOISES, ids=repr)
def test_the_call_function_is_that_of_the_densities(randomizer):
    order = math.exp(0.05)
    reach = 30 / randomizer.epsilon0 if isinstance(randomizer, LaplaceRandomizer) else 10 * randomizer.sigma
    edges = np.linspace(-reach, 1 + reach, 400_001)
    y, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    gain, omega = randomizer.law(0)(y) - order * randomizer.law(1)(y), randomizer.blanket(y)
    knee = -randomizer.gamma * (order - 1)
    for s in (-0.5, knee - 0.01, knee, -0.01, 0.0, 0.04, 0.3):
        exact = width * np.maximum(gain - s * omega, 0).sum()
        assert randomizer.amplification_call(0.05, s) == pytest.approx(exact, rel=2e-6, abs=1e-12)
    s = np.linspace(-3, 3, 400)
    call = randomizer.amplification_call(0.05, s)
    assert call.shape == s.shape and np.all(np.diff(call) <= 0) and np.all(np.diff(call, 2) >= -1e-14)


def test_the_call_function_keeps_its_digits_where_it_is_small():
    sigma, gamma = mp.mpf("0.5"), mp.erfc(1 / mp.sqrt(2))
    for s in (0.1, 3.0, 1e4):
        u = s / gamma + mp.exp(mp.mpf(0.3))
        y = mp.mpf("0.5") - sigma**2 * mp.log(u)
        with mp.workdps(40):
            exact = mp.ncdf(y / sigma) - u * mp.ncdf((y - 1) / sigma)
        assert GaussianRandomizer(0.5).amplification_call(0.3, s) == pytest.approx(float(exact), rel=1e-12, abs=0)
    e0, eps = mp.mpf("2"), mp.mpf("0.3")
    top = mp.exp(e0 / 2) * -mp.expm1(eps - e0)  # the largest L
    for near in (1e-3, 1e-9):
        exact = mp.exp(-e0 / 2) * (mp.exp(e0 / 2) - mp.sqrt((top - near) / mp.exp(-e0 / 2) + mp.exp(eps)))
        found = LaplaceRandomizer(2).amplification_call(0.3, float(top) - near)
        assert found == pytest.approx(float(exact), rel=1e-6, abs=0)
    assert LaplaceRandomizer(2).amplification_call(0.3, float(top) + 1e-9) == 0


BAD = [
    lambda: CHANNEL.law(3),
    lambda: CHANNEL.remainder(0.5),
    lambda: RandomizedResponse(3, 1).law(-1),
    lambda: RandomizedResponse(3, 1).remainder(3),
    lambda: RandomizedResponse(3, 1).amplification_law(0.1, 0, 3),
    lambda: RandomizedResponse(3, 1).amplification_law(-0.1),
    lambda: RandomizedResponse(3, 1).amplification_law(0.1, 2, 2),
    lambda: CHANNEL.amplification_law(0.1, 0, 0),
    lambda: FiniteChannel([[1.0, 0.0], [0.5, 0.5]]).amplification_law(0.1),
    lambda: FiniteChannel([[0.5, 0.5], [0.5, 0.5 + 1e-13]]).remainder(0),
    lambda: LaplaceRandomizer(1).law(1.1),
    lambda: LaplaceRandomizer(1).remainder(math.nan),
    lambda: LaplaceRandomizer(1).amplification_call(0.1, [math.inf]),
    lambda: GaussianRandomizer(1).amplification_call(-1, 0.0),
    lambda: GaussianRandomizer(1).sample_parts([2], np.random.default_rng(0)),
    lambda: GenericRandomizer(1).law(0),
    lambda: GenericRandomizer(1).remainder(0),
    lambda: GenericRandomizer(1).sample_parts([0], np.random.default_rng(0)),
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
