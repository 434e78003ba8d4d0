"""Predictions from forecasts of GluonTS: samples, quantiles or distributions."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..quantiles import Quantiles, from_quantiles
from ..samples import Samples, from_samples
from .dispatch import comes_from

_N_DRAWS = 200  # from each distribution


def from_gluonts(forecasts: Any) -> Samples | Quantiles:
    """Predictions from forecasts of GluonTS.

    Parameters
    ----------
    forecasts : gluonts.model.forecast.Forecast, or an iterable of them
        `SampleForecast`, `QuantileForecast` or `DistributionForecast`, all of one kind, such as what
        `predictor.predict(dataset)` yields.

    Returns
    -------
    Samples or Quantiles
        A prediction for each step of each forecast, one forecast after the other. From a `DistributionForecast` 200
        members are drawn, always the same; ranks among them are exact. For all that its distribution says, use
        `sc.as_predictions(forecast.distribution)`.

    Notes
    -----
    The steps of one forecast depend on each other: with h steps give tests
    `groups=np.repeat(np.arange(len(forecasts)), h)`, or test one step of all forecasts at a time.

    Examples
    --------
    >>> import numpy as np, pandas as pd, scorecal as sc
    >>> from gluonts.model.forecast import SampleForecast  # doctest: +SKIP
    >>> draws = np.random.default_rng(0).normal(size=(100, 12))
    >>> sc.from_gluonts([SampleForecast(draws, pd.Period("2024-01"))])  # doctest: +SKIP
    Samples(n=12, dim=1, 100 members)
    """
    parts = [forecasts] if comes_from(forecasts, "gluonts") or not isinstance(forecasts, Iterable) else list(forecasts)
    if not parts:
        raise ValueError("`forecasts` is empty. Likely cause: a generator that was used up; make a list of it first.")
    for part in parts:
        if not comes_from(part, "gluonts") or not hasattr(part, "prediction_length"):
            raise TypeError(f"`forecasts` must be forecasts of GluonTS, but is or holds a {type(part).__name__}.")
    kinds = {type(part).__name__ for part in parts}
    if len(kinds) > 1:
        raise TypeError(f"`forecasts` must be of one kind, but are {' and '.join(sorted(kinds))}.")
    if hasattr(parts[0], "forecast_keys"):
        return _quantiles(parts)
    if hasattr(parts[0], "samples"):
        return from_samples(_stacked([np.asarray(part.samples, dtype=np.float64) for part in parts]))
    if hasattr(parts[0], "distribution"):
        return from_samples(_stacked(_drawn(parts)))
    raise TypeError(
        f"`forecasts` holds a {type(parts[0]).__name__}, which has no samples, quantiles or distribution. Use "
        "`forecast.to_sample_forecast()` where it has that."
    )


def _stacked(draws: list[np.ndarray]) -> np.ndarray:
    """Return members (n, m) or (n, m, d) from draws (m, steps, ...), NaN where a forecast has fewer than another."""
    most = max(len(part) for part in draws)
    padded = [
        np.pad(part, [(0, most - len(part)), *[(0, 0)] * (part.ndim - 1)], constant_values=np.nan) for part in draws
    ]
    return np.concatenate([np.swapaxes(part, 0, 1) for part in padded])


def _drawn(parts: list[Any]) -> list[np.ndarray]:
    from .torch import seeded_draws

    generator = np.random.default_rng(0)
    return [seeded_draws(part.distribution, _N_DRAWS, generator).cpu().numpy().astype(np.float64) for part in parts]


def _quantiles(parts: list[Any]) -> Quantiles:
    """Return the quantiles that all forecasts have; their mean is not one."""
    keys = [tuple(key for key in part.forecast_keys if key != "mean") for part in parts]
    if len(set(map(frozenset, keys))) > 1:
        k = next(k for k, each in enumerate(keys) if set(each) != set(keys[0]))
        raise ValueError(
            f"`forecasts` must have the same quantiles, but the first has {', '.join(keys[0])} and number {k} has "
            f"{', '.join(keys[k])}."
        )
    ordered = sorted(keys[0], key=_level)
    rows = []
    for part in parts:
        values = np.asarray(part.forecast_array, dtype=np.float64)
        if values.ndim != 2:
            raise ValueError(f"`forecasts` must be of one number each, but one has an array of shape {values.shape}.")
        rows.append(np.stack([values[list(part.forecast_keys).index(key)] for key in ordered], axis=1))
    return from_quantiles([_level(key) for key in ordered], np.concatenate(rows))


def _level(key: str) -> float:
    """Return the level of a key such as 0.9 or p90."""
    return float(key[1:]) / 100.0 if key.startswith("p") else float(key)
