"""Predictions from Gaussian regressors and from classifiers of scikit-learn, and of libraries with its interface."""

from typing import Any

import numpy as np

from ..categorical import Categorical
from ..gaussian import Gaussian
from .dispatch import comes_from

_JITTER = 1e-10  # the default `alpha` of scikit-learn's Gaussian processes: for the Cholesky factor, not noise


def from_sklearn(model: Any, x: Any) -> Gaussian | Categorical:
    """Predictions of a fitted regressor or classifier of scikit-learn for the inputs `x`.

    Parameters
    ----------
    model : GaussianProcessRegressor, BayesianRidge, ARDRegression or a classifier
        Fitted model, or a fitted `Pipeline` that ends in one. Classifiers need `predict_proba`.
    x : array_like, shape (n, n_features)
        Inputs, as `model.predict` takes them.

    Returns
    -------
    Gaussian or Categorical
        Of a classifier, probabilities of its `classes_`, which label the targets. Of a regressor, predictions of the
        targets, noise included. `GaussianProcessRegressor.predict` includes the noise of a
        `WhiteKernel` but not that of `alpha`, which is added here.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> x = np.linspace(0.0, 1.0, 50)[:, None]
    >>> model = GaussianProcessRegressor(alpha=0.04, optimizer=None).fit(x, x[:, 0])
    >>> bool(np.all(sc.from_sklearn(model, x).scale > 0.2))
    True
    >>> from sklearn.linear_model import LogisticRegression
    >>> classifier = LogisticRegression().fit(x, np.where(x[:, 0] > 0.4, "late", "early"))
    >>> sc.from_sklearn(classifier, x).labels
    ('early', 'late')
    """
    last = model
    while comes_from(last, "sklearn.pipeline"):
        last = last[-1]
    if _is_classifier(last):
        return _of_classifier(model, x)
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


def _is_classifier(model: Any) -> bool:
    """Return whether a model gives probabilities of classes, or would if it could."""
    return (
        getattr(model, "_estimator_type", None) == "classifier"
        or callable(getattr(model, "predict_proba", None))
        or (comes_from(model, "sklearn") and any(kind.__name__ == "ClassifierMixin" for kind in type(model).__mro__))
    )


def _of_classifier(model: Any, x: Any) -> Categorical:
    name = type(model).__name__
    if not callable(getattr(model, "predict_proba", None)):
        raise TypeError(
            f"`model` is a {name} without `predict_proba`, so that there are no probabilities to test. Likely cures: "
            "`probability=True`, a loss with probabilities, or `CalibratedClassifierCV`."
        )
    labels = getattr(model, "classes_", None)
    if labels is None:
        raise ValueError(
            f"`model` is a {name} without `classes_`. Likely cause: it is not fitted; call `model.fit` first."
        )
    found = model.predict_proba(x)
    if isinstance(found, list) or isinstance(labels, list) or np.ndim(found) != 2:
        raise TypeError(
            f"`model` is a {name} whose `predict_proba` does not give one probability for each of its `classes_`. "
            "Likely cause: several targets at once; give `sc.Categorical(p)` for one of them."
        )
    return Categorical(found, labels=labels)


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
