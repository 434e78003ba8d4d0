"""A diagnosis of many dimensions names those that are wrong."""

import numpy as np
import pytest

import scorecal as sc
from scorecal.diagnosis.many_dimensions import in_runs

N, D = 300, 64
PATCH = np.isin(np.arange(D), [10, 11, 12, 18, 19, 20])


def diagnosis(kind="diagonal", bias=0.0, spread=1.0, **options):
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=(N, D)), np.exp(0.3 * rng.normal(size=(N, D)))
    y = mean + sd * rng.normal(size=(N, D)) * np.where(PATCH, spread, 1.0) + sd * bias * PATCH
    predictions = sc.Gaussian(mean, sd)
    if kind == "scores":
        predictions = sc.ScoreFunction(lambda y: (mean - y) / sd**2, N, D)
    return sc.diagnose(predictions, y, n_resamples=199, rng=0, **options)


@pytest.mark.parametrize("kind", ["diagonal", "scores"])
def test_a_wrong_patch_is_named(kind):
    found = diagnosis(kind, bias=0.5)
    stated = "Predictions are too low in 6 of 64 dimensions, y_11 to y_13, y_19 to y_21; clearest in y_"
    assert found.statements[0].startswith(stated)
    assert found.source == ("moments" if kind == "diagonal" else "scores")
    wide = diagnosis(kind, spread=1.5)
    assert wide.statements[0].startswith("Predictions are over-confident in 6 of 64 dimensions, y_11 to y_13, y_19 to")


def test_calibrated_predictions_are_not_blamed_and_tables_are_short():
    found = diagnosis()
    assert not found.statements
    assert len(found.bias) == len(found.confidence_ratio) == D
    assert len(found.correlations) < 2 * D
    assert len(str(found).splitlines()) < 40
    assert {region.covariate for region in found.regions} <= {"mean predicted y", "mean claimed spread"}


def test_sizes_from_scores_are_those_from_moments():
    for one, other in zip(diagnosis().confidence_ratio, diagnosis("scores").confidence_ratio, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-6)


def test_neighbours_are_named_together():
    names = [f"y_{k}" for k in range(100)]
    assert in_runs(names, [1, 2, 3, 7, 9, 10]) == "y_1 to y_3, y_7, y_9 to y_10"
    assert in_runs(names, range(0, 100, 2)).endswith("y_38 and others (30 more)")
