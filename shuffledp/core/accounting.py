"""Hand a curve to the package dp_accounting, to compose it with mechanisms of other kinds."""

from __future__ import annotations

import numpy as np

from .composition import tilted_law
from .curves import PrivacyCurve
from .domain import DomainError, real
from .losses import BinomialLoss, GaussianLoss, spread

__all__ = ["to_pld"]

_LEFT_OUT = 1e-26  # more than the probability of the outcomes that `tilted_law` leaves out


def to_pld(curve: PrivacyCurve, interval=1e-4):
    r"""Privacy loss distribution of a curve, for the package dp_accounting; never more favourable than the curve.

    Needs the optional extra: ``pip install shuffledp[pld]``.

    Parameters
    ----------
    curve : PrivacyCurve
        A curve that knows its privacy-loss law, as in `compose`: the caveats about the fixed pair of neighbours are the
        same.
    interval : float
        Step of the grid of losses (``value_discretization_interval``), positive. Distributions must have the same step
        to be composed. Delta rises by a relative :math:`(1+z^2)\,h^2/(12\,\sigma^2)` or so at step h, in any number of
        rounds, where one round's loss has standard deviation :math:`\sigma` and epsilon is z deviations from the mean
        of the sum.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Pessimistic: each loss is moved to the two points of the grid next to it, the mean of the likelihood ratio
        kept, which can only raise delta; outcomes of probability below 1e-26 together count as an infinite loss. The
        rounding inside dp_accounting, about 1e-15 in delta, is its own.

    Raises
    ------
    DomainError
        If an argument is out of range, or the curve does not know its loss law.
    ImportError
        If dp_accounting is not installed.
    ArithmeticError
        If more than 4 million outcomes matter (from about n = 1e11).

    Notes
    -----
    dp_accounting calls its two directions "remove" and "add"; here they are the two directions of a replacement, and
    the larger of the two deltas, which is what it reports, is the one that counts.
    """
    if not isinstance(curve, PrivacyCurve):
        raise DomainError(f"curve must be a PrivacyCurve, got {type(curve).__name__}")
    interval = real("interval", interval, above=0)
    if not curve.loss_laws:
        raise DomainError(f"curve must know its privacy-loss law to be converted; {curve.name} does not")
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError as error:
        raise ImportError("to_pld needs the package dp_accounting: pip install shuffledp[pld]") from error
    first = curve.loss_laws[0]
    if isinstance(first, GaussianLoss):
        return privacy_loss_distribution.from_gaussian_mechanism(
            1 / first.mu, value_discretization_interval=interval, sampling_prob=1.0
        )
    laws = (pld_pmf.create_pmf(_on_grid(law, interval), interval, _LEFT_OUT, True) for law in curve.loss_laws)
    return privacy_loss_distribution.PrivacyLossDistribution(*laws)


def _on_grid(law: BinomialLoss, interval: float) -> dict[int, float]:
    """Probabilities of the multiples of the interval."""
    outcomes = tilted_law(law, 0.0, every=True)
    place, log_p = spread(outcomes.loss, outcomes.log_p, interval)
    lowest = int(place.min())
    mass = np.bincount((place - lowest).astype(int), np.exp(log_p))
    return {lowest + i: float(value) for i, value in enumerate(mass) if value > 0 or i in (0, mass.size - 1)}
