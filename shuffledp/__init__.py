"""Differential privacy in the shuffle model, checkable.

Exact values, bounds that hold and limits for shuffled mechanisms, and a ledger of the published claims about them.
All logs are natural; neighbours are replace-one. Arguments outside the stated range raise `DomainError`; a guarantee
that is void or weaker than it looks warns with `GuaranteeWarning`.
"""

from .bounds.blanket import (
    blanket_bennett,
    blanket_exact,
    blanket_hoeffding,
    blanket_mgf,
    shuffled_ldp_epsilon,
    shuffled_ldp_epsilon0,
)
from .bounds.clones import clones, clones_closed_form
from .bounds.histogram import shuffled_rr_gamma
from .bounds.theorem7 import Theorem7, theorem7
from .compare import Comparison, compare
from .core.accounting import to_pld
from .core.composition import compose
from .core.curves import PrivacyCurve, calibrate_epsilon0, calibrate_n
from .core.domain import DomainError, GuaranteeWarning
from .core.gaussian import classical_epsilon_max, gaussian_curve, gaussian_sigma, gdp
from .core.randomizers import (
    FiniteChannel,
    GaussianRandomizer,
    GenericRandomizer,
    LaplaceRandomizer,
    RandomizedResponse,
)
from .exact.certified import certify
from .exact.channels import shuffled_channel
from .exact.jensen_shannon import jensen_shannon
from .exact.k_ary import shuffled_krr
from .exact.likelihood import likelihood_ratio
from .exact.messages import shuffled_messages
from .exact.randomized_response import shuffled_rr
from .limits.boundary import poisson_limit, skellam_limit
from .limits.fisher import fisher_constant, mixture_fisher_constant
from .limits.gaussian import GaussianCertificate, gdp_certified, gdp_mu, gdp_second_order
from .limits.jensen_shannon import jsd_expansion, jsd_lower_bound
from .limits.le_cam import le_cam_distance
from .limits.messages import bundled_mu, unbundled_mu
from .protocols.frequency import calibrate_frequency, estimate_frequency, frequency_variance
from .protocols.private_mean import PrivateMean, laplace_scale, private_mean
from .protocols.summation import SummationProtocol, summation_lower_bound

__all__ = [
    "Comparison",
    "DomainError",
    "FiniteChannel",
    "GaussianCertificate",
    "GaussianRandomizer",
    "GenericRandomizer",
    "GuaranteeWarning",
    "LaplaceRandomizer",
    "PrivacyCurve",
    "PrivateMean",
    "RandomizedResponse",
    "SummationProtocol",
    "Theorem7",
    "blanket_bennett",
    "blanket_exact",
    "blanket_hoeffding",
    "blanket_mgf",
    "bundled_mu",
    "calibrate_epsilon0",
    "calibrate_frequency",
    "calibrate_n",
    "certify",
    "classical_epsilon_max",
    "clones",
    "clones_closed_form",
    "compare",
    "compose",
    "estimate_frequency",
    "fisher_constant",
    "frequency_variance",
    "gaussian_curve",
    "gaussian_sigma",
    "gdp",
    "gdp_certified",
    "gdp_mu",
    "gdp_second_order",
    "jensen_shannon",
    "jsd_expansion",
    "jsd_lower_bound",
    "laplace_scale",
    "likelihood_ratio",
    "le_cam_distance",
    "mixture_fisher_constant",
    "poisson_limit",
    "private_mean",
    "shuffled_channel",
    "shuffled_krr",
    "shuffled_ldp_epsilon",
    "shuffled_ldp_epsilon0",
    "shuffled_messages",
    "shuffled_rr",
    "shuffled_rr_gamma",
    "skellam_limit",
    "summation_lower_bound",
    "theorem7",
    "to_pld",
    "unbundled_mu",
]


def __getattr__(name):
    if name == "claims":  # imports sympy, which no number needs
        import importlib

        return importlib.import_module(".claims", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
