"""Tables of the Hubverse: every output type against the predictions it stands for, joins, and mistakes by row."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow
import pytest
from adapter_checks import heavy
from scipy import stats

import scorecal as sc

RNG = np.random.default_rng(7)
WEEKS = pd.date_range("2024-01-06", periods=40, freq="7D").strftime("%Y-%m-%d")
TASKS = pd.MultiIndex.from_product([WEEKS, ["01", "US"], [0, 1]], names=["target_end_date", "location", "horizon"])
N = len(TASKS)
PLACES = pd.MultiIndex.from_product([WEEKS, ["01", "US"]], names=["target_end_date", "location"])
TRUTH = pd.DataFrame({"observation": RNG.normal(10.0, 1.0, size=len(PLACES))}, index=PLACES)
Y = TRUTH["observation"].reindex(TASKS.droplevel("horizon")).to_numpy()
LEVELS = [0.025, 0.25, 0.5, 0.75, 0.975]
CUTS = [8.0, 9.0, 10.0, 11.0, 12.5]
CLASSES = ["low", "middle", "high"]
CENTRE = 10.0 + 0.1 * RNG.normal(size=(N, 1))
DRAWS = CENTRE + RNG.normal(size=(N, 20))


def long(kind, ids, values):
    """A row for each of the values (n, k), shuffled within tasks, with means that are not used."""
    frame = pd.DataFrame(values, index=TASKS, columns=ids).rename_axis(columns="output_type_id")
    frame = frame.stack().rename("value").reset_index().assign(output_type=kind)
    means = TASKS.to_frame(index=False).assign(output_type="mean", output_type_id="NA", value=CENTRE[:, 0])
    return pd.concat([frame.sample(frac=1.0, random_state=0), means]).reset_index(drop=True)


def shares():
    return np.diff(stats.norm.cdf([-np.inf, 9.5, 10.5, np.inf], CENTRE, 1.0), axis=1)


TABLES = {
    "quantile": lambda: long("quantile", LEVELS, stats.norm.ppf(LEVELS, CENTRE)),
    "sample": lambda: long("sample", [f"s{k}" for k in range(20)], DRAWS),
    "cdf": lambda: long("cdf", CUTS, stats.norm.cdf(CUTS, CENTRE)),
    "pmf": lambda: long("pmf", CLASSES, shares()),
}


def truth_of(kind, truth=TRUTH):
    level = np.array(CLASSES)[np.digitize(truth["observation"], [9.5, 10.5])]
    return (truth.assign(observation=level) if kind == "pmf" else truth).reset_index()


def in_order(tasks):
    """Places of the rows that were found, among TASKS."""
    return TASKS.get_indexer(pd.MultiIndex.from_arrays([tasks[name] for name in TASKS.names]))


def check(kind, predictions, tasks):
    k = in_order(tasks)
    if kind == "quantile":
        assert predictions.levels.tolist() == LEVELS
        np.testing.assert_allclose(predictions.values, stats.norm.ppf(LEVELS, CENTRE[k]))
    if kind == "sample":
        np.testing.assert_array_equal(np.sort(predictions.members[:, :, 0]), np.sort(DRAWS[k]))
    if kind == "pmf":
        columns = [CLASSES.index(label) for label in predictions.labels]
        np.testing.assert_allclose(predictions.probabilities, shares()[k][:, columns])
    if kind == "cdf":
        below, at = predictions.cdf_bounds(Y[k][:, None])
        cdf = np.pad(stats.norm.cdf(CUTS, CENTRE[k]), ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        place = np.digitize(Y[k], CUTS)
        np.testing.assert_allclose(below[:, 0], cdf[np.arange(N), place])
        np.testing.assert_allclose(at[:, 0], cdf[np.arange(N), place + 1])


@pytest.mark.parametrize("kind", TABLES)
def test_every_output_type(kind):
    predictions, y, tasks = sc.from_hubverse(TABLES[kind](), truth_of(kind))
    assert sorted(in_order(tasks)) == list(range(N))
    check(kind, predictions, tasks)
    expected = np.array(CLASSES)[np.digitize(Y, [9.5, 10.5])] if kind == "pmf" else Y
    np.testing.assert_array_equal(y, expected[in_order(tasks)])
    one = np.asarray(tasks["horizon"]) == 0
    found = sc.calibration_test(predictions, y, groups=tasks["target_end_date"], rng=0)
    assert found.n == N
    assert one.sum() == N / 2


def test_verdicts():
    right = long("quantile", LEVELS, stats.norm.ppf(LEVELS, 10.0 + 0.0 * CENTRE)).query("horizon == 0")
    wrong = long("quantile", LEVELS, stats.norm.ppf(LEVELS, 10.0 + 0.0 * CENTRE, 0.5)).query("horizon == 0")
    for table, rejected in ((right, False), (wrong, True)):
        predictions, y, _ = sc.from_hubverse(table, truth_of("quantile"))
        assert sc.calibration_test(predictions, y, rng=0).rejects(0.01) == rejected


def test_the_door_of_one_object_asks_for_both_tables():
    with pytest.raises(
        ValueError, match=r"is a table of the Hubverse; use `sc.from_hubverse\(forecasts, observations\)`"
    ):
        sc.as_predictions(TABLES["quantile"]())


def test_tables_of_other_libraries_and_other_types():
    forecasts, truth = TABLES["quantile"](), truth_of("quantile")
    expected = sc.from_hubverse(forecasts, truth)
    text = io.StringIO(forecasts.to_csv(index=False))
    typed = forecasts.assign(
        target_end_date=pd.to_datetime(forecasts["target_end_date"]),
        horizon=forecasts["horizon"].astype("Int64"),
        output_type=forecasts["output_type"].astype("category"),
    )
    for given, observed in (
        (pd.read_csv(text, dtype={"location": str}), truth),
        (typed, truth.assign(target_end_date=pd.to_datetime(truth["target_end_date"]).dt.date)),
        (pyarrow.table({name: list(map(str, column)) for name, column in forecasts.items()}), truth),
        ({name: column.tolist() for name, column in forecasts.items()}, pyarrow.Table.from_pandas(truth)),
    ):
        found = sc.from_hubverse(given, observed)
        np.testing.assert_allclose(found.predictions.values, expected.predictions.values)  # CSV rounds
        np.testing.assert_array_equal(found.y, expected.y)


@pytest.mark.parametrize("kind", ["quantile", "sample", "pmf"])
def test_oracle_output(kind):
    oracle = truth_of(kind).rename(columns={"observation": "oracle_value"})
    oracle = oracle.assign(output_type=kind, output_type_id="NA")
    if kind == "pmf":
        parts = [oracle.assign(output_type_id=c, oracle_value=(oracle["oracle_value"] == c) * 1) for c in CLASSES]
        oracle = pd.concat(parts)
    other = oracle.assign(output_type="median", oracle_value=0.0)
    found = sc.from_hubverse(TABLES[kind](), pd.concat([other, oracle]))
    np.testing.assert_array_equal(found.y, sc.from_hubverse(TABLES[kind](), truth_of(kind)).y)


def test_tasks_without_an_observation_are_left_out_and_counted():
    truth = truth_of("quantile").astype({"observation": object})
    truth.loc[0, "observation"] = "NA"
    with pytest.warns(UserWarning, match="4 of 160 tasks have no observation and were left out, first that of row "):
        found = sc.from_hubverse(TABLES["quantile"](), truth.drop(index=79))
    assert found.predictions.n == len(found.y) == N - 4


def test_fewer_samples_of_some_tasks():
    table = TABLES["sample"]()
    left = table[~((table["output_type_id"] == "s3") & (table["horizon"] == 1))]
    assert np.sum(np.isnan(sc.from_hubverse(left, truth_of("sample")).predictions.members)) == N / 2


def changed(kind="quantile", **cells):
    """A table with another value in its third row."""
    table = TABLES[kind]().astype(dict.fromkeys(cells, object))
    for name, value in cells.items():
        table.loc[3, name] = value
    return table


def mistakes():
    table, truth = TABLES["quantile"](), truth_of("quantile")
    means = table[table["output_type"] == "mean"]
    two = pd.concat([table.assign(model_id="A"), table.assign(model_id="B")])
    mixed = pd.concat([table, TABLES["cdf"]()])
    numbers = truth.assign(location=truth["location"].replace({"01": 1}))
    falling = TABLES["cdf"]()
    falling.loc[falling["output_type_id"] == 10.0, "value"] = 0.99
    words = truth.astype({"observation": object})
    words.loc[5, "observation"] = "x"
    return [
        ((3.0, truth), TypeError, "`forecasts` must be a table, such as a data frame, but is a float"),
        ((table.drop(columns="value"), truth), ValueError, "must have a column 'value', but has target_end"),
        ((table[:0], truth), ValueError, "`forecasts` has no rows"),
        ((table, truth[:0]), ValueError, "`observations` has no rows"),
        ((means, truth), ValueError, "of the output type quantile, .* but has mean. Likely cause: point forecasts"),
        ((two, truth), ValueError, "holds 2 models, A, B; choose one"),
        ((mixed, truth), ValueError, "several output types; choose `output_type` among 'quantile', 'cdf'"),
        ((table, truth, "pmf"), ValueError, "no output type 'pmf'; choose `output_type` among 'quantile'"),
        ((pd.concat([table, table[3:4]]), truth), ValueError, "quantile output .* of one task in rows 3 and 960"),
        ((table.drop(index=3), truth), ValueError, "the same quantile outputs .* but that of row .* has none"),
        ((changed(value="many"), truth), ValueError, "'value' must hold finite numbers, .* row 3 is 'many'"),
        ((changed(value=np.nan), truth), ValueError, "'value' must hold finite numbers, .* row 3 is missing"),
        ((changed(output_type_id="EW1"), truth), ValueError, "'output_type_id' must hold .* row 3 is 'EW1'"),
        ((table, truth.rename(columns={"observation": "n"})), ValueError, "a column 'observation' .*Name it by"),
        ((table, truth[["observation"]]), ValueError, "columns in common with .* target_end_date, location"),
        ((table, numbers.query("location == 1")), ValueError, "none of the tasks of .* US, the first .* location 1[.]"),
        ((table, pd.concat([truth, truth.assign(observation=1.0)])), ValueError, "two values for one task.* in row 0 "
         "and 1.0 in row 80 .*keep the last `as_of`"),
        ((table, words), ValueError,
         "`observations`: the column 'observation' must hold finite numbers, but that of row 5 is 'x'"),
        (({"value": [1.0], "output_type": ["cdf"] * 2, "output_type_id": [1, 2]}, truth), ValueError, "of one length"),
        ((pd.concat([table.assign(target=name) for name in "ab"]), truth), ValueError, "of 2 targets, a, b, but"),
        ((falling, truth), ValueError, "a cdf must rise from 0 to 1, but that of row .* at 11. Likely cause"),
        ((TABLES["cdf"](), truth.assign(output_type="cdf")), ValueError, "is oracle output, which for a cdf says only"),
        ((table, truth.assign(output_type="pmf")), ValueError, "without rows of the output type 'quantile'"),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(23))
def test_mistakes(case):
    (forecasts, truth, *kind), error, message = mistakes()[case]
    with pytest.raises(error, match=message):
        sc.from_hubverse(forecasts, truth, output_type=kind[0] if kind else None)


def a_hub(folder):
    """A hub on disk: its configuration, the output of two models, and a time series of what was observed."""
    anything, weeks = {"required": None, "optional": ["any"]}, {"required": [0, 1], "optional": None}
    task = {
        "task_ids": {"target_end_date": anything, "location": anything, "horizon": weeks},
        "output_type": {"quantile": {"output_type_id": {"required": LEVELS}, "value": {"type": "double"}}},
    }
    files = {
        "hub-config/admin.json": json.dumps({"file_format": ["csv"]}),
        "hub-config/tasks.json": json.dumps({"rounds": [{"model_tasks": [task]}]}),
        "target-data/time-series.csv": truth_of("quantile").to_csv(index=False),
        **{f"model-output/{name}/{WEEKS[0]}-{name}.csv": TABLES["quantile"]().to_csv(index=False) for name in "AB"},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_hub_as_hubdata_reads_it(tmp_path):
    import hubdata
    from hubdata.create_target_data_schema import TargetType
    from pyarrow import compute

    hub = hubdata.connect_hub(a_hub(tmp_path))
    output = hub.to_table(filter=compute.field("model_id") == "A")
    truth = hubdata.connect_target_data(tmp_path, TargetType.TIME_SERIES).to_table()
    predictions, y, tasks = sc.from_hubverse(output, truth)
    check("quantile", predictions, {**tasks, "target_end_date": tasks["target_end_date"].astype(str)})
    np.testing.assert_allclose(y, sc.from_hubverse(TABLES["quantile"](), truth_of("quantile")).y)
    with pytest.raises(ValueError, match="holds 2 models, A, B; choose one"):
        sc.from_hubverse(hub.to_table(), truth)


@pytest.mark.slow
def test_tables_of_polars():
    polars = heavy("polars")
    forecasts, truth = TABLES["quantile"](), truth_of("quantile")
    found = sc.from_hubverse(polars.from_pandas(forecasts.astype({"output_type_id": str})), polars.from_pandas(truth))
    np.testing.assert_allclose(found.predictions.values, sc.from_hubverse(forecasts, truth).predictions.values)
