"""Whitening in many dimensions: by the spread of each, known or fitted to scores."""

import numpy as np
import pytest

import scorecal as sc
from scorecal._lib.arrays import to_numpy
from scorecal.coordinates.average import average_frame, moment_sums
from scorecal.coordinates.whiten import whitening_of
from scorecal.views.so_far import locations_so_far

RNG = np.random.default_rng(0)
N, D = 12, 50
MEAN, SD = 3.0 * RNG.normal(size=(N, D)), np.exp(RNG.normal(size=(N, D)))
Y = MEAN + SD * RNG.normal(size=(N, D))
NEAR = np.abs(np.arange(D)[:, None] - np.arange(D))
BASE = RNG.normal(size=(6, D))


def score(y):
    return (MEAN - y) / SD**2


DIAGONAL = {
    "Gaussian": sc.Gaussian(MEAN, SD),
    "mixture": sc.GaussianMixture(np.full((N, 2), 0.5), np.stack([MEAN, MEAN], axis=1), np.stack([SD, SD], axis=1)),
    "noise taken off": sc.Gaussian(MEAN, SD * 0.5**0.5).noisy(1.0),
    "function": sc.ScoreFunction(score, N, D),
    "arrays": sc.Scores(score(Y), score(BASE[:, None, :]).swapaxes(0, 1), BASE),
}


@pytest.mark.parametrize("name", DIAGONAL)
def test_targets_are_in_units_of_each_dimension(name):
    whitening = whitening_of(DIAGONAL[name], Y)
    assert whitening.covariance.shape == whitening.root.shape == (N, D)
    z, s = whitening.whitened(Y, score(Y))
    np.testing.assert_allclose(z, (Y - MEAN) / SD, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(s, -z, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(whitening.forward_step(z) + whitening.location, Y, rtol=1e-7)
    for part, other in zip(whitening.marginal(Y, score(Y)), (z, s), strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-7, atol=1e-7)


def test_isotropic_predictions_need_one_number_each():
    whitening = whitening_of(sc.Gaussian(MEAN, SD[:, 0]), Y)
    assert whitening.covariance.shape == (N, 1)
    np.testing.assert_allclose(whitening.sd, SD[:, :1] + 0.0 * MEAN)


def test_variances_of_mixtures_are_the_diagonal_of_their_covariances():
    mixture = sc.GaussianMixture(
        np.full((N, 2), [0.3, 0.7]), np.stack([MEAN, MEAN + SD], axis=1), np.stack([SD, 2.0 * SD], axis=1)
    )
    mean, covariance = mixture.moments()
    whitening = whitening_of(mixture, Y)
    np.testing.assert_allclose(whitening.location, mean)
    np.testing.assert_allclose(whitening.covariance, np.diagonal(covariance, axis1=1, axis2=2))


def test_full_covariances_are_whitened_in_full():
    covariance = 0.5**NEAR
    whitening = whitening_of(sc.Gaussian(MEAN, covariance=covariance), Y)
    z = whitening.whitened(Y, Y)[0]
    lengths = np.einsum("na,ab,nb->n", Y - MEAN, np.linalg.inv(covariance), Y - MEAN)
    np.testing.assert_allclose(np.sum(z**2, axis=1), lengths)


def test_fits_are_the_same_on_every_backend(backend):
    mean, sd, y = (backend.array(part) for part in (MEAN, SD, Y))
    whitening = whitening_of(sc.ScoreFunction(lambda y: (mean - y) / sd**2, N, D), y)
    np.testing.assert_allclose(to_numpy(whitening.sd), SD, rtol=1e-6)


def test_correlated_and_heavy_tailed_scores_have_a_fit():
    precision = np.linalg.inv(0.5**NEAR)
    whitening = whitening_of(sc.ScoreFunction(lambda y: (MEAN - y) @ precision, N, D), Y)
    assert not np.any(whitening.unfitted)
    assert np.mean((whitening.location - MEAN) ** 2) < 0.1
    np.testing.assert_allclose(np.median(whitening.sd), 1.0 / precision[1, 1] ** 0.5, rtol=0.1)
    z = lambda y: (y - MEAN) / SD  # noqa: E731
    heavy = whitening_of(sc.ScoreFunction(lambda y: -6.0 * z(y) / (5.0 + z(y) ** 2) / SD, N, D), Y)
    assert np.mean(z(heavy.location) ** 2) < 0.1
    assert np.all(np.abs(np.log(np.median(heavy.sd / SD, axis=1))) < 0.2)


def test_scores_of_the_wrong_sign_have_no_fit():
    with pytest.warns(UserWarning, match="do not point back"):
        whitening = whitening_of(sc.ScoreFunction(lambda y: -score(y), N, D), Y)
    assert np.all(whitening.unfitted)


@pytest.mark.parametrize(
    ("base", "message"), [(BASE[:2], "m of 3 or more"), (0.0 * BASE, "must differ in every dimension")]
)
def test_arrays_of_scores_need_a_few_base_points(base, message):
    scores = sc.Scores(score(Y), score(base[:, None, :]).swapaxes(0, 1), base)
    with pytest.raises(ValueError, match=message):
        whitening_of(scores, Y)


def test_spreads_so_far_are_those_of_full_covariances():
    one = locations_so_far(MEAN, SD**2, None)
    full = locations_so_far(MEAN, SD[:, :, None] ** 2 * np.eye(D), None)
    np.testing.assert_allclose(one[0], full[0])
    np.testing.assert_allclose(one[2], full[2])


def test_sums_over_batches_add_up_to_those_of_all_rows():
    whole, parts = moment_sums(MEAN, SD**2), moment_sums(MEAN[:5], SD[:5] ** 2) + moment_sums(MEAN[5:], SD[5:] ** 2)
    np.testing.assert_allclose(parts.total, whole.total)
    np.testing.assert_allclose(average_frame(parts).root, np.sqrt(np.mean(SD**2, axis=0) + np.var(MEAN, axis=0)))
