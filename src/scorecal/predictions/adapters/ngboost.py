"""Predictions from distributions of NGBoost."""

from typing import Any

from ..gaussian import Gaussian
from ..protocol import Predictions
from .discrete import IntegerPredictions
from .dispatch import comes_from
from .scipy import from_scipy


def from_ngboost(distribution: Any) -> Predictions | IntegerPredictions:
    """Predictions from what `pred_dist(X)` of a model of NGBoost returns.

    Parameters
    ----------
    distribution : ngboost.distns.RegressionDistn
        Distributions of n rows.

    Returns
    -------
    Predictions
        `Gaussian` for `Normal` and `MultivariateNormal`; otherwise what `from_scipy` makes of it.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> from ngboost.distns import LogNormal
    >>> sc.from_ngboost(LogNormal(np.zeros((2, 50))))
    ScipyDistribution(n=50, dim=1, lognorm)
    """
    kind = type(distribution)
    if comes_from(distribution, "ngboost") and hasattr(kind, "pred_dist"):
        raise TypeError(f"`distribution` is the {kind.__name__} itself; give `model.pred_dist(X)`.")
    if not comes_from(distribution, "ngboost.distns"):
        raise TypeError(f"`distribution` must be what `pred_dist(X)` of NGBoost returns, but is a {kind.__name__}.")
    # Attributes are looked up in the class and in `vars`: instances have every attribute, as None.
    if hasattr(kind, "class_probs"):
        raise TypeError(
            "`distribution` predicts classes, which have no scores; use `sc.Categorical(distribution.class_probs())`."
        )
    if comes_from(distribution, "ngboost.distns.multivariate_normal"):
        covariance = distribution.cov
        symmetric = 0.5 * (covariance + covariance.mT)  # an inverse is not exactly symmetric
        return Gaussian(distribution.loc, covariance=symmetric)
    if "dist" not in vars(distribution):
        raise TypeError(
            f"`distribution` is NGBoost's {kind.__name__}, which holds no distribution of scipy; give its scores "
            "in a `sc.ScoreFunction`."
        )
    return from_scipy(distribution.dist)
