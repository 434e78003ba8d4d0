"""Sizes of the errors of predicted classes: confidence, classes one by one, reliability in bins, and by covariates."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._calibration_test import calibration_test_at
from .._lib.checks import as_generator, check_count, check_share
from .._lib.covariates import as_covariates
from ..predictions import Categorical
from ..resampling import RandomSigns
from ..resampling.clusters import clusters_of
from ..results import CombinedResult
from ..views.classes import checked_classes
from .arguments import check_same_rows
from .class_levels import Hits, class_regions, rows_by_level
from .class_result import ClassDiagnosis, Places
from .estimates import biases, ratios
from .regions import partitions_of
from .shares import Bin, bins_of, calibration_error, least_tail, least_tail_of_error, share
from .simultaneous import agreeing, tail_of
from .sizes import Sizes, Units
from .temperature import least_tail_of_temperature, temperature

_INSIDE = 0.999  # of a tail with which an interval just contains something


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
    check_count("n_resamples", n_resamples)
    for name, value in refused.items():
        if value is not None:
            raise TypeError(
                f"`{name}` is not for classes, which have labels of their own, but is {value!r}: leave it out."
            )
    p, observed = checked_classes(predictions, y)
    n = len(p)
    clusters = clusters_of(groups, horizon, n)
    columns = {} if covariates is None else dict(as_covariates(covariates, n))
    if result is None:
        shared = {"groups": groups, "horizon": horizon, "covariates": columns or None, "rng": rng}
        result = calibration_test_at(alpha, predictions, y, n_resamples=n_resamples, **shared)
    else:
        check_same_rows(result, n, clusters)
    units = Units(n) if clusters is None or clusters.n_clusters == n else Units(clusters.n_clusters, clusters.labels)
    hits, every = Hits(predictions.names, p, observed, units), np.arange(n)
    confidence, right, parts = hits.confidence, hits.right, bins_of(hits.confidence)
    partitions = partitions_of(columns, n, clusters=clusters)
    levels = rows_by_level(columns)
    places = _places(p, observed, units) if predictions.ordinal and p.shape[1] > 2 else ()
    rejected = result.rejects(alpha)
    # The bins, the temperature and the calibration error come to the accuracy and the shares over all rows.
    n_sizes = (1 + len(levels)) * hits.n_sizes + len(parts) + 2 + len(places)
    tail = tail_of(n_sizes, 0.5 * alpha if partitions else alpha) if simultaneous else alpha
    if not rejected:
        tails = [hits.least_tail(rows) for rows in (every, *(rows for _, _, rows in levels))]
        tails += [least_tail(right, rows, float(np.mean(confidence[rows]))) for rows in parts]
        tails += [least_tail_of_temperature(p, observed, units), least_tail_of_error(right, confidence, parts, units)]
        tail = (
            agreeing(min(tail, _INSIDE * min(tails)), places, rejected) if places else min(tail, _INSIDE * min(tails))
        )
    overall = hits.level("", "", every, tail)
    least = 0.0 if clusters is None else clusters.least_pvalue
    regions = class_regions(
        hits,
        partitions,
        RandomSigns().draw(units.n, n_resamples, as_generator(rng)),
        least_pvalue=least,
        alpha=0.25 * alpha,
        tail=None if simultaneous else alpha,
        rejected=rejected,
    )
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
        claimed_accuracy=overall.claimed_accuracy,
        accuracy=overall.accuracy,
        classes=overall.classes,
        bins=bins,
        calibration_error=calibration_error(right, confidence, parts, units, tail),
        temperature=temperature(p, observed, units, tail),
        places=Places(*(each.estimates(tail)[0] for each in places)) if places else None,
        levels=tuple(hits.level(*level, tail) for level in levels),
        regions=regions,
        where=regions[0] if rejected and regions and regions[0].contrast_pvalue <= 0.25 * alpha else None,
        covariates=columns,
        n=n,
        n_clusters=units.n,
        confidence_level=confidence_level,
        simultaneous=simultaneous,
        _one_sided_error=calibration_error(right, confidence, parts, units, min(1.0, 2.0 * alpha)).estimate,
    )


def _places(p: np.ndarray, observed: np.ndarray, units: Units) -> tuple[Sizes, Sizes]:
    """The bias of places in the order, and the ratio of their spreads."""
    places = np.arange(float(p.shape[1]))
    means = p @ places
    gaps, variances = means - observed, p @ places**2 - means**2
    return biases(gaps[:, None], units), ratios(gaps[:, None, None], variances[:, None], units)
