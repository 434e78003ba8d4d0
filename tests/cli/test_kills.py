"""`scorecal test --report` and `scorecal reproduce` are stopped while they write: nothing is lost or half written."""

from functools import cache

import pytest
from kills import WAYS, report_command, reproduce_command, try_moments

QUICK = [*((report_command, how, 1) for how in WAYS if how != "Ctrl-C"), (reproduce_command, "kill -9", 1)]
SLOW = [(make, how, 50) for make in (report_command, reproduce_command) for how in WAYS]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function that makes a command, once."""
    return cache(lambda make: make(tmp_path_factory.mktemp("command")))


@pytest.mark.parametrize(
    ("make", "how", "moments"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_stopped_at_random_moments(made, tmp_path, make, how, moments):
    found = try_moments(made(make), tmp_path / "folder", WAYS[how], moments, seed=moments)
    assert found["all old"] + found["some new"] + found["all new"] == moments + found["too late"]
