"""Models of independent rows, fitted once to two thirds of them; the others are tested.

Folds would give more rows, but those are not independent: `benchmarks/cross_validation.py` shows what comes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of the rows to fit to, two thirds by chance, and of the rows to test, in their order."""
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[: 2 * n // 3]), np.sort(order[2 * n // 3 :])


def held_out(fit: Fit, x: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return targets, means and spreads of the rows that the model was not fitted to."""
    known, held = split(len(y), seed)
    return y[held], *fit(x[known], y[known], x[held])


def least_squares(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear regression; for y of several columns the spreads are covariances."""
    x, new = (np.column_stack([np.ones(len(a)), a]) for a in (x, new))
    inverse = np.linalg.pinv(x)
    residuals = y - x @ (inverse @ y)
    widened = (1.0 + np.sum((new @ inverse) ** 2, axis=1)) / (len(x) - np.linalg.matrix_rank(x))
    if y.ndim == 1:
        return new @ (inverse @ y), np.sqrt(widened * np.sum(residuals**2))
    return new @ (inverse @ y), widened[:, None, None] * (residuals.T @ residuals)


def weighted_by_spread(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear regression whose log spread is linear in the mean, by two rounds of weighted least squares."""
    design, other = (np.column_stack([np.ones(len(a)), a]) for a in (x, new))
    weight = np.ones(len(y))
    for _ in range(3):
        root = np.sqrt(weight)
        coefficients = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
        mean = design @ coefficients
        slope, level = np.polyfit(mean, np.log((y - mean) ** 2 + 1e-12), 1)
        weight = np.exp(-(slope * mean + level))
        weight /= weight.mean()
    shape, at = np.exp(0.5 * slope * mean), other @ coefficients
    scale = np.sqrt(np.sum(((y - mean) / shape) ** 2) / (len(y) - design.shape[1]))
    return at, scale * np.exp(0.5 * slope * at)


def forest(x: np.ndarray, y: np.ndarray, new: np.ndarray, out_of_bag: bool) -> tuple[np.ndarray, np.ndarray]:
    """Random forest with one spread for all rows: of its errors on rows it has seen, or of trees that have not."""
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(200, min_samples_leaf=3, oob_score=True, random_state=0).fit(x, y)
    errors = y - (model.oob_prediction_ if out_of_bag else model.predict(x))
    return model.predict(new), np.full(len(new), np.sqrt(np.mean(errors**2)))


in_sample_forest, out_of_bag_forest = partial(forest, out_of_bag=False), partial(forest, out_of_bag=True)


def neighbours(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the targets of the ten nearest rows."""
    centre, scale = x.mean(axis=0), x.std(axis=0) + 1e-12
    x, new = (x - centre) / scale, (new - centre) / scale
    nearest = np.argsort(((new[:, None] - x) ** 2).sum(axis=2), axis=1)[:, :10]
    return y[nearest].mean(axis=1), y[nearest].std(axis=1, ddof=1) + 1e-9


def gaussian_process(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian process with a squared-exponential kernel and noise, its parameters of greatest likelihood."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    centre, scale = x.mean(axis=0), x.std(axis=0) + 1e-12
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(3.0, (1e-2, 1e3)) + WhiteKernel(0.3, (1e-4, 1e2))
    model = GaussianProcessRegressor(kernel, normalize_y=True).fit((x - centre) / scale, y)
    return model.predict((new - centre) / scale, return_std=True)
