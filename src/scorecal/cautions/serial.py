"""Correlation of rows that are near each other in the given order.

Residuals become normal scores, so that their distribution does not matter, and lose what depends smoothly on the
prediction or on the place in the file: that may be a bias in a file that is sorted. If rows are independent and in
random order, the products of residuals some rows apart then add up to nearly normal sums.
"""

import numpy as np

from .rows import Rows, normal_scores, row_keys, unexplained

_LEAST_ROWS = 20
_LEVEL = 1e-4  # nominal, for all lags together; `benchmarks/dependence_warnings.py` measures it
_MOST_LAGS, _WINDOWS = 24, (2, 4, 8, 16)  # rows apart, and up to how many rows apart together
_LEAST_SUM = 0.05  # of correlations: less hardly changes the variance of a mean
_ROWS_PER_WAVE, _MOST_WAVES = 40, 8
_ROWS_PER_TERM, _MOST_TERMS, _MOST_COLUMNS = 8, 24, 16
_IN_ORDER, _MANY = 0.9, 10  # share of steps in one direction by which a column counts as sorted, of so many or more


def serial_correlation(rows: Rows, ordered: bool = False) -> str | None:
    """Say which rows are correlated, as in time series or where rows of one unit follow each other.

    With `ordered`, they were said to be forecasts one step ahead.
    """
    if rows.residuals is None or len(rows.targets) < _LEAST_ROWS:
        return None
    traits = rows.targets[:, :0] if rows.traits is None else rows.traits
    found = _clearest(rows.residuals, traits)
    # Neighbours in a file that is sorted by a target, an error or a prediction are alike by this alone.
    if found is None or _is_sorted(rows.targets, 1) or _is_sorted(rows.residuals, 1) or _is_sorted(traits, 4):
        return None
    lag, correlation = found
    correlated = f"Rows {lag} apart are correlated ({correlation:.2f})"
    if ordered:
        return (
            f"{correlated}, which errors of forecasts one step ahead are not: let `horizon` be about as many rows as "
            "errors go together; if several rows belong together, as those of one patient, give `groups=` and leave "
            "`horizon=` out."
        )
    return (
        f"{correlated}: if they are in time order, give `horizon=`; if several rows belong together, as those of one "
        "patient, give `groups=`."
    )


def _clearest(residuals: np.ndarray, traits: np.ndarray) -> tuple[int, float] | None:
    """Return the lag of the clearest correlation, with its size, if it is larger than by chance; otherwise None."""
    from scipy.fft import dct, idct

    scores = normal_scores(residuals[:, :_MOST_COLUMNS])
    scores -= np.mean(scores, axis=0)
    n = len(scores)
    if _lag_beyond_chance(scores, n_waves=1) is None:  # so that good data cost little
        return None
    left, _ = unexplained(scores, traits, min(n // _ROWS_PER_TERM, _MOST_TERMS))
    place = normal_scores(np.arange(n)[:, None])  # in files that are roughly sorted, errors go on rising to the ends
    left -= place * (place.T @ left) / np.sum(place**2)
    n_waves = min(max(2, n // _ROWS_PER_WAVE), _MOST_WAVES)
    waves = dct(left, axis=0, norm="ortho")
    waves[:n_waves] = 0.0
    keys = row_keys(traits)
    many = len(np.unique(keys)) > _MOST_TERMS  # of few predictions the regression has taken all biases
    lag = _lag_beyond_chance(idct(waves, axis=0, norm="ortho"), n_waves, keys if many else None)
    return None if lag is None else (lag, float(np.sum(scores[lag:] * scores[:-lag]) / np.sum(scores**2)))


def _lag_beyond_chance(values: np.ndarray, n_waves: int, keys: np.ndarray | None = None) -> int | None:
    """Return the clearest lag at which values (n, d) without their slowest waves are correlated, None if by chance."""
    from scipy.special import ndtri

    sizes = np.sqrt(np.mean(values**2, axis=0))
    values = values[:, sizes > 0] / sizes[sizes > 0]
    n, d = values.shape
    if not d:
        return None
    lags = np.arange(1, min(_MOST_LAGS, n // 8) + 1)
    products, n_pairs = _products(values, lags, keys)
    # Without the slowest waves, neighbours are correlated slightly less than not at all.
    products += d * n_pairs / n * np.sum(np.cos(np.pi * np.outer(lags, np.arange(n_waves)) / n), axis=1)
    together = np.sum((values.T @ values / n) ** 2)  # d for uncorrelated dimensions, d^2 for equal ones
    single, correlations = products / np.sqrt(np.maximum(n_pairs, 1) * together), products / (n * d)
    windows = [m for m in _WINDOWS if m <= n // 12]
    z = [*single, *(np.sum(single[:m]) / m**0.5 for m in windows)]
    size = [*correlations, *(np.sum(correlations[:m]) for m in windows)]
    clear = (np.array(z) > -ndtri(_LEVEL / len(z))) & (np.array(size) > _LEAST_SUM)
    return int(lags[np.argmax(single)]) if np.any(clear) else None


def _products(values: np.ndarray, lags: np.ndarray, keys: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Sums of products of values (n, d) so many rows apart, and the numbers of pairs; only where `keys` differ.

    Rows of one prediction share its bias; whether they depend on each other is for `close_targets` to say.
    """
    (n, d), flat = values.shape, values.ravel()
    if keys is None:
        return np.array([flat[lag * d :] @ flat[: -lag * d] for lag in lags]), n - lags
    sums, n_pairs = np.zeros(len(lags)), np.zeros(len(lags))
    for k, lag in enumerate(lags):
        differ = keys[lag:] != keys[:-lag]
        sums[k] = np.sum(values[lag:][differ] * values[:-lag][differ])
        n_pairs[k] = np.sum(differ)
    return sums, n_pairs


def _is_sorted(columns: np.ndarray, least: int) -> bool:
    """Whether a column goes up or down only, in at least so many steps, or nearly so in many."""
    for column in columns.T:
        steps = np.diff(column)
        up, down = int(np.sum(steps > 0)), int(np.sum(steps < 0))
        allowed = (1.0 - _IN_ORDER) * (up + down) if up + down >= _MANY else 0.0
        if up + down >= least and min(up, down) <= allowed:
            return True
    return False
