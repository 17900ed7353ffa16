"""Who answers a step, and the ratio of a step, against enumeration of all permutations in exact fractions."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from shuffledp.core.domain import DomainError
from shuffledp.exact.transcripts import answerer, step_ratio


def seating(order, others, position):
    """Who sits where: the definition of each order, with steps from 0."""
    if order == "first":
        seats, lone = [0, *others], 0
    else:
        seats, lone = [*others, 0], len(others)
    seats[position], seats[lone] = seats[lone], seats[position]
    return seats


def enumerate_steps(matrix, i, order):
    """Law of who answers step i, by listing every arrangement that is possible."""
    n = len(matrix)
    if order == "random":
        arrangements = list(permutations(range(n)))
    else:
        arrangements = [seating(order, range(1, n), position) for position in range(n)]
    law = [Fraction(0)] * n
    for seats in arrangements:
        law[seats[i - 1]] += math.prod((matrix[seats[j]][j] for j in range(i - 1)), start=Fraction(1))
    return [weight / sum(law) for weight in law]


def fractions(rng, rows, columns):
    return np.array([[Fraction(int(x), 4) for x in row] for row in rng.integers(4, 13, (rows, columns))], dtype=object)


CASES = [(n, i) for n in (2, 3, 4, 5) for i in range(1, n + 1)]


@pytest.mark.parametrize("order", ["first", "last", "random"])
@pytest.mark.parametrize("n, i", CASES)
def test_agrees_with_enumeration_exactly(n, i, order):
    rng = np.random.default_rng(100 * n + i)
    matrix, other = fractions(rng, n, n), fractions(rng, 1, n)[0]
    law = enumerate_steps(matrix, i, order)
    assert list(answerer(matrix, i, order)) == law

    changed = matrix.copy()
    changed[0] = other
    density = sum(p * a for p, a in zip(law, matrix[:, i - 1], strict=True))
    density_changed = sum(p * a for p, a in zip(enumerate_steps(changed, i, order), changed[:, i - 1], strict=True))
    assert step_ratio(matrix, other, i, order) == density / density_changed
    assert step_ratio(matrix.astype(float), other.astype(float), i, order) == pytest.approx(
        float(density / density_changed), rel=1e-13
    )


@pytest.mark.parametrize("n, i", CASES)
def test_the_random_order_averages_the_swaps(n, i):
    rng = np.random.default_rng(7)
    matrix = fractions(rng, n, n)
    for order in ("first", "last"):
        total, mixed = Fraction(0), 0
        for others in permutations(range(1, n)):
            arranged = matrix[[0, *others]]
            likelihood = sum(
                math.prod((arranged[seats[j]][j] for j in range(i - 1)), start=Fraction(1))
                for seats in (seating(order, range(1, n), position) for position in range(n))
            )
            total += likelihood
            mixed = mixed + likelihood * answerer(arranged, i, order)[0]
        assert mixed / total == answerer(matrix, i, "random")[0]


def test_the_three_orders_differ():
    matrix = [[1, 2, 1, 2], [2, 1, 1, 2], [1, 1, 2, 1], [2, 2, 1, 1]]
    seen = {step_ratio(matrix, [2, 1, 2, 1], 3, order) for order in ("first", "last", "random")}
    assert len(seen) == 3


def test_scaling_a_column_changes_nothing():
    rng = np.random.default_rng(1)
    matrix, other = rng.uniform(1, 3, (5, 5)), rng.uniform(1, 3, 5)
    scale = rng.uniform(0.1, 10, 5)
    for order in ("first", "last", "random"):
        assert step_ratio(matrix * scale, other * scale, 4, order) == pytest.approx(
            step_ratio(matrix, other, 4, order), rel=1e-13
        )


def test_many_cases_at_once():
    rng = np.random.default_rng(2)
    matrix, other = rng.uniform(1, 3, (6, 2, 4, 3)), rng.uniform(1, 3, (2, 3))
    for order in ("first", "last", "random"):
        together = step_ratio(matrix, other, 3, order)
        assert together.shape == (6, 2)
        assert together[4, 1] == pytest.approx(step_ratio(matrix[4, 1], other[1], 3, order), rel=1e-14, abs=0)
        assert answerer(matrix, 3, order).shape == (6, 2, 4)


def test_randomized_response_attains_the_bound_of_the_last_swap():
    U = Fraction(3)
    for n in (3, 5, 8):
        for i in range(1, n):
            matrix = np.array([[Fraction(1)] * n] + [[U] * n] * (n - 1), dtype=object)
            matrix[0, i - 1], matrix[1:, i - 1] = U, Fraction(1)
            bound = 1 + (U - 1) / (n - i + 1 + (i - 1) / U)
            ratio = step_ratio(matrix, matrix[1], i, "last")
            assert ratio == bound == step_ratio(matrix, matrix[1], i, "random")
            assert ratio < bound + Fraction(1, 10**9) and ratio != 1 + (U - 1) / (n - i + i / U)  # a slip is seen


GOOD = [[1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [1.0, 1.0, 2.0]]


@pytest.mark.parametrize(
    "matrix, i, order, message",
    [
        (GOOD, 0, "last", "i violates i >= 1 and i <= 3"),
        (GOOD, 4, "last", "i <= 3"),
        (GOOD, 1.5, "last", "integer"),
        (GOOD, True, "last", "integer"),
        (GOOD, 2, "middle", "order must be one of"),
        (GOOD, 2, None, "order must be one of"),
        ([[1.0, 2.0]], 1, "last", "n >= 2"),
        ([1.0, 2.0], 1, "last", "n >= 2"),
        ([[1.0], [2.0], [1.0]], 3, "last", "at least 2 columns"),
        ([[0.0, 1.0], [1.0, 1.0]], 2, "last", "likelihood > 0"),
        ([[-1.0, 1.0], [1.0, 1.0]], 2, "last", "likelihood > 0"),
        ([[math.nan, 1.0], [1.0, 1.0]], 2, "last", "finite"),
        ([[math.inf, 1.0], [1.0, 1.0]], 2, "last", "finite"),
        ([["1", "2"], ["1", "2"]], 2, "last", "real numbers"),
        ([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(1)]], 2, "last", "likelihood > 0"),
        ([[1.0, 2.0], [1.0]], 2, "last", "real"),
        (np.ones((9, 9)), 2, "random", "n <= 8"),
        (np.ones((2, 0)), 1, "last", "at least 1 columns"),
    ],
)
def test_bad_input_is_refused(matrix, i, order, message):
    with pytest.raises(DomainError, match=message):
        answerer(matrix, i, order)


@pytest.mark.parametrize(
    "other, message",
    [([1.0, 1.0], "3 columns"), (1.0, "3 columns"), ([1.0, 0.0, 1.0], "alternative > 0"), (np.ones((2, 3)), None)],
)
def test_bad_alternatives_are_refused(other, message):
    if message is None:  # two cases on one side, three on the other
        with pytest.raises(DomainError, match="leading axes"):
            step_ratio(np.array([GOOD] * 3), other, 2, "last")
    else:
        with pytest.raises(DomainError, match=message):
            step_ratio(GOOD, other, 2, "last")
