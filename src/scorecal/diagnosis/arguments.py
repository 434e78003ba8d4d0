"""Arguments of `diagnose`, checked, and what stands for those that are not given."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._lib.dimensions import are_many
from ..resampling.clusters import Clusters, blocks_of_rows
from ..results import CombinedResult
from .many_dimensions import means_of_many
from .residuals import Residuals
from .sizes import Units

_ROWS_OF_BLOCKS = 3.0  # times the cube root of the number of rows
_FEWEST_BLOCKS = 20
_SOME_EVIDENCE = 0.1  # p-value: blocks that are not needed cost little
_ALIKE = 1e-9  # relative: what varies by less does so by rounding


def units_of(clusters: Clusters | None, found: Residuals) -> tuple[Clusters | None, Units]:
    """Clusters of the rows in use, and what is independent: these, or rows where each is a cluster of its own."""
    if clusters is not None:
        clusters = clusters.within(found.rows)
    if clusters is None or clusters.n_clusters == len(found.rows):
        return clusters, Units(len(found.rows))
    return clusters, Units(clusters.n_clusters, clusters.labels)


def in_blocks(clusters: Clusters | None, n: int, result: CombinedResult) -> Clusters | None:
    """Clusters for sizes: blocks of consecutive rows, if these are in time order and errors follow those before.

    The mean of what follows itself varies more than that of as many independent rows. Errors of calibrated one-step
    forecasts do not, so that the test needs no blocks; the sizes of others do.
    """
    follow = any(view.sees == "serial" and view.pvalue <= _SOME_EVIDENCE for view in result.views)
    if clusters is None or clusters.horizon > 1 or not clusters.ordered or not follow:
        return clusters
    length = min(math.ceil(_ROWS_OF_BLOCKS * n ** (1.0 / 3.0)), n // _FEWEST_BLOCKS)
    return blocks_of_rows(clusters, length) if length > 1 else clusters


def own_covariates(found: Residuals, names: Sequence[str], *, with_spread: bool) -> Mapping[str, np.ndarray]:
    """Predicted locations and spreads that vary, by name; of many dimensions, their means.

    The spread of a pool is that of members and target: where all members spread too little, it is largest in rows whose
    target is far, and would seem to be at fault.
    """
    if are_many(found.marginal.shape[1]):
        columns = dict(means_of_many(found))
        if not with_spread:
            columns.popitem()
        return {name: column for name, column in columns.items() if _varies(column)}
    columns = {f"predicted {name}": column for name, column in zip(names, found.location.T, strict=True)}
    if with_spread:
        columns |= {f"claimed spread of {name}": sd for name, sd in zip(names, found.sd.T, strict=True)}
    return {name: column for name, column in columns.items() if _varies(column)}


def _varies(column: np.ndarray) -> bool:
    return bool(np.std(column) > _ALIKE * np.max(np.abs(column)))


def check_result(result: Any) -> None:
    if result is not None and not isinstance(result, CombinedResult):
        raise TypeError(f"`result` must come from `calibration_test`, but is of type {type(result).__name__}.")


def check_same_rows(result: CombinedResult, n: int, clusters: Clusters | None) -> None:
    """Raise unless the result is of as many rows, with as many groups or blocks of them."""
    if result.n != n:
        raise ValueError(f"`result` must be of the same {n} rows as `predictions`, but is of {result.n}.")
    n_clusters = n if clusters is None else clusters.n_clusters
    if result.n_clusters != n_clusters:
        raise ValueError(
            f"`result` is of {result.n_clusters} independent rows, groups or blocks, but `groups` and `horizon` make "
            f"{n_clusters} of the same rows: give `diagnose` the same `groups` and `horizon` as the test."
        )


def checked_names(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    if names is None:
        return ("y",) if d == 1 else tuple(f"y_{k + 1}" for k in range(d))
    if isinstance(names, str) or len(names) != d or len(set(names)) < d:
        raise ValueError(f"`names` must be {d} different names, one for each dimension, but is {names!r}.")
    return tuple(str(name) for name in names)
