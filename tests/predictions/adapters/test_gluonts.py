"""Forecasts of GluonTS: samples, quantiles, distributions; rows, verdicts, refusals.

All slow: the package takes the place of a newer toolz, and its distributions need lightning.
"""

import numpy as np
import pandas as pd
import pytest
import torch
from adapter_checks import heavy
from scipy import stats

import scorecal as sc

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
RNG = np.random.default_rng(6)
START = pd.Period("2024-01", "M")
MEAN = RNG.normal(size=(30, 5))  # of 30 forecasts of five steps
Y = (MEAN + RNG.normal(size=MEAN.shape)).ravel()
GROUPS = np.repeat(np.arange(30), 5)
LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


@pytest.fixture(autouse=True)
def gluonts():
    heavy("gluonts")


def of_samples(scale=1.0, sizes=(100,)):
    from gluonts.model.forecast import SampleForecast

    draws = [mean + scale * RNG.normal(size=(sizes[k % len(sizes)], 5)) for k, mean in enumerate(MEAN)]
    return [SampleForecast(part, START, item_id=str(k)) for k, part in enumerate(draws)]


def of_quantiles(scale=1.0, keys=("0.5", "0.05", "0.25", "mean", "0.95", "0.75")):
    from gluonts.model.forecast import QuantileForecast

    levels = np.array([[0.5 if key == "mean" else float(key)] for key in keys])
    values = (stats.norm.ppf(levels, mean, scale) for mean in MEAN)
    return [QuantileForecast(each, START, forecast_keys=list(keys)) for each in values]


def of_distributions(scale=1.0):
    heavy("lightning")
    from gluonts.torch.model.forecast import DistributionForecast

    means = torch.asarray(MEAN)
    return [DistributionForecast(torch.distributions.Normal(mean, scale), START) for mean in means]


@pytest.mark.parametrize("make", [of_samples, of_quantiles, of_distributions])
def test_verdicts_on_all_kinds(make):
    right, wrong = sc.as_predictions(make()), sc.as_predictions(make(0.4))
    assert (right.n, right.dim) == (150, 1)
    assert not sc.calibration_test(right, Y, groups=GROUPS, rng=0).rejects(0.01)
    assert sc.calibration_test(wrong, Y, groups=GROUPS, rng=0).rejects(0.01)


def test_steps_follow_each_other_forecast_by_forecast():
    forecasts = of_samples(sizes=(40, 30))
    members = sc.from_gluonts(iter(forecasts)).members
    np.testing.assert_array_equal(members[7, :30, 0], forecasts[1].samples[:, 2])
    assert np.all(np.isnan(members[7, 30:]))
    np.testing.assert_array_equal(sc.as_predictions(forecasts[0]).members[:, :, 0], forecasts[0].samples.T)
    quantiles = sc.as_predictions(of_quantiles())
    assert quantiles.levels.tolist() == LEVELS
    np.testing.assert_allclose(quantiles.values, stats.norm.ppf(LEVELS, MEAN.reshape(-1, 1)))


def test_several_numbers_at_each_step():
    from gluonts.model.forecast import SampleForecast

    draws = RNG.normal(size=(20, 5, 3))
    np.testing.assert_array_equal(sc.as_predictions(SampleForecast(draws, START)).members, draws.transpose(1, 0, 2))


def test_draws_from_distributions_are_always_the_same():
    first, second = (sc.as_predictions(of_distributions()).members for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first - MEAN.reshape(-1, 1, 1))) > 29_000  # and none is used twice


def test_from_the_model_to_the_verdict():
    from gluonts.dataset.common import ListDataset
    from gluonts.evaluation import make_evaluation_predictions
    from gluonts.model.npts import NPTSPredictor

    values = RNG.gamma(4.0, size=(40, 120))
    data = ListDataset([{"start": "2024-01-01", "target": row} for row in values], freq="D")
    found = make_evaluation_predictions(data, NPTSPredictor(prediction_length=4, use_seasonal_model=False), 100)
    forecasts, series = (list(part) for part in found)
    y = np.concatenate([each.loc[forecast.index, 0] for forecast, each in zip(forecasts, series, strict=True)])
    groups = np.repeat(np.arange(40), 4)
    assert not sc.calibration_test(sc.as_predictions(forecasts), y, groups=groups, rng=0).rejects(0.01)
    assert sc.calibration_test(sc.as_predictions(forecasts), 2.0 * y, groups=groups, rng=0).rejects(0.01)


def mistakes():
    return [
        ([], ValueError, "is empty. Likely cause: a generator that was used up"),
        (MEAN, TypeError, "must be forecasts of GluonTS, but is or holds a ndarray"),
        (None, TypeError, "is or holds a NoneType"),
        ([*of_samples(), *of_quantiles()], TypeError, "of one kind, but are QuantileForecast and SampleForecast"),
        ([*of_quantiles(), *of_quantiles(keys=("0.1", "0.9"))], ValueError, "and number 30 has 0.1, 0.9"),
    ]


@pytest.mark.parametrize("case", range(5))
def test_refusals(case):
    forecasts, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_gluonts(forecasts)
