"""Views of what predictions do not say of a row, but what may tell where they are wrong.

Of a covariate, smooth curves of its ranks multiply features, or a function for each label; of ordered rows they look
back only, as all that multiplies features does, and errors of earlier rows multiply features as well.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from .._lib.covariates import is_label
from ..resampling.clusters import Clusters
from ..statistics.rank_functions import RadialRank, Rank
from ..statistics.test_functions import BoundedRadial, Constant
from .ranks import legendre_curves, ranks_below, ranks_of, ranks_so_far
from .row_kernels import Covariate, ErrorsBefore
from .view import View

_ORDERS = (1, 2, 3, 4)
MOST_LABELS = 100  # the others, which are rarer, are taken together
_FEWEST_OF_LABEL = 2  # rows: of one row alone there are no pairs
_WEIGHT, _WEIGHT_OF_ALL, _WEIGHT_OF_SERIAL = 3.0, 6.0, 2.0


def covariate_views(covariates: Mapping[str, np.ndarray], dim: int, others: Iterable[View] = ()) -> tuple[View, ...]:
    """Return two views for each covariate, whose weights are smaller if there are many.

    Where one of the `others` has its name, as for a covariate that is called "traits", it gets a longer one. The
    largest of many labels may have few rows; there signs need features that are not skewed, as ranks of Gaussians.
    """
    taken = {view.name for view in others}
    weight = min(_WEIGHT, _WEIGHT_OF_ALL / max(1, len(covariates)))
    views = []
    for name, column in covariates.items():
        between, one_of_them = Covariate(name), is_label(column)
        where = "for some value" if one_of_them else "over some range"
        bias = View(
            _free(f"bias by {name}", taken),
            "covariates",
            Constant(),
            between,
            "marginal",
            one_of_them,
            weight=weight,
            bounded=Rank(1) if one_of_them else None,
            about=f"Targets lie to one side {where} of {name}.",
        )
        spread = replace(
            bias,
            name=_free(f"spread by {name}", taken),
            target_kernel=BoundedRadial(3.0 * dim),
            coordinates="whitened",
            bounded=RadialRank(1) if one_of_them else None,
            about=f"Errors are larger than claimed {where} of {name}.",
        )
        views += [bias, spread]
    return tuple(views)


def _free(name: str, taken: set[str]) -> str:
    """Return a name of a view that is not taken, and take it."""
    while name in taken:
        name += ", covariate"
    taken.add(name)
    return name


def serial_views(dim: int) -> tuple[View, ...]:
    """Return the views of ordered rows that look for errors that follow each other."""
    return (
        View(
            "bias by errors before",
            "serial",
            Constant(),
            ErrorsBefore(own=True),
            "marginal",
            weight=_WEIGHT_OF_SERIAL,
            about="Errors have the sign of the error before, or the opposite one.",
        ),
        View(
            "spread by errors before",
            "serial",
            BoundedRadial(3.0 * dim),
            ErrorsBefore(),
            weight=_WEIGHT_OF_SERIAL,
            about="Errors are larger than claimed after large, or small, errors.",
        ),
    )


def functions_of(column: np.ndarray, clusters: Clusters | None) -> np.ndarray:
    """Return functions of a covariate, (n, t), of mean zero over rows in no order; t = 0 if all are alike."""
    ordered = clusters is not None and clusters.ordered
    series = clusters.series if ordered and clusters is not None else None
    if is_label(column):
        return _of_labels(column, ordered)
    numbers = column.astype(np.int64) if column.dtype.kind == "M" else column
    if np.min(numbers) == np.max(numbers):
        return np.zeros((len(numbers), 0))
    if ordered:  # ranks of a clock say nothing of errors to come, but for how long it will stand still
        ranks = ranks_below(numbers) if never_falls(numbers, series) else ranks_so_far(numbers, series)
        return np.asarray(legendre_curves(ranks, _ORDERS))
    curves = legendre_curves(ranks_of(numbers), _ORDERS)
    return np.asarray(curves - np.mean(curves, axis=0))


def never_falls(numbers: np.ndarray, series: np.ndarray | None) -> bool:
    """Return whether a covariate is a clock."""
    order = np.arange(len(numbers)) if series is None else np.argsort(series, kind="stable")
    falls = np.diff(numbers[order]) < 0
    if series is not None:
        falls &= np.diff(series[order]) == 0
    return not np.any(falls)


def _of_labels(column: np.ndarray, ordered: bool) -> np.ndarray:
    """Return the indicator of each label, (n, t), less its share or, of ordered rows, one over the number of labels.

    The share so far would be all there is of the label of the first rows, whose errors could then not be seen.
    """
    _, labels, counts = np.unique(column.astype(str), return_inverse=True, return_counts=True)
    often = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    often = often[counts[often] >= _FEWEST_OF_LABEL]
    if len(counts) == 1 or not len(often):
        return np.zeros((len(column), 0))
    indicators = (labels[:, None] == often[None, :]).astype(np.float64)
    others = 1.0 - np.sum(indicators, axis=1, keepdims=True)
    if np.sum(others) >= _FEWEST_OF_LABEL:
        indicators = np.concatenate([indicators, others], axis=1)
    shares = 1.0 / indicators.shape[1] if ordered else np.mean(indicators, axis=0)
    return np.asarray(indicators - shares)
