"""Predictions from frames of quantiles or intervals, as `predict_quantiles` of sktime and skpro returns them."""

from typing import Any

import numpy as np

from ..quantiles import Quantiles, from_quantiles

_DIGITS = 10  # to which levels are told apart: ends of an interval of 0.9 come out as 0.04999999999999999


def from_sktime(frame: Any) -> Quantiles:
    """Predictions from what `predict_quantiles` or `predict_interval` of sktime or skpro returns.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns (variable, level), or (variable, coverage, "lower" or "upper"), of one variable. A row for each
        prediction, in the order of the forecasting horizon; of several series, one series after the other.

    Returns
    -------
    Quantiles
        Of an interval of coverage c, both ends count: the quantiles at (1 - c) / 2 and (1 + c) / 2.

    Notes
    -----
    What `predict_proba` returns is a distribution of skpro, which `as_predictions` takes. Forecasts of several steps
    depend on each other: give tests `groups=` or `horizon=`.

    Examples
    --------
    >>> import pandas as pd, scipy.stats, numpy as np, scorecal as sc
    >>> mean = np.linspace(0.0, 1.0, 100)
    >>> columns = pd.MultiIndex.from_product([["sales"], [0.1, 0.5, 0.9]])  # as of `forecaster.predict_quantiles`
    >>> frame = pd.DataFrame(scipy.stats.norm.ppf([0.1, 0.5, 0.9], mean[:, None]), columns=columns)
    >>> sc.from_sktime(frame)
    Quantiles(n=100, dim=1, 3 levels from 0.1 to 0.9)
    """
    columns: Any = getattr(frame, "columns", ())
    if getattr(columns, "nlevels", 1) not in (2, 3):
        found = f" with columns {_some(columns)}" if len(columns) else ""
        raise TypeError(
            "`frame` must have columns (variable, level) or (variable, coverage, lower or upper), as "
            "`predict_quantiles` and `predict_interval` of sktime return them, but is a "
            f"{type(frame).__name__}{found}. Likely causes: point forecasts, or variances of `predict_var`; for means "
            "and standard deviations use `sc.Gaussian(mean, scale)`."
        )
    variables = list(dict.fromkeys(name[0] for name in columns))
    if len(variables) > 1:
        raise ValueError(
            f"`frame` holds {len(variables)} variables, {_some(variables)}; test one at a time: "
            f"`frame[[{variables[0]!r}]]`."
        )
    levels = [_level(name[1:]) for name in columns]
    if len(set(levels)) < len(levels):
        raise ValueError(f"`frame` has a level twice: its columns are {_some(columns)}.")
    order = np.argsort(levels)
    return from_quantiles(np.asarray(levels)[order], frame.to_numpy(dtype=np.float64)[:, order])


def _level(name: tuple[Any, ...]) -> float:
    """Return the level that a column is for, from (level,) or (coverage, end)."""
    try:
        share = float(name[0])
    except (TypeError, ValueError):
        share = np.nan
    side = {"lower": -1.0, "upper": 1.0}.get(name[-1]) if len(name) == 2 else 0.0
    if not 0 < share < 1 or side is None:
        raise ValueError(
            f"`frame`: a column must be for a level between 0 and 1, or for the lower or upper end of a coverage, but "
            f"one is for {', '.join(map(repr, name))}."
        )
    return round(share if len(name) == 1 else (1.0 + side * share) / 2.0, _DIGITS)


def _some(names: Any, most: int = 6) -> str:
    shown = ", ".join(map(str, list(names)[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
