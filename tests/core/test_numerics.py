"""Log-space helpers against high precision, and root finding that ends on the guaranteed side."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.core.numerics import expm1_minus, log1p_minus, log_add_exp, log_expm1, safe_root, stirling_remainder

QUICK = settings(derandomize=True, max_examples=60, deadline=None)


def digits(f, *arguments):
    with mp.workdps(700):  # far more than 50: log(1 + x) - x at x = 1e-150 needs 300 before the first digit
        return float(f(*(mp.mpf(x) for x in arguments)))


@QUICK
@given(st.floats(1e-300, 700.0))
def test_log_expm1(x):
    reference = digits(lambda t: mp.log(mp.expm1(t)), x)
    assert log_expm1(x) == pytest.approx(reference, rel=4e-16, abs=4e-16)


def test_log_expm1_does_not_overflow():
    assert log_expm1(1e6) == 1e6
    with pytest.raises(OverflowError):
        math.expm1(1e6)


@QUICK
@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_log_add_exp(a, b):
    reference = digits(lambda s, t: mp.log(mp.exp(s) + mp.exp(t)), a, b)
    assert log_add_exp(a, b) == log_add_exp(b, a) == pytest.approx(reference, rel=4e-16, abs=1e-15)


def test_log_add_exp_of_zero_and_infinity():
    assert log_add_exp(-math.inf, 3.0) == 3.0
    assert log_add_exp(-math.inf, -math.inf) == -math.inf
    assert log_add_exp(math.inf, 3.0) == math.inf


def test_log1p_minus():
    x = np.concatenate([np.geomspace(1e-150, 1e6, 200), -np.geomspace(1e-150, 0.999999, 200), [0.2, -0.2, 0.199999]])
    values = log1p_minus(x)
    references = np.array([digits(lambda t: mp.log1p(t) - t, float(t)) for t in x])
    np.testing.assert_allclose(values, references, rtol=4e-15)
    assert np.all(values <= 0) and log1p_minus(np.zeros(2)).tolist() == [0.0, 0.0]
    naive = np.log1p(x) - x
    assert np.max(np.abs(naive[references != 0] / references[references != 0] - 1)) > 1e-3  # what it saves us from


def test_log1p_minus_of_complex_numbers():
    z = np.array([0.01 + 0.02j, -0.15 + 0.1j, 1e-9j, 0.5 - 2j, 3 + 4j])
    with mp.workdps(50):
        references = np.array([complex(mp.log(1 + mp.mpc(t)) - mp.mpc(t)) for t in z.tolist()])
    np.testing.assert_allclose(log1p_minus(z), references, rtol=2e-15)


def test_stirling_remainder():
    k = np.array([0, 1, 2, 7, 15, 16, 17, 100, 12345, 10**9, 10**15], float)
    with mp.workdps(50):
        references = [0.0] + [float(mp.loggamma(t + 1) - t * mp.log(t) + t) for t in k[1:]]
    np.testing.assert_allclose(stirling_remainder(k), references, rtol=1e-15, atol=1e-14)


CROSSINGS = [
    (lambda x: 2 - x * x, 0.0, 10.0),
    (lambda x: math.exp(-x) - 1e-6, 0.0, 100.0),
    (lambda x: math.exp(x) - 1.5, 700.0, 0.0),  # unsafe above safe, 300 orders of magnitude of f
    (lambda x: 1 - x**9, 0.0, 7.0),
    (lambda x: 1.0 if x < 1 / 3 else -1.0, 0.0, 1.0),
    (lambda x: -math.log(x) - 3, 1e-300, 1.0),
    (lambda x: math.inf if x < 0.2 else 0.7 - x, 0.0, 1.0),
    (lambda x: 0.7 - x if x < 0.9 else -math.inf, 0.0, 1.0),
]


@pytest.mark.parametrize("f, unsafe, safe", CROSSINGS)
@pytest.mark.parametrize("rtol", [4e-16, 1e-6])
def test_safe_root_ends_on_the_safe_side_of_a_closed_bracket(f, unsafe, safe, rtol):
    seen = {}

    def spy(x):
        seen[x] = f(x)
        return seen[x]

    root = safe_root(spy, unsafe, safe, rtol=rtol)
    assert seen[root] <= 0
    if seen[root] < 0:
        toward = max((x for x in seen if seen[x] > 0), key=lambda x: -abs(x - root))
        assert abs(toward - root) <= max(rtol * abs(root), math.ulp(root))


def test_safe_root_needs_few_evaluations():
    calls = itertools.count()
    safe_root(lambda x: (next(calls), math.exp(-x) - 1e-6)[1], 0.0, 100.0)
    assert next(calls) <= 20


def test_safe_root_refuses_what_is_no_bracket_or_no_number():
    with pytest.raises(ArithmeticError, match="no bracket"):
        safe_root(lambda x: x + 1, 0.0, 1.0)
    with pytest.raises(ArithmeticError, match="no bracket"):
        safe_root(lambda x: math.nan, 0.0, 1.0)
    with pytest.raises(ArithmeticError, match="not a number"):
        safe_root(lambda x: math.nan if 0.1 < x < 0.9 else 0.5 - x, 0.0, 1.0)


def test_expm1_minus():
    for x in (-30.0, -0.31, -0.29, -1e-8, 1e-200, 1e-8, 0.29, 0.31, 5.0, 0.2 + 0.1j, 3 - 2j):
        with mp.workdps(50):
            exact = mp.expm1(x) - x if abs(x) > 1e-100 else mp.mpf(x) ** 2 / 2
        error = abs(complex(exact) - complex(expm1_minus(np.array(x))))
        assert error <= 4e-15 * abs(complex(exact))
