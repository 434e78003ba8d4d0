"""Models of scipy, scikit-learn, NGBoost, flowjax and zuko: scores against finite differences, verdicts, refusals."""

import re
import sys

import numpy as np
import pytest
import torch
from backends import make_backend
from scipy import special, stats
from torch.distributions import Distribution

import scorecal as sc
from scorecal._lib.arrays import to_numpy
from scorecal.predictions.adapters.dispatch import as_predictions, comes_from
from scorecal.predictions.adapters.flowjax import from_flowjax
from scorecal.predictions.adapters.scipy import ScipyDistribution, from_scipy
from scorecal.predictions.adapters.sklearn import from_ngboost, from_sklearn

RNG = np.random.default_rng(5)
N = 6
LOC, SHAPE = RNG.normal(size=N), np.exp(0.5 * RNG.normal(size=N))
LOC2, SHAPE2 = RNG.normal(size=(N, 2)), np.exp(0.5 * RNG.normal(size=(N, 2)))


def check_scores(predictions, log_density, points, array=np.asarray, step=1e-5):
    """At targets, at points shared by all rows, and at others for each: against differences in units of the points."""
    n, dim = predictions.n, predictions.dim
    assert points.shape == (5, n, dim)
    for y in (points[0], points, points[:, :1]):
        scores = to_numpy(predictions.score(array(y)))
        shape = (*y.shape[:-2], n, dim)
        assert scores.shape == shape
        for k in range(dim):
            shift = step * np.eye(dim)[k]
            slope = (log_density(y + shift) - log_density(y - shift)) / (2 * step)
            np.testing.assert_allclose(scores[..., k], np.broadcast_to(slope, shape[:-1]), rtol=1e-6, atol=1e-6)


def check_verdicts(predictions, right, wrong, coordinates="unconstrain"):
    """At level 1 %: a dozen calibrated cases, one seed each, would hardly all pass at 5 %."""
    found = sc.kccsd_test(predictions, right, rng=0)
    assert found.coordinates.startswith(coordinates)
    assert not found.rejects(0.01)
    assert sc.kccsd_test(predictions, wrong, rng=0).rejects(0.01)


def _log_normal(log_y, location, scale=1.0):
    return -log_y - 0.5 * ((log_y - location) / scale) ** 2


# scipy: frozen distribution, log-density by hand up to constants, points in its support.

KINDS = {
    "norm": (stats.norm(LOC, 0.7), lambda y: -0.5 * ((y[..., 0] - LOC) / 0.7) ** 2, "real"),
    "norm of many": (stats.norm(LOC2, scale=SHAPE2), lambda y: (-0.5 * ((y - LOC2) / SHAPE2) ** 2).sum(-1), "real"),
    "t": (stats.t(3.0, LOC2), lambda y: (-2.0 * np.log(1 + (y - LOC2) ** 2 / 3)).sum(-1), "real"),
    "cauchy": (stats.cauchy(LOC), lambda y: -np.log(1 + (y[..., 0] - LOC) ** 2), "real"),
    "laplace": (stats.laplace(LOC), lambda y: -np.abs(y[..., 0] - LOC), "real"),
    "logistic": (stats.logistic(LOC), lambda y: LOC - y[..., 0] - 2 * np.log1p(np.exp(LOC - y[..., 0])), "real"),
    "gamma": (stats.gamma(SHAPE), lambda y: (SHAPE - 1) * np.log(y[..., 0]) - y[..., 0], "positive"),
    "gamma of many": (stats.gamma(SHAPE2), lambda y: ((SHAPE2 - 1) * np.log(y) - y).sum(-1), "positive"),
    "lognorm": (stats.lognorm(1.0, scale=SHAPE), lambda y: _log_normal(np.log(y[..., 0]), np.log(SHAPE)), "positive"),
    "expon": (stats.expon(scale=SHAPE), lambda y: -y[..., 0] / SHAPE, "positive"),
    "beta": (stats.beta(SHAPE, 2.0), lambda y: (SHAPE - 1) * np.log(y[..., 0]) + np.log(1 - y[..., 0]), "unit"),
    "uniform": (stats.uniform(-SHAPE, 1 + 2 * SHAPE), lambda y: 0.0 * y[..., 0] * SHAPE, "unit"),
}  # fmt: skip


def points_in(where, dim):
    points = RNG.normal(size=(5, N, dim))
    return {"real": points, "positive": np.exp(points), "unit": special.expit(points)}[where]


@pytest.mark.parametrize("kind", KINDS)
def test_scipy_scores_against_finite_differences(kind):
    frozen, log_density, where = KINDS[kind]
    predictions = from_scipy(frozen)
    points = points_in(where, predictions.dim)
    assert predictions.n == N
    assert isinstance(predictions, sc.Gaussian if "norm" in frozen.dist.name[:4] else ScipyDistribution)
    assert (getattr(predictions, "support", None) is None) == (where == "real")
    check_scores(predictions, log_density, points, step=1e-6 if where == "unit" else 1e-5)
    constant = predictions.log_prob(points) - log_density(points)
    np.testing.assert_allclose(constant, np.broadcast_to(constant[0], constant.shape), atol=1e-12)


WIDE = np.exp(RNG.normal(size=2000))


@pytest.mark.parametrize(
    ("frozen", "score"),
    [
        (stats.gamma(WIDE, scale=WIDE), lambda y: (WIDE - 1) / y - 1 / WIDE),
        (stats.gamma(1e4 * WIDE, scale=1e-4), lambda y: (1e4 * WIDE - 1) / y - 1e4),
        (stats.gamma(0.2 * WIDE), lambda y: (0.2 * WIDE - 1) / y - 1),
        (stats.beta(WIDE, 0.7), lambda y: (WIDE - 1) / y + 0.3 / (1 - y)),
        (stats.lognorm(1e-3, scale=1e3 * WIDE), lambda y: -(1 + 1e6 * np.log(y / (1e3 * WIDE))) / y),
        (stats.lognorm(3.0 * WIDE), lambda y: -(1 + np.log(y) / (3.0 * WIDE) ** 2) / y),
        (stats.t(3, loc=1e6 * WIDE), lambda y: -4 * (y - 1e6 * WIDE) / (3 + (y - 1e6 * WIDE) ** 2)),
        (stats.cauchy(0, WIDE), lambda y: -2 * y / (WIDE**2 + y**2)),
        (stats.laplace_asymmetric(2.0, loc=WIDE), lambda y: np.where(y > WIDE, -2.0, 0.5)),
        (stats.weibull_min(WIDE), lambda y: (WIDE - 1) / y - WIDE * y ** (WIDE - 1)),
        (stats.truncnorm(-WIDE, 2 * WIDE), lambda y: -y),
        (stats.invgamma(1 + WIDE), lambda y: -(2 + WIDE) / y + 1 / y**2),
    ],
)
def test_scipy_scores_are_precise_wherever_draws_fall(frozen, score):
    predictions = from_scipy(frozen)
    y = predictions.sample(1, rng=0)[0]
    first, third = frozen.ppf(0.25), frozen.ppf(0.75)
    width = np.minimum(third - first, np.minimum(y[:, 0] - frozen.support()[0], frozen.support()[1] - y[:, 0]))
    expected = score(y[:, 0])  # near zero, errors are measured in units of the width of the density there
    error = np.abs(predictions.score(y)[:, 0] - expected) / np.maximum(np.abs(expected), 1 / width)
    assert error.max() < 1e-6


def test_scipy_scores_close_to_kinks_and_ends():
    gaps = 10.0 ** -np.arange(1, 8)[:, None, None]
    laplace, gamma = from_scipy(stats.laplace([0.3])), from_scipy(stats.gamma([2.5]))
    uniform = from_scipy(stats.uniform([1.0], 2.0))
    for side in (-1.0, 1.0):
        gap = (0.3 + side * gaps) - 0.3
        np.testing.assert_allclose(laplace.score(0.3 + gap), -side * np.ones(gaps.shape), rtol=1e-6)
    np.testing.assert_allclose(gamma.score(gaps), 1.5 / gaps - 1, rtol=1e-6)
    np.testing.assert_allclose(uniform.score(1.0 + gaps), 0.0 * gaps, atol=1e-6)


def test_scipy_scores_that_are_not_found_are_nan():
    outside = from_scipy(stats.gamma([2.0, 2.0])).score(np.asarray([[-1.0], [0.0]]))
    too_fine = from_scipy(stats.t(3.0, loc=1e12, scale=np.full(N, 1e-3))).score(np.full((N, 1), 1e12))
    noisy = from_scipy(stats.gamma(np.full(N, 1e12))).score(np.full((N, 1), 1e12 + 1e6))
    for scores in (outside, too_fine, noisy):
        assert np.isnan(scores).all()
    with pytest.raises(ValueError, match=r"`predictions.score\(y\)` must be finite"):
        sc.kccsd_test(from_scipy(stats.t(3.0, loc=1e12, scale=np.full(N, 1e-3))), 1e12 + LOC, rng=0)


def test_scipy_draws():
    predictions = from_scipy(stats.gamma(SHAPE2))
    draws = predictions.sample(4000, rng=0)
    assert draws.shape == (4000, N, 2)
    assert np.array_equal(draws, predictions.sample(4000, rng=0))
    np.testing.assert_allclose(draws.mean(axis=0), SHAPE2, atol=5 * np.sqrt(SHAPE2.max() / 4000))


def scipy_verdicts():
    rng, n = np.random.default_rng(11), 300
    a, b = np.exp(0.5 * rng.normal(size=(2, n)))
    low, u = 3.0 * rng.normal(size=n), rng.uniform(size=n)
    return {
        "gamma": (stats.gamma(a, scale=b), lambda y: 0.7 * y),
        "beta": (stats.beta(1 + a, 1 + b), lambda y: y**1.4),
        "uniform": (stats.uniform(low, b), lambda y: (low + b * np.sqrt(u))[:, None]),
        "lognorm": (stats.lognorm(a, scale=b), lambda y: 1.5 * y),
        "gamma of many": (stats.gamma(np.stack([a, b], axis=1)), lambda y: 0.7 * y),
    }


@pytest.mark.parametrize("kind", scipy_verdicts())
def test_scipy_on_bounded_supports(kind):
    frozen, spoil = scipy_verdicts()[kind]
    predictions = from_scipy(frozen)
    y = predictions.sample(1, rng=1)[0]
    check_verdicts(predictions, y, spoil(y))


def test_scipy_ends_may_differ_between_rows():
    support = from_scipy(stats.genextreme(np.asarray([-0.5, 0.5]))).support
    np.testing.assert_allclose(support.low, [[-2.0], [-np.inf]])
    np.testing.assert_allclose(support.high, [[np.inf], [2.0]])
    assert from_scipy(stats.genextreme(np.zeros(2))).support is None


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: stats.poisson(SHAPE), TypeError, r"is discrete \(poisson\)"),
        (lambda: stats.multivariate_normal([0.0, 0.0]), TypeError, r"use `sc.Gaussian\(mean, covariance=...\)`"),
        (lambda: stats.dirichlet([1.0, 2.0]), TypeError, "many variables; for n predictions use `sc.ScoreFunction`"),
        (lambda: stats.gamma, TypeError, r"gamma without parameters; freeze it: `scipy.stats.gamma\(...\)`"),
        (lambda: stats.Normal(mu=LOC, sigma=1.0), TypeError, "new-style random variable of scipy, Normal; freeze the"),
        (lambda: stats.gamma(2.0), ValueError, r"must have parameters of shape .* but they have \(\)"),
        (lambda: stats.gamma(np.ones((2, 3, 4))), ValueError, r"but they have \(2, 3, 4\)"),
        (lambda: stats.gamma(np.ones((0,))), ValueError, r"but they have \(0,\)"),
        (lambda: stats.gamma(2.0, scale=[1.0, -1.0]), ValueError, r"first at index \(1,\)"),
        (lambda: stats.norm([0.0, np.nan]), ValueError, r"first at index \(1,\)"),
        (lambda: stats.vonmises(SHAPE), TypeError, "use `scipy.stats.vonmises_line`"),
        (lambda: stats.rv_histogram(np.histogram(LOC))(loc=LOC), TypeError, "constant between jumps"),
        (lambda: stats.gaussian_kde(LOC), TypeError, "must be a frozen distribution .* but is a gaussian_kde"),
        (lambda: 3, TypeError, "must be a frozen distribution of `scipy.stats`, but is a int"),
    ],
)  # fmt: skip
def test_scipy_refusals(make, error, message):
    with pytest.raises(error, match=message):
        from_scipy(make())


def test_scipy_targets_of_another_library():
    with pytest.raises(TypeError, match="`y` must be a NumPy array"):
        sc.kccsd_test(from_scipy(stats.t(SHAPE)), torch.asarray(LOC), rng=0)


# scikit-learn

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
        from_sklearn(process(normalize_y=normalize_y, **options).fit(INPUTS, y), NEW)
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
    assert not sc.kccsd_test(from_sklearn(model, NEW), y, rng=0).rejects(0.01)
    assert sc.kccsd_test(sc.Gaussian(*model.predict(NEW, return_std=True)), y, rng=0).rejects(0.01)


@pytest.mark.parametrize("name", ["BayesianRidge", "ARDRegression"])
def test_linear_models_hold_their_noise_already(name):
    from sklearn import linear_model

    model = getattr(linear_model, name)().fit(INPUTS, outcome(INPUTS))
    predictions = from_sklearn(model, NEW)
    centred = NEW - model.X_offset_
    of_mean = np.sum((centred @ model.sigma_) * centred, axis=1)
    np.testing.assert_allclose(predictions.scale[:, 0] ** 2, 1 / model.alpha_ + of_mean, rtol=1e-10)
    assert np.sqrt(1 / model.alpha_) == pytest.approx(np.std(outcome(INPUTS) - model.predict(INPUTS)), rel=0.3)
    mean, variance = predictions.mean[:N, 0], predictions.scale[:N, 0] ** 2
    few = from_sklearn(model, NEW[:N])
    check_scores(few, lambda y: -0.5 * (y[..., 0] - mean) ** 2 / variance, RNG.normal(size=(5, N, 1)))


def test_pipelines_are_looked_into():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = outcome(INPUTS)
    scaler = StandardScaler().fit(INPUTS)
    whole = from_sklearn(make_pipeline(StandardScaler(), process(alpha=0.25)).fit(INPUTS, y), NEW)
    parts = from_sklearn(process(alpha=0.25).fit(scaler.transform(INPUTS), y), scaler.transform(NEW))
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
        (search, NEW, TypeError, "GridSearchCV. Of a search, give its `best_estimator_`"),
        (process(), NEW, ValueError, "`model` is not fitted"),
        (several, NEW, ValueError, "an `alpha` of 200 different noise variances"),
        (certain, [[0.0]], ValueError, "predicts a standard deviation of 0.0 for row 0 of `x`"),
    ]


@pytest.mark.parametrize("case", range(5))
def test_sklearn_refusals(case):
    model, x, error, message = sklearn_mistakes()[case]
    with pytest.raises(error, match=message):
        from_sklearn(model, x)


# NGBoost


def ngboost_kinds():
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
            lambda y: _log_normal(np.log(y[..., 0]), location, scale),
            "positive",
        ),
        "Exponential": (distns.Exponential(both[1:]), lambda y: -y[..., 0] / scale, "positive"),
        "Gamma": (
            distns.Gamma(np.stack([log_shape, log_scale])),
            lambda y: (shape - 1) * np.log(y[..., 0]) - scale * y[..., 0],
            "positive",
        ),
    }


@pytest.mark.parametrize("kind", ngboost_kinds())
def test_ngboost_scores_against_finite_differences(kind):
    distribution, log_density, where = ngboost_kinds()[kind]
    predictions = from_ngboost(distribution)
    assert isinstance(predictions, sc.Gaussian) == ("Normal" in kind and kind != "LogNormal")
    check_scores(predictions, log_density, points_in(where, predictions.dim))
    assert as_predictions(distribution).dim == predictions.dim


@pytest.mark.parametrize("kind", ["LogNormal", "Exponential", "Gamma"])
def test_ngboost_from_the_model_to_the_verdict(kind):
    from ngboost import NGBRegressor, distns

    rng = np.random.default_rng(12)
    x = rng.uniform(size=(300, 1))
    y = rng.gamma(2.0 + x[:, 0])
    model = NGBRegressor(Dist=getattr(distns, kind), n_estimators=20, verbose=False, random_state=0).fit(x, y)
    predictions = from_ngboost(model.pred_dist(x))
    assert type(as_predictions(model, x)) is type(predictions)
    right = predictions.sample(1, rng=0)[0]
    check_verdicts(predictions, right, 0.6 * right)


def ngboost_mistakes():
    from ngboost import NGBClassifier, NGBRegressor, distns

    return [
        (NGBRegressor(), TypeError, r"is the NGBRegressor itself; give `model.pred_dist\(X\)`"),
        (NGBClassifier(), TypeError, r"is the NGBClassifier itself; give `model.pred_dist\(X\)`"),
        (distns.Bernoulli(np.zeros((1, N))), TypeError, r"`sc.Categorical\(distribution.class_probs\(\)\)`"),
        (distns.k_categorical(3)(np.zeros((2, N))), TypeError, r"`sc.Categorical\(distribution.class_probs\(\)\)`"),
        (distns.Poisson(np.zeros((1, N))), TypeError, r"is discrete \(poisson\)"),
        (distns.LogitNormal(np.zeros((2, N))), TypeError, "LogitNormal, which has no distribution of scipy inside"),
        (distns.Gamma(np.zeros((2, N)))[0], ValueError, r"but they have \(\)"),
        (
            stats.norm(LOC),
            TypeError,
            r"must be what `pred_dist\(X\)` of NGBoost returns, but is a rv_continuous_frozen",
        ),
    ]


@pytest.mark.parametrize("case", range(8))
def test_ngboost_refusals(case):
    distribution, error, message = ngboost_mistakes()[case]
    with pytest.raises(error, match=message):
        from_ngboost(distribution)


# flowjax

WEIGHTS = RNG.normal(size=(3, 2))


def flow(dim):
    import jax
    from flowjax.distributions import Normal
    from flowjax.flows import masked_autoregressive_flow

    jax.config.update("jax_enable_x64", True)
    base = Normal(jax.numpy.zeros(dim))
    return masked_autoregressive_flow(jax.random.key(0), base_dist=base, cond_dim=3, flow_layers=1, nn_width=8)


def shift(weights, dim):
    """N(weights' x, I)."""
    import jax
    from flowjax.bijections import AdditiveCondition
    from flowjax.distributions import Normal, Transformed

    jax.config.update("jax_enable_x64", True)
    weights = jax.numpy.asarray(weights)
    bijection = AdditiveCondition(lambda x: x @ weights if x.ndim else x * weights, dim, weights.shape[:-1])
    return Transformed(Normal(jax.numpy.zeros(dim)), bijection)


@pytest.mark.parametrize("dim", [1, 2])
def test_flowjax_scores_against_finite_differences(dim):
    import jax

    distribution, x = flow(dim), make_backend("jax").array(RNG.normal(size=(N, 3)))
    batched = jax.jit(lambda y: distribution.log_prob(y, x))

    def log_density(y):
        shape = y.shape[:-2]
        return to_numpy(batched(np.broadcast_to(y, (5, N, dim))))[(slice(None),) if shape else (0,)]

    check_scores(from_flowjax(distribution, x), log_density, RNG.normal(size=(5, N, dim)), jax.numpy.asarray)


@pytest.mark.parametrize("dim", [(), (1,), (2,)])
def test_flowjax_scores_against_a_closed_form(dim):
    array = make_backend("jax").array
    x = RNG.normal(size=(N, 3) if dim else N)
    weights = WEIGHTS[:, : dim[0]] if dim else np.asarray(2.0)
    mean = np.reshape(x @ weights if dim else x * weights, (N, -1))
    predictions = from_flowjax(shift(weights, dim), array(x))
    check_scores(predictions, lambda y: -0.5 * np.sum((y - mean) ** 2, axis=-1), RNG.normal(size=(5, N, mean.shape[1])),
                 array)  # fmt: skip


def test_flowjax_verdicts():
    array = make_backend("jax").array
    rng = np.random.default_rng(13)
    x = rng.normal(size=(200, 3))
    y = x @ WEIGHTS + rng.normal(size=(200, 2))
    check_verdicts(from_flowjax(shift(WEIGHTS, (2,)), array(x)), array(y), array(y + 0.5), coordinates="identity")


def test_flowjax_refusals():
    from flowjax.distributions import Normal

    array = make_backend("jax").array
    with pytest.raises(TypeError, match="must be a distribution of flowjax, but is a int"):
        from_flowjax(3, array(np.ones((N, 3))))
    with pytest.raises(ValueError, match="has no condition"):
        from_flowjax(Normal(array(np.zeros(2))), array(np.ones((N, 3))))
    with pytest.raises(TypeError, match="`condition` must be a JAX array, but is a ndarray"):
        from_flowjax(flow(2), np.ones((N, 3)))
    for shape in ((N, 2), (3,), (0, 3), (N, 1, 3)):
        with pytest.raises(ValueError, match=re.escape("`condition` must have shape (n, 3), n at least 1")):
            from_flowjax(flow(2), array(np.ones(shape)))


# zuko, through `from_torch`


@pytest.fixture
def zuko():
    """Imported, without what that import does to all distributions of torch: it turns their checks off."""
    kept = {name: vars(Distribution)[name] for name in ("_validate_args", "arg_constraints")}
    import zuko

    Distribution._validate_args, Distribution.arg_constraints = False, {}
    yield zuko
    for name, value in kept.items():
        setattr(Distribution, name, value)


FLOWS = [("NSF", 2), ("MAF", 1), ("MAF", 2), ("MAF", 3), ("BPF", 2), ("NAF", 2), ("SOSPF", 2)]


@pytest.mark.parametrize(("kind", "dim"), FLOWS)
def test_zuko_scores_against_finite_differences(zuko, kind, dim):
    torch.manual_seed(0)
    model = getattr(zuko.flows, kind)(dim, context=3, hidden_features=(8,)).double()
    distribution = model(torch.asarray(RNG.normal(size=(N, 3))))
    predictions = as_predictions(distribution)
    assert (predictions.n, predictions.dim, predictions.support) == (N, dim, None)

    def log_density(y):
        points = torch.asarray(np.broadcast_to(y, (*y.shape[:-2], N, dim)).copy())
        return distribution.log_prob(points).detach().numpy()

    check_scores(predictions, log_density, RNG.normal(size=(5, N, dim)), torch.asarray, step=1e-6)


def test_zuko_boxes_are_bounded(zuko):
    ends = torch.ones(N, 2, dtype=torch.float64)
    support = sc.from_torch(zuko.distributions.BoxUniform(-ends, 2 * ends)).support
    assert np.array_equal(support.low, [-1.0, -1.0])
    assert np.array_equal(support.high, [2.0, 2.0])


# One door


def test_the_door_leads_to_each_adapter():
    from numpyro import distributions as numpyro
    from sklearn.linear_model import BayesianRidge

    jnp = make_backend("jax").xp
    gaussian = sc.Gaussian(LOC, 1.0)
    categorical = sc.Categorical(np.full((N, 2), 0.5))
    function = sc.ScoreFunction(lambda y: -y, n=N, dim=2)
    for unchanged in (gaussian, categorical, function):
        assert as_predictions(unchanged) is unchanged
    assert type(as_predictions(torch.distributions.StudentT(3.0, torch.asarray(LOC)))).__name__ == "TorchDistribution"
    assert type(as_predictions(numpyro.StudentT(3.0, jnp.asarray(LOC)))).__name__ == "NumpyroDistribution"
    assert type(as_predictions(stats.t(3.0, LOC))) is ScipyDistribution
    assert type(as_predictions(flow(2), jnp.ones((N, 3)))) is sc.LogDensity
    assert as_predictions(BayesianRidge().fit(INPUTS, outcome(INPUTS)), NEW).n == 200


def test_the_door_of_posteriors(monkeypatch):
    """Of a class in a module of sbi with a `potential_fn`."""
    posterior = type("Posterior", (), {"__module__": "sbi.inference.posteriors.direct_posterior", "potential_fn": 1})()
    module = type(sys)("scorecal.predictions.adapters.sbi.posterior")
    module.from_sbi = lambda posterior, x: (posterior, x)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert as_predictions(posterior, 3) == (posterior, 3)
    with pytest.raises(ValueError, match="a posterior of sbi, which needs `x`, the observations"):
        as_predictions(posterior)


def door_mistakes():
    from ngboost import NGBRegressor
    from sklearn.linear_model import BayesianRidge, LogisticRegression

    return [
        (BayesianRidge(), None, ValueError, "needs `x`, the inputs, one row for each prediction"),
        (flow(2), None, ValueError, "needs `x`, the conditions"),
        (stats.t(3.0, LOC), NEW, ValueError, "leave `x` out"),
        (torch.distributions.StudentT(3.0, torch.asarray(LOC)), NEW, ValueError, "leave `x` out"),
        (sc.Gaussian(LOC, 1.0), NEW, ValueError, "is a batch of predictions already.* leave `x` out"),
        (NGBRegressor(), None, TypeError, r"give `model.pred_dist\(X\)`"),
        (LogisticRegression(), NEW, TypeError, "but is a LogisticRegression"),
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
        as_predictions(obj, x)


def test_packages_are_told_apart_by_whole_names():
    like_scipy = type("Frozen", (), {"__module__": "scipy.statsmodels"})()
    assert not comes_from(like_scipy, "scipy.stats")
    assert comes_from(stats.norm(), "scipy.stats")
