"""The documented example digit for digit, every hole of the reference closed, and hostile calls refused."""

import json
import math
import warnings

import numpy as np
import pytest

from shuffledp import DomainError, GuaranteeWarning, gaussian_sigma, laplace_scale, private_mean

DATA = [1, 2, 3, 4, 5, 6, 7, 8]

# the documented call, as printed
PRINTED = {
    "estimate": "4.649404",
    "non_private_mean": "4.5",
    "clipped_mean": "4.5",
    "clipping_bias": "0",
    "sensitivity": "0.875",
    "noise_scale": "0.875",
    "noise_sd": "1.237437",
    "noise_drawn": "0.1494036",
    "clip_lower": "1",
    "clip_upper": "8",
    "clip_width": "7",
    "n_clipped": "0",
    "sampling_se": "0.8660254",
    "total_se": "1.510381",
    "ci_lower": "-0.5194777",
    "ci_upper": "9.818285",
    "ci_naive_lower": "2.952025",
    "ci_naive_upper": "6.346782",
    "n": "8",
    "n_denominator": "8",
    "epsilon": "1",
}

# the same with 25 digits, computed at high precision for noise = 0.14940356
REFERENCE = {
    "estimate": 4.64940356,
    "noise_sd": 1.237436867076458167701478,
    "sampling_se": 0.8660254037844386467637232,
    "total_se": 1.510380746699321508535355,
    "ci_lower": -0.5194776645673092307421421,
    "ci_upper": 9.818284784567309230742142,
    "ci_naive_lower": 2.952024958885742265299721,
    "ci_naive_upper": 6.346782161114257734700279,
}


def quiet(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        return private_mean(*args, **kwargs)


@pytest.fixture(scope="module")
def documented():
    return quiet(DATA, noise=0.14940356)


# -- the documented example ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", PRINTED)
def test_documented_example_as_printed(documented, field):
    assert f"{getattr(documented, field):.7g}" == PRINTED[field]


@pytest.mark.parametrize("field", REFERENCE)
def test_documented_example_to_full_precision(documented, field):
    assert getattr(documented, field) == pytest.approx(REFERENCE[field], rel=1e-14, abs=0)


def test_documented_example_other_fields(documented):
    assert documented.mechanism == "laplace"
    assert "range of the data" in documented.warnings[0]
    assert not documented.private


def test_the_printed_noise_is_itself_rounded(documented):
    assert f"{quiet(DATA, noise=0.1494036).ci_lower:.7g}" == "-0.5194776" != PRINTED["ci_lower"]


def test_interval_is_not_student_and_not_unsplit(documented):
    half = (documented.ci_upper - documented.ci_lower) / 2
    student = 2.841244 * documented.sampling_se + documented.noise_scale * math.log(40)  # t_7 at 0.9875
    unsplit = 1.959964 * documented.sampling_se + documented.noise_scale * math.log(20)
    assert half == pytest.approx(5.168881, abs=1e-6)
    assert abs(half - student) > 0.1 and abs(half - unsplit) > 0.1


# -- what is promised ----------------------------------------------------------------------------------------------


def test_fields_are_a_function_of_the_arguments_when_noise_is_given():
    assert quiet(DATA, C=5, lower=2, noise=0.3).to_dict() == quiet(DATA, C=5, lower=2, noise=0.3).to_dict()


def test_generator_decides_the_draw():
    first, second = (private_mean(DATA, C=9, lower=0, rng=np.random.default_rng(3)) for _ in range(2))
    assert first.estimate == second.estimate
    assert private_mean(DATA, C=9, lower=0).estimate != private_mean(DATA, C=9, lower=0).estimate


def test_clipping_and_its_bias():
    result = quiet([-3.0, 0.5, 9.0], C=1, lower=0, noise=0.0)
    assert result.n_clipped == 2
    assert result.clipped_mean == 0.5
    assert result.clipping_bias == pytest.approx(0.5 - 6.5 / 3, rel=1e-15, abs=0)


def test_sensitivity_is_attained():
    rng = np.random.default_rng(7)
    worst = 0.0
    for _ in range(200):
        y = rng.normal(0, 3, 6)
        z = y.copy()
        z[0] = rng.choice((-9.0, 9.0))
        y[0] = -z[0]
        a, b = quiet(y, C=2, lower=-1, noise=0.0), quiet(z, C=2, lower=-1, noise=0.0)
        worst = max(worst, abs(a.clipped_mean - b.clipped_mean) / a.sensitivity)
    assert worst == pytest.approx(1.0, rel=1e-12, abs=0)


def test_laplace_noise_has_the_stated_law():
    rng = np.random.default_rng(11)
    result = [private_mean([0.2, 0.9], C=1, lower=0, epsilon=0.5, rng=rng) for _ in range(2000)]
    noise = np.array([r.noise_drawn for r in result])
    scale = result[0].noise_scale
    assert scale == 1.0
    for t in (0.5, 1.0, 2.0):
        assert np.mean(np.abs(noise) > t) == pytest.approx(math.exp(-t), abs=0.03)


def test_gaussian_mechanism_uses_the_analytic_sigma():
    result = private_mean(DATA, C=8, lower=0, mechanism="gaussian", epsilon=2, delta=1e-5)
    assert result.noise_scale == result.noise_sd == gaussian_sigma(1.0, 2, 1e-5)
    assert result.delta == 1e-5
    half = (result.ci_upper - result.ci_lower) / 2
    assert half == pytest.approx(2.241402727604947 * (result.sampling_se + result.noise_sd), rel=1e-12, abs=0)
    # far beyond the limit of the classical formula, where that would be too little noise
    classical = math.sqrt(2 * math.log(1.25 / 1e-6)) / 20
    assert private_mean(DATA, C=8, lower=0, mechanism="gaussian", epsilon=20).noise_scale > 1.15 * classical


def test_laplace_scale_is_rounded_up():
    assert laplace_scale(7, 8) == 0.875
    assert laplace_scale(1, 3) * 3 >= 1 and laplace_scale(1, 3) == math.nextafter(1 / 3, 1)


def test_split_interval_covers_and_the_naive_one_does_not():
    rng = np.random.default_rng(20171018)
    split = naive = public = 0
    for _ in range(600):
        r = private_mean(rng.normal(size=30), C=8, lower=-4, rng=rng)
        split += r.ci_lower <= 0 <= r.ci_upper
        naive += r.ci_naive_lower <= 0 <= r.ci_naive_upper
        released = r.release()
        public += released["ci_public_lower"] <= 0 <= released["ci_public_upper"]
    assert split / 600 > 0.97 and public / 600 > 0.97
    assert naive / 600 < 0.8


# -- the holes -----------------------------------------------------------------------------------------------------


def test_width_without_a_lower_end_is_refused():
    with pytest.raises(DomainError, match="lower is required"):
        private_mean(DATA, C=7)
    with pytest.raises(DomainError, match="C is required"):
        private_mean(DATA, lower=0)


def test_window_from_the_data_warns_and_is_not_private():
    with pytest.warns(GuaranteeWarning, match="range of the data"):
        result = private_mean(DATA)
    assert not result.private
    with pytest.raises(DomainError, match="range of the data"):
        result.release()


def test_constant_data_without_a_window_are_refused():
    with pytest.raises(DomainError, match="constant"):
        private_mean([2.0, 2.0, 2.0])


@pytest.mark.parametrize("n", [7, 9, 80])
def test_another_n_is_refused(n):
    with pytest.raises(DomainError, match="number of records, 8"):
        private_mean(DATA, C=8, lower=0, n=n)
    assert private_mean(DATA, C=8, lower=0, n=8.0).n == 8


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_non_finite_records_are_refused_not_dropped(bad):
    with pytest.raises(DomainError, match="y must be finite"):
        private_mean([*DATA, bad], C=8, lower=0)


def test_release_has_no_diagnostic():
    result = private_mean(DATA, C=10, lower=0, rng=np.random.default_rng(1))
    released = result.release()
    secret = {"non_private_mean", "clipped_mean", "clipping_bias", "n_clipped", "sampling_se", "total_se"}
    secret |= {"noise_drawn", "ci_lower", "ci_upper", "ci_naive_lower", "ci_naive_upper"}
    assert secret <= set(result.to_dict())
    assert not secret & set(released)
    json.dumps(released)
    # two data sets and the same estimate: nothing else of the release may differ
    other = private_mean([0] * 8, C=10, lower=0, rng=np.random.default_rng(1)).release()
    shift = other["estimate"] - released["estimate"]
    for name in released:
        if name in ("estimate", "ci_public_lower", "ci_public_upper"):
            assert other[name] - released[name] == pytest.approx(shift)
        else:
            assert other[name] == released[name]


def test_given_noise_warns_and_is_not_private():
    with pytest.warns(GuaranteeWarning, match="noise was given"):
        result = private_mean(DATA, C=10, lower=0, noise=0)
    assert not result.private
    with pytest.raises(DomainError, match="nothing may be released"):
        result.release()


def test_one_record_has_no_interval():
    with pytest.warns(GuaranteeWarning, match="no interval"):
        result = private_mean([3.0], C=10, lower=0)
    assert result.private and result.sampling_se is result.total_se is result.ci_lower is result.ci_naive_upper is None
    released = result.release()
    assert released["ci_public_lower"] < released["estimate"] < released["ci_public_upper"]


def test_range_of_the_data_clips_none_of_them():
    result = quiet([-0.6, 0.3], noise=0.0)  # -0.6 + (0.3 - -0.6) is below 0.3 in doubles
    assert -0.6 + (0.3 - -0.6) < 0.3
    assert (result.clip_lower, result.clip_upper, result.n_clipped) == (-0.6, 0.3, 0)
    assert result.clip_width == 0.9


def test_window_is_never_wider_than_the_width_that_is_paid_for():
    result = quiet([1e16, 1e16 + 8], C=3, lower=1e16, noise=0.0)
    assert 1e16 + 3 - 1e16 == 4.0  # what rounding would have made of it
    assert result.clip_upper - result.clip_lower == 2.0
    with pytest.raises(DomainError, match="single double"):
        private_mean(DATA, C=1, lower=1e16)


def test_delta_at_one_over_n_warns_but_holds():
    with pytest.warns(GuaranteeWarning, match="delta >= 1/n"):
        result = private_mean(DATA, C=8, lower=0, mechanism="gaussian", delta=0.125)
    assert result.private
    assert private_mean(DATA, C=8, lower=0, delta=0.5).delta == 0.0  # Laplace noise has no delta


# -- printing ------------------------------------------------------------------------------------------------------


def test_private_result_prints_only_what_may_be_published():
    result = private_mean(DATA, C=10, lower=0)
    for text in (str(result), repr(result), result._repr_html_()):
        assert "may be published" in text
        for secret in ("clipped_mean", "noise_drawn", "ci_lower", "sampling_se", "n_clipped"):
            assert secret not in text
    assert result._repr_html_().startswith('<table class="sdp">')


def test_result_without_a_guarantee_says_so_and_shows_everything(documented):
    for text in (str(documented), documented._repr_html_()):
        assert "NOT PRIVATE" in text
        for field in documented.to_dict():
            assert ("warning" if field == "warnings" else field) in text


def test_result_is_frozen_and_converts(documented):
    with pytest.raises(AttributeError):
        documented.private = True
    assert json.loads(json.dumps(documented.to_dict()))["ci_upper"] == documented.ci_upper


# -- hostile calls -------------------------------------------------------------------------------------------------

OK = {"y": DATA, "C": 8, "lower": 0}
HOSTILE = [
    *({"y": y} for y in ([], [[1, 2], [3, 4]], 3.0, "12345678", ["a"], [True, False], None, [1, None], [1j])),
    *({"y": y} for y in ([1e200, 0], {}, {1, 2}, [[1], [2, 3]], np.array(2.0), [10**400])),
    *({"C": C} for C in (0, -1, math.nan, math.inf, "8", True, 1e200, [8], 1j)),
    *({"lower": lower} for lower in (math.nan, math.inf, "0", False, -1e200, [0])),
    *({"epsilon": e} for e in (0, -1, math.nan, math.inf, "1", True, None, 1e-200, 5e-324, [1, 2])),
    *({"n": n} for n in (0, -8, 8.9, 7, 9, 1.5, math.nan, math.inf, "8", True, 10**400)),
    *({"mechanism": m} for m in ("Laplace", "", None, 1, "gauss", ["laplace"])),
    *({"delta": d} for d in (0, 1, 2, -1, math.nan, "1e-6", None)),
    *({"alpha": a} for a in (0, 1, -0.1, 2, math.nan, "0.05", None)),
    *({"noise": v} for v in (math.nan, math.inf, "0", True, [0.1], [0.1, 0.2], 1e200, 1j)),
    *({"rng": r} for r in (0, "seed", np.random, np.random.RandomState(0))),
    {"C": None},
    {"lower": None},
    {"C": None, "lower": None, "y": [1.0] * 4},
    {"mechanism": "gaussian", "delta": 0},
    {"mechanism": "gaussian", "epsilon": 1e-320, "delta": 1e-320},
]


@pytest.mark.parametrize("change", HOSTILE, ids=lambda change: repr(change).split(" at 0x")[0][:60])
def test_hostile_call_is_refused(change):
    with pytest.raises(DomainError) as refusal:
        private_mean(**{**OK, **change})
    assert len(str(refusal.value)) > 15


def test_there_are_many_hostile_calls():
    assert len(HOSTILE) >= 80


@pytest.mark.parametrize("args", [(0, 1), (1, 0), (math.nan, 1), (1, math.inf), ("1", 1), (True, 1), (1e300, 1e-300)])
def test_laplace_scale_refuses(args):
    with pytest.raises(DomainError):
        laplace_scale(*args)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"epsilon": 800},
        {"epsilon": 1e300},
        {"alpha": 5e-324},
        {"alpha": 1 - 2**-53},
        {"C": 1e150, "lower": -1e150},
        {"C": 5e-324},
        {"mechanism": "gaussian", "epsilon": 1e300},
        {"mechanism": "gaussian", "delta": 5e-324},
        {"y": np.arange(8, dtype=np.int8)},
        {"y": np.float32(DATA)},
        {"epsilon": np.float64(1), "C": np.int64(8), "n": np.int32(8)},
    ],
)
def test_extreme_but_legal_calls_give_finite_numbers(kwargs):
    result = private_mean(**{**OK, **kwargs})
    for name, value in {**result.to_dict(), **result.release()}.items():
        assert not isinstance(value, (float, int)) or math.isfinite(value), name
        assert type(value) in (float, int, str, bool, tuple), name
