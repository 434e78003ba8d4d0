"""Who is judged: batches of n predictive distributions."""

from .gaussian import Gaussian
from .mixture import GaussianMixture
from .protocol import Predictions, evaluate_score, held_array
from .scores import ScoreFunction, Scores

__all__ = ["Gaussian", "GaussianMixture", "Predictions", "ScoreFunction", "Scores", "evaluate_score", "held_array"]
