"""Messages of the library reach users of the command line in its own words."""

import json
from pathlib import Path

import numpy as np
import pytest

from scorecal.cli import main
from scorecal.cli.words import in_options

pytestmark = pytest.mark.filterwarnings("default")  # as users have them, and not as errors
CSV, NPZ = Path("a.csv"), Path("a.NPZ")


SIMULATE = "Few rows: give --null simulate, or drop them, or give --group."


@pytest.mark.parametrize(
    ("message", "file", "said"),
    [
        ("`names` must be 2 different names.", CSV, "--target must be 2 different names."),
        ("`covariates`: 'x' is left out.", CSV, "--by: 'x' is left out."),
        ("`y` must fit `predictions`.", CSV, "--target must fit the predictions."),
        ("`y` must fit `predictions`.", NPZ, "array 'targets' must fit the predictions."),
        ("`at_base` must fit `at_targets`.", NPZ, "array 'base_scores' must fit array 'scores'."),
        ("No spread. `calibration_test` goes on; `kccsd_test` not. Why?", CSV, "No spread. The test goes on. Why?"),
        ("Bad. Likely causes: a, b, or a given `bandwidth`.", CSV, "Bad. Likely causes: a, b."),
        ("Bad (give a `base`), really.", CSV, "Bad, really."),
        ("`bandwidth` is 0.", CSV, "bandwidth is 0."),
        ("A view (of `y`) fails.", CSV, "A view (of --target) fails."),
        ("`covariates`: 'a`b; c' is `left` out. 'd`e' too.", CSV, "--by: 'a`b; c' is left out. 'd`e' too."),
        ('`covariates`: "it\'s a`b" is left out.', CSV, '--by: "it\'s a`b" is left out.'),
        (
            "Rows 1 apart are correlated: give `horizon=`; if one patient has several, give `groups=`.",
            CSV,
            "Rows 1 apart are correlated: give --time and --horizon; if one patient has several, give --group.",
        ),
        ('Few rows: give `null="simulate"`, or drop them, or give `groups=`.', CSV, SIMULATE),
        ("", CSV, ""),
    ],
)
def test_translations(message, file, said):
    assert in_options(message, file) == said


def normal(*shape, scale=1.0):
    return scale * np.random.default_rng(0).normal(size=shape)


MEAN = normal(120)
TABLES = {
    "too few for the test": ((MEAN[:1], 1.0, MEAN[:1] + 1.0), "--target must hold at least 2 targets, but has 1."),
    "too few for a diagnosis": (
        (MEAN[:9], 1.0, MEAN[:9] + normal(9)),
        "--target must hold at least 10 targets for the diagnosis, but 9 can be used.",
    ),
    "scores that overflow": (
        (1e100 * MEAN, 1e-150, 1e100 * MEAN[::-1]),
        "its numbers are too large, too small or too unequal",
    ),
    "squares that overflow": ((1e160 * MEAN, 1.0, 1e160 * MEAN[::-1]), "its numbers are too large, too small or"),
    "means that were observed": (
        (MEAN, 1.0, MEAN),
        "the score of the predictions at their targets is zero everywhere.",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_errors_of_tables(tmp_path, capsys, name):
    (mean, sd, target), words = TABLES[name]
    table = np.stack([mean, np.full(len(mean), sd), target], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,sd,u", comments="")
    assert main(["test", str(tmp_path / "a.csv"), "--mean", "mu", "--std", "sd", "--target", "u"]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "`" not in error
    assert error.count("\n") == 1


def test_the_same_column_twice_as_target(tmp_path, capsys):
    table = np.stack([MEAN, np.ones(120), MEAN + normal(120)], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,sd,u", comments="")
    both = ["--mean", "mu", "mu", "--std", "sd", "sd", "--target", "u", "u"]
    assert main(["test", str(tmp_path / "a.csv"), *both]) == 2
    error = capsys.readouterr().err
    assert "--target" in error
    assert "`" not in error


ARRAYS = {
    "targets": (
        {"targets": normal(120, 2)},
        "array 'targets' must have shape (n, d) = (120, 1) to fit the predictions",
    ),
    "scores": ({"scores": normal(120, 1, 1)}, "array 'scores' must have shape (n, d)"),
    "base_scores": ({"base_scores": normal(120, 4, 2)}, "array 'base_scores' must have shape (n, m, d) = (120, m, 1)"),
    "zero": ({"base_scores": np.zeros((120, 4, 1))}, "array 'base_scores' is zero everywhere"),
    "one point": (
        {"base_points": np.ones((4, 1))},
        "array 'base_points' must hold at least d + 1 = 2 points that span all dimensions for the scores",
    ),
    "sign": ({"scores": -1}, "the predictions: no spread can be fitted to the scores of any of them"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_errors_of_arrays(tmp_path, capsys, name):
    changed, words = ARRAYS[name]
    mean, base = MEAN[:, None], normal(4, 1)
    y = mean + normal(120, 1)
    arrays = {"targets": y, "scores": mean - y, "base_scores": (mean - base.T)[..., None], "base_points": base}
    if name == "sign":
        changed = {"scores": y - mean, "base_scores": -arrays["base_scores"]}
    np.savez(tmp_path / "a.npz", **arrays | changed)
    assert main(["test", str(tmp_path / "a.npz")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "`" not in error
    assert "kccsd_test" not in error


def test_warnings_are_translated_and_said_once(tmp_path, capsys):
    """`y` is found constant by the test, by the diagnosis and by the report."""
    table = np.stack([MEAN, np.ones(120), np.zeros(120)], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,sd,u", comments="")
    options = ["--mean", "mu", "--std", "sd", "--target", "u", "--report", str(tmp_path / "r.html")]
    assert main(["test", str(tmp_path / "a.csv"), *options]) == 0
    error = capsys.readouterr().err
    assert (
        error
        == "scorecal test: --target is constant: all targets are equal. Likely cause: the wrong column was given.\n"
    )


def test_too_many_labels_may_be_numbers(tmp_path, capsys):
    table = np.stack([MEAN, np.ones(120), MEAN + normal(120)], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,sd,u", comments="")
    options = ["--mean", "mu", "--std", "sd", "--target", "u", "--by", "mu:label"]
    assert main(["test", str(tmp_path / "a.csv"), *options]) == 0
    assert capsys.readouterr().err.endswith("(as 2024-01-31), some are not, or leave out :label.\n")


def test_warnings_of_the_result_are_printed_in_words_of_options(tmp_path, capsys):
    x = np.convolve(normal(206), np.ones(6), "valid")
    table = np.stack([np.zeros(200), np.full(200, 6**0.5), x[:200]], 1)
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header="mu,sd,u", comments="")
    options = ["test", str(tmp_path / "a.csv"), "--mean", "mu", "--std", "sd", "--target", "u"]
    assert main([*options, "--report", str(tmp_path / "r.html")]) == 0
    (line,) = [line for line in capsys.readouterr().out.split("\n") if line.startswith("Warning: ")]
    assert line.startswith("Warning: Rows 1 apart are correlated (0.")
    assert "if they are in time order, give --time and --horizon" in line
    report = (tmp_path / "r.html").read_text()
    verdict, text = report.index('class="verdict'), report.index("give --time and --horizon")
    assert verdict < text < report.index("<h2>")
    assert main([*options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [f"Warning: {sentence}" for sentence in found["warnings"]] == [line]
    assert found["pvalue_error"] > 0
    assert (
        f"Null distribution: {found['null']} (signs for &#x27;any, kernels&#x27;), {found['n_draws']} draws; Monte"
        in report
    )
