r"""Bounds by clones: Feldman, McMillan, Talwar 2021 (arXiv:2012.12803).

Every epsilon0-private randomizer can be written as a mixture in which each other user behaves like the user in question
with probability :math:`e^{-\varepsilon_0}`, half of the time as if holding the one value, half as if holding the other.
Replace-one neighbours, natural logs.
"""

from __future__ import annotations

import math

from ..core.curves import PrivacyCurve
from ..core.domain import DomainError, integer, real
from ..core.randomizers import GenericRandomizer
from .blanket import blanket_exact

__all__ = ["clones", "clones_closed_form"]


def clones(epsilon0, n) -> PrivacyCurve:
    r"""The clones bound, evaluated exactly.

    The divergence of :math:`(A+\Delta, C-A+1-\Delta)`, with :math:`C \sim \mathrm{Bin}(n-1, e^{-\varepsilon_0})`,
    :math:`A \sim \mathrm{Bin}(C, 1/2)` and one randomized response :math:`\Delta`. It is the blanket bound at the
    midpoint sub-blanket, `blanket_exact` of a `GenericRandomizer`, which is what this returns.

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; in (0, 230].
    n : int
        Number of users, at least 1.

    Returns
    -------
    PrivacyCurve
        An upper bound for every epsilon0-private randomizer, relative accuracy 1e-10.

    Raises
    ------
    DomainError
        If an argument is out of range.
    """
    return blanket_exact(GenericRandomizer(epsilon0), n)


def clones_closed_form(epsilon0, n, delta) -> float:
    r"""Closed form of the clones bound, with the constant :math:`\log(4/\delta)`.

    .. math::

        \varepsilon = \log\Bigl(1 + \frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1}
        \Bigl(\frac{8\sqrt{e^{\varepsilon_0}\log(4/\delta)}}{\sqrt n} + \frac{8e^{\varepsilon_0}}{n}\Bigr)\Bigr)

    Parameters
    ----------
    epsilon0 : float
        Local privacy parameter, natural log; positive, at most ``log(n/(16 log(2/delta)))``.
    n : int
        Number of users, at least 2.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Epsilon, capped at epsilon0 and rounded up.

    Raises
    ------
    DomainError
        If an argument is outside its range; the side condition is checked.

    Notes
    -----
    Theorem 3.1 of arXiv:2012.12803 as we recall it, not read again here: log(2/delta) in the condition, log(4/delta) in
    the bound. Public programs also have log(4/delta) in the condition, so say which one you mean when you compare.
    """
    epsilon0 = real("epsilon0", epsilon0, above=0)
    n = integer("n", n, at_least=2)
    users = real("n", n)
    delta = real("delta", delta, above=0, below=1)
    room = users / (16 * (math.log(2) - math.log(delta)))
    if room <= 0 or epsilon0 > math.log(room):
        limit = f"log(n/(16 log(2/delta))) = {math.log(room):.6g}"
        raise DomainError(f"epsilon0 violates epsilon0 <= {limit}: got {epsilon0!r}")
    u = math.exp(epsilon0)
    inner = 8 * math.sqrt(u * (math.log(4) - math.log(delta)) / users) + 8 * u / users
    return min(math.log1p(math.tanh(epsilon0 / 2) * inner) * (1 + 1e-14), epsilon0)
