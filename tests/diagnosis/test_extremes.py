"""The rows farthest from their predictions, and their p-values."""

import numpy as np
import pytest
from scipy import stats
from verdicts import verdict

import scorecal as sc
from scorecal.diagnosis.extremes import extreme_rows
from scorecal.diagnosis.residuals import residuals_of


def gaussians(n=200, d=3):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(n, d, d)) + 2 * np.eye(d)
    mean = rng.normal(size=(n, d))
    return mean, root @ root.swapaxes(1, 2), mean + np.einsum("nab,nb->na", root, rng.standard_t(3, size=(n, d)))


def test_gaussian_rows_have_chi_square_pvalues():
    mean, covariance, y = gaussians()
    found = sc.diagnose(sc.Gaussian(mean, covariance=covariance), y, covariates={}, result=verdict(200), rng=0)
    lengths = np.sqrt(np.einsum("na,nab,nb->n", y - mean, np.linalg.inv(covariance), y - mean))
    order = np.argsort(-lengths)[:10]
    assert [each.row for each in found.extremes] == order.tolist()
    np.testing.assert_allclose([each.distance for each in found.extremes], lengths[order])
    pvalues = stats.chi2(3).sf(lengths[order] ** 2)
    np.testing.assert_allclose([each.pvalue for each in found.extremes], pvalues, rtol=1e-8)
    adjusted = [1 - (1 - p) ** 200 for p in pvalues]
    np.testing.assert_allclose([each.adjusted_pvalue for each in found.extremes], adjusted, rtol=1e-4, atol=1e-12)


def test_draws_give_the_pvalues_of_a_mixture_of_one():
    """A mixture of one Gaussian is drawn from: p-values are those by chi-square, to 4 standard errors of 9999 draws."""
    mean, covariance, _ = gaussians(60, 2)
    scale = np.sqrt(covariance[:, :1, 0])
    y = mean + scale * np.random.default_rng(1).normal(size=(60, 2))
    options = {"covariates": {}, "result": verdict(60), "rng": 0}
    exact = sc.diagnose(sc.Gaussian(mean, scale[:, 0]), y, **options)
    drawn = sc.diagnose(sc.GaussianMixture(np.ones((60, 1)), mean[:, None, :], scale), y, **options)
    assert [each.row for each in drawn.extremes] == [each.row for each in exact.extremes]
    p, q = (np.array([each.pvalue for each in found.extremes]) for found in (exact, drawn))
    np.testing.assert_array_less(np.abs(p - q), 4 * np.sqrt(p / 9999) + 1e-4)


def test_noise_is_part_of_the_law():
    """Calibrated predictions with noise are Gaussian of a larger spread: p-values are uniform, and none is tiny."""
    mean, covariance, _ = gaussians(300, 1)
    y = mean + np.sqrt(covariance[:, :, 0]) * np.random.default_rng(2).normal(size=(300, 1))
    noisy = sc.Gaussian(mean, np.sqrt(covariance[:, :, 0])).noisy(1.0)
    found = sc.diagnose(noisy, y, covariates={}, result=verdict(300, 0.5), rng=0)
    assert found.extremes[0].pvalue == pytest.approx(2 * stats.norm.sf(found.extremes[0].distance))
    assert found.extremes[0].adjusted_pvalue > 0.01


def test_what_cannot_be_drawn_has_no_pvalue():
    mean, _, y = gaussians(50, 2)
    predictions = sc.ScoreFunction(lambda z: mean - z, 50, 2)
    rng = np.random.default_rng(0)
    found = extreme_rows(predictions, residuals_of(predictions, y, rng), rng)
    assert len(found) == 10
    assert all(np.isnan(each.pvalue) and np.isnan(each.adjusted_pvalue) for each in found)


def test_rows_are_those_of_the_given_data():
    """The first 20 rows have scores that point away from any centre, and are left out."""
    rng = np.random.default_rng(0)
    mean, lost = rng.normal(size=(120, 1)), np.arange(120) < 20
    y = mean + rng.normal(size=(120, 1))
    y[77] += 20.0
    predictions = sc.ScoreFunction(lambda z: np.where(lost[:, None], z - mean, mean - z), 120, 1)
    with pytest.warns(UserWarning, match="20 of 120"):
        found = sc.diagnose(predictions, y, covariates={}, result=verdict(120), rng=0)
    assert found.extremes[0].row == 77
