"""Campaign: files damaged byte by byte, and tables of odd cells, through the command line.

Whatever a file holds, `scorecal test` ends with a verdict, or with exit status 2 and one line that says what is wrong.
"""

import contextlib
import gzip
import io
import json
import re
import resource
import signal
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from hypothesis import strategies as st
from pyarrow import parquet

from scorecal.cli import main

from .campaign import Campaign

MEMORY, SECONDS = 4 * 2**30, 60  # what one file may take
ENDINGS = {"csv": ".csv", "gzip": ".csv.gz", "parquet": ".parquet", "npz": ".npz"}
COLUMNS = ["--mean", "mu", "--std", "sigma", "--target", "y"]
NOT_NUMBERS = [
    "",
    " ",
    "x",
    "1_000",
    "1,5",
    "1;2",
    "1\t2",
    '"',
    '""',
    "0x1p3",
    "a\nb",
    "\x00",
    "\x1b[31m",
    "\ufeff",
    "é",
]
NUMBERS = [
    "nan",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "-1e308",
    "1e308",
    "5e-324",
    "0",
    "-0.0",
    "-1",
    "+3",
    " 2 ",
    "٣",
    "9" * 400,
]
ODD = [*NOT_NUMBERS, *NUMBERS, "1.0000000000000002"]
_HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_numbers = st.integers(-40, 40).map(lambda k: str(k / 8))


@st.composite
def mutations(draw: Any) -> list[Any]:
    """Draw a change of bytes: its kind, a place as a share of the file, and a value."""
    kind = draw(st.sampled_from(["flip", "set", "insert", "delete", "repeat", "cut"]))
    likely = st.sampled_from(list(b'0123456789.-eE,;"\n\r \t#'))
    return [kind, draw(st.floats(0, 1, width=32)), draw(likely | st.integers(0, 255))]


@st.composite
def tables(draw: Any) -> list[list[str]]:
    """Draw rows of cells below a header: a table as it should be, with a few cells, rows or names that are odd."""
    positive = st.integers(1, 40).map(lambda k: str(k / 8))
    row = st.tuples(_numbers, positive, _numbers, st.sampled_from(["a", "b", "1", ""])).map(list)
    rows = draw(st.lists(row, min_size=draw(st.sampled_from([0, 10])), max_size=24))
    table = [["mu", "sigma", "y", "g"], *rows]
    odd = st.sampled_from(ODD) | st.text(max_size=5)
    for at, column, cell in draw(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), odd), max_size=3)):
        table[at % len(table)][column] = cell
    if draw(st.integers(0, 7)) == 0:
        table.append(draw(st.lists(odd, max_size=6)))
    return table


@st.composite
def cases(draw: Any) -> dict[str, Any]:
    """Draw a file and options."""
    options = draw(st.sampled_from([[], ["--json"], ["--fail-on-rejection"], ["--by", "g"], ["--json", "--by", "g"]]))
    if draw(st.booleans()):
        table, delimiter = draw(tables()), draw(st.sampled_from([",", ";", "\t"]))
        return {"kind": "csv", "table": table, "delimiter": delimiter, "options": options, "changes": []}
    kind = draw(st.sampled_from(list(ENDINGS)))
    options = [] if kind == "npz" and "--by" in options else options
    return {"kind": kind, "options": options, "changes": draw(st.lists(mutations(), min_size=1, max_size=4))}


@cache
def whole(kind: str) -> bytes:
    """Return a file of this kind that is as it should be."""
    rng = np.random.default_rng(0)
    mu = rng.normal(size=16).round(3)
    columns = {"mu": mu, "sigma": np.full(16, 0.5), "y": (mu + rng.normal(size=16)).round(3), "g": np.arange(16) % 2}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    text = "\n".join(lines).encode()
    if kind in ("csv", "gzip"):
        return text if kind == "csv" else gzip.compress(text, mtime=0)
    file = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(pyarrow.table(columns), file)
        return file.getvalue()
    at = {"targets": columns["y"][:, None], "scores": (mu - columns["y"])[:, None] * 4, "base_points": mu[:5, None]}
    np.savez(file, **at, base_scores=(mu[:, None] - mu[None, :5])[..., None] * 4)
    return file.getvalue()


def damaged(data: bytes, changes: list[list[Any]]) -> bytes:
    """Return the bytes after these changes."""
    for kind, share, value in changes:
        at = int(share * len(data))
        before, after = data[:at], data[at:]
        if kind == "flip" and after:
            after = bytes([after[0] ^ (1 << value % 8)]) + after[1:]
        elif kind == "set" and after:
            after = bytes([value]) + after[1:]
        elif kind == "insert":
            after = bytes([value]) * (1 + value % 9) + after
        elif kind == "delete":
            after = after[1 + value :]
        elif kind == "repeat":
            after = after[: 1 + value] + after
        elif kind == "cut":
            after = b""
        data = before + after
    return data


class TooSlow(BaseException):
    """One file took too long; no exception that the command line may catch."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Limit memory and time of what runs inside."""

    def stop(*_: Any) -> None:
        raise TooSlow

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    previous = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGALRM, previous)


def check(case: dict[str, Any]) -> None:
    """Raise if the command line ends with something else than a verdict or one line that says what is wrong."""
    if "table" in case:
        rows = [case["delimiter"].join(row) for row in case["table"]]
        data = "\n".join(rows).encode("utf-8", "surrogatepass")
    else:
        data = damaged(whole(case["kind"]), case["changes"])
    columns = [] if case["kind"] == "npz" else COLUMNS
    out, errors = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ENDINGS[case['kind']]}"
        path.write_bytes(data)
        try:
            with (
                guarded(),
                warnings.catch_warnings(),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(errors),
            ):
                warnings.simplefilter("default")  # tests turn warnings into errors; the command line prints them
                status = main(["test", str(path), *columns, *case["options"], "--n-resamples", "19"])
        except TooSlow:
            raise AssertionError(f"it took more than {SECONDS} s") from None
    judge(status, out.getvalue(), errors.getvalue(), case["options"])


def judge(status: int, out: str, errors: str, options: list[str]) -> None:
    """Raise unless status and output are those of a verdict or of bad input."""
    allowed = (0, 1, 2) if "--fail-on-rejection" in options else (0, 2)
    assert status in allowed, f"exit status {status}: {errors[-2000:]}"
    assert "Traceback" not in out + errors, errors[-2000:]
    for line in errors.rstrip("\n").split("\n") if errors else []:
        assert line.startswith("scorecal test: "), f"a line of its own: {line!r}"
    assert "encountered in" not in errors, f"a warning of NumPy: {errors}"
    hidden = _HIDDEN.search(out + errors)
    assert hidden is None, f"control character {hidden[0]!r} in {(out + errors)!r}"
    if status == 2:
        assert re.search(r"file\.|--", errors), f"a reason without the file or an option: {errors!r}"
        assert not out, f"a verdict and exit status 2: {out!r}"
        return
    assert "p = nan" not in out, out
    if "--json" in options:
        found = json.loads(out)
        for pvalue in (found["pvalue"], *(view["pvalue"] for view in found["views"])):
            assert 0 < pvalue <= 1, f"a p-value of {pvalue}"


FILES = Campaign("files", cases(), check, quick=80)
