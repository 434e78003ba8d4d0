"""Rows that follow each other in time, or belong together: their order, and what is said of them."""

import argparse

import numpy as np

from .table import InputError, Table, shown
from .values import Decimals, as_values


def in_time_order(table: Table) -> Table:
    """Sort rows by their times, group by group; rows stay as they are where no times are given.

    Two rows of one series at one time are refused: nobody knows which is first, and mostly they belong to two series.
    """
    if not table.time:
        return table
    (name, times), *_ = table.time.items()
    _check_times(table, name, times)
    (group, labels), *_ = table.group.items() or [("", np.zeros(table.n))]
    series = np.unique(labels, return_inverse=True)[1]
    order = np.lexsort((times, series))
    again = (np.diff(series[order]) == 0) & (times[order][1:] == times[order][:-1])
    if np.any(again):
        k = int(np.argmax(again))
        first, second = sorted(order[k : k + 2].tolist())
        of_one = f" of the same {shown(group)}" if table.group else ""
        apart = "" if table.group else ", which --group can tell apart"
        raise InputError(
            f"{table.place(second, name)}: the time is that of {table.unit} {table.places[first]}{of_one}, so that the "
            f"order of rows is not known. Likely causes: copies of rows, or several series, as of stations or lead "
            f"times{apart}. Rows that belong together in no order, as visits of a patient, need --group alone."
        )
    return table.take(order)


def _check_times(table: Table, name: str, times: np.ndarray) -> None:
    """Raise for the first value that is no time, or of another kind than the first, if not all are of one kind."""
    if times.dtype.kind != "O":
        return
    kinds = [_kind_of(text) for text in times]
    row = kinds.index("O") if "O" in kinds else next((k for k, kind in enumerate(kinds) if kind != kinds[0]), 0)
    raise InputError(
        f"{table.place(row, name)}: {shown(times[row])} is no time like the others; --time needs dates or timestamps, "
        "as 2024-01-31 or 2024-01-31T18:00, all with a time zone or all without, or numbers."
    )


def _kind_of(text: str) -> str:
    values, in_utc, _ = as_values([text], Decimals(may_be_commas=True))
    return f"{values.dtype.kind}{' in UTC' if in_utc else ''}"


def rows_in_words(chosen: argparse.Namespace, groups: np.ndarray | None) -> str:
    """Say how rows depend on each other by the options; empty text where these say nothing."""
    horizon = horizon_of(chosen)
    n_groups = "" if groups is None else f"{len(set(groups.tolist()))}"
    if horizon is None:
        return n_groups and f"Rows may depend on each other within each of {n_groups} groups ({chosen.group})."
    steps = "one step" if horizon == 1 else f"{horizon} steps"
    series = n_groups and f", in {n_groups} series ({chosen.group})"
    order = "as in the file" if chosen.time is None else f"by {chosen.time}"
    return f"Rows are forecasts {steps} ahead{series}, in time order {order}."


def horizon_of(chosen: argparse.Namespace) -> int | None:
    """Steps ahead of the forecasts: one if there are times and nothing else is said; None for rows in no order."""
    given: int | None = chosen.horizon
    return 1 if given is None and chosen.time is not None else given
