"""`scorecal sum` and `scorecal add`: both passes over a table in shares, each a job that leaves its sums in a file."""

from __future__ import annotations

import argparse
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from typing import Any

from .._lib.files import check_writable
from ..streams import Batches
from ..streams.files import kind_of
from ..streams.shares import (
    FIRST,
    SECOND,
    Share,
    added,
    check_whole,
    load_share,
    save_share,
    share_of_first,
    share_of_second,
    verdict_of,
)
from .columns import columns_of
from .in_batches import found_files, outcome_of, rows_told_of
from .options import count, described, seed
from .output import say
from .read_parquet import row_groups
from .stream import PARQUET, stream_of
from .table import InputError
from .test import check_verdict, told, words_of_options
from .test_options import add_draws, add_forms, add_output, add_verdict

_EXAMPLES = """examples, for four jobs (--part is 0, 1, 2 and 3):
  scorecal sum forecasts/ --mean mu --std sigma --target observed --part 0 --of 4 --out first-0
  scorecal add first-0 first-1 first-2 first-3 --out first
  scorecal sum forecasts/ --mean mu --std sigma --target observed --part 0 --of 4 --first first --out second-0
  scorecal add second-0 second-1 second-2 second-3 --first first"""
_NOT_GIVEN: dict[str, Any] = {
    **dict.fromkeys(("group", "time", "horizon", "hub", "output_type", "tolerate_error")),
    "by": [],
    "classes": [],
    "ordinal": False,
    "null": "signs",
}


def add_sum(commands: Any) -> None:
    """Add the commands `sum` and `add` to the parser."""
    parser = commands.add_parser(
        "sum",
        help="make the sums of a share of the rows of large tables, in a job of its own",
        description="Make the sums of a share of the rows, for tables that are judged by many jobs, as a SLURM array.\n"
        "There are two passes: sums of the first one are added up before the second one begins.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a Parquet file, or a folder of these")
    add_forms(parser)
    parser.add_argument("--part", type=seed, required=True, metavar="K", help="number of this share, from 0")
    parser.add_argument("--of", type=count(), required=True, metavar="N", help="number of shares")
    parser.add_argument("--first", type=Path, metavar="SUMS", help="make the second pass, given the whole first one")
    parser.add_argument("--out", type=Path, required=True, metavar="SUMS", help="where to write the sums")
    add_draws(parser)
    parser.set_defaults(run=_sum, interrupted="interrupted", drop_missing=False, **_NOT_GIVEN)
    parser = commands.add_parser(
        "add",
        help="add up such sums, or tell the verdict",
        description="Add up sums of shares: to a file (--out), or, of the second pass, to the verdict (--first).",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sums", type=Path, nargs="+", metavar="SUMS", help="files of `scorecal sum`, in any order")
    parser.add_argument("--out", type=Path, metavar="SUMS", help="write what they add up to")
    parser.add_argument("--first", type=Path, metavar="SUMS", help="the whole first pass: tell the verdict")
    add_verdict(parser)
    add_output(parser)
    parser.set_defaults(run=_add, interrupted="interrupted")


def _sum(chosen: argparse.Namespace) -> None:
    if not chosen.part < chosen.of:
        raise InputError(f"--part must be from 0 to {chosen.of - 1}, one less than --of, but is {chosen.part}.")
    if not chosen.file.is_dir() and chosen.file.suffix.lower() not in PARQUET:
        raise InputError(f"{chosen.file}: sums are of Parquet files, which tell how many rows there are before others.")
    _check_out(chosen.out)
    with words_of_options(chosen.file):
        settings = {**described(chosen), "files": found_files(chosen.file)}
        batches = stream_of(chosen).batches
        if chosen.first is None:
            share = share_of_first(batches, settings, chosen.part, chosen.of)
        else:
            first = _whole_first(chosen.first)
            if (settings, list(batches.sizes or ())) != (first.settings, first.sizes):
                raise InputError(f"--first {chosen.first}: made with other options, or of other or older files.")
            share = share_of_second(batches, first, chosen.part, chosen.of)
        _save(chosen.out, share)


def _add(chosen: argparse.Namespace) -> int:
    file = chosen.sums[0]
    with words_of_options(file):
        kind = kind_of(file)
        if (chosen.out is None) == (chosen.first is None):
            raise InputError("give --out, for a file of what the sums add up to, or --first, for the verdict.")
        if chosen.first is not None and kind != SECOND:
            raise InputError(f"{file}: {kind}, but the verdict is that of the second pass; give --out.")
        share = added([(path, load_share(path, kind)) for path in chosen.sums])
        if chosen.out is not None:
            _check_out(chosen.out)
            _save(chosen.out, share)
            return 0
        check_whole(file, share)
        first = _whole_first(chosen.first)
        if (first.settings, first.sizes) != (share.settings, share.sizes):
            raise InputError(f"--first {chosen.first}: of another run than {file}: other files or options.")
        settings = dict(first.settings)
        files = [Path(name) for name, *_ in settings.pop("files")]
        chosen = argparse.Namespace(**{**_NOT_GIVEN, **settings, **vars(chosen)})
        chosen.file = files[0] if len(files) == 1 else files[0].parent
        check_verdict(chosen, chosen.n_resamples)
        found = verdict_of(Batches([]), first, share, chosen.alpha, chosen.target)
        return told(chosen, outcome_of(found, [], 0, _places(chosen, files, rows_told_of(found))))


def _places(chosen: argparse.Namespace, files: list[Path], rows: list[int]) -> dict[int, str]:
    """Return where rows are, or their numbers among all where the files are not at hand."""
    if len(files) == 1 or not all(file.is_file() for file in files):
        return {row: f"row {row + 1}" for row in rows}
    sizes = [sum(group.n for group in row_groups(file, columns_of(chosen))) for file in files]
    starts = [0, *accumulate(sizes)]
    inside = {row: bisect_right(starts, row) - 1 for row in rows}
    return {row: f"{files[k].name}, row {row - starts[k] + 1}" for row, k in inside.items()}


def _whole_first(path: Path) -> Share:
    share = load_share(path, FIRST)
    check_whole(path, share)
    return share


def _save(path: Path, share: Share) -> None:
    save_share(path, share)
    n = sum(share.sizes[share.start : share.stop])
    say(f"{path}: {share.kind}, {n} of {sum(share.sizes)} rows.")


def _check_out(path: Path) -> None:
    try:
        check_writable(path)
    except OSError as error:
        raise InputError(f"--out {error}") from None
