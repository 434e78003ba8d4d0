"""Can a probabilistic model's uncertainty be trusted? Calibration tests from scores alone."""

from importlib.metadata import version

from . import coordinates, experiments, kernels
from ._kccsd import kccsd, kccsd_test
from .predictions import Gaussian, GaussianMixture, ScoreFunction, Scores
from .results import CalibrationResult

__version__ = version("scorecal")
__all__ = [
    "CalibrationResult",
    "Gaussian",
    "GaussianMixture",
    "ScoreFunction",
    "Scores",
    "coordinates",
    "experiments",
    "kccsd",
    "kccsd_test",
    "kernels",
]
