r"""Amplification by shuffling: Theorem 7 of Erlingsson et al. 2019 (arXiv:1811.12469v2) and what its proof gives.

Setting: n users answer in a uniformly random order; step i applies an epsilon0-LDP randomizer that may depend on the
earlier outputs. Every epsilon below bounds the whole transcript, for replace-one neighbours.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from ..core.domain import DomainError, integer, real
from ..core.numerics import log_add_exp, log_expm1, safe_root
from ..core.tables import html_table, text_table

__all__ = ["Theorem7", "sharpened_sum", "theorem7"]

_TINY = 2.3e-308  # below this doubles lose digits
_METHOD = "Amplification by shuffling, Erlingsson et al. 2019, Theorem 7 (arXiv:1811.12469v2)"
_UP = 1 + 1e-13  # more than the rounding of the formulas below: what is guaranteed is rounded up by it


def _exp(x: float) -> float:
    """``e**x``, inf where a double overflows."""
    return math.exp(x) if x < 709.78 else math.inf


def _log_epsilon1(epsilon0: float, n: int) -> float:
    return math.log(2.0) + 2 * epsilon0 + log_expm1(epsilon0) - math.log(n)


def _epsilon1(epsilon0: float, n: int) -> float:
    if epsilon0 > 230:  # the product below would overflow before the division
        u = math.exp(epsilon0)
        return 2 * (u / n) * u * u
    return 2 * math.exp(2 * epsilon0) * math.expm1(epsilon0) / n


def _log_general(epsilon0: float, n: int, log_inv_delta: float) -> float:
    """Natural log of the general bound; finite wherever epsilon1 is a double."""
    log_e1 = _log_epsilon1(epsilon0, n)
    e1 = _epsilon1(epsilon0, n)
    # log(e^e1 - 1); for tiny e1 from its log, which does not underflow
    log_gain = log_e1 + 0.5 * e1 if e1 < 1e-9 else log_expm1(e1)
    fluctuation = log_e1 + 0.5 * math.log(2 * n * log_inv_delta)
    return log_add_exp(fluctuation, math.log(n) + log_e1 + log_gain)


def _threshold(n: int, log_inv_delta: float) -> float | None:
    """The epsilon0 where the general bound equals epsilon0, rounded down; None where the bound never amplifies."""
    # bound/epsilon0 increases from sqrt(8L/n) at 0, at least as fast as e^(5 epsilon0/2)
    room = math.log(n) - math.log(8 * log_inv_delta)
    if room <= 0:
        return None

    def excess(epsilon0: float) -> float:
        return _log_general(epsilon0, n, log_inv_delta) + math.log(_UP) - math.log(epsilon0)

    above = below = 0.2 * room * (1 + 1e-9)
    while excess(above) <= 0:  # only where rounding decides
        above *= 2
    while excess(below) > 0:
        below *= 0.5
        if below < 1e-12:
            return None
    return safe_root(excess, above, below)


@dataclass(frozen=True, repr=False)
class Theorem7:
    """The forms of Theorem 7 at one setting, their conditions, and the sharper bounds derived in the book.

    Made by `theorem7`. Fields up to ``method`` are those of the documented function; the rest are ours.

    Attributes
    ----------
    estimate, epsilon, epsilon_general : float
        The general bound, three times; ``inf`` where it exceeds the largest double (see ``log_epsilon_general``).
    epsilon_refined, epsilon_simple : float
        The two specialised forms, evaluated whether or not their conditions hold.
    epsilon1 : float
        The per-step loss of the proof, ``2 e^(2 epsilon0) (e^epsilon0 - 1)/n``.
    epsilon0, delta, n, log_inv_delta : float or int
        The setting, and ``log(1/delta)``.
    amplification_factor : float
        ``epsilon0 / epsilon_general``; above 1 means amplification.
    refined_valid, simple_valid : bool
        Whether the printed conditions of the two forms hold.
    amplifies : bool
        Whether the general bound is below ``epsilon0``.
    method : str
        The source.
    log_epsilon_general : float
        Natural log of the general bound, always finite.
    epsilon_guaranteed : float
        ``min(general bound, epsilon0)``, rounded up: safe to quote. Every transcript is (epsilon0, 0)-DP in any case.
    epsilon_sharpened : float
        Closed form from a sharper reading of the same proof (claim ``ext.thm7.sharpened``); holds for every epsilon0.
    epsilon_last_swap : float or None
        The bound with growth ``e^(epsilon0/2)(e^epsilon0 - 1)`` (claim ``ext.thm7.half``); None for n < 3.
    threshold : float or None
        The epsilon0 below which the general bound amplifies at this n and delta, rounded down (claim
        ``efmrtt19.thm7.threshold``); None where no epsilon0 is amplified (``n <= 8 log(1/delta)``).
    amplifies_as_printed : bool
        The printed condition, ``epsilon0 <= log(n/2)/3``. It is not what `amplifies` means.
    """

    estimate: float
    epsilon: float
    epsilon_general: float
    epsilon_refined: float
    epsilon_simple: float
    epsilon1: float
    epsilon0: float
    delta: float
    n: int
    log_inv_delta: float
    amplification_factor: float
    refined_valid: bool
    simple_valid: bool
    amplifies: bool
    method: str
    log_epsilon_general: float
    epsilon_guaranteed: float
    epsilon_sharpened: float
    epsilon_last_swap: float | None
    threshold: float | None
    amplifies_as_printed: bool

    def to_dict(self) -> dict:
        """All fields by name, plain Python values."""
        return asdict(self)

    def _rows(self) -> list[tuple[str, object, str]]:
        def condition(text: str, valid: bool) -> str:
            return f"{text}: {'met' if valid else 'not met'}"

        return [
            ("epsilon0", self.epsilon0, "local privacy parameter"),
            ("n", self.n, "users"),
            ("delta", self.delta, ""),
            ("epsilon_guaranteed", self.epsilon_guaranteed, "quote this: the general bound capped at epsilon0"),
            ("epsilon_general", self.epsilon_general, f"its natural log is {self.log_epsilon_general:.10g}"),
            ("epsilon_refined", self.epsilon_refined, condition("epsilon0 <= log(n/4)/3", self.refined_valid)),
            (
                "epsilon_simple",
                self.epsilon_simple,
                condition("n >= 1000, epsilon0 < 1/2, delta < 1/100", self.simple_valid),
            ),
            ("epsilon_sharpened", self.epsilon_sharpened, "same proof, read more sharply"),
            ("epsilon_last_swap", self.epsilon_last_swap, "swap with the last position (n >= 3)"),
            ("epsilon1", self.epsilon1, "per-step loss"),
            ("amplification_factor", self.amplification_factor, "epsilon0 / general bound"),
            ("amplifies", self.amplifies, "is the general bound below epsilon0?"),
            ("threshold", self.threshold, "the general bound amplifies below this epsilon0"),
            ("amplifies_as_printed", self.amplifies_as_printed, "epsilon0 <= log(n/2)/3, not the same thing"),
        ]

    def __str__(self) -> str:
        return text_table(self.method, self._rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.method, self._rows())


def theorem7(epsilon0, n, delta) -> Theorem7:
    r"""Central guarantee of n shuffled epsilon0-LDP reports, by Theorem 7 of Erlingsson et al. 2019.

    .. math::

        \varepsilon = \varepsilon_1\sqrt{2n\log(1/\delta)} + n\varepsilon_1(e^{\varepsilon_1}-1),
        \qquad \varepsilon_1 = \frac{2e^{2\varepsilon_0}(e^{\varepsilon_0}-1)}{n}.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; positive, and small enough that epsilon1 is a double (about
        ``236 + log(n)/3``).
    n : int
        Number of users, at least 2 (an integral float such as ``1e6`` will do).
    delta : float
        Failure probability, in (0, 1).

    Returns
    -------
    Theorem7
        Every form of the theorem, its conditions and the sharper bounds. Quote ``epsilon_guaranteed``: it is capped at
        ``epsilon0`` and rounded up, never down.

    Raises
    ------
    DomainError
        If an argument is outside the range above; the message names the condition.

    Notes
    -----
    Claims ``efmrtt19.thm7.general``, ``.refined``, ``.simple``, ``.threshold`` and ``ext.thm7.sharpened``,
    ``ext.thm7.half``; arXiv:1811.12469v2, Theorem 7. ``log_epsilon_general`` is within ``1e-14 max(1, |log|)``, the
    other forms within 1e-12 relative.

    Examples
    --------
    >>> round(theorem7(0.4, 10_000, 1e-6).epsilon_general, 6)
    0.115553
    """
    epsilon0 = real("epsilon0", epsilon0, above=0)
    n = integer("n", n, at_least=2)
    real("n", n)  # finite as a double
    delta = real("delta", delta, above=0, below=1)
    log_inv_delta = -math.log(delta)  # 1/delta overflows for subnormal delta

    log_e1 = _log_epsilon1(epsilon0, n)
    if log_e1 > 709.7:
        raise DomainError(
            "epsilon0 is too large for Theorem 7: 2 exp(2 epsilon0) (exp(epsilon0) - 1)/n must be below 1e308, "
            f"got epsilon0 = {epsilon0!r}, n = {n}"
        )
    if log_e1 < math.log(_TINY):
        raise DomainError(
            "epsilon0/n is too small for Theorem 7: 2 exp(2 epsilon0) (exp(epsilon0) - 1)/n must be above 1e-307, "
            f"got epsilon0 = {epsilon0!r}, n = {n}"
        )

    u, gain, decay = math.exp(epsilon0), math.expm1(epsilon0), math.exp(-epsilon0)  # gain = e^epsilon0 - 1
    e1 = _epsilon1(epsilon0, n)
    # growths over sqrt(n), divided first: nothing overflows before a bound itself does
    spread, root, half_power = math.sqrt(2 * log_inv_delta), math.sqrt(n), math.exp(0.5 * epsilon0)
    half, half_cubed, squared = (power * gain for power in (half_power / root, u / root * half_power, u / root * u))
    log_general = _log_general(epsilon0, n, log_inv_delta)
    general = (
        e1 * math.sqrt(2 * n * log_inv_delta) + n * e1 * math.expm1(e1) if log_general < 700 else _exp(log_general)
    )
    last_swap = None
    if n >= 3:
        last_swap = (
            half * (spread + 0.5 * half)
            + math.log1p(gain / (1 + (n - 1) * decay))
            + 2 * math.tanh(epsilon0 / 4) * gain * (gain / (1 + (n - 3) * decay)) * (1 + decay)
        )
    return Theorem7(
        estimate=general,
        epsilon=general,
        epsilon_general=general,
        epsilon_refined=2 * squared * (spread + 3 * squared),
        epsilon_simple=12 * epsilon0 * math.sqrt(log_inv_delta) / root,
        epsilon1=e1,
        epsilon0=epsilon0,
        delta=delta,
        n=n,
        log_inv_delta=log_inv_delta,
        amplification_factor=_exp(math.log(epsilon0) - log_general),
        refined_valid=epsilon0 <= math.log(n / 4) / 3,
        simple_valid=n >= 1000 and epsilon0 < 0.5 and delta < 0.01,
        amplifies=log_general < math.log(epsilon0),
        method=_METHOD,
        log_epsilon_general=log_general,
        epsilon_guaranteed=min(general * _UP, epsilon0),
        epsilon_sharpened=half_cubed * (spread + 0.5 * half_cubed),
        epsilon_last_swap=last_swap,
        threshold=_threshold(n, log_inv_delta),
        amplifies_as_printed=epsilon0 <= math.log(n / 2) / 3,
    )


def sharpened_sum(epsilon0, n, delta) -> float:
    r"""The sharpened bound before its closed form: composition over the per-step losses, summed.

    .. math::

        \varepsilon = \sqrt{2\log(1/\delta)\textstyle\sum_i\epsilon_i^2} + \sum_i\epsilon_i\tanh(\epsilon_i/2),
        \qquad \epsilon_i = \log\bigl(1 + p_i(e^{\varepsilon_0}-1)\bigr),

    with :math:`p_1 = 1/n` and :math:`p_i = 1/(1+(n-i+1)e^{-\varepsilon_0}+(i-2)e^{-2\varepsilon_0})` for
    :math:`i \ge 2`.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, in (0, 230].
    n : int
        Number of users, 2 to 10**8: time and memory grow with n. The closed form ``theorem7(...).epsilon_sharpened``
        is hardly larger and costs nothing.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        The bound, before the cap at epsilon0; within 1e-12 relative.

    Raises
    ------
    DomainError
        If an argument is outside the range above.

    Notes
    -----
    Claim ``ext.thm7.sharpened-sum``; derived in the book, not in the source.
    """
    epsilon0 = real("epsilon0", epsilon0, above=0, at_most=230)
    n = integer("n", n, at_least=2, at_most=10**8)
    delta = real("delta", delta, above=0, below=1)
    if epsilon0 < 1e-100:  # linear there to every digit, and the squares below would underflow
        return epsilon0 / 1e-100 * sharpened_sum(1e-100, n, delta)
    i = np.arange(2.0, n + 1)
    weight = 1 / (1 + (n - i + 1) * math.exp(-epsilon0) + (i - 2) * math.exp(-2 * epsilon0))
    loss = np.log1p(np.concatenate(([1 / n], weight)) * math.expm1(epsilon0))
    return math.sqrt(-2 * math.log(delta) * np.sum(loss * loss)) + float(np.sum(loss * np.tanh(loss / 2)))
