"""Experiments as data: cells of a model, a sample size and a test, each repeated on many data sets."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ..._lib.checks import check_count
from ...parallel.progress import progress
from ...parallel.workers import Map, map_tasks, n_processes
from .changes import Fingerprints, accept_fingerprints, add_fingerprints
from .damage import StoreError
from .dataset import Model, draw_data_set
from .fingerprint import fingerprint
from .procedures import AnyTest, pvalues
from .store import Key, open_store, read_results, record, record_run


@dataclass(frozen=True)
class Cell:
    """One test of n predictions of one model."""

    model: Model
    n: int
    test: AnyTest

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(f"`model` of a `Cell` must be a `Model(name, draw)`, but is {self.model!r}.")
        if not isinstance(self.test, AnyTest):
            raise TypeError(
                f"`test` of a `Cell` must be a `Test(name, function)`, `KCCSD` or `SKCE`, but is {self.test!r}."
            )
        if not isinstance(self.n, (int, np.integer)) or self.n < 2:
            raise ValueError(f"`n` of a `Cell` must be an integer of at least 2, but is {self.n!r}.")
        object.__setattr__(self, "n", int(self.n))  # a NumPy integer has another repr, hence another seed


@dataclass(frozen=True)
class Task:
    """All tests that one data set still lacks: the unit of work of a worker."""

    model: Model
    n: int
    repetition: int
    tests: tuple[AnyTest, ...]


def grid(models: Iterable[Model], tests: Iterable[AnyTest], sizes: Iterable[int]) -> list[Cell]:
    """Return cells of every model with every test at every n."""
    tests, sizes = list(tests), list(sizes)
    return [Cell(model, n, test) for model in models for n in sizes for test in tests]


def sweep(
    cells: Sequence[Cell],
    repeats: int,
    path: str | Path,
    *,
    n_resamples: int = 500,
    seed: int = 0,
    workers: int | Map = 1,
    what: str = "sweep",
) -> dict[Key, float]:
    """Return p-values of every cell on `repeats` data sets, computed or already in the file.

    Every data set has its own random numbers, from its model, n and repetition: results do not depend on workers, order
    or interruptions. They are written to the file as they come, and a run that was killed continues where it stopped.

    Results belong to the code of their model and test as well as to the names: where the function, a function that it
    calls, or a value that it uses has changed since, `sweep` raises and says which, and the changed one needs another
    name, or another file. Functions in files of your own are followed to any depth; those of installed packages are
    taken as they are, and so is what a function finds out only when it runs (files, the environment, imports inside
    it). Results of another version of scorecal are refused, and so is a damaged file.

    Parameters
    ----------
    cells : sequence of Cell
        The cells to run; `grid` makes them. Cells that share a model and n share their data sets.
    repeats : int
        Number of data sets for each cell.
    path : path
        A SQLite file, made if it does not exist or is empty. Only one run at a time may use it.
    n_resamples : int
        Number of bootstrap draws of the kernel tests.
    seed : int
        Another seed draws other data sets.
    workers : int or map-like callable
        As in SciPy: processes (1: this one; -1: one for each core), or a map.
    what : str
        A name for the run, recorded with its time.

    Returns
    -------
    dict
        P-values by (model, n, repetition, test), of this sweep only.

    Examples
    --------
    >>> import tempfile, numpy as np, scorecal as sc
    >>> from functools import partial
    >>> from scorecal.experiments import KCCSD, Model, Test, grid, lgm, sweep
    >>> models = [Model("LGM, delta = 2", partial(lgm, delta=2.0))]
    >>> tests = [
    ...     KCCSD("KCCSD, GFD", sc.kernels.GFD()),
    ...     Test("constant", lambda predictions, y, rng: 1.0),
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep(grid(models, tests, [64]), repeats=2, path=f"{folder}/results.sqlite")
    >>> sorted(found)[-1], found[sorted(found)[-1]]
    (('LGM, delta = 2', 64, 1, 'constant'), 1.0)
    """
    for name, value, least in (("repeats", repeats, 1), ("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        check_count(name, value, least)
    _check_names(cells)
    from ... import __version__

    start = time.perf_counter()
    settings = {"n_resamples": n_resamples, "seed": seed, "scorecal": __version__}
    with open_store(Path(path), settings) as store:
        results = read_results(store)
        accept_fingerprints(store, _fingerprints(cells), results)
        wanted = dict.fromkeys((c.model.name, c.n, r, c.test.name) for c in cells for r in range(repeats))
        n_before = len(results.keys() & wanted)
        tasks = missing(cells, repeats, results.keys())
        work = partial(run_task, seed=seed, n_resamples=n_resamples)
        try:
            with (
                progress(len(wanted), "test", done=n_before, label=what) as advance,
                closing(map_tasks(work, tasks, workers)) as running,
            ):
                for found in running:
                    if not isinstance(found, list):
                        raise TypeError(
                            f"`workers` must be a map that returns results, but it gave a {type(found).__name__}. For "
                            "a dask cluster, give `client.map`, or use `with experiments.cluster(address) as workers`."
                        )
                    record(store, found)
                    results.update(found)
                    advance(len(found))
        finally:
            # What a function remembers of its calls, say in a cache, does not make it another one for the next sweep.
            if tasks and not isinstance(sys.exception(), StoreError):
                add_fingerprints(store, _fingerprints(cells))
        if tasks:
            using = f"{n_processes(workers)} processes" if isinstance(workers, int) else "a map"
            record_run(store, what, using, len(wanted) - n_before, time.perf_counter() - start)
    return {key: results[key] for key in wanted}


def _fingerprints(cells: Sequence[Cell]) -> Fingerprints:
    named = {(kind, getattr(cell, kind).name): getattr(cell, kind) for cell in cells for kind in ("model", "test")}
    return {key: fingerprint(value) for key, value in named.items()}


def missing(cells: Sequence[Cell], repeats: int, done: Iterable[Key]) -> list[Task]:
    """Tasks still to do, repetition by repetition, so that all cells grow together and the time left can be told."""
    done = set(done)
    tasks = []
    for repetition in range(repeats):
        groups: dict[tuple[Model, int], dict[str, AnyTest]] = defaultdict(dict)
        for cell in cells:
            if (cell.model.name, cell.n, repetition, cell.test.name) not in done:
                groups[cell.model, cell.n][cell.test.name] = cell.test
        tasks += [Task(model, n, repetition, tuple(tests.values())) for (model, n), tests in groups.items()]
    return tasks


def run_task(task: Task, seed: int, n_resamples: int) -> list[tuple[Key, float]]:
    """Draw the data set, run its tests, and return their p-values by key."""
    try:
        data = draw_data_set(task.model, task.n, task.repetition, seed)
        found = pvalues(task.tests, data, n_resamples)
    except Exception as error:
        error.add_note(f"In model {task.model.name!r}, n = {task.n}, repetition {task.repetition}.")
        raise
    return [((task.model.name, task.n, task.repetition, name), pvalue) for name, pvalue in found.items()]


def _check_names(cells: Sequence[Cell]) -> None:
    """Raise unless there are cells, and no two different models, or tests, share a name: results are found by name."""
    if not cells or not all(isinstance(cell, Cell) for cell in cells):
        raise ValueError("`cells` must hold `Cell`s, and at least one; `grid(models, tests, sizes)` makes them.")
    for kind in ("model", "test"):
        seen: dict[str, object] = {}
        for cell in cells:
            value = getattr(cell, kind)
            if not _are_equal(seen.setdefault(value.name, value), value):
                raise ValueError(
                    f"`cells` hold two different {kind}s of the same name, {value.name!r}. Give each its own name, or "
                    "all cells the same object."
                )


def _are_equal(one: object, other: object) -> bool:
    try:
        return one is other or bool(one == other)
    except ValueError:  # kernels may hold arrays, whose comparison has no single truth value
        return False
