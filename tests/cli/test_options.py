"""Values of options that nothing could be computed with: status 2, and one line that names the option."""

import subprocess
import sys

import numpy as np
import pytest

from scorecal.cli import main
from scorecal.cli.memory import check_draws
from scorecal.cli.table import InputError
from scorecal.predictions import Gaussian

ONE = ["--mean", "mu", "--std", "sd", "--target", "u"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    mean = np.random.default_rng(0).normal(size=200)
    path = tmp_path_factory.mktemp("options") / "a.csv"
    np.savetxt(path, np.stack([mean, np.ones(200), mean[::-1]], 1), delimiter=",", header="mu,sd,u", comments="")
    return str(path)


def status_and_error(capsys, *arguments):
    try:
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    error = capsys.readouterr().err
    assert error.count("\n") == (status == 2)
    return status, error


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--alpha", "5e-324", "--alpha 4.94066e-324 cannot be reached with 999 bootstrap draws: no number is enough."),
        ("--alpha", "1e-300", "--alpha 1e-300 cannot be reached with 999 bootstrap draws: no number is enough."),
        (
            "--alpha",
            "1e-11",
            "--alpha 1e-11 cannot be reached with 999 bootstrap draws: give --n-resamples 99999999999",
        ),
        ("--alpha", "0", "argument --alpha: must lie between 0 and 1, but is '0'"),
        ("--alpha", "nan", "argument --alpha: must lie between 0 and 1, but is 'nan'"),
        ("--alpha", "x" * 5000, "argument --alpha: must lie between 0 and 1, but is 'xxx"),
        ("--n-resamples", str(10**30), "argument --n-resamples: must be at most 1000000000000, but is 1000"),
        ("--n-resamples", "9" * 5000, "argument --n-resamples: must be a positive integer, but is '999"),
        ("--n-resamples", str(10**12), "--n-resamples 1000000000000 needs about 5.85e+06 GB of memory for 200 rows"),
        ("--n-resamples", "-3", "argument --n-resamples: must be a positive integer, but is '-3'"),
        (
            "--tolerate-bias",
            "0",
            "argument --tolerate-bias: must be a positive number of predicted standard deviations",
        ),
        (
            "--tolerate-bias",
            "nan",
            "argument --tolerate-bias: must be a positive number of predicted standard deviations",
        ),
        (
            "--tolerate-bias",
            "inf",
            "argument --tolerate-bias: must be a positive number of predicted standard deviations",
        ),
        ("--tolerate-spread", "1", "argument --tolerate-spread: must be a ratio of true over claimed spread above 1"),
        ("--tolerate-spread", "0.9", "argument --tolerate-spread: must be a ratio of true over claimed spread above 1"),
        ("--tolerate-spread", "x", "argument --tolerate-spread: must be a ratio of true over claimed spread above 1"),
        ("--seed", "-1", "argument --seed: must be an integer of 0 or more, but is '-1'"),
        ("--seed", "1.5", "argument --seed: must be an integer of 0 or more, but is '1.5'"),
        ("--seed", "9" * 5000, "argument --seed: must be an integer of 0 or more"),
    ],
)
def test_what_cannot_be_computed_with(path, capsys, option, value, words):
    status, error = status_and_error(capsys, "test", path, *ONE, option, value)
    assert status == 2
    assert words in error
    assert len(error) < 500


@pytest.mark.parametrize(("option", "value"), [("--seed", str(10**40)), ("--alpha", "0.999999"), ("--alpha", "1e-3")])
def test_what_can(path, capsys, option, value):
    assert status_and_error(capsys, "test", path, *ONE, option, value) == (0, "")


@pytest.mark.parametrize("arguments", [["reproduce", "fig1", "--repeats"], ["bench", "power", "--null-repeats"]])
def test_more_repeats_than_can_be_counted(capsys, arguments):
    status, error = status_and_error(capsys, *arguments, str(10**30))
    assert status == 2
    assert f"argument {arguments[-1]}: must be at most 1000000, but is 1000" in error


def test_the_limit_of_the_process_counts(path):
    """Ten million draws of 200 rows, some 58 GB by our count, in a process that may take four."""
    code = "import resource, sys; from scorecal.cli import main;"
    code += "resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, 4 * 10**9)); sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "test", path, *ONE, "--n-resamples", str(10**7)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "scorecal test: --n-resamples 10000000 needs about 58.5 GB of memory for 200 rows, but"
    )
    assert done.stderr.count("\n") == 1


def test_usual_numbers_of_draws_fit():
    check_draws(Gaussian(np.zeros((10**5, 2)), 1.0), 9999)
    with pytest.raises(InputError, match="needs about"):
        check_draws(Gaussian(np.zeros((10**5, 2)), 1.0), 10**9)
