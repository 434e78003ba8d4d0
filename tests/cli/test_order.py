"""Rows in time order and in groups: `--group`, `--time`, `--horizon` and `--null`."""

import html
import json

import numpy as np
import pyarrow
import pytest
from command_line import ONE, N, forecasts, refusal, result, write
from pyarrow import parquet

import scorecal as sc
from scorecal.cli import main

DAYS = np.datetime64("2024-01-01") + np.arange(N // 4)
SERIES = ["--group", "station", "--time", "day", "--horizon", "2"]


def stations():
    """Forecasts for four stations, station by station and day by day."""
    return {**forecasts(), "station": np.repeat(["Ost", "Süd", "7", "West"], N // 4), "day": np.tile(DAYS, 4)}


def shuffled(columns, seed=1):
    order = np.random.default_rng(seed).permutation(N)
    return {name: values[order] for name, values in columns.items()}


def without_settings(found):
    """What was found, without the name of the file and the lines on which its rows stand."""
    extremes = [{name: value for name, value in row.items() if name != "place"} for row in found["extremes"]]
    return {name: value for name, value in found.items() if name != "settings"} | {"extremes": extremes}


def gaussian(columns):
    return sc.Gaussian(columns["mu"], columns["su"]), columns["u"]


def test_groups_give_the_result_of_the_library(tmp_path, capsys):
    columns = {**forecasts(), "patient": np.arange(N) // 4}
    found, _ = result(capsys, write(tmp_path / "a.csv", columns), *ONE, "--group", "patient")
    expected = sc.calibration_test(*gaussian(columns), groups=columns["patient"], n_resamples=99, rng=0)
    assert (found["pvalue"], found["statistic"]) == (expected.pvalue, pytest.approx(expected.statistic))
    alone, _ = result(capsys, tmp_path / "a.csv", *ONE, "--null", "signs")
    assert alone["statistic"] != found["statistic"]
    (bias,) = sc.diagnose(*gaussian(columns), groups=columns["patient"], n_resamples=99, rng=0).bias
    assert found["dimensions"][0]["bias"] == {"value": bias.value, "low": bias.low, "high": bias.high}
    assert alone["dimensions"][0]["bias"]["low"] != bias.low
    assert found["settings"]["group"] == "patient"
    assert (found["settings"]["time"], found["settings"]["horizon"]) == (None, None)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_shuffled_rows_of_stations_give_the_same_as_sorted_ones(tmp_path, capsys, kind):
    columns = stations()
    expected, _ = result(capsys, write(tmp_path / "sorted.csv", columns), *ONE, *SERIES, "--by", "day")
    library = sc.calibration_test(
        *gaussian({name: values[np.argsort(columns["station"], kind="stable")] for name, values in columns.items()}),
        groups=np.sort(columns["station"]),
        horizon=2,
        covariates={"day": np.array(columns["day"], "M8")[np.argsort(columns["station"], kind="stable")]},
        n_resamples=99,
        rng=0,
    )
    assert (expected["pvalue"], expected["statistic"]) == (library.pvalue, pytest.approx(library.statistic))
    path = tmp_path / f"shuffled.{kind}"
    if kind == "csv":
        write(path, shuffled(columns))
    else:
        parquet.write_table(pyarrow.table(shuffled(columns)), path)
    found, _ = result(capsys, path, *ONE, *SERIES, "--by", "day")
    assert without_settings(found) == without_settings(expected)
    if kind == "csv":  # both name the lines of their own file
        lines = [
            [path.read_text().splitlines()[int(row["place"][5:]) - 1] for row in each["extremes"]]
            for path, each in ((path, found), (tmp_path / "sorted.csv", expected))
        ]
        assert lines[0] == lines[1]
    in_order_of_file, _ = result(capsys, path, *ONE, "--group", "station", "--horizon", "2")
    assert in_order_of_file["views"] != expected["views"]


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        [f"{day}T18:00+01:00" for day in DAYS],
        np.arange(len(DAYS)) / 10,
        [f"{k}0000000" for k in range(len(DAYS))],
    ],
    ids=["dates", "time zone", "numbers", "large numbers"],
)
def test_times_are_dates_timestamps_or_numbers(tmp_path, capsys, times):
    columns = {**forecasts(len(DAYS)), "when": np.asarray(times)}
    when = {"when": np.arange(len(DAYS))}
    expected = sc.calibration_test(*gaussian(columns), horizon=1, covariates=when, n_resamples=99, rng=0)
    backwards = {name: values[::-1] for name, values in columns.items()}
    found, _ = result(capsys, write(tmp_path / "a.csv", backwards), *ONE, "--time", "when")
    assert (found["pvalue"], found["statistic"]) == (expected.pvalue, pytest.approx(expected.statistic))
    assert found["settings"]["horizon"] == 1


def test_without_times_rows_are_in_the_order_of_the_file(tmp_path, capsys):
    columns = forecasts()
    found, _ = result(capsys, write(tmp_path / "a.csv", columns), *ONE, "--horizon", "3")
    expected = sc.calibration_test(*gaussian(columns), horizon=3, n_resamples=99, rng=0)
    assert (found["pvalue"], found["statistic"]) == (expected.pvalue, pytest.approx(expected.statistic))
    (bias,) = sc.diagnose(*gaussian(columns), horizon=3, n_resamples=99, rng=0).bias
    assert found["dimensions"][0]["bias"] == {"value": bias.value, "low": bias.low, "high": bias.high}


def test_arrays_may_be_in_time_order(tmp_path, capsys):
    columns, base = forecasts(), np.linspace(-2, 2, 5)[:, None]
    predictions, y = gaussian(columns)
    arrays = {"targets": y, "scores": predictions.score(y[:, None]), "base_points": base}
    np.savez(tmp_path / "a.npz", **arrays, base_scores=np.moveaxis(predictions.score(base[:, None, :]), 0, 1))
    assert result(capsys, tmp_path / "a.npz", "--horizon", "3")[0]["settings"]["horizon"] == 3
    assert refusal(capsys, tmp_path / "a.npz", "--time", "day", "--group", "who").endswith(
        "an NPZ file has arrays, not columns; leave out --group, --time.\n"
    )
    assert "a.npz: --null simulate draws targets from the predictions, which scores in an NPZ file do not" in refusal(
        capsys, tmp_path / "a.npz", "--null", "simulate"
    )


def test_long_numbers_stay_different_groups(tmp_path, capsys):
    """Patients whose numbers agree in the first 16 digits, which is all that a floating-point number holds."""
    patient = 9007199254740992000 + np.arange(N) // 4
    columns = {**forecasts(), "patient": patient}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    for path in (write(tmp_path / "a.csv", columns), tmp_path / "a.parquet"):
        found, _ = result(capsys, path, *ONE, "--group", "patient")
        expected = sc.calibration_test(*gaussian(columns), groups=patient, n_resamples=99, rng=0)
        assert found["statistic"] == pytest.approx(expected.statistic)


@pytest.mark.parametrize("value", ["", "NA", "nan"])
def test_missing_groups_and_times_are_told_or_dropped(tmp_path, capsys, value):
    columns = {name: values.astype(object) for name, values in stations().items()}
    columns["station"][4] = columns["day"][9] = value
    path = write(tmp_path / "a.csv", columns)
    message = refusal(capsys, path, *ONE, *SERIES)
    assert "line 6, column 'station': the value is missing, and 2 of 240 rows have such values." in message
    assert message.endswith("--drop-missing. If it is a label, add :label to the name in --group.\n")
    found, said = result(capsys, path, *ONE, *SERIES, "--drop-missing")
    assert "2 of 240 rows were left out, for missing values ('station': 1, 'day': 1)." in said
    assert found["n"] == N - 2
    if value == "NA":
        assert result(capsys, path, *ONE, "--group", "station:label")[0]["n"] == N


@pytest.mark.parametrize(
    ("name", "changes", "options", "message"),
    [
        ("day", {5: "monday"}, SERIES, "line 7, column 'day': 'monday' is no time like the others; --time needs dates"),
        ("day", {5: "2024-02-30"}, SERIES, "line 7, column 'day': '2024-02-30' is no time like the others"),
        (
            "day",
            {5: "2024-01-06T00:00Z"},
            SERIES,
            "line 7, column 'day': '2024-01-06T00:00Z' is no time like the others",
        ),
        ("day", {5: "12"}, SERIES, "line 7, column 'day': '12' is no time like the others"),
        (
            "day",
            {5: "2024-01-04"},
            SERIES,
            "line 7, column 'day': the time is that of line 5 of the same 'station', so",
        ),
        (
            "day",
            {},
            ["--time", "day"],
            "line 62, column 'day': the time is that of line 2, so that the order of rows is",
        ),
        ("day", {}, ["--time", "station"], "line 2, column 'station': 'Ost' is no time like the others"),
        ("day", {}, ["--time", "u"], "--time u: that column is the --target. Name the column that says in which order"),
        ("day", {}, ["--group", "u"], "--group u: that column is the --target. Name the column that says which rows"),
        ("day", {}, ["--time", "hour"], "there is no column 'hour'; the columns are"),
        ("day", {}, ["--group", "who"], "there is no column 'who'; the columns are"),
        ("station", dict.fromkeys(range(N), "Ost"), ["--group", "station"], "--group must hold at least two different"),
        ("day", {}, ["--horizon", "100"], "--horizon must leave at least two blocks of"),
        (
            "day",
            {},
            [*SERIES, "--null", "simulate"],
            "--null simulate is for independent rows: leave it out",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(tmp_path, capsys, name, changes, options, message):
    columns = {name: values.astype(object) for name, values in stations().items()}
    for row, value in changes.items():
        columns[name][row] = value
    path = write(tmp_path / "a.csv", columns)
    error = refusal(capsys, path, *ONE, *options)
    assert message in error
    assert "`" not in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--horizon", "0"], "--horizon: must be a positive integer, but is '0'"),
        (["--horizon", str(10**40)], "--horizon: must be at most 1000000000"),
        (["--null", "student-t"], "--null: invalid choice: 'student-t'"),
    ],
)
def test_values_of_options(capsys, options, message):
    with pytest.raises(SystemExit, match="2"):
        main(["test", "a.csv", *ONE, *options])
    assert message in capsys.readouterr().err


def test_infinite_times_are_no_times(tmp_path, capsys):
    path = write(tmp_path / "a.csv", {**forecasts(), "t": [*range(N - 1), np.inf]})
    message = refusal(capsys, path, *ONE, "--time", "t")
    assert "line 241, column 't': the value must be a finite number, but is inf." in message


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--group", "station"], "Rows may depend on each other within each of 4 groups (station)."),
        (SERIES, "Rows are forecasts 2 steps ahead, in 4 series (station), in time order by day."),
        (["--horizon", "1"], "Rows are forecasts one step ahead, in time order as in the file."),
    ],
)
def test_how_rows_depend_is_said_with_the_verdict_and_in_the_report(tmp_path, capsys, options, sentence):
    path, report = write(tmp_path / "a.csv", stations()), tmp_path / "r.html"
    assert main(["test", str(path), *ONE, *options, "--n-resamples", "99", "--report", str(report)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == sentence
    assert sentence in html.unescape(report.read_text())
    assert main(["test", str(path), *ONE, "--n-resamples", "99"]) == 0
    assert "Rows " not in capsys.readouterr().out


def test_overlapping_forecasts_pass_with_their_horizon(tmp_path, capsys):
    """Calibrated forecasts of a random walk six steps ahead."""
    walk = np.cumsum(np.random.default_rng(2).normal(size=606))
    columns = {"mu": walk[:-6], "su": np.full(600, 6**0.5), "u": walk[6:], "hour": np.arange(600)}
    path = write(tmp_path / "a.csv", columns)
    options = [*ONE, "--fail-on-rejection", "--json"]
    assert main(["test", str(path), *options]) == 1
    assert json.loads(capsys.readouterr().out)["rejected"]
    assert main(["test", str(path), *options, "--time", "hour", "--horizon", "6"]) == 0
    assert not json.loads(capsys.readouterr().out)["rejected"]


def test_nulls_are_those_of_the_library(tmp_path, capsys):
    path = write(tmp_path / "a.csv", forecasts(60))
    for null in ("signs", "simulate"):
        expected = sc.calibration_test(*gaussian(forecasts(60)), null=null, n_resamples=99, rng=0)
        found, _ = result(capsys, path, *ONE, "--null", null)
        assert (found["pvalue"], found["settings"]["null"]) == (expected.pvalue, null)
