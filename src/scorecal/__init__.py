"""Can a probabilistic model's uncertainty be trusted? Calibration tests from scores alone."""

from importlib.metadata import version

from . import coordinates, experiments, kernels
from ._kccsd import kccsd, kccsd_test
from ._kcsd import kcsd, kcsd_test, ksd_test
from ._skce import SKCEResult, skce, skce_test
from .predictions import MALA, Categorical, Gaussian, GaussianMixture, ScoreFunction, Scores
from .results import CalibrationResult

__version__ = version("scorecal")
__all__ = [
    "MALA",
    "CalibrationResult",
    "Categorical",
    "Gaussian",
    "GaussianMixture",
    "SKCEResult",
    "ScoreFunction",
    "Scores",
    "coordinates",
    "experiments",
    "kccsd",
    "kccsd_test",
    "kcsd",
    "kcsd_test",
    "kernels",
    "ksd_test",
    "skce",
    "skce_test",
]
