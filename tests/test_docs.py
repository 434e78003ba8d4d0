"""The site: paths, names and tests on its pages exist, the API is complete, and commands work as written."""

import ast
import gzip
import operator
import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from command_line import write
from pyarrow import parquet

import scorecal as sc
from scorecal.cli import main
from scorecal.views import default_views
from scorecal.views.covariates import covariate_views, serial_views

ROOT = Path(__file__).parent.parent
THEORY, API = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("theory.md", "api.md"))
PATHS, NAMES = (
    sorted(set(re.findall(r"`(\w+/[\w/.]+)`", THEORY))),
    sorted(set(re.findall(r"`scorecal\.([\w.]+)`", THEORY))),
)


def commands(page):
    """Those that judge a file: lines of shell blocks, joined where they end in a backslash."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.split(">")[0] for line in lines if line.startswith("scorecal test ")]


PROMISES = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
HELD_BY = sorted(set(re.findall(r"`(tests/[^`]*)`", PROMISES)))
COMMANDS = [command for page in ("command_line.md", "pipelines.md", "classes.md") for command in commands(page)]


def test_there_is_something_to_check():
    assert len(PATHS) > 20
    assert len(NAMES) > 15
    assert len(COMMANDS) > 8
    assert len(HELD_BY) > 60


def test_relative_links_lead_to_files():
    """On disk, and so on a code host; Sphinx looks after those of the site."""
    pages = [
        ROOT / "README.md",
        ROOT / "SECURITY.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "tutorials").glob("*.md"),
    ]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("path", PATHS)
def test_paths_of_the_theory_exist(path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_theory_exist(name):
    operator.attrgetter(name)(sc)


def test_api_lists_every_public_name():
    listed = set(re.findall(r"^\.\. auto(?:function|class|module):: (?:scorecal\.)?([\w.]+)", API, re.MULTILINE))
    assert set(sc.__all__) - listed - {"estimators", "nulls"} == set()


@pytest.mark.parametrize("name", HELD_BY)
def test_tests_that_hold_a_promise_exist_and_are_called_slow_if_they_are(name):
    path, _, test = name.partition("::")
    module = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    (found,) = (each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == test)
    is_slow = "pytest.mark.slow" in map(ast.unparse, found.decorator_list)
    assert is_slow == (f"`{name}` (slow)" in PROMISES)


def test_every_promise_is_held_by_a_test():
    rows = [line for line in PROMISES.splitlines() if line.startswith("| ") and not line.startswith("| promise |")]
    assert len(rows) > 40
    for row in rows:
        assert "`tests/" in row


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the pages speak of."""
    rng = np.random.default_rng(0)
    mean, base = rng.normal(size=(300, 2)), rng.normal(size=(6, 2))
    y, one = mean + rng.normal(size=(300, 2)), np.ones(300)
    wind = {
        **dict(zip(("mu_n", "mu_e", "north", "east"), (*mean.T, *y.T), strict=True)),
        "sd_n": one,
        "sd_e": one,
        "c_nn": one,
        "c_ne": 0 * one,
        "c_ee": one,
        "hour": rng.integers(24, size=300),
        "day": np.datetime64("2024-01-01") + np.arange(300),
        "station": rng.integers(2, size=300),
        "season": np.where(rng.random(300) < 0.5, "dry", "wet"),
    }
    parquet.write_table(pyarrow.table(wind), tmp_path / "wind.parquet")
    lines = [",".join(map(str, row)) for row in (tuple(wind), *zip(*wind.values(), strict=True))]
    (tmp_path / "wind.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "wind.csv.gz").write_bytes(gzip.compress((tmp_path / "wind.csv").read_bytes()))
    table = np.column_stack([mean[:, 0], one, y[:, 0]])
    np.savetxt(tmp_path / "forecasts.csv", table, delimiter=",", header="mu,sigma,observed", comments="")
    p, light = rng.dirichlet(np.ones(3), size=300), np.where(rng.random(300) < 0.5, "in", "out")
    label = np.array(["cat", "dog", "owl"])[sc.Categorical(p).sample(1, rng)[0]]
    animals = [(*row, *row, name, side) for row, name, side in zip(p.tolist(), label, light, strict=True)]
    heads = [("cat", "dog", "owl", "p_cat", "p_dog", "p_owl", "animal", "light"), ("p_wet", "weather", "day")]
    weather = np.where(rng.random(3000) < np.repeat(p[:, 0], 10), "wet", "dry")
    rain = list(zip(np.repeat(p[:, 0], 10), weather, range(3000), strict=True))
    for name, rows in (("animals", [heads[0], *animals]), ("rain", [heads[1], *rain])):
        (tmp_path / f"{name}.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    many = np.column_stack([np.zeros(20_000), np.ones(20_000), 1.02 * rng.normal(size=20_000)])
    millions = dict(zip(("mu", "sigma", "observed"), many.T, strict=True))
    parquet.write_table(pyarrow.table(millions), tmp_path / "millions.parquet")
    (tmp_path / "forecasts").mkdir()
    parquet.write_table(pyarrow.table(millions).slice(0, 300), tmp_path / "forecasts" / "part-0.parquet")
    date, place = np.repeat(np.arange(150), 2), np.tile([1, 2], 150)
    outputs = {
        "reference_date": np.repeat(date, 3),
        "location": np.repeat(place, 3),
        "output_type": np.full(900, "quantile"),
        "output_type_id": np.tile([0.1, 0.5, 0.9], 300),
        "value": (mean[:, :1] + [-1.28, 0.0, 1.28]).ravel(),
    }
    write(tmp_path / "team-model.csv", outputs)
    write(tmp_path / "time-series.csv", {"reference_date": date, "location": place, "observation": y[:, 0]})
    scores = {"targets": y, "scores": mean - y, "base_scores": mean[:, None, :] - base, "base_points": base}
    np.savez(tmp_path / "scores.npz", **scores)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_pages_work(command, folder, capsys):
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


def test_the_page_of_real_data_has_at_least_eight_sets_with_several_models_each():
    page = (ROOT / "benchmarks" / "results" / "real_data.md").read_text(encoding="utf-8")
    tables = [part.count("\n| ") - 1 for part in page.split("\n### ")[1:]]
    assert len(tables) >= 8
    assert min(tables) >= 2
    assert "real_data.md" in (ROOT / "docs" / "real_data.md").read_text(encoding="utf-8")


def test_the_page_on_views_has_the_sentence_and_the_weight_of_each():
    page = (ROOT / "docs" / "calibration_test.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w, ]+) \| ([^|]+\.) \| .* \| ([^|]+) \|$", page, re.MULTILINE)
    listed = {name: (about, weights) for name, about, weights in rows}
    views = [
        *default_views(1),
        *default_views(3),
        *default_views(1, several_modes=True),
        *default_views(3, several_modes=True, components=True),
        *default_views(sc.ScoreFunction(lambda y: -y, 5, 1)),
        *serial_views(1),
        *covariate_views({"NAME": np.arange(3.0)}, 1),
    ]
    assert {view.name for view in views} == listed.keys()
    for view in views:
        about, weights = listed[view.name]
        assert view.about == about
        lighter = view.name in ("spread", "tails") and "then less" in listed["spread, component"][1]
        assert lighter or float(view.weight) in [float(number) for number in re.findall(r"[\d.]+", weights)]


@pytest.mark.parametrize(("dim", "most", "least", "outliers"), [(1, 42, 3.5, 1), (3, 56, 1.3, 1)])
def test_the_page_on_views_has_the_shares_of_the_level(dim, most, least, outliers):
    page = (ROOT / "docs" / "calibration_test.md").read_text(encoding="utf-8")
    assert {f"{most} %", f"{least} %", f"about {outliers} %"} <= set(re.findall(r"(?:about )?[\d.]+ %", page))
    views = default_views(dim)
    shares = {view.name: 100.0 * view.weight / sum(each.weight for each in views) for view in views}
    feared = {view.name for view in views if view.sees in ("bias", "confidence")}
    assert round(sum(shares[name] for name in feared)) == most
    assert round(shares.pop("share of outliers")) == outliers
    assert round(min(shares[name] for name in shares.keys() - feared), 1) == least
