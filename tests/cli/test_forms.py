"""Quantiles, samples and counts on the command line: the verdict of Python, and errors that name the options."""

import json

import numpy as np
import pytest
from command_line import write
from scipy import stats

import scorecal as sc
from scorecal.cli import main

N, LEVELS = 200, [0.05, 0.5, 0.95]
ONE = ["--target", "y", "--n-resamples", "99"]


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    mean, rate = rng.normal(size=N), np.exp(rng.normal(size=N))
    quantiles = stats.norm.ppf(LEVELS, mean[:, None], 0.7)
    members = mean[:, None] + rng.normal(size=(N, 12))
    return {
        **{f"q{k}": quantiles[:, k] for k in range(3)},
        **{f"m{k + 1}": members[:, k] for k in range(12)},
        "y": mean + rng.normal(size=N),
        "rate": rate,
        "var": 2.0 * rate,
        "k": rng.poisson(rate),
    }


def found(capsys, path, *options):
    assert main(["test", str(path), *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "make"),
    [
        (
            ["--quantiles", "0.5:q1", "0.05:q0", "0.95:q2"],
            lambda c: sc.from_quantiles(LEVELS, np.stack([c["q0"], c["q1"], c["q2"]], axis=1)),
        ),
        (
            ["--samples", "m1..m12"],
            lambda c: sc.from_samples(np.stack([c[f"m{k}"] for k in range(1, 13)], axis=1)),
        ),
        (
            ["--samples", "m1", "m2", "m3..m5"],
            lambda c: sc.from_samples(np.stack([c[f"m{k}"] for k in range(1, 6)], 1)),
        ),
    ],
)
def test_the_verdict_is_that_of_python(columns, options, make, tmp_path, capsys):
    given = found(capsys, write(tmp_path / "a.csv", columns), *options, *ONE)
    expected = sc.calibration_test(make(columns), columns["y"], n_resamples=99, rng=0)
    assert given["pvalue"] == expected.pvalue
    assert given["cannot_see"] == list(expected.cannot_see)


def test_counts(columns, tmp_path, capsys):
    path = write(tmp_path / "a.csv", columns)
    options = ["--count", "--target", "k", "--n-resamples", "99"]
    poisson = found(capsys, path, "--mean", "rate", *options)
    expected = sc.calibration_test(
        sc.as_predictions(stats.poisson(columns["rate"])), columns["k"], n_resamples=99, rng=0
    )
    assert poisson["pvalue"] == expected.pvalue
    assert found(capsys, path, "--mean", "rate", "--variance", "var", *options)["pvalue"] < poisson["pvalue"]


def test_a_report(columns, tmp_path, capsys):
    page = tmp_path / "a.html"
    options = ["--quantiles", "0.05:q0", "0.5:q1", "0.95:q2", *ONE, "--report", str(page)]
    assert main(["test", str(write(tmp_path / "a.csv", columns)), *options]) == 0
    assert "over-confident" in page.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quantiles", "5:q0", "0.5:q1"], "such as 0.9:q90, or 0.05:q0, but is '5:q0'"),
        (["--quantiles", "0.5:q1"], "--quantiles needs at least two"),
        (["--quantiles", "0.5:q1", "0.5:q2"], "--quantiles names a level twice"),
        (["--quantiles", "0.5:q1", "0.9:q2", "--mean", "rate"], "--quantiles and --mean say in two ways"),
        (["--samples", "m1..m12", "--count"], "--samples and --count say in two ways"),
        (["--samples", "m5..m2"], "the range must go up"),
        (["--samples", "m1..m13"], "there is no column 'm13'"),
        (["--count"], "--count needs --mean with one column"),
        (["--mean", "rate", "--std", "var", "--variance", "var"], "--variance is for counts"),
        (["--count", "--mean", "rate"], "a count must be a whole number"),
        (["--quantiles", "0.5:q1", "0.9:y"], "a prediction must not hold what was observed"),
    ],
)
def test_what_is_wrong_is_said(columns, options, message, tmp_path, capsys):
    arguments = ["test", str(write(tmp_path / "a.csv", columns)), *options, *ONE]
    if "5:q0" in options:  # argparse's own
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
    else:
        assert main(arguments) == 2
    assert message in capsys.readouterr().err
