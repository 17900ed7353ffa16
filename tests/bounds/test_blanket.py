"""Closed-form blanket bounds: reference values, validity against Lemma 5.3 enumerated, a false prefactor, refusals."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from shuffledp.bounds.blanket import (
    bennett_lemma,
    blanket_bennett,
    blanket_exact,
    blanket_hoeffding,
    blanket_mgf,
    hoeffding_lemma,
    shuffled_ldp_epsilon,
    shuffled_ldp_epsilon0,
    unsound_bennett_delta,
)
from shuffledp.bounds.histogram import shuffled_rr_gamma
from shuffledp.core.domain import DomainError
from shuffledp.core.randomizers import (
    FiniteChannel,
    GaussianRandomizer,
    GenericRandomizer,
    LaplaceRandomizer,
    RandomizedResponse,
)
from shuffledp.exact.k_ary import shuffled_krr
from shuffledp.exact.randomized_response import shuffled_rr

BOUNDS = (blanket_hoeffding, blanket_bennett, blanket_mgf)
RR = RandomizedResponse(2, 1.0)


@pytest.mark.parametrize(
    "value, digits",
    [
        (lambda: blanket_hoeffding(RandomizedResponse(2, 0.4), 5000).delta(0.02), "0.00001137683053897623127694001"),
        (lambda: blanket_bennett(RandomizedResponse(100, 0.4), 5000).delta(0.005), "3.360217120212555108172031e-9"),
        (lambda: blanket_hoeffding(GenericRandomizer(1), 10**4).delta(0.06), "0.000001732481152290076803112199"),
        (lambda: shuffled_rr_gamma(10, 10**4, 1, 1e-6), "0.2031415224915882306124138"),
        (lambda: RandomizedResponse(3, 1).amplification_second_moment(0.1), "0.8934257336518948032645182"),
        (lambda: LaplaceRandomizer(1).amplification_second_moment(0.1), "0.8459112558819321041131856"),
    ],
)
def test_fifty_digit_values(value, digits):
    assert value() == pytest.approx(float(digits), rel=1e-12, abs=0)


def test_the_published_generic_form_solves_to_the_published_epsilon():
    curve = blanket_hoeffding(GenericRandomizer(0.4), 5000, variant="published")
    assert curve.epsilon(1e-6) == pytest.approx(0.05746164784342912297734743, rel=1e-11, abs=0)
    assert blanket_hoeffding(GenericRandomizer(0.4), 5000).epsilon(1e-6) < 0.6 * curve.epsilon(1e-6)


def lemma_53(randomizer, n, epsilon):
    """Lemma 5.3 by enumeration of the counts of each value of L (and of messages outside the blanket)."""
    worst = 0.0
    for law in randomizer.ratio_laws():
        value = np.append(law.r - math.exp(epsilon) * law.r_prime, 0.0)
        weight = np.append(randomizer.gamma * law.weight, 1 - randomizer.gamma)
        total = 0.0
        for counts in itertools.product(range(n + 1), repeat=len(value) - 1):
            rest = n - sum(counts)
            if rest >= 0:
                counts = np.array((*counts, rest))
                ways = math.factorial(n) / math.prod(math.factorial(c) for c in counts)
                total += ways * math.prod(weight**counts) * max(float(counts @ value), 0.0) / n
        worst = max(worst, total)
    return worst


SMALL = [RR, RandomizedResponse(5, 2.0), GenericRandomizer(0.7), FiniteChannel([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2]])]


@pytest.mark.parametrize("randomizer", SMALL, ids=repr)
@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_lie_above_the_enumerated_blanket(bound, randomizer):
    for n in (1, 3, 12):
        for fraction in (0.05, 0.3, 0.9):
            epsilon = fraction * randomizer.epsilon0
            exact = lemma_53(randomizer, n, epsilon)
            assert bound(randomizer, n).delta(epsilon) >= exact * (1 - 1e-12)


def test_the_moment_generating_function_is_close():
    exact = lemma_53(RR, 40, 0.2)
    assert exact < blanket_mgf(RR, 40).delta(0.2) < 4 * exact


def sum_positive(values, weights, m):
    """E (L_1 + ... + L_m)_+ for a finite law."""
    return sum(
        math.prod(weights[i] for i in picks) * max(sum(values[i] for i in picks), 0.0)
        for picks in itertools.product(range(len(values)), repeat=m)
    )


def test_lemmas_hold_and_the_first_published_prefactor_does_not():
    rng = np.random.default_rng(2019)
    broken = tight = 0
    for _ in range(400):
        values = rng.normal(size=3) * np.exp(rng.normal(0, 2))
        weights = rng.dirichlet(np.ones(3))
        a, c = -weights @ values, weights @ values**2
        if a <= 1e-6 or values.max() <= 0:
            continue
        m = int(rng.integers(1, 6))
        exact = sum_positive(values, weights, m)
        bennett = bennett_lemma(a, values.max(), c, m, divide_by_e=True)
        hoeffding = hoeffding_lemma(a, np.ptp(values), m, divide_by_e=True)
        assert exact <= min(hoeffding, bennett) * (1 + 1e-12)
        assert bennett_lemma(a, values.max(), c, m) == pytest.approx(math.e * bennett, rel=1e-14, abs=0)
        assert hoeffding_lemma(a, np.ptp(values), m) == pytest.approx(math.e * hoeffding, rel=1e-14, abs=0)
        broken += exact > math.e * bennett / (a * m)
        tight = max(tight, exact / bennett)
    assert broken > 0 and tight > 0.25  # divided by 4 once more, the bound would be violated
    # the simplest case: L = +-100 with probabilities 1/4, 3/4, one term
    assert bennett_lemma(50.0, 100.0, 1e4, 1) / 50 < 25 == sum_positive([100, -100], [0.25, 0.75], 1)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    "randomizer", [GenericRandomizer(2.0), RandomizedResponse(3, 4.0), LaplaceRandomizer(3.0)], ids=repr
)
@pytest.mark.parametrize("n", [10, 10**4, 10**12])
def test_curves_decrease_and_stay_below_the_local_guarantee(bound, randomizer, n):
    e0 = randomizer.epsilon0
    curve = bound(randomizer, n)
    epsilons = np.linspace(0, 0.999 * e0, 400)
    logs = curve.log_delta(epsilons)
    assert np.all(np.diff(logs) <= 1e-9)
    assert np.all(np.exp(logs) <= (math.exp(e0) - np.exp(epsilons)) / (math.exp(e0) + 1) * (1 + 1e-12))
    assert curve.delta(e0) == 0.0
    epsilon = curve.epsilon(1e-6)
    assert curve.delta(epsilon) <= 1e-6 and (epsilon == 0 or curve.delta(epsilon * (1 - 1e-6)) > 1e-6)


@pytest.mark.parametrize("bound", [blanket_hoeffding, blanket_bennett])
@pytest.mark.parametrize("randomizer, variant", [(RR, "sharp"), (GenericRandomizer(1), "published")], ids=repr)
def test_the_factor_e_is_exactly_that(bound, randomizer, variant):
    plain, divided = (bound(randomizer, 10**5, variant=variant, divide_by_e=flag) for flag in (False, True))
    assert plain.log_delta(0.2) - divided.log_delta(0.2) == pytest.approx(1, rel=1e-12, abs=0)
    exact = blanket_exact(GenericRandomizer(1.0), 10**5).log_delta(0.02)
    assert exact < bound(GenericRandomizer(1.0), 10**5, divide_by_e=True).log_delta(0.02)


def direct_mixture(randomizer, n, epsilon, divide_by_m):
    """The corrected Bennett lemma averaged over m term by term, or with the false extra factor 1/(a m)."""
    b_plus, a = randomizer.amplification_range(epsilon)[1], math.expm1(epsilon)
    c, g = randomizer.amplification_second_moment(epsilon), randomizer.gamma
    return sum(
        math.comb(n, m) * g**m * (1 - g) ** (n - m) * bennett_lemma(a, b_plus, c, m) / (a * m if divide_by_m else 1)
        for m in range(1, n + 1)
    ) / (g * n)


def test_the_unsound_prefactor_is_reproduced_and_refuted():
    rr = RandomizedResponse(10, 1.0)
    assert unsound_bennett_delta(rr, 60, 0.3) == pytest.approx(direct_mixture(rr, 60, 0.3, True), rel=1e-11, abs=0)
    assert blanket_bennett(rr, 60).delta(0.3) == pytest.approx(direct_mixture(rr, 60, 0.3, False), rel=1e-12, abs=0)
    # a guarantee of delta = 1e-6 is promised where one pair of neighbours already needs 4e-4
    local = 5.2387
    assert unsound_bennett_delta(RandomizedResponse(100, local), 10**5, 0.1) < 1e-6
    assert shuffled_krr(100, local, 10**5).delta(0.1) > 4.1e-4
    assert blanket_bennett(RandomizedResponse(100, local), 10**5).delta(0.1) > 4.1e-4


def test_a_lemma_is_not_0_where_its_exponential_alone_underflows():
    with mp.workdps(30):
        hoeffding = mp.mpf(1e50) / 4 * mp.exp(-752)
        bennett = mp.mpf(1e50) / mp.log(2) * mp.exp(-int(2e53) / mp.mpf(1e50) * (2 * mp.log(2) - 1))
    assert hoeffding <= hoeffding_lemma(1e50, 1e50, 376) <= hoeffding * (1 + 1e-12)
    assert bennett <= bennett_lemma(1, 1e50, 1e50, int(2e53)) <= bennett * (1 + 2e-11)
    assert 0 < hoeffding_lemma(1, 1, 10**300) < 1e-300 and 0 < bennett_lemma(1, 1, 1, 10**300) < 1e-300


SETTINGS = [(0.05, 10**3, 0.1), (1.0, 10**4, 1e-6), (4.0, 10**6, 1e-12), (12.0, 10**9, 1e-3), (2.0, 250, 0.45)]


@pytest.mark.parametrize("epsilon0, n, delta", SETTINGS)
def test_the_explicit_theorem_lies_above_the_bound_it_comes_from(epsilon0, n, delta):
    epsilon = shuffled_ldp_epsilon(epsilon0, n, delta)
    generic = GenericRandomizer(epsilon0)
    assert blanket_exact(generic, n).delta(epsilon) < blanket_hoeffding(generic, n).delta(epsilon) <= delta
    assert epsilon <= 3.51 * math.tanh(epsilon0 / 2) * math.sqrt(math.exp(epsilon0) * math.log(1 / delta) / n)
    assert shuffled_ldp_epsilon0(epsilon, n, delta) == pytest.approx(epsilon0, rel=1e-10, abs=0)
    assert shuffled_ldp_epsilon(shuffled_ldp_epsilon0(epsilon, n, delta), n, delta) <= epsilon
    # the slip: without the growth e^(epsilon0/2) even randomized response is out of reach
    small = epsilon * math.exp(-epsilon0 / 2)
    assert epsilon0 < 4 or shuffled_rr(epsilon0, n).epsilon(delta) > small


def test_the_inverse_of_the_explicit_theorem_is_rounded_down_at_tiny_epsilon():
    setting = 20789777, 2.1613165075138872e-265
    found = shuffled_ldp_epsilon0(1e-300, *setting)
    assert shuffled_ldp_epsilon(found, *setting) <= 1e-300 < shuffled_ldp_epsilon(found * (1 + 1e-11), *setting)


def test_the_explicit_theorem_says_which_n_would_do():
    with pytest.raises(DomainError, match=r"n >= 7126\.44"):
        shuffled_ldp_epsilon(4, 7126, 1e-6)
    assert shuffled_ldp_epsilon(4, 7127, 1e-6) == pytest.approx(math.log(3), rel=1e-4, abs=0)
    with pytest.raises(DomainError):
        shuffled_ldp_epsilon(0.1, 38, 1e-6)
    assert shuffled_ldp_epsilon(0.1, 39, 1e-6) < 0.1
    assert shuffled_ldp_epsilon0(0.01, 100, 1e-6) > 0.01
    assert shuffled_ldp_epsilon0(0.01, 30, 1e-6) == 0.01  # the local guarantee alone


def test_theorem_31_says_which_n_would_do():
    with pytest.raises(DomainError, match="needs n >= 2033"):
        shuffled_rr_gamma(10, 100, 1, 1e-6)
    assert shuffled_rr_gamma(10, 2033, 1, 1e-6) < 1
    with pytest.raises(DomainError):
        shuffled_rr_gamma(10, 2032, 1, 1e-6)


BAD = [
    lambda: blanket_hoeffding(GaussianRandomizer(1), 100),
    lambda: blanket_bennett(GaussianRandomizer(1), 100),
    lambda: blanket_mgf(GaussianRandomizer(1), 100),
    lambda: blanket_hoeffding(RR, 0),
    lambda: blanket_hoeffding(RR, 1.5),
    lambda: blanket_bennett(RR, math.nan),
    lambda: blanket_mgf(RR, "100"),
    lambda: blanket_hoeffding(RR, 100, variant="published"),
    lambda: blanket_bennett(GenericRandomizer(1), 100, variant="typo"),
    lambda: blanket_mgf(RR, 100).delta(-1),
    lambda: blanket_mgf(RR, 100).epsilon(0),
    lambda: blanket_mgf(RR, 100).epsilon([0.1, math.nan]),
    lambda: blanket_hoeffding("2-RR", 100),
    lambda: blanket_bennett(None, 100),
    lambda: blanket_mgf(1.0, 100),
    lambda: blanket_exact([[0.5, 0.5], [0.2, 0.8]], 100),
    lambda: blanket_exact(RR, 10**400),
    lambda: blanket_mgf(RR, 1e308),
    lambda: hoeffding_lemma(0, 1, 1),
    lambda: hoeffding_lemma(1e-300, 1, 1),
    lambda: hoeffding_lemma(1, 1e308, 1),
    lambda: hoeffding_lemma(1, 1, 10**400),
    lambda: bennett_lemma(1, 1e-200, 1, 1),
    lambda: bennett_lemma(1, -1, 1, 1),
    lambda: bennett_lemma(1, 1, 1, 0),
    lambda: unsound_bennett_delta(GaussianRandomizer(1), 100, 0.1),
    lambda: unsound_bennett_delta(RR, 100, 0.0),
    lambda: unsound_bennett_delta(RR, 100, 1.0),
    lambda: unsound_bennett_delta(RR, 100, 1e-200),
    lambda: unsound_bennett_delta(RR, 100, 1 - 1e-16),
    lambda: unsound_bennett_delta(RandomizedResponse(3, 1e-16), 100, 1e-17),
    lambda: unsound_bennett_delta(0.5, 100, 0.1),
    lambda: shuffled_ldp_epsilon(0, 100, 0.1),
    lambda: shuffled_ldp_epsilon(231, 100, 0.1),
    lambda: shuffled_ldp_epsilon(1, 10**4, 0.46),
    lambda: shuffled_ldp_epsilon(1, 10**4, 0),
    lambda: shuffled_ldp_epsilon(True, 10**4, 0.1),
    lambda: shuffled_ldp_epsilon("1", 10**4, 0.1),
    lambda: shuffled_ldp_epsilon0(1.2, 10**4, 0.1),
    lambda: shuffled_ldp_epsilon0(math.nan, 10**4, 0.1),
    lambda: shuffled_ldp_epsilon0(1, 1.5, 0.1),
    lambda: shuffled_rr_gamma(1, 100, 1, 0.1),
    lambda: shuffled_rr_gamma(2, 10**6, 1.5, 0.1),
    lambda: shuffled_rr_gamma(2, 10**6, 1, 1),
    lambda: shuffled_rr_gamma(2, 10**6, 1e-200, 0.1),
    lambda: shuffled_rr_gamma(10**300, 10**6, 1, 0.1),
    lambda: shuffled_rr_gamma(2, 10**400, 1, 0.1),
    lambda: shuffled_ldp_epsilon0(5e-324, 10**4, 0.1),
]


@pytest.mark.parametrize("bound", [blanket_hoeffding, blanket_bennett, blanket_mgf])
@pytest.mark.parametrize("epsilon0", [1e-16, 0.999e-6, 1e-6, 1e-5])
def test_tiny_epsilon0_is_safe(bound, epsilon0):
    parts = np.array([0.0, 0.001, 0.3])
    epsilon, least = parts * epsilon0, max(epsilon0, 1e-15)  # below, delta is proportional to epsilon0
    truth = shuffled_rr(least, 1000).log_delta(parts * least) + np.log(epsilon0 / least)
    for randomizer in (RandomizedResponse(2, epsilon0), GenericRandomizer(epsilon0), LaplaceRandomizer(epsilon0)):
        log_delta = bound(randomizer, 1000).log_delta(epsilon)
        assert np.all(log_delta <= np.log(epsilon0))
        if not isinstance(randomizer, LaplaceRandomizer):
            assert np.all(log_delta >= truth - 1e-9)


def test_a_huge_alphabet_is_no_trouble():
    crowd = RandomizedResponse(10**15, 0.1)  # gamma is 1 to within rounding
    for bound in (blanket_hoeffding, blanket_bennett, blanket_mgf):
        assert -math.inf < bound(crowd, 1000).log_delta(0.01) < math.log(0.05)


@pytest.mark.parametrize("call", BAD)
def test_out_of_range_is_refused(call):
    with pytest.raises(DomainError):
        call()


@pytest.mark.parametrize(
    "k, n, epsilon, digits",
    [(3, 40, 0.2, "0.01264967648003847674728482"), (2, 1000, 0.1, "0.00008201166250125778494876781")],
)
def test_exact_blanket_fifty_digit_values(k, n, epsilon, digits):
    delta = blanket_exact(RandomizedResponse(k, 1.0), n).delta(epsilon)
    assert delta == pytest.approx(float(digits), rel=1e-12, abs=0)
    assert delta != pytest.approx(float(digits) * (1 + 1e-9), rel=1e-12, abs=0)


@pytest.mark.parametrize("randomizer", SMALL[:3], ids=repr)
@pytest.mark.parametrize("n", [1, 3, 12])
def test_exact_blanket_is_the_enumeration(randomizer, n):
    for fraction in (0.0, 0.05, 0.3, 0.9):
        epsilon = fraction * randomizer.epsilon0
        exact = lemma_53(randomizer, n, epsilon)
        assert blanket_exact(randomizer, n).delta(epsilon) == pytest.approx(exact, rel=1e-10, abs=0)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("n", [100, 10**4, 10**6])
def test_order_of_exact_value_blanket_and_closed_forms(k, n):
    rr = RandomizedResponse(k, 1.0)
    truth = shuffled_rr(1.0, n) if k == 2 else shuffled_krr(k, 1.0, n)
    epsilon = truth.epsilon(1e-6)
    blanket = blanket_exact(rr, n).epsilon(1e-6)
    assert epsilon < blanket < min(bound(rr, n).epsilon(1e-6) for bound in BOUNDS)
    assert blanket < (1.45 if k == 2 else 1.05 if n > 100 else 1.6) * epsilon


@pytest.mark.parametrize(
    "epsilon0, epsilon, n, value",
    [(1, 0.1, 1000, 2.486275498328e-5), (1, 0.03, 10**4, 1.230572103396e-5), (3, 0.3, 10**4, 2.91401374272e-12)],
)
def test_exact_blanket_of_laplace_noise(epsilon0, epsilon, n, value):
    assert blanket_exact(LaplaceRandomizer(epsilon0), n).delta(epsilon) == pytest.approx(
        value, rel=2e-11, abs=0
    )  # the references have 12 digits
    assert value < blanket_mgf(LaplaceRandomizer(epsilon0), n).delta(epsilon) < 8 * value


@pytest.mark.parametrize("bound, fraction", [(blanket_mgf, 0.9), (blanket_mgf, 0.3), (blanket_exact, 0.3)])
def test_laplace_nodes_suffice_up_to_the_largest_epsilon0(bound, fraction, monkeypatch):
    curve = bound(LaplaceRandomizer(6), 10**4)
    log_delta = curve.log_delta(6 * fraction)

    def nodes(count):
        rule = np.polynomial.legendre.leggauss(count)
        for name, values in zip(("_NODES", "_WEIGHTS"), rule, strict=True):
            monkeypatch.setattr(f"shuffledp.core.randomizers.{name}", values)

    nodes(250)
    assert log_delta == pytest.approx(
        bound(LaplaceRandomizer(6), 10**4).log_delta(6 * fraction), rel=0, abs=curve.accuracy
    )
    nodes(6)  # the slip: too few are noticed
    assert abs(log_delta - bound(LaplaceRandomizer(6), 10**4).log_delta(6 * fraction)) > curve.accuracy
    with pytest.raises(DomainError):
        LaplaceRandomizer(6.5)


def test_exact_blanket_of_a_channel_is_that_of_randomized_response():
    rr = RandomizedResponse(3, 1.0)
    channel = blanket_exact(FiniteChannel(rr.matrix), 10**5)
    assert channel.delta(0.01) == pytest.approx(blanket_exact(rr, 10**5).delta(0.01), rel=1e-10, abs=0)


def test_exact_blanket_refuses_what_it_cannot_evaluate():
    with pytest.raises(DomainError, match="not purely private"):
        blanket_exact(FiniteChannel([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]), 100)
    with pytest.raises(ArithmeticError, match="too small"):
        blanket_exact(GaussianRandomizer(0.1), 100).delta(0.5)
    with pytest.raises(ArithmeticError, match="too few"):
        blanket_exact(LaplaceRandomizer(1), 3).delta(0.1)
