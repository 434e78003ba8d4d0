"""One door for models of all libraries: where it leads, and what it refuses."""

from functools import cache

import numpy as np
import pytest
import torch
from adapter_checks import LOC, SHAPE, N, flow
from backends import make_backend
from scipy import stats

import scorecal as sc

X = np.linspace(-2.0, 2.0, 200)[:, None]


def test_the_door_leads_to_each_adapter():
    from numpyro import distributions as numpyro
    from sklearn.linear_model import BayesianRidge

    jnp = make_backend("jax").xp
    gaussian = sc.Gaussian(LOC, 1.0)
    categorical = sc.Categorical(np.full((N, 2), 0.5))
    function = sc.ScoreFunction(lambda y: -y, n=N, dim=2)
    for unchanged in (gaussian, categorical, function):
        assert sc.as_predictions(unchanged) is unchanged
    for distribution, adapter in (
        (torch.distributions.StudentT(3.0, torch.asarray(LOC)), "TorchDistribution"),
        (numpyro.StudentT(3.0, jnp.asarray(LOC)), "NumpyroDistribution"),
        (stats.t(3.0, LOC), "ScipyDistribution"),
    ):
        assert type(sc.as_predictions(distribution)).__name__ == adapter
    assert type(sc.as_predictions(flow(2), jnp.ones((N, 3)))) is sc.LogDensity
    assert sc.as_predictions(BayesianRidge().fit(X, np.sin(2.0 * X[:, 0])), X[:50]).n == 50


def test_the_door_of_posteriors():
    """Of whatever is defined in a module of sbi; `test_sbi` goes through it with a posterior."""
    posterior = type("Posterior", (), {"__module__": "sbi.inference.posteriors.direct_posterior"})()
    with pytest.raises(ValueError, match="a posterior of sbi, which needs `x`, the observations"):
        sc.as_predictions(posterior)
    with pytest.raises(TypeError, match="`posterior` must be"):
        sc.as_predictions(posterior, torch.zeros(N, 2))


@cache
def door_mistakes():
    from ngboost import NGBRegressor
    from sklearn.linear_model import BayesianRidge, LogisticRegression

    return [
        (BayesianRidge(), None, ValueError, "needs `x`, the inputs, one row for each prediction"),
        (flow(2), None, ValueError, "needs `x`, the conditions"),
        (stats.t(3.0, LOC), X, ValueError, "leave `x` out"),
        (torch.distributions.StudentT(3.0, torch.asarray(LOC)), X, ValueError, "leave `x` out"),
        (sc.Gaussian(LOC, 1.0), X, ValueError, "is a batch of predictions already.* leave `x` out"),
        (NGBRegressor(), None, TypeError, r"give `model.pred_dist\(X\)`"),
        (LogisticRegression(), X, ValueError, "`model` is a LogisticRegression without `classes_`"),
        ((LOC, SHAPE), None, TypeError, r"is a tuple of numbers.*`sc.Gaussian\(mean, scale\)`"),
        (LOC, None, TypeError, r"is a ndarray of numbers.*`sc.Gaussian\(mean, scale\)`"),
        (torch.asarray(LOC), None, TypeError, r"is a Tensor of numbers.*`sc.Gaussian\(mean, scale\)`"),
        (sc.Gaussian, None, TypeError, "is the class Gaussian itself"),
        (object(), None, TypeError, "is a object. Understood are: .*sbi; .*torch.*numpyro.*scipy.*NGBoost.*flowjax.*"
         "scikit-learn.*`sc.ScoreFunction.*`sc.LogDensity"),
        (torch.nn.Linear(2, 2), None, TypeError, "is a Linear. Understood are"),
        (None, None, TypeError, "is a NoneType"),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(14))
def test_the_door_refuses(case):
    obj, x, error, message = door_mistakes()[case]
    with pytest.raises(error, match=message):
        sc.as_predictions(obj, x)


def test_packages_are_told_apart_by_whole_names():
    with pytest.raises(TypeError, match=r"is a Frozen[.] Understood are"):
        sc.as_predictions(type("Frozen", (), {"__module__": "scipy.statsmodels"})())
    with pytest.raises(TypeError, match=r"must be a frozen distribution of `scipy.stats`"):
        sc.as_predictions(type("Frozen", (), {"__module__": "scipy.stats"})())
