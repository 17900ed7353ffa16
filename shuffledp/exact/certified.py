"""Certified values: delta enclosed by ball arithmetic, in which every rounding error is carried along."""

from __future__ import annotations

import math

from ..core.curves import PrivacyCurve
from ..core.domain import DomainError, real
from ..core.losses import BinomialLoss

__all__ = ["certify"]

_BITS = 128  # to begin with; doubled while it does not suffice
_MOST_BITS = 2**14
_RARE = 1e-3  # probability of a flipped bit
_ENOUGH = 60  # correct bits of delta, a few more than a double holds


def certify(curve: PrivacyCurve, epsilon) -> tuple[float, float]:
    r"""Enclosure of a curve's exact delta at one epsilon, proved by ball arithmetic.

    Needs the optional extra: ``pip install shuffledp[certified]``. It shares no arithmetic with the curve, only the
    formula below; ``epsilon0`` and ``epsilon`` are taken as the exact values of the doubles given.

    Parameters
    ----------
    curve : PrivacyCurve
        From `shuffled_rr` with all others alike (``ones`` 0 or n - 1), any direction.
    epsilon : float
        At least 0.

    Returns
    -------
    tuple of float
        ``(low, high)`` with ``low <= delta <= high``, at most two units in the last place apart; ``(0.0, 5e-324)``
        where delta is below the smallest double, ``(0.0, 0.0)`` from epsilon0 on.

    Raises
    ------
    DomainError
        If epsilon is out of range or the curve is of another kind.
    ImportError
        If python-flint is not installed.

    Notes
    -----
    Claim ``shvets26.exact.canonical``. With :math:`N \sim \mathrm{Bin}(n-1, q)`, :math:`p = 1-q` and b its
    probabilities, :math:`m = \lceil t_+ \rceil` and :math:`m' = \lfloor t_- \rfloor` for
    :math:`t_\pm = n(e^{\pm\varepsilon} - e^{-\varepsilon_0})/(2\sinh\varepsilon_0)`, the two directions are

    .. math::
        (p - e^\varepsilon q)\,b(m-1) - (e^\varepsilon-1)\,P(N \ge m), \qquad
        (e^\varepsilon p - q)\,b(m') - (e^\varepsilon-1)\,P(N \le m') .

    The tails are regularised incomplete beta functions. At :math:`0 \le \varepsilon < \varepsilon_0` the thresholds are
    never whole numbers (exponentials of different rationals are linearly independent over the rationals), so that
    enough bits always tell m.
    """
    epsilon = real("epsilon", epsilon, at_least=0)
    laws = curve.loss_laws if isinstance(curve, PrivacyCurve) else ()
    if not laws or not all(isinstance(law, BinomialLoss) for law in laws):
        raise DomainError("curve must come from shuffled_rr with all others alike (ones = 0 or n - 1)")
    try:
        import flint
    except ImportError as error:
        raise ImportError("certify needs the package python-flint: pip install shuffledp[certified]") from error
    if epsilon >= laws[0].epsilon0:
        return 0.0, 0.0
    ends = [_ends(flint, _enclosure(flint, law, epsilon)) for law in laws]
    return max(low for low, _ in ends), max(high for _, high in ends)


def _enclosure(flint, law: BinomialLoss, epsilon: float):
    """A ball that contains delta, with 60 correct bits."""
    bits = _BITS
    while bits <= _MOST_BITS:
        with flint.ctx.workprec(bits):
            ball = _delta(flint.arb, law, epsilon)
            if ball is not None and ball.rel_accuracy_bits() >= _ENOUGH:
                return ball
        bits *= 2
    raise ArithmeticError(f"{_MOST_BITS} bits do not suffice to enclose delta at epsilon = {epsilon:g}")


def _delta(arb, law: BinomialLoss, epsilon: float):
    """A ball that contains delta at the precision in force, or None where that does not tell the threshold."""
    n, growth, order = law.n, arb(law.epsilon0).exp(), arb(epsilon).exp()
    q, p = 1 / (1 + growth), 1 / (1 + 1 / growth)
    scale = n / (growth - 1 / growth)
    if law.rising:
        m = ((order - 1 / growth) * scale).ceil().unique_fmpz()
    else:
        m = ((1 / order - 1 / growth) * scale).floor().unique_fmpz()
    if m is None:
        return None
    m = int(m)
    count = m - 1 if law.rising else m  # of N, with probability b
    log_b = arb(n).lgamma() - arb(count + 1).lgamma() - arb(n - count).lgamma()
    b = (log_b + count * q.log() + (n - 1 - count) * p.log()).exp()
    if law.rising:
        tail = q.beta_lower(m, n - m, regularized=True) if m < n else arb(0)
        return (p - order * q) * b - (order - 1) * tail
    if m == n - 1:
        tail = arb(1)
    elif law.flip > _RARE:
        tail = p.beta_lower(n - 1 - m, m + 1, regularized=True)
    else:  # cancels, which more bits make good, where the series for p would take seconds
        tail = 1 - q.beta_lower(m + 1, n - 1 - m, regularized=True)
    return (order * p - q) * b - (order - 1) * tail


def _ends(flint, ball) -> tuple[float, float]:
    """The tightest doubles around a ball of positive numbers."""
    low = high = float(ball.mid())
    while not flint.arb(low) <= ball:
        low = math.nextafter(low, -math.inf)
    while not flint.arb(high) >= ball:
        high = math.nextafter(high, math.inf)
    return max(low, 0.0), high
