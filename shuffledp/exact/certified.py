"""Certified values: delta enclosed by ball arithmetic, in which every rounding error is carried along."""

from __future__ import annotations

import math

from ..core.balls import mean_excess
from ..core.curves import PrivacyCurve
from ..core.domain import DomainError, real
from ..core.losses import BinomialLoss, TermLaw

__all__ = ["certify"]

_BITS = 128  # to begin with; doubled while it does not suffice
_MOST_BITS = 2**14
_RARE = 1e-3  # probability of a flipped bit
_ENOUGH = 60  # correct bits of delta, a few more than a double holds


def certify(curve: PrivacyCurve, epsilon) -> tuple[float, float]:
    r"""Enclosure of a curve's exact delta at one epsilon, proved by ball arithmetic.

    Needs the optional extra: ``pip install shuffledp[certified]``. It shares no arithmetic with the curve, only the
    formula below; ``epsilon0`` and ``epsilon`` are taken as the exact values of the doubles given. What is enclosed is
    the number that the curve stands for: of an upper bound the bound, not the mechanism's own delta.

    Parameters
    ----------
    curve : PrivacyCurve
        From `shuffled_rr` with all others alike (``ones`` 0 or n - 1), any direction; `shuffled_krr`; `clones`; or
        `blanket_exact` of a `RandomizedResponse` or a `GenericRandomizer`.
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
        If epsilon is out of range, the curve is of another kind, or the sum would have more than two million terms
        (some twenty seconds). Where G takes three values (see the notes) n = 10^10 is within reach for a delta of 1e-90
        and more, where it takes four n = 10^6, and n = 10^7 for a delta of 1e-15 and more.
    ImportError
        If python-flint is not installed.

    Notes
    -----
    `shuffled_rr`: claim ``shvets26.exact.canonical``. With :math:`N \sim \mathrm{Bin}(n-1, q)`, :math:`p = 1-q` and b
    its probabilities, :math:`m = \lceil t_+ \rceil` and :math:`m' = \lfloor t_- \rfloor` for
    :math:`t_\pm = n(e^{\pm\varepsilon} - e^{-\varepsilon_0})/(2\sinh\varepsilon_0)`, the two directions are

    .. math::
        (p - e^\varepsilon q)\,b(m-1) - (e^\varepsilon-1)\,P(N \ge m), \qquad
        (e^\varepsilon p - q)\,b(m') - (e^\varepsilon-1)\,P(N \le m') .

    The tails are regularised incomplete beta functions. At :math:`0 \le \varepsilon < \varepsilon_0` the thresholds are
    never whole numbers (exponentials of different rationals are linearly independent over the rationals), so that
    enough bits always tell m.

    The others: :math:`\delta = \tfrac1n E(G_1+\dots+G_n)_+` with independent terms, claims ``ext.pb.exact.rr`` for the
    blanket, ``ext.pb.lem5.3.sub`` for the clones. G takes three values; four for the blanket if k > 2, and for a third
    symbol if k > 3. This is a sum over multinomial counts, one of which is binomial given the others and enters by its
    tails. Finitely many counts are summed; what is left out is enclosed by exponential moments and by Bernstein's
    inequality. A threshold that falls on a whole number, as at epsilon = 0, does no harm: the positive part is 0 there.
    """
    epsilon = real("epsilon", epsilon, at_least=0)
    laws = (curve.loss_laws or curve.term_laws) if isinstance(curve, PrivacyCurve) else ()
    if not laws or not all(isinstance(law, (BinomialLoss, TermLaw)) for law in laws):
        raise DomainError(
            "curve must come from clones, blanket_exact of a RandomizedResponse or GenericRandomizer, shuffled_krr, or "
            "shuffled_rr with all others alike (ones = 0 or n - 1)"
        )
    try:
        import flint
    except ImportError as error:
        raise ImportError("certify needs the package python-flint: pip install shuffledp[certified]") from error
    if epsilon >= laws[0].epsilon0:
        return 0.0, 0.0
    ends = [_ends(flint, ball) for law in laws for ball in _enclosures(flint, law, epsilon)]
    return max(low for low, _ in ends), max(high for _, high in ends)


def _enclosures(flint, law: BinomialLoss | TermLaw, epsilon: float) -> list:
    """Balls with 60 correct bits, or below the smallest double: of delta, or of numbers of which it is the largest."""
    bits = _BITS
    while bits <= _MOST_BITS:
        with flint.ctx.workprec(bits):
            if isinstance(law, BinomialLoss):
                balls = [_delta(flint.arb, law, epsilon)]
            else:
                balls = [mean_excess(flint.arb, bits, law.n, atoms) for atoms in _atoms(flint.arb, law, epsilon)]
            least = flint.arb(5e-324)
            if all(ball is not None and (ball.rel_accuracy_bits() >= _ENOUGH or ball < least) for ball in balls):
                return balls
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


def _atoms(arb, law: TermLaw, epsilon: float) -> list[list[tuple]]:
    """Probability and value of what a term can be: first the only positive one; the last two in falling order."""
    u, v, k = arb(law.epsilon0).exp(), arb(epsilon).exp(), law.k
    p = 1 / (u + k - 1)
    up, down, one = u - v, 1 - u * v, 1 - v
    if law.kind == "clones":
        scale = 2 * u / (u + 1)
        return [[(1 / (2 * u), scale * up), (1 / (2 * u), scale * down), (1 - 1 / u, arb(0))]]
    if law.kind == "blanket":
        return [[(p, up), (p, down), ((u - 1) * p, arb(0)), ((k - 2) * p, one)]]
    if law.kind == "third":
        return [[(p, up), (p, down), (u * p, one / u), ((k - 3) * p, one)]]
    forward = [(p, up), (u * p, 1 / u - v), ((k - 2) * p, one)]
    return [forward, [(u * p, 1 - v / u), (p, down), ((k - 2) * p, one)]]


def _ends(flint, ball) -> tuple[float, float]:
    """The tightest doubles around a ball of positive numbers."""
    low = high = float(ball.mid())
    while not flint.arb(low) <= ball:
        low = math.nextafter(low, -math.inf)
    while not flint.arb(high) >= ball:
        high = math.nextafter(high, math.inf)
    return max(low, 0.0), high
