"""Expected positive parts of sums of independent terms, enclosed by ball arithmetic. It is handed python-flint."""

from __future__ import annotations

import itertools
import math

from .domain import DomainError
from .numerics import golden_section

__all__ = ["mean_excess"]

_MOST_TERMS = 2 * 10**6


def mean_excess(arb, bits: int, n: int, atoms: list[tuple]):
    r"""A ball that contains :math:`\tfrac1n\,E(G_1+\dots+G_n)_+`.

    Parameters
    ----------
    arb : type
        ``flint.arb``, whose precision is set by the caller.
    bits : int
        That precision; what the sums leave out is enclosed, and of about the relative size ``2**(-bits/2)``.
    n : int
        Number of terms.
    atoms : list of tuple of two balls
        Probability and value of what G can be, three or four in number: the first value is the only positive one, the
        others are not, and the last two do not rise. If there are four, the first two must be equally likely.

    Returns
    -------
    arb or None
        None where the precision does not tell the signs. Where the value is below the smallest double, a ball from 0 to
        a number that is below it as well.

    Raises
    ------
    DomainError
        If there would be more than two million terms.
    """
    (w1, a), (w2, b), (w3, c), *last = atoms
    if last and (last[0][0].is_zero() or (c - last[0][1]).is_zero()):
        atoms, last = [(w1, a), (w2, b), (w3 + last[0][0], c)], []
    signs = [a, -b, a - b, *(weight for weight, _ in atoms), *(c - value for _, value in last)]
    if not all(one > 0 for one in signs):
        return None
    cuts = _Cuts(arb, bits, n, atoms)
    most = cuts.most / n
    if most < arb(5e-324):
        return most
    return (_four if last else _three)(cuts, atoms) / n


def _three(cuts: _Cuts, atoms: list[tuple]):
    """Summed over the count T of the first two values, given which that of the first is binomial."""
    (w1, a), (w2, b), (w3, c) = atoms
    arb, bits, n = cuts.arb, cuts.bits, cuts.n
    low, high, left_out = cuts.between((1, 1, 0))
    _refuse_many(n, high - low)
    pair, width = w1 + w2, a - b

    def distance(t):  # of the threshold from the mean, in standard deviations up to a factor
        return (t * ((c - b) / width - w1 / pair) - n * c / width) / arb(t + 1).sqrt()

    falling = bool(distance(high) > distance(low))  # the tails are carried from the smallest one on
    counts = range(high, low - 1, -1) if falling else range(low, high + 1)
    tail, total = _Tail(arb, bits, w1 / pair, w2 / pair, n, cuts.depth), arb(0)
    weight = _multinomial((counts[0], pair), (n - counts[0], w3))
    lines = _thresholds(arb, bits, (counts[0] * (c - b) - n * c) / width, counts.step * (c - b) / width)
    for t, (m, tau) in zip(counts, lines, strict=False):
        total += weight * tail.excess(t, m, tau)
        weight *= t * w3 / ((n - t + 1) * pair) if falling else (n - t) * pair / ((t + 1) * w3)
    return width * total + left_out


def _four(cuts: _Cuts, atoms: list[tuple]):
    r"""Summed over the counts A and B of the first two values, which are equally likely, where ``D = A - B`` leaves
    open whether the sum X is positive: given them, the count of the third is binomial. For D above that band E X is
    added, summed over T = A + B alone; what that lacks is E X_-, which is bounded together with what lies below.
    """
    (w, a), (_, b), (w3, c3), (w4, c4) = atoms
    arb, bits, n = cuts.arb, cuts.bits, cuts.n
    low, high, left_out = cuts.between((1, 1, 0, 0))
    cut, below = cuts.beyond(1, (-1, 1, 0, 0))
    first = max(1 - cut, -high)
    cut, above = cuts.beyond(-1, (1, -1, 0, 0))
    last = min(cut - 1, high)
    _refuse_many(n, (high - low) * (last - first + 3) // 2)
    width, step, rest = a - b, c3 - c4, w3 + w4
    mean, total = (w3 * c3 + w4 * c4) / rest, arb(0)
    tail, weight = _Tail(arb, bits, arb(1) / 2, arb(1) / 2, n, cuts.depth), _multinomial((low, 2 * w), (n - low, rest))
    for t in range(low, high + 1):
        total += weight * tail.beyond(t, (t + last) // 2 + 1, -(t * b + (n - t) * mean) / width)
        weight *= (n - t) * 2 * w / ((t + 1) * rest)
    total *= width / step
    share, ratio = (w3 / rest, w4 / rest), (rest / w) ** 2
    for d in range(first, last + 1):
        top, tail = high - (high - d) % 2, _Tail(arb, bits, *share, n, cuts.depth)
        ones, twos = (top + d) // 2, (top - d) // 2
        weight = _multinomial((ones, w), (twos, w), (n - top, rest))
        lines = _thresholds(arb, bits, -(ones * a + twos * b + (n - top) * c4) / step, (a + b - 2 * c4) / step)
        for t, (m, tau) in zip(range(top, max(low, abs(d)) - 1, -2), lines, strict=False):
            total += weight * tail.excess(n - t, m, tau)
            weight *= (t + d) // 2 * ((t - d) // 2) * ratio / ((n - t + 1) * (n - t + 2))
    return step * total + left_out + below + above


def _refuse_many(n: int, terms: int) -> None:
    if terms > _MOST_TERMS:
        raise DomainError(f"n = {n} takes a sum of {terms} terms: certify needs terms <= {_MOST_TERMS}")


def _multinomial(*parts: tuple):
    """Probability of these counts of disjoint events, each given with its probability."""
    arb = type(parts[0][1])
    log = arb(1 + sum(count for count, _ in parts)).lgamma()
    for count, chance in parts:
        log += count * chance.log() - arb(count + 1).lgamma()
    return log.exp()


def _thresholds(arb, bits: int, start, step):
    r"""For ``tau = start + i step``, i = 0, 1, ...: the least whole number m in a ball that contains tau, and the ball.

    It contains m wherever m is not certainly :math:`\lceil\tau\rceil`. Then
    :math:`\sum_{j\ge m}(j-\tau)P(N=j)` over the ball contains :math:`E(N-\tau)_+`, which for :math:`\tau\le m` is
    this sum, and for :math:`\tau>m` lies between its values at :math:`\tau` and at m, by convexity.
    """
    (low, high), (down, up) = [(_scaled(x.lower(), bits), -_scaled(-x.upper(), bits)) for x in (start, step)]
    for i in itertools.count():
        m, tau = -(-low >> bits), start + i * step
        yield m, tau if high <= m << bits else tau.union(arb(m))
        low, high = low + down, high + up


def _scaled(x, bits: int) -> int:
    """The whole part of 2^bits x, rounded down, for an exact x."""
    mantissa, exponent = map(int, x.man_exp())
    return mantissa << exponent + bits if exponent + bits >= 0 else mantissa >> -(exponent + bits)


class _Tail:
    """P(N = m) and P(N >= m) for N ~ Bin(n, p) with q = 1 - p, carried from one (n, m) to the next.

    Up to n = `most` each side of the law farther than `_reach` from the mean has at most the mass e^-depth.
    """

    def __init__(self, arb, bits: int, p, q, most: int, depth: int):
        self._arb, self._p, self._q, self._odds, self._n = arb, p, q, p / q, None
        self._bits, self._least = bits, arb(2) ** -bits
        self._low, self._high = _scaled(p.lower(), bits), -_scaled(-p.upper(), bits)
        third = arb(depth) / 3  # Bernstein's inequality
        self._reach = 1 - _scaled(-(third + (third * third + 2 * depth * most * p * q).sqrt()).upper(), 0)
        self._rest = (most * arb(-depth).exp()).union(arb(0))

    def excess(self, n: int, m: int, tau):
        """E(N - tau)_+, where m is whole and next to tau; in the bulk of the law ``beyond(n, m, tau)``."""
        if m - (n * self._high >> self._bits) > self._reach:
            self._n = None
            return self._rest
        if (n * self._low >> self._bits) - m > self._reach:
            self._n = None
            return n * self._p - tau + self._rest
        return self.beyond(n, m, tau)

    def beyond(self, n: int, m: int, tau):
        """The sum of ``(j - tau) P(N = j)`` over all j >= m."""
        if not 0 < m <= n:
            self._n = None
            return n * self._p - tau if m <= 0 else self._arb(0)
        if self._n is None:
            self._begin(n, m)
        else:
            self._move(n, m)
        return (n * self._p - tau) * self._tail + m * self._q * self._b

    def _move(self, n: int, m: int) -> None:
        at, j, b, tail = self._n, self._m, self._b, self._tail
        while at < n:
            tail += b * j / (at - j + 1) * self._q
            at += 1
            b *= at * self._q / (at - j)
        while j > m:
            b *= j / ((at - j + 1) * self._odds)
            j -= 1
            tail += b
        while at > n:
            tail -= b * j / at
            b *= (at - j) / (at * self._q)
            at -= 1
        while j < m:
            tail -= b
            b *= (at - j) * self._odds / (j + 1)
            j += 1
        self._n, self._m, self._b, self._tail = at, j, b, tail

    def _begin(self, n: int, m: int) -> None:
        self._n, self._m, self._b = n, m, _multinomial((m, self._p), (n - m, self._q))
        if m > n * self._p:
            self._tail = self._b + self._outward(m, n, self._odds)
        else:
            self._tail = 1 - self._outward(n - m, n, 1 / self._odds)

    def _outward(self, m: int, n: int, odds):
        """Sum of the probabilities of all counts above m, which fall from there on; odds are those of one more."""
        total, term, least = self._arb(0), self._b, self._least * self._b
        for j in range(m, n):
            ratio = (n - j) * odds / (j + 1)
            if term < least and ratio < 1:
                return total + (term * ratio / (1 - ratio)).union(self._arb(0))
            term *= ratio
            total += term
        return total


class _Cuts:
    r"""Where the sum over counts may end, and bounds of what it then leaves out.

    For the sum X of n terms, the sum Y of marks that the values carry, and any :math:`\theta,\lambda>0`,

    .. math:: E[X_+;\,Y\ge y] \le \frac{1}{e\,\theta}\,e^{-\lambda y}\,(E e^{\theta G+\lambda M})^n .

    The parameters are sought in floating point; the bound is evaluated in balls.
    """

    def __init__(self, arb, bits: int, n: int, atoms: list[tuple]):
        self.arb, self.bits, self.n, self._atoms = arb, bits, n, atoms
        self._logs = [float(weight.log()) for weight, _ in atoms]
        self._values = [float(value) for _, value in atoms]
        marks = [0] * len(atoms)
        log, theta = self._log_bound(1, marks, 0.0)
        self.most = self._bound(1, marks, 0.0, theta, 0)  # of the whole
        self._goal = log - bits / 2  # log of what is negligible
        self.depth = math.ceil(math.log(n) + math.log(max(map(abs, self._values))) - self._goal) + 1

    def between(self, marks):
        """Least and largest Y >= 0 to be summed over, and a ball for the rest."""
        upper, above = self.beyond(1, marks)
        lower, below = self.beyond(1, [-mark for mark in marks])
        low = min(max(0, 1 - lower), self.n)
        return low, max(low, min(upper - 1, self.n)), above + below

    def beyond(self, sign: int, marks):
        """The least y found from which on E[(sign X)_+; Y >= y] is negligible, and a ball for that."""

        def cut(log_lam: float) -> float:
            lam = math.exp(log_lam)
            return (self._log_bound(sign, marks, lam)[0] - self._goal) / lam

        lam = math.exp(golden_section(cut, -30.0, 12.0, 32))
        log, theta = self._log_bound(sign, marks, lam)
        y = math.floor((log - self._goal) / lam) + 1
        return y, self._bound(sign, marks, lam, theta, y)

    def _bound(self, sign: int, marks, lam: float, theta: float, y: int):
        """A ball from 0 to the bound, with these parameters taken as exact."""
        theta, lam, moment = self.arb(theta), self.arb(lam), self.arb(0)
        for (weight, value), mark in zip(self._atoms, marks, strict=True):
            moment += weight * (sign * theta * value + mark * lam).exp()
        return (moment**self.n * (-lam * y - 1).exp() / theta).union(self.arb(0))

    def _log_bound(self, sign: int, marks, lam: float) -> tuple[float, float]:
        """Log of the bound at y = 0, least in theta, and that theta."""
        values = [sign * value for value in self._values]
        scale = max(values)

        def log(log_theta: float) -> float:
            theta = math.exp(log_theta) / scale
            exponents = [w + theta * x + lam * m for w, x, m in zip(self._logs, values, marks, strict=True)]
            top = max(exponents)
            return self.n * (top + math.log(math.fsum(math.exp(e - top) for e in exponents))) - math.log(theta) - 1

        log_theta = golden_section(log, -60.0, 10.0, 32)
        return log(log_theta), math.exp(log_theta) / scale
