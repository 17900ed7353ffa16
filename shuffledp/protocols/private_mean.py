r"""The clipped private mean: clip to a window fixed in advance, average, add noise.

Each of n values is clipped to ``[lower, lower + C]``; replacing one of them moves the average by at most
:math:`\Delta = C/n`, so noise scaled to :math:`\Delta` makes it differentially private under replace-one neighbours,
with n public. All of this holds for real-number arithmetic. The samplers here draw floating-point noise, whose low bits
can give the data away: they are for study. For production releases use a vetted library such as OpenDP.

The function follows a documented reference implementation, whose example it reproduces digit for digit, and differs
from it where the guarantee would otherwise be void:

====================================  =============================================  ===================================
case                                  reference                                      here
====================================  =============================================  ===================================
C given, lower omitted                window centred on the mean of the data         error
C and lower omitted                   range of the data, a note in the result        warning, and nothing to release
the same, constant data               C = 1 is invented                              error
C omitted, lower given                range of the data from there on                error
n not the number of records           accepted, void when larger                     error
n = 8.9                               truncated to 8                                 error
nan or infinity among the records     dropped, so n depends on the data              error
nan or infinity as a parameter        accepted, gives nan                            error
Gaussian noise                        classical formula, wrong beyond its limit      smallest sigma of the exact curve
delta at or above 1/n                 accepted                                       warning
``noise`` given                       any object accepted                            finite number, nothing to release
estimate and diagnostics              side by side                                   ``release()`` has no diagnostic
interval                              from the standard deviation of the data        ``release()`` has a public one
one record                            interval of width zero                         no interval (``None``)
upper end                             lower + C, rounded either way                  window never wider than C
delta of the Laplace mechanism        the unused argument                            0
====================================  =============================================  ===================================

What no code can see: constants that were computed from the data and passed as if they were public.
"""

from __future__ import annotations

import dataclasses
import math
import warnings as python_warnings
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.domain import DomainError, GuaranteeWarning, choice, integer, real, real_array
from ..core.gaussian import gaussian_sigma
from ..core.numerics import divide_up
from ..core.tables import html_table, text_table

__all__ = ["PrivateMean", "laplace_scale", "private_mean"]

_LARGEST = 1e150  # of data and window: squares and sums of squares stay finite


@dataclasses.dataclass(frozen=True, repr=False)
class PrivateMean:
    r"""Result of `private_mean`. Only what `release` returns may be published; every other field is a diagnostic.

    Attributes
    ----------
    estimate : float
        ``clipped_mean + noise_drawn``.
    non_private_mean, clipped_mean, clipping_bias : float
        Mean of the data, of the clipped data, and the second minus the first. Not private.
    sensitivity : float
        ``C/n``, replace-one.
    noise_scale, noise_sd : float
        Laplace: b and :math:`\sqrt2\,b`; Gaussian: sigma twice.
    noise_drawn : float
        The perturbation. Not private: it turns the estimate back into the clipped mean.
    mechanism : str
        "laplace" or "gaussian".
    epsilon, delta : float
        The guarantee, when `private`; delta is 0.0 for Laplace noise.
    clip_lower, clip_upper, clip_width : float
        The window; ``clip_upper - clip_lower`` is never above ``clip_width``.
    n_clipped : int
        How many values lay outside the window. Not private.
    sampling_se, total_se : float or None
        Standard error of the clipped mean, and the same with the variance of the noise added. Not private; None for one
        record.
    ci_lower, ci_upper : float or None
        Conservative interval for the mean of the clipped population: half of alpha for sampling (normal quantile), half
        for the noise (its exact quantile). Not private: its width is the standard deviation of the data.
    ci_naive_lower, ci_naive_upper : float or None
        The interval that forgets the noise, for comparison. Covers too rarely, and is not private.
    n, n_denominator : int
        Number of records, and the n of the sensitivity; always equal.
    warnings : tuple of str
        Why the guarantee is void or weaker than it looks.
    method : str
        What was done, in words, with the adjacency.
    private : bool
        False when the guarantee is void: the window came from the data, or the noise was chosen by the caller.
    alpha : float
        Level of the intervals.
    """

    estimate: float
    non_private_mean: float
    clipped_mean: float
    clipping_bias: float
    sensitivity: float
    noise_scale: float
    noise_sd: float
    noise_drawn: float
    mechanism: str
    epsilon: float
    delta: float
    clip_lower: float
    clip_upper: float
    clip_width: float
    n_clipped: int
    sampling_se: float | None
    total_se: float | None
    ci_lower: float | None
    ci_upper: float | None
    ci_naive_lower: float | None
    ci_naive_upper: float | None
    n: int
    n_denominator: int
    warnings: tuple[str, ...]
    method: str
    private: bool
    alpha: float

    def release(self) -> dict[str, Any]:
        r"""What may be published: the estimate, the public constants, and an interval made from these alone.

        The interval ``ci_public_lower, ci_public_upper`` covers the mean of the clipped population with probability at
        least ``1 - alpha``, whatever that population is: half of alpha goes to sampling by Hoeffding's inequality, with
        half-width :math:`C\sqrt{\ln(4/\alpha)/(2n)}`, half to the exact quantile of the noise.

        Raises
        ------
        DomainError
            If `private` is False; the message says why.
        """
        if not self.private:
            raise DomainError("nothing may be released, the guarantee is void: " + " ".join(self.warnings))
        half = self.clip_width * math.sqrt((math.log(4) - math.log(self.alpha)) / (2 * self.n))
        half += _noise_quantile(self.mechanism, self.noise_scale, self.alpha)
        public = (
            *("estimate", "mechanism", "epsilon", "delta", "sensitivity", "noise_scale", "noise_sd"),
            *("clip_lower", "clip_upper", "clip_width", "n", "alpha", "method"),
        )
        interval = {"ci_public_lower": self.estimate - half, "ci_public_upper": self.estimate + half}
        return {name: getattr(self, name) for name in public} | interval

    def to_dict(self) -> dict[str, Any]:
        """Every field, diagnostics included: not for publication."""
        return dataclasses.asdict(self)

    def _table(self) -> tuple[str, list[tuple[str, Any, str]]]:
        warned = [("warning", text, "") for text in self.warnings]
        if self.private:
            title, fields = "Clipped private mean: what may be published", self.release()
            rest = [("diagnostics", "not shown, not private: to_dict()", "")]
        else:
            title, fields = "Clipped mean, NOT PRIVATE: for study, nothing may be published", self.to_dict()
            del fields["warnings"]
            rest = []
        rows = [(name, value, _NOTES.get(name, "")) for name, value in fields.items()]
        return title, warned + rows + rest

    def __str__(self) -> str:
        return text_table(*self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self._table())


_NOTES = {
    "estimate": "clipped mean + noise",
    "clipping_bias": "clipped mean - mean",
    "sensitivity": "C/n, replace-one",
    "noise_scale": "b or sigma",
    "total_se": "with the noise",
    "ci_lower": "alpha split in two",
    "ci_upper": "alpha split in two",
    "ci_naive_lower": "forgets the noise",
    "ci_naive_upper": "forgets the noise",
    "ci_public_lower": "public constants only",
    "ci_public_upper": "public constants only",
}


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    r"""Scale :math:`b = \Delta/\varepsilon` with which Laplace noise makes a value of that sensitivity epsilon-DP.

    Parameters
    ----------
    sensitivity : float
        Largest change of the value when one record is replaced; ``sensitivity > 0``.
    epsilon : float
        ``epsilon > 0``, natural log.

    Returns
    -------
    float
        The density of the noise is :math:`e^{-|v|/b}/(2b)`, its standard deviation :math:`\sqrt2\,b`. Rounded up; a
        smaller scale would break the guarantee.

    Raises
    ------
    DomainError
        If an argument is not finite and positive, or their quotient is not a double.

    Notes
    -----
    Claim ``dr14.mean.laplace``.
    """
    sensitivity, epsilon = real("sensitivity", sensitivity, above=0), real("epsilon", epsilon, above=0)
    return real("sensitivity/epsilon", divide_up(sensitivity, epsilon), above=0)


def private_mean(
    y,
    C: float | None = None,
    epsilon: float = 1,
    n: int | None = None,
    mechanism: str = "laplace",
    delta: float = 1e-6,
    alpha: float = 0.05,
    lower: float | None = None,
    noise: float | None = None,
    rng: np.random.Generator | None = None,
) -> PrivateMean:
    """Differentially private mean of values clipped to ``[lower, lower + C]``; neighbours replace one record.

    Parameters
    ----------
    y : array_like
        The records: one-dimensional, at least one, all finite, at most 1e150 in size.
    C, lower : float
        Width (``C > 0``) and lower end of the window. Constants chosen without looking at the data. For teaching both
        may be omitted: the window is then the range of the data, which voids the guarantee.
    epsilon : float
        Privacy parameter, natural log; ``epsilon > 0``.
    n : int, optional
        Number of records the sensitivity is computed for; must be ``len(y)``.
    mechanism : {"laplace", "gaussian"}
        Gaussian noise has the smallest sigma that the exact curve allows (`gaussian_sigma`).
    delta : float
        Used by the Gaussian mechanism only; ``0 < delta < 1``.
    alpha : float
        Two-sided level of the intervals; ``0 < alpha < 1``.
    noise : float, optional
        Use this perturbation instead of drawing one: every field is then a function of the arguments, and nothing is
        private.
    rng : numpy.random.Generator, optional
        Source of the noise; by default one freshly seeded by the system. Who knows its seed knows the noise.

    Returns
    -------
    PrivateMean

    Raises
    ------
    DomainError
        If an argument is outside its range, one of C and lower is missing, the window is taken from constant data, or n
        is not the number of records.

    Warns
    -----
    GuaranteeWarning
        If the window comes from the data or ``noise`` is given (both void the guarantee), if delta is at least 1/n, or
        if one record leaves the sampling error undefined.

    Notes
    -----
    Claims ``dr14.mean.sensitivity``, ``dr14.mean.laplace``, ``dr14.mean.clip-bias``, ``dr14.mean.ci``,
    ``dr14.mean.noise-param``, ``dr14.mean.holes``. Scales are rounded up and the window inwards. Floating-point noise
    is for study: use a vetted library such as OpenDP for production.
    """
    y = real_array("y", y, at_least=-_LARGEST, at_most=_LARGEST)
    if y.ndim != 1 or y.size == 0:
        raise DomainError(f"y must be one-dimensional with at least one record, got shape {y.shape}")
    m = y.size
    if n is not None and integer("n", n, at_least=1) != m:
        raise DomainError(f"n must be the number of records, {m}: got {n!r}")
    epsilon = real("epsilon", epsilon, above=0)
    delta = real("delta", delta, above=0, below=1)
    alpha = real("alpha", alpha, above=0, below=1)
    gaussian = choice("mechanism", mechanism, ("laplace", "gaussian")) == "gaussian"
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise DomainError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}")

    void, weak = [], []
    if C is None and lower is None:
        lower, upper, C = _range_of(y)
        void.append("The window is the range of the data: it depends on the records, so the guarantee is void.")
    elif C is None or lower is None:
        missing, given = ("C", "lower") if C is None else ("lower", "C")
        raise DomainError(f"{missing} is required when {given} is given: the window must not come from the data")
    else:
        lower, upper, C = _window(lower, C)
    if noise is not None:
        noise = real("noise", noise, at_least=-_LARGEST, at_most=_LARGEST)
        void.append("The noise was given by the caller and is not random: the guarantee is void.")
    if gaussian and delta >= 1 / m:
        weak.append(f"delta >= 1/n = {1 / m:.6g}: a mechanism that publishes a record at random meets such a delta.")
    if m == 1:
        weak.append("One record has no sampling error to estimate: there is no interval.")

    sensitivity = divide_up(C, m)
    scale = gaussian_sigma(sensitivity, epsilon, delta) if gaussian else laplace_scale(sensitivity, epsilon)
    scale = real("noise scale", scale, at_most=_LARGEST)
    if noise is None:
        rng = np.random.default_rng() if rng is None else rng
        noise = rng.normal(0.0, scale) if gaussian else rng.laplace(0.0, scale)
    noise = float(noise)

    clipped = np.clip(y, lower, upper)
    mean, clipped_mean = math.fsum(y) / m, math.fsum(clipped) / m
    estimate = clipped_mean + noise
    noise_sd = scale if gaussian else math.sqrt(2) * scale
    sampling_se = total_se = None
    ci = naive = (None, None)
    if m > 1:
        sampling_se = math.sqrt(math.fsum((clipped - clipped_mean) ** 2) / (m - 1) / m)
        total_se = math.hypot(sampling_se, noise_sd)
        half = _normal_quantile(alpha, 4) * sampling_se + _noise_quantile(mechanism, scale, alpha)
        half_naive = _normal_quantile(alpha, 2) * sampling_se
        ci = (estimate - half, estimate + half)
        naive = (estimate - half_naive, estimate + half_naive)

    for text in void + weak:
        python_warnings.warn(text, GuaranteeWarning, stacklevel=2)
    return PrivateMean(
        estimate=estimate,
        non_private_mean=mean,
        clipped_mean=clipped_mean,
        clipping_bias=clipped_mean - mean,
        sensitivity=sensitivity,
        noise_scale=scale,
        noise_sd=noise_sd,
        noise_drawn=noise,
        mechanism=mechanism,
        epsilon=epsilon,
        delta=delta if gaussian else 0.0,
        clip_lower=lower,
        clip_upper=upper,
        clip_width=C,
        n_clipped=int(np.count_nonzero(clipped != y)),
        sampling_se=sampling_se,
        total_se=total_se,
        ci_lower=ci[0],
        ci_upper=ci[1],
        ci_naive_lower=naive[0],
        ci_naive_upper=naive[1],
        n=m,
        n_denominator=m,
        warnings=tuple(void + weak),
        method=f"clipped mean, {mechanism} noise; neighbours replace one record",
        private=not void,
        alpha=alpha,
    )


def _window(lower: Any, C: Any) -> tuple[float, float, float]:
    """Lower end, upper end and width of a public window; the upper end is rounded so that the width is at most C."""
    C = real("C", C, above=0, at_most=_LARGEST)
    lower = real("lower", lower, at_least=-_LARGEST, at_most=_LARGEST)
    upper = lower + C
    if Fraction(upper) - Fraction(lower) > Fraction(C):
        upper = math.nextafter(upper, -math.inf)
    if not upper > lower:
        raise DomainError(f"C = {C!r} is below the rounding of lower = {lower!r}: the window is a single double")
    return lower, upper, C


def _range_of(y: np.ndarray) -> tuple[float, float, float]:
    """The window of the teaching case, [min, max] as they are, and a width that is not below their difference."""
    lower, upper = float(y.min()), float(y.max())
    if lower == upper:
        raise DomainError("C and lower are required: the data are constant, so their range is not a window")
    width = upper - lower
    if Fraction(width) < Fraction(upper) - Fraction(lower):
        width = math.nextafter(width, math.inf)
    return lower, upper, width


def _normal_quantile(alpha: float, parts: int) -> float:
    """The standard normal is above this with probability ``alpha/parts``."""
    from scipy.special import ndtri_exp  # slow to import

    return -float(ndtri_exp(math.log(alpha) - math.log(parts)))


def _noise_quantile(mechanism: str, scale: float, alpha: float) -> float:
    """The noise is outside plus or minus this with probability ``alpha/2``."""
    if mechanism == "gaussian":
        return scale * _normal_quantile(alpha, 4)
    return scale * (math.log(2) - math.log(alpha))
