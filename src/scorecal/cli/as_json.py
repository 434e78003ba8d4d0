"""The outcome of `scorecal test` in types of JSON."""

import argparse
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from .. import __version__
from ..diagnosis import ClassDiagnosis, Diagnosis
from ..results import CombinedResult
from .order import horizon_of
from .read import Input
from .tolerance import tolerance_of

_OF_THE_RESULT = (
    "statistic",
    "pvalue",
    "pvalue_error",
    "null",
    "n_draws",
    "least_pvalue",
    "n",
    "n_clusters",
    "message",
    "warnings",
    "seen",
    "cannot_see",
)
_OF_A_LEVEL = ("covariate", "name", "n", "bias", "confidence_ratio")
_OF_A_LEVEL_OF_CLASSES = ("covariate", "name", "n", "claimed_accuracy", "accuracy", "classes")


def as_json(
    result: CombinedResult,
    diagnosis: Diagnosis | ClassDiagnosis,
    chosen: argparse.Namespace,
    given: Input,
) -> dict[str, Any]:
    """Return verdict, views, sizes, the clearest region and settings, by the names that users may rely on."""
    tolerance: Any = tolerance_of(chosen)
    sizes = _of_classes(diagnosis) if isinstance(diagnosis, ClassDiagnosis) else _of_numbers(diagnosis, given)
    found = {
        **{name: getattr(result, name) for name in _OF_THE_RESULT},
        "dropped": given.n_dropped,
        "rejected": result.rejects(chosen.alpha),
        "alpha": chosen.alpha,
        "statements": diagnosis.statements,
        "tolerance": tolerance and asdict(tolerance),
        "within": tolerance and tolerance.verdict(diagnosis),
        "views": [
            {name: getattr(view, name) for name in ("name", "sees", "pvalue", "adjusted_pvalue")}
            for view in result.views
        ],
        **sizes,
        "settings": {
            "file": str(chosen.file),
            "hub": chosen.hub and str(chosen.hub),
            "group": chosen.group,
            "time": chosen.time,
            "horizon": horizon_of(chosen),
            "null": chosen.null,
            "estimator": result.estimator,
            "n_resamples": chosen.n_resamples,
            "seed": chosen.seed,
            "scorecal": __version__,
        },
    }
    plain: dict[str, Any] = _plain(found)
    return plain


def _of_numbers(diagnosis: Diagnosis, given: Input) -> dict[str, Any]:
    """Return sizes of errors of targets that are numbers."""
    per_dimension = zip(diagnosis.names, diagnosis.bias, diagnosis.confidence_ratio, strict=True)
    where, sizes = diagnosis.where, ("bias", "confidence_ratio", "rest_bias", "rest_confidence_ratio")
    return {
        "dimensions": [{"name": name, "bias": off, "confidence_ratio": ratio} for name, off, ratio in per_dimension],
        "correlations": [
            {**pair._asdict(), "dimensions": [diagnosis.names[k] for k in pair.dimensions]}
            for pair in diagnosis.correlations
        ],
        "levels": [{name: getattr(level, name) for name in _OF_A_LEVEL} for level in diagnosis.levels],
        "extremes": [{"place": given.place(row.row)} | asdict(row) for row in diagnosis.extremes],
        "outliers": [{"place": given.place(row), "row": row} for row in diagnosis.outliers],
        "where": where
        and {"name": where.name, "n": where.n, "pvalue": where.contrast_pvalue}
        | {name: getattr(where, name) for name in sizes},
    }


def _of_classes(diagnosis: ClassDiagnosis) -> dict[str, Any]:
    """Return sizes of errors of targets that are classes."""
    names = ("claimed_accuracy", "accuracy", "classes", "bins", "calibration_error", "temperature", "places")

    def level(found: Any) -> dict[str, Any]:
        return {name: getattr(found, name) for name in _OF_A_LEVEL_OF_CLASSES}

    where = diagnosis.where
    return {
        **{name: getattr(diagnosis, name) for name in names},
        "levels": [level(each) for each in diagnosis.levels],
        "where": where and level(where.there) | {"pvalue": where.contrast_pvalue, "elsewhere": level(where.elsewhere)},
    }


def _plain(value: Any) -> Any:
    """The value in types of JSON, which has no NaN: estimates become objects, and numbers that are not finite None."""
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
