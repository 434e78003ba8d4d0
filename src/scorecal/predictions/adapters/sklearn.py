"""Predictions from Gaussian regressors of scikit-learn."""

from typing import Any

import numpy as np

from ..gaussian import Gaussian
from .dispatch import comes_from

_JITTER = 1e-10  # the default `alpha` of scikit-learn's Gaussian processes: for the Cholesky factor, not noise


def from_sklearn(model: Any, x: Any) -> Gaussian:
    """Predictions of a fitted regressor of scikit-learn for the inputs `x`.

    Parameters
    ----------
    model : GaussianProcessRegressor, BayesianRidge or ARDRegression
        Fitted model, or a fitted `Pipeline` that ends in one.
    x : array_like, shape (n, n_features)
        Inputs, as `model.predict` takes them.

    Returns
    -------
    Gaussian
        Predictions of the targets, noise included. `GaussianProcessRegressor.predict` includes the noise of a
        `WhiteKernel` but not that of `alpha`, which is added here.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> x = np.linspace(0.0, 1.0, 50)[:, None]
    >>> model = GaussianProcessRegressor(alpha=0.04, optimizer=None).fit(x, x[:, 0])
    >>> bool(np.all(sc.from_sklearn(model, x).scale > 0.2))
    True
    """
    last = model
    while comes_from(last, "sklearn.pipeline"):
        last = last[-1]
    names = {kind.__name__ for kind in type(last).__mro__ if kind.__module__.startswith("sklearn.")}
    if not names & {"GaussianProcessRegressor", "BayesianRidge", "ARDRegression"}:
        raise TypeError(
            "`model` must be a GaussianProcessRegressor, a BayesianRidge or an ARDRegression of scikit-learn, but is a "
            f"{type(last).__name__}. For a search, give its `best_estimator_`; for another regressor, use "
            "`sc.Gaussian(mean, scale)` with standard deviations of the targets, not of their mean."
        )
    noise = _noise_variance(last) if "GaussianProcessRegressor" in names else 0.0
    mean, std = model.predict(x, return_std=True)
    variance = std**2 + noise
    if not np.all(variance > 0):
        row = int(np.argwhere(~(variance > 0))[0][0])
        raise ValueError(
            f"`model` predicts a standard deviation of {np.min(std[row])} for row {row} of `x`. Likely cause: a "
            "Gaussian process without noise, at inputs that it was trained on; test other inputs, or give it a "
            "`WhiteKernel`."
        )
    return Gaussian(mean, np.sqrt(variance))


def _noise_variance(model: Any) -> Any:
    """Variance that `alpha` adds to the targets, in their units."""
    if not hasattr(model, "X_train_"):
        raise ValueError("`model` is not fitted; call `model.fit` first.")
    alpha = np.unique(model.alpha)
    if alpha.size > 1:
        raise ValueError(
            f"`model` has an `alpha` of {alpha.size} different noise variances, for its training targets; that of new "
            "targets is unknown. Add it yourself: `sc.Gaussian(mean, np.sqrt(std**2 + noise))`."
        )
    return alpha[0] * model._y_train_std**2 if alpha[0] > _JITTER else 0.0
