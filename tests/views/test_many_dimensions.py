"""Views of many dimensions: what they see, what they say they do not, and what they cost."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import norm

import scorecal as sc
from scorecal.resampling import RandomSigns
from scorecal.resampling.automatic import automatic_null
from scorecal.resampling.estimators import Complete
from scorecal.views.frame import frame_of
from scorecal.views.taken_out import without

N, D = 200, 60


def data(seed, kind="diagonal", d=D, n=N, **flaw):
    rng = np.random.default_rng(seed)
    mean, sd = rng.normal(size=(n, d)), np.exp(0.3 * rng.normal(size=(n, d)))
    noise = rng.normal(size=(n, d)) * (1.0 + flaw.get("spread", 0.0)) + flaw.get("bias", 0.0)
    noise += flaw.get("factor", 0.0) * rng.normal(size=(n, 1))
    noise[:, 1] += flaw.get("alone", 0.0)
    y = mean * (1.0 + flaw.get("gain", 0.0)) + sd * noise
    if kind == "scores":
        return sc.ScoreFunction(lambda y: (mean - y) / sd**2, n, d), y
    return sc.Gaussian(mean, sd), y


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["diagonal", "scores"])
def test_calibrated_predictions_are_rejected_as_often_as_the_level_says(kind):
    rejected = sum(sc.calibration_test(*data(k, kind), n_resamples=99, rng=k).rejects() for k in range(200))
    assert rejected <= 20


@pytest.mark.parametrize("kind", ["diagonal", "scores"])
@pytest.mark.parametrize(
    ("flaw", "seen"),
    [
        ({"spread": 0.08}, "over-confidence"),
        ({"bias": 0.1}, "bias"),
        ({"alone": 0.6}, "bias"),
        ({"factor": 0.3}, "correlation"),
        ({"gain": 0.2}, "dependence"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_flaws_are_seen_and_named(kind, flaw, seen):
    result = sc.calibration_test(*data(0, kind, **flaw), n_resamples=199, rng=0)
    assert result.rejects()
    assert result.seen[0] == seen


def test_no_matrix_is_made_for_each_row():
    predictions, y = data(0, d=300, n=100)
    tracemalloc.start()
    sc.calibration_test(predictions, y, n_resamples=99, rng=0)
    sc.diagnose(predictions, y, n_resamples=99, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 300 * 300 * 8


def test_what_is_not_looked_at_is_said():
    few, many = (sc.calibration_test(*data(0, d=d), n_resamples=99, rng=0).cannot_see for d in (3, D))
    assert not any("dimensions" in sentence for sentence in few)
    assert [sentence.split(":")[0] for sentence in many] == [
        "the correlation of most pairs of the 60 dimensions",
        "a bias of one of the 60 dimensions that depends on another one, or not linearly on its own location",
    ]
    fitted = sc.calibration_test(*data(0, "scores"), n_resamples=99, rng=0).cannot_see
    assert any("more than one spread for each of the 60 dimensions" in sentence for sentence in fitted)


def test_every_form_of_prediction_has_a_verdict():
    rng = np.random.default_rng(1)
    predictions, y = data(0, d=40, n=60)
    mean, sd = predictions.mean, predictions.scale
    mixture = sc.GaussianMixture(np.full((60, 2), 0.5), np.stack([mean, mean + 3.0], 1), np.stack([sd, sd], 1))
    pairs = [
        (mixture, mixture.sample(1, rng)[0]),
        (sc.from_samples(mean[:, None] + sd[:, None] * rng.normal(size=(60, 10, 40))), y),
        (sc.CdfFunction(lambda y: norm.cdf(y, mean, sd), mean=mean, scale=sd), y),
        (sc.Gaussian(mean, covariance=sd[:, :, None] ** 2 * np.eye(40)), y),
    ]
    for each, targets in pairs:
        assert not sc.calibration_test(each, targets, n_resamples=99, rng=0).rejects(0.01)
    for options in ({"groups": np.arange(60) // 2}, {"horizon": 1}, {"covariates": {"a": np.arange(60) % 3}}):
        assert not sc.calibration_test(predictions, y, n_resamples=99, rng=0, **options).rejects(0.01)


def test_many_numbers_are_judged_by_signs():
    for kind in ("diagonal", "scores"):
        assert isinstance(automatic_null(data(0, kind, d=300, n=60)[0], Complete(), 60, chains=True), RandomSigns)


def test_a_factor_is_taken_out_and_spreads_stay():
    frame = frame_of(*data(0, factor=0.5), 0.0)
    before, after = (np.cov(each.marginal[0][0].T) for each in (frame, without(frame, ["correlation"])))
    ones = np.ones(D) / D**0.5
    assert ones @ before @ ones > 8.0
    assert ones @ after @ ones < 1.8
    np.testing.assert_allclose(np.diag(after), np.diag(before), rtol=0.1)
    untouched = frame_of(*data(0), 0.0)
    np.testing.assert_allclose(without(untouched, ["correlation"]).targets, untouched.targets, rtol=1e-9, atol=1e-9)
