"""Predictions from columns as the libraries of Nixtla name them: model-lo-90, model-hi-90, model-median."""

import re
from typing import Any

import numpy as np

from ..quantiles import Quantiles, from_quantiles

_KINDS = (  # ends of names, and the level that a number in them stands for
    (re.compile(r"(?P<model>.+)-lo-(?P<number>\d+(?:\.\d+)?)"), lambda percent: (1.0 - percent / 100.0) / 2.0),
    (re.compile(r"(?P<model>.+)-hi-(?P<number>\d+(?:\.\d+)?)"), lambda percent: (1.0 + percent / 100.0) / 2.0),
    (re.compile(r"(?P<model>.+)-q-(?P<number>\d+(?:\.\d+)?)"), lambda percent: percent / 100.0),
    (re.compile(r"(?P<model>.+)_ql(?P<number>0?\.\d+)"), lambda level: level),
    (re.compile(r"(?P<model>.+)-median(?P<number>)"), lambda _: 0.5),
)
_DIGITS = 10


def from_nixtla(frame: Any, model: str | None = None) -> Quantiles:
    """Predictions from the intervals of one model in a table of statsforecast, mlforecast or neuralforecast.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        What `forecast(level=[...])` or `cross_validation(level=[...])` returns: columns such as `AutoARIMA-lo-90` and
        `AutoARIMA-hi-90`, ends of the central 90 % interval, and `NHITS-median`; also `TimeGPT-q-10` in percent and
        `NHITS_ql0.1`. The point forecast in the column of the bare name is not used: it may be a mean.
    model : str, optional
        Name of the model; may be left out where the table holds one.

    Returns
    -------
    Quantiles
        A prediction for each row of the table, in its order.

    Examples
    --------
    >>> import numpy as np, pandas as pd, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=200)
    >>> frame = pd.DataFrame({"ds": range(200), "y": y, "Naive": 0.0, "Naive-lo-80": -0.8, "Naive-hi-80": 0.8})
    >>> sc.from_nixtla(frame)
    Quantiles(n=200, dim=1, 2 levels from 0.1 to 0.9)
    >>> sc.calibration_test(sc.from_nixtla(frame), frame["y"], rng=0).rejects()
    True
    """
    names = getattr(frame, "columns", None)
    if names is None or getattr(names, "nlevels", 1) > 1:
        raise TypeError(f"`frame` must be a table with one name for each column, but is a {type(frame).__name__}.")
    found: dict[str, dict[float, str]] = {}
    for name in map(str, names):
        for pattern, level_of in _KINDS:
            if match := pattern.fullmatch(name):
                level = round(level_of(float(match["number"] or "nan")), _DIGITS)
                found.setdefault(match["model"], {}).setdefault(level, name)
    if model is None and len(found) == 1:
        model = next(iter(found))
    if model not in found:
        raise ValueError(_advice(model, found, list(map(str, names))))
    columns = dict(sorted(found[model].items()))
    values = np.stack([np.asarray(frame[name], dtype=np.float64) for name in columns.values()], axis=1)
    if np.any(np.isnan(values)):
        row, k = (int(index) for index in np.argwhere(np.isnan(values))[0])
        raise ValueError(
            f"`frame`: {list(columns.values())[k]!r} is missing in row {row} and in {np.sum(np.isnan(values[:, k]))} "
            "rows in all. Likely causes: training rows, or horizons that were not predicted; drop them."
        )
    return from_quantiles(list(columns), values)


def _advice(model: str | None, found: dict[str, dict[float, str]], names: list[str]) -> str:
    if found:
        asked = f"holds {len(found)} models" if model is None else f"has no quantiles of {model!r}"
        return f"`frame` {asked}; choose `model` among {', '.join(map(repr, found))}."
    if "output_type_id" in names:
        return "`frame` is a table of the Hubverse; use `sc.from_hubverse(forecasts, observations)`."
    return (
        "`frame` has no columns of quantiles, such as 'AutoARIMA-lo-90' and 'AutoARIMA-hi-90', but "
        f"{', '.join(names)}. Likely cause: point forecasts alone; ask for `level=[50, 90]`, or use "
        "`sc.from_quantiles(levels, values)`."
    )
