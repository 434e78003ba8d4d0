"""Series that ship in statsmodels, pmdarima and vega_datasets, and honest forecasts of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from case import Case, correlated, from_scipy, gaussian
from forecasts import lags, no_change, recent_spread, regressions, sarima, smoothing, spread_of_season
from regressions import least_squares
from scipy import stats


def _statsmodels(name: str):
    import statsmodels.api as sm

    return getattr(sm.datasets, name).load_pandas().data


def sunspots(seed: int) -> Iterator[Case]:
    y = _statsmodels("sunspots")["SUNACTIVITY"].to_numpy()
    warm, root = 100, 2.0 * np.sqrt(y + 0.5)
    for h, name in ((1, "sunspots, next year"), (3, "sunspots, 3 years ahead")):
        rows = {"horizon": h}
        yield gaussian(name, "random walk", y[warm:], *no_change(y, h, warm), **rows)
        past = range(h, h + 9)
        yield gaussian(name, "AR(9)", y[warm:], *regressions(y, lags(y, *past), h, warm), **rows)
        fitted = regressions(root, lags(root, *past), h, warm)
        yield gaussian(name, "AR(9) of square roots", root[warm:], *fitted, **rows)


def co2(seed: int) -> Iterator[Case]:
    y = _statsmodels("co2")["co2"].resample("MS").mean().interpolate().to_numpy()
    warm, name = 240, "CO2, next month"
    yield gaussian(name, "same month last year", y[warm:], *no_change(y, 1, warm, 12), horizon=1)
    yield gaussian(name, "last year and mean rise", y[warm:], *no_change(y, 1, warm, 12, drift=True), horizon=1)
    fitted = sarima(y, (0, 1, 1), (0, 1, 1, 12), warm, warm)
    yield gaussian(name, "seasonal ARIMA", y[warm:], *fitted, horizon=1)
    name = "CO2, 12 months ahead"
    yield gaussian(name, "last year and mean rise", y[warm:], *no_change(y, 12, warm, 12, drift=True), horizon=12)
    rise = np.concatenate([np.full(12, np.nan), y[12:] - y[:-12]])
    mean, sd = regressions(np.nan_to_num(rise), lags(rise, 12, 24), 12, warm)
    yield gaussian(name, "AR of yearly rises", y[warm:], y[warm - 12 : -12] + mean, sd, horizon=12)


def nile(seed: int) -> Iterator[Case]:
    y, warm = _statsmodels("nile")["volume"].to_numpy(), 20
    ones = np.ones((len(y), 1))
    yield gaussian("Nile, next year", "mean of the past", y[warm:], *regressions(y, ones, 1, warm), horizon=1)
    yield gaussian("Nile, next year", "exponential smoothing", y[warm:], *smoothing(y, 1, warm), horizon=1)


def growth(seed: int) -> Iterator[Case]:
    table = _statsmodels("macrodata")
    y = 400.0 * np.diff(np.log(table["realgdp"].to_numpy()))
    both, warm, name = np.column_stack([y, table["infl"].to_numpy()[1:]]), 60, "GDP growth, next quarter"
    yield gaussian(name, "AR(1) of all quarters", y[warm:], *regressions(y, lags(y, 1), 1, warm), horizon=1)
    yield gaussian(name, "AR(1) of ten years", y[warm:], *regressions(y, lags(y, 1), 1, warm, 40), horizon=1)
    name = "growth and inflation"
    mean, cov = regressions(both, lags(both, 1), 1, warm)
    yield correlated(name, "VAR(1) of all quarters", both[warm:], mean, cov, horizon=1)
    mean, cov = regressions(both, lags(both, 1, 2), 1, warm, 40)
    yield correlated(name, "VAR(2) of ten years", both[warm:], mean, cov, horizon=1)


def elnino(seed: int) -> Iterator[Case]:
    y = _statsmodels("elnino").to_numpy()[:, 1:].ravel()
    month, warm = np.eye(12)[np.arange(len(y)) % 12], 240
    for h, name in ((1, "El Nino, next month"), (6, "El Nino, 6 months ahead")):
        yield gaussian(name, "mean of the month", y[warm:], *regressions(y, month, h, warm), horizon=h)
        x = np.hstack([month, lags(y, h, h + 1)[:, 1:]])
        mean, sd = regressions(y, x, h, 60)
        late = slice(warm - 60, None)
        yield gaussian(name, "AR(2)", y[warm:], mean[late], sd[late], horizon=h)
        spread = spread_of_season(y[60:] - mean, h, warm - 60, 12)
        yield gaussian(name, "AR(2), spread by month", y[warm:], mean[late], spread, horizon=h)


def passengers(seed: int) -> Iterator[Case]:
    from pmdarima.datasets import load_airpassengers

    y, warm, name = load_airpassengers(), 60, "air passengers, next month"
    logs, order, seasonal = np.log(y), (0, 1, 1), (0, 1, 1, 12)
    yield gaussian(name, "same month last year", y[warm:], *no_change(y, 1, warm, 12, drift=True), horizon=1)
    yield gaussian(name, "seasonal ARIMA", y[warm:], *sarima(y, order, seasonal, warm, warm), horizon=1)
    fitted = sarima(logs, order, seasonal, warm, warm)
    yield gaussian(name, "seasonal ARIMA of logs", logs[warm:], *fitted, horizon=1)


def beer(seed: int) -> Iterator[Case]:
    from pmdarima.datasets import load_ausbeer

    y, warm = np.log(load_ausbeer()), 60
    y = y[np.isfinite(y)]
    rise = np.concatenate([np.full(4, np.nan), y[4:] - y[:-4]])
    for h, name in ((1, "beer, next quarter"), (4, "beer, 4 quarters ahead")):
        yield gaussian(name, "same quarter last year", y[warm:], *no_change(y, h, warm, 4), horizon=h)
        past = [lag for lag in (1, 2, 4, 5, 8) if lag >= h]
        mean, sd = regressions(np.nan_to_num(rise), lags(rise, *past), h, warm)
        yield gaussian(name, "AR of yearly rises", y[warm:], y[warm - 4 : -4] + mean, sd, horizon=h)


def lynx(seed: int) -> Iterator[Case]:
    from pmdarima.datasets import load_lynx

    y, warm = load_lynx(), 40
    logs = np.log(y)
    yield gaussian("lynx, next year", "AR(2)", y[warm:], *regressions(y, lags(y, 1, 2), 1, warm), horizon=1)
    fitted = regressions(logs, lags(logs, 1, 2), 1, warm)
    yield gaussian("lynx, next year", "AR(2) of logs", logs[warm:], *fitted, horizon=1)


def demand(seed: int) -> Iterator[Case]:
    from pmdarima.datasets import load_taylor

    y, week = np.log(load_taylor()), 336
    warm = 4 * week
    for h, past, name in (
        (1, (1, 2, 48, 49, week, week + 1), "electricity, next half-hour"),
        (48, (48, 49, 96, week, week + 1, week + 48), "electricity, next day"),
    ):
        yield gaussian(name, "same time last week", y[warm:], *no_change(y, h, warm, week), horizon=h)
        mean, sd = regressions(y, lags(y, *past), h, warm - week)
        late = slice(week, None)
        yield gaussian(name, "AR with days and weeks", y[warm:], mean[late], sd[late], horizon=h)
        spread = recent_spread(y[warm - week :] - mean, h, week, 0.98)
        yield gaussian(name, "AR, spread of recent errors", y[warm:], mean[late], spread, horizon=h)


def returns(seed: int) -> Iterator[Case]:
    from pmdarima.datasets import load_msft

    close = load_msft()["Close"].to_numpy()[-2001:]
    y, warm, name = 100.0 * np.diff(np.log(close)), 500, "Microsoft shares, next day"
    constant = regressions(y, np.ones((len(y), 1)), 1, warm)
    yield gaussian(name, "one spread", y[warm:], *constant, horizon=1)
    sd = recent_spread(y, 1, warm, 0.94)
    yield gaussian(name, "spread of recent days", y[warm:], constant[0], sd, horizon=1)
    student = stats.t(5, constant[0], sd * np.sqrt(3.0 / 5.0))
    yield from_scipy(name, "spread of recent days, t5", y[warm:], student, horizon=1)


def seattle(seed: int) -> Iterator[Case]:
    from vega_datasets import local_data

    table = local_data("seattle-weather")
    both, warm = table[["temp_max", "temp_min"]].to_numpy(dtype=float), 365
    day = 2.0 * np.pi * np.arange(len(both)) / 365.25
    season = np.column_stack([f(k * day) for k in (1, 2) for f in (np.sin, np.cos)])
    y, x = both[:, 0], np.column_stack([season, np.ones(len(both))])
    name = "Seattle, next day's maximum"
    yield gaussian(name, "mean of the season", y[warm:], *regressions(y, x, 1, warm), horizon=1)
    x = np.column_stack([season, lags(both, 1, 2)])
    yield gaussian(name, "AR(2) and season", y[warm:], *regressions(y, x, 1, warm), horizon=1)
    mean, cov = regressions(both, x, 1, warm)
    name = "Seattle, maximum and minimum"
    sd = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    yield gaussian(name, "VAR(2), uncorrelated", both[warm:], mean, sd, horizon=1)
    yield correlated(name, "VAR(2)", both[warm:], mean, cov, horizon=1)


def firms(seed: int) -> Iterator[Case]:
    """Each firm's next year, by one regression of all firms in the years before."""
    table = _statsmodels("grunfeld").sort_values(["firm", "year"])
    size = np.log(table[["value", "capital"]].to_numpy(dtype=float))
    y, year, firm = np.log(table["invest"].to_numpy(dtype=float)), table["year"].to_numpy(), table["firm"].to_numpy(str)
    last, name = np.concatenate([[np.nan], y[:-1]]), "investment of firms, next year"
    for model, x in (("least squares", size), ("least squares with last year's", np.column_stack([size, last]))):
        held = year >= 1943
        mean, sd = np.full((2, len(y)), np.nan)
        for now in np.unique(year[held]):
            past = (year > 1935) & (year < now)
            mean[year == now], sd[year == now] = least_squares(x[past], y[past], x[year == now])
        yield gaussian(name, model, y[held], mean[held], sd[held], horizon=1, groups=firm[held])


SERIES = (sunspots, co2, nile, growth, elnino, passengers, beer, lynx, demand, returns, seattle, firms)
