"""Who is judged: batches of n predictive distributions."""

from .categorical import Categorical
from .gaussian import Gaussian
from .log_density import LogDensity
from .mala import MALA
from .mixture import GaussianMixture
from .numpyro_distribution import from_numpyro
from .protocol import Predictions, check_predictions, draw_samples, evaluate_score, held_array
from .scores import ScoreFunction, Scores
from .torch_distribution import from_torch

__all__ = [
    "MALA",
    "Categorical",
    "Gaussian",
    "GaussianMixture",
    "LogDensity",
    "Predictions",
    "ScoreFunction",
    "Scores",
    "check_predictions",
    "draw_samples",
    "evaluate_score",
    "from_numpyro",
    "from_torch",
    "held_array",
]
