"""Campaign: commands stopped at random instants by Ctrl-C, kill -9 or a full disk lose nothing and can be run again."""

import atexit
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from kills import WAYS, Command, report_command, reproduce_command, try_moments

from .campaign import Campaign

COMMANDS = {"report": report_command, "reproduce": reproduce_command}


@st.composite
def cases(draw: Any) -> dict[str, Any]:
    """Draw a command, how it is stopped, and the seed of the instant."""
    return {
        "command": draw(st.sampled_from(list(COMMANDS))),
        "how": draw(st.sampled_from(list(WAYS))),
        "seed": draw(st.integers(0, 10**6)),
    }


@cache
def undisturbed(name: str) -> Command:
    """Return a command with what it leaves if nothing stops it; its folder stays until this process ends."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return COMMANDS[name](Path(folder.name))


def check(case: dict[str, Any]) -> None:
    """Raise if a file is half written, or if the command, run again, leaves something else than an undisturbed run."""
    with tempfile.TemporaryDirectory() as folder:
        try_moments(undisturbed(case["command"]), Path(folder) / "here", WAYS[case["how"]], 1, case["seed"])


KILLS = Campaign("kills", cases(), check, quick=1, minimise=False)
