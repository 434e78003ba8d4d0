"""The diagnosis of rows in batches: sizes over all rows from their sums, and what a sample of them shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..diagnosis import Diagnosis, diagnose
from ..diagnosis.estimates import Direction, as_correlations
from ..diagnosis.extremes import extremes_of
from ..diagnosis.simultaneous import agreeing, tail_by
from ..diagnosis.sums import sizes_of
from ..results import CombinedResult
from .first import FirstSums
from .rows import KeptRows
from .second import SecondPass, SecondSums


def diagnosis_of(
    first: FirstSums,
    todo: SecondPass,
    sums: SecondSums,
    result: CombinedResult,
    sample: KeptRows,
    level: float,
    names: Sequence[str] | None,
    seed: Any,
) -> Diagnosis:
    """Return the diagnosis; of rows that are all in the sample, that in memory."""
    k, coarse = len(sample.rows), first.forms is not None and first.forms.coarse
    there: Diagnosis = diagnose(
        sample.predictions,
        sample.y,
        names=names,
        result=replace(result, n=k, n_clusters=k),
        confidence_level=1.0 - level,
        n_resamples=result.n_resamples,
        rng=seed,
    )
    far = sums.far.sums
    there = replace(
        there,
        result=result,
        coordinates=there.coordinates if first.forms is None else "normal scores",
        understated=coarse,
        outliers=tuple(sample.rows[list(there.outliers)].tolist()),
        extremes=() if coarse else extremes_of(far.rows, far.squared, far.pvalues, result.n),
    )
    whole = k == result.n or there.outliers
    return there if whole else _over_all_rows(there, todo, sums, level)


def _over_all_rows(there: Diagnosis, todo: SecondPass, sums: SecondSums, level: float) -> Diagnosis:
    """Return the diagnosis with sizes over all rows, from their sums."""
    sizes, correlation = sizes_of(todo.family, sums.influences)
    biases, ratios, bias, ratio, correlations, along, plain = sizes
    n, d = todo.family.sums.n, len(biases.values)
    family = [biases, ratios, along] if d == 1 else [biases, ratios, bias, ratio, correlations, along]
    starts = np.cumsum([0, *(len(each.values) for each in sizes)])
    places = zip(sizes, starts, strict=False)
    chosen = np.concatenate([each.usable + start for each, start in places if any(each is one for one in family)])
    together = tail_by(correlation[np.ix_(chosen, chosen)], 0.5 * level if there.regions else level)
    tail = agreeing(together, family, there.result.rejects(level))
    return replace(
        there,
        bias=biases.estimates(tail),
        confidence_ratio=ratios.estimates(tail),
        overall_bias=bias.estimates(tail)[0],
        overall_confidence_ratio=ratio.estimates(tail)[0],
        worst_direction=Direction(todo.family.weights, along.estimates(tail)[0]),
        correlations=as_correlations(correlations, d, tail),
        n=n,
        n_clusters=n,
        _sizes=(biases, ratios),
        _plain_bias=plain if there.source == "scores" else None,
        _tail=tail,
    )
