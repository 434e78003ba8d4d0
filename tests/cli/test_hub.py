"""Tables of the Hubverse on the command line: the verdict of Python, order, groups, and places of mistakes."""

import numpy as np
import pandas as pd
import pytest
from command_line import refusal, result, text_of
from scipy import stats

import scorecal as sc
from scorecal.cli import main

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
WEEKS = pd.date_range("2024-01-06", periods=60, freq="7D").strftime("%Y-%m-%d")
TASKS = pd.MultiIndex.from_product([WEEKS, ["01", "US"]], names=["target_end_date", "location"])
RNG = np.random.default_rng(0)
CENTRE = RNG.normal(size=(120, 1))
Y = CENTRE[:, 0] + RNG.normal(size=120)
TRUTH = pd.DataFrame({"observation": Y}, index=TASKS).reset_index()
OUTPUTS = {
    "quantile": (LEVELS, lambda: stats.norm.ppf(LEVELS, CENTRE)),
    "sample": (range(15), lambda: CENTRE + RNG.normal(size=(120, 15))),
    "cdf": ([-1.0, 0.0, 0.5, 2.0], lambda: stats.norm.cdf([-1.0, 0.0, 0.5, 2.0], CENTRE)),
    "pmf": (["no", "yes"], lambda: np.full((120, 2), 0.5)),
}


def output(kind):
    ids, values = OUTPUTS[kind]
    frame = pd.DataFrame(values(), index=TASKS, columns=list(ids)).rename_axis(columns="output_type_id")
    return frame.stack().rename("value").reset_index().assign(output_type=kind, horizon=1)


@pytest.fixture(scope="module")
def tables():
    means = TASKS.to_frame(index=False).assign(output_type="mean", output_type_id="NA", value=0.0, horizon=1)
    return {kind: pd.concat([output(kind), means]) for kind in OUTPUTS}


def files(folder, table, truth=TRUTH, ending="csv"):
    paths = folder / f"output.{ending}", folder / f"truth.{ending}"
    for path, frame in zip(paths, (table, truth), strict=True):
        if ending == "csv":
            path.write_text(text_of({name: column.tolist() for name, column in frame.items()}))
        else:
            frame.astype({"output_type_id": str} if "output_type_id" in frame else {}).to_parquet(path)
    return paths[0], "--hub", str(paths[1])


@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_verdict_is_that_of_python(kind, tables, tmp_path, capsys):
    truth = TRUTH.assign(observation=np.where(Y > 0.0, "yes", "no")) if kind == "pmf" else TRUTH
    given, said = result(capsys, *files(tmp_path, tables[kind], truth))
    predictions, y, _ = sc.from_hubverse(tables[kind], truth)
    assert given["pvalue"] == sc.calibration_test(predictions, y, n_resamples=99, rng=0).pvalue
    assert (given["n"], said) == (120, "")
    assert given["settings"]["hub"].endswith("truth.csv")


def test_parquet_with_the_row_numbers_of_pandas(tables, tmp_path, capsys):
    found, said = result(capsys, *files(tmp_path, tables["quantile"], ending="parquet"))
    assert found["pvalue"] == result(capsys, *files(tmp_path, tables["quantile"]))[0]["pvalue"]
    assert said == ""


def test_columns_of_tasks_are_groups_times_and_levels(tables, tmp_path, capsys):
    paths = files(tmp_path, tables["quantile"].sample(frac=1.0, random_state=0))
    options = ["--group", "location", "--time", "target_end_date", "--by", "location"]
    found, _ = result(capsys, *paths, *options)
    order = np.lexsort((TASKS.get_level_values(0), TASKS.get_level_values(1)))
    predictions = sc.from_quantiles(LEVELS, stats.norm.ppf(LEVELS, CENTRE[order]))
    expected = sc.calibration_test(
        predictions,
        Y[order],
        groups=TASKS.get_level_values(1)[order],
        horizon=1,
        covariates={
            "target_end_date": TASKS.get_level_values(0)[order].to_numpy("datetime64[us]"),
            "location": TASKS.get_level_values(1)[order].to_numpy(),
        },
        n_resamples=99,
        rng=0,
    )
    assert found["pvalue"] == expected.pvalue
    names = [level["name"] for level in found["levels"] if level["covariate"] == "location"]
    assert names == ["location = 01", "location = US"]


def test_tasks_that_were_not_observed_are_told(tables, tmp_path, capsys):
    found, said = result(capsys, *files(tmp_path, tables["quantile"], TRUTH[2:]))
    assert found["n"] == 118
    assert "2 of 120 tasks have no observation and were left out, first that of line 2 (target_end_date 2024" in said


def test_a_report(tables, tmp_path):
    page = tmp_path / "a.html"
    table = tables["quantile"]
    narrow = table.assign(value=0.4 * table["value"])
    path, *options = files(tmp_path, narrow)
    assert main(["test", str(path), *options, "--report", str(page), "--n-resamples", "99"]) == 0
    assert "over-confident" in page.read_text()
    assert "truth.csv" in page.read_text()


def changed(table, row, **cells):
    table = table.astype(dict.fromkeys(cells, object)).reset_index(drop=True)
    table.loc[row, list(cells)] = list(cells.values())
    return table


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ["--mean", "value"], "--hub and --mean say in two ways what is predicted"),
        ({}, ["--count"], "--hub and --count say in two ways"),
        ({}, ["--target", "a", "b"], "--target must name one column, but names 2"),
        ({}, ["--target", "count"], "truth.csv: there is no column 'count'; the columns are 'target_end_date'"),
        (
            {},
            ["--output-type", "cdf"],
            "output.csv: the model output has no output type 'cdf'; choose --output-type among",
        ),
        ({}, ["--by", "region"], "there is no column 'region'; the columns are 'target_end_date', 'location'"),
        ({}, ["--group", "location", "--null", "simulate"], "--null simulate is for independent rows"),
        ({"row": 3, "value": "x"}, [], "output.csv, line 5, column 'value': 'x' is not a number"),
        ({"row": 3, "value": ""}, [], "column 'value' must hold finite numbers, but that of line 5 is missing"),
        ({"row": 3, "output_type_id": "x"}, [], "'output_type_id' must hold finite numbers, but that of line 5 is 'x'"),
        ({"row": 3, "output_type_id": 0.05}, [], "the quantile output 0.05 of one task in lines 2 and 5"),
    ],
)
def test_what_is_wrong_is_said(change, options, message, tables, tmp_path, capsys):
    table = tables["quantile"]
    table = changed(table, change["row"], **{n: v for n, v in change.items() if n != "row"}) if change else table
    assert message in refusal(capsys, *files(tmp_path, table), *options)


def test_other_mistakes(tables, tmp_path, capsys):
    table = tables["quantile"]
    twice = pd.concat([TRUTH, TRUTH.assign(observation=1.0)])
    assert "in line 2 and 1.0 in line 122 (target_end" in refusal(capsys, *files(tmp_path, table, twice))
    assert "--hub needs the columns 'output_type'" in refusal(
        capsys, *files(tmp_path, table.drop(columns="output_type"))
    )
    assert "--tolerate-bias is not for classes" in refusal(
        capsys, *files(tmp_path, tables["pmf"], TRUTH.assign(observation="no")), "--tolerate-bias", "0.1"
    )
    assert "--tolerate-error is for classes" in refusal(capsys, *files(tmp_path, table), "--tolerate-error", "0.1")
    path = files(tmp_path, table)[0]
    assert "--hub must be a file" in refusal(capsys, path, "--hub", "-")
    assert "--hub needs tables" in refusal(capsys, path, "--hub", "a.npz")
    assert "--output-type is for the output of a hub" in refusal(
        capsys, path, "--output-type", "sample", "--target", "value"
    )
