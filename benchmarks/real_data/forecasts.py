"""Models of series. A forecast for time t, made h steps ahead, uses targets up to time t - h and nothing later.

Series have shape (n,), or (n, d) where `regressions` is asked for covariances. All functions return means and standard
deviations (or covariances) for times `warm` to n - 1; what is estimated is estimated anew at each time.
"""

from __future__ import annotations

import numpy as np

Forecasts = tuple[np.ndarray, np.ndarray]


def lags(y: np.ndarray, *shifts: int) -> np.ndarray:
    """Return columns of ones and of y, each shifted by as many rows as given; NaN where there is no past."""
    columns = [np.ones((len(y), 1))]
    for shift in shifts:
        past = np.full((len(y), 1 if y.ndim == 1 else y.shape[1]), np.nan)
        past[shift:] = y[: len(y) - shift].reshape(len(y) - shift, -1)
        columns.append(past)
    return np.hstack(columns)


def regressions(y: np.ndarray, x: np.ndarray, h: int, warm: int, window: int | None = None) -> Forecasts:
    """Least squares of y_t on x_t, which is known at time t - h, over all past rows or the last ones of a window."""
    known, several = np.isfinite(x).all(axis=1), y.ndim == 2
    y = y.reshape(len(y), -1)
    means, covariances = [], []
    for t in range(warm, len(y)):
        rows = np.flatnonzero(known[: t - h + 1])[-window if window else 0 :]
        inverse = np.linalg.pinv(x[rows])
        coefficients = inverse @ y[rows]
        residuals = y[rows] - x[rows] @ coefficients
        leverage = np.sum((x[t] @ inverse) ** 2)
        means.append(x[t] @ coefficients)
        covariances.append(residuals.T @ residuals / (len(rows) - x.shape[1]) * (1.0 + leverage))
    mean, covariance = np.array(means), np.array(covariances)
    return (mean, covariance) if several else (mean[:, 0], np.sqrt(covariance[:, 0, 0]))


def no_change(y: np.ndarray, h: int, warm: int, season: int | None = None, drift: bool = False) -> Forecasts:
    """Take the last value known, or that of the same season, with the mean past change added if there is drift."""
    step = h if season is None else season * -(-h // season)
    change = np.full(len(y), np.nan)
    change[step:] = y[step:] - y[:-step]
    means, sds = [], []
    for t in range(warm, len(y)):
        past = change[step : t - h + 1]
        means.append(y[t - step] + (past.mean() if drift else 0.0))
        sds.append(past.std(ddof=1) if drift else np.sqrt(np.mean(past**2)))
    return np.array(means), np.array(sds)


def smoothing(y: np.ndarray, h: int, warm: int) -> Forecasts:
    """Simple exponential smoothing, its weight the one of least past squared errors."""
    weights = np.linspace(0.02, 1.0, 50)
    levels = np.empty((len(y), len(weights)))
    levels[0] = y[0]
    for t in range(1, len(y)):
        levels[t] = levels[t - 1] + weights * (y[t] - levels[t - 1])
    squares = np.full_like(levels, np.nan)
    squares[h:] = (y[h:, None] - levels[:-h]) ** 2
    means, sds = [], []
    for t in range(warm, len(y)):
        past = np.mean(squares[h : t - h + 1], axis=0)
        best = np.argmin(past)
        means.append(levels[t - h, best])
        sds.append(np.sqrt(past[best]))
    return np.array(means), np.array(sds)


def sarima(
    y: np.ndarray, order: tuple[int, int, int], seasonal: tuple[int, int, int, int], warm: int, trained: int
) -> Forecasts:
    """One-step forecasts of a seasonal ARIMA, fitted to the first rows once."""
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    fitted = SARIMAX(y[:trained], order=order, seasonal_order=seasonal).fit(disp=False)
    predicted = fitted.append(y[trained:]).get_prediction(start=warm)
    return np.asarray(predicted.predicted_mean), np.asarray(predicted.se_mean)


def recent_spread(error: np.ndarray, h: int, warm: int, decay: float) -> np.ndarray:
    """Root mean square of past errors, each weighing `decay` times as much as the next one."""
    squares = np.empty(len(error))
    squares[0] = error[0] ** 2
    for t in range(1, len(error)):
        weight = max(1.0 - decay, 1.0 / (t + 1.0))
        squares[t] = squares[t - 1] + weight * (error[t] ** 2 - squares[t - 1])
    return np.sqrt(squares[warm - h : len(error) - h])


def spread_of_season(error: np.ndarray, h: int, warm: int, season: int) -> np.ndarray:
    """Root mean square of past errors of the same season."""
    sds = [np.sqrt(np.mean(error[t % season : t - h + 1 : season] ** 2)) for t in range(warm, len(error))]
    return np.array(sds)
