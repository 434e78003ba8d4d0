"""Classes on the command line: the verdict of Python, and errors that name the options."""

import json

import numpy as np
import pyarrow
import pytest
from command_line import refusal, result, write
from pyarrow import parquet

import scorecal as sc
from scorecal.cli import main

N, NAMES = 400, ("cat", "dog", "none")
THREE = ["--classes", "cat:p_cat", "dog:p_dog", "none:p_none", "--target", "animal:label"]
WET = ["--classes", "wet:p_wet", "--target", "weather"]


@pytest.fixture(scope="module")
def columns():
    """Probabilities that are too extreme in the south, and well calibrated ones of rain."""
    rng = np.random.default_rng(0)
    logits, region = 1.5 * rng.normal(size=(N, 3)), np.where(np.arange(N) % 2, "north", "south")
    parts = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    label = sc.Categorical(parts).sample(1, rng)[0]
    told = np.exp(np.where((region == "south")[:, None], 3.0, 1.0) * logits)
    p = told / np.sum(told, axis=1, keepdims=True)
    wet = rng.random(N)
    rains = rng.random(N) < wet
    return {
        **{f"p_{name}": p[:, k] for k, name in enumerate(NAMES)},
        "animal": np.array(NAMES)[label],
        "region": region,
        "day": np.arange(N)[::-1],
        "p_wet": wet,
        "weather": np.where(rains, "wet", "dry"),
        "rain": rains.astype(int),
        "flag": rains,
    }


def python(columns, **more):
    p = np.stack([columns[f"p_{name}"] for name in NAMES], axis=1)
    return sc.Categorical(p, labels=NAMES, **more), columns["animal"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_verdict_is_that_of_python(columns, kind, tmp_path, capsys):
    path = tmp_path / f"a.{kind}"
    if kind == "csv":
        write(path, columns)
    else:
        parquet.write_table(pyarrow.table(columns), path)
    found, said = result(capsys, path, *THREE, "--by", "region", "--ordinal")
    covariates = {"region": columns["region"]}
    expected = sc.diagnose(*python(columns, ordinal=True), covariates=covariates, n_resamples=99, rng=0)
    assert said == ""
    assert found["pvalue"] == expected.result.pvalue
    assert found["statements"] == list(expected.statements)
    assert found["accuracy"]["value"] == expected.accuracy.value
    assert found["calibration_error"]["estimate"]["low"] == pytest.approx(expected.calibration_error.estimate.low)
    assert [each["name"] for each in found["classes"]] == list(NAMES)
    assert found["places"]["bias"]["value"] == pytest.approx(expected.places.bias.value)
    assert [level["name"] for level in found["levels"]] == ["region = north", "region = south"]
    assert found["where"]["name"] == "region = south"
    assert found["where"]["elsewhere"]["n"] == N // 2
    assert found["settings"]["estimator"] == "complete"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (WET, ["dry", "wet"]),
        (["--classes", "p_wet", "--target", "rain"], ["0", "1"]),
        (["--classes", "1.0:p_wet", "--target", "rain"], ["0", "1.0"]),
        (["--classes", "p_wet", "--target", "flag"], ["false", "true"]),
    ],
)
def test_one_column_is_enough_for_two_classes(columns, options, names, tmp_path, capsys):
    found, _ = result(capsys, write(tmp_path / "a.csv", columns), *options)
    expected = sc.calibration_test(sc.Categorical(columns["p_wet"]), columns["rain"], n_resamples=99, rng=0)
    assert found["pvalue"] == expected.pvalue
    assert [each["name"] for each in found["classes"]] == names


def test_time_groups_and_rows_with_missing_values(columns, tmp_path, capsys):
    path = write(tmp_path / "a.csv", columns)
    found, _ = result(capsys, path, *WET, "--time", "day", "--group", "region")
    order = np.lexsort((columns["day"], columns["region"]))
    predictions, y = sc.Categorical(columns["p_wet"][order]), columns["rain"][order]
    days = {"day": columns["day"][order].astype(float)}
    given = {"groups": columns["region"][order], "horizon": 1, "covariates": days}
    expected = sc.calibration_test(predictions, y, n_resamples=99, rng=0, **given)
    assert (found["pvalue"], found["null"]) == (expected.pvalue, "simulate")
    assert result(capsys, path, *WET, "--time", "day", "--horizon", "3")[0]["null"] == "signs"
    gaps = {**columns, "weather": [" ", "NA", *columns["weather"][2:]]}
    path = write(tmp_path / "b.csv", gaps)
    assert "column 'weather': the value is missing, and 2 of 400 rows" in refusal(capsys, path, *WET)
    assert result(capsys, path, *WET, "--drop-missing")[0]["dropped"] == 2


def test_rounded_probabilities_are_scaled(columns, tmp_path, capsys):
    rounded = columns | {f"p_{name}": np.round(columns[f"p_{name}"], 2) for name in NAMES}
    found, said = result(capsys, write(tmp_path / "a.csv", rounded), *THREE)
    assert "Probabilities add up to 0.99 to 1.01, as rounded ones do, and were scaled to 1." in said
    assert any("of probability 0" in warning for warning in found["warnings"])


def test_gates_and_words(columns, tmp_path, capsys):
    path = str(write(tmp_path / "a.csv", columns))
    assert main(["test", path, *THREE, "--fail-on-rejection"]) == 1
    assert "Over-confident: says " in capsys.readouterr().out
    assert main(["test", path, *THREE, "--tolerate-error", "0.02"]) == 1
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "Calibration is rejected at level 0.05."
    assert second == "Within the tolerance (calibration error 0.02): no, the calibration error is beyond."
    assert main(["test", path, *WET, "--tolerate-error", "0.2", "--fail-on-rejection", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tolerance"], found["within"]) == ({"error": 0.2}, True)
    assert main(["test", path, *WET, "--tolerate-error", "0.01"]) == 1
    assert "cannot tell: more rows are needed." in capsys.readouterr().out


def test_a_report(columns, tmp_path):
    page = tmp_path / "a.html"
    assert main(["test", str(write(tmp_path / "a.csv", columns)), *THREE, "--by", "region", "--report", str(page)]) == 0
    text = page.read_text()
    for part in (
        "Class by class",
        "Level by level",
        "share that is right",
        "Expected calibration error",
        "region = south",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--classes", "cat:p_cat", "dog:p_dog", "--target", "animal:label"],
            "column 'p_cat': the probabilities of --classes add ",
        ),
        (["--classes", "cat:p_cat", "dog:p_dog", "--target", "animal"], "add :label to the name in --target"),
        (["--classes", "p_cat", "p_dog", "p_none", "--target", "animal:label"], "write none:p_none"),
        (["--classes", "cat:p_cat", "cow:p_dog", "none:p_none", "--target", "animal:label"], "write dog:p_dog"),
        (["--classes", "Dry:p_dog", "x:p_cat", "y:p_none", "--target", "weather"], "Likely cause: spelling"),
        (["--classes", "p_wet", "--target", "weather"], "such as wet:p_wet"),
        (["--classes", "cat:p_cat", "--target", "animal:label"], "holds 3 classes, 'cat', 'dog', 'none'"),
        (["--classes", "a:p_cat", "a:p_dog", "--target", "animal"], "--classes names the class 'a' twice"),
        (["--classes", "a:p_cat", "b:p_cat", "--target", "animal"], "--classes names the column 'p_cat' twice"),
        (["--classes", "wet:day", "--target", "weather"], "a probability must lie between 0 and 1, but is 399"),
        (["--classes", "p_wet", "--target", "p_wet"], "a prediction must not hold what was observed"),
        (["--classes", "p_wet", "--target", "rain", "flag"], "--classes is for one target"),
        (["--classes", "p_wet", "--target", "rain", "--samples", "p_cat"], "--classes and --samples say in two ways"),
        ([*WET, "--by", "weather"], "--by weather: that column is the --target."),
        ([*WET, "--tolerate-spread", "1.1"], "--tolerate-spread is not for classes"),
        (["--mean", "p_cat", "--std", "p_dog", "--target", "animal"], "is not a number. If targets are classes, give "),
        (["--mean", "p_cat", "--std", "p_dog", "--target", "rain", "--ordinal"], "--ordinal is for classes"),
        (
            ["--mean", "p_cat", "--std", "p_dog", "--target", "rain", "--tolerate-error", ".1"],
            "--tolerate-error is for ",
        ),
        ([*WET, "--null", "simulate", "--time", "day"], "--null simulate is for independent rows"),
    ],
)
def test_what_is_wrong_is_said(columns, options, message, tmp_path, capsys):
    assert message in refusal(capsys, write(tmp_path / "a.csv", columns), *options)


def test_a_class_needs_a_column(capsys):
    for text in (":p", "cat:", ""):
        with pytest.raises(SystemExit, match="2"):
            main(["test", "a.csv", "--classes", text, "--target", "y"])
        assert "must be LABEL:COL, such as cat:p_cat, or COL, but is" in capsys.readouterr().err


def test_a_parquet_file_of_labels_asks_for_classes(columns, tmp_path, capsys):
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    found = refusal(capsys, path, "--mean", "p_cat", "--std", "p_dog", "--target", "animal")
    assert "holds string, not numbers. If targets are classes, give --classes." in found
