"""Forecasts of darts, with samples and with quantiles: rows, levels, verdicts, refusals.

All slow: the package brings numba, whose compiler is 170 MB, shap and pyod.
"""

import numpy as np
import pytest
from adapter_checks import heavy
from scipy import stats

import scorecal as sc

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
RNG = np.random.default_rng(5)
LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
MEAN = RNG.normal(size=150)


@pytest.fixture
def darts():
    return heavy("darts")


def series(values, names=None):
    from darts import TimeSeries

    return TimeSeries.from_values(values, columns=names)


def of_quantiles(name="sales_", order=(3, 0, 1, 2, 4)):
    levels = [LEVELS[k] for k in order]
    return series(stats.norm.ppf(levels, MEAN[:, None]), [f"{name}q{level:.3f}" for level in levels])


def test_samples_of_one_component_and_of_several(darts):
    for d in (1, 3):
        draws = RNG.normal(size=(40, d, 25))
        np.testing.assert_array_equal(sc.as_predictions(series(draws)).members, draws.transpose(0, 2, 1))


def test_several_series_one_after_the_other(darts):
    first, second = RNG.normal(size=(4, 1, 25)), RNG.normal(size=(3, 1, 10))
    members = sc.as_predictions([series(first), series(second)]).members[:, :, 0]
    np.testing.assert_array_equal(members[:4], first[:, 0])
    np.testing.assert_array_equal(members[4:, :10], second[:, 0])
    assert np.all(np.isnan(members[4:, 10:]))


@pytest.mark.parametrize("name", ["sales_", "a_q_b_", ""])
def test_quantiles(darts, name):
    predictions = sc.as_predictions(of_quantiles(name))
    assert predictions.levels.tolist() == LEVELS
    np.testing.assert_allclose(predictions.values, stats.norm.ppf(LEVELS, MEAN[:, None]))


def test_from_the_model_to_the_verdict(darts):
    from darts.models import LinearRegressionModel

    noise = RNG.normal(size=2200)
    values = np.zeros(2200)
    for t in range(1, 2200):
        values[t] = 0.8 * values[t - 1] + noise[t]
    whole = series(values)
    model = LinearRegressionModel(lags=2, likelihood="quantile", quantiles=LEVELS, alpha=0.0).fit(whole[:1900])
    options = {"start": 1900, "retrain": False, "verbose": False}
    quantiles = model.historical_forecasts(whole, predict_likelihood_parameters=True, **options)
    samples = model.historical_forecasts(whole, num_samples=50, **options)
    for forecast in (quantiles, samples):
        y = whole.slice_intersect(forecast).values()
        predictions = sc.as_predictions(forecast)
        assert predictions.n == len(y) == 300
        assert sc.calibration_test(predictions, 3.0 * y, horizon=1, rng=0).rejects(0.01)
    assert not sc.calibration_test(sc.as_predictions(quantiles), y, horizon=1, rng=0).rejects(0.01)


def mistakes():
    point, several = series(MEAN), series(np.stack([MEAN, MEAN], axis=1), ["a_q0.100", "b_q0.100"])
    return [
        (MEAN, TypeError, "must be a TimeSeries of darts or several, but is or holds a "),
        ([], TypeError, "is or holds a list"),
        (point, ValueError, "one value for each time and component, 0, and so no distribution.*`num_samples=200`"),
        (several, ValueError, "quantiles of 2 components, a, b; test one at a time"),
        ([point, several], ValueError, "the first has 0 and number 1 has a_q0.100, b_q0.100"),
        ([of_quantiles(), MEAN], TypeError, "is or holds a ndarray"),
    ]


@pytest.mark.parametrize("case", range(6))
def test_refusals(darts, case):
    given, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_darts(given)
