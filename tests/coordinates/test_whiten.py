"""Coordinates in units of each prediction: moments known and fitted, invariance, fallbacks."""

import warnings

import numpy as np
import pytest
import torch

import scorecal as sc
from scorecal.coordinates.location_spread import location_and_spread
from scorecal.coordinates.whiten import whitening_of


def correlated(n, d, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    mean, root = rng.normal(size=(n, d)), rng.normal(size=(n, d, d)) + 2.0 * np.eye(d)
    covariance = scale**2 * (root @ root.transpose(0, 2, 1) + 0.2 * np.eye(d))
    y = mean + (np.linalg.cholesky(covariance) @ rng.normal(size=(n, d, 1)))[..., 0]
    return sc.Gaussian(mean, covariance=covariance), y


def nearly(found, sd):
    """Whether fitted spreads are right but for a factor of 1.5: a fit ends where another round would change little."""
    return np.all(np.abs(np.log(found / sd)) < np.log(1.5))


def test_whitened_scores_of_gaussians_are_minus_the_whitened_targets(backend):
    gaussian, y = correlated(50, 3)
    predictions = sc.Gaussian(backend.array(gaussian.mean), covariance=backend.array(gaussian.covariance.copy()))
    whitening = whitening_of(predictions, backend.array(y))
    z, s = (
        sc._lib.arrays.to_numpy(part)
        for part in whitening.whitened(backend.array(y), predictions.score(backend.array(y)))
    )
    u, t = (
        sc._lib.arrays.to_numpy(part)
        for part in whitening.marginal(backend.array(y), predictions.score(backend.array(y)))
    )
    np.testing.assert_allclose(s, -z, atol=1e-10)
    np.testing.assert_allclose(t, -u, atol=1e-10)
    distance = np.sum((y - gaussian.mean) * -gaussian.score(y), axis=1)
    np.testing.assert_allclose(np.sum(z**2, axis=1), distance)
    sd = np.sqrt(np.diagonal(gaussian.covariance, axis1=1, axis2=2))
    np.testing.assert_allclose(u, (y - gaussian.mean) / sd)


def test_moments_of_gaussians_are_fitted_exactly():
    gaussian, y = correlated(40, 4)
    blind = sc.ScoreFunction(gaussian.score, 40, 4)
    far = sc.ScoreFunction(lambda x: 1e-3 * gaussian.score(1e-3 * (x - 5e4)), 40, 4)  # in other units, far away
    for predictions, unit, shift in ((blind, 1.0, 0.0), (far, 1e3, 5e4)):
        location, covariance, _ = location_and_spread(predictions, y)
        np.testing.assert_allclose(location, unit * gaussian.mean + shift, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(covariance, unit**2 * gaussian.covariance, rtol=1e-6, atol=1e-8)
    points = np.random.default_rng(1).normal(size=(5, 4))  # the fewest that will do
    given = sc.Scores(gaussian.score(y), np.swapaxes(gaussian.score(points[:, None, :]), 0, 1), points)
    location, covariance, _ = location_and_spread(given, y)
    np.testing.assert_allclose(location, gaussian.mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(covariance, gaussian.covariance, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("score", "shift", "sd"),
    [
        (lambda x: -np.tanh(0.5 * x), 0.0, 1.81),  # logistic: the score is bounded
        (lambda x: -4.0 * x / (3.0 + x**2), 0.0, 1.73),  # t with 3 degrees of freedom: it falls back to 0
        (lambda x: -(x**3), 0.0, 0.82),  # exp(-x^4 / 4): it grows
        (lambda x: np.exp(-x) - 1.0, 0.58, 1.28),  # Gumbel: it explodes on one side
    ],
    ids=["logistic", "t3", "quartic", "gumbel"],
)
def test_other_densities_are_fitted_where_they_live(score, shift, sd):
    """Far inside a wide prior; `shift` and `sd` are their mean and standard deviation."""
    centre = np.linspace(-20.0, 20.0, 30)[:, None]
    prior = sc.Gaussian(np.zeros((1, 1)), 15.0)
    predictions = sc.ScoreFunction(lambda y: score(y - centre), 30, 1, prior=prior)
    location, covariance, _ = location_and_spread(predictions, centre)
    np.testing.assert_allclose(location - centre, shift, atol=0.5)
    found = np.sqrt(covariance[:, 0, 0])
    assert np.all((found > 0.5 * sd) & (found < 1.5 * sd))


@pytest.mark.parametrize("kernel", [sc.kernels.Gaussian(2.0), sc.kernels.Linear(), sc.kernels.RadialRank(2)], ids=repr)
def test_any_affine_change_of_the_targets_changes_no_pvalue(kernel):
    gaussian, y = correlated(80, 3)
    rng = np.random.default_rng(3)
    matrix, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    moved = sc.Gaussian(gaussian.mean @ matrix.T + shift, covariance=matrix @ gaussian.covariance @ matrix.T)
    results = [
        sc.kccsd_test(p, t, coordinates=sc.coordinates.whiten(), target_kernel=kernel, rng=1)
        for p, t in ((gaussian, y), (moved, y @ matrix.T + shift))
    ]
    assert results[0].pvalue == results[1].pvalue
    assert results[0].statistic == pytest.approx(results[1].statistic, rel=1e-8)
    assert results[0].coordinates == "whiten()"


def test_units_change_no_pvalue_of_any_view():
    """Also where whitening is fitted, and base points are drawn: a prior goes along."""
    gaussian, y = correlated(80, 3)
    unit, shift = np.array([1e3, 1e-2, 7.0]), np.array([-5.0, 40.0, 0.1])
    moved = sc.Gaussian(gaussian.mean * unit + shift, covariance=gaussian.covariance * unit[:, None] * unit)
    pairs = [
        ((gaussian, y), (moved, y * unit + shift)),
        tuple(
            (sc.ScoreFunction(p.score, 80, 3, prior=sc.Gaussian(m[None, :], s[None, :])), t)
            for p, t, m, s in ((gaussian, y, np.zeros(3), np.ones(3)), (moved, y * unit + shift, shift, unit))
        ),
    ]
    for one, other in pairs:
        before, after = (sc.calibration_test(p, t, rng=2) for p, t in (one, other))
        assert [v.pvalue for v in before.views] == [v.pvalue for v in after.views]
        assert before.pvalue == after.pvalue


@pytest.mark.parametrize("far", [0.0, 280.0, -5000.0])
def test_far_densities_are_found_from_the_origin(far):
    """Without a prior: t with 4 degrees of freedom, wherever it is."""
    location, covariance, _ = location_and_spread(
        sc.ScoreFunction(lambda y: -5.0 * (y - far) / (4.0 + (y - far) ** 2), 5, 1), np.zeros((5, 1))
    )
    np.testing.assert_allclose(location, far, atol=0.1)
    assert nearly(np.sqrt(covariance), 2.0**0.5)


def test_nearly_singular_covariances_are_whitened():
    """Rounding must not make them asymmetric."""
    rng = np.random.default_rng(0)
    covariance = np.array([[1.0, 1.0 - 1e-7], [1.0 - 1e-7, 1.0]])
    mean = rng.normal(size=(40, 2))
    y = mean + rng.normal(size=(40, 2)) @ np.linalg.cholesky(covariance).T
    result = sc.calibration_test(sc.Gaussian(mean, covariance=covariance), y, n_resamples=99, rng=0)
    assert result.pvalue > 0.01


def test_far_modes_are_fitted_together():
    """The first points are far outside, from where scores point back to the centre of all modes."""
    for centre in (1.0, 0.0):
        means = np.tile([[centre - 6.0], [centre + 6.0]], (60, 1, 1))
        mixture = sc.GaussianMixture(np.full((60, 2), 0.5), means, np.ones((60, 2)))
        location, covariance, _ = location_and_spread(sc.ScoreFunction(mixture.score, 60, 1), np.zeros((60, 1)))
        np.testing.assert_allclose(location, centre, atol=2.0)
        assert nearly(np.sqrt(covariance), 37.0**0.5)


def test_predictions_without_a_centre_fall_back_with_a_warning():
    """Scores that point away from everywhere: no density has them, but a model may."""
    rng = np.random.default_rng(4)
    away = np.arange(60)[:, None] < 20
    predictions = sc.ScoreFunction(lambda y: np.where(away, 0.3 * y, -y), 60, 1)
    with pytest.warns(UserWarning, match="20 of 60 have scores that do not point back"):
        result = sc.calibration_test(predictions, rng.normal(size=(60, 1)), rng=0)
    assert 0 < result.pvalue <= 1


@pytest.mark.slow
def test_level_with_some_rows_fitted_and_others_not():
    """Scores at base points around 0 of t4 predictions, half of them far away: 120 data sets."""
    rejections, n_left_out = 0, 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        centre = rng.choice([0.0, 10.0], size=(60, 1)) + 0.3 * rng.normal(size=(60, 1))
        points, y = rng.normal(size=(50, 1)), centre + rng.standard_t(4, size=(60, 1))

        def score(x, centre=centre):
            return -5.0 * (x - centre) / (4.0 + (x - centre) ** 2)

        given = sc.Scores(score(y), np.swapaxes(score(points[:, None, :]), 0, 1), points)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rejections += sc.calibration_test(given, y, n_resamples=199, rng=rng).rejects()
        n_left_out += any("do not point back" in str(warning.message) for warning in caught)
    assert n_left_out == 120
    assert rejections <= 14  # 99.8 % of such studies


def test_scores_need_base_points_to_be_whitened():
    gaussian, y = correlated(20, 3)
    whiten = sc.coordinates.whiten()
    with pytest.raises(ValueError, match="`Scores` can be whitened only from scores at known base points"):
        sc.kccsd_test(sc.Scores(gaussian.score(y)), y, coordinates=whiten)
    points = np.random.default_rng(0).normal(size=(3, 3))
    few = sc.Scores(gaussian.score(y), np.swapaxes(gaussian.score(points[:, None, :]), 0, 1), points)
    with pytest.raises(ValueError, match="at least d \\+ 1 = 4 points"):
        sc.calibration_test(few, y)


def test_bounded_supports_are_unconstrained_first():
    predictions, y = sc.experiments.bounded(60, 2, "none", rng=0)
    result = sc.kccsd_test(predictions, y, coordinates=sc.coordinates.whiten(), rng=0)
    assert "unconstrain" in result.coordinates
    assert "whiten()" in result.coordinates
    on_logits = sc.kccsd_test(predictions.logits, np.log(y / (1 - y)), coordinates=sc.coordinates.whiten(), rng=0)
    assert abs(result.pvalue - on_logits.pvalue) < 0.2  # the same but for base points in place of the exact GFD


def with_moments(mean, covariance):
    predictions = sc.ScoreFunction(lambda y: -y + np.zeros((30, 2)), 30, 2)
    object.__setattr__(predictions, "moments", lambda: (mean, covariance))
    return predictions


def test_moments_that_do_not_exist_are_fitted():
    """An infinite variance tells nothing; the scores here are those of N(0, I)."""
    predictions = with_moments(np.zeros((30, 2)), np.full((30, 2, 2), np.inf))
    mean, covariance, unfitted = location_and_spread(predictions, np.zeros((30, 2)))
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(covariance, np.broadcast_to(np.eye(2), (30, 2, 2)), atol=1e-12)
    assert not unfitted.any()


@pytest.mark.parametrize(
    ("mean", "covariance", "message"),
    [
        (np.zeros(30), np.ones((30, 2, 2)), "the means have shape"),
        (np.zeros((30, 2)), np.ones((30, 2)), "the covariances have shape"),
        (np.zeros((30, 2)), -np.ones((30, 2, 2)), "positive variances"),
        (np.full((30, 2), np.nan), np.ones((30, 2, 2)), "must be finite"),
    ],
)
def test_bad_moments(mean, covariance, message):
    with pytest.raises(ValueError, match=message):
        location_and_spread(with_moments(mean, covariance), np.zeros((30, 2)))


BATCHES = {
    "scores": lambda mean: sc.ScoreFunction(lambda y: mean - y, *mean.shape),
    "Gaussian": lambda mean: sc.Gaussian(mean, 1.0),
    "mixture": lambda mean: sc.GaussianMixture(mean[:, :1] * 0 + 1.0, mean[:, None, :], mean[:, :1] * 0 + 1.0),
    "base points": lambda mean: sc.Scores(0.1 * mean - 0.3, mean[:, None, :] - mean[None, :5, :], mean[:5]),
}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(
    "kernel", [sc.kernels.GFD(), sc.kernels.KGFD(sc.kernels.Gaussian(1.0), n_base=4)], ids=["GFD", "KGFD"]
)
def test_float32_of_torch_stays_float32_for_models(batch, kernel):
    """The frame is computed in float64; models are asked, and kernels compare, in the dtype of the targets."""
    mean, noise = np.random.default_rng(0).normal(size=(2, 40, 2)).astype(np.float32)
    if batch == "base points":
        kernel = sc.kernels.GFD()
    found, expected = (
        sc.kccsd(BATCHES[batch](m), m + e, distribution_kernel=kernel, coordinates=sc.coordinates.whiten(), rng=1)
        for m, e in ((torch.tensor(mean), torch.tensor(noise)), (mean.astype(float), noise.astype(float)))
    )
    assert float(found) == pytest.approx(float(expected), rel=1e-3, abs=1e-5)


def test_fits_do_not_depend_on_units_or_on_other_rows():
    """Scores that look linear near the first points, N(0, 1), and rows that others are done before."""
    n = 40
    near = np.arange(n)[:, None] < 10
    for scale in (1.0, 1000.0):
        predictions = sc.ScoreFunction(
            lambda y, scale=scale: -np.tanh((y - 3 * scale) / (2 * scale)) / scale + np.zeros((n, 1)), n, 1
        )
        location, covariance, _ = location_and_spread(predictions, np.zeros((n, 1)))
        np.testing.assert_allclose(location, 3 * scale, rtol=0.01)
        assert nearly(np.sqrt(covariance), 3.0**-0.5 * np.pi * scale)
    for centre in (30.0, 280.0):
        predictions = sc.ScoreFunction(
            lambda y, centre=centre: np.where(near, -y, -5.0 * (y - centre) / (4.0 + (y - centre) ** 2)), n, 1
        )
        location, covariance, unfitted = location_and_spread(predictions, np.zeros((n, 1)))
        np.testing.assert_allclose(location, np.where(near, 0.0, centre), atol=0.1)
        assert nearly(np.sqrt(covariance[:, :, 0]), np.where(near, 1.0, 2.0**0.5))
        assert not unfitted.any()


def test_isotropic_predictions_have_the_roots_of_nearly_isotropic_ones():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(40, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.3, 0.1]])
    scale = np.exp(rng.normal(size=40))
    covariance = scale[:, None, None] ** 2 * (np.eye(3) + 1e-13 * (1.0 - np.eye(3)))
    found, near = (
        whitening_of(sc.Gaussian(mean, scale), mean),
        whitening_of(sc.Gaussian(mean, covariance=covariance), mean),
    )
    assert (found.isotropic, near.isotropic) == (True, False)
    np.testing.assert_allclose(found.root, near.root, atol=1e-10)
    np.testing.assert_allclose(found.inverse_root, near.inverse_root, atol=1e-9)
    np.testing.assert_allclose(found.log_spread, np.log(scale), atol=1e-12)


def test_log_spreads_are_those_of_determinants():
    """Also of dimensions in very different units."""
    gaussian, y = correlated(30, 3)
    units = np.array([1e-8, 1.0, 1e9])
    covariance = gaussian.covariance * units[:, None] * units
    found = whitening_of(sc.Gaussian(gaussian.mean * units, covariance=covariance), y).log_spread
    expected = np.linalg.slogdet(gaussian.covariance)[1] / 6.0 + np.mean(np.log(units))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
