"""The command line."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from .._lib.extras import needs
from .._lib.files import check_writable
from ..parallel.dask import WorkerDiedError
from .options import MOST_REPEATS, Parser, count
from .output import complain, complain_in_lines, fill_closed_streams, say, say_as_it_is
from .sum import add_sum
from .table import InputError
from .test import add_test

__all__ = ["main"]

_COMPLETION = 'print a completion script for a shell, as in: eval "$(scorecal --print-completion bash)"'
_FIGURES = ("fig1", "fig2", *(f"f{k}" for k in range(1, 13)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the return value is the exit status."""
    fill_closed_streams()
    name, chosen = "scorecal", argparse.Namespace(interrupted="interrupted")
    try:
        chosen = _parser().parse_args(arguments)
        name = f"scorecal {chosen.command}"
        return chosen.run(chosen) or 0
    except KeyboardInterrupt:
        complain(name, chosen.interrupted)
        return 130
    except (ImportError, InputError, OSError, WorkerDiedError) as error:
        complain(name, _reason(error))
        return 2
    except Exception:  # not 1, which would read as a rejection
        complain_in_lines(traceback.format_exc().rstrip("\n"))
        return 3


def _reason(error: Exception) -> str:
    """Return the message of an error; the system's own name a file and a reason."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return str(error)


def _parser() -> Parser:
    parser = Parser(
        prog="scorecal", description="Can a probabilistic model's uncertainty be trusted? Tests from scores alone."
    )
    parser.add_argument("--version", action="version", version=f"scorecal {__version__}")
    parser.add_argument(
        "--print-completion", action=_PrintCompletion, choices=("bash", "zsh", "tcsh"), help=_COMPLETION
    )
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo(commands)
    add_test(commands)
    add_sum(commands)
    _add_reproduce(commands)
    _add_bench(commands)
    return parser


class _PrintCompletion(argparse.Action):
    """Print the completion script of a shell and exit."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        try:
            import shtab
        except ImportError:
            raise needs("completion needs shtab", "cli") from None
        say_as_it_is(shtab.complete(parser, values))
        parser.exit()


def _add_demo(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = commands.add_parser(
        "demo",
        help="test six weather forecasts",
        description="Test six forecasts of real weather, in under 30 seconds.",
    )
    parser.add_argument("--out", type=Path, default=Path("demo.png"), metavar="PNG", help="where to save the picture")
    parser.set_defaults(run=_demo, interrupted="interrupted")


def _demo(chosen: argparse.Namespace) -> None:
    from ..demo import kind_of_picture, run

    try:
        kind = kind_of_picture(chosen.out)
        check_writable(chosen.out)
    except (OSError, ValueError) as error:
        raise InputError(f"--out {error}") from None
    for line in run(chosen.out, kind):
        say(line)


def _add_reproduce(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments",
        description="Run the experiments behind figures of the paper, and draw them. Results are saved as\n"
        "they come: an interrupted run continues where it stopped, and more repeats add to it.",
        epilog="examples:\n  scorecal reproduce fig1\n  scorecal reproduce all --repeats 400 --out study",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "figures",
        nargs="+",
        type=_figure,
        choices=(*_FIGURES, "all"),
        metavar="FIGURE",
        help="fig1, fig2, f1 ... f12, or all",
    )
    parser.add_argument(
        "--repeats", type=count(MOST_REPEATS), default=100, metavar="N", help="data sets for each point (100)"
    )
    parser.add_argument("--workers", type=count(), default=None, metavar="N", help="processes (one for each core)")
    parser.add_argument(
        "--out", type=Path, default=Path("reproduction"), metavar="DIR", help="results and figures (reproduction)"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="run on the dask cluster with this scheduler instead")
    parser.set_defaults(run=_reproduce, interrupted="interrupted; run the same command to continue")


def _reproduce(chosen: argparse.Namespace) -> None:
    from ..experiments.paper.reproduce import reproduce

    _make_folder(chosen.out)
    names = _FIGURES if "all" in chosen.figures else tuple(dict.fromkeys(chosen.figures))
    lines = reproduce(
        names, chosen.out, repeats=chosen.repeats, workers=chosen.workers or -1, scheduler=chosen.scheduler
    )
    say("\n".join(lines))


def _add_bench(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure the tests",
        description="power: how often the tests, and those of others, reject predictions with known flaws.\n"
        "Results are saved as they come: an interrupted run continues where it stopped.",
        epilog="examples:\n  scorecal bench power --repeats 20 --null-repeats 20\n  scorecal bench power",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("power",), help="power")
    parser.add_argument(
        "--repeats", type=count(MOST_REPEATS), default=400, metavar="N", help="data sets for each cell (400)"
    )
    parser.add_argument(
        "--null-repeats", type=count(MOST_REPEATS), default=2000, metavar="N", help="and for each calibrated one (2000)"
    )
    parser.add_argument("--workers", type=count(), default=None, metavar="N", help="processes (one for each core)")
    parser.add_argument("--out", type=Path, default=Path("power"), metavar="DIR", help="results and tables (power)")
    parser.set_defaults(run=_bench, interrupted="interrupted; run the same command to continue")


def _bench(chosen: argparse.Namespace) -> None:
    from ..experiments.power.study import power_study

    _make_folder(chosen.out)
    lines = power_study(
        chosen.out, repeats=chosen.repeats, null_repeats=chosen.null_repeats, workers=chosen.workers or -1
    )
    say("\n".join(lines))


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"--out must be a folder, but {out} is a file.") from None
    except OSError as error:
        raise InputError(f"--out {out} cannot be made: {error.strerror}.") from None


def _figure(text: str) -> str:
    """Turn the paper's name of a figure, such as F.9, into f9."""
    return text.lower().replace(".", "")
