"""Regressors of scikit-learn: their noise counted once, verdicts, refusals."""

import numpy as np
import pytest
from adapter_checks import N, check_scores

import scorecal as sc

RNG = np.random.default_rng(7)
INPUTS = RNG.uniform(-2.0, 2.0, size=(200, 1))
NEW = RNG.uniform(-2.0, 2.0, size=(200, 1))


def process(**options):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    white = options.pop("white", None)
    kernel = RBF(0.8) if white is None else RBF(0.8) + WhiteKernel(white)
    return GaussianProcessRegressor(kernel, optimizer=None, **options)


def outcome(x, n_outputs=1, seed=14):
    mean = np.sin(2.0 * x) * 10.0 ** np.arange(n_outputs)
    noise = np.random.default_rng(seed).normal(size=mean.shape)
    return np.squeeze(mean + 0.5 * 10.0 ** np.arange(n_outputs) * noise)


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_noise_of_a_gaussian_process_is_counted_once(normalize_y, n_outputs):
    y = outcome(INPUTS, n_outputs)
    as_alpha, as_array, as_kernel = (
        sc.from_sklearn(process(normalize_y=normalize_y, **options).fit(INPUTS, y), NEW)
        for options in ({"alpha": 0.25}, {"alpha": np.full(200, 0.25)}, {"white": 0.25})
    )
    assert as_alpha.mean.shape == (200, n_outputs)
    for other in (as_array, as_kernel):
        np.testing.assert_allclose(as_alpha.mean, other.mean, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(as_alpha.scale, other.scale, rtol=1e-6)
    unit = np.std(y, axis=0) if normalize_y else np.ones(n_outputs)
    latent = process(normalize_y=normalize_y, alpha=0.25).fit(INPUTS, y).predict(NEW, return_std=True)[1]
    expected = np.reshape(latent, (200, -1)) ** 2 + 0.25 * unit**2
    np.testing.assert_allclose(as_alpha.scale**2, expected, rtol=1e-10)


def test_gaussian_process_verdicts():
    """Of one that knows the mean almost perfectly: its error there, which all new targets share, is no noise."""
    x = np.linspace(-2.0, 2.0, 1000)[:, None]
    model = process(alpha=0.25).fit(x, outcome(x))
    y = outcome(NEW, seed=15)
    assert not sc.kccsd_test(sc.from_sklearn(model, NEW), y, rng=0).rejects(0.01)
    assert sc.kccsd_test(sc.Gaussian(*model.predict(NEW, return_std=True)), y, rng=0).rejects(0.01)


@pytest.mark.parametrize("name", ["BayesianRidge", "ARDRegression"])
def test_linear_models_hold_their_noise_already(name):
    from sklearn import linear_model

    model = getattr(linear_model, name)().fit(INPUTS, outcome(INPUTS))
    predictions = sc.from_sklearn(model, NEW)
    centred = NEW - model.X_offset_
    of_mean = np.sum((centred @ model.sigma_) * centred, axis=1)
    np.testing.assert_allclose(predictions.scale[:, 0] ** 2, 1 / model.alpha_ + of_mean, rtol=1e-10)
    assert np.sqrt(1 / model.alpha_) == pytest.approx(np.std(outcome(INPUTS) - model.predict(INPUTS)), rel=0.3)
    mean, variance = predictions.mean[:N, 0], predictions.scale[:N, 0] ** 2
    few = sc.from_sklearn(model, NEW[:N])
    check_scores(few, lambda y: -0.5 * (y[..., 0] - mean) ** 2 / variance, RNG.normal(size=(5, N, 1)))


def test_pipelines_are_looked_into():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = outcome(INPUTS)
    scaler = StandardScaler().fit(INPUTS)
    whole = sc.from_sklearn(make_pipeline(StandardScaler(), process(alpha=0.25)).fit(INPUTS, y), NEW)
    parts = sc.from_sklearn(process(alpha=0.25).fit(scaler.transform(INPUTS), y), scaler.transform(NEW))
    np.testing.assert_allclose(whole.scale, parts.scale)


def sklearn_mistakes():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import DotProduct
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV

    y = outcome(INPUTS)
    several = process(alpha=np.linspace(0.1, 0.3, 200)).fit(INPUTS, y)
    certain = GaussianProcessRegressor(DotProduct(0.0, "fixed"), optimizer=None).fit([[1.0], [2.0]], [0.0, 1.0])
    search = GridSearchCV(process(), {"alpha": [0.1, 1.0]}, cv=2).fit(INPUTS, y)
    return [
        (LinearRegression().fit(INPUTS, y), NEW, TypeError, "but is a LinearRegression"),
        (search, NEW, TypeError, "GridSearchCV. For a search, give its `best_estimator_`"),
        (process(), NEW, ValueError, "`model` is not fitted"),
        (several, NEW, ValueError, "an `alpha` of 200 different noise variances"),
        (certain, [[0.0]], ValueError, "predicts a standard deviation of 0.0 for row 0 of `x`"),
    ]


@pytest.mark.parametrize("case", range(5))
def test_refusals(case):
    model, x, error, message = sklearn_mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_sklearn(model, x)
