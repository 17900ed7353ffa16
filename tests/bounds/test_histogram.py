"""Theorem 3.1 sharpened: accuracy, safety against the exact blanket and the exact curve, and what is refused."""

import math

import mpmath as mp
import pytest

from shuffledp.bounds.blanket import blanket_exact
from shuffledp.bounds.histogram import shuffled_rr_gamma, shuffled_rr_gamma_sharp
from shuffledp.core.domain import DomainError
from shuffledp.core.randomizers import RandomizedResponse
from shuffledp.exact.k_ary import shuffled_krr


@pytest.mark.parametrize("epsilon", [1e-5, 1e-3, 0.2, 1.0])
@pytest.mark.parametrize("delta", [0.7, 1e-6, 1e-300])
def test_against_fifty_digits(epsilon, delta):
    k, n = 7, 10**15
    with mp.workdps(50):
        s = mp.mpf(epsilon) / 2
        f = 2 * (1 - mp.exp(mp.log(mp.cosh(s)) - s * mp.tanh(s)))
        exact = -k * mp.log(mp.mpf(delta)) / (n * f)
    gamma = shuffled_rr_gamma_sharp(k, n, epsilon, delta)
    assert gamma == pytest.approx(float(exact), rel=1e-14, abs=0)
    assert gamma <= 4.77 * k * -math.log(delta) / (n * epsilon**2)
    assert gamma < shuffled_rr_gamma(k, n, epsilon, delta) / 2.9


@pytest.mark.parametrize(
    "k, n, epsilon, delta", [(2, 10**4, 1.0, 1e-6), (3, 300, 1.0, 0.7), (10, 10**6, 0.1, 1e-6), (10, 10**8, 0.5, 1e-30)]
)
def test_it_is_private_and_half_of_it_is_not(k, n, epsilon, delta):
    gamma = shuffled_rr_gamma_sharp(k, n, epsilon, delta)
    assert blanket_exact(RandomizedResponse.from_gamma(k, gamma), n).delta(epsilon) <= delta
    if delta < 0.1 and k > 2:
        less = RandomizedResponse.from_gamma(k, 0.43 * gamma).epsilon0
        assert shuffled_krr(k, less, n).delta(epsilon) > delta


@pytest.mark.parametrize(
    "arguments",
    [
        (1, 10**6, 0.5, 1e-6),
        (2, 1, 0.5, 1e-6),
        (2, 1.5, 0.5, 1e-6),
        (2, 10**6, 0, 1e-6),
        (2, 10**6, 1.01, 1e-6),
        (2, 10**6, math.nan, 1e-6),
        (2, 10**6, 0.5, 0),
        (2, 10**6, 0.5, 0.71),
        (2, 10**6, "0.5", 1e-6),
        (True, 10**6, 0.5, 1e-6),
        (2, 10**400, 0.5, 1e-6),
        (10**300, 10**6, 0.5, 1e-6),
        (2, 10**6, 1e-200, 1e-6),
    ],
)
def test_out_of_range_is_refused(arguments):
    with pytest.raises(DomainError):
        shuffled_rr_gamma_sharp(*arguments)


def test_it_says_how_many_users_would_do():
    with pytest.raises(DomainError, match=r"needs n >= (\d+)") as refusal:
        shuffled_rr_gamma_sharp(10, 100, 1.0, 1e-6)
    least = int(str(refusal.value).split("n >= ")[1].split()[0])
    assert shuffled_rr_gamma_sharp(10, least, 1.0, 1e-6) < 1
    with pytest.raises(DomainError):
        shuffled_rr_gamma_sharp(10, least - 1, 1.0, 1e-6)
