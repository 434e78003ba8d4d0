"""Tables in batches: folders, large files and sums of shares give the outcome of one file in memory."""

import json
from functools import partial

import numpy as np
import pyarrow
import pytest
from command_line import ONE, refusal, result, write
from pyarrow import parquet

from scorecal._calibration_test import calibration_test_at
from scorecal.cli import main, stream

FEW = ["--n-resamples", "99"]


def forecasts(n=500, off=0.85):
    rng = np.random.default_rng(1)
    mean = rng.normal(size=n)
    return {"mu": mean, "su": np.full(n, off), "u": mean + rng.normal(size=n)}


def in_folder(folder, columns, *ends, **options):
    folder.mkdir()
    n = len(columns["u"])
    for k, pair in enumerate(zip((0, *ends), (*ends, n), strict=True)):
        part = {name: column[slice(*pair)] for name, column in columns.items()}
        parquet.write_table(pyarrow.table(part), folder / f"part-{k}.parquet", **options)
    return folder


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(stream, "_ROWS_OF_PART", 64)
    monkeypatch.setattr("scorecal.streams.state._SECONDS", 0.0)


def check_same(found, expected):
    for name in ("pvalue", "n", "seen", "rejected", "statements", "warnings", "cannot_see", "dropped"):
        assert found[name] == expected[name], name
    assert found["settings"]["estimator"] == "low-rank"


@pytest.fixture
def in_memory(tmp_path, capsys, monkeypatch):
    """What is said of a whole file, with the estimator and null distribution of batches."""

    def judged(columns, *options):
        low_rank = partial(calibration_test_at, estimator="low-rank")
        monkeypatch.setattr("scorecal.cli.test.calibration_test_at", low_rank)
        path = tmp_path / "whole.parquet"
        parquet.write_table(pyarrow.table(columns), path)
        return result(capsys, path, *ONE, "--null", "signs", *options)[0]

    return judged


def test_a_folder_is_one_table(tmp_path, capsys, small_parts, in_memory, monkeypatch):
    given = {}
    monkeypatch.setattr("scorecal.cli.test.report_html", lambda *found, **options: given.update(options) or "a report")
    columns = forecasts()
    folder = in_folder(tmp_path / "folder", columns, 1, 130, 131, 300, row_group_size=70)
    check_same(result(capsys, folder, *ONE, "--report", str(tmp_path / "a.html"))[0], in_memory(columns))
    assert (tmp_path / "a.html").read_text() == "a report"
    assert given["predictions"].n == given["coverage"].n == 500


def test_rows_are_told_of_by_their_file(tmp_path, capsys, small_parts):
    columns = forecasts(off=1.0)
    columns["u"][[3, 300]] += 40.0
    folder = in_folder(tmp_path / "folder", columns, 100, 290)
    found = result(capsys, folder, *ONE)[0]
    assert {each["place"] for each in found["extremes"][:2]} == {"part-0.parquet, row 4", "part-2.parquet, row 11"}
    assert [each["place"] for each in found["outliers"]] == ["part-0.parquet, row 4", "part-2.parquet, row 11"]


def test_an_interrupted_run_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("scorecal.cli.in_batches.judged", interrupted)
    path = write(tmp_path / "a.csv", forecasts(20))
    assert main(["test", str(path), *ONE, "--state", str(tmp_path / "state")]) == 130
    assert "interrupted; run the same command to continue" in capsys.readouterr().err


def test_text_is_read_in_batches(tmp_path, capsys, small_parts, in_memory):
    columns = forecasts(193)  # the last part would have one row
    path = write(tmp_path / "a.csv", columns)
    found = result(capsys, path, *ONE, "--state", str(tmp_path / "state"))[0]
    check_same(found, in_memory(columns))
    assert found["extremes"][0]["place"].startswith("line ")
    path.write_text("\n".join([*path.read_text().splitlines(), "0,text,1"]))
    assert "line 195, column 'su'" in refusal(capsys, path, *ONE, "--state", str(tmp_path / "other"))


def test_rows_with_missing_values_are_left_out(tmp_path, capsys, small_parts, in_memory):
    columns = forecasts()
    columns["u"][70:141] = np.nan
    columns["mu"][[0, 499]] = np.nan
    folder = in_folder(tmp_path / "folder", columns, 140, 400, row_group_size=70)
    assert "part-0.parquet, row 1, column 'mu': the value is missing" in refusal(capsys, folder, *ONE)
    found, said = result(capsys, folder, *ONE, "--drop-missing")
    check_same(found, in_memory(columns, "--drop-missing"))
    assert "73 of 500 rows were left out" in said


def test_large_files_are_judged_in_batches(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stream, "MOST_ROWS", 80)
    monkeypatch.setattr(stream, "MOST_BYTES", 10**3)
    parquet.write_table(pyarrow.table(forecasts(100)), tmp_path / "a.parquet")
    for path in (tmp_path / "a.parquet", write(tmp_path / "a.csv", forecasts(100))):
        assert result(capsys, path, *ONE)[0]["settings"]["estimator"] == "low-rank"
    assert result(capsys, path, *ONE, "--group", "mu")[0]["settings"]["estimator"] == "complete"


def test_sums_of_shares_are_those_of_all_rows(tmp_path, capsys, small_parts, in_memory, monkeypatch):
    columns, out = forecasts(), {}
    folder = in_folder(tmp_path / "folder", columns, 130, 300, row_group_size=70)
    monkeypatch.chdir(tmp_path)

    def share(k, of, name, *options):
        shared = ["--part", str(k), "--of", str(of), "--out", name]
        assert main(["sum", str(folder), *ONE, *FEW, *shared, *options]) == 0

    for k in (0, 1, 2):
        share(k, 3, f"first-{k}")
    assert main(["add", "first-2", "first-0", "first-1", "--out", "first"]) == 0
    assert "first: sums of the first pass, 500 of 500 rows." in capsys.readouterr().out
    for k in (0, 1):
        share(k, 2, f"second-{k}", "--first", "first")
    capsys.readouterr()
    assert main(["add", "second-0", "second-1", "--first", "first", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    check_same(out, in_memory(columns))
    assert out["extremes"][0]["place"].startswith("part-")
    assert main(["add", "second-0", "second-1", "--first", "first", "--fail-on-rejection"]) == 1
    capsys.readouterr()
    for arguments, message in [
        (["add", "second-0", "--first", "first"], "second-0: holds parts 0 to 2 of 6; add the others first."),
        (["add", "first-0", "--first", "first"], "first-0: sums of the first pass, but the verdict"),
        (["add", "first-0"], "give --out, for a file"),
        (["add", "none"], "none: No such file"),
        (["sum", str(folder), *ONE, *FEW, "--part", "2", "--of", "2", "--out", "x"], "--part must be from 0 to 1"),
        (
            ["sum", str(folder), *ONE, "--part", "0", "--of", "2", "--out", "x", "--first", "first"],
            "--first first: made with other options, or of other or older files.",
        ),
        (["sum", "a.csv", *ONE, "--part", "0", "--of", "2", "--out", "x"], "sums are of Parquet files"),
    ]:
        assert main(arguments) == 2
        assert message in capsys.readouterr().err


def test_what_needs_all_rows_is_refused(tmp_path, capsys, small_parts):
    folder = in_folder(tmp_path / "folder", forecasts())
    assert "a folder is judged in batches, but --by needs all rows" in refusal(capsys, folder, *ONE, "--by", "mu")
    assert "--null simulate needs" in refusal(capsys, folder, *ONE, "--null", "simulate")
    path = write(tmp_path / "a.csv", forecasts())
    state = ["--state", str(tmp_path / "state")]
    message = "with --state rows are judged in batches, but --group needs all rows"
    assert message in refusal(capsys, path, *ONE, *state, "--group", "mu")
    (tmp_path / "empty").mkdir()
    assert "there is no Parquet file" in refusal(capsys, tmp_path / "empty", *ONE)
    assert "no column 'w'" in refusal(capsys, folder, "--mean", "w", "--std", "su", "--target", "u")
    assert "a standard deviation must be positive" in refusal(
        capsys, in_folder(tmp_path / "negative", forecasts(off=-1.0)), *ONE
    )


def test_sums_of_other_files_are_not_gone_on_with(tmp_path, capsys, small_parts):
    path, state = write(tmp_path / "a.csv", forecasts()), ["--state", str(tmp_path / "state")]
    result(capsys, path, *ONE, *state)
    assert "the sums are of another run, with options" in refusal(capsys, path, *ONE, *state)
    write(path, forecasts(300))
    assert "the sums are of another run, with files" in refusal(capsys, path, *ONE, *state, *FEW)
    assert "there is no folder" in refusal(capsys, path, *ONE, "--state", str(tmp_path / "none" / "state"))
