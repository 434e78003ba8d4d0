"""Rows that come in batches, which are made when they are needed and again when they are needed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .._lib.checks import check_count
from ..coordinates.normal_scores import needs_normal_scores
from ..predictions import Categorical, as_rows, on_host
from .rows import can_be_kept, taken

_ROWS_AT_ONCE = 2**16  # few enough for what is computed of them to be small beside the program itself


@dataclass(frozen=True, eq=False)
class Batches:
    """Predictions and targets in batches, for data that are larger than memory or lie on several machines.

    Parameters
    ----------
    parts : iterable
        Where the batches are, in their order, such as names of files; or the batches themselves, pairs of predictions
        and targets. It is gone through twice: a list or a class with `__iter__` will do, a generator will not.
    read : callable, optional
        `read(part)` returns the pair of predictions and targets. With workers it is called where the work is done.
    sizes : sequence of int, optional
        Number of rows of each part. Without it, rows are counted first, which reads them once more.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> def read(month):
    ...     rng = np.random.default_rng(month)
    ...     mean = rng.normal(size=(1000, 1))
    ...     return sc.Gaussian(mean, 0.8), mean + rng.normal(size=(1000, 1))
    >>> batches = sc.streams.Batches(range(12), read, sizes=[1000] * 12)
    >>> judgement = sc.streams.judge(batches, n_resamples=99, rng=0)
    >>> judgement.result.seen, judgement.result.n
    (('over-confidence',), 12000)
    """

    parts: Iterable[Any]
    read: Callable[[Any], Any] | None = None
    sizes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Iterable) or iter(self.parts) is self.parts:
            raise TypeError(
                "`parts` must be gone through twice, as a list can be, but is "
                f"{'a generator or another iterator' if isinstance(self.parts, Iterable) else repr(self.parts)}. Give "
                "a list of names or numbers, and `read`, which makes a batch of each."
            )
        if self.read is not None and not callable(self.read):
            raise TypeError(f"`read` must be a function of a part, but is {self.read!r}.")
        for size in () if self.sizes is None else self.sizes:
            check_count("sizes", size)

    def pieces(self, part: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the rows of a part, predictions and targets as they are given, some at a time."""
        found: Any = part if self.read is None else self.read(part)
        for pair in found if isinstance(found, Iterator) else (found,):
            predictions, y = _checked(pair)
            yield from (_some_of(predictions, y, rows) for rows in _cut(predictions.n))

    def size(self, part: Any) -> int:
        """Return the number of rows of a part, counted."""
        found: Any = part if self.read is None else self.read(part)
        return sum(_checked(pair)[0].n for pair in (found if isinstance(found, Iterator) else (found,)))


def _checked(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        what = f"{len(pair)} values" if isinstance(pair, tuple) else type(pair).__name__
        raise TypeError(f"`read` must return a pair, predictions and targets, but a part gave {what}.")
    predictions, y = on_host(*pair)
    if isinstance(predictions, Categorical):
        raise TypeError("`read` must not return `Categorical`: classes are judged in memory, by `calibration_test`.")
    if not can_be_kept(predictions) and not needs_normal_scores(predictions):
        raise TypeError(
            "`read` must return predictions that are arrays, `Gaussian`, `GaussianMixture` or `Scores`, or quantiles, "
            f"samples or others with a distribution function, but not {predictions!r}. Of a model, give `Scores` at "
            "the targets and at base points."
        )
    return predictions, y


def _some_of(predictions: Any, y: Any, rows: slice) -> tuple[Any, Any]:
    if rows == slice(0, predictions.n):
        return predictions, y
    if can_be_kept(predictions):
        return taken(predictions, rows), as_rows(y, predictions)[rows, ...]
    raise ValueError(
        f"`read` must return at most {_ROWS_AT_ONCE} rows at once of predictions that are judged by their normal "
        f"scores, but {predictions!r} has more."
    )


def _cut(n: int) -> list[slice]:
    """Slices of about equal size, so that none has a single row."""
    k = -(-n // _ROWS_AT_ONCE)
    return [slice(*ends) for ends in pairwise(n * j // k for j in range(k + 1))]
