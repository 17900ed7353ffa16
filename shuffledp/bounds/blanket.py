r"""Bounds from the privacy blanket of Balle, Bell, Gascon, Nissim 2019 (arXiv:1903.02837v2).

Nearly all of them bound Lemma 5.3: with :math:`m \sim \mathrm{Bin}(n, \gamma)` and independent copies of the privacy
amplification variable L,

.. math:: \delta(\varepsilon) \le \frac{1}{\gamma n}\, E\Bigl(\sum_{i \le m} L_i\Bigr)_+ .

Replace-one neighbours, natural logs. Each curve is capped by what the local guarantee gives alone.

The lemmas of Hoeffding and Bennett integrate a tail bound. From :math:`x_+ \le e^{\theta x - 1}/\theta`, with the theta
of the tail bound, come the same formulas divided by e: ``divide_by_e=True``.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ..core.curves import PrivacyCurve, SlowCurve
from ..core.domain import MAX_USERS, DomainError, choice, integer, real
from ..core.engine import log_binomial_probability
from ..core.four_atoms import log_finite_excess, log_four_atom_excess, window
from ..core.lattice import log_gaussian_excess
from ..core.losses import TermLaw
from ..core.numerics import expm1_minus, golden_section, safe_root
from ..core.randomizers import GaussianRandomizer, GenericRandomizer, RandomizedResponse, Randomizer

__all__ = [
    "bennett_lemma",
    "blanket_bennett",
    "blanket_exact",
    "blanket_hoeffding",
    "blanket_mgf",
    "hoeffding_lemma",
    "shuffled_ldp_epsilon",
    "shuffled_ldp_epsilon0",
    "unsound_bennett_delta",
]

_VARIANTS = ("sharp", "published")
_ROUNDING = 2e-16  # of 1 - gamma
_LEAST_EPSILON0 = 1e-6  # below it the range of L, a difference of exponentials, loses the digits of a bound


def hoeffding_lemma(a, b, m, *, divide_by_e=False):
    r"""Upper bound of :math:`E(\sum_{i\le m} L_i)_+` for independent L of mean -a whose range has width b.

    .. math:: \frac{b^2}{4a}\, e^{-2ma^2/b^2}

    Parameters
    ----------
    a, b : float
        In [1e-50, 1e50].
    m : int
        Number of terms, at least 1.
    divide_by_e : bool
        The sharper form.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``bbgn19.lem.hoeffding`` and ``ext.pb.efactor``.
    """
    (a, b), m = _lemma(a=a, b=b), integer("m", m, at_least=1)
    return _times_exp(b / a * (b / 4) / (math.e if divide_by_e else 1), -2 * m * (a / b) ** 2, 4e-16)


def bennett_lemma(a, b_plus, c, m, *, divide_by_e=False):
    r"""Upper bound of :math:`E(\sum_{i\le m} L_i)_+` for independent L of mean -a, at most b_plus, with E L^2 <= c.

    .. math::

        \frac{b_+}{\log(1+ab_+/c)}\exp\Bigl(-\frac{mc}{b_+^2}\phi\Bigl(\frac{ab_+}{c}\Bigr)\Bigr),
        \qquad \phi(u) = (1+u)\log(1+u) - u

    The factor in front is the corrected one: the first public implementation has b_plus/(a m log(1 + a b_plus/c))
    there, which is false (see `unsound_bennett_delta`).

    Parameters
    ----------
    a, b_plus, c : float
        In [1e-50, 1e50]; c bounds the second moment, not the variance.
    m : int
        Number of terms, at least 1.
    divide_by_e : bool
        The sharper form.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    Claims ``ext.pb.bennett``, ``bbgn19.lem.bennett`` and ``ext.pb.efactor``.
    """
    (a, b_plus, c), m = _lemma(a=a, b_plus=b_plus, c=c), integer("m", m, at_least=1)
    u = a * b_plus / c
    exponent = -m * c / b_plus / b_plus * float(_phi(np.array(u)))
    return _times_exp(b_plus / math.log1p(u) / (math.e if divide_by_e else 1), exponent, 2e-14)


def _lemma(**numbers) -> list[float]:
    """The positive numbers of a lemma, such that no product of them leaves the doubles."""
    return [real(name, value, at_least=1e-50, at_most=1e50) for name, value in numbers.items()]


def _times_exp(factor: float, exponent: float, error: float) -> float:
    """``factor * e**exponent``, rounded up by more than a relative error of the exponent does: never 0."""
    if math.log(factor) + exponent < -746:
        return math.ulp(0.0)
    half = math.exp(0.5 * exponent)  # e**exponent itself may underflow where the product does not
    value = factor * half * half * (1 + 2e-15 - error * exponent)
    return value if value > 1e-300 else math.nextafter(value, math.inf)


def _phi(u: np.ndarray) -> np.ndarray:
    """``(1+u) log(1+u) - u`` for ``u >= 0``, by its series ``sum (-u)^k/(k(k-1))`` near 0."""
    small = u < 0.05
    v = np.where(small, u, 0.0)
    series = np.zeros_like(v)
    for k in range(14, 1, -1):
        series = (-1) ** k / (k * (k - 1)) + v * series
    return np.where(small, series * v * v, (1 + u) * np.log1p(u) - u)


def _local(epsilon0: float, epsilon: np.ndarray) -> np.ndarray:
    """log delta of the local guarantee alone, at ``epsilon < epsilon0``."""
    return np.log(-np.expm1(epsilon - epsilon0)) - np.log1p(math.exp(-epsilon0))


def _randomizer(value) -> Randomizer:
    if not isinstance(value, Randomizer):
        raise DomainError(f"randomizer must be a randomizer of the library, got {type(value).__name__}")
    return value


def _pure_epsilon0(randomizer, name: str) -> float:
    epsilon0 = _randomizer(randomizer).epsilon0
    if not math.isfinite(epsilon0):
        raise DomainError(f"{name} needs a finite epsilon0, and {randomizer!r} has none: L is unbounded")
    return epsilon0


def _curve(formula, randomizer: Randomizer, n, name: str) -> PrivacyCurve:
    """A bound as a curve: capped by the local guarantee, and flat beyond the epsilon where the formula is least.

    A bound at some epsilon holds at every larger one, and these formulas may rise again close to epsilon0.
    """
    epsilon0 = _pure_epsilon0(randomizer, name)
    n = integer("n", n, at_least=1, at_most=MAX_USERS)
    if epsilon0 < _LEAST_EPSILON0:
        return PrivacyCurve(
            lambda epsilon: np.minimum(_local(epsilon0, epsilon), 0.0),
            name=f"{name}, {randomizer!r}, n = {n}: the local guarantee",
            kind="upper bound",
            accuracy=1e-10,
            epsilon_max=epsilon0,
        )
    grid = epsilon0 * np.concatenate((np.geomspace(1e-9, 0.1, 200), np.linspace(0.1, 1, 400)[1:-1]))
    values = formula(grid, n)
    least = int(np.argmin(values))
    turn = grid[-1]
    if least < len(grid) - 1:
        low, high = grid[max(least - 1, 0)], grid[least + 1]
        turn = golden_section(lambda epsilon: formula(np.array([epsilon]), n)[0], low, high, 60)

    def log_delta(epsilon: np.ndarray) -> np.ndarray:
        out = np.minimum(_local(epsilon0, epsilon), 0.0)
        positive = epsilon > 0  # at 0 the formulas are infinite
        if positive.any():
            out[positive] = np.minimum(out[positive], formula(np.minimum(epsilon[positive], turn), n))
        return out

    return PrivacyCurve(
        log_delta, name=f"{name}, {randomizer!r}, n = {n}", kind="upper bound", accuracy=1e-10, epsilon_max=epsilon0
    )


def _moments(randomizer: Randomizer, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per epsilon: ends of the range of L and its second moment, for the worst pair."""
    low, high, second = [], [], []
    for law in randomizer.ratio_laws():
        value = randomizer.gamma * law.difference(epsilon)
        low.append(value.min(axis=1))
        high.append(value.max(axis=1))
        second.append(value**2 @ law.weight)
    return np.min(low, axis=0), np.max(high, axis=0), np.max(second, axis=0)


def _log_hoeffding(a, b, gamma: float, n: int) -> np.ndarray:
    return 2 * np.log(b) - np.log(4 * a * gamma * n) + n * np.log1p(gamma * np.expm1(-2 * (a / b) ** 2))


def blanket_hoeffding(randomizer, n, *, variant="sharp", divide_by_e=False) -> PrivacyCurve:
    r"""Hoeffding bound on the blanket, in closed form at any n.

    .. math:: \delta \le \frac{b^2}{4a\gamma n}\bigl(1-\gamma(1-e^{-2a^2/b^2})\bigr)^n,\qquad a = e^\varepsilon - 1

    with b the width of the range of L.

    Parameters
    ----------
    randomizer : Randomizer
        Purely private. For a `GenericRandomizer` the curve is the smaller of two forms that hold for every
        epsilon0-private randomizer: the least favourable blanket mass, and the midpoint sub-blanket.
    n : int
        Number of users, in [1, 10^15].
    variant : {"sharp", "published"}
        "published", for a `GenericRandomizer` only: the form behind the published figures, with
        ``gamma = e^-epsilon0`` outside and ``gamma = 1`` inside the printed range of L; much looser.
    divide_by_e : bool
        The sharper form of the lemma: delta smaller by the factor e.

    Returns
    -------
    PrivacyCurve
        An upper bound, relative accuracy 1e-10; below epsilon0 = 1e-6 that of the local guarantee alone.

    Raises
    ------
    DomainError
        If n is out of range, L is unbounded (Gaussian noise), or the variant does not exist.

    Notes
    -----
    arXiv:1903.02837v2, Section 5. Claims ``bbgn19.lem.hoeffding``, ``ext.pb.hoeffding.free``, ``ext.pb.midpoint``.
    """
    spared = 1.0 if divide_by_e else 0.0
    if choice("variant", variant, _VARIANTS) == "published":
        _generic_only(randomizer)

        def published(epsilon, n):
            ranges = np.array([randomizer.amplification_range(e, printed=True) for e in epsilon])
            return _log_hoeffding(np.expm1(epsilon), ranges[:, 1] - ranges[:, 0], randomizer.gamma, n) - spared

        return _curve(published, randomizer, n, "blanket, Hoeffding as published")

    def formula(epsilon, n):
        a = np.expm1(epsilon)
        low, high, _ = _moments(randomizer, epsilon)
        out = _log_hoeffding(a, high - low, randomizer.gamma, n)
        if isinstance(randomizer, GenericRandomizer):
            # the worst gamma of the blanket itself lies at an end of [e^-epsilon0, 1]
            b, g = math.expm1(randomizer.epsilon0) * (1 + np.exp(epsilon)), randomizer.gamma
            kappa = 2 * (a / b) ** 2
            mass = np.minimum(-np.expm1(-kappa), -g * np.expm1(-kappa / g**2))
            with np.errstate(divide="ignore"):  # mass 1: the bound is 0
                out = np.minimum(out, 2 * np.log(b) - np.log(4 * a * n) + n * np.log1p(-mass))
        return out - spared

    return _curve(formula, randomizer, n, "blanket, Hoeffding")


def _log_bennett(a, b_plus, c, gamma: float, n: int) -> np.ndarray:
    u = a * b_plus / c
    s = c / b_plus**2 * _phi(u)
    kept = np.log1p(gamma * np.expm1(-s))
    with np.errstate(divide="ignore"):
        return np.log(b_plus / (gamma * n * np.log1p(u))) + n * kept + np.log(-np.expm1(n * (np.log1p(-gamma) - kept)))


def blanket_bennett(randomizer, n, *, variant="sharp", divide_by_e=False) -> PrivacyCurve:
    r"""Bennett bound on the blanket with the corrected prefactor, in closed form at any n.

    .. math::

        \delta \le \frac{b_+}{\gamma n\log(1+ab_+/c)}\bigl[(1-\gamma(1-e^{-s}))^n - (1-\gamma)^n\bigr],
        \qquad s = \frac{c}{b_+^2}\,\phi\Bigl(\frac{ab_+}{c}\Bigr)

    with :math:`a = e^\varepsilon-1`, L at most :math:`b_+` and :math:`E L^2 = c`.

    Parameters
    ----------
    randomizer : Randomizer
        Purely private. For a `GenericRandomizer` the curve is the smaller of two forms that hold for every
        epsilon0-private randomizer: one from the paper's own moment bounds, in which gamma cancels, and the midpoint
        sub-blanket.
    n : int
        Number of users, in [1, 10^15].
    variant : {"sharp", "published"}
        "published", for a `GenericRandomizer` only: ``gamma = e^-epsilon0`` outside and ``gamma = 1`` inside the
        printed moments of L, with the corrected prefactor.
    divide_by_e : bool
        The sharper form of the lemma: delta smaller by the factor e.

    Returns
    -------
    PrivacyCurve
        An upper bound, relative accuracy 1e-10; below epsilon0 = 1e-6 that of the local guarantee alone.

    Raises
    ------
    DomainError
        If n is out of range, L is unbounded (Gaussian noise), or the variant does not exist.

    Notes
    -----
    arXiv:1903.02837v2, Section 5; see `bennett_lemma` for the prefactor. Claims ``ext.pb.bennett.mix``,
    ``ext.pb.bennett.free``.
    """
    spared = 1.0 if divide_by_e else 0.0
    if choice("variant", variant, _VARIANTS) == "published":
        _generic_only(randomizer)

        def published(epsilon, n):
            b_plus = np.array([randomizer.amplification_range(e, printed=True)[1] for e in epsilon])
            c = np.array([randomizer.amplification_second_moment(e, printed=True) for e in epsilon])
            return _log_bennett(np.expm1(epsilon), b_plus, c, randomizer.gamma, n) - spared

        return _curve(published, randomizer, n, "blanket, Bennett as published but for the prefactor")

    def formula(epsilon, n):
        a, e = np.expm1(epsilon), np.exp(epsilon)
        _, high, second = _moments(randomizer, epsilon)
        out = _log_bennett(a, high, second, randomizer.gamma, n)
        if isinstance(randomizer, GenericRandomizer):
            u = a / (e * e + 1)
            mass = -randomizer.gamma * np.expm1(-(e * e + 1) * _phi(u))
            out = np.minimum(out, randomizer.epsilon0 - np.log(n * np.log1p(u)) + n * np.log1p(-mass))
        return out - spared

    return _curve(formula, randomizer, n, "blanket, Bennett")


def _generic_only(randomizer) -> None:
    if not isinstance(randomizer, GenericRandomizer):
        raise DomainError(
            "variant 'published' is the generic form of the published figures: it needs GenericRandomizer"
        )


def unsound_bennett_delta(randomizer, n, epsilon) -> float:
    r"""What the Bennett lemma with the prefactor of the first public code would give: **not a bound**.

    .. math::

        \frac{1}{\gamma n}\,E\Bigl[\frac{b_+}{a\,m\log(1+ab_+/c)}\,e^{-ms};\ m\ge1\Bigr],
        \qquad m\sim\mathrm{Bin}(n,\gamma)

    Kept so that published numbers can be reproduced and refuted. For a bound use `blanket_bennett`.

    Parameters
    ----------
    randomizer : Randomizer
        Purely private; for a `GenericRandomizer` with the moments of the published figures (gamma = 1 inside).
    n : int
        Number of users, in [1, 10^12]; the sum has O(sqrt n) terms.
    epsilon : float
        Between 1e-9 and 1 - 1e-9 times epsilon0, which must be at least 1e-6.

    Returns
    -------
    float
        May lie below the true delta by any factor.

    Raises
    ------
    DomainError
        If an argument is outside its range, or L is unbounded (Gaussian noise).

    Notes
    -----
    Claim ``bbgn19.lem.bennett``.
    """
    epsilon0 = real("epsilon0", _pure_epsilon0(randomizer, "the Bennett bound"), at_least=_LEAST_EPSILON0)
    n, gamma = integer("n", n, at_least=1, at_most=10**12), randomizer.gamma
    epsilon = real("epsilon", epsilon, at_least=1e-9 * epsilon0, at_most=(1 - 1e-9) * epsilon0)
    printed = isinstance(randomizer, GenericRandomizer)
    b_plus = randomizer.amplification_range(epsilon, printed=printed)[1]
    c = randomizer.amplification_second_moment(epsilon, printed=printed)
    a = math.expm1(epsilon)
    u = a * b_plus / c
    s = c / b_plus**2 * float(_phi(np.array(u)))
    kept = math.log1p(gamma * math.expm1(-s))
    tilted = math.exp(math.log(gamma) - s - kept)  # e^(-ms) Bin(m; n, gamma) = e^(n kept) Bin(m; n, tilted)
    low, high = window(n, tilted)
    m = np.arange(max(low, 1), high + 1, dtype=float)
    logs = log_binomial_probability(np.array([float(n)]), tilted, 1 - tilted, m, m - n * tilted)
    mean_inverse = float(np.exp(logs) @ (1 / m))
    return b_plus / (a * math.log1p(u) * gamma * n) * math.exp(n * kept) * mean_inverse


def blanket_mgf(randomizer, n) -> PrivacyCurve:
    r"""The blanket bounded through the exact moment generating function: rigorous, fast, close.

    .. math:: \delta \le \inf_{\theta>0} \frac{(1-\gamma+\gamma\,E e^{\theta L})^n}{e\,\theta\,\gamma\,n}

    from :math:`x_+ \le e^{\theta x - 1}/\theta`. Typically within a factor 4 of the blanket's exact value and within 15
    per cent in epsilon; the cost does not depend on n.

    Parameters
    ----------
    randomizer : Randomizer
        Purely private; a `GenericRandomizer` covers every epsilon0-private one.
    n : int
        Number of users, in [1, 10^15].

    Returns
    -------
    PrivacyCurve
        An upper bound (at whatever theta the minimisation stops), relative accuracy 1e-10; below epsilon0 = 1e-6 that
        of the local guarantee alone.

    Raises
    ------
    DomainError
        If n is out of range or L is unbounded (Gaussian noise).

    Notes
    -----
    Claim ``ext.pb.mgf``.
    """

    def formula(epsilon, n):
        return np.max([_log_mgf(law, randomizer.gamma, epsilon, n) for law in randomizer.ratio_laws()], axis=0)

    return _curve(formula, randomizer, n, "blanket, moment generating function")


def _log_mgf(law, gamma: float, epsilon: np.ndarray, n: int) -> np.ndarray:
    """The bound for one pair of inputs; ``theta gamma = tau`` minimises ``n K(tau) - log tau``, which is convex."""
    value = law.difference(epsilon)
    scale = np.abs(value).max(axis=1)
    value, a = value / scale[:, None], np.expm1(epsilon) / scale
    weight = gamma * law.weight
    variance = (value + a[:, None]) ** 2 @ weight + (1 - gamma) * a * a  # as much as E G^2 - a^2, to all digits
    tau = (a + np.sqrt(a * a + 4 * variance / n)) / (2 * variance)
    ceiling = 50 / np.maximum(value.max(axis=1), 1e-300)
    tau = np.minimum(tau, ceiling)

    def log_growth(x, tau):
        # mean -a exactly: E e^(tau G) - 1 = -a tau + E (e^(tau G) - 1 - tau G), which cancels where little is left of 1
        change = -a * tau + expm1_minus(x) @ weight
        left = (1 - gamma) + _ROUNDING + np.exp(x) @ weight
        return np.where(change > -0.5, np.log1p(np.maximum(change, -0.5)), np.log(left))

    for _ in range(12):
        x = tau[:, None] * value
        growth = np.exp(log_growth(x, tau))
        first = (-a + (np.expm1(x) * value) @ weight) / growth
        curvature = (np.exp(x) * value**2) @ weight / growth - first**2
        step = (n * first - 1 / tau) / (n * curvature + 1 / tau**2)
        tau = np.clip(tau - step, 0.3 * tau, np.minimum(3 * tau, ceiling))
        if np.all(np.abs(step) < 1e-4 * tau):  # the minimum is flat: the bound is off by 1e-8
            break
    return n * log_growth(tau[:, None] * value, tau) - 1 - np.log(tau * n) + np.log(scale)


_KAPPA = -math.expm1(-0.5)  # 1 - e^-x >= 2 kappa x for 0 <= x <= 1/2
_DELTA_MAX = 0.45  # below e^(-2 kappa), where the factor in front of the bound is at most 1


def shuffled_ldp_epsilon(epsilon0, n, delta) -> float:
    r"""Closed-form epsilon at which every shuffled epsilon0-private randomizer is (epsilon, delta)-DP.

    .. math::

        \varepsilon = 2\operatorname{artanh} s,\qquad
        s = \tanh\frac{\varepsilon_0}{2}\sqrt{\frac{e^{\varepsilon_0}\log(1/\delta)}{(1-e^{-1/2})\,n}},

    at most :math:`3.51\,\tanh(\varepsilon_0/2)\sqrt{e^{\varepsilon_0}\log(1/\delta)/n}`.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log, in [1e-300, 230].
    n : int
        Number of users, at most 10^15 and large enough that the bound amplifies and :math:`s \le 1/2`.
    delta : float
        In (0, 0.45].

    Returns
    -------
    float
        In (0, log 3], and at most epsilon0; never below the formula's value.

    Raises
    ------
    DomainError
        If an argument is outside its range; where n is too small the message says which n would do.

    Notes
    -----
    An explicit form of Theorem 5.1 of arXiv:1903.02837v2, with the growth :math:`e^{\varepsilon_0/2}` in place of
    :math:`e^{\varepsilon_0}`. Claim ``ext.pb.thm5.1.half``. `blanket_hoeffding` and `blanket_exact` of a
    `GenericRandomizer` are smaller, and have no side condition.
    """
    epsilon0 = real("epsilon0", epsilon0, at_least=1e-300, at_most=230)
    n = integer("n", n, at_least=1, at_most=MAX_USERS)
    delta = real("delta", delta, above=0, at_most=_DELTA_MAX)
    tanh = math.tanh(epsilon0 / 2)
    amplifying = math.exp(epsilon0) * -math.log(delta) / _KAPPA
    needed = amplifying * max(1.0, 4 * tanh**2)
    if n < needed:
        raise DomainError(f"n violates n >= {needed:.6g}, which the theorem needs at this epsilon0 and delta: got {n}")
    return min(2 * math.atanh(tanh * math.sqrt(amplifying / n)) * (1 + 1e-14), epsilon0)


def shuffled_ldp_epsilon0(epsilon, n, delta) -> float:
    r"""Largest epsilon0 for which `shuffled_ldp_epsilon` promises (epsilon, delta)-DP: its inverse.

    It solves :math:`e^{\varepsilon_0}\tanh^2(\varepsilon_0/2) = (1-e^{-1/2})\,n\tanh^2(\varepsilon/2)/\log(1/\delta)`.

    Parameters
    ----------
    epsilon : float
        The central epsilon, in [1e-300, log 3].
    n : int
        Number of users, in [1, 10^15].
    delta : float
        In (0, 0.45].

    Returns
    -------
    float
        Rounded down; ``epsilon`` itself, for which the local guarantee alone suffices, where the theorem gives no more.

    Raises
    ------
    DomainError
        If an argument is outside its range.

    Notes
    -----
    At least :math:`\log((1-e^{-1/2})\,n\tanh^2(\varepsilon/2)/\log(1/\delta))`: claim ``bbgn19.thm5.1.inverse``.
    """
    epsilon = real("epsilon", epsilon, at_least=1e-300, at_most=math.log(3))
    n = integer("n", n, at_least=1, at_most=MAX_USERS)
    delta = real("delta", delta, above=0, at_most=_DELTA_MAX)
    goal = math.log(_KAPPA * n / -math.log(delta)) + 2 * math.log(math.tanh(epsilon / 2))
    goal -= 1e-13 + 1e-15 * abs(goal)  # more than the rounding of the logs on both sides

    def excess(epsilon0: float) -> float:
        return epsilon0 + 2 * math.log(math.tanh(epsilon0 / 2)) - goal

    if excess(epsilon) >= 0:
        return epsilon
    return safe_root(excess, 40 + max(goal, 0), epsilon)


def blanket_exact(randomizer, n) -> PrivacyCurve:
    r"""The blanket bound of Lemma 5.3, evaluated exactly.

    Parameters
    ----------
    randomizer : Randomizer
        Purely private, or a `GaussianRandomizer`. For a `GenericRandomizer` the midpoint sub-blanket at its least
        favourable law: an upper bound for every epsilon0-private randomizer, and the same number as `clones`.
    n : int
        Number of users, in [1, 10^15].

    Returns
    -------
    PrivacyCurve
        An upper bound, relative accuracy 1e-10. For Gaussian noise a bound on Lemma 5.3 for the inputs 0 and 1, larger
        than its value by less than half a per cent; up to some millions of users, a second or two per epsilon.

    Raises
    ------
    DomainError
        If n is out of range, or a `FiniteChannel` is not purely private.
    ArithmeticError
        From the curve, where no evaluation can be vouched for: a `LaplaceRandomizer` or `FiniteChannel` with too few
        users (below some hundreds), Gaussian noise that is small, or too many users for its lattice.

    Notes
    -----
    arXiv:1903.02837v2, Lemma 5.3. For randomized response with k >= 3 it is almost the exact value; for k = 2 it is
    larger than `shuffled_rr` by about a factor of the square root of 2 in epsilon when gamma is small. Claims
    ``bbgn19.lem5.3``, ``ext.pb.exact.rr``, ``ext.pb.lem5.3.sub``, ``ext.pb.exact.cont``.
    """
    n = integer("n", n, at_least=1, at_most=MAX_USERS)
    if isinstance(_randomizer(randomizer), GaussianRandomizer):
        return _gaussian_exact(randomizer, n)
    gamma, epsilon0 = randomizer.gamma, randomizer.epsilon0
    laws = randomizer.ratio_laws()
    paired = isinstance(randomizer, (RandomizedResponse, GenericRandomizer))
    evaluate = _pair_excess if paired else _finite_excess
    if isinstance(randomizer, RandomizedResponse):
        terms = (TermLaw("blanket", randomizer.k, epsilon0, n),)
    else:
        terms = (TermLaw("clones", 2, epsilon0, n),) if paired else ()

    def log_delta(epsilon: np.ndarray, rough: bool = False) -> np.ndarray:
        return np.max([evaluate(law, gamma, epsilon, n, rough) for law in laws], axis=0) - math.log(n)

    return PrivacyCurve(
        log_delta,
        rough=functools.partial(log_delta, rough=True),
        scale=max(math.sqrt(gamma * float(law.weight @ (law.r - law.r_prime) ** 2) / n) for law in laws),
        name=f"blanket, exact, {randomizer!r}, n = {n}",
        kind="upper bound",
        accuracy=1e-10,
        epsilon_max=epsilon0,
        term_laws=terms,
    )


def _gaussian_exact(randomizer: GaussianRandomizer, n: int) -> PrivacyCurve:
    sigma, gamma = randomizer.sigma, randomizer.gamma

    def second(epsilon: float) -> float:
        """Of the ratio difference, which is L/gamma with probability gamma."""
        return randomizer.amplification_second_moment(epsilon) / gamma

    def log_delta(epsilon: np.ndarray) -> np.ndarray:
        logs = [log_gaussian_excess(sigma, gamma, second(e), e, n) for e in map(float, epsilon)]
        return np.minimum(logs, 0.0)

    return SlowCurve(
        log_delta,
        scale=math.sqrt(second(0.0) / n),
        rtol=1e-6,
        name=f"blanket, on a lattice, {randomizer!r}, n = {n}",
        kind="upper bound",
        accuracy=1e-6,
    )


def _pair_excess(law, gamma: float, epsilon: np.ndarray, n: int, rough: bool) -> np.ndarray:
    """For two equally likely ratios and perhaps a third, of 1."""
    pair, third = gamma * law.weight[0], gamma * law.weight[2] if len(law.weight) == 3 else 0.0
    mean = -np.expm1(epsilon)
    first, second = law.difference(epsilon)[:, :2].T
    return log_four_atom_excess(n, (pair, pair, third, 1 - gamma), (first, second, mean, 0.0), mean, rough)


def _finite_excess(law, gamma: float, epsilon: np.ndarray, n: int, rough: bool) -> np.ndarray:
    order = np.argsort(-law.r / law.r_prime, kind="stable")  # the largest value of r - e^epsilon r' comes first
    weights = np.append(gamma * law.weight[order], 1 - gamma)
    values = np.append(law.difference(epsilon)[:, order], np.zeros((len(epsilon), 1)), axis=1)
    logs, some = np.full(len(epsilon), -np.inf), values[:, 0] > 0
    if some.any():
        logs[some] = log_finite_excess(n, weights, values[some], -np.expm1(epsilon[some]), rough)
    return logs
