"""Targets from which flaws are taken out: what is then left, for predictions of all kinds."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.experiments import flawed, modes, skewed
from scorecal.views.frame import frame_of
from scorecal.views.taken_out import spread_too_much, without


def left(predictions, y, *kinds):
    return without(frame_of(predictions, y, 0.0), kinds)


@pytest.mark.parametrize("as_scores", [False, True])
def test_a_bias_and_spreads_of_gaussians(as_scores):
    """What is left has mean zero and the claimed spread in each dimension, whether scores can be asked for or not."""
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=(400, 2)), np.exp(0.2 * rng.normal(size=(400, 2)))
    predictions, y = sc.Gaussian(mean, sd), mean + sd * (0.4 + np.array([1.6, 0.7]) * rng.normal(size=(400, 2)))
    if as_scores:
        base = 2.0 * rng.normal(size=(20, 2))
        at_base = np.moveaxis(predictions.score(np.tile(base[:, None, :], (1, 400, 1))), 0, 1)
        predictions = sc.Scores(predictions.score(y), at_base, base)
    u, t = (part[0] for part in left(predictions, y, "bias", "over-confidence").marginal)
    np.testing.assert_allclose(u.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose((u**2).mean(axis=0), 1.0, rtol=1e-6)
    np.testing.assert_allclose(t, -u, atol=1e-6)


@pytest.mark.parametrize("kind", ["bias", "over-confidence"])
def test_skewed_predictions_are_moved_by_their_own_scores(kind):
    predictions, y = skewed(400, 2, "location" if kind == "bias" else "scale", 0.4 if kind == "bias" else 0.7, rng=0)
    u, t = (part[0] for part in left(predictions, y, kind).marginal)
    values = t if kind == "bias" else u * t + 1.0
    assert np.all(np.abs(values.mean(axis=0)) < values.std(axis=0) / 400**0.5)  # less than one standard error


def test_a_wrong_correlation_and_not_the_spreads():
    predictions, y = flawed(400, 3, "correlation", 0.3, rng=0)
    before, frame = frame_of(predictions, y, 0.0), left(predictions, y, "correlation")
    z, s = (part[0] for part in frame.whitened)
    np.testing.assert_allclose(-s.T @ z / 400, np.eye(3), atol=0.15)
    squares = [(each.marginal[0] ** 2).mean(axis=(0, 1)) for each in (before, frame)]
    np.testing.assert_allclose(squares[1], squares[0], rtol=1e-6)


def test_spreads_of_modes_are_those_of_components():
    """The components 8 apart stay where they are."""
    predictions, y = modes(400, 1, separation=8.0, scale=0.8, rng=0)
    assert spread_too_much(frame_of(predictions, y, 0.0))
    moved = left(predictions, y, "over-confidence").targets[0]
    nearest = np.argmin(np.abs(y[:, None] - predictions.means), axis=1)
    errors = (moved - predictions.means[np.arange(400), nearest[:, 0]]) / 0.8
    assert np.mean(errors**2) == pytest.approx(1.0, rel=0.02)
    np.testing.assert_allclose(np.mean(moved), np.mean(y), atol=0.2)


@pytest.mark.parametrize("flaw", ["bias wave", "spread wave", "scale by x", "location by x", "shrinkage"])
def test_what_depends_on_the_prediction(flaw):
    """Errors and their squares no longer follow the wave or the sign of the first location."""
    predictions, y = flawed(2000, 1, flaw, 0.7 if flaw in ("scale by x", "shrinkage") else 0.4, rng=0)
    location = predictions.mean[:, 0]
    for function in (np.sign(location), location, np.cos(3.6 * location)):
        clear = []
        for frame in (frame_of(predictions, y, 0.0), left(predictions, y, "dependence")):
            u = frame.marginal[0][0, :, 0]
            products = [(function - function.mean()) * (v - v.mean()) for v in (u, u**2)]
            clear.append(max(abs(v.mean()) / v.std() * 2000**0.5 for v in products))
        assert clear[1] < max(2.5, 0.3 * clear[0])


def test_outliers_are_pulled_in():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(400, 1))
    y = mean + rng.normal(size=(400, 1))
    y[3] = -999.0
    moved = left(sc.Gaussian(mean, 1.0), y, "outliers").targets[0]
    assert -1.5 < (moved - mean)[3, 0] < -0.3
    np.testing.assert_allclose(np.delete(moved, 3), np.delete(y, 3))


def test_covariates_and_errors_before():
    rng = np.random.default_rng(0)
    mean, hour = rng.normal(size=400), rng.uniform(size=400)
    error = rng.normal(size=400) + 2.0 * (hour - 0.5)
    seen = sc.calibration_test(sc.Gaussian(mean, 1.0), mean + error, covariates={"hour": hour}, rng=0).seen
    assert seen == ("covariates",)
    for k in range(1, 400):
        error[k] = 0.6 * error[k - 1] + 0.8 * rng.normal()
    seen = sc.calibration_test(sc.Gaussian(mean, 1.0), mean + error, horizon=1, rng=0).seen
    assert seen == ("serial",)


def test_scores_that_are_known_nowhere_else():
    """Nothing can be taken out where a model answers at its own targets only; the clearest kind is named alone."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(120, 1))
    y = mean + 0.6 + rng.normal(size=(120, 1))

    def score(points):
        if points.shape == y.shape and not np.array_equal(points, y):
            raise ValueError("outside the prior")
        return mean - points

    assert sc.calibration_test(sc.ScoreFunction(score, 120, 1), y, null="signs", rng=0).seen == ("bias",)


def test_scores_that_overflow_far_from_targets():
    """Those of Gumbel predictions in ten dimensions, when whitened targets are turned."""
    predictions, y = skewed(200, 10, "location", 0.2, rng=np.random.default_rng([6, 200]))
    assert sc.calibration_test(predictions, y, n_resamples=99, rng=6).seen == ("bias",)


@pytest.mark.parametrize("error", [1e-2, 1e-4, 1e-6])
def test_errors_that_are_tiny_are_no_wrong_shape(error):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=200)
    found = sc.calibration_test(sc.Gaussian(mean, 1.0), mean + error * rng.normal(size=200), n_resamples=99, rng=0)
    assert found.seen == ("under-confidence",)


def test_a_model_that_fails_far_from_its_targets_fails_no_test():
    mean = np.random.default_rng(0).normal(size=(200, 1))
    y = mean + 0.8 + 1.5 * np.random.default_rng(1).normal(size=(200, 1))

    def score(points):
        if points.shape == y.shape and not np.array_equal(points, y):
            raise IndexError("far from the table")
        return mean - points

    found = sc.calibration_test(sc.ScoreFunction(score, 200, 1), y, null="signs", n_resamples=99, rng=0)
    assert len(found.seen) >= 1
