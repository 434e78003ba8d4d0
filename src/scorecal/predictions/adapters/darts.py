"""Predictions from forecasts of darts: series with samples, or with a component for each quantile."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..quantiles import Quantiles, from_quantiles
from ..samples import Samples, from_samples
from .dispatch import comes_from

_QUANTILE = re.compile(r"(?P<component>.*?)_?q(?P<level>[01]?\.\d+)")  # such as sales_q0.100


def from_darts(series: Any) -> Samples | Quantiles:
    """Predictions from forecasts of darts.

    Parameters
    ----------
    series : darts.TimeSeries, or a sequence of them
        Forecasts with samples, `predict(..., num_samples=200)`, or with the quantiles of one component,
        `predict(..., predict_likelihood_parameters=True)`; also what `historical_forecasts` returns with either.

    Returns
    -------
    Samples or Quantiles
        A prediction for each time, of several series one series after the other. In `Samples` the components of the
        series are the d numbers of one target.

    Notes
    -----
    The targets are `actual.slice_intersect(series).values()`. Forecasts of several steps depend on each other: give
    tests `groups=` or `horizon=`.

    Examples
    --------
    >>> import numpy as np, scorecal as sc
    >>> from darts import TimeSeries  # doctest: +SKIP
    >>> forecast = TimeSeries.from_values(np.random.default_rng(0).normal(size=(60, 1, 100)))  # doctest: +SKIP
    >>> sc.from_darts(forecast)  # doctest: +SKIP
    Samples(n=60, dim=1, 100 members)
    """
    parts = list(series) if isinstance(series, Sequence) and not comes_from(series, "darts") else [series]
    for part in parts or [series]:
        if not comes_from(part, "darts") or not hasattr(part, "all_values"):
            raise TypeError(
                f"`series` must be a TimeSeries of darts or several, but is or holds a {type(part).__name__}."
            )
    names = [tuple(map(str, part.components)) for part in parts]
    if len(set(names)) > 1:
        k = next(k for k, name in enumerate(names) if name != names[0])
        raise ValueError(
            f"`series` must have the same components, but the first has {', '.join(names[0])} and number {k} has "
            f"{', '.join(names[k])}."
        )
    values = [part.all_values(copy=False) for part in parts]  # (times, components, samples)
    if all(part.shape[2] > 1 for part in values):
        return from_samples(_stacked(values))
    return _quantiles(names[0], values)


def _stacked(values: list[np.ndarray]) -> np.ndarray:
    """Return draws (n, m, d) of all series, NaN where one has fewer than another."""
    most = max(part.shape[2] for part in values)
    padded = [np.pad(part, ((0, 0), (0, 0), (0, most - part.shape[2])), constant_values=np.nan) for part in values]
    return np.concatenate(padded).transpose(0, 2, 1)


def _quantiles(names: tuple[str, ...], values: list[np.ndarray]) -> Quantiles:
    found = [match for name in names if (match := _QUANTILE.fullmatch(name))]
    if len(found) < len(names) or len(found) < 2 or any(part.shape[2] > 1 for part in values):
        raise ValueError(
            f"`series` has one value for each time and component, {', '.join(names)}, and so no distribution. Likely "
            "cause: a point forecast; predict with `num_samples=200`, or with `predict_likelihood_parameters=True` for "
            "a model of quantiles."
        )
    components = list(dict.fromkeys(match["component"] for match in found))
    if len(components) > 1:
        raise ValueError(
            f"`series` has quantiles of {len(components)} components, {', '.join(components)}; test one at a time: "
            f"`series[[name for name in series.components if name.startswith({components[0] + '_q'!r})]]`."
        )
    levels = np.array([float(match["level"]) for match in found])
    order = np.argsort(levels)
    return from_quantiles(levels[order], np.concatenate(values)[:, order, 0])
