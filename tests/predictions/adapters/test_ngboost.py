"""Distributions of NGBoost: scores against finite differences, from the model to the verdict, refusals."""

import numpy as np
import pytest
from adapter_checks import LOC, N, check_scores, check_verdicts, log_normal, points_in
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(8)


def kinds():
    from ngboost import distns

    location, log_scale, log_shape = RNG.normal(size=(3, N)) * np.asarray([[1.0], [0.3], [0.3]])
    scale, shape = np.exp(log_scale), np.exp(log_shape)
    factor = np.zeros((N, 2, 2))
    factor[:, 0, 0], factor[:, 1, 0], factor[:, 1, 1] = scale + 1e-6, location, shape + 1e-6  # as in its source
    centre = np.stack([location, log_shape], axis=1)

    def full(y):
        return -0.5 * np.sum(((y - centre)[..., None, :] @ factor)[..., 0, :] ** 2, axis=-1)

    both = np.stack([location, log_scale])
    mvn = distns.MultivariateNormal(2)(np.stack([location, log_shape, log_scale, location, log_shape]))
    return {
        "Normal": (distns.Normal(both), lambda y: -0.5 * ((y[..., 0] - location) / scale) ** 2, "real"),
        "NormalFixedVar": (distns.NormalFixedVar(both[:1]), lambda y: -0.5 * (y[..., 0] - location) ** 2, "real"),
        "MultivariateNormal": (mvn, full, "real"),
        "Laplace": (distns.Laplace(both), lambda y: -np.abs(y[..., 0] - location) / scale, "real"),
        "TFixedDf": (distns.TFixedDf(both), lambda y: -2 * np.log(3 + ((y[..., 0] - location) / scale) ** 2), "real"),
        "LogNormal": (
            distns.LogNormal(both),
            lambda y: log_normal(np.log(y[..., 0]), location, scale),
            "positive",
        ),
        "Exponential": (distns.Exponential(both[1:]), lambda y: -y[..., 0] / scale, "positive"),
        "Gamma": (
            distns.Gamma(np.stack([log_shape, log_scale])),
            lambda y: (shape - 1) * np.log(y[..., 0]) - scale * y[..., 0],
            "positive",
        ),
    }


@pytest.mark.parametrize("kind", kinds())
def test_scores_against_finite_differences(kind):
    distribution, log_density, where = kinds()[kind]
    predictions = sc.from_ngboost(distribution)
    assert isinstance(predictions, sc.Gaussian) == ("Normal" in kind and kind != "LogNormal")
    check_scores(predictions, log_density, points_in(where, predictions.dim))
    assert sc.as_predictions(distribution).dim == predictions.dim


@pytest.mark.parametrize("kind", ["LogNormal", "Exponential", "Gamma"])
def test_from_the_model_to_the_verdict(kind):
    from ngboost import NGBRegressor, distns

    rng = np.random.default_rng(12)
    x = rng.uniform(size=(300, 1))
    y = rng.gamma(2.0 + x[:, 0])
    model = NGBRegressor(Dist=getattr(distns, kind), n_estimators=20, verbose=False, random_state=0).fit(x, y)
    predictions = sc.from_ngboost(model.pred_dist(x))
    assert type(sc.as_predictions(model, x)) is type(predictions)
    right = predictions.sample(1, rng=0)[0]
    check_verdicts(predictions, right, 0.6 * right)


def mistakes():
    from ngboost import NGBClassifier, NGBRegressor, distns

    return [
        (NGBRegressor(), TypeError, r"is the NGBRegressor itself; give `model.pred_dist\(X\)`"),
        (NGBClassifier(), TypeError, r"is the NGBClassifier itself; give `model.pred_dist\(X\)`"),
        (distns.Bernoulli(np.zeros((1, N))), TypeError, r"`sc.Categorical\(distribution.class_probs\(\)\)`"),
        (distns.k_categorical(3)(np.zeros((2, N))), TypeError, r"`sc.Categorical\(distribution.class_probs\(\)\)`"),
        (distns.LogitNormal(np.zeros((2, N))), TypeError, "LogitNormal, which holds no distribution of scipy"),
        (distns.Gamma(np.zeros((2, N)))[0], ValueError, r"but they have \(\)"),
        (
            stats.norm(LOC),
            TypeError,
            r"must be what `pred_dist\(X\)` of NGBoost returns, but is a rv_continuous_frozen",
        ),
    ]


@pytest.mark.parametrize("case", range(7))
def test_refusals(case):
    distribution, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_ngboost(distribution)
