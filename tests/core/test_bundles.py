"""Kinds of bundle and their probabilities."""

import itertools
import math

import numpy as np
import pytest

from shuffledp import DomainError
from shuffledp.core.bundles import bundle_types, log_multinomial


@pytest.mark.parametrize("outputs, messages", [(1, 3), (2, 1), (2, 5), (3, 4), (4, 3)])
def test_types_and_their_law_by_enumeration(outputs, messages):
    law = np.arange(1, outputs + 1) / (outputs * (outputs + 1) / 2)
    chances = {}
    for sequence in itertools.product(range(outputs), repeat=messages):
        key = tuple(sequence.count(y) for y in range(outputs))
        chances[key] = chances.get(key, 0.0) + math.prod(law[y] for y in sequence)
    counts = bundle_types(outputs, messages)
    assert sorted(map(tuple, counts.tolist())) == sorted(chances)
    expected = [math.log(chances[tuple(row)]) for row in counts.tolist()]
    np.testing.assert_allclose(log_multinomial(counts, np.log(law)), expected, rtol=0, atol=1e-13)


def test_an_impossible_symbol():
    with np.errstate(divide="ignore"):
        logs = log_multinomial(bundle_types(2, 2), np.log([1.0, 0.0]))
    np.testing.assert_array_equal(np.exp(logs), [0.0, 0.0, 1.0])


def test_a_law_adds_up_to_one_for_many_messages():
    logs = log_multinomial(bundle_types(2, 10**4), np.log([0.3, 0.7]))
    assert np.exp(logs).sum() == pytest.approx(1, rel=1e-10, abs=0)


def test_too_many_kinds_are_refused():
    with pytest.raises(DomainError, match="too many"):
        bundle_types(4, 1000)
