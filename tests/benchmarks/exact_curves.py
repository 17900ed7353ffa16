"""Accuracy and speed of the exact curves, as ratios measured in one run; never part of the test run.

    python tests/benchmarks/exact_curves.py

For every quantity and n: time for one delta, for 200 at once and for one epsilon(delta); the same delta by a plain
windowed sum over binomial probabilities (the code people write today) and how much longer that takes; and the relative
errors of both against 40-digit arithmetic. One unit of time is one numpy addition of 32 doubles, so that the numbers
of two machines, or of a busy and an idle one, can be compared.
"""

from __future__ import annotations

import math
import time

import mpmath as mp
import numpy as np
from scipy.special import gammaln

from shuffledp import shuffled_krr, shuffled_rr


def seconds(call, budget: float = 0.2) -> float:
    """Best of several runs of one call."""
    best, used = math.inf, 0.0
    while used < budget:
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        best, used = min(best, took), used + took
    return best


def plain_sum(epsilon0: float, n: int, epsilon: float, window: float = 12.0) -> float:
    """Reverse delta of the canonical pair: sum of (p0 - e^epsilon p1)_+ over a window, with log-gamma probabilities."""
    q = 1 / (1 + math.exp(epsilon0))
    reach = window * math.sqrt(n * q * (1 - q)) + window
    j = np.arange(max(0, math.floor(n * q - reach)), min(n, math.ceil(n * q + reach)) + 1, dtype=float)

    def pmf(size, count):
        count = np.clip(count, 0, size)
        log = gammaln(size + 1) - gammaln(count + 1) - gammaln(size - count + 1)
        return np.exp(log + count * math.log(q) + (size - count) * math.log1p(-q))

    others, before = pmf(n - 1, j), np.where(j > 0, pmf(n - 1, j - 1), 0.0)
    others = np.where(j < n, others, 0.0)
    zero, one = (1 - q) * others + q * before, q * others + (1 - q) * before
    return float(np.maximum(zero - math.exp(epsilon) * one, 0).sum())


def reference(epsilon0: float, n: int, epsilon: float) -> float:
    """The same in 40 digits: a positive sum from the threshold downwards."""
    with mp.workdps(40):
        e0, eps = mp.mpf(epsilon0), mp.mpf(epsilon)
        q, scale = 1 / (1 + mp.exp(e0)), 2 * mp.sinh(e0) / n
        t = (mp.exp(-eps) - mp.exp(-e0)) / scale
        j = int(mp.floor(t))
        log = mp.loggamma(n + 1) - mp.loggamma(j + 1) - mp.loggamma(n - j + 1) + j * mp.log(q) + (n - j) * mp.log(1 - q)
        term, total = mp.mpf(1), mp.mpf(0)
        while j >= 0 and term * n > mp.mpf(10) ** -25 * total:
            total += term * (t - j)
            term *= mp.mpf(j) / (n - j + 1) * (1 - q) / q
            j -= 1
        return float(mp.exp(eps + log) * scale * total)


def row(cells) -> str:
    return "  ".join(f"{cell:>11}" if isinstance(cell, str) else f"{cell:11.3g}" for cell in cells)


def main() -> None:
    a = np.ones(32)
    unit = min(seconds(lambda: [a + a for _ in range(1000)], 0.05) for _ in range(5)) / 1000
    print(f"one unit: {unit * 1e6:.3f} microseconds\n")

    print("binary randomized response, epsilon0 = 1, all others alike, reverse, 5 standard deviations")
    print(row(["n", "delta [us]", "units", "200 / 1", "epsilon [us]", "plain / ours", "our error", "plain error"]))
    for n in (10**2, 10**4, 10**6, 10**8, 10**10, 10**12):
        curve = shuffled_rr(1.0, n, direction="reverse")
        epsilon = min(5 * 2 * math.sinh(0.5) / math.sqrt(n), 0.9)
        one = seconds(lambda: curve.delta(epsilon))  # noqa: B023
        many = seconds(lambda: curve.delta(np.linspace(0, epsilon, 200)))  # noqa: B023
        invert = seconds(lambda: curve.epsilon(1e-3 * curve.delta(0.0)))  # noqa: B023
        cells = [f"{n:.0e}", one * 1e6, one / unit, many / one, invert * 1e6]
        if n <= 10**10:
            plain = seconds(lambda: plain_sum(1.0, n, epsilon), 0.05)  # noqa: B023
            cells.append(plain / one)
        if n <= 10**8:
            true = reference(1.0, n, epsilon)
            cells += [abs(curve.delta(epsilon) / true - 1), abs(plain_sum(1.0, n, epsilon) / true - 1)]
        print(row(cells))

    print("\nother curves, epsilon0 = 1, 5 standard deviations")
    print(row(["curve", "n", "delta [us]", "units", "epsilon [us]"]))
    for n in (10**4, 10**6, 10**9):
        mu, pair = 2 * math.sinh(0.5) / math.sqrt(n), math.sqrt(2 / (math.expm1(1) + 10) / n) * math.expm1(1)
        for name, curve, scale in (
            ("half ones", shuffled_rr(1.0, n, ones=n // 2), mu),
            ("worst ones", shuffled_rr(1.0, n, ones="worst"), mu),
            ("10-RR third", shuffled_krr(10, 1.0, n), pair),
            ("10-RR first", shuffled_krr(10, 1.0, n, "first"), pair),
        ):
            one = seconds(lambda: curve.delta(5 * scale))  # noqa: B023
            invert = seconds(lambda: curve.epsilon(1e-3 * scale))  # noqa: B023
            print(row([name, f"{n:.0e}", one * 1e6, one / unit, invert * 1e6]))


if __name__ == "__main__":
    main()
