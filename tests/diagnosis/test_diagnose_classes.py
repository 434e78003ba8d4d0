"""Sizes of errors of classes: intervals against exact formulas, coverage, words and the picture."""

from functools import partial

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

import scorecal as sc
from scorecal.diagnosis.shares import bins_of, calibration_error, least_tail, share
from scorecal.diagnosis.sizes import Units
from scorecal.diagnosis.temperature import least_tail_of_temperature, temperature
from scorecal.plots import plot_estimates, plot_reliability
from scorecal.report import report_html

mpl.use("Agg")


def softmax(logits):
    parts = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    return parts / np.sum(parts, axis=1, keepdims=True)


def data(seed, n, n_classes=4, sd=1.5):
    rng = np.random.default_rng(seed)
    logits = sd * rng.normal(size=(n, n_classes))
    return logits, sc.Categorical(softmax(logits)).sample(1, rng)[0]


def test_shares_are_those_of_clopper_and_pearson():
    every = np.arange(30)
    for count in (0, 1, 17, 30):
        hits = (every < count) * 1.0
        found = share(hits, every, Units(30), 0.05)
        expected = stats.binomtest(count, 30).proportion_ci(0.95, method="exact")
        assert found[1:] == pytest.approx((expected.low, expected.high), abs=1e-12)
        tail = least_tail(hits, every, 0.4)
        if tail < 1.0:
            ends = share(hits, every, Units(30), tail)
            assert min(abs(ends.low - 0.4), abs(ends.high - 0.4)) < 1e-6
    in_groups = share(hits := (every < 15) * 1.0, every, Units(3, every // 10), 0.05)
    alone = share(hits, every, Units(30), 0.05)
    assert in_groups.low < alone.low
    assert in_groups.high > alone.high


def test_temperature_is_that_of_largest_likelihood():
    logits, y = data(0, 500)
    p = softmax(1.6 * logits)
    found = temperature(p, y, Units(500), 0.05)

    def loss(t):
        return -np.sum(np.log(softmax(1.6 * logits / t))[np.arange(500), y])

    assert found.value == pytest.approx(minimize_scalar(loss, (1.0, 2.0)).x, rel=1e-4)
    assert found.low < 1.6 < found.high
    tail = least_tail_of_temperature(p, y, Units(500))
    assert temperature(p, y, Units(500), tail).low == pytest.approx(1.0, abs=1e-4)
    assert np.isnan(temperature(np.full((20, 2), 0.5), np.zeros(20, int), Units(20), 0.05).value)


def test_calibration_error_by_hand_and_its_coverage():
    """The true error over the bins lies inside the interval, whether it is zero or not."""
    confidence = np.array([0.6] * 40 + [0.9] * 40)
    right = np.array([1.0] * 20 + [0.0] * 20 + [1.0] * 36 + [0.0] * 4)
    bins = bins_of(confidence)
    assert [len(rows) for rows in bins] == [40, 40]
    found = calibration_error(right, confidence, bins, Units(80), 0.05)
    assert found.estimate.value == pytest.approx(0.5 * 0.1)
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.1, np.array([0.15, -0.1])):
        inside = 0
        for _ in range(300):
            confidence = np.repeat(rng.uniform(0.4, 0.8, 2), 60)
            truth = confidence - np.repeat(np.broadcast_to(shift, 2), 60)
            right = (rng.random(120) < truth) * 1.0
            bins = [np.arange(60), np.arange(60, 120)]
            estimate = calibration_error(right, confidence, bins, Units(120), 0.05).estimate
            inside += estimate.low <= np.mean(np.abs(confidence - truth)) <= estimate.high
        assert inside >= 276  # of 300 at 95 %: p = .02


def test_words_and_picture():
    logits, y = data(0, 1000)
    found = sc.diagnose(sc.Categorical(softmax(2.0 * logits), labels=list("abcd")), np.array(list("abcd"))[y], rng=0)
    assert found.statements[0].startswith("Over-confident: says 78 %, is right 61 % (")
    assert found.temperature.low < 2.0 < found.temperature.high
    assert found.calibration_error.estimate.low > 0.05
    assert sum(each.n for each in found.bins) == found.n == 1000
    for part in ("largest probability", "Expected calibration error", "hold all at once with 95 % confidence"):
        assert part in str(found)
    ax = plot_reliability(found)
    assert ax.get_ylabel() == "share that is right"
    assert found.plot() is not None
    for wrong in (plot_estimates, partial(report_html, found.result)):
        with pytest.raises(TypeError, match="`diagnosis` is of classes"):
            wrong(found)
    mpl.pyplot.close("all")
    biased = sc.diagnose(sc.Categorical(softmax(logits + np.eye(4)[0])), y, rng=0)
    assert any(
        sentence.startswith("Class '0': claimed for 40 % of rows, found in 25 %") for sentence in biased.statements
    )


def test_calibrated_predictions_are_not_blamed():
    """Nothing is said unless the test rejects, and no interval of a share excludes what is claimed."""
    stated = 0
    for seed in range(60):
        logits, y = data(100 + seed, 150)
        found = sc.diagnose(sc.Categorical(softmax(logits)), y, n_resamples=99, rng=0)
        stated += bool(found.statements)
        if not found.result.rejects():
            assert found.accuracy.holds(found.claimed_accuracy)
            assert all(each.found.holds(each.claimed) for each in (*found.classes, *found.bins))
            assert found.temperature.holds(1.0)
    assert stated <= 8


def test_groups_widen_intervals():
    logits, y = data(0, 400)
    predictions, group = sc.Categorical(softmax(1.5 * logits)), np.repeat(np.arange(40), 10)
    alone, grouped = (sc.diagnose(predictions, y, groups=each, rng=0) for each in (None, group))
    assert grouped.n_clusters == 40
    assert grouped.accuracy.low <= alone.accuracy.low
    assert grouped.result.null == "signs"
