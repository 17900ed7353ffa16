"""Inversion on the safe side, calibration, and what a curve refuses."""

import math

import numpy as np
import pytest

from shuffledp import (
    DomainError,
    GenericRandomizer,
    LaplaceRandomizer,
    PrivacyCurve,
    RandomizedResponse,
    blanket_exact,
    calibrate_epsilon0,
    calibrate_n,
    clones,
    gdp,
    shuffled_krr,
    shuffled_rr,
)
from shuffledp.core.curves import SlowCurve


def pure(epsilon0=1.0):
    """A curve with a kink at its end: log(1 - epsilon/epsilon0) - 1."""
    return PrivacyCurve(
        lambda epsilon: np.log1p(-epsilon / epsilon0) - 1, name="line", kind="exact", epsilon_max=epsilon0
    )


CURVES = [
    pure(),
    pure(1e-9),
    gdp(1e-6),
    gdp(3.0),
    shuffled_rr(1.0, 2),
    shuffled_rr(1.0, 100),
    shuffled_rr(3.0, 10**9),
    PrivacyCurve(lambda epsilon: -1 - epsilon**0.1, name="slow", kind="exact"),
    PrivacyCurve(lambda epsilon: -2 - np.floor(4 * epsilon), name="steps", kind="exact"),
]
DELTAS = np.array([0.3, 0.1, 1e-3, 1e-6, 1e-12, 1e-100, 1e-290])


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_epsilon_is_safe_and_no_larger_than_needed(curve):
    for delta, epsilon in zip(DELTAS, curve.epsilon(DELTAS), strict=True):
        assert curve.log_delta(epsilon) <= math.log(delta) - curve.accuracy
        if epsilon > 0:
            assert curve.log_delta(epsilon * (1 - 1e-13)) > math.log(delta) - curve.accuracy
        else:
            assert curve.log_delta(0.0) <= math.log(delta)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_many_at_once_as_one_at_a_time(curve):
    many = curve.epsilon(DELTAS.reshape(1, -1))
    assert many.shape == (1, DELTAS.size)
    one = [curve.epsilon(float(delta)) for delta in DELTAS]
    np.testing.assert_allclose(many[0], one, rtol=1e-12)
    assert all(type(epsilon) is float for epsilon in one)
    assert curve.epsilon([]).shape == (0,)


def test_few_evaluations():
    calls, points = [], []
    inner = shuffled_rr(1.0, 10**6)

    def spy(epsilon):
        calls.append(1)
        points.append(epsilon.size)
        return inner.log_delta(epsilon)

    curve = PrivacyCurve(spy, name="counted", kind="exact", epsilon_max=1.0)
    curve.epsilon(1e-6)
    assert len(calls) <= 7 and sum(points) <= 120


def test_unsafe_side_would_be_caught():
    """Rounding to the nearest epsilon, or ignoring the accuracy, fails the condition the test above asks for."""
    curve = gdp(0.1)
    epsilon = curve.epsilon(1e-6)
    assert curve.log_delta(epsilon * (1 - 1e-12)) > math.log(1e-6) - curve.accuracy


def test_zero_where_delta_at_zero_suffices():
    curve = shuffled_rr(1.0, 10**12)
    assert curve.delta(0.0) < 1e-6
    assert curve.epsilon(1e-6) == 0.0 and curve.epsilon(0.999) == 0.0


def test_first_crossing_of_a_curve_that_rises_again():
    """A bound need not be monotone: any epsilon that satisfies it will do, and the first is found."""
    curve = PrivacyCurve(lambda epsilon: -10 * np.sin(np.minimum(epsilon, 3.0)) - 0.1, name="dip", kind="upper bound")
    epsilon = curve.epsilon(1e-3)
    assert curve.delta(epsilon) <= 1e-3 and epsilon < math.pi / 2


def test_slow_curve_inverts_like_any_other():
    inner = shuffled_rr(1.0, 10**4)
    calls = []

    def spy(epsilon):
        calls.append(epsilon.size)
        return inner.log_delta(epsilon)

    curve = SlowCurve(
        spy, scale=2 * math.sinh(0.5) / 100, name="slow", kind="exact", accuracy=inner.accuracy, epsilon_max=1.0
    )
    for delta in (3e-3, 1e-6, 1e-100):
        epsilon = curve.epsilon(delta)
        assert curve.log_delta(epsilon) <= math.log(delta) - curve.accuracy
        assert epsilon == pytest.approx(inner.epsilon(delta), rel=1e-12, abs=0)
    assert curve.epsilon(0.5) == 0.0
    calls.clear()
    curve.epsilon(1e-8)
    assert sum(calls) <= 16


@pytest.mark.parametrize(
    "delta", [0, 1, 2, -1e-9, math.nan, math.inf, "1e-6", True, None, [1e-6, 0.0], [1e-6, math.nan]]
)
def test_hostile_delta_is_refused(delta):
    with pytest.raises(DomainError):
        gdp(0.1).epsilon(delta)


def test_a_curve_that_never_falls_to_delta_says_so():
    curve = PrivacyCurve(lambda epsilon: np.full(epsilon.shape, -1.0), name="flat", kind="exact")
    with pytest.raises(DomainError, match="never reached"):
        curve.epsilon(1e-3)
    with pytest.raises(ValueError, match="kind"):
        PrivacyCurve(lambda epsilon: -epsilon, name="x", kind="guess")


# calibration ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "n, epsilon, delta, epsilon0",
    [
        (10**3, 0.5, 1e-6, 2.5701),
        (10**4, 0.1, 1e-6, 2.1961),
        (10**6, 0.02, 1e-8, 3.1626),
        (10**6, 1.0, 1e-8, 9.9158),
        (10**8, 0.1, 1e-10, 10.3688),
    ],
)
def test_calibrate_epsilon0(n, epsilon, delta, epsilon0):
    found = calibrate_epsilon0(lambda e: shuffled_rr(e, n), epsilon, delta)
    assert found == pytest.approx(epsilon0, abs=6e-5)
    assert shuffled_rr(found, n).delta(epsilon) <= delta < shuffled_rr(found * (1 + 1e-11), n).delta(epsilon)


def test_calibrate_epsilon0_at_epsilon_zero():
    found = calibrate_epsilon0(lambda e: shuffled_rr(e, 1000), 0.0, 1e-6)
    assert shuffled_rr(found, 1000).delta(0.0) <= 1e-6 < shuffled_rr(found * (1 + 1e-11), 1000).delta(0.0)


@pytest.mark.parametrize("randomizer", [GenericRandomizer, LaplaceRandomizer])
@pytest.mark.parametrize("n, epsilon, delta", [(10**6, 1e-4, 1e-4), (10**4, 0.001, 1e-6), (10**9, 1e-5, 1e-6)])
def test_calibration_does_not_begin_far_in_the_tail(randomizer, n, epsilon, delta):
    """There, at an epsilon0 close to epsilon, a value cannot always be vouched for; the one wanted is far away."""
    found = calibrate_epsilon0(lambda e: blanket_exact(randomizer(e), n), epsilon, delta)
    assert found > 20 * epsilon
    assert blanket_exact(randomizer(found), n).delta(epsilon) <= delta
    assert blanket_exact(randomizer(found * (1 + 1e-9)), n).delta(epsilon) > delta


@pytest.mark.parametrize("epsilon, delta", [(0.5, 1e-6), (0.01, 1e-8), (2.0, 0.5), (0.9999, 1e-300)])
def test_calibrate_epsilon0_of_a_curve_that_is_not_pure(epsilon, delta):
    mu = calibrate_epsilon0(gdp, epsilon, delta)
    assert gdp(mu).delta(epsilon) <= delta < gdp(mu * (1 + 1e-11)).delta(epsilon)


@pytest.mark.parametrize("epsilon, delta", [(0.5, 1e-6), (0.01, 1e-8), (2.0, 0.5), (0.9999, 1e-300)])
def test_calibrate_n(epsilon, delta):
    n = calibrate_n(lambda n: shuffled_rr(1.0, n), epsilon, delta)
    assert shuffled_rr(1.0, n).delta(epsilon) <= delta
    assert n == 2 or shuffled_rr(1.0, n - 1).delta(epsilon) > delta


def test_calibration_refuses():
    with pytest.raises(DomainError, match="10000000000"):  # n beyond the curve's range
        calibrate_n(lambda n: shuffled_rr(1.0, n), 0.0, 1e-9)
    with pytest.raises(DomainError, match="no epsilon0"):
        calibrate_epsilon0(lambda e: gdp(3.0), 1.0, 1e-9)
    for calibrate in (calibrate_epsilon0, calibrate_n):
        for arguments in (
            (None, 1.0, 1e-6),
            (gdp, -1.0, 1e-6),
            (gdp, 1.0, 0.0),
            (gdp, math.nan, 1e-6),
            (gdp, 1.0, 1.0),
        ):
            with pytest.raises(DomainError):
                calibrate(*arguments)


@pytest.mark.parametrize(
    "curve",
    [
        blanket_exact(RandomizedResponse(10, 17.96), 8132030),
        clones(13.855, 31),
        shuffled_krr(3, 0.28, 11, "first"),
    ],
    ids=str,
)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10, 1e-15])
def test_epsilon_next_to_its_end_is_found_in_few_values(curve, delta, monkeypatch):
    """There delta falls like the distance from epsilon0: once 45 halvings."""
    values, calls = curve._log_delta, []
    monkeypatch.setattr(curve, "_log_delta", lambda epsilon: calls.append(epsilon.size) or values(epsilon))
    epsilon = curve.epsilon(delta)
    assert len(calls) <= 16
    assert curve.log_delta(epsilon) <= math.log(delta)
    assert curve.log_delta(epsilon * (1 - 1e-11)) > math.log(delta) - 1.01 * curve.accuracy
