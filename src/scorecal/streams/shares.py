"""Shares of both passes, for jobs that know nothing of each other and leave their sums in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from .._lib.checks import as_generator
from .batches import Batches
from .files import FileError, load, save
from .first import FirstPass, first_sums
from .fold import sum_over
from .judge import rows_in
from .known import KNOWN
from .second import SecondPass, second_pass, second_sums
from .verdict import Judgement, judgement_of

FIRST, SECOND = "sums of the first pass", "sums of the second pass"


@dataclass(frozen=True, eq=False)
class Share:
    """Sums over some consecutive parts, and of which run they are."""

    kind: str
    settings: Mapping[str, Any]  # of the run, the same in all of its shares
    sizes: Sequence[int]  # numbers of rows of all parts
    start: int  # first of the parts, and the one after the last
    stop: int
    total: Any

    @property
    def is_whole(self) -> bool:
        """Whether these are the sums over all parts."""
        return self.start == 0 and self.stop == len(self.sizes)


def share_of_first(batches: Batches, settings: Mapping[str, Any], place: int, of: int) -> Share:
    """Return the first pass over share number `place`, from 0, of so many."""
    sizes = list(batches.sizes or ())
    start, stop = _span(len(sizes), place, of)
    todo = rows_in(batches, sizes, as_generator(settings["seed"]))
    return Share(FIRST, settings, sizes, start, stop, _sums(first_sums, todo, batches, start, stop))


def share_of_second(batches: Batches, first: Share, place: int, of: int) -> Share:
    """Return the second pass over share number `place`, given the whole first one."""
    start, stop = _span(len(first.sizes), place, of)
    total = _sums(second_sums, _todo(batches, first), batches, start, stop)
    return Share(SECOND, first.settings, first.sizes, start, stop, total)


def added(shares: Sequence[tuple[Path, Share]]) -> Share:
    """Return the sums over the parts of several shares, which must follow each other."""
    ordered = sorted(shares, key=lambda each: each[1].start)
    (path, whole), *others = ordered
    for other, share in others:
        if (share.kind, share.settings, share.sizes) != (whole.kind, whole.settings, whole.sizes):
            raise FileError(f"{other}: {share.kind} of another run than those of {path}: other files, options or seed.")
        if share.start != whole.stop:
            what = "are missing" if share.start > whole.stop else "come twice"
            ends = sorted((whole.stop, share.start))
            raise FileError(f"{other}: parts {ends[0]} to {ends[1] - 1} of {len(whole.sizes)} {what}.")
        total = whole.total + share.total
        whole = Share(whole.kind, whole.settings, whole.sizes, whole.start, share.stop, total)
    return whole


def verdict_of(batches: Batches, first: Share, second: Share, level: float, names: Sequence[str] | None) -> Judgement:
    """Return the outcome of both passes, whole."""
    seed = first.settings["seed"]
    return judgement_of(first.total, _todo(batches, first), second.total, level, names, seed)


def save_share(path: Path, share: Share) -> None:
    """Write a share to a file."""
    save(path, share.kind, share)


def load_share(path: Path, kind: str) -> Share:
    """Return the share in a file."""
    return load(path, kind, {**KNOWN, "Share": Share})  # type: ignore[no-any-return]


def check_whole(path: Path, share: Share) -> None:
    """Raise unless these are the sums over all parts."""
    if not share.is_whole:
        raise FileError(
            f"{path}: holds parts {share.start} to {share.stop - 1} of {len(share.sizes)}; add the others first."
        )


def _todo(batches: Batches, first: Share) -> SecondPass:
    rng = as_generator(first.settings["seed"])
    return second_pass(rows_in(batches, first.sizes, rng), first.total, first.settings["n_resamples"], rng)


def _sums(work: Any, todo: FirstPass | SecondPass, batches: Batches, start: int, stop: int) -> Any:
    return sum_over(work, islice(batches.parts, stop), stop, todo, None, label="parts", begun=(start, None))


def _span(n_parts: int, place: int, of: int) -> tuple[int, int]:
    start, stop = n_parts * place // of, n_parts * (place + 1) // of
    if start == stop:
        raise FileError(f"there is nothing to do in share {place} of {of}: the rows are in {n_parts} parts only.")
    return start, stop
