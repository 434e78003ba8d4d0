"""The temperature by which logits of classes would have to be divided."""

import math

import numpy as np

from .sizes import Estimate, Units

_LARGEST = 5.0  # of the logarithm of a temperature, to either side
_LEAST = 1e-12


def temperature(p: np.ndarray, observed: np.ndarray, units: Units, tail: float) -> Estimate:
    """Return the temperature T of largest likelihood for p^(1/T), scaled to sum to one, with its interval.

    The interval holds the T at which the sum of the scores, log p_y less its expectation, is within what chance allows;
    where there is no such T within e^5 to either side, the end is zero or infinite.
    """
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    logs = _logs(p)
    width = -float(stdtrit(max(1, units.n - 1), 0.5 * tail))

    def distance(log_t: float, standard_errors: float) -> float:
        each = _scores(p, logs, observed, units, log_t)
        return float(np.sum(each) + standard_errors * math.sqrt(float(np.sum(each**2))))

    def root(standard_errors: float) -> float:
        ends = [distance(end, standard_errors) for end in (-_LARGEST, _LARGEST)]
        if ends[0] >= 0.0 or ends[1] <= 0.0:
            return -_LARGEST if ends[0] >= 0.0 else _LARGEST
        return float(brentq(distance, -_LARGEST, _LARGEST, args=(standard_errors,), xtol=1e-6))

    if not np.any(np.abs(logs - np.max(logs, axis=1, keepdims=True))[p > 0] > _LEAST):
        return Estimate(math.nan, math.nan, math.nan)
    low, value, high = sorted(root(each) for each in (width, 0.0, -width))
    return Estimate(
        math.exp(value),
        0.0 if low == -_LARGEST else math.exp(low),
        math.inf if high == _LARGEST else math.exp(high),
    )


def least_tail_of_temperature(p: np.ndarray, observed: np.ndarray, units: Units) -> float:
    """Return the largest tail with which the interval of the temperature contains 1."""
    from scipy.special import stdtr

    each = _scores(p, _logs(p), observed, units, 0.0)
    squares = float(np.sum(each**2))
    t = abs(float(np.sum(each))) / math.sqrt(squares) if squares > 0 else 0.0
    return 2.0 * float(stdtr(max(1, units.n - 1), -t))


def _logs(p: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.maximum(p, _LEAST)))


def _scores(p: np.ndarray, logs: np.ndarray, observed: np.ndarray, units: Units, log_t: float) -> np.ndarray:
    """Log-probabilities of the observed classes less their expectations at a temperature, summed over clusters."""
    logits = logs * math.exp(-log_t)
    parts = np.exp(logits - np.max(logits, axis=1, keepdims=True)) * (p > 0)
    means = np.sum(parts * logs, axis=1) / np.sum(parts, axis=1)
    found = logs[np.arange(len(logs)), observed] - means
    return np.asarray(found if units.labels is None else np.bincount(units.labels, found))
