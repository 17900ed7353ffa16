"""The summation protocol against exact enumeration and simulation; the lower bound against its definition."""

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffledp import DomainError, GuaranteeWarning, RandomizedResponse, SummationProtocol, summation_lower_bound
from shuffledp.bounds.blanket import blanket_exact
from shuffledp.bounds.histogram import shuffled_rr_gamma
from shuffledp.protocols import summation


def open_protocol(n, k, gamma):
    """A protocol with this k and gamma whose guarantee is not the point: pure privacy with a large epsilon."""
    return SummationProtocol(n, 10.0, 1e-6, k, gamma)


def message_law(x: Fraction, k: int, gamma: Fraction) -> list[Fraction]:
    """Law of one message, from the definition."""
    below = math.floor(x * k)
    law = [gamma / (k + 1)] * (k + 1)
    law[below] += (1 - gamma) * (1 - (x * k - below))
    if below < k:
        law[below + 1] += (1 - gamma) * (x * k - below)
    return law


@pytest.mark.parametrize("k, gamma", list(product((1, 2, 5), (Fraction(1, 10), Fraction(1, 2), Fraction(7, 8)))))
def test_mean_and_variance_of_a_user_from_the_law_of_her_message(k, gamma):
    for x in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(5, 6), Fraction(1)):
        law = message_law(x, k, gamma)
        debiased = [(Fraction(y, k) - gamma / 2) / (1 - gamma) for y in range(k + 1)]
        assert sum(law) == 1
        assert sum(p * z for p, z in zip(law, debiased, strict=True)) == x
        variance = sum(p * (z - x) ** 2 for p, z in zip(law, debiased, strict=True))
        protocol = open_protocol(2, k, float(gamma))
        assert protocol.mse([float(x), float(x)]) == pytest.approx(2 * float(variance), rel=1e-12)


def test_messages_have_their_law():
    n, k, gamma, x = 400_000, 3, 0.25, 0.4
    messages = open_protocol(n, k, gamma).encode(np.full(n, x), np.random.default_rng(8))
    law = np.array([float(p) for p in message_law(Fraction(2, 5), k, Fraction(1, 4))])
    counts = np.bincount(messages, minlength=k + 1)
    assert messages.dtype.kind == "i"
    assert np.all(np.abs(counts - n * law) < 5 * np.sqrt(n * law * (1 - law)))


def test_simulated_error_is_the_exact_one():
    rng = np.random.default_rng(20190507)
    x = rng.random(1000) ** 2
    protocol = SummationProtocol(1000, 1.0, 1e-6)
    errors = np.array([protocol.run(x, rng) for _ in range(3000)]) - x.sum()
    exact = protocol.mse(x)
    assert abs(errors.mean()) < 4 * math.sqrt(exact / errors.size)
    spread = math.sqrt(np.var(errors**2) / errors.size)  # standard error of the mean square
    assert abs(np.mean(errors**2) - exact) < 4 * spread
    assert spread < 0.04 * exact  # so that a factor (1 - gamma)^2, or a lost term, would show
    assert abs(exact * (1 - protocol.gamma) ** 2 - exact) > 8 * spread


def test_reference_values():
    gamma = shuffled_rr_gamma(10, 10_000, 1.0, 1e-6)
    assert gamma == pytest.approx(0.2031415224915882306124138, rel=1e-12)
    assert SummationProtocol(10_000, 1.0, 1e-6, k=9).gamma == pytest.approx(gamma, rel=1e-15)
    protocol = SummationProtocol(100_000, 1.0, 1e-6, k=8)
    assert protocol.worst_mse() == pytest.approx(958.5498326569876342502091, rel=1e-12)
    assert SummationProtocol(100_000, 1.0, 1e-6, k="paper").k == 8


@pytest.mark.parametrize("k, gamma", list(product((1, 2, 3, 8, 40), (0.004, 0.03, 0.2, 0.6))))
def test_worst_case_is_attained_and_never_exceeded(k, gamma):
    protocol = open_protocol(2, k, gamma)
    worst = protocol.worst_mse()
    for x in (protocol.worst_input, 1 - protocol.worst_input):
        assert protocol.mse([x, x]) == pytest.approx(worst, rel=1e-12)
    for x in np.linspace(0, 1, 801):
        assert protocol.mse([x, x]) <= worst * (1 + 1e-12)
    assert worst <= protocol.mse_bound() <= 4 * worst


@pytest.mark.parametrize("n, epsilon, delta", [(420, 1, 1e-6), (3000, 1, 1e-6), (10**5, 1, 1e-6), (10**7, 0.1, 1e-8)])
def test_the_best_k_is_the_best(n, epsilon, delta):
    best = SummationProtocol(n, epsilon, delta)
    feasible = []
    for k in range(1, 60):
        try:
            feasible.append((SummationProtocol(n, epsilon, delta, k=k).worst_mse(), k))
        except DomainError:
            break
    assert (best.worst_mse(), best.k) == min(feasible)


def test_the_paper_k_is_a_cube_root_in_exact_arithmetic():
    for root in (1, 2, 7, 10**5):
        edge = Fraction(2 * root + 1, 2) ** 3
        assert summation._nearest_cube_root(Fraction(root**3)) == root
        assert summation._nearest_cube_root(edge - Fraction(1, 10**30)) == root
        assert summation._nearest_cube_root(edge + Fraction(1, 10**30)) == root + 1
    assert summation._nearest_cube_root(Fraction(1, 100)) == 1
    ks = [SummationProtocol(n, 1.0, 1e-10, k="paper").k for n in (10**8, 10**12)]
    assert ks == [67, 1444]


@pytest.mark.parametrize("n, k, epsilon, delta", [(6366, 4, 1, 1e-6), (300, 1, 0.5, 1e-5), (50, 2, 3, 1e-3)])
def test_exact_calibration_is_private_and_hardly_improvable(n, k, epsilon, delta):
    gamma = SummationProtocol(n, epsilon, delta, k=k, calibration="exact").gamma
    for factor, private in ((1, True), (1 - 1e-7, False)):
        curve = blanket_exact(RandomizedResponse.from_gamma(k + 1, gamma * factor), n)
        assert (curve.delta(epsilon) <= delta) == private


def test_exact_calibration_finds_the_best_k():
    best = SummationProtocol(300, 2, 1e-6, calibration="exact")
    errors = {k: SummationProtocol(300, 2, 1e-6, k=k, calibration="exact").worst_mse() for k in range(2, 7)}
    assert best.k == min(errors, key=errors.get)
    assert best.worst_mse() == pytest.approx(min(errors.values()), rel=1e-7)


def test_a_given_gamma_is_examined():
    with pytest.warns(GuaranteeWarning, match="not shown"):
        protocol = SummationProtocol(1000, 1.0, 1e-6, k=3, gamma=0.01)
    assert protocol.gamma == 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SummationProtocol(1000, 1.0, 1e-6, k=3, gamma=0.5)
        SummationProtocol(10**6, 1.0, 1e-6, k=30, gamma=0.9)  # where only the quick bound can be evaluated
    with pytest.raises(DomainError, match="k must be given"):
        SummationProtocol(1000, 1.0, 1e-6, gamma=0.5)


@pytest.mark.parametrize("k, bits", [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4)])
def test_bits(k, bits):
    assert open_protocol(10, k, 0.5).bits == bits == math.ceil(math.log2(k + 1))


def test_the_same_seed_gives_the_same_messages():
    protocol, x = open_protocol(100, 4, 0.2), np.linspace(0, 1, 100)
    first, again, other = (protocol.encode(x, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert protocol.encode(0.3, np.random.default_rng(1)).shape == ()


def test_the_order_of_the_messages_does_not_matter():
    protocol, rng = open_protocol(50, 3, 0.5), np.random.default_rng(3)
    messages = protocol.encode(rng.random(50), rng)
    assert protocol.analyze(messages) == protocol.analyze(messages[::-1])


@pytest.mark.parametrize("bad", [[], [0.5, math.nan], [-0.1, 0.5], [1.0000001, 0.5], ["a", "b"], [True, False]])
def test_values_outside_the_unit_interval_are_refused(bad):
    protocol = open_protocol(2, 3, 0.5)
    for method in (lambda: protocol.mse(bad), lambda: protocol.encode(bad, np.random.default_rng(1))):
        with pytest.raises(DomainError):
            method()


@pytest.mark.parametrize("bad", [[], [0, 4], [0, -1], [0, 1.5], [0], [0, 1, 2], [[0, 1]], [math.nan, 1]])
def test_messages_that_are_not_labels_are_refused(bad):
    with pytest.raises(DomainError, match="messages"):
        open_protocol(2, 3, 0.5).analyze(bad)


def test_run_needs_one_value_per_user_and_a_generator():
    protocol = open_protocol(2, 3, 0.5)
    with pytest.raises(DomainError, match="n = 2 users"):
        protocol.run([0.5], np.random.default_rng(1))
    with pytest.raises(DomainError, match="Generator"):
        protocol.run([0.5, 0.5], 7)


GOOD = {"n": 10**5, "epsilon": 0.5, "delta": 1e-6}


@pytest.mark.parametrize(
    "change",
    [{"n": v} for v in (1, 1.5, 0, -5, math.nan, math.inf, "9", True)]
    + [{"epsilon": v} for v in (0, -1, 1.0001, 300, math.nan, math.inf, "1")]
    + [{"delta": v} for v in (0, 1, 2, -0.1, math.nan)]
    + [{"k": v} for v in (0, -1, 1.5, math.nan, "best", True)]
    + [{"k": 3, "gamma": v} for v in (0, 1, 1.2, -0.5, math.nan, "x")]
    + [{"calibration": "sharp"}],
    ids=str,
)
def test_bad_arguments_are_refused(change):
    with pytest.raises(DomainError, match=f"^{list(change)[-1]}"):
        SummationProtocol(**(GOOD | change))


def test_too_few_users_are_told_how_many_would_do():
    with pytest.raises(DomainError, match="needs n >= 408 here"):
        SummationProtocol(300, 1.0, 1e-6)
    assert SummationProtocol(408, 1.0, 1e-6).k == 1
    with pytest.raises(DomainError, match="got n = 407"):
        SummationProtocol(407, 1.0, 1e-6)
    with pytest.raises(DomainError, match="needs n >= 1017 here"):
        SummationProtocol(1000, 1.0, 1e-6, k=4)
    assert SummationProtocol(300, 1.0, 1e-6, calibration="exact").gamma < 1


def from_the_definition(n, epsilon, delta, K, lam) -> float:
    """Every user's cheaper way out, the errors summed pair by pair."""
    tau = math.exp(-epsilon) * (1 - lam / n - delta * (1 - lam / n) ** (1 - n))
    total = 0.0
    for j in range(1, K + 1):
        pairs = sum((abs(i - j) - 0.5) ** 2 - 0.25 for i in range(1, K + 1) if i != j)
        total += min(n * tau / 4, lam * pairs)
    return total / K**3


@pytest.mark.parametrize("K, lam", [(2, 1.0), (3, 2.0), (8, 5.0), (25, 11.0), (60, 12.0)])
def test_lower_bound_is_its_definition(K, lam):
    value = summation_lower_bound(10**4, 1.0, 1e-6, K, lam)
    assert value == pytest.approx(from_the_definition(10**4, 1.0, 1e-6, K, lam), rel=1e-12, abs=0)
    assert (value == 0) == (K == 2)


@pytest.mark.parametrize("n, ratio", [(10**4, 0.4429), (10**8, 0.5589), (10**10, 0.5636)])
def test_optimised_lower_bound(n, ratio):
    best = summation_lower_bound(n, 1.0, 1e-6)
    assert best / n ** (1 / 3) == pytest.approx(ratio, rel=1e-3)
    if n == 10**4:
        grid = [summation_lower_bound(n, 1.0, 1e-6, K, lam) for K in range(3, 60) for lam in np.linspace(1, 13, 25)]
        assert 0.995 * best < max(grid) <= best


@pytest.mark.parametrize("n, epsilon, delta", [(2, 0.3, 0.1), (50, 0, 0.5), (10**3, 5, 0), (10**9, 1, 0.99)])
def test_lower_bound_is_below_what_protocols_do(n, epsilon, delta):
    assert 0 <= summation_lower_bound(n, epsilon, delta) <= n / 12  # answering n/2 has Bayes error n/12 on the hard law


def test_lower_bound_does_not_exceed_the_protocol():
    for n, epsilon, delta in ((10**4, 1.0, 1e-6), (10**6, 0.3, 1e-9), (10**9, 1.0, 1e-3)):
        assert summation_lower_bound(n, epsilon, delta) < SummationProtocol(n, epsilon, delta).worst_mse()
    exact = SummationProtocol(300, 5.0, 1e-2, calibration="exact")
    assert 2 * summation_lower_bound(300, 5.0, 1e-2) < exact.worst_mse()


@pytest.mark.parametrize(
    "change",
    [{"n": 1}, {"n": 1.5}, {"epsilon": -1}, {"epsilon": math.inf}, {"delta": 1}, {"delta": -0.1}, {"delta": math.nan}]
    + [{"K": 1}, {"K": 2.5}, {"K": "3"}, {"lam": 0}, {"lam": 10**5}, {"lam": math.nan}, {"lam": 20.0}],
    ids=str,
)
def test_lower_bound_refuses(change):
    with pytest.raises(DomainError, match=next(iter(change))):
        summation_lower_bound(**(GOOD | change))


def test_exact_calibration_ends_where_only_epsilon_itself_is_safe():
    """With few users and a tiny delta no larger local parameter qualifies, and halving the distance never ends."""
    protocol = SummationProtocol(3, 0.01, 1e-300, k=2, calibration="exact")
    assert protocol.gamma == RandomizedResponse(3, 0.01).gamma
