"""Contributions of rows to the statistic, over numbers or labels of the rows."""

from typing import Any

import numpy as np

from ..results import CalibrationResult
from .style import GREY, MAIN, WARN, new_axes, trim

_N_BINS, _MOST_LABELS, _N_HEXAGONS = 20, 12, 25
_LARGEST = 1e300  # that can be drawn: lengths of axes must not overflow


def plot_contributions(
    result: CalibrationResult, over: Any, *, name: str | tuple[str, str] = "", ax: Any = None
) -> Any:
    """Draw mean contributions of groups of rows: bars over numbers or labels, a map over two numbers.

    Parameters
    ----------
    result : CalibrationResult
        Result of any test.
    over : array_like, shape (n,) or (n, 2)
        A number, a time (datetime64) or a label for each row, such as an input, the predicted mean or a group; or two
        numbers for a map.
    name : str, or two of them
        Name of these numbers or labels, for the axis.
    ax : matplotlib axes, optional
        Where to draw; new ones by default. They are returned.
    """
    over = np.asarray(over)
    is_time = over.dtype.kind == "M" and len(np.unique(over)) > _MOST_LABELS
    if over.dtype.kind == "M":
        over = _days(over) if is_time else np.datetime_as_string(over, unit="auto")
    numbers = over.dtype.kind in "fiu"
    over = over.astype(float if numbers else str)
    finite = not numbers or bool(np.all(np.isfinite(over)))
    if (over.shape != (result.n,) and not (numbers and over.shape == (result.n, 2))) or not finite:
        raise ValueError(
            f"`over` must be {result.n} finite numbers or labels, one for each row, or two numbers for each, but has "
            f"shape {over.shape}{'' if finite else ' and values that are not finite'}."
        )
    if len(np.unique(over, axis=0)) < 2:
        raise ValueError("`over` is the same for all rows, so that there is nothing to tell them by.")
    ax = new_axes(ax)
    weighted = result.contributions * result.n  # the mean over all rows is the statistic
    if over.ndim == 2:
        _draw_map(ax, over, weighted, name)
    else:
        if numbers and np.max(np.abs(over)) > _LARGEST:
            over, name = over / _LARGEST, f"{name} / {_LARGEST:g}"
        _draw_bars(ax, over, weighted, numbers, binned=is_time or (numbers and len(np.unique(over)) > _N_BINS))
        if is_time:
            _label_dates(ax)
        ax.axhline(result.statistic, color=GREY, linestyle="--", label="mean over all rows")
        ax.set(xlabel=name, ylabel="contribution to the statistic")
        ax.legend(frameon=False)
    trim(ax)
    return ax


def _days(times: np.ndarray) -> np.ndarray:
    """Times as matplotlib has them: numbers of days."""
    from matplotlib import dates

    return np.asarray(dates.date2num(times))  # type: ignore[no-untyped-call]


def _label_dates(ax: Any) -> None:
    """Short labels, which need not be slanted: what they share is said once, at the end of the axis."""
    from matplotlib import dates

    locator = dates.AutoDateLocator()  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _draw_bars(ax: Any, over: np.ndarray, weighted: np.ndarray, numbers: bool, *, binned: bool) -> None:
    values, groups = np.unique(over, return_inverse=True)
    if binned:
        edges = np.unique(np.quantile(over, np.linspace(0.0, 1.0, _N_BINS + 1)))
        groups = np.clip(np.searchsorted(edges, over, side="right") - 1, 0, len(edges) - 2)
        left, width = edges[:-1], np.diff(edges)
    else:
        labels = [f"{value:.12g}" for value in values] if numbers else _shortened(values)
        if not numbers and len(labels) > _MOST_LABELS:
            largest = np.argsort(-np.bincount(groups), kind="stable")[:_MOST_LABELS]
            place = np.full(len(labels), len(largest))
            place[largest] = np.arange(len(largest))
            labels = [*(labels[k] for k in largest), f"{len(labels) - len(largest)} others"]
            groups = place[groups]
        left, width = np.arange(len(labels)) - 0.4, np.full(len(labels), 0.8)
        ax.set_xticks(left + 0.4, labels, rotation=30, ha="right")
    rows = np.maximum(np.bincount(groups, minlength=len(left)), 1)
    height = np.bincount(groups, weighted, minlength=len(left)) / rows
    ax.bar(left, height, width, align="edge", color=np.where(height > 0, WARN, MAIN), alpha=0.8)


def _shortened(labels: np.ndarray) -> list[str]:
    return [label if len(label) <= 20 else label[:19] + "…" for label in labels]


def _draw_map(ax: Any, over: np.ndarray, weighted: np.ndarray, name: str | tuple[str, str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("contributions", [MAIN, "#c8c8c8", WARN])
    drawn = ax.hexbin(*over.T, C=weighted, reduce_C_function=np.mean, gridsize=_N_HEXAGONS, cmap=colours, linewidths=0)
    largest = np.max(np.abs(drawn.get_array()))
    drawn.set_clim(-largest, largest)
    ax.figure.colorbar(drawn, ax=ax, label="contribution to the statistic")
    first, second = name if isinstance(name, tuple) else (name, "")
    ax.set(xlabel=first, ylabel=second)
