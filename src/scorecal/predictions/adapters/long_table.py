"""Long tables of forecasts, with a row for each number, joined with a table of what was observed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._lib.warn import warn_user
from .table_values import as_numbers, is_missing, texts

OUTPUTS = ("output_type", "output_type_id", "value")
_NOT_OF_TASKS = (*OUTPUTS, "model_id")
_ROW_NUMBERS = re.compile(r"|Unnamed: \d+|__index_level_\d+__")  # as pandas writes them
_DIGITS = 10  # to which levels are told apart


class Tasks(NamedTuple):
    """n tasks with an observation: k numbers that are predicted for each, and what was observed."""

    kind: str  # the output type
    ids: tuple[Any, ...]  # (k,): levels, thresholds, classes; of samples their numbers
    values: np.ndarray  # (n, k), NaN where a task has fewer samples than others
    observed: np.ndarray  # (n,): numbers, or for "pmf" texts
    columns: dict[str, np.ndarray]  # what identifies a task, by name, (n,) each
    rows: np.ndarray  # first row of each task in the table

    def take(self, order: np.ndarray) -> "Tasks":
        """Return these tasks in another order."""
        columns = {name: column[order] for name, column in self.columns.items()}
        return self._replace(
            values=self.values[order], observed=self.observed[order], columns=columns, rows=self.rows[order]
        )


def gather(table: Mapping[str, np.ndarray], kind: str) -> tuple[Tasks, list[tuple[str | None, ...]]]:
    """Return the tasks of one output type, not yet joined, and their keys, in the order of their first rows."""
    rows = np.flatnonzero(table["output_type"] == kind)
    names = [name for name in table if name not in _NOT_OF_TASKS and not _ROW_NUMBERS.fullmatch(name)]
    numbers: dict[tuple[str | None, ...], int] = {}
    parts = [texts(table[name][rows]) for name in names]
    keys = zip(*parts, strict=True) if parts else ((),) * len(rows)
    task = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    first = rows[np.unique(task, return_index=True)[1]]
    ids, column = _outputs(table["output_type_id"][rows], kind, task, rows)
    values = np.full((len(numbers), len(ids)), np.nan)
    values[task, column] = as_numbers(table["value"][rows], "forecasts", "value", rows)
    tasks = Tasks(kind, ids, values, np.empty(0), {name: table[name][first] for name in names}, first)
    if kind != "sample" and np.any(np.isnan(values)):
        k, m = (int(index) for index in np.argwhere(np.isnan(values))[0])
        raise ValueError(
            f"`forecasts` must have the same {kind} outputs for every task, but that of row {first[k]} "
            f"({described(tasks, k)}) has none with the output_type_id {ids[m]}. Likely causes: several targets or "
            "models in one table; choose one first."
        )
    return tasks, list(numbers)


def join(tasks: Tasks, keys: list[tuple[str | None, ...]], truth: Mapping[str, np.ndarray], observed: str) -> Tasks:
    """Return the tasks with what was observed, without those that were not; a warning says how many."""
    names = list(tasks.columns)
    shared = [name for name in names if name in truth and name != observed]
    if not shared:
        raise ValueError(
            f"`observations` must have columns in common with the tasks of `forecasts`, {', '.join(names)}, but has "
            f"{', '.join(truth)}. Likely cause: another name for the date or the location; rename it."
        )
    targets = list(dict.fromkeys(texts(tasks.columns["target"]))) if "target" in names else []
    if len(targets) > 1 and "target" not in shared:
        raise ValueError(
            f"`forecasts` are of {len(targets)} targets, {', '.join(map(str, targets[:6]))}, but `observations` does "
            "not say which one is observed. Keep the rows of one target, or give `observations` a column 'target'."
        )
    column = truth[observed]
    values = texts(column) if tasks.kind == "pmf" else as_numbers(column, "observations", observed).tolist()
    found: dict[tuple[str | None, ...], tuple[int, Any]] = {}
    for row, (*key, value) in enumerate(zip(*(texts(truth[name]) for name in shared), values, strict=True)):
        before = found.setdefault(tuple(key), (row, value))
        if before[1] != value and not (is_missing(before[1]) and is_missing(value)):
            raise ValueError(
                f"`observations` has two values for one task, {before[1]} in row {before[0]} and {value} in row {row} "
                f"({_named(shared, key)}). Likely causes: several versions (keep the last `as_of`), or another target "
                "whose column `forecasts` does not have."
            )
    places = [names.index(name) for name in shared]
    wanted = [tuple(key[place] for place in places) for key in keys]
    known = np.array([not is_missing(found.get(key, (0, None))[1]) for key in wanted])
    if not np.any(known):
        raise ValueError(
            f"`observations` holds none of the tasks of `forecasts`: the first task has {_named(shared, wanted[0])}, "
            f"the first observation {_named(shared, next(iter(found)))}. Likely causes: codes that were read as "
            "numbers, such as '01' as 1, dates in another form, or forecasts of the future."
        )
    if not np.all(known):
        k = int(np.argmin(known))
        warn_user(
            f"`forecasts`: {np.sum(~known)} of {len(known)} tasks have no observation and were left out, first that of "
            f"row {tasks.rows[k]} ({described(tasks, k)})."
        )
    y = np.array([found[key][1] for key, there in zip(wanted, known, strict=True) if there])
    return tasks._replace(observed=np.empty(len(known), dtype=y.dtype)).take(known)._replace(observed=y)


def described(tasks: Tasks, k: int) -> str:
    """Name a task by its columns."""
    return _named(list(tasks.columns), [texts(column[k : k + 1])[0] for column in tasks.columns.values()])


def _outputs(column: np.ndarray, kind: str, task: np.ndarray, rows: np.ndarray) -> tuple[tuple[Any, ...], np.ndarray]:
    """Return what outputs there are, and which of them each row holds; raise where a task has one twice."""
    if kind in ("quantile", "cdf"):
        given = np.round(as_numbers(column, "forecasts", "output_type_id", rows), _DIGITS)
        ids, place = np.unique(given, return_inverse=True)
    else:
        numbers: dict[str | None, int] = {}
        place = np.array([numbers.setdefault(text, len(numbers)) for text in texts(column)])
        ids = np.array(list(numbers), dtype=object)
    order = np.lexsort((place, task))
    again = (np.diff(task[order]) == 0) & (np.diff(place[order]) == 0)
    if np.any(again):
        k = int(np.argmax(again))
        one, other = sorted(rows[order[k : k + 2]].tolist())
        raise ValueError(
            f"`forecasts` has the {kind} output {ids[place[order[k]]]} of one task in rows {one} and {other}. Likely "
            "causes: several models in one table, or a column of tasks that is missing."
        )
    if kind != "sample":
        return tuple(ids.tolist()), place
    # Samples of one task need not have the same names as those of another.
    starts = np.searchsorted(task[order], np.arange(task.max() + 1))
    place = np.empty(len(task), dtype=int)
    place[order] = np.arange(len(task)) - starts[task[order]]
    return tuple(range(int(place.max()) + 1)), place


def _named(names: Sequence[str], key: Sequence[str | None]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
