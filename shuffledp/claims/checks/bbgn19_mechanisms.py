"""Checks of what is known about L for randomized response, Laplace and Gaussian noise: sums and integrals from the
densities, at 50 digits or in exact rationals, against the statements and the library."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp

from ...bounds.blanket import blanket_exact
from ...core.domain import DomainError
from ...core.gaussian import gaussian_curve
from ...core.randomizers import GaussianRandomizer, LaplaceRandomizer, RandomizedResponse
from ..evidence import Tally, check
from ..ledger import Record
from ..statements import DIGITS
from ._exactly import digits, exact_log
from ._mechanisms import amplification_law, blanket_bound, mass, moments, ratio_laws, response

ORDERS = (Fraction(1), Fraction(6, 5), Fraction(3))


@check("bbgn19.rr.l2")
def second_moment_of_response(claim: Record, tally: Tally) -> None:
    for k, odds in ((2, Fraction(3)), (3, Fraction(3, 2)), (7, Fraction(20)), (50, Fraction(5))):
        rows = response(k, odds)
        for order in ORDERS:
            truth = moments(amplification_law(next(ratio_laws(rows)), mass(rows), order))[1]
            at = {"gamma": digits(mass(rows)), "epsilon": exact_log(order), "k": k}
            tally.equal(digits(truth), claim.value(**at), 1e-45, **at)
    for at in claim.points(60):
        rr = RandomizedResponse.from_gamma(at["k"], at["gamma"])
        tally.equal(rr.amplification_second_moment(at["epsilon"]), claim.value(**at), 1e-11, **at)


@check("ext.pb.exact.rr")
def exact_response(claim: Record, tally: Tally) -> None:
    for k, odds in ((2, Fraction(3)), (3, Fraction(3, 2)), (5, Fraction(20))):
        rows = response(k, odds)
        for order in ORDERS[:2]:
            law = amplification_law(next(ratio_laws(rows)), mass(rows), order)
            for n in (1, 2, 5):
                at = {"epsilon0": exact_log(odds), "epsilon": exact_log(order), "k": k, "n": n}
                tally.equal(digits(blanket_bound(law, mass(rows), n)), claim.value(**at), 1e-45, **at)
    for at in claim.points(10):
        curve = blanket_exact(RandomizedResponse(at["k"], at["epsilon0"]), at["n"])
        tally.equal(curve.delta(at["epsilon"]), claim.value(**at), 1e-10, **at)


def _laplace_l(epsilon0, epsilon):
    """Density of the blanket and value of L at y < 1/2 for Laplace noise and the inputs 0, 1; the two mirrored."""
    gamma, e = mp.exp(-epsilon0 / 2), mp.exp(epsilon)

    def density(center):
        return lambda y: epsilon0 / 2 * mp.exp(-epsilon0 * abs(y - center))

    zero, one, half = density(0), density(1), density(mp.mpf(1) / 2)
    return half, lambda y: (zero(y) - e * one(y)) / half(y), lambda y: (one(y) - e * zero(y)) / half(y), gamma


@check("bbgn19.lap.l2")
def second_moment_of_laplace(claim: Record, tally: Tally) -> None:
    for index, at in enumerate(claim.points(40)):
        if index < 4:
            with mp.workdps(16):
                epsilon0 = mp.mpf(at["epsilon0"])
                omega, first, second, _ = _laplace_l(epsilon0, mp.mpf(at["epsilon"]))
                # outside [0, 1] L is constant, and each side has probability e^(-epsilon0/2)/2
                outside = mp.exp(-epsilon0 / 2) / 2 * (first(mp.mpf(-1)) ** 2 + first(mp.mpf(2)) ** 2)
                inside = mp.quad(lambda y, f=first, w=omega: w(y) * f(y) ** 2, [0, 0.5, 1])
                tally.equal(outside + inside, claim.value(**at), 1e-13, **at)
        ours = LaplaceRandomizer(at["epsilon0"]).amplification_second_moment(at["epsilon"])
        tally.equal(ours, claim.value(**at), 1e-12, **at)
        low, high = LaplaceRandomizer(at["epsilon0"]).amplification_range(at["epsilon"])
        sinh = math.exp(at["epsilon0"] / 2) - math.exp(-at["epsilon0"] / 2)
        tally.equal(high - low, (1 + math.exp(at["epsilon"])) * sinh, 1e-12, **at)


@check("ext.pb.lap.law")
def excess_of_laplace(claim: Record, tally: Tally) -> None:
    for at in claim.points(12):
        with mp.workdps(20):
            epsilon0, epsilon, x = (mp.mpf(at[name]) for name in ("epsilon0", "epsilon", "x"))
            omega, first, _, gamma = _laplace_l(epsilon0, epsilon)
            u = x / gamma + mp.exp(epsilon)
            edge = min(max(mp.mpf(1) / 2 - mp.log(u) / (2 * epsilon0), mp.mpf(0)), mp.mpf(1) / 2)
            outside = mp.exp(-epsilon0 / 2) / 2 * max(first(mp.mpf(-1)) - x, 0)
            inside = mp.quad(lambda y, f=first, w=omega, x=x: w(y) * max(f(y) - x, 0), [0, edge])
            tally.true(abs(outside + inside - claim.value(**at)) < 1e-15 * mp.exp(epsilon0), **at)
    for epsilon0 in (0.5, 2.0, 5.0):  # one user: the divergence of the two noise laws, 1 - e^((epsilon - epsilon0)/2)
        local = -math.expm1((0.3 - epsilon0) / 2)
        tally.equal(local, claim.value(epsilon0=epsilon0, epsilon=0.3, x=0), 1e-14, epsilon0=epsilon0)


@check("bbgn19.gauss")
def no_exponential_moment(claim: Record, tally: Tally) -> None:
    for at in claim.points(25):
        with mp.workdps(DIGITS):
            sigma, epsilon, theta, y = (mp.mpf(at[name]) for name in ("sigma", "epsilon", "theta", "y"))
            gamma = 2 * mp.ncdf(-1 / (2 * sigma))
            # log E e^(theta L) over outputs between -y - 4 sigma and -y, cell by cell, L taken at its least there:
            # below 1/2 the blanket is the law of the input 1, and L falls with the output
            edges = [-y - 4 * sigma * i / 40 for i in range(41)]
            logs = []
            for high, low in zip(edges, edges[1:], strict=False):
                value = gamma * (mp.npdf(high, 0, sigma) / mp.npdf(high, 1, sigma) - mp.exp(epsilon))
                probability = (mp.ncdf((high - 1) / sigma) - mp.ncdf((low - 1) / sigma)) / gamma
                logs.append(theta * value + mp.log(probability))
            peak = max(logs)
            moment = peak + mp.log(mp.fsum(mp.exp(x - peak) for x in logs))
            tally.true(claim.value(**at) <= moment + mp.mpf("1e-9"), **at)
            least = theta * gamma * (mp.npdf(-y, 0, sigma) / mp.npdf(-y, 1, sigma) - mp.exp(epsilon))
            tally.equal(mp.exp(claim.value(**at) - least) * gamma, mp.ncdf((-y - 1) / sigma), 1e-30, **at)
    for theta in (1e-3, 0.1, 1.0):  # for every theta the lower bound rises without limit
        tally.true(claim.value(sigma=1, epsilon=0.3, theta=theta, y=40) > 10**6, theta=theta)
    refused = False
    try:
        GaussianRandomizer(1.0).amplification_range(0.3)
    except DomainError:
        refused = True
    tally.true(refused, what="the library refuses a range")


@check("ext.pb.gauss.moments")
def second_moment_of_gauss(claim: Record, tally: Tally) -> None:
    for index, at in enumerate(claim.points(40)):
        if index < 3:
            with mp.workdps(16):
                sigma, e = mp.mpf(at["sigma"]), mp.exp(mp.mpf(at["epsilon"]))
                gamma = 2 * mp.ncdf(-1 / (2 * sigma))

                def integrand(y, s=sigma, e=e, g=gamma):
                    zero, one = mp.npdf(y, 0, s), mp.npdf(y, 1, s)
                    return g * (zero - e * one) ** 2 / min(zero, one)

                reach = 12 * sigma
                cuts = [-1 - reach, -1 - 2 * sigma, -1, 0.5, 2, 2 + 2 * sigma, 2 + reach]
                tally.equal(mp.quad(integrand, cuts), claim.value(**at), 1e-13, **at)
        ours = GaussianRandomizer(at["sigma"]).amplification_second_moment(at["epsilon"])
        tally.equal(ours, claim.value(**at), 1e-10, **at)
        with mp.workdps(DIGITS):
            tally.true(claim.value(**at) > mp.expm1(at["epsilon"]) ** 2, what="at least the squared mean", **at)


@check("ext.pb.exact.cont")
def excess_of_gauss(claim: Record, tally: Tally) -> None:
    for index, at in enumerate(claim.points(40)):
        if index < 6:
            with mp.workdps(16):
                sigma, u = mp.mpf(at["sigma"]), mp.mpf(at["u"])
                cut = mp.mpf(1) / 2 - sigma**2 * mp.log(u)  # where the ratio of the densities is u
                area = mp.quad(
                    lambda y, s=sigma, u=u: mp.npdf(y, 0, s) - u * mp.npdf(y, 1, s),
                    [cut - 12 * sigma, cut - 3 * sigma, cut - sigma, cut],
                )
                tally.true(abs(area - claim.value(**at)) < 1e-12, **at)
        if at["u"] > 1:  # one user: the privacy curve of the noise itself
            exact = gaussian_curve(at["sigma"], 1.0).delta(math.log(at["u"]))
            tally.equal(exact, claim.value(**at), 1e-9, **at)
    for sigma, epsilon in ((1.0, 0.3), (2.0, 0.1)):
        ours = blanket_exact(GaussianRandomizer(sigma), 1).delta(epsilon)
        exact = float(claim.value(sigma=sigma, u=math.exp(epsilon)))
        tally.true(exact * (1 - 1e-9) <= ours < 1.005 * exact, sigma=sigma)
