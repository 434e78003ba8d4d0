"""The same numbers from every array library, derivatives included."""

import dataclasses

import numpy as np
import pytest
from backends import B, D, M, N

import scorecal as sc
from scorecal._lib.arrays import to_numpy

K = sc.kernels
RNG = np.random.default_rng(20)
MEAN = RNG.normal(size=(N, D))
Y = MEAN + RNG.normal(size=(N, D))
SCALE = RNG.uniform(0.5, 2.0, size=(N, D))
ROOT = RNG.normal(size=(N, D, D))
COVARIANCE = ROOT @ np.swapaxes(ROOT, 1, 2) + 0.5 * np.eye(D)
WEIGHTS = RNG.dirichlet(np.ones(2), size=N)
MEANS = RNG.normal(size=(N, 2, D))
POINTS = RNG.normal(size=(M, D))


def predictions_of(kind, array):
    if kind == "isotropic":
        return sc.Gaussian(array(MEAN), array(SCALE[:, 0]))
    if kind == "diagonal":
        return sc.Gaussian(array(MEAN), array(SCALE))
    if kind == "full":
        return sc.Gaussian(array(MEAN), covariance=array(COVARIANCE))
    if kind == "mixture":
        return sc.GaussianMixture(array(WEIGHTS), array(MEANS), array(SCALE[:, :2]))
    if kind == "scores":
        return sc.Scores(array(MEAN - Y), array(MEAN[:, None, :] - POINTS), array(POINTS))
    mean = array(MEAN)
    return sc.ScoreFunction(lambda y: mean - y, N, D)


CASES = [
    ("isotropic", K.GFD(), K.Gaussian()),
    ("isotropic", K.KGFD(), K.IMQ()),
    ("isotropic", K.MMD(), K.Gaussian()),
    ("isotropic", K.Wasserstein(), K.IMQ(beta=-0.3, c=2.0)),
    ("diagonal", K.GFD(base="match", outer="imq"), K.Gaussian(1.5)),
    ("diagonal", K.KGFD(K.Gaussian(1.0)), K.Gaussian()),
    ("diagonal", K.MMD(), K.IMQ()),
    ("diagonal", K.Wasserstein(outer="linear"), K.Gaussian()),
    ("full", K.GFD(), K.Gaussian()),
    ("full", K.KGFD(), K.Gaussian()),
    ("full", K.MMD(), K.Gaussian()),
    ("full", K.Wasserstein(n_samples=M), K.Gaussian()),
    ("mixture", K.GFD(n_base=M), K.IMQ()),
    ("mixture", K.MMD(K.IMQ(), n_samples=M), K.Gaussian()),
    ("scores", K.GFD(), K.Gaussian()),
    ("scores", K.KGFD(K.IMQ()), K.Gaussian()),
    ("function", K.GFD(n_base=M), K.Gaussian()),
    ("function", K.KGFD(base=POINTS), K.Gaussian()),
]


@pytest.mark.parametrize(("kind", "distribution", "target"), CASES, ids=lambda value: str(value)[:60])
def test_agrees_with_numpy(backend, kind, distribution, target):
    def chosen(array):
        moved = {"base": array(POINTS)} if isinstance(getattr(distribution, "base", None), np.ndarray) else {}
        return {"distribution_kernel": dataclasses.replace(distribution, **moved), "target_kernel": target, "rng": 3}

    expected = sc.kccsd_test(predictions_of(kind, np.asarray), Y, n_resamples=B, precision="full", **chosen(np.asarray))
    predictions, y = predictions_of(kind, backend.array), backend.array(Y)
    actual = sc.kccsd_test(predictions, y, n_resamples=B, precision="full", **chosen(backend.array))
    assert actual.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert actual.pvalue == expected.pvalue
    np.testing.assert_allclose(actual.null_distribution, expected.null_distribution, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(actual.contributions, expected.contributions, rtol=1e-10, atol=1e-12)
    assert dict(actual.bandwidths) == pytest.approx(dict(expected.bandwidths), rel=1e-10)
    value = sc.kccsd(predictions, y, **chosen(backend.array))
    assert type(value).__module__.split(".")[0] == type(y).__module__.split(".")[0]
    assert float(to_numpy(value)) == actual.statistic


CLUSTERED = [{"groups": np.random.default_rng(2).integers(0, 12, size=N)}, {"horizon": 2}]
FEW_VIEWS = [
    view for view in sc.views.default_views(D) if view.name in ("bias, one dimension", "bias by traits", "gain")
]


@pytest.mark.parametrize("arguments", CLUSTERED, ids=["groups", "horizon"])
def test_rows_that_depend_on_each_other_agree_with_numpy(backend, arguments):
    few = {"estimator": sc.estimators.Incomplete(5)}
    for test, more in ((sc.kccsd_test, few), (sc.kccsd_test, {}), (sc.calibration_test, {"views": FEW_VIEWS})):
        options = {"n_resamples": B, "precision": "full", "rng": 3, **arguments, **more}
        expected = test(predictions_of("diagonal", np.asarray), Y, **options)
        actual = test(predictions_of("diagonal", backend.array), backend.array(Y), **options)
        assert actual.pvalue == expected.pvalue
        np.testing.assert_allclose(actual.null_distribution, expected.null_distribution, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(actual.contributions, expected.contributions, rtol=1e-9, atol=1e-12)
