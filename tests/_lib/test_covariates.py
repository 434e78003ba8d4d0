"""Covariates as columns: what is a number, a time or a label, and what is refused."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

from scorecal._lib.covariates import as_covariates, is_label

NUMBERS = [1.5, 2.0, -3.0]


@pytest.mark.parametrize(
    "given",
    [
        {"x_1": NUMBERS},
        {"x_1": tuple(NUMBERS)},
        {"x_1": np.array(NUMBERS, np.float32)},
        {"x_1": torch.tensor(NUMBERS)},
        {"x_1": np.array([1.5, Fraction(2), Decimal(-3)], object)},
        np.array(NUMBERS),
        np.array(NUMBERS)[:, None],
        pd.DataFrame({"x_1": NUMBERS}),
        pd.DataFrame({"x_1": pd.array(NUMBERS, "Float64")}),
    ],
    ids=["list", "tuple", "float32", "torch", "objects", "array", "matrix", "frame", "nullable"],
)
def test_numbers(given):
    columns = as_covariates(given, 3)
    assert list(columns) == ["x_1"]
    assert columns["x_1"].dtype.kind == "f"
    np.testing.assert_array_equal(columns["x_1"], NUMBERS)
    assert not is_label(columns["x_1"])


def test_columns_of_an_array_are_numbered():
    assert list(as_covariates(np.zeros((4, 3)), 4)) == ["x_1", "x_2", "x_3"]
    assert list(as_covariates({2020: np.zeros(4), "b": np.zeros(4)}, 4)) == ["2020", "b"]
    assert as_covariates({}, 4) == {}


def test_large_integers_keep_all_their_digits():
    given = np.array([2**53, 2**53 + 1, 2**53 + 2])
    np.testing.assert_array_equal(as_covariates({"id": given}, 3)["id"], given)


@pytest.mark.parametrize(
    "given",
    [
        np.array(["2020-01-01", "2020-01-02", "2021-01-01"], "datetime64[D]"),
        [date(2020, 1, 1), date(2020, 1, 2), date(2021, 1, 1)],
        [datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(2021, 1, 1)],
        [datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), date(2020, 1, 2), datetime(2021, 1, 1, tzinfo=UTC)],
        pd.to_datetime(["2020-01-01", "2020-01-02", "2021-01-01"]),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2021-01-01"], utc=True)),
    ],
    ids=["numpy", "dates", "datetimes", "zones", "pandas", "pandas with zone"],
)
def test_dates_and_times(given):
    found = as_covariates({"day": given}, 3)["day"]
    expected = np.array(["2020-01-01", "2020-01-02", "2021-01-01"], "datetime64[us]")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    assert not is_label(found)
    assert not is_label(found[:2])


@pytest.mark.parametrize(
    "given",
    [
        [timedelta(hours=1), timedelta(hours=6), timedelta(days=1)],
        np.array([1, 6, 24], "m8[h]"),
        pd.to_timedelta([1, 6, 24], unit="h"),
    ],
    ids=["python", "numpy", "pandas"],
)
def test_durations_are_numbers(given):
    np.testing.assert_allclose(as_covariates({"lead": given}, 3)["lead"], 3.6e9 * np.array([1.0, 6.0, 24.0]))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "b", "a"], ["a", "b", "a"]),
        ([True, False, True], ["True", "False", "True"]),
        (pd.Categorical(["b", "a", "b"]), ["b", "a", "b"]),
        (np.array(["a", None, 3], object), ["a", "None", "3"]),  # a label of its own: that it is missing may tell
        (np.array([True, False, None], object), ["True", "False", "None"]),
    ],
    ids=["texts", "truth", "categories", "mixed", "missing"],
)
def test_labels(given, expected):
    found = as_covariates({"station": given}, 3)["station"]
    assert found.tolist() == expected
    assert is_label(found)


def test_numbers_of_which_there_are_two_are_labels():
    assert is_label(np.array([0.0, 1.0, 0.0]))
    assert is_label(np.array([7, 7, 7]))
    assert not is_label(np.array([0, 1, 2]))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (np.zeros((3, 2, 2)), ValueError, "`covariates` must be a mapping, a data frame or an array .*, but has 3 axes"),
        ({"x": np.zeros(4)}, ValueError, r"a value for each of the 3 predictions, but 'x' has \(4,\)"),
        ({"x": 1.0}, ValueError, r"a value for each of the 3 predictions, but 'x' has \(\)"),
        (np.zeros(4), ValueError, r"a value for each of the 3 predictions, but 'x_1' has \(4,\)"),
        ({"x": [1.0, np.nan, 2.0]}, ValueError, "must be finite, but 'x' is not, first at row 1"),
        ({"x": [1.0, 2.0, np.inf]}, ValueError, "must be finite, but 'x' is not, first at row 2"),
        ({"x": np.array([1, 2, None], object)}, ValueError, "must be finite, but 'x' is not, first at row 2"),
        ({"x": pd.array([1, None, 2], "Int64")}, ValueError, "must be finite, but 'x' is not, first at row 1"),
        ({"x": [date(2020, 1, 1), None, date(2020, 1, 2)]}, ValueError, "must be finite, but 'x' is not, first at row 1"),
        ({"x": pd.to_datetime([None, "2020", "2021"])}, ValueError, "must be finite, but 'x' is not, first at row 0"),
        ({"x": np.array([1, "NaT", 2], "m8[s]")}, ValueError, "must be finite, but 'x' is not, first at row 1"),
        ({"x": np.array(["0000", "2020", "2021"], "M8[Y]")}, ValueError, "must lie in the years 1 to 9999"),
        ({"x": np.ma.array(NUMBERS, mask=[0, 1, 0])}, TypeError, "must not be masked, but 'x' is"),
        (np.ma.array(NUMBERS, mask=[0, 1, 0]), TypeError, "must not be masked, but 'x_1' is"),
        ({1: NUMBERS, "1": NUMBERS}, ValueError, "must have different names"),
        (pd.DataFrame([[1, 2]] * 3, columns=["x", "x"]), ValueError, "must have different names"),
    ],
)
def test_bad_covariates(given, error, message):
    with pytest.raises(error, match=f"`covariates`.*{message}" if "`" not in message else message):
        as_covariates(given, 3)
