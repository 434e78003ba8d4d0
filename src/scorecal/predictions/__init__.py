"""Who is judged: batches of n predictive distributions."""

from .categorical import Categorical
from .dispatch import as_predictions
from .flowjax_distribution import from_flowjax
from .gaussian import Gaussian
from .log_density import LogDensity
from .mala import MALA
from .mixture import GaussianMixture
from .numpyro_distribution import from_numpyro
from .protocol import Predictions, Prior, check_predictions, describe, draw_samples, evaluate_score, held_array
from .regressors import from_ngboost, from_sklearn
from .sbi_posterior import from_sbi
from .scipy_distribution import from_scipy
from .scores import ScoreFunction, Scores
from .supports import Box, Simplex, Support, as_support, same_support
from .torch_distribution import from_torch

__all__ = [
    "MALA",
    "Box",
    "Categorical",
    "Gaussian",
    "GaussianMixture",
    "LogDensity",
    "Predictions",
    "Prior",
    "ScoreFunction",
    "Scores",
    "Simplex",
    "Support",
    "as_predictions",
    "as_support",
    "check_predictions",
    "describe",
    "draw_samples",
    "evaluate_score",
    "from_flowjax",
    "from_ngboost",
    "from_numpyro",
    "from_sbi",
    "from_scipy",
    "from_sklearn",
    "from_torch",
    "held_array",
    "same_support",
]
