"""Missing values: refused with the option that helps, or left out and counted."""

import numpy as np
import pyarrow
import pytest
from command_line import ONE, N, forecasts, refusal, result, write
from pyarrow import parquet


def with_gaps(**gaps):
    """Forecasts, with values of some columns in some rows replaced."""
    columns = {name: values.astype(object) for name, values in forecasts().items()}
    columns["season"] = np.array(["dry", "wet"] * (N // 2), dtype=object)
    for name, changes in gaps.items():
        for row, value in changes.items():
            columns[name][row] = value
    return columns


@pytest.mark.parametrize("value", ["", "  ", "NA", "n/a", "NaN", "nan", "null", "None", "<NA>"])
def test_missing_values_are_refused_with_the_option(tmp_path, capsys, value):
    path = write(tmp_path / "a.csv", with_gaps(u={4: value, 9: value}))
    message = refusal(capsys, path, *ONE)
    assert "line 6, column 'u': the value is missing, and 2 of 240 rows have such values." in message
    assert "leave such rows out with --drop-missing." in message


def test_dropped_rows_are_counted(tmp_path, capsys):
    gaps = with_gaps(u={4: "NA", 9: ""}, su={9: "nan", 11: "null"}, season={20: ""})
    whole = write(tmp_path / "b.csv", {k: np.delete(v, [4, 9, 11, 20]) for k, v in with_gaps().items()})
    path = write(tmp_path / "a.csv", gaps)
    found, said = result(capsys, path, *ONE, "--by", "season", "--drop-missing")
    assert "scorecal test: 4 of 240 rows were left out, for missing values ('su': 2, 'u': 2, 'season': 1).\n" in said
    assert (found["n"], found["dropped"]) == (N - 4, 4)
    expected, said = result(capsys, whole, *ONE, "--by", "season", "--drop-missing")
    assert "left out" not in said
    assert expected["dropped"] == 0
    assert (found["pvalue"], found["statistic"]) == (expected["pvalue"], expected["statistic"])
    found, said = result(capsys, path, *ONE, "--drop-missing")
    assert found["dropped"] == 3
    assert "season" not in said


def test_lines_are_those_of_the_file_after_rows_were_dropped(tmp_path, capsys):
    path = write(tmp_path / "a.csv", with_gaps(u={0: "", 1: ""}, su={5: -1}))
    assert "line 7, column 'su': a standard deviation must be positive, but is -1" in refusal(
        capsys, path, *ONE, "--drop-missing"
    )


def test_parquet_has_missing_values_too(tmp_path, capsys):
    columns = with_gaps(u={4: None, 9: np.nan}, season={20: None, 21: "NA"})
    table = pyarrow.table({**{name: columns[name].astype(float) for name in ("mu", "su")}, "season": columns["season"]})
    table = table.append_column("u", pyarrow.array(columns["u"].tolist(), from_pandas=False))
    parquet.write_table(table, path := tmp_path / "a.parquet")
    assert "row 5, column 'u': the value is missing, and 2 of 240 rows" in refusal(capsys, path, *ONE)
    found, said = result(capsys, path, *ONE, "--by", "season", "--drop-missing")
    assert "3 of 240 rows were left out, for missing values ('u': 2, 'season': 1)." in said
    assert found["dropped"] == 3


def test_nothing_left_and_nothing_finite(tmp_path, capsys):
    path = write(tmp_path / "a.csv", with_gaps(u=dict.fromkeys(range(N), "")))
    assert "every row has a missing value, the first in column 'u'." in refusal(capsys, path, *ONE, "--drop-missing")
    path = write(tmp_path / "a.csv", with_gaps(u={3: "inf"}))
    message = refusal(capsys, path, *ONE, "--drop-missing")
    assert "line 5, column 'u': the value must be a finite number, but is inf." in message


@pytest.mark.filterwarnings("default")  # as users have them, and not as errors
def test_a_label_may_look_like_a_missing_value(tmp_path, capsys):
    """NA is the code of Namibia."""
    path = write(tmp_path / "a.csv", {**forecasts(), "country": ["NA", "ZA"] * (N // 2)})
    assert "add :label to the name in --by" in refusal(capsys, path, *ONE, "--by", "country")
    found, _ = result(capsys, path, *ONE, "--by", "country:label", "--drop-missing")
    assert found["dropped"] == 0
    path = write(tmp_path / "a.csv", {**forecasts(), "country": ["", "ZA"] * (N // 2)})
    found, said = result(capsys, path, *ONE, "--by", "country:label", "--drop-missing")
    assert found["dropped"] == N // 2
    assert said.endswith("--by: 'country' has the same value in every row, and is left out.\n")


def test_arrays_have_no_columns(tmp_path, capsys):
    message = refusal(capsys, tmp_path / "a.npz", "--drop-missing")
    assert message.endswith("a.npz: an NPZ file has arrays, not columns; leave out --drop-missing.\n")
    message = refusal(capsys, tmp_path / "a.npz", *ONE)
    assert message.endswith("leave out --mean, --std, --target.\n")
