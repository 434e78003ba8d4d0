"""Rows in batches: the outcome of all rows in memory."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

import scorecal as sc
from scorecal.streams import Batches, judge
from scorecal.views import sample

LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9]
OPTIONS = {"estimator": "low-rank", "null": "signs", "n_resamples": 99, "rng": 3}


def rows(kind, n, off=1.0):
    """A function that makes predictions of some rows, and all targets."""
    rng = np.random.default_rng(5)
    d = 2 if kind in ("diagonal", "full") else 1
    mean, sd = 2.0 * rng.normal(size=(n, d)), np.exp(0.3 * rng.normal(size=(n, d)))
    y, base = mean + sd * rng.normal(size=(n, d)), rng.normal(size=(6, d))
    covariance = (
        (off * sd)[:, :, None] * np.array([[1.0, 0.4], [0.4, 1.0]]) * (off * sd)[:, None, :] if d == 2 else None
    )
    component = np.where(rng.random((n, 1)) < 0.3, -1.5, 1.5)
    made = {
        "line": lambda some: sc.Gaussian(mean[some], off * sd[some]),
        "diagonal": lambda some: sc.Gaussian(mean[some], off * sd[some]),
        "full": lambda some: sc.Gaussian(mean[some], covariance=covariance[some]),
        "scores": lambda some: sc.Scores(mean[some] - y[some], mean[some, None] - base, base),
        "quantiles": lambda some: sc.from_quantiles(LEVELS, mean[some] + off * sd[some] * norm.ppf(LEVELS)),
        "mixture": lambda some: sc.GaussianMixture(
            np.tile([0.3, 0.7], (len(mean[some]), 1)),
            mean[some, None] + off * np.array([[-1.5], [1.5]]),
            np.full((len(mean[some]), 2), off * 0.5),
        ),
    }[kind]
    if kind == "scores":
        y = mean + off * (y - mean) / sd
    if kind == "mixture":
        y = mean + component + 0.5 * (y - mean) / sd
    return made, y


def in_parts(made, y, *ends):
    return [(made(slice(*pair)), y[slice(*pair)]) for pair in zip((0, *ends), (*ends, len(y)), strict=True)]


def check_same(judged, result, diagnosis, *, noise=False, words=True):
    found = judged.result
    if not noise:
        assert found.pvalue == result.pvalue
    of_all = ("cannot_see", "coordinates", "null", "n", "n_resamples", "n_clusters")
    for name in (*of_all, "seen", "warnings", "message") if words else of_all:
        assert noise or getattr(found, name) == getattr(result, name), name
    assert [view.name for view in found.views] == [view.name for view in result.views]
    for one, other in zip(found.views, result.views, strict=True):
        if one.name.startswith("modes") and noise:
            continue
        scale = np.std(other.null_distribution)
        np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-9, atol=1e-11 * scale)
        np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=0, atol=3e-5 * scale)
    for name, value in result.bandwidths.items():
        assert found.bandwidths[name] == pytest.approx(value, rel=1e-12)
    for one, other in zip(judged.diagnosis._sizes, diagnosis._sizes, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.below, other.below, rtol=1e-6)
        np.testing.assert_allclose(one.above, other.above, rtol=1e-6)
    for pair, other in zip(judged.diagnosis.correlations, diagnosis.correlations, strict=True):
        assert (pair.claimed, pair.found.value) == pytest.approx((other.claimed, other.found.value), rel=1e-9)
        assert pair.found.high == pytest.approx(other.found.high, abs=0.01)
    assert judged.diagnosis.confidence_ratio[0].high == pytest.approx(diagnosis.confidence_ratio[0].high, abs=0.01)
    for one, other in zip(judged.diagnosis.extremes, diagnosis.extremes, strict=True):
        assert one.row == other.row
        assert one.distance == pytest.approx(other.distance)
        assert one.adjusted_pvalue == pytest.approx(other.adjusted_pvalue, nan_ok=True)
    for name in ("source", "understated", "n", "coordinates"):
        assert getattr(judged.diagnosis, name) == getattr(diagnosis, name)


@pytest.mark.parametrize(
    ("kind", "n", "off"),
    [("line", 600, 0.8), ("full", 400, 0.85), ("scores", 600, 1.2), ("quantiles", 700, 1.0)],
)
def test_all_rows_in_memory_give_the_same(kind, n, off):
    made, y = rows(kind, n, off)
    given = made(slice(0, n))
    result = sc.calibration_test(given, y, **OPTIONS)
    diagnosis = sc.diagnose(given, y, result=result, n_resamples=99, rng=3)
    check_same(judge(Batches(in_parts(made, y, 13, 301, 398)), n_resamples=99, rng=3), result, diagnosis)


def test_batches_of_torch_stay_there(tmp_path):
    made, y = rows("diagonal", 400, 0.8)
    parts = [
        (sc.Gaussian(torch.as_tensor(given.mean), torch.as_tensor(given.scale)), torch.as_tensor(target))
        for given, target in in_parts(made, y, 150)
    ]
    result = sc.calibration_test(made(slice(0, 400)), y, **OPTIONS)
    diagnosis = sc.diagnose(made(slice(0, 400)), y, result=result, n_resamples=99, rng=3)
    check_same(judge(Batches(parts), n_resamples=99, rng=3), result, diagnosis)
    with pytest.raises(TypeError, match="`state` is for predictions in NumPy"):
        judge(Batches(parts), n_resamples=99, rng=3, state=tmp_path / "state")


def test_views_of_mixtures_but_for_their_noise():
    made, y = rows("mixture", 500)
    result = sc.calibration_test(made(slice(0, 500)), y, **OPTIONS)
    diagnosis = sc.diagnose(made(slice(0, 500)), y, result=result, n_resamples=99, rng=3)
    check_same(judge(Batches([(made(slice(0, 500)), y)]), n_resamples=99, rng=3), result, diagnosis)
    check_same(judge(Batches(in_parts(made, y, 250)), n_resamples=99, rng=3), result, diagnosis, noise=True)


@pytest.mark.parametrize("kind", ["line", "full"])
def test_many_rows_share_ranks_among_a_sample(monkeypatch, kind):
    """Sizes of errors come from sums over all rows."""
    monkeypatch.setattr(sample, "MOST_ROWS", 200)
    made, y = rows(kind, 600, 0.97)
    result = sc.calibration_test(made(slice(0, 600)), y, **OPTIONS)
    every = [(), (100, 340)] if kind == "line" else [(100, 340)]
    found = [judge(Batches(in_parts(made, y, *ends)), n_resamples=99, rng=3) for ends in every]
    diagnosis = sc.diagnose(made(slice(0, 600)), y, result=result, n_resamples=99, rng=3)
    for each in found:
        check_same(each, result, diagnosis, words=False)
        assert len(each.sample.rows) == 200
        assert each.diagnosis.worst_direction.ratio.value == pytest.approx(
            diagnosis.worst_direction.ratio.value, abs=0.1
        )
    np.testing.assert_array_equal(found[0].sample.rows, found[-1].sample.rows)
    np.testing.assert_array_equal(found[0].sample.y, y[found[0].sample.rows])


def test_outliers_among_many_rows_are_seen(monkeypatch):
    """Sizes are then those of the other rows of the sample."""
    monkeypatch.setattr(sample, "MOST_ROWS", 300)
    made, y = rows("line", 2000)
    y[[700, 1500]] += 60.0
    expected = sc.calibration_test(made(slice(0, 2000)), y, **OPTIONS)
    found = judge(Batches(in_parts(made, y, 1000)), n_resamples=99, rng=3)
    assert found.result.seen == expected.seen == ("outliers",)
    assert sorted(found.diagnosis.outliers) == [700, 1500]
    assert found.diagnosis.statements[0].startswith("2 rows are outliers")
    assert found.diagnosis.confidence_ratio[0].holds(1.0)


def test_coverage_is_that_of_all_levels():
    made, y = rows("diagonal", 800, 0.9)
    expected = sc.expected_coverage(made(slice(0, 800)), y)
    coverage = judge(Batches(in_parts(made, y, 300)), n_resamples=19, rng=0).coverage
    nominal = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(coverage.curve(nominal), expected.curve(nominal), atol=1 / 800 + 1e-12)
    assert coverage.pvalue == pytest.approx(expected.pvalue, rel=0.01)
    assert coverage.conservative() == expected.conservative()


def test_parts_of_any_size_are_read_some_rows_at_a_time(monkeypatch):
    monkeypatch.setattr("scorecal.streams.batches._ROWS_AT_ONCE", 64)
    made, y = rows("diagonal", 333)
    whole = judge(Batches([(made(slice(0, 333)), y)]), n_resamples=99, rng=3)
    parts = judge(Batches(range(3), lambda k: in_parts(made, y, 111, 222)[k], [111] * 3), n_resamples=99, rng=3)
    assert whole.result.pvalue == parts.result.pvalue
    assert parts.result.contributions.shape == (0,)


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ((pair for pair in ()), {}, "`parts` must be gone through twice"),
        ([1, 2], {"read": 3}, "`read` must be a function"),
        ([1, 2], {"read": lambda part: part}, "`read` must return a pair"),
        (
            [1],
            {"read": lambda part: (sc.Categorical(np.full((9, 3), 1 / 3)), np.zeros(9))},
            "classes are judged in mem",
        ),
        ([1], {"read": lambda part: (sc.ScoreFunction(lambda y: -y, 9, 1), np.arange(9.0))}, "that are arrays"),
        ([1], {"read": lambda part: (sc.from_samples(np.ones((9, 9, 2))), np.ones((9, 2)))}, "in several dimensions"),
        ([1], {"read": lambda part: (sc.Gaussian(np.zeros(9), 1.0), np.arange(9.0)), "sizes": [8]}, "`sizes` must say"),
        ([1], {"sizes": [0]}, "`sizes`"),
        ([1], {"read": lambda part: (sc.Gaussian(np.zeros(9), 1.0), np.arange(9.0)), "sizes": [9, 9]}, "must give 2 b"),
        ([], {}, "at least one batch"),
        (
            [1, 2],
            {"read": lambda part: (sc.Gaussian(np.zeros(9), np.ones((9, part))), np.arange(9.0))},
            "`scale`|shape",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:`y` is constant")
def test_bad_input(parts, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        judge(Batches(parts, **options), n_resamples=19, rng=0)


def test_bad_options():
    batches = Batches([(sc.Gaussian(np.zeros(9), 1.0), np.arange(9.0))])
    with pytest.raises(TypeError, match="`batches` must be"):
        judge([1, 2])
    with pytest.raises(TypeError, match="must be a seed with `state`"):
        judge(batches, state="x", rng=np.random.default_rng(0))
    with pytest.raises(TypeError, match="MT19937"):
        judge(batches, rng=np.random.Generator(np.random.MT19937(0)))
