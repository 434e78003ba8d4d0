"""Predictions from models and distributions of any supported library."""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from ..categorical import Categorical
from ..protocol import Predictions


class _Kind(NamedTuple):
    """One kind of object that `as_predictions` takes."""

    package: str  # defines the class of the object, or a base class
    attribute: str  # the object must also have it
    function: str
    x: str  # meaning of `x`; empty where it is not used
    description: str
    many: bool = False  # it may also be a list of them


_METHODS = (  # of models, which make of `x` what is taken below
    ("ngboost", "pred_dist"),
    ("zuko", "forward"),
    ("skpro.regression", "predict_proba"),
    ("sktime.forecasting", "predict_proba"),
)
_KINDS = (  # order matters: sbi has distributions of torch, and models of NGBoost are scikit-learn's too
    _Kind("sbi.inference", "", "sbi.from_sbi", "the observations", "a posterior of sbi"),
    _Kind("gpytorch.distributions", "covariance_matrix", "gpytorch.from_gpytorch", "", "a distribution of gpytorch"),
    _Kind("torch.distributions", "log_prob", "torch.from_torch", "",
          "a distribution of torch, such as `flow(context)` of zuko"),
    _Kind("numpyro.distributions", "log_prob", "numpyro.from_numpyro", "", "a distribution of numpyro"),
    _Kind("skpro.distributions", "cdf", "skpro.from_skpro", "", "a distribution of skpro or sktime"),
    _Kind("scipy.stats", "", "scipy.from_scipy", "", "a frozen distribution of `scipy.stats`"),
    _Kind("ngboost", "", "ngboost.from_ngboost", "", "what `pred_dist(X)` of NGBoost returns"),
    _Kind("flowjax", "cond_shape", "flowjax.from_flowjax", "the conditions", "a distribution of flowjax"),
    _Kind("sklearn", "predict", "sklearn.from_sklearn", "the inputs",
          "a Gaussian regressor or a classifier of scikit-learn"),
    _Kind("arviz", "groups", "arviz.from_arviz", "", "an InferenceData of arviz"),
    _Kind("xarray", "groups", "arviz.from_arviz", "", "a DataTree of arviz"),
    _Kind("zuko", "forward", "torch.from_torch", "the contexts", "a flow of zuko"),
    _Kind("skpro.regression", "predict_proba", "skpro.from_skpro", "the inputs", "a regressor of skpro"),
    _Kind("sktime.forecasting", "predict_proba", "skpro.from_skpro", "the horizon (fh)", "a forecaster of sktime"),
    _Kind("gluonts", "prediction_length", "gluonts.from_gluonts", "", "forecasts of GluonTS", many=True),
    _Kind("darts", "all_values", "darts.from_darts", "", "forecasts of darts", many=True),
    _Kind("pandas", "columns.levels", "sktime.from_sktime", "",
          "a frame of `predict_quantiles` or `predict_interval` of sktime"),
    _Kind("pandas", "columns", "nixtla.from_nixtla", "", "a table with columns such as `AutoARIMA-lo-90` of Nixtla"),
    _Kind("polars", "columns", "nixtla.from_nixtla", "", "a table with columns such as `AutoARIMA-lo-90` of Nixtla"),
    _Kind("", "predict_proba", "sklearn.from_sklearn", "the inputs", "a classifier with `predict_proba`"),
)  # fmt: skip


def as_predictions(obj: Any, x: Any = None) -> Any:
    """Predictions from a model or a distribution of any supported library.

    Parameters
    ----------
    obj : object
        Predictions, which are returned as they are; a distribution of torch (zuko's flows included), numpyro,
        gpytorch, skpro or `scipy.stats`, or what `pred_dist(X)` of NGBoost returns; an `InferenceData` or `DataTree` of
        arviz; forecasts of GluonTS or darts; a frame of sktime or Nixtla; and, with `x`, a posterior of sbi, a
        conditional distribution of flowjax, a flow of zuko, a fitted regressor of scikit-learn, NGBoost or skpro, a
        forecaster of sktime, or a classifier with `predict_proba`.
    x : array, shape (n, ...), optional
        Observations, conditions, inputs or steps to predict for, one row for each prediction.

    Returns
    -------
    Predictions
        What the function for that library returns, such as `from_torch`.

    Examples
    --------
    >>> import numpy as np, scipy.stats, scorecal as sc
    >>> sc.as_predictions(scipy.stats.gamma(np.linspace(1.0, 5.0, 200)))
    ScipyDistribution(n=200, dim=1, gamma)
    >>> from sklearn.linear_model import BayesianRidge
    >>> x = np.linspace(0.0, 1.0, 50)[:, None]
    >>> sc.as_predictions(BayesianRidge().fit(x, np.sin(9.0 * x[:, 0])), x)
    Gaussian(n=50, dim=1, isotropic)
    """
    if _is_predictions(obj):
        _check_x(x, "", f"`obj` is a batch of predictions already, {obj!r}")
        return obj
    if x is not None:
        obj, x = _predicted(obj, x)
    if not isinstance(obj, type):
        for kind in _KINDS:
            one = obj[0] if kind.many and isinstance(obj, tuple | list) and obj else obj
            if comes_from(one, kind.package) and _has(one, kind.attribute):
                _check_x(x, kind.x, f"`obj` is {kind.description}")
                return _call(kind, obj, x)
    if isinstance(obj, tuple | list) or is_array_api_obj(obj):
        raise TypeError(
            f"`obj` is a {type(obj).__name__} of numbers, whose meaning is unknown; for means and standard "
            "deviations use `sc.Gaussian(mean, scale)`, for scores `sc.Scores(at_targets, at_base)`, for draws "
            "`sc.from_samples(draws)`, for quantiles `sc.from_quantiles(levels, values)`, and for probabilities of "
            "classes `sc.Categorical(probabilities)`."
        )
    found = f"the class {obj.__name__} itself" if isinstance(obj, type) else f"a {type(obj).__name__}"
    understood = "; ".join(dict.fromkeys(kind.description for kind in _KINDS))
    raise TypeError(
        f"`obj` is {found}. Understood are: predictions of scorecal; {understood}. For any other "
        "model use `sc.ScoreFunction(score, n, dim)` or `sc.LogDensity(log_density, x, dim)`."
    )


def comes_from(obj: Any, package: str) -> bool:
    """Return whether the class of `obj`, or a base class, is defined in `package`, "" for any; import nothing."""
    return not package or any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(obj).__mro__)


def _predicted(obj: Any, x: Any) -> tuple[Any, Any]:
    """Return what a model predicts for `x`, and no `x`; anything else as it is."""
    for package, method in _METHODS:
        if comes_from(obj, package) and hasattr(type(obj), method):
            return getattr(obj, method)(x), None
    return obj, x


def _has(obj: Any, path: str) -> bool:
    """Return whether an object has an attribute, or one of an attribute, such as `columns.levels`."""
    for name in path.split(".") if path else ():
        if not hasattr(obj, name):
            return False
        obj = getattr(obj, name)
    return True


def _is_predictions(obj: Any) -> bool:
    """Return whether `obj` is predictions, by types: distributions of NGBoost have every attribute, as None."""
    if isinstance(obj, type):
        return False
    sizes = (getattr(obj, "n", None), getattr(obj, "dim", None))
    known = any(callable(getattr(obj, method, None)) for method in ("score", "cdf_bounds", "ranked"))
    is_batch = all(isinstance(size, int | np.integer) for size in sizes) and known
    return is_batch or comes_from(obj, "scorecal.predictions.categorical")


def _check_x(x: Any, needed: str, found: str) -> None:
    if needed and x is None:
        raise ValueError(f"{found}, which needs `x`, {needed}, one row for each prediction.")
    if not needed and x is not None:
        raise ValueError(f"{found}, which needs no `x`: leave `x` out.")


def _call(kind: _Kind, obj: Any, x: Any) -> Predictions | Categorical:
    module, function = kind.function.split(".")
    adapter = getattr(import_module(f".{module}", __package__), function)
    predictions: Predictions | Categorical = adapter(obj, x) if kind.x else adapter(obj)
    return predictions
