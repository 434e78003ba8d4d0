"""Frames of quantiles and intervals, as sktime returns them, and forecasters of sktime themselves."""

import numpy as np
import pandas as pd
import pytest
from adapter_checks import heavy
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(3)
MEAN = RNG.normal(size=150)
LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def frame(columns, levels):
    return pd.DataFrame(stats.norm.ppf(levels, MEAN[:, None]), columns=pd.MultiIndex.from_tuples(columns))


def of_quantiles(order=(4, 0, 2, 1, 3), name="sales"):
    levels = [LEVELS[k] for k in order]
    return frame([(name, level) for level in levels], levels)


def of_intervals():
    ends = [(share, side) for share in (0.5, 0.9) for side in ("lower", "upper")]
    return frame([("sales", *end) for end in ends], [0.25, 0.75, 0.05, 0.95])


def test_levels_in_any_order_and_ends_of_intervals():
    quantiles, intervals = sc.as_predictions(of_quantiles()), sc.as_predictions(of_intervals())
    assert quantiles.levels.tolist() == LEVELS
    assert intervals.levels.tolist() == [0.05, 0.25, 0.75, 0.95]
    np.testing.assert_array_equal(quantiles.values[:, [0, 1, 3, 4]], intervals.values)
    np.testing.assert_array_equal(quantiles.values[:, 2], MEAN)


def mistakes():
    gaps = of_quantiles()
    gaps.iloc[3, 1] = np.nan
    both = pd.concat([of_quantiles(), of_quantiles(name="price")], axis=1)
    return [
        (pd.DataFrame({"sales": MEAN}), TypeError, "but is a DataFrame with columns sales. Likely causes: point"),
        (MEAN, TypeError, "but is a ndarray. Likely causes"),
        (both, ValueError, r"holds 2 variables, sales, price; test one at a time: `frame\[\['sales'\]\]`"),
        (pd.concat([of_quantiles()] * 2, axis=1), ValueError, "has a level twice"),
        (frame([("a", 5), ("a", 95)], [0.05, 0.95]), ValueError, "a level between 0 and 1.* but one is for 5"),
        (frame([("a", 0.5, "low"), ("a", 0.5, "upper")], [0.25, 0.75]), ValueError, "but one is for 0.5, 'low'"),
        (gaps, ValueError, "`values` must be finite"),
    ]


@pytest.mark.parametrize("case", range(7))
def test_refusals(case):
    given, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_sktime(given)


@pytest.mark.slow  # the package is 55 MB
@pytest.mark.filterwarnings("ignore")
def test_forecasters_of_sktime():
    heavy("sktime")
    from sktime.forecasting.naive import NaiveForecaster

    walk = pd.Series(
        np.cumsum(np.random.default_rng(0).normal(size=160)),
        name="y",
        index=pd.period_range("2020", periods=160, freq="M"),
    )
    forecaster = NaiveForecaster().fit(walk[:60])
    whole = sc.as_predictions(forecaster, [1, 2, 3])
    assert isinstance(whole, sc.Gaussian)
    intervals = sc.as_predictions(forecaster.predict_interval([1, 2, 3], coverage=[0.5, 0.9]))
    np.testing.assert_allclose(intervals.values, stats.norm.ppf(intervals.levels, whole.mean, whole.scale))
    steps = [NaiveForecaster().fit(walk[:t]).predict_quantiles([1], alpha=LEVELS) for t in range(60, 160)]
    predictions, last = sc.as_predictions(pd.concat(steps)), walk[59:-1].to_numpy()
    assert not sc.calibration_test(predictions, walk[60:], horizon=1, rng=0).rejects(0.01)
    assert sc.calibration_test(predictions, 3.0 * walk[60:] - 2.0 * last, horizon=1, rng=0).rejects(0.01)
    with pytest.raises(ValueError, match=r"is a forecaster of sktime, which needs `x`, the horizon \(fh\)"):
        sc.as_predictions(forecaster)
