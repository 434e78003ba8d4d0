"""Distributions of skpro: distribution functions with and without jumps, members, verdicts, refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(9)
N = 200
MEAN = RNG.normal(size=(N, 1))
RATE = np.exp(RNG.normal(size=(N, 1)))


def made(name, *args, **options):
    from skpro import distributions

    return getattr(distributions, name)(*args, **options)


def mixed():
    """Zero with probability .3, otherwise exponential."""
    return made("ZeroInflated", 0.7, made("Exponential", 1.0 / RATE))


KINDS = {
    "Laplace": (lambda: made("Laplace", MEAN, 0.5), lambda y: (stats.laplace.cdf(y, MEAN, 0.5),) * 2),
    "TDistribution": (lambda: made("TDistribution", MEAN, 1.0, 1.0), lambda y: (stats.t.cdf(y, 1.0, MEAN),) * 2),
    "Gamma": (lambda: made("Gamma", RATE, 2.0), lambda y: (stats.gamma.cdf(y, RATE, scale=0.5),) * 2),
    "Poisson": (lambda: made("Poisson", RATE), lambda y: (stats.poisson.cdf(y - 1, RATE), stats.poisson.cdf(y, RATE))),
    "NegativeBinomial": (
        lambda: made("NegativeBinomial", mu=RATE, alpha=2.0),
        lambda y: tuple(stats.nbinom.cdf(y - step, 2.0, 2.0 / (2.0 + RATE)) for step in (1, 0)),
    ),
    "ZeroInflated": (
        mixed,
        lambda y: (0.3 * (y > 0) + 0.7 * stats.expon.cdf(y, scale=RATE), 0.3 + 0.7 * stats.expon.cdf(y, scale=RATE)),
    ),
}


def targets_of(name):
    size = (N, 1)
    return {
        "Laplace": MEAN + RNG.laplace(scale=0.5, size=size),
        "TDistribution": MEAN + RNG.standard_cauchy(size=size),
        "Gamma": RNG.gamma(RATE, 0.5),
        "Poisson": RNG.poisson(RATE).astype(float),
        "NegativeBinomial": RNG.negative_binomial(2.0, 2.0 / (2.0 + RATE)).astype(float),
        "ZeroInflated": np.where(RNG.random(size) < 0.3, 0.0, RNG.exponential(RATE)),
    }[name]


@pytest.mark.parametrize("name", KINDS)
def test_distribution_functions_with_and_without_jumps(name):
    make, expected = KINDS[name]
    predictions, y = sc.as_predictions(make()), targets_of(name)
    assert (predictions.n, predictions.dim) == (N, 1)
    for found, bound in zip(predictions.cdf_bounds(y), expected(y), strict=True):
        np.testing.assert_allclose(found, bound, rtol=1e-9, atol=1e-12)
    assert not sc.calibration_test(predictions, y, rng=0).rejects(0.01)
    assert sc.calibration_test(predictions, 2.0 * y + 1.0, rng=0).rejects(0.01)


def test_where_moments_are_infinite_quartiles_stand_for_them():
    predictions = sc.as_predictions(made("TDistribution", MEAN, 2.0, 1.0))
    np.testing.assert_allclose(predictions.mean, MEAN, atol=1e-6)
    np.testing.assert_allclose(predictions.scale, 2.0 / stats.norm.ppf(0.75), rtol=1e-6)


def test_normal_and_several_columns():
    scale = np.exp(RNG.normal(size=(N, 2)))
    predictions = sc.as_predictions(made("Normal", np.hstack([MEAN, RATE]), scale))
    assert repr(predictions) == "Gaussian(n=200, dim=2, diagonal)"
    np.testing.assert_allclose(predictions.scale, scale)


@pytest.mark.parametrize("labels", [list(range(5)), list("edcba")])
def test_draws_with_equal_weights_are_members(labels):
    draws = RNG.normal(size=(4, 5, 2))
    index = pd.MultiIndex.from_product([range(4), labels])
    frame = pd.DataFrame(draws.reshape(20, 2), index=index, columns=["a", "b"])
    empirical = made("Empirical", frame)
    order = [labels.index(label) for label in empirical.index]
    np.testing.assert_array_equal(sc.as_predictions(empirical).members, draws[:, order].transpose(1, 0, 2))
    weighted = made("Empirical", frame, weights=pd.Series(np.linspace(1.0, 2.0, 20), index=index))
    assert isinstance(sc.as_predictions(weighted), sc.CdfFunction)


def test_from_the_model_to_the_verdict():
    from skpro.regression.linear import BayesianRidge

    x = pd.DataFrame(RNG.normal(size=(400, 2)), columns=["a", "b"])
    y = pd.DataFrame({"y": x["a"] + RNG.normal(size=400)})
    model = BayesianRidge().fit(x[:200], y[:200])
    predictions = sc.as_predictions(model, x[200:])
    assert not sc.calibration_test(predictions, y[200:], rng=0).rejects(0.01)
    assert sc.calibration_test(predictions, 2.0 * y[200:], rng=0).rejects(0.01)
    quantiles = sc.as_predictions(model.predict_quantiles(x[200:], alpha=[0.9, 0.1, 0.5]))
    np.testing.assert_allclose(quantiles.values[:, 1], predictions.moments()[0][:, 0])
    with pytest.raises(ValueError, match="is a regressor of skpro, which needs `x`, the inputs"):
        sc.as_predictions(model)


def mistakes():
    return [
        (stats.norm(0.0), TypeError, "must be a distribution of skpro, but is a rv_continuous_frozen"),
        (made("Normal", 0.0, 1.0), ValueError, r"is a Normal of shape \(\). Likely cause: parameters that are numbers"),
    ]


@pytest.mark.parametrize("case", range(2))
def test_refusals(case):
    distribution, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_skpro(distribution)
