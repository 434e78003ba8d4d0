"""Can a probabilistic model's uncertainty be trusted? Calibration tests from scores alone."""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import coordinates, kernels, views
from ._calibration_test import calibration_test
from ._kccsd import kccsd, kccsd_test
from ._kcsd import kcsd, kcsd_test, ksd_test
from ._skce import SKCEResult, skce, skce_test
from .coverage import Coverage, expected_coverage
from .diagnosis import ClassDiagnosis, Diagnosis, diagnose
from .divergences import fisher_divergence, gfd, gram_matrix, kgfd, mmd, wasserstein
from .predictions import (
    MALA,
    Categorical,
    CdfFunction,
    Gaussian,
    GaussianMixture,
    LogDensity,
    Predictions,
    ScoreFunction,
    Scores,
    as_predictions,
    from_arviz,
    from_darts,
    from_flowjax,
    from_gluonts,
    from_gpytorch,
    from_histogram,
    from_hubverse,
    from_ngboost,
    from_nixtla,
    from_numpyro,
    from_quantiles,
    from_samples,
    from_sbi,
    from_scipy,
    from_sklearn,
    from_skpro,
    from_sktime,
    from_torch,
)
from .resampling import estimators, nulls
from .results import CalibrationResult, CombinedResult, ViewResult

if _TYPE_CHECKING:
    from . import experiments, plots, report, streams

__version__ = _version("scorecal")
__all__ = [
    "MALA",
    "CalibrationResult",
    "Categorical",
    "CdfFunction",
    "ClassDiagnosis",
    "CombinedResult",
    "Coverage",
    "Diagnosis",
    "Gaussian",
    "GaussianMixture",
    "LogDensity",
    "Predictions",
    "SKCEResult",
    "ScoreFunction",
    "Scores",
    "ViewResult",
    "as_predictions",
    "calibration_test",
    "coordinates",
    "diagnose",
    "estimators",
    "expected_coverage",
    "experiments",
    "fisher_divergence",
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
    "gfd",
    "gram_matrix",
    "kccsd",
    "kccsd_test",
    "kcsd",
    "kcsd_test",
    "kernels",
    "kgfd",
    "ksd_test",
    "mmd",
    "nulls",
    "plots",
    "report",
    "skce",
    "skce_test",
    "streams",
    "views",
    "wasserstein",
]


def __getattr__(name: str) -> _Any:
    """Import a module that not every user needs when it is first used."""
    if name in ("experiments", "plots", "report", "streams"):
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
