"""Accuracy and speed of the exact curves, as ratios measured in one run; never part of the test run.

    python tests/benchmarks/exact_curves.py

For every quantity and n: time for one delta, for 200 at once and for one epsilon(delta); the same delta by a plain
windowed sum over binomial probabilities (the code people write today) and how much longer that takes; and the relative
errors of both against 40-digit arithmetic. For k-ary randomized response and the blanket, whose values come by several
evaluators, the error is the difference between the integral and the sum over pair counts, which share no formula. For
the clones there is one other installable implementation: the program published with the clones paper, inside the
package random-allocation (looked for, and without the number: autodp, dp-accounting, ldp-toolbox). It
is timed where it is installed (it wants an older numpy: ``pip install --no-deps random-allocation``).

Times are of the process, not of the clock, so that other work on the machine counts less; on a busy machine they are
still up to three times too long. One unit is one numpy addition of 32 doubles, by which two machines, or a busy and an
idle one, can be compared: 0.3 microseconds on an idle core of 2024.
"""

from __future__ import annotations

import importlib.util
import math
import time
from pathlib import Path

import mpmath as mp
import numpy as np
from scipy.special import gammaln

from shuffledp import RandomizedResponse, blanket_exact, clones, shuffled_krr, shuffled_rr
from shuffledp.core import four_atoms


def published_program():
    """Its function for the clones bound, or None; the package around it would import much that is not needed."""
    package = importlib.util.find_spec("random_allocation")
    if package is None:
        return None
    path = Path(package.submodule_search_locations[0], "external_sources", "shuffle_external.py")
    spec = importlib.util.spec_from_file_location("shuffle_external", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.numericalanalysis


def seconds(call, budget: float = 0.2) -> float:
    """Best of several runs of one call."""
    best, used = math.inf, 0.0
    while used < budget:
        start = time.process_time()
        call()
        took = max(time.process_time() - start, 1e-7)
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

    print("\nother curves, epsilon0 = 1: epsilon at delta = 1e-3 mu, 200 deltas from 0.05 to 6 standard deviations")
    print(row(["curve", "n", "delta [us]", "epsilon [us]", "units", "200 / epsilon", "error"]))
    for n in (10**4, 10**5, 10**6, 10**8, 10**10, 10**12):
        for name, curve in (
            ("half ones", shuffled_rr(1.0, n, ones=n // 2)),
            ("worst ones", shuffled_rr(1.0, n, ones="worst")),
            ("10-RR third", shuffled_krr(10, 1.0, n)),
            ("10-RR first", shuffled_krr(10, 1.0, n, "first")),
            ("30-RR third", shuffled_krr(30, 1.0, n)),
            ("2-RR blanket", blanket_exact(RandomizedResponse(2, 1.0), n)),
            ("clones", clones(1.0, n)),
        ):
            scale = curve.scale
            one = seconds(lambda: curve.delta(3 * scale))  # noqa: B023
            invert = seconds(lambda: curve.epsilon(1e-3 * scale))  # noqa: B023
            cells = [name, f"{n:.0e}", one * 1e6, invert * 1e6, invert / unit]
            if name != "worst ones" and n >= 10**6:
                cells.append(seconds(lambda: curve.delta(np.linspace(0.05, 6, 200) * scale)) / invert)  # noqa: B023
                if n <= 10**8 and name not in ("half ones", "10-RR first"):
                    cells.append(difference(curve, 3 * scale))
            print(row(cells))

    print("\nclones, epsilon0 = 1, delta = 1e-6: the program published with the clones paper, 20 halvings")
    numericalanalysis = published_program()
    if numericalanalysis is None:
        print("not installed (package random-allocation): nothing to compare with")
        return
    print(row(["n", "theirs / ours", "their epsilon", "ours", "theirs high"]))
    for n, step in ((10**4, 100), (10**6, 1000)):
        curve = clones(1.0, n)
        theirs, ours = numericalanalysis(n, 1.0, 1e-6, 20, step, True), curve.epsilon(1e-6)
        ratio = seconds(lambda: numericalanalysis(n, 1.0, 1e-6, 20, step, True), 0.01)  # noqa: B023
        ratio /= seconds(lambda: curve.epsilon(1e-6))  # noqa: B023
        print(row([f"{n:.0e}", ratio, theirs, ours, theirs / ours - 1]))


def difference(curve, epsilon: float) -> float:
    """Of log delta between the evaluator that was chosen and the sum over pair counts."""
    chosen, guards = curve.log_delta(epsilon), (four_atoms.LEAST_PAIRS, four_atoms.MANY_PAIRS)
    four_atoms.LEAST_PAIRS = four_atoms.MANY_PAIRS = math.inf
    try:
        return abs(curve.log_delta(epsilon) - chosen)
    finally:
        four_atoms.LEAST_PAIRS, four_atoms.MANY_PAIRS = guards


if __name__ == "__main__":
    main()
