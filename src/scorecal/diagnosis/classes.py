"""Sizes of the errors of predicted classes: confidence, classes one by one, and reliability in bins."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._calibration_test import calibration_test
from .._lib.checks import check_share
from ..predictions import Categorical
from ..resampling.clusters import clusters_of
from ..results import CombinedResult
from ..views.classes import checked_classes
from .class_result import ClassDiagnosis, ClassShare
from .shares import Bin, bins_of, calibration_error, least_tail, share
from .simultaneous import tail_of
from .sizes import Units
from .temperature import least_tail_of_temperature, temperature


def diagnose_classes(
    predictions: Categorical,
    y: Any,
    *,
    result: CombinedResult | None,
    confidence_level: float,
    simultaneous: bool,
    groups: Any,
    horizon: int | None,
    covariates: Any,
    n_resamples: int,
    rng: Any,
    refused: Mapping[str, Any],
) -> ClassDiagnosis:
    """Return what `diagnose` says of predictions of classes; `refused` are arguments that are not for them."""
    alpha = round(1.0 - check_share("confidence_level", confidence_level), 12)
    for name, value in refused.items():
        if value is not None:
            raise TypeError(
                f"`{name}` is not for classes, which have labels of their own, but is {value!r}: leave it out."
            )
    p, observed = checked_classes(predictions, y)
    n, n_classes = p.shape
    if result is None:
        shared = {"groups": groups, "horizon": horizon, "covariates": covariates, "rng": rng}
        result = calibration_test(predictions, y, n_resamples=n_resamples, **shared)
    elif result.n != n:
        raise ValueError(f"`result` must be of the same {n} rows as `predictions`, but is of {result.n}.")
    clusters = clusters_of(groups, horizon, n)
    units = Units(n) if clusters is None or clusters.n_clusters == n else Units(clusters.n_clusters, clusters.labels)
    top, every = np.argmax(p, axis=1), np.arange(n)
    confidence, right = np.max(p, axis=1), (top == observed) * 1.0
    hits = [right, *((observed == k) * 1.0 for k in range(n_classes))]
    claims = [confidence, *p.T]
    parts = bins_of(confidence)
    n_sizes = len(hits) + len(parts) + 2  # the temperature and the calibration error
    tail = tail_of(n_sizes, alpha) if simultaneous else alpha
    if not result.rejects(alpha):
        tail = min(tail, _agreeing(hits, claims, parts), 0.999 * least_tail_of_temperature(p, observed, units))
    estimates = [share(each, every, units, tail) for each in hits]
    bins = tuple(
        Bin(
            float(np.min(confidence[rows])),
            float(np.max(confidence[rows])),
            len(rows),
            float(np.mean(confidence[rows])),
            share(right, rows, units, tail),
        )
        for rows in parts
    )
    return ClassDiagnosis(
        result=result,
        names=predictions.names,
        claimed_accuracy=float(np.mean(confidence)),
        accuracy=estimates[0],
        classes=tuple(
            ClassShare(name, float(np.mean(column)), found)
            for name, column, found in zip(predictions.names, p.T, estimates[1:], strict=True)
        ),
        bins=bins,
        calibration_error=calibration_error(right, confidence, parts, units, tail),
        temperature=temperature(p, observed, units, tail),
        n=n,
        n_clusters=units.n,
        confidence_level=confidence_level,
        simultaneous=simultaneous,
    )


def _agreeing(hits: Sequence[np.ndarray], claims: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> float:
    """Return the largest tail with which all intervals of shares, the first also in bins, contain what is claimed."""
    every = np.arange(len(hits[0]))
    pairs = zip(hits, claims, strict=True)
    tails = [least_tail(each, every, float(np.mean(claim))) for each, claim in pairs]
    tails += [least_tail(hits[0], rows, float(np.mean(claims[0][rows]))) for rows in parts]
    return 0.999 * min(tails)
