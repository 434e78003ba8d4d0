"""What is stated agrees with the verdict of the test, and intervals with both."""

import math
from dataclasses import replace

import numpy as np
import pytest
from verdicts import verdict

import scorecal as sc
from scorecal.diagnosis.words import correlations_table

STATION = np.random.default_rng(9).choice(["north", "south", "west"], 400)


def data(seed=0, n=400, d=2, spread=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(n, d))
    return sc.Gaussian(mean, 1.0), mean + spread * rng.normal(size=(n, d)) - shift


def estimates_and_truths(found):
    yield from ((each, 0.0) for each in (*found.bias, found.overall_bias))
    yield from ((each, 1.0) for each in (*found.confidence_ratio, found.overall_confidence_ratio))
    yield found.worst_direction.ratio, 1.0
    yield from ((pair.found, pair.claimed) for pair in found.correlations)
    for level in found.levels:
        yield from ((each, 0.0) for each in level.bias)
        yield from ((each, 1.0) for each in level.confidence_ratio)
    for region in found.regions:
        yield from ((each, 0.0) for each in (*region.bias, *region.rest_bias))
        yield from ((each, 1.0) for each in (*region.confidence_ratio, *region.rest_confidence_ratio))


@pytest.mark.parametrize("covariates", [None, {"station": STATION, "x": np.arange(400.0)}], ids=["own", "given"])
@pytest.mark.parametrize("spread", [1.0, 1.2, 1.5])
def test_no_statement_and_no_interval_against_a_test_that_does_not_reject(covariates, spread):
    """However wrong the sizes are: here a p-value is made up."""
    options = {"covariates": covariates, "n_resamples": 99, "rng": 0}
    found = sc.diagnose(*data(spread=spread, shift=spread - 1), result=verdict(400, 0.06), **options)
    assert found.statements == ()
    assert found.where is None
    assert found.message == "Calibration is not rejected."
    assert all(estimate.holds(truth) for estimate, truth in estimates_and_truths(found))
    stated = sc.diagnose(*data(spread=spread, shift=spread - 1), result=verdict(400, 0.05), **options)
    assert bool(stated.statements) == (spread > 1.0)
    assert stated.message == " ".join(["Calibration is rejected.", *(stated.statements or [NOTHING])])
    assert str(stated).startswith("\n".join(["Calibration is rejected.", *(stated.statements or [NOTHING])]))


NOTHING = "No bias, spread or correlation is clear enough by itself to be stated."


def test_the_level_is_that_of_the_intervals():
    options = {"covariates": {}, "rng": 0}
    strict = sc.diagnose(*data(spread=1.5), result=verdict(400, 0.03), confidence_level=0.99, **options)
    assert strict.statements == ()
    assert strict.message == "Calibration is rejected. At level 0.01 it is not rejected."
    loose = sc.diagnose(*data(spread=1.5), result=verdict(400, 0.1), confidence_level=0.9, **options)
    assert len(loose.statements) == 2
    assert loose.message.startswith("Calibration is not rejected. At level 0.1 it is rejected. y_1: over-confident")


def test_the_test_is_made_with_the_same_seed():
    predictions, y = data(spread=1.2)
    options = {"covariates": {"station": STATION}, "n_resamples": 99, "rng": 3}
    alone, found = sc.calibration_test(predictions, y, **options), sc.diagnose(predictions, y, **options)
    assert (found.result.pvalue, found.result.message) == (alone.pvalue, alone.message)
    np.testing.assert_array_equal(found.result.null_distribution, alone.null_distribution)
    given = sc.diagnose(predictions, y, result=alone, **options)
    assert given.result is alone
    assert str(given) == str(found)
    plain = sc.diagnose(predictions, y, n_resamples=99, rng=3)
    assert plain.result.pvalue == sc.calibration_test(predictions, y, n_resamples=99, rng=3).pvalue


def test_groups_and_horizon_reach_the_test():
    predictions, y = data(d=1)
    groups = np.repeat(np.arange(40), 10)
    assert sc.diagnose(predictions, y, groups=groups, n_resamples=99, rng=0).result.n_clusters == 40
    assert sc.diagnose(predictions, y, horizon=2, n_resamples=99, rng=0).result.n_clusters == 50


def test_one_wrong_dimension_is_named_alone():
    """One of twelve, biased or too narrow, 20 data sets: named alone in 18 or more."""
    alone = 0
    for seed in range(20):
        wrong = np.arange(12) == 4
        predictions, y = data(seed, 500, 12, np.where(wrong & (seed % 2), 1.4, 1.0), 0.35 * (wrong & (1 - seed % 2)))
        found = sc.diagnose(predictions, y, covariates={}, result=verdict(500), rng=0)
        alone += len(found.statements) == 1 and found.statements[0].startswith("y_5: ")
    assert alone >= 18


def test_all_dimensions_together_are_named_where_no_single_one_is():
    predictions, y = data(0, 100, 10, 1.12)
    (stated,) = sc.diagnose(predictions, y, covariates={}, result=verdict(100), rng=0).statements
    assert stated.startswith("All dimensions together: over-confident, the true spread being 1.1")


def test_levels_are_stated_where_sizes_over_all_rows_do_not_say_it():
    """Too high at one station and too low at another, and right on average; as wrong at one as at all others."""
    predictions, y = data(d=1, spread=0.9)
    shift = 0.6 * ((STATION == "north").astype(float) - (STATION == "south"))[:, None]
    options = {"covariates": {"station": STATION}, "n_resamples": 19, "result": verdict(400), "rng": 0}
    stated = sc.diagnose(predictions, y - shift, **options).statements
    assert [sentence[:17] for sentence in stated] == ["station = north (", "station = south ("]
    assert "y: predictions are too high by 0." in stated[0]
    stated = sc.diagnose(predictions, y - 0.8, **options).statements
    assert len(stated) == 1
    assert stated[0].startswith("y: predictions are too high by 0.")


def test_extreme_rows_are_shown_if_they_are_rare():
    predictions, y = data()
    y[7] += 9.0
    rare = sc.diagnose(predictions, y, covariates={}, result=verdict(400), rng=0)
    assert "p, adjusted for all rows\n7 " in str(rare)
    predictions, y = data(1)
    usual = sc.diagnose(predictions, y, covariates={}, result=verdict(400), rng=0)
    assert "p, adjusted" not in str(usual)


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (3, TypeError, "`result` must come from `calibration_test`, but is of type int"),
        (verdict(30), ValueError, "`result` must be of the same 400 rows as `predictions`, but is of 30"),
    ],
)
def test_results_that_do_not_fit(result, error, message):
    with pytest.raises(error, match=message):
        sc.diagnose(*data(), result=result)


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (1, "1 row is an outlier, 999.3 predicted sd from its prediction; sizes are those of the other rows."),
        (3, "3 rows are outliers, up to 999.8 predicted sd from their predictions; sizes are those of the other rows."),
        (
            12,
            "12 rows are outliers, up to 999.9 predicted sd from their predictions; sizes are those of the other rows.",
        ),
    ],
)
def test_outliers_are_counted_and_left_out_of_sizes(count, sentence):
    predictions, y = data(seed=1, n=300, d=1)
    y[:count] = -999.0
    found = sc.diagnose(predictions, y, covariates={}, n_resamples=99, rng=0)
    assert found.statements == (sentence,)
    assert found.outliers == tuple(range(count))
    assert found.confidence_ratio[0].value == pytest.approx(1.0, abs=0.15)
    assert found.within(bias=0.3, spread=1.3) is None
    assert not any("outlier" in each for each in sc.diagnose(*data(spread=1.5), n_resamples=99, rng=0).statements)


def test_a_claimed_correlation_that_cannot_be_told_is_unknown():
    found = sc.diagnose(*data(), n_resamples=99, rng=0)
    unknown = replace(found, correlations=(found.correlations[0]._replace(claimed=math.nan),))
    assert correlations_table(unknown).rows[0][1] == "unknown"
