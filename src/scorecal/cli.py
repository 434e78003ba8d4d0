"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the return value is the exit status."""
    parser = argparse.ArgumentParser(
        prog="scorecal", description="Can a probabilistic model's uncertainty be trusted? Tests from scores alone."
    )
    parser.add_argument("--version", action="version", version=f"scorecal {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="judge six weather forecasts", description="Judge six forecasts of real weather; under 30 seconds."
    )
    demo.add_argument("--out", type=Path, default=Path("demo.png"), metavar="PNG", help="where to save the picture")
    chosen = parser.parse_args(arguments)
    return run_demo(chosen.out)


def run_demo(out: Path) -> int:
    from .demo import run

    try:
        run(out)
    except (ImportError, OSError) as error:
        print(f"scorecal demo: {error}", file=sys.stderr)
        return 2
    return 0
