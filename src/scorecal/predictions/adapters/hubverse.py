"""Predictions from the tables of modelling hubs, by the standard of the Hubverse."""

from typing import Any, NamedTuple

import numpy as np

from ..categorical import Categorical
from ..cdf import CdfFunction
from ..quantiles import Quantiles, from_quantiles
from ..samples import Samples, from_samples
from .long_table import OUTPUTS, Tasks, described, gather, join
from .table_values import as_columns, as_numbers, texts

_ROUNDING = 1e-6  # of probabilities
_KINDS = ("quantile", "sample", "cdf", "pmf")
_POINTS = ("mean", "median")
_OBSERVED = ("observation", "oracle_value")  # names of the column, by the standard
_NORMAL_QUARTILE = 0.6744897501960817


class HubForecasts(NamedTuple):
    """Predictions and targets of n tasks, and the columns that identify these, for `groups` and `covariates`."""

    predictions: Quantiles | Samples | CdfFunction | Categorical
    y: np.ndarray
    tasks: dict[str, np.ndarray]


def from_hubverse(
    forecasts: Any, observations: Any, *, output_type: str | None = None, observed: str | None = None
) -> HubForecasts:
    """Predictions and targets from two tables of a modelling hub: model output, and what was observed.

    Parameters
    ----------
    forecasts : table
        Model output of one model, a data frame of pandas or polars, a table of pyarrow or a mapping of columns: a row
        for each number, in the column `value`, with `output_type` and `output_type_id`. All other columns but
        `model_id` identify tasks, such as `reference_date`, `location`, `horizon`, `target_end_date`.
    observations : table
        Time series or oracle output of the hub: columns of tasks, those of the same name as in `forecasts`, and one of
        observed values.
    output_type : str, optional
        "quantile", "sample", "cdf" or "pmf"; may be left out where `forecasts` has one of them. Means and medians are
        not used.
    observed : str, optional
        Name of the column of observed values; by default "observation" or "oracle_value".

    Returns
    -------
    predictions : Quantiles, Samples, CdfFunction or Categorical
        One row for each task that was observed, in the order of `forecasts`; a warning says how many were not. Samples
        of one task are ranked by themselves, also where they are parts of one path.
    y : ndarray, shape (n,)
        What was observed; for "pmf" the classes as text.
    tasks : dict
        The columns of tasks, (n,) each.

    Notes
    -----
    Forecasts of several horizons, or for several places at one time, depend on each other. Keep one horizon, and
    give tests `groups=tasks["location"]` or, for errors that all places share, `groups=tasks["reference_date"]`.

    References
    ----------
    https://docs.hubverse.io, on model output and target data.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> weeks, mean = np.arange(200), 5.0 + rng.normal(size=200)
    >>> levels = np.array([0.1, 0.5, 0.9])
    >>> forecasts = {
    ...     "week": np.repeat(weeks, 3),
    ...     "output_type": np.full(600, "quantile"),
    ...     "output_type_id": np.tile(levels, 200),
    ...     "value": (mean[:, None] + [-0.6, 0.0, 0.6]).ravel(),
    ... }
    >>> predictions, y, tasks = sc.from_hubverse(forecasts, {"week": weeks, "observation": rng.normal(mean)})
    >>> sc.calibration_test(predictions, y, rng=0).seen[0]
    'over-confidence'
    """
    tasks = observed_tasks(forecasts, observations, output_type=output_type, observed=observed)
    return HubForecasts(predictions_of(tasks), tasks.observed, tasks.columns)


def observed_tasks(forecasts: Any, observations: Any, *, output_type: str | None, observed: str | None) -> Tasks:
    """Return the tasks of one model and one output type that were observed."""
    table = as_columns("forecasts", forecasts, OUTPUTS)
    models = list(dict.fromkeys(texts(table["model_id"]))) if "model_id" in table else []
    if len(models) > 1:
        raise ValueError(
            f"`forecasts` holds {len(models)} models, {', '.join(map(str, models[:6]))}; choose one, such as "
            f"`forecasts[forecasts['model_id'] == {models[0]!r}]`."
        )
    kind = _chosen(output_type, list(dict.fromkeys(map(str, table["output_type"].tolist()))))
    tasks, keys = gather(table, kind)
    truth = as_columns("observations", observations)
    name = observed or next((name for name in _OBSERVED if name in truth), _OBSERVED[0])
    if name not in truth:
        raise ValueError(
            f"`observations` must have a column {name!r} of what was observed, but has {', '.join(truth)}. Name "
            "it by `observed`."
        )
    if "output_type" in truth:
        truth, name = _of_oracle(truth, kind, name)
    return join(tasks, keys, truth, name)


def predictions_of(tasks: Tasks) -> Quantiles | Samples | CdfFunction | Categorical:
    """Return the predictions of these tasks."""
    if tasks.kind == "quantile":
        return from_quantiles(tasks.ids, tasks.values)
    if tasks.kind == "sample":
        return from_samples(tasks.values)
    return Categorical(tasks.values, labels=tasks.ids) if tasks.kind == "pmf" else _from_cdf(tasks)


def _chosen(output_type: str | None, there: list[str]) -> str:
    known = [kind for kind in there if kind in _KINDS]
    if output_type is None and len(known) == 1:
        return known[0]
    if output_type in known:
        return str(output_type)
    if not known:
        advice = (
            " Likely cause: point forecasts, which say nothing of their uncertainty." if set(there) & {*_POINTS} else ""
        )
        raise ValueError(
            f"`forecasts` must have rows of the output type {', '.join(_KINDS[:-1])} or {_KINDS[-1]}, but has "
            f"{', '.join(there)}.{advice}"
        )
    asked = "several output types" if output_type is None else f"no output type {output_type!r}"
    raise ValueError(f"`forecasts` has {asked}; choose `output_type` among {', '.join(map(repr, known))}.")


def _of_oracle(truth: dict[str, np.ndarray], kind: str, name: str) -> tuple[dict[str, np.ndarray], str]:
    """Return the rows of oracle output for one output type, and the column of what was observed."""
    if kind == "cdf":
        raise ValueError(
            "`observations` is oracle output, which for a cdf says only on which side of each threshold the observed "
            "value is. Give the values themselves: the time series of the hub."
        )
    rows = truth["output_type"] == kind
    if kind == "pmf":
        rows = rows & (as_numbers(truth[name], "observations", name) == 1.0)
        name = "output_type_id"
    if not np.any(rows):
        raise ValueError(f"`observations` is oracle output without rows of the output type {kind!r}.")
    kept = {each: column[rows] for each, column in truth.items() if each == name or each not in OUTPUTS}
    return kept, name


def _from_cdf(tasks: Tasks) -> CdfFunction:
    """Predict by probabilities at thresholds; nothing is assumed between these."""
    thresholds, values = np.asarray(tasks.ids, dtype=np.float64), tasks.values
    slack = _ROUNDING
    wrong = (values < -slack) | (values > 1.0 + slack) | (np.diff(values, axis=1, prepend=0.0) < -slack)
    if np.any(wrong):
        k, m = (int(index) for index in np.argwhere(wrong)[0])
        raise ValueError(
            f"`forecasts`: a cdf must rise from 0 to 1, but that of row {tasks.rows[k]} ({described(tasks, k)}) is "
            f"{values[k, m]:g} at {thresholds[m]:g}. Likely cause: probabilities of intervals in place of their sums."
        )
    values = np.maximum.accumulate(np.clip(values, 0.0, 1.0), axis=1)
    edges = np.pad(values, ((0, 0), (1, 1)), constant_values=((0.0, 0.0), (0.0, 1.0)))
    low, middle, high = (np.array([np.interp(p, row, thresholds) for row in values]) for p in (0.25, 0.5, 0.75))
    rows = np.arange(len(values))

    def up_to(y: np.ndarray) -> np.ndarray:
        return np.asarray(edges[rows, np.searchsorted(thresholds, y) + 1])

    def below(y: np.ndarray) -> np.ndarray:
        return np.asarray(edges[rows, np.searchsorted(thresholds, y)])

    return CdfFunction(up_to, mean=middle, scale=(high - low) / (2.0 * _NORMAL_QUARTILE), below=below)
