"""The rows that are farthest from their own predictions, and how rare a row so far away is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lib.arrays import to_numpy
from ..predictions import Gaussian, Samplable, draw_samples
from ..predictions.noisy import Noisy
from .residuals import Residuals

_N_EXTREMES = 10
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
        Probability of a distance so large under its own prediction: exact for Gaussians, from draws for other
        predictions with moments that can be sampled; NaN where neither is possible, or draws would be too many.
    adjusted_pvalue : float
        The same for the largest of n such rows, 1 - (1 - p)^n: for having looked at all of them.
    """

    row: int
    distance: float
    pvalue: float
    adjusted_pvalue: float


def extreme_rows(predictions: Any, found: Residuals, rng: np.random.Generator) -> tuple[ExtremeRow, ...]:
    """Return the ten rows that are farthest from their predictions, the farthest first."""
    squared = np.sum(found.whitened**2, axis=1)
    n = len(squared)
    far = np.argsort(-squared, kind="stable")[:_N_EXTREMES]
    pvalues = _pvalues(predictions, found, far, squared[far], rng)
    with np.errstate(divide="ignore"):
        adjusted = -np.expm1(n * np.log1p(-pvalues))
    columns = (found.rows[far], np.sqrt(squared[far]), pvalues, adjusted)
    return tuple(ExtremeRow(*each) for each in zip(*(column.tolist() for column in columns), strict=True))


def _pvalues(
    predictions: Any, found: Residuals, far: np.ndarray, squared: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    from scipy.special import chdtrc

    d = found.whitened.shape[1]
    law: Any = predictions.convolved if isinstance(predictions, Noisy) else predictions
    if type(law) is Gaussian:
        return np.asarray(chdtrc(d, squared))
    n_draws = min(_MOST_DRAWS, _MOST_NUMBERS // (law.n * d))
    known: Any = law if isinstance(law, Samplable) and found.source == "moments" else None
    if known is None or n_draws < _FEWEST_DRAWS:
        return np.full(len(far), np.nan)
    draws = to_numpy(draw_samples(known, n_draws, rng)).astype(np.float64)[found.rows[far]]
    roots = found.root[far] * found.sd[far][:, :, None]
    gaps = np.swapaxes(draws - found.location[far][:, None, :], 1, 2)
    drawn = np.sum(np.linalg.solve(roots, gaps) ** 2, axis=1)
    return np.asarray((1.0 + np.sum(drawn >= squared[:, None], axis=1)) / (1.0 + n_draws))
