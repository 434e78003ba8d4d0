"""Both passes over batches, one after the other: here, in processes, or where the data are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._lib.checks import as_generator, check_count, check_share
from ..coordinates.locate import noise_stream
from ..parallel.workers import Map, check_workers
from ..resampling.jumping import state_of
from .batches import Batches
from .first import FirstPass, first_sums
from .fold import sum_over
from .known import KNOWN
from .second import second_pass, second_sums
from .state import begun, keeper
from .verdict import Judgement, judgement_of


def judge(
    batches: Batches,
    *,
    names: Sequence[str] | None = None,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    workers: int | Map | None = None,
    state: str | Path | None = None,
    rng: Any = None,
) -> Judgement:
    """Test whether predictions that come in batches are calibrated, and tell how they are wrong, in bounded memory.

    Two passes over the batches are `calibration_test(..., estimator="low-rank", null="signs")`, `diagnose` and, of
    Gaussians, `expected_coverage` of all rows together. P-values are the same as in memory, to rounding, however the
    rows are divided into batches.

    Parameters
    ----------
    batches : Batches
        The predictions, `Gaussian`, `GaussianMixture`, `Scores`, or those that are judged by their normal scores, and
        their targets. Rows must be independent: `groups` and `horizon` need all rows at once.
    names, n_resamples, confidence_level
        As for `diagnose`.
    workers : int or map-like callable, optional
        As for `calibration_test`: processes, or the map of a cluster, as `client.map` of dask. Each part is a task,
        which reads its rows and sends back sums. By default, rows of one part after the other are shared by all cores.
    state : path, optional
        File in which sums are kept every 20 seconds; a run that was killed goes on from there. Remove it when the data
        change. For NumPy arrays.
    rng : seed or numpy.random.Generator, optional
        As for `calibration_test`. With `state`, a seed.

    Returns
    -------
    Judgement
        With `result`, `diagnosis` and `coverage`.

    Notes
    -----
    Everything that the views need of all rows, and all sizes of errors, are sums. The first pass adds up what is common
    to all rows: locations and spreads of the predictions, residuals, and 100,000 rows at random for ranks. The second
    one adds up features with their signs, which are had by row number, and what leaving out a row changes in each size.
    Sums are added in the order of the parts, whoever computes them. Words for what the views see, regions and warnings
    come from rows that are kept.

    Numbers are the same as in memory but for the noise that views of mixtures add, the normal scores of samples, and
    the halves of the rows in which the worst direction is found and measured.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=(4000, 1))
    >>> y = mean + rng.normal(size=(4000, 1))
    >>> parts = [(sc.Gaussian(mean[k : k + 1000], 0.9), y[k : k + 1000]) for k in range(0, 4000, 1000)]
    >>> judgement = sc.streams.judge(sc.streams.Batches(parts), n_resamples=199, rng=0)
    >>> options = {"estimator": "low-rank", "null": "signs", "n_resamples": 199, "rng": 0}
    >>> judgement.result.pvalue == sc.calibration_test(sc.Gaussian(mean, 0.9), y, **options).pvalue
    True
    >>> print(judgement.diagnosis.statements[0])
    y: over-confident, the true spread being 1.119 (1.087 to 1.153) times the claimed one.
    """
    if not isinstance(batches, Batches):
        raise TypeError(f"`batches` must be `streams.Batches`, but is of type {type(batches).__name__}.")
    check_count("n_resamples", n_resamples)
    level = round(1.0 - check_share("confidence_level", confidence_level), 12)
    check_workers(workers)
    path = None if state is None else Path(state)
    if path is not None and isinstance(rng, np.random.Generator | None):
        raise TypeError("`rng` must be a seed with `state`, so that a run that goes on draws the same numbers.")
    return judged(
        batches, names, n_resamples, level, workers, path, rng, {"n_resamples": n_resamples, "rng": repr(rng)}
    )


def judged(
    batches: Batches,
    names: Sequence[str] | None,
    n_resamples: int,
    level: float,
    workers: int | Map | None,
    state: Path | None,
    rng: Any,
    settings: Mapping[str, Any],
) -> Judgement:
    """Return the outcome of both passes; sums in the file `state` are gone on with if they have the same settings."""
    generator = as_generator(rng)
    rows = rows_in(batches, sizes_of_parts(batches, workers), generator)
    run = Run(batches, rows, workers, state, settings)
    first = run.sums("first", first_sums, rows)
    todo = second_pass(rows, first, n_resamples, generator)
    return judgement_of(first, todo, run.sums("second", second_sums, todo), level, names, rng)


def rows_in(batches: Batches, sizes: Sequence[int], rng: np.random.Generator) -> FirstPass:
    """Return what a first pass over parts of these sizes needs."""
    starts = np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])
    state_of(rng)  # which can jump
    without_parts = replace(batches, parts=(), sizes=None)  # each worker is sent its own
    return FirstPass(without_parts, starts, state_of(noise_stream(rng)))


def sizes_of_parts(batches: Batches, workers: int | Map | None) -> list[int]:
    """Return the number of rows of each part, counted if it is not known."""
    if batches.sizes is not None:
        return [int(size) for size in batches.sizes]
    parts: Any = batches.parts if workers is None else list(batches.parts)
    n_parts = len(parts) if hasattr(parts, "__len__") else sum(1 for _ in parts)
    counted = sum_over(_counted, parts, n_parts, replace(batches, parts=()), workers, label="rows")
    if not counted:
        raise ValueError("`parts` must hold at least one batch, but there is none.")
    return list(counted)


def _counted(batches: Batches, task: tuple[int, Any]) -> list[int]:
    return [batches.size(task[1])]


@dataclass(frozen=True, eq=False)
class Run:
    """Passes over batches: who computes, and where sums are kept."""

    batches: Batches
    rows: FirstPass
    workers: int | Map | None
    state: Path | None
    settings: Mapping[str, Any]
    done: dict[str, Any] = field(default_factory=dict, init=False)  # sums of the passes that are done

    def sums(self, stage: str, work: Any, shared: Any) -> Any:
        """Return the sums of a pass, from where they were kept."""
        n = len(self.rows.starts) - 1
        settings = {**self.settings, "sizes": np.diff(self.rows.starts).tolist()}
        total = sum_over(
            work,
            self.batches.parts,
            n,
            shared,
            self.workers,
            label=f"{stage} pass",
            begun=begun(self.state, stage, settings, KNOWN),
            keep=keeper(self.state, stage, n, settings, self.done),
        )
        self.done[stage] = {"done": n, "total": total}
        return total
