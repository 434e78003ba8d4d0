"""One model on one set of real data: its predictions, what came true, and residuals that are N(0, 1) if calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import scorecal as sc


@dataclass(frozen=True, eq=False)
class Case:
    """Out-of-sample predictions of one model.

    Attributes
    ----------
    data, model : str
        Names of the set, with the horizon, and of the model.
    predictions, y : Predictions, ndarray of shape (n, d)
        As `calibration_test` takes them.
    z : ndarray, shape (n, d)
        Normal quantiles of the probability integral transform of each target; whitened residuals for d > 1.
    mean : ndarray, shape (n, d)
        Predicted means.
    horizon : int, optional
        Rows that a forecast looks ahead; None for rows in no order.
    groups : ndarray of shape (n,), optional
        Labels of rows that belong together.
    """

    data: str
    model: str
    predictions: Any
    y: np.ndarray
    z: np.ndarray
    mean: np.ndarray
    horizon: int | None = None
    groups: np.ndarray | None = None


def gaussian(data: str, model: str, y: np.ndarray, mean: np.ndarray, sd: np.ndarray, **rows: Any) -> Case:
    """Return a case of Gaussian predictions, with independent dimensions if there are several."""
    y, mean, sd = (_columns(a) for a in (y, mean, sd))
    return Case(data, model, sc.Gaussian(mean, sd), y, (y - mean) / sd, mean, **rows)


def correlated(data: str, model: str, y: np.ndarray, mean: np.ndarray, cov: np.ndarray, **rows: Any) -> Case:
    """Return a case of Gaussian predictions with full covariances."""
    z = np.linalg.solve(np.linalg.cholesky(cov), (y - mean)[..., None])[..., 0]
    return Case(data, model, sc.Gaussian(mean, covariance=cov), y, z, mean, **rows)


def from_scipy(data: str, model: str, y: np.ndarray, distribution: Any, **rows: Any) -> Case:
    """Return a case of any continuous distribution of `scipy.stats`, one for each row."""
    below, above = distribution.cdf(y), distribution.sf(y)
    z = np.where(below < 0.5, stats.norm.ppf(below), stats.norm.isf(above))
    predictions = sc.as_predictions(distribution)
    return Case(data, model, predictions, _columns(y), _columns(z), _columns(distribution.mean()), **rows)


def _columns(a: np.ndarray) -> np.ndarray:
    a = np.asarray(a, dtype=float)
    return a[:, None] if a.ndim == 1 else a
