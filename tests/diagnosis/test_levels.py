"""Sizes of every level of every covariate."""

import numpy as np
import pytest
from verdicts import verdict

import scorecal as sc

N = 300


def data(d=2):
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(N, d))
    return mean, mean + 1.2 * rng.normal(size=(N, d))


def levels(covariates, groups=None):
    mean, y = data()
    options = {"covariates": covariates, "groups": groups, "simultaneous": False, "n_resamples": 9}
    result = verdict(N, n_clusters=None if groups is None else len(set(groups)))
    with pytest.warns(UserWarning, match="not looked for there|each has its own sizes|left out"):  # of too few rows
        return sc.diagnose(sc.Gaussian(mean, 1.0), y, result=result, rng=0, **options).levels


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "groups"])
def test_each_label_is_as_its_rows_alone(clustered):
    mean, y = data()
    station = np.random.default_rng(1).choice([f"s{k}" for k in range(8)], N)
    groups = np.arange(N) // 3 if clustered else None
    found = levels({"station": station}, groups)
    assert [level.name for level in found] == [f"station = s{k}" for k in range(8)]
    for level in found:
        rows = station == level.name.removeprefix("station = ")
        assert (level.covariate, level.n) == ("station", rows.sum())
        own = None if groups is None else groups[rows]
        result = verdict(rows.sum(), n_clusters=None if own is None else len(set(own)))
        options = {"covariates": {}, "simultaneous": False, "result": result, "rng": 0}
        alone = sc.diagnose(sc.Gaussian(mean[rows], 1.0), y[rows], groups=own, **options)
        np.testing.assert_allclose(level.bias, alone.bias)
        np.testing.assert_allclose(level.confidence_ratio, alone.confidence_ratio)


def test_numbers_and_times_have_quarters():
    x = np.random.default_rng(1).normal(size=N)
    day = np.datetime64("2023-01-01") + np.arange(N)
    mean, y = data()
    options = {"covariates": {"x": x, "day": day}, "result": verdict(N), "n_resamples": 9, "rng": 0}
    found = sc.diagnose(sc.Gaussian(mean, 1.0), y, **options).levels
    assert [level.n for level in found] == [75] * 8
    assert found[0].name.startswith("x <= -0.")
    assert "< x <=" in found[1].name
    assert found[3].name.startswith("x > 0.")
    assert found[4].name == "day from 2023-01-01 to 2023-03-16"
    assert found[7].name == "day from 2023-08-14 to 2023-10-27"


def test_small_levels_cannot_be_estimated_and_rare_labels_are_taken_together():
    names = np.array([f"s{min(k, 120)}" for k in range(N)])
    names[:100] = "many"
    found = levels({"station": np.where(np.arange(N) < 9, "few", "others"), "labels": np.arange(N).astype(str)})
    few, others, *labels = found
    assert (few.name, few.n, str(few.bias[0])) == ("station = few", 9, "cannot be estimated")
    assert others.n == N - 9
    assert np.isfinite(others.bias[0].low)
    assert len(labels) == 101
    assert labels[-1].name == "labels = another of 300 labels"
    assert labels[-1].n == N - 100
    assert np.isfinite(labels[-1].confidence_ratio[0].low)


def test_there_are_none_without_covariates_or_with_one_value():
    mean, y = data()
    assert sc.diagnose(sc.Gaussian(mean, 1.0), y, result=verdict(N), n_resamples=9, rng=0).levels == ()
    assert levels({"same": np.ones(N)}) == ()


def test_many_levels_are_counted_and_few_are_shown():
    mean, y = data()
    shown = str(sc.diagnose(sc.Gaussian(mean, 1.0), y, covariates={"x": mean[:, 0]}, result=verdict(N), rng=0))
    assert "where                rows  dimension" in shown or "rows  dimension  bias" in shown
    options = {"covariates": {"k": mean[:, 0], "m": mean[:, 1], "n": y[:, 0], "o": y[:, 1]}, "n_resamples": 9}
    shown = str(sc.diagnose(sc.Gaussian(mean, 1.0), y, result=verdict(N), rng=0, **options))
    assert "Sizes of all 16 levels of the covariates are in `levels`." in shown
