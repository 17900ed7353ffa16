"""Le Cam's distance between two experiments with two hypotheses, from their privacy curves."""

from __future__ import annotations

import numpy as np

from ..core.curves import PrivacyCurve
from ..core.domain import DomainError

__all__ = ["le_cam_distance"]

_GRIDS = (1025, 65, 65)  # points of the first grid, and of its refinements around the top


def le_cam_distance(first, second) -> float:
    r"""Le Cam's distance between two pairs of laws: how much worse a statistician can be served by one than the other.

    .. math:: \Delta = \max_{\text{directions}}\ \sup_{\varepsilon\ge0}
        \frac{|\delta_E(\varepsilon)-\delta_F(\varepsilon)|}{1+e^{\varepsilon}}

    Parameters
    ----------
    first, second : PrivacyCurve or pair of PrivacyCurve
        The two experiments, each by its forward and its reverse curve; one curve stands for both directions.

    Returns
    -------
    float
        In [0, 1/2]; total variation convention, half of the one with L1 norms. The largest value on a grid of epsilon
        that is refined around its top: never above the supremum, and short of it only by what a fine grid misses.

    Raises
    ------
    DomainError
        If an argument is not a curve or a pair of curves.

    Notes
    -----
    Claim ``shvets26.lecam``. Torgersen's criterion: with two hypotheses, comparing the Bayes risks of tests at every
    prior is enough. The prior odds are :math:`e^{\pm\varepsilon}`, the advantage over guessing is
    :math:`\delta(\varepsilon)/(1+e^\varepsilon)`. For the Gaussian limit of a shuffled channel the value is about
    :math:`|S|\varphi(1)/(2n)` (claim ``ext.lecam.sharp``).
    """
    pairs = list(zip(_directions("first", first), _directions("second", second), strict=True))
    return max(_largest_gap(one, other) for one, other in dict.fromkeys(pairs))


def _directions(name: str, value) -> tuple[PrivacyCurve, PrivacyCurve]:
    curves = (value, value) if isinstance(value, PrivacyCurve) else value
    if not (isinstance(curves, list | tuple) and [isinstance(c, PrivacyCurve) for c in curves] == [True, True]):
        raise DomainError(f"{name} must be a PrivacyCurve or a pair (forward, reverse) of them, got {value!r}")
    return tuple(curves)


def _largest_gap(one: PrivacyCurve, other: PrivacyCurve) -> float:
    def advantage(curve: PrivacyCurve, epsilon: np.ndarray) -> np.ndarray:
        return curve.delta(epsilon) * np.exp(-np.logaddexp(0, epsilon))

    def gap(epsilon: np.ndarray) -> np.ndarray:
        return np.abs(advantage(one, epsilon) - advantage(other, epsilon))

    reach, best, rest = 2.0**-40, 0.0, np.inf
    while best < rest and reach < 2**11:  # beyond `reach` no gap can exceed what the larger curve still has
        reach *= 4
        best = gap(np.linspace(0, reach, 33)).max()
        rest = max(advantage(one, np.array([reach]))[0], advantage(other, np.array([reach]))[0])
    low, high = 0.0, reach
    for points in _GRIDS:
        grid = np.linspace(low, high, points)
        values = gap(grid)
        top, step = grid[values.argmax()], (high - low) / (points - 1)
        best = max(best, values.max())
        low, high = max(top - 2 * step, 0.0), top + 2 * step
    return float(best)
