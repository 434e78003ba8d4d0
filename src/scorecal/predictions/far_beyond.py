"""Targets so far beyond all that a prediction names that ranks, which do not tell how far, cannot show it."""

import numpy as np

_MANY_RANGES = 20.0
_NEARLY_ALL = (0.02, 0.98)
_FEW = 0.05  # of the rows: more are no exception, and views see them


def far_beyond(y: np.ndarray, low: np.ndarray, high: np.ndarray, named: str) -> tuple[str, ...]:
    """Say which targets (n, d) lie far outside of the range from low to high (n, d), for a result."""
    # One range alone may be short by chance, or zero, as those of rare counts are.
    ends = np.quantile(np.concatenate([low, high]), _NEARLY_ALL, axis=0)
    size = np.maximum(high - low, ends[1] - ends[0])
    far = np.any(np.maximum(low - y, y - high) > _MANY_RANGES * size, axis=1)
    if not 0 < np.mean(far) <= _FEW:
        return ()
    rows = np.flatnonzero(far)
    first = " ".join(f"{each:g}" for each in y[rows[0]])
    return (
        f"`y`: {len(rows)} of {len(y)} targets lie more than {_MANY_RANGES:g} times the range of their {named} beyond "
        f"all of them, the first in row {rows[0]} ({first}). The test looks at ranks, which do not tell how far. "
        "Likely cause: numbers that stand for missing values.",
    )
