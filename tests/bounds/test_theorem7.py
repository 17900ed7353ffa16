"""Theorem 7: the documented example, 50-digit references over the whole range, the safe side, refusals, printing."""

import json
import math
import random
import re

import mpmath as mp
import numpy as np
import pytest

from shuffledp import DomainError, Theorem7, theorem7
from shuffledp.bounds.theorem7 import sharpened_sum

EXAMPLE = theorem7(5, 5, 0.5)  # the documented call
SETTING = {"epsilon0": 0.4, "n": 10_000, "delta": 1e-6}


def forms(epsilon0, n, delta):
    """Every form at 50 digits, from its formula; the inputs are the exact doubles they are."""
    e, u, n = mp.mpf(epsilon0), mp.exp(mp.mpf(epsilon0)), mp.mpf(n)
    gain, inv = mp.expm1(e), -mp.log(mp.mpf(delta))
    e1 = 2 * u**2 * gain / n
    half = (mp.sqrt(u) - 1) / (mp.sqrt(u) + 1)
    return {
        "epsilon1": e1,
        "epsilon_general": e1 * mp.sqrt(2 * n * inv) + n * e1 * mp.expm1(e1),
        "epsilon_refined": u**2 * gain * mp.sqrt(8 * inv / n) + 6 * u**4 * gain**2 / n,
        "epsilon_simple": 12 * e * mp.sqrt(inv / n),
        "epsilon_sharpened": u ** mp.mpf(1.5) * gain * mp.sqrt(2 * inv / n) + u**3 * gain**2 / (2 * n),
        "epsilon_last_swap": mp.sqrt(u) * gain * mp.sqrt(2 * inv / n)
        + u * gain**2 / (2 * n)
        + mp.log1p(u * gain / (n + u - 1))
        + 2 * half * gain**2 * (u + 1) / (n + u - 3)
        if n >= 3
        else None,
    }


def settings(count, epsilon0_max=79.0, seed=7):
    """Reproducible settings: epsilon0 from 1e-12, n from 2 to 1e12, delta from 1e-300 to nearly 1."""
    rng = random.Random(seed)
    for _ in range(count):
        epsilon0 = rng.choice([10 ** rng.uniform(-12, math.log10(epsilon0_max)), rng.uniform(1e-12, epsilon0_max)])
        yield epsilon0, round(10 ** rng.uniform(math.log10(2), 12)), 10 ** -rng.choice([rng.uniform(1e-4, 300), 1e-3])


def relative(ours, theirs):
    return float(abs(mp.mpf(ours) / theirs - 1))


# -- the documented example ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field, printed",
    {
        "estimate": "inf",
        "epsilon": "inf",
        "epsilon_general": "inf",
        "epsilon_refined": "1.265154e+13",
        "epsilon_simple": "22.33978",
        "epsilon1": "1298796",
        "epsilon0": "5",
        "delta": "0.5",
        "n": "5",
        "log_inv_delta": "0.6931472",
        "amplification_factor": "0",
        "refined_valid": "0",
        "simple_valid": "0",
        "amplifies": "0",
    }.items(),
)
def test_documented_example_as_printed(field, printed):
    assert f"{getattr(EXAMPLE, field):.7g}" == printed


@pytest.mark.parametrize(
    "field, value",
    {
        "epsilon1": 1298796.362670921569113959,
        "epsilon_refined": 1.265154335708472342110364e13,
        "epsilon_simple": 22.33978446635420479656748,
        "log_inv_delta": 0.6931471805599453094172321,
        "epsilon_guaranteed": 5.0,
    }.items(),
)
def test_documented_example_to_full_precision(field, value):
    assert getattr(EXAMPLE, field) == pytest.approx(value, rel=1e-12, abs=0)


def test_documented_example_is_finite_in_logs():
    assert EXAMPLE.log_epsilon_general == pytest.approx(1298812.04905735267957071, rel=1e-14, abs=0)
    assert EXAMPLE.log_epsilon_general / math.log(10) == pytest.approx(564066.9059350638782944825, rel=1e-14, abs=0)


def test_documented_example_other_fields():
    assert "Theorem 7" in EXAMPLE.method and "arXiv:1811.12469v2" in EXAMPLE.method
    assert EXAMPLE.threshold is None  # n <= 8 log(1/delta): no epsilon0 is amplified
    assert EXAMPLE.amplifies is EXAMPLE.amplifies_as_printed is False


# -- reference values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field, value",
    {
        "epsilon_general": 0.1155525419509564875828733,
        "epsilon_refined": 0.115792108812252133354966,
        "epsilon_simple": 0.1784122650647922454537155,
    }.items(),
)
def test_reference_values(field, value):
    assert getattr(theorem7(**SETTING), field) == pytest.approx(value, rel=1e-12, abs=0)


def test_reference_threshold():
    assert theorem7(0.4, 1000, 1e-6).threshold == pytest.approx(0.4312988428706799494302193, rel=1e-12, abs=0)


def test_reference_last_swap():
    assert theorem7(0.5, 10_000, 1e-6).epsilon_last_swap == pytest.approx(
        0.04395485357086959804189735, rel=1e-12, abs=0
    )


def test_reference_constant_of_the_simple_form():
    at_corner = theorem7(0.5, 1000, 0.01)
    constant = 12 * at_corner.epsilon_general / at_corner.epsilon_simple
    assert constant == pytest.approx(10.34256799948373265705895, rel=1e-12, abs=0)
    assert not at_corner.simple_valid  # the corner itself is excluded


def test_every_form_agrees_with_50_digits():
    worst = dict.fromkeys(forms(1, 3, 0.5), 0.0) | {"log": 0.0}
    with mp.workdps(50):
        for epsilon0, n, delta in settings(1000):
            ours, exact = theorem7(epsilon0, n, delta), forms(epsilon0, n, delta)
            log = mp.log(exact["epsilon_general"])
            worst["log"] = max(worst["log"], float(abs(ours.log_epsilon_general - log) / max(1, abs(log))))
            for field, value in exact.items():
                if value is None:
                    assert getattr(ours, field) is None
                elif value > mp.mpf(1e300):
                    assert field == "epsilon_general" and getattr(ours, field) > 1e299
                else:
                    worst[field] = max(worst[field], relative(getattr(ours, field), value))
    assert worst.pop("log") < 1e-14
    assert max(worst.values()) < 1e-12, worst


@pytest.mark.parametrize(
    "slip",
    [
        lambda e1, n, inv: e1 * 2 * n * inv + n * e1 * mp.expm1(e1),  # the root lost
        lambda e1, n, inv: e1 * mp.sqrt(2 * n * inv) + n * e1 * mp.exp(e1 - 1),  # "-1" slipped into the exponent
        lambda e1, n, inv: e1 * mp.sqrt(n * inv) + n * e1 * mp.expm1(e1),  # the 2 lost
        lambda e1, n, inv: e1 * mp.sqrt(2 * n * inv / mp.log(10)) + n * e1 * mp.expm1(e1),  # log to base 10
    ],
)
def test_a_wrong_formula_is_told_apart(slip):
    with mp.workdps(50):
        e1, inv = forms(**SETTING)["epsilon1"], -mp.log(mp.mpf(SETTING["delta"]))
        assert relative(theorem7(**SETTING).epsilon_general, slip(e1, SETTING["n"], inv)) > 1e-3


def test_textbook_arithmetic_would_lose_digits_at_small_epsilon0():
    epsilon0, n, delta = 1e-12, 1000, 1e-6
    e1 = 2 * math.exp(2 * epsilon0) * (math.exp(epsilon0) - 1) / n
    textbook = e1 * math.sqrt(2 * n * math.log(1 / delta)) + n * e1 * (math.exp(e1) - 1)
    with mp.workdps(50):
        exact = forms(epsilon0, n, delta)["epsilon_general"]
        assert relative(textbook, exact) > 1e-5 > 1e-12 > relative(theorem7(epsilon0, n, delta).epsilon_general, exact)


@pytest.mark.parametrize("delta", [5e-324, 1e-310, math.nextafter(1, 0)])
def test_extreme_delta(delta):
    with mp.workdps(50):
        ours = theorem7(0.3, 10**6, delta)
        assert relative(ours.log_inv_delta, -mp.log(mp.mpf(delta))) < 1e-15
        assert relative(ours.epsilon_general, forms(0.3, 10**6, delta)["epsilon_general"]) < 1e-12


@pytest.mark.parametrize("epsilon0", [3.6, 6.0, 79.0, 200.0, 231.0, 237.5])
def test_log_stays_finite_where_the_double_overflows(epsilon0):
    with mp.workdps(50):
        ours = theorem7(epsilon0, 100, 1e-6)
        assert ours.epsilon_general == math.inf and ours.amplification_factor == 0
        exact = mp.log(forms(epsilon0, 100, 1e-6)["epsilon_general"])
        assert relative(ours.log_epsilon_general, exact) < 1e-13
        assert ours.epsilon_guaranteed == epsilon0


# -- the safe side -------------------------------------------------------------------------------------------------


def test_epsilon_guaranteed_is_never_below_the_exact_bound():
    binding = 0
    with mp.workdps(50):
        for epsilon0, n, delta in settings(1000, epsilon0_max=4.0, seed=8):
            ours, exact = theorem7(epsilon0, n, delta), forms(epsilon0, n, delta)["epsilon_general"]
            assert min(exact, mp.mpf(epsilon0)) <= ours.epsilon_guaranteed <= epsilon0
            assert ours.amplifies == (exact < epsilon0)
            binding += ours.amplifies
    assert binding > 200  # the cap alone does not decide


@pytest.mark.parametrize(
    "epsilon0, n, delta",
    [
        (277.2276615013327, 10**100, 1 - 2**-53),
        (239.5139367971292, 10**6, 0.5),
        (143.34455, 10**6, 0.5),
        (400.0, 10**299, 1 - 2**-53),
        (1e-6, 10**299, 1 - 2**-53),
    ],
)
def test_no_form_overflows_or_underflows_before_its_value_does(epsilon0, n, delta):
    ours = theorem7(epsilon0, n, delta)
    with mp.workdps(50):
        exact = forms(epsilon0, n, delta)
        for name, value in exact.items():
            if value < 1.79e308:
                assert relative(getattr(ours, name), value) < 1e-12
        log = mp.log(exact["epsilon_general"])
        assert abs(ours.log_epsilon_general - log) <= 1e-14 * max(1, abs(log))


def test_threshold_is_on_the_amplifying_side_and_close():
    found = 0
    with mp.workdps(50):
        for _, n, delta in settings(400, seed=9):
            threshold = theorem7(1, n, delta).threshold
            if threshold is None:
                assert n <= 8 * -math.log(delta) * (1 + 1e-9)
                continue
            assert forms(threshold, n, delta)["epsilon_general"] <= threshold
            beyond = threshold * (1 + 1e-12) + 1e-12
            assert forms(beyond, n, delta)["epsilon_general"] > beyond
            found += 1
    assert found > 300


def test_threshold_exists_where_n_over_log_inverse_delta_overflows():
    n, delta = 10**299, 1 - 1e-16
    threshold = theorem7(0.2, n, delta).threshold
    beyond = threshold * (1 + 1e-12)
    with mp.workdps(50):
        assert forms(threshold, n, delta)["epsilon_general"] <= threshold
        assert forms(beyond, n, delta)["epsilon_general"] > beyond


def test_threshold_splits_what_amplifies():
    threshold = theorem7(1, 10**4, 1e-6).threshold
    assert theorem7(threshold * (1 - 1e-12), 10**4, 1e-6).amplifies
    assert not theorem7(threshold * (1 + 1e-9), 10**4, 1e-6).amplifies


@pytest.mark.parametrize("n, amplifies", [(110, False), (111, True)])
def test_nothing_amplifies_unless_n_exceeds_eight_log_inverse_delta(n, amplifies):
    assert (theorem7(1e-9, n, 1e-6).threshold is not None) == amplifies  # 8 log(10^6) = 110.52


def test_printed_condition_is_not_what_amplifies_means():
    below = theorem7(1.0, 1000, 1e-6)
    assert below.amplifies_as_printed and not below.amplifies
    above = theorem7(0.01, 2, 0.9)
    assert above.amplifies and not above.amplifies_as_printed


@pytest.mark.parametrize("epsilon0, n, delta", [(0.05, 50, 1e-3), (0.4, 10_000, 1e-6), (1, 10**5, 1e-9), (3, 4, 0.5)])
def test_sharper_bounds_are_below_the_general_one(epsilon0, n, delta):
    ours = theorem7(epsilon0, n, delta)
    assert sharpened_sum(epsilon0, n, delta) <= ours.epsilon_sharpened < ours.epsilon_general


@pytest.mark.parametrize("epsilon0", [1e-180, 3e-320])
def test_sharpened_sum_is_not_0_where_its_squares_underflow(epsilon0):
    with mp.workdps(50):
        exact = mp.mpf(epsilon0) * mp.sqrt(2 * mp.log(2) * 3) / 3  # every weight is 1/3
        assert abs(sharpened_sum(epsilon0, 3, 0.5) - exact) <= max(1e-12 * exact, math.ulp(0.0))


def test_sharpened_sum_against_50_digits():
    epsilon0, n, delta = 0.7, 60, 1e-5
    with mp.workdps(50):
        u = mp.exp(mp.mpf(epsilon0))
        p = [mp.mpf(1) / n] + [1 / (1 + (n - i + 1) / u + (i - 2) / u**2) for i in range(2, n + 1)]
        loss = [mp.log1p(q * (u - 1)) for q in p]
        inv = -mp.log(mp.mpf(delta))
        exact = mp.sqrt(2 * inv * sum(x**2 for x in loss)) + sum(x * mp.tanh(x / 2) for x in loss)
        assert relative(sharpened_sum(epsilon0, n, delta), exact) < 1e-12


@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_conditions_of_the_specialised_forms(delta):
    edge = math.log(1000 / 4) / 3
    assert theorem7(edge * (1 - 1e-9), 1000, delta).refined_valid
    assert not theorem7(edge * (1 + 1e-9), 1000, delta).refined_valid
    assert theorem7(0.499, 1000, delta).simple_valid
    assert not theorem7(0.5, 1000, delta).simple_valid
    assert not theorem7(0.499, 999, delta).simple_valid
    assert not theorem7(0.499, 1000, 0.01).simple_valid
    assert not theorem7(1e-9, 4, delta).refined_valid  # the condition is empty for n <= 4


# -- refusals ------------------------------------------------------------------------------------------------------

nan, inf = math.nan, math.inf
HOSTILE = [
    ("epsilon0", value, message)
    for value, message in [
        (0, "epsilon0 > 0"),
        (-0.0, "epsilon0 > 0"),
        (-1, "epsilon0 > 0"),
        (nan, "finite"),
        (inf, "finite"),
        (-inf, "finite"),
        ("0.4", "real number"),
        (None, "real number"),
        (True, "real number"),
        (0.4 + 0j, "real number"),
        ([0.4], "real number"),
        (np.array([0.4, 0.5]), "real number"),
        (800, "epsilon0 is too large"),
        (10**400, "finite"),
        (1e-306, "epsilon0/n is too small"),
    ]
] + [
    ("n", value, message)
    for value, message in [
        (1, "n >= 2"),
        (0, "n >= 2"),
        (-5, "n >= 2"),
        (1.5, "integer"),
        (1000.5, "integer"),
        (nan, "finite integer"),
        (inf, "finite integer"),
        ("1000", "integer"),
        (None, "integer"),
        (True, "integer"),
        (np.bool_(True), "integer"),
        ([1000], "integer"),
        (10**400, "at most 1e300"),
    ]
] + [
    ("delta", value, message)
    for value, message in [
        (0, "delta > 0"),
        (1, "delta < 1"),
        (2, "delta < 1"),
        (-1e-6, "delta > 0"),
        (nan, "finite"),
        (inf, "finite"),
        ("1e-6", "real number"),
        (None, "real number"),
        (False, "real number"),
        (1e-6j, "real number"),
        ((1e-6,), "real number"),
    ]
]  # fmt: skip


@pytest.mark.parametrize("name, value, message", HOSTILE, ids=lambda v: repr(v)[:24])
def test_bad_input_is_refused_by_name(name, value, message):
    with pytest.raises(DomainError, match=message) as refusal:
        theorem7(**SETTING | {name: value})
    assert name in str(refusal.value)


@pytest.mark.parametrize(
    "change",
    [{"epsilon0": 231}, {"epsilon0": nan}, {"n": 1}, {"n": 10**8 + 1}, {"n": 2.5}, {"delta": 0}, {"delta": 1}],
)
def test_sharpened_sum_refuses_bad_input(change):
    with pytest.raises(DomainError, match=next(iter(change))):
        sharpened_sum(**SETTING | change)


@pytest.mark.parametrize("n", [10_000, 1e4, np.int64(10_000), np.float64(1e4), np.array(10_000)])
def test_numbers_of_every_kind_are_welcome(n):
    ours = theorem7(np.float64(0.4), n, np.array(1e-6))
    assert ours == theorem7(**SETTING)
    assert type(ours.n) is int and type(ours.epsilon0) is float


# -- how it prints -------------------------------------------------------------------------------------------------


def test_it_prints_as_a_table():
    text = str(theorem7(**SETTING))
    assert text.splitlines()[0].startswith("Amplification by shuffling, Erlingsson et al. 2019, Theorem 7")
    assert re.search(r"^  epsilon_guaranteed +0\.1155525 +quote this", text, re.M)
    assert "epsilon0 < 1/2, delta < 1/100: met" in text
    assert "inf" not in text
    assert "its natural log is 1298812.049" in str(EXAMPLE)


def test_it_prints_as_html():
    html = theorem7(**SETTING)._repr_html_()
    assert html.startswith('<table class="sdp"><caption>')
    assert '<th scope="row">epsilon_general</th><td>0.1155525</td>' in html
    assert "epsilon0 &lt; 1/2" in html


def test_it_converts_to_plain_values():
    ours = theorem7(**SETTING)
    fields = ours.to_dict()
    assert Theorem7(**fields) == ours
    assert all(type(value) in (float, int, bool, str) for value in fields.values())
    assert json.loads(json.dumps(fields)) == fields


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        EXAMPLE.epsilon = 0.1
