"""Columns as the libraries of Nixtla name them: levels, models, verdicts on a table of statsforecast, refusals."""

import numpy as np
import pandas as pd
import pytest
from adapter_checks import heavy
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(4)
MEAN = RNG.normal(size=200)
Y = MEAN + RNG.normal(size=200)


def table(scale=1.0, **names):
    """Columns by name, from the levels that they hold."""
    return pd.DataFrame(
        {"ds": range(200), "y": Y} | {name: stats.norm.ppf(p, MEAN, scale) for name, p in names.items()}
    )


ARIMA = {"A-hi-90": 0.95, "A-lo-90": 0.05, "A-lo-50": 0.25, "A-hi-50": 0.75}


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (ARIMA | {"A": 0.4}, [0.05, 0.25, 0.75, 0.95]),
        (ARIMA | {"A-median": 0.5}, [0.05, 0.25, 0.5, 0.75, 0.95]),
        ({"a-lo-b-lo-99.5": 0.0025, "a-lo-b-hi-99.5": 0.9975}, [0.0025, 0.9975]),
        ({"TimeGPT-q-10": 0.1, "TimeGPT-q-90": 0.9}, [0.1, 0.9]),
        ({"NHITS_ql0.1": 0.1, "NHITS-median": 0.5, "NHITS_ql0.9": 0.9}, [0.1, 0.5, 0.9]),
    ],
)
def test_names_say_levels(names, levels):
    predictions = sc.as_predictions(table(**names))
    assert predictions.levels.tolist() == levels
    np.testing.assert_allclose(predictions.values, stats.norm.ppf(levels, MEAN[:, None]))


def test_verdicts_and_models():
    both = table(1.0, **ARIMA).join(table(0.6, **{name.replace("A", "B"): p for name, p in ARIMA.items()}).iloc[:, 2:])
    assert not sc.calibration_test(sc.from_nixtla(both, "A"), both["y"], rng=0).rejects(0.01)
    assert sc.calibration_test(sc.from_nixtla(both, "B"), both["y"], rng=0).rejects(0.01)
    with pytest.raises(ValueError, match="holds 2 models; choose `model` among 'A', 'B'"):
        sc.as_predictions(both)
    with pytest.raises(ValueError, match="has no quantiles of 'C'; choose `model` among 'A', 'B'"):
        sc.from_nixtla(both, "C")


def mistakes():
    gaps = table(**ARIMA)
    gaps.loc[[7, 9], "A-lo-50"] = np.nan
    return [
        (MEAN, TypeError, "must be a table with one name for each column, but is a ndarray"),
        (table(A=0.5), ValueError, "no columns of quantiles, such as.* but ds, y, A. Likely cause: point forecasts"),
        (gaps, ValueError, "'A-lo-50' is missing in row 7 and in 2 rows in all"),
    ]


@pytest.mark.parametrize("case", range(3))
def test_refusals(case):
    frame, error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_nixtla(frame)


@pytest.mark.slow  # it needs numba, whose compiler is 170 MB
@pytest.mark.filterwarnings("ignore")
def test_a_cross_validation_of_statsforecast():
    heavy("statsforecast")
    from statsforecast import StatsForecast
    from statsforecast.models import Naive, WindowAverage
    from statsforecast.utils import ConformalIntervals

    walk = np.cumsum(RNG.normal(size=300))
    data = pd.DataFrame({"unique_id": "a", "ds": pd.date_range("2024", periods=300), "y": walk})
    late = WindowAverage(50, prediction_intervals=ConformalIntervals(h=1, n_windows=20))
    models = StatsForecast([Naive(), late], freq="D")
    frame = models.cross_validation(df=data, h=1, n_windows=200, level=[50, 90])
    predictions = sc.from_nixtla(frame, "Naive")
    assert predictions.levels.tolist() == [0.05, 0.25, 0.75, 0.95]
    assert not sc.calibration_test(predictions, frame["y"], horizon=1, rng=0).rejects(0.01)
    assert sc.calibration_test(predictions, 3.0 * frame["y"] - 2.0 * frame["Naive"], horizon=1, rng=0).rejects(0.01)


@pytest.mark.slow
def test_tables_of_polars():
    polars, frame = heavy("polars"), table(**ARIMA)
    found = sc.as_predictions(polars.DataFrame(frame.to_dict("list")))
    np.testing.assert_array_equal(found.values, sc.as_predictions(frame).values)
