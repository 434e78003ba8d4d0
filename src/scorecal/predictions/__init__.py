"""Batches of n predictive distributions."""

from .adapters.arviz import from_arviz
from .adapters.darts import from_darts
from .adapters.dispatch import as_predictions
from .adapters.flowjax import from_flowjax
from .adapters.gluonts import from_gluonts
from .adapters.gpytorch import from_gpytorch
from .adapters.hubverse import from_hubverse
from .adapters.ngboost import from_ngboost
from .adapters.nixtla import from_nixtla
from .adapters.numpyro import from_numpyro
from .adapters.sbi import from_sbi
from .adapters.scipy import from_scipy
from .adapters.sklearn import from_sklearn
from .adapters.skpro import from_skpro
from .adapters.sktime import from_sktime
from .adapters.torch import from_torch
from .capabilities import (
    HasCdf,
    HasComponents,
    HasDensity,
    HasMoments,
    Noisable,
    Noised,
    Prior,
    Rankable,
    Samplable,
    moments_of,
    prior_of,
    spread_of,
    support_of,
)
from .categorical import Categorical
from .cdf import CdfFunction
from .gaussian import Gaussian
from .histogram import Histogram, from_histogram
from .log_density import LogDensity
from .mala import MALA
from .mixture import GaussianMixture
from .on_host import on_host
from .part import part_of
from .pool import Pool
from .protocol import (
    Predictions,
    check_predictions,
    describe,
    draw_samples,
    evaluate_log_prob,
    evaluate_score,
    held_array,
)
from .quantiles import Quantiles, from_quantiles
from .samples import Samples, from_samples
from .scores import ScoreFunction, Scores
from .supports import Box, Simplex, Support, as_support, same_support
from .targets import as_rows, as_targets, check_can_be_drawn, check_inside, drawn_targets

AnyPredictions = Predictions | HasCdf | Rankable  # what `calibration_test` and `diagnose` take

__all__ = [
    "MALA",
    "AnyPredictions",
    "Box",
    "Categorical",
    "CdfFunction",
    "Gaussian",
    "GaussianMixture",
    "HasCdf",
    "HasComponents",
    "HasDensity",
    "HasMoments",
    "Histogram",
    "LogDensity",
    "Noisable",
    "Noised",
    "Pool",
    "Predictions",
    "Prior",
    "Quantiles",
    "Rankable",
    "Samplable",
    "Samples",
    "ScoreFunction",
    "Scores",
    "Simplex",
    "Support",
    "as_predictions",
    "as_rows",
    "as_support",
    "as_targets",
    "check_can_be_drawn",
    "check_inside",
    "check_predictions",
    "describe",
    "draw_samples",
    "drawn_targets",
    "evaluate_log_prob",
    "evaluate_score",
    "from_arviz",
    "from_darts",
    "from_flowjax",
    "from_gluonts",
    "from_gpytorch",
    "from_histogram",
    "from_hubverse",
    "from_ngboost",
    "from_nixtla",
    "from_numpyro",
    "from_quantiles",
    "from_samples",
    "from_sbi",
    "from_scipy",
    "from_sklearn",
    "from_skpro",
    "from_sktime",
    "from_torch",
    "held_array",
    "moments_of",
    "on_host",
    "part_of",
    "prior_of",
    "same_support",
    "spread_of",
    "support_of",
]
