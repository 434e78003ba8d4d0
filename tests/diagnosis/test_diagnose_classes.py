"""Sizes of errors of classes: intervals against exact formulas, coverage, words and the picture."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

import scorecal as sc
from scorecal.diagnosis.class_words import percent, side_by_side
from scorecal.diagnosis.shares import bins_of, calibration_error, least_tail, least_tail_of_error, share
from scorecal.diagnosis.sizes import Estimate, Units
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
    flat = temperature(np.tile([0.4, 0.6], (20, 1)), np.arange(20) % 2, Units(20), 0.05)
    assert flat.low < 1.0 < flat.high == np.inf


def test_calibration_error_by_hand_and_its_coverage():
    """The true error over the bins lies inside the interval, whether it is zero or not."""
    confidence = np.array([0.6] * 40 + [0.9] * 40)
    right = np.array([1.0] * 20 + [0.0] * 20 + [1.0] * 36 + [0.0] * 4)
    bins = bins_of(confidence)
    assert [len(rows) for rows in bins] == [40, 40]
    found = calibration_error(right, confidence, bins, Units(80), 0.05)
    assert found.estimate.value == pytest.approx(0.5 * 0.1)
    least = least_tail_of_error(right, confidence, bins, Units(80))
    assert calibration_error(right, confidence, bins, Units(80), 0.999 * least).estimate.low == 0.0
    assert calibration_error(right, confidence, bins, Units(80), 1.01 * least).estimate.low > 0.0
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
    with pytest.raises(TypeError, match="`diagnosis` is of classes"):
        plot_estimates(found)
    for page in (report_html(found.result, found), found._repr_html_()):
        assert "Over-confident: says 78 %, is right 61 % (" in page
        assert "Expected calibration error" in page
    mpl.pyplot.close("all")
    biased = sc.diagnose(sc.Categorical(softmax(logits + np.eye(4)[0])), y, rng=0)
    assert any(
        sentence.startswith("Class '0': claimed for 40 % of rows, found in 25 %") for sentence in biased.statements
    )


def test_calibrated_predictions_are_not_blamed():
    """Nothing is said unless the test rejects, and no interval excludes what is claimed, by covariates either."""
    stated = 0
    for seed in range(30):
        logits, y = data(100 + seed, 220)
        given = {"x": np.random.default_rng(seed).normal(size=220), "side": np.arange(220) % 2 == 0}
        predictions = sc.Categorical(softmax(logits), ordinal=True)
        found = sc.diagnose(predictions, y, covariates=given, n_resamples=99, rng=0)
        stated += bool(found.statements)
        assert len(found.levels) == 6
        if found.result.rejects():
            continue
        assert found.where is None
        assert found.temperature.holds(1.0)
        assert found.calibration_error.estimate.low == 0.0
        assert found.places.bias.holds(0.0)
        assert found.places.ratio.holds(1.0)
        parts = [found, *found.levels, *(part for each in found.regions for part in (each.there, each.elsewhere))]
        assert len(parts) == 11
        for part in parts:
            assert part.accuracy.holds(part.claimed_accuracy)
            assert all(each.found.holds(each.claimed) for each in part.classes)
    assert stated <= 5  # of 30 at 5 %: p = .003


def test_levels_and_regions():
    """Over-confident in one region, biased towards one class in another."""
    logits, y = data(1, 2000, 3)
    rng = np.random.default_rng(1)
    region, x = np.array(["north", "south", "west"])[rng.integers(3, size=2000)], rng.normal(size=2000)
    told = np.where((region == "south")[:, None], 2.5 * logits, logits)
    found = sc.diagnose(sc.Categorical(softmax(told)), y, covariates={"region": region, "x": x}, rng=0)
    assert found.where.there.name == "region = south"
    assert found.where.contrast_pvalue <= 0.0125
    south = next(level for level in found.levels if level.name == "region = south")
    rows = region == "south"
    assert south.n == np.sum(rows)
    assert south.accuracy.value == pytest.approx(np.mean((np.argmax(told, axis=1) == y)[rows]))
    assert south.claimed_accuracy == pytest.approx(np.mean(np.max(softmax(told), axis=1)[rows]))
    assert [each.found.value for each in south.classes] == pytest.approx(np.bincount(y[rows]) / np.sum(rows))
    assert south.accuracy.high < south.claimed_accuracy
    assert found.statements[0].startswith("Errors differ between regions, most where region = south (")
    assert found.statements[1].startswith("There: over-confident: says ")
    assert found.statements[2] == "Elsewhere: no wrong accuracy or share found."
    assert "region = west" in str(found)
    told = logits + 1.5 * np.eye(3)[0] * (x > 0.7)[:, None]
    found = sc.diagnose(sc.Categorical(softmax(told)), y, covariates={"x": x}, result=None, rng=0)
    assert found.where.there.covariate == "x"
    assert "class '0': claimed for" in found.statements[1]
    with pytest.warns(UserWarning, match="no region of 'k' has 100 or more"):
        few = sc.diagnose(sc.Categorical(softmax(told[:60])), y[:60], covariates={"k": np.arange(60) < 5}, rng=0)
    assert [level.n for level in few.levels] == [55, 5]
    assert np.isnan(few.levels[1].accuracy.value)


def test_regions_are_not_named_where_all_are_as_wrong():
    named = 0
    for seed in range(20):
        logits, y = data(300 + seed, 400, 3)
        x = np.random.default_rng(seed).normal(size=400)
        found = sc.diagnose(sc.Categorical(softmax(1.8 * logits)), y, covariates={"x": x}, n_resamples=199, rng=0)
        named += found.where is not None
    assert named <= 2  # of 20 at 1.25 %: p = .002


def test_order():
    logits, y = data(2, 1500, 5)
    p = softmax(logits + 0.2 * np.arange(5.0))
    found = sc.diagnose(sc.Categorical(p, ordinal=True), y, rng=0)
    assert found.places.bias.value == pytest.approx(np.mean(p @ np.arange(5.0) - y))
    assert found.places.bias.low > 0
    assert any(sentence.startswith("Predictions are too high in the order, by 0.") for sentence in found.statements)
    assert "Places in the order" in str(found)
    assert sc.diagnose(sc.Categorical(p), y, rng=0).places is None


def test_within():
    """True and False are right, and True is rare where the true error is at the limit."""
    logits, y = data(3, 4000, 3)
    right, wrong = (sc.diagnose(sc.Categorical(softmax(k * logits)), y, n_resamples=99, rng=0) for k in (1.0, 3.0))
    assert right.within(error=0.05) is True
    assert right.within(error=0.01) is None
    assert wrong.within(error=0.02) is False
    for bad in (0.0, 1.0, -1, "a", None, np.nan):
        with pytest.raises(ValueError, match="`error` must be the largest calibration error"):
            right.within(error=bad)
    rng, within = np.random.default_rng(0), 0
    for _ in range(200):
        confidence = rng.uniform(0.6, 0.9, 400)
        hit = (rng.random(400) < confidence - 0.05) * 1.0
        within += calibration_error(hit, confidence, bins_of(confidence), Units(400), 0.1).estimate.high < 0.05
    assert within <= 17  # of 200 at 5 %: p = .02
    assert right._one_sided_error.high < right.calibration_error.estimate.high


def test_numbers_are_told_apart():
    assert [percent(each) for each in (0.0, 0.0004, 0.034, 0.5, 0.9, 0.987, 0.99996, 1.0)] == [
        "0 %", "0.04 %", "3.4 %", "50 %", "90 %", "98.7 %", "99.996 %", "100 %",
    ]  # fmt: skip
    assert side_by_side(0.7234, Estimate(0.68, 0.64, 0.7161)) == ("72.3 %", "68.0 % (64.0 to 71.6 %)")
    assert side_by_side(0.7234, Estimate(0.68, 0.64, 0.7261)) == ("72 %", "68 % (64 to 73 %)")


def test_other_levels_and_results_of_other_rows():
    logits, y = data(5, 300)
    predictions = sc.Categorical(softmax(logits))
    result = sc.calibration_test(predictions, y, rng=0)
    found = sc.diagnose(predictions, y, result=result, confidence_level=1.0 - min(0.99, 1.01 * result.pvalue), rng=0)
    assert "it is rejected." in found.message
    with pytest.raises(ValueError, match="give `diagnose` the same `groups` and `horizon`"):
        sc.diagnose(predictions, y, result=result, groups=np.arange(300) // 10)


def test_a_temperature_without_an_end():
    _, y = data(7, 300, 2)
    p = np.where(np.random.default_rng(0).random(300) < 0.5, 0.9, 0.1)  # which know nothing of the targets
    found = sc.diagnose(sc.Categorical(p), y, rng=0)
    assert found.temperature.high == np.inf
    assert re.search(r"logits would have to be divided by \d+\.\d\d or more\.", found.statements[0])


def test_two_classes_are_told_once():
    logits, y = data(6, 800, 2)
    found = sc.diagnose(
        sc.Categorical(softmax(logits + np.array([0.8, 0.0])), labels=["dry", "wet"]), np.array(["dry", "wet"])[y]
    )
    assert sum("Class '" in sentence for sentence in found.statements) == 1
    assert len(found.classes) == 2


def test_groups_widen_intervals():
    logits, y = data(0, 400)
    predictions, group = sc.Categorical(softmax(1.5 * logits)), np.repeat(np.arange(40), 10)
    alone, grouped = (sc.diagnose(predictions, y, groups=each, rng=0) for each in (None, group))
    assert grouped.n_clusters == 40
    assert grouped.accuracy.low <= alone.accuracy.low
    assert grouped.result.null == "signs"
