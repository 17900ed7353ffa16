"""Several messages per user against exact rational enumeration of every message sequence."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from shuffledp import DomainError, RandomizedResponse, shuffled_channel, shuffled_messages, shuffled_rr
from shuffledp.claims.checks._exactly import as_floats
from shuffledp.exact.messages import unbundled_chi_square, unbundled_likelihood_ratio

BINARY = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
BIN_B = ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 4), Fraction(3, 4)))
TRI_A = ((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 5), Fraction(1, 4), Fraction(11, 20)))
QUAD = (tuple(Fraction(x, 10) for x in (4, 3, 2, 1)), tuple(Fraction(x, 10) for x in (1, 1, 3, 5)))
HOLE = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0)))


def law(rows, inputs, messages, bundled):
    """Law of what the shuffler releases, one user's every sequence of messages after the other's."""
    out = {(): Fraction(1)}
    for x in inputs:
        grown = {}
        for seen, chance in out.items():
            for sequence in itertools.product(range(len(rows[0])), repeat=messages):
                p = chance * math.prod(rows[x][y] for y in sequence)
                key = tuple(sorted((*seen, *([sequence] if bundled else sequence))))
                grown[key] = grown.get(key, 0) + p
        out = grown
    return out


def neighbours(rows, n, ones, messages, bundled):
    others = (1,) * ones + (0,) * (n - 1 - ones)
    return law(rows, (0, *others), messages, bundled), law(rows, (1, *others), messages, bundled)


def stick(p, q, order):
    return float(sum(max(p[h] - order * q.get(h, 0), 0) for h in p))


@pytest.mark.parametrize("bundled", [False, True])
@pytest.mark.parametrize(
    "rows, n, ones, messages",
    [
        (BIN_B, 2, 0, 1), (BIN_B, 2, 1, 3), (BIN_B, 4, 0, 2), (BIN_B, 4, 2, 2), (BIN_B, 3, 1, 3),
        (TRI_A, 2, 0, 2), (TRI_A, 3, 1, 2), (TRI_A, 2, 1, 3), (QUAD, 2, 1, 2), (HOLE, 3, 0, 2), (HOLE, 3, 1, 2),
    ],
)  # fmt: skip
def test_equals_exact_enumeration(rows, n, ones, messages, bundled):
    before, after = neighbours(rows, n, ones, messages, bundled)
    both = [shuffled_messages(as_floats(rows), n, messages, ones, bundled, way) for way in ("forward", "reverse")]
    for order in (1, Fraction(11, 10), Fraction(3, 2), 2):
        exact = stick(after, before, order), stick(before, after, order)
        deltas = [curve.delta(math.log(order)) for curve in both]
        assert deltas == pytest.approx(exact, rel=1e-11, abs=1e-15)  # log(order) is rounded
    if messages > 1 and rows is not HOLE:  # the slip: bundled in place of unbundled
        other = shuffled_messages(as_floats(rows), n, messages, ones, not bundled, "forward")
        orders = np.log([1.5, 2, 3])
        assert np.abs(both[0].delta(orders) / other.delta(orders) - 1).max() > 1e-3


def test_one_message_is_the_shuffled_channel():
    epsilons = [0.0, 0.1, 0.5]
    for bundled in (False, True):
        curve = shuffled_messages(as_floats(TRI_A), 12, 1, 5, bundled)
        assert curve.delta(epsilons) == pytest.approx(shuffled_channel(as_floats(TRI_A), 12, 5).delta(epsilons))


def test_unbundling_never_helps_the_adversary():
    rng = np.random.default_rng(20260209)
    for _ in range(30):
        rows = rng.dirichlet(np.ones(2), size=2)
        n, messages = int(rng.integers(2, 8)), int(rng.integers(2, 4))
        ones = int(rng.integers(0, n))
        for way in ("forward", "reverse"):
            free, kept = (shuffled_messages(rows, n, messages, ones, b, way) for b in (False, True))
            epsilons = np.linspace(0, 1.2 * kept.epsilon_max, 9)
            assert np.all(free.delta(epsilons) <= kept.delta(epsilons) * (1 + 1e-10))


def test_far_below_the_smallest_double():
    curve = shuffled_messages(RandomizedResponse(2, 1.0), 400, 2, 0, direction="forward")
    logs = curve.log_delta([0.5, 1.0, 1.5])
    assert np.all(np.isfinite(logs)) and np.all(np.diff(logs) < 0) and logs[-1] < -300
    assert curve.epsilon_max == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("bundled", [False, True])
@pytest.mark.parametrize("close", [1e-3, 1e-7, 1e-11])
@pytest.mark.parametrize("first", [(0.25, 0.75), (0.5, 0.3125, 0.1875)])
def test_close_rows_keep_their_digits(first, close, bundled):
    """As `shuffled_channel` does: the difference of two logs would be wrong by 1e-15 over the distance of the rows."""
    second = np.array(first)
    second[0] += close
    second[1] = 1 - second[0] - second[2:].sum()
    exact = [[Fraction(float(x)) for x in row] for row in (first, second)]
    if len(first) == 2:
        exact = [[row[0], 1 - row[0]] for row in exact]
    n, ones, messages = 3, 1, 2
    before, after = neighbours(exact, n, ones, messages, bundled)
    curve = shuffled_messages([first, second], n, messages, ones, bundled, "forward")
    largest = float(max(after[h] / before[h] - 1 for h in before))
    for share in (0.0, 0.5):
        epsilon = share * math.log1p(largest)
        order = 1 + Fraction(math.expm1(epsilon))
        total = sum(max(after[h] - order * before[h], 0) for h in before)
        assert curve.delta(epsilon) == pytest.approx(float(total), rel=2e-11, abs=0)
    assert curve.delta(0.51 * largest) != pytest.approx(float(total), rel=1e-4, abs=0)


def test_bundled_binary_pairs_are_a_channel_with_three_outputs():
    q = 1 / (1 + math.e)
    pairs = [[(1 - q) ** 2, 2 * q * (1 - q), q * q], [q * q, 2 * q * (1 - q), (1 - q) ** 2]]
    ours = shuffled_messages(RandomizedResponse(2, 1.0), 9, 2, 4, bundled=True)
    assert ours.delta([0.0, 0.4]) == pytest.approx(shuffled_channel(pairs, 9, 4).delta([0.0, 0.4]), rel=1e-11)


def test_balanced_pairs_of_answers_lose_nothing_in_total_variation():
    """n odd, the others balanced: bundled and unbundled total variation are the same number."""
    for n in (3, 5):
        tv = []
        for bundled in (False, True):
            before, after = neighbours(BINARY, n, (n - 1) // 2, 2, bundled)
            tv.append(sum(max(after[h] - before[h], Fraction(0)) for h in after))
        assert tv[0] == tv[1]
        curves = [shuffled_messages(as_floats(BINARY), n, 2, (n - 1) // 2, bundled) for bundled in (False, True)]
        assert curves[0].delta(0.0) == pytest.approx(float(tv[0]), rel=1e-12)
        assert curves[0].delta(1.0) < curves[1].delta(1.0) * (1 - 1e-3)


@pytest.mark.parametrize("rows", [BIN_B, TRI_A, QUAD], ids=["binary", "three", "four"])
@pytest.mark.parametrize("n, messages", [(1, 2), (2, 2), (2, 3), (3, 2)])
def test_likelihood_ratio_and_chi_square_of_the_canonical_pair(rows, n, messages):
    before, after = neighbours(rows, n, 0, messages, False)
    d = len(rows[0])
    for seen, chance in before.items():
        counts = [seen.count(y) for y in range(d)]
        ours = unbundled_likelihood_ratio(as_floats(rows), counts, messages)
        assert ours == pytest.approx(float(after[seen] / chance), rel=1e-13, abs=0)
    exact = sum((after[h] - p) ** 2 / p for h, p in before.items())
    assert unbundled_chi_square(as_floats(rows), n, messages) == pytest.approx(float(exact), rel=1e-13, abs=0)
    first = messages / n * sum((b - a) ** 2 / a for a, b in zip(*rows, strict=True))
    assert first < exact  # the slip: the leading term alone


def test_likelihood_ratio_of_very_many_messages():
    """The counts that are expected anyway say nothing; all ones, that every message of the user is a one."""
    rows = as_floats(BINARY)
    ratio = unbundled_likelihood_ratio(rows, [75 * 10**7, 25 * 10**7], 200)
    assert ratio == pytest.approx(1, abs=1e-4) and ratio < 1
    assert unbundled_likelihood_ratio(rows, [0, 6], 3) == pytest.approx(27, rel=1e-14)


def test_one_user_with_one_message_is_randomized_response():
    assert shuffled_messages(RandomizedResponse(2, 1.0), 50, 1, 3).delta(0.1) == pytest.approx(
        shuffled_rr(1.0, 50, 3).delta(0.1), rel=1e-10
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 1}, {"n": 2.5}, {"n": "3"}, {"messages": 0}, {"messages": True}, {"messages": 1.5}, {"ones": 4},
        {"ones": -1}, {"bundled": 1}, {"bundled": "yes"}, {"direction": "up"}, {"channel": [[0.5, 0.6], [0.1, 0.9]]},
        {"channel": RandomizedResponse(3, 1.0)}, {"n": 10**9}, {"messages": 10**6, "bundled": True},
    ],
    ids=str,
)  # fmt: skip
def test_hostile_arguments_are_refused(arguments):
    with pytest.raises(DomainError):
        shuffled_messages(**{"channel": as_floats(BIN_B), "n": 4, "messages": 2} | arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda: unbundled_likelihood_ratio(as_floats(BIN_B), [1, 2], 2),
        lambda: unbundled_likelihood_ratio(as_floats(BIN_B), [0, 0], 2),
        lambda: unbundled_likelihood_ratio(as_floats(BIN_B), [1.5, 2.5], 2),
        lambda: unbundled_likelihood_ratio(as_floats(BIN_B), [1, 2, 3], 2),
        lambda: unbundled_likelihood_ratio(as_floats(HOLE), [2, 2], 2),
        lambda: unbundled_likelihood_ratio([[1e-200, 1], [0.5, 0.5]], [2, 2], 2),
        lambda: unbundled_chi_square(as_floats(BIN_B), 0, 2),
        lambda: unbundled_likelihood_ratio(as_floats(BIN_B), [2000, 2002], 2001),
        lambda: unbundled_likelihood_ratio(as_floats(BIN_B), [10**16, 10**16], 2),
        lambda: unbundled_chi_square(as_floats(BIN_B), 2, 0),
        lambda: unbundled_chi_square(as_floats(BIN_B), 2, 10**6),
        lambda: unbundled_chi_square([[1e-200, 1], [0.5, 0.5]], 1, 2),
        lambda: unbundled_chi_square(as_floats(HOLE), 2, 2),
    ],
)
def test_hostile_arguments_of_the_canonical_pair(call):
    with pytest.raises(DomainError):
        call()
