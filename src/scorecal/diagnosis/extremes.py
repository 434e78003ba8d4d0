"""The rows that are farthest from their own predictions, and how rare a row so far away is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import to_numpy
from ..predictions import Gaussian, GaussianMixture, Samplable, draw_samples
from ..predictions.noisy import Noisy
from ..resampling.clusters import Clusters
from ..results import CombinedResult
from ..views.far_rows import rows_apart
from .residuals import Residuals

_N_EXTREMES = 10
_LEAST = float(np.finfo(np.float64).tiny)  # smaller p-values underflow
_FEWEST_DRAWS, _MOST_DRAWS, _MOST_NUMBERS = 99, 9999, 10**7


@dataclass(frozen=True)
class ExtremeRow:
    """A row that is far from its own prediction.

    Attributes
    ----------
    row : int
        Its number in the given data, from 0.
    distance : float
        Length of target less mean, in predicted standard deviations (along all directions together).
    pvalue : float
        Probability of a distance so large under its own prediction: exact for Gaussians; for mixtures of Gaussians, at
        most that of a distance so large from the nearest component; from draws for others that can be sampled. NaN
        where none is possible, or draws would be too many. Never 0.
    adjusted_pvalue : float
        The same for the largest of n such rows, 1 - (1 - p)^n: for having looked at all of them.
    """

    row: int
    distance: float
    pvalue: float
    adjusted_pvalue: float


def extreme_rows(predictions: Any, found: Residuals, rng: np.random.Generator) -> tuple[ExtremeRow, ...]:
    """Return the ten rows that are farthest from their predictions, the farthest first."""
    squared = np.sum(found.plain**2, axis=1)
    far = np.argsort(-squared, kind="stable")[:_N_EXTREMES]
    return extremes_of(
        found.rows[far], squared[far], _pvalues(predictions, found, far, squared[far], rng), len(squared)
    )


def extremes_of(rows: np.ndarray, squared: np.ndarray, pvalues: np.ndarray, n: int) -> tuple[ExtremeRow, ...]:
    """Return the farthest of n rows, from their numbers, squared distances and p-values."""
    with np.errstate(divide="ignore"):
        adjusted = np.maximum(-np.expm1(n * np.log1p(-pvalues)), _LEAST)
    columns = (rows, np.sqrt(squared), pvalues, adjusted)
    return tuple(ExtremeRow(*each) for each in zip(*(column.tolist() for column in columns), strict=True))


def outliers_in(found: Residuals, result: CombinedResult, clusters: Clusters | None, fewest: int) -> np.ndarray:
    """Return which rows are far beyond all others, if the test names outliers and enough rows are left.

    All sizes would rest on them. Where there is no such gap, far rows may be those of heavy tails, which belong to the
    spread.
    """
    none = np.zeros(len(found.rows), dtype=bool)
    far = rows_apart(found.plain) if "outliers" in result.seen else none
    in_clusters = clusters is None or len(np.unique(clusters.labels[found.rows[~far]])) > 1
    return far if in_clusters and np.sum(~far) >= fewest else none


@dataclass(frozen=True, eq=False)
class FarSums:
    """The farthest rows so far: their numbers, squared distances and p-values, the farthest first."""

    rows: np.ndarray
    squared: np.ndarray
    pvalues: np.ndarray

    def __add__(self, other: "FarSums") -> "FarSums":
        rows, squared, pvalues = (
            np.concatenate(pair)
            for pair in ((self.rows, other.rows), (self.squared, other.squared), (self.pvalues, other.pvalues))
        )
        far = np.lexsort((rows, -squared))[:_N_EXTREMES]
        return FarSums(rows[far], squared[far], pvalues[far])


def far_sums(predictions: Any, found: Residuals, first: int) -> FarSums:
    """Return the farthest rows of a batch, of which the first has the number `first`; p-values where none are drawn."""
    squared = np.sum(found.plain**2, axis=1)
    far = np.argsort(-squared, kind="stable")[:_N_EXTREMES]
    known = isinstance(predictions, Gaussian | GaussianMixture)
    no_draws = np.random.default_rng(0)
    pvalues = _pvalues(predictions, found, far, squared[far], no_draws) if known else np.full(len(far), np.nan)
    return FarSums(found.rows[far] + first, squared[far], pvalues)


def _pvalues(
    predictions: Any, found: Residuals, far: np.ndarray, squared: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    from scipy.special import chdtrc

    d = found.whitened.shape[1]
    law: Any = predictions.convolved if isinstance(predictions, Noisy) else predictions
    if type(law) is Gaussian:
        return np.asarray(np.maximum(chdtrc(d, squared), _LEAST))
    if isinstance(law, GaussianMixture) and law is predictions:
        return np.asarray(np.maximum(chdtrc(d, _squared_from_nearest(law, found, far)), _LEAST))
    n_draws = min(_MOST_DRAWS, _MOST_NUMBERS // (law.n * d))
    in_units_of_targets = found.source == "moments" or found.coordinates == "identity"
    known: Any = law if isinstance(law, Samplable) and in_units_of_targets else None
    if known is None or n_draws < _FEWEST_DRAWS:
        return np.full(len(far), np.nan)
    draws = to_numpy(draw_samples(known, n_draws, rng)).astype(np.float64)[found.rows[far]]
    gaps = draws - found.location[far][:, None, :]
    if found.root.ndim == 2:
        drawn = np.sum((gaps / found.sd[far][:, None, :]) ** 2, axis=2)
    else:
        roots = found.root[far] * found.sd[far][:, :, None]
        drawn = np.sum(np.linalg.solve(roots, np.swapaxes(gaps, 1, 2)) ** 2, axis=1)
    return np.asarray((1.0 + np.sum(drawn >= squared[:, None], axis=1)) / (1.0 + n_draws))


def _squared_from_nearest(mixture: GaussianMixture, found: Residuals, far: np.ndarray) -> np.ndarray:
    """Squared distances of some rows from the nearest component, in units of its own: at most those from the right."""
    rows = found.rows[far]
    y = found.location[far] - found.plain_marginal[far] * found.sd[far]
    weights, means, scales = (to_numpy(each)[rows].astype(np.float64) for each in mixture.components())
    squares = np.sum((y[:, None, :] - means) ** 2 / scales, axis=2)
    return np.asarray(np.min(np.where(weights > 0, squares, np.inf), axis=1))
