"""Numbers, times and labels from text."""

import numpy as np
import pytest
from command_line import ONE, N, forecasts, refusal, result, text_of, write
from hypothesis import given
from hypothesis import strategies as st

from scorecal.cli.table import InputError
from scorecal.cli.values import Decimals, as_values, inexact


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas_are_recognised_and_told(tmp_path, capsys, delimiter):
    columns = {**forecasts(), "x": np.arange(N) / 2}
    with_points, with_commas = tmp_path / "a.csv", tmp_path / "b.csv"
    with_points.write_text(text_of(columns, delimiter))
    with_commas.write_text(text_of(columns, delimiter).replace(".", ","))
    expected, said = result(capsys, with_points, *ONE, "--by", "x")
    assert said == ""
    found, said = result(capsys, with_commas, *ONE, "--by", "x")
    assert said.startswith("scorecal test: Numbers have decimal commas, as ")
    assert (found["pvalue"], found["where"]) == (expected["pvalue"], expected["where"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mu;su;u\n1,500;1,000;2,250\n2,000;1,000;1,125\n", "1,125 may have a decimal comma or mean thousands"),
        ("mu;su;u\n1,5;1,0;2.25\n2,0;1,0;1,1\n", "some numbers have a comma, as 1,1, and some a point, as 2.25"),
        ("mu;su;u\n1,5;1.000;2,25\n2,0;1,0;1,1\n", "some numbers have a comma, as 1,1, and some a point, as 1.000"),
        ("mu;su;u\n1.234,5;1;2\n", "'1.234,5' is not a number; decimals follow a point"),
        ("mu;su;u\n1,000,000;1;2\n", "'1,000,000' is not a number; decimals follow a point"),
        ('mu,su,u\n"1,5",1,2\n', "'1,5' is not a number; decimals follow a point"),
        ("mu,su,u\n1,5,1,2\n", "4 values, where the header has 3 names. Likely causes: a decimal comma"),
        ("mu,su,u\n1,1,9007199254740993\n", "the value is '9007199254740993', which has more digits than"),
        ("mu,su,u\n1,1,-9007199254740993\n", "the value is '-9007199254740993', which has more digits than"),
        ("mu,su,u\n1,1,9007199254740993.0\n", "the value is '9007199254740993.0', which has more digits than"),
        ("mu;su;u\n0,5;1;-9007199254740993,00\n", "the value is '-9007199254740993,00', which has more digits than"),
        ("mu,su,u\n1,1," + 5000 * "0" + "9007199254740993\n", "which has more digits than"),
        ("mu,su,u\n1,1," + 400 * "1" + "\n", "the value must be a finite number, but is inf."),
        ("mu,su,u\n1,1," + 5000 * "1" + "\n", "the value must be a finite number, but is inf."),
        ("mu,su,u\n1,1,0x10\n", "'0x10' is not a number."),
        ("mu,su,u\n1,1,1e400\n", "the value must be a finite number, but is inf."),
        ("mu,su,u\n1,1e-200,1\n1,1,2\n", "a standard deviation must have a square that can be computed"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(tmp_path, capsys, text, message):
    (tmp_path / "a.csv").write_text(text)
    assert message in refusal(capsys, tmp_path / "a.csv", *ONE)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_decimal_commas_never_change_a_number(values):
    """Either all numbers are read as they were written, or they are refused."""
    decimals = Decimals(may_be_commas=True)
    read = [decimals.number(repr(value).replace(".", ",")) for value in values]
    try:
        decimals.check()
    except InputError:
        return
    assert read == values


def test_numbers_of_thousands_are_never_taken_for_decimals():
    for values in ([1500, 2250], [1500, 12], [1500, 123456]):
        decimals = Decimals(may_be_commas=True)
        for value in values:
            decimals.number(f"{value:,}")
        with pytest.raises(InputError, match="may have a decimal comma or mean thousands"):
            decimals.check()


def values_of(texts, **decimals):
    return as_values(texts, Decimals(may_be_commas=True, **decimals))


@pytest.mark.parametrize(
    ("texts", "dtype", "expected"),
    [
        (["1", "2.5", ""], "float64", [1.0, 2.5, np.nan]),
        (["1,5", "2", "NA"], "float64", [1.5, 2.0, np.nan]),
        (["", ""], "float64", [np.nan, np.nan]),
        (["2024-01-31", "", "2024-02-29"], "datetime64[us]", ["2024-01-31", "NaT", "2024-02-29"]),
        (
            ["2024-01-31 12:30", "2024-01-31T12:30:15.25"],
            "datetime64[us]",
            ["2024-01-31T12:30", "2024-01-31T12:30:15.25"],
        ),
        (["a", " b ", "null"], "object", ["a", "b", None]),
        (["1_000", "2"], "object", ["1_000", "2"]),
        (["1,500", "2,250"], "object", ["1,500", "2,250"]),
        (["2023-02-29", "2024-01-01"], "object", ["2023-02-29", "2024-01-01"]),  # no such day
        (["2024-01-31 12:30", "2024-01-31T12:30Z"], "object", ["2024-01-31 12:30", "2024-01-31T12:30Z"]),
        (["0001-01-01T00:00+09:00"], "object", ["0001-01-01T00:00+09:00"]),  # before all years in UTC
    ],
)
def test_columns_are_numbers_times_or_labels(texts, dtype, expected):
    found, in_utc, _ = values_of(texts)
    assert not in_utc
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(expected, dtype=dtype))


def test_labels_keep_to_the_decimals_of_the_file():
    assert values_of(["1,500", "2,250"], with_comma="0,5", certain=True)[0].tolist() == [1.5, 2.25]
    assert values_of(["1.500", "2.250"], with_comma="0,5", certain=True)[0].tolist() == ["1.500", "2.250"]
    assert values_of(["1,5", "2,25"], with_point="0.5")[0].tolist() == ["1,5", "2,25"]


def test_decimal_commas_of_one_column_are_told(tmp_path, capsys):
    columns = {**forecasts(), "x": [f"{k},5" for k in range(N)]}
    columns["u"] = np.round(columns["u"] + 3 * (np.arange(N) >= N // 2)).astype(int)
    columns |= {"mu": np.round(columns["mu"]).astype(int), "su": np.ones(N, dtype=int)}
    found, said = result(capsys, write(tmp_path / "a.csv", columns, ";"), *ONE, "--by", "x")
    assert found["where"]["name"].startswith("x > ")
    assert said.startswith("scorecal test: Numbers in column 'x' have decimal commas, as ")


def test_times_with_zones_are_in_utc():
    found, in_utc, _ = values_of(
        ["2024-07-01T00:30+02:00", "2024-07-01 00:30Z", "2024-06-30T20:00-0400", "2024-07-01 00:00:00+00"]
    )
    assert in_utc
    expected = np.array(["2024-06-30T22:30", "2024-07-01T00:30", "2024-07-01", "2024-07-01"], dtype="datetime64[us]")
    np.testing.assert_array_equal(found, expected)


def test_integers_that_cannot_be_kept():
    values = np.array([2**53, 2**53 + 1, 2**60, 2**63 - 1, -(2**53) - 1, 5])
    assert inexact(values).tolist() == [False, True, False, True, True, False]
    assert inexact(np.array([2**64 - 1, 2**63], dtype=np.uint64)).tolist() == [True, False]
    assert not inexact(np.array([-5, 5], dtype=np.int8)).any()


def test_dates_divide_rows_by_time(tmp_path, capsys):
    day = np.datetime64("2024-01-01") + np.arange(N)
    columns = {**forecasts(), "day": day, "time": [f"{each}T12:00:00Z" for each in day]}
    columns["u"] = columns["u"] + 3 * (day >= np.datetime64("2024-04-30"))
    path = write(tmp_path / "a.csv", columns)
    found, said = result(capsys, path, *ONE, "--by", "day")
    assert said == ""
    assert found["where"]["name"] == "day from 2024-04-30 to 2024-08-27"
    assert result(capsys, path, *ONE, "--by", "time")[0]["where"]["name"].startswith("time (UTC) from 2024-0")


def test_times_in_utc_keep_the_name_of_their_column(tmp_path, capsys):
    time = [f"{each}T12:00:00Z" for each in np.datetime64("2024-01-01") + np.arange(N)]
    path = write(tmp_path / "a.csv", {**forecasts(), "t": ["", *time[1:]], "t (UTC)": time})
    assert "line 2, column 't': the value is missing." in refusal(capsys, path, *ONE, "--by", "t")
    message = refusal(capsys, path, *ONE, "--by", "t (UTC)", "t", "--drop-missing")
    assert "--by 't': its times would be shown as 't (UTC)', which is another column of --by" in message
