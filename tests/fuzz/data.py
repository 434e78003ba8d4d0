"""Hostile data sets of Gaussian predictions: far from the origin, in odd units, repeated, in clusters, nearly singular.

A data set is plain data, so that it can be written to a file and read by a person; `arrays` makes arrays of it.
"""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

SPREADS = ("number", "isotropic", "diagonal", "covariance", "covariances")
CONTAINERS = ("ndarray", "list", "tuple", "torch")
_small = st.integers(-32, 32).map(lambda k: k / 8)
_powers = st.integers(-6, 6)


class Data(NamedTuple):
    """Means, targets, spreads and inputs as NumPy arrays of the dtypes that were asked for."""

    mean: np.ndarray  # (n, d)
    y: np.ndarray  # (n, d)
    scale: np.ndarray | None  # (), (n,) or (n, d)
    covariance: np.ndarray | None  # (d, d) or (n, d, d)
    x: np.ndarray  # (n, 2)


@st.composite
def data_sets(
    draw: Any, *, rows: st.SearchStrategy[int], dims: st.SearchStrategy[int], tame: bool = False
) -> dict[str, Any]:
    """Draw a data set. A `tame` one is in float64, near its origin, not in clusters, and not nearly singular."""
    n, d = draw(rows), draw(dims)

    def table(width: int, elements: st.SearchStrategy[float] = _small) -> list[list[float]]:
        return draw(st.lists(st.lists(elements, min_size=width, max_size=width), min_size=n, max_size=n))

    spread = draw(st.sampled_from(SPREADS))
    wide = st.integers(1, 16) if tame else st.integers(1, 16) | st.integers(-60, 60).map(lambda k: 8 * 10 ** (k / 10))
    return {
        "mean": table(d),
        "residual": table(d),
        "inputs": table(2),
        "spread": spread,
        "sd": table(d, wide.map(lambda k: k / 8)),
        "lower": table(d * (d - 1) // 2) if spread.startswith("covariance") else [],
        "singular": 0 if tame else draw(st.just(0) | st.integers(1, 8)),  # smallest part of a covariance, 10^-k
        "copies": draw(st.just([]) | st.lists(st.integers(0, n - 1), min_size=n, max_size=n)),
        "far": [] if tame else draw(st.just([]) | st.lists(st.booleans(), min_size=n, max_size=n)),
        "gap": 0 if tame else draw(st.integers(0, 10)),  # distance of the far rows from the others, 10^k
        "unit": (unit := draw(_powers)),
        "offset": draw(st.just(0.0) | st.integers(unit, unit + 3 if tame else 8).map(lambda k: 10.0**k)),
        "dtype": "float64" if tame else draw(st.sampled_from(["float64", "float32"])),
        "y dtype": "float64" if tame else draw(st.sampled_from(["float64", "float32"])),
    }


def arrays(case: dict[str, Any]) -> Data:
    """Return the arrays of a data set, rounded to its dtypes."""
    n = len(case["mean"])
    d = len(case["mean"][0])
    unit, dtype = 10.0 ** case["unit"], case["dtype"]
    rows = case["copies"] or list(range(n))
    mean, residual, inputs, sd = (
        np.array(case[name], dtype=np.float64) for name in ("mean", "residual", "inputs", "sd")
    )
    if case["far"]:
        mean = mean + 10.0 ** case["gap"] * np.array(case["far"])[:, None]
    y = (mean + residual) * unit + case["offset"]
    mean = (mean[rows] * unit + case["offset"]).astype(dtype)
    # Targets follow their predictions, but only the predictions are repeated.
    y = (y + (np.array(case["mean"])[rows] - np.array(case["mean"])) * unit).astype(case["y dtype"])
    scale = covariance = None
    if not case["spread"].startswith("covariance"):
        scale = {"number": sd[0, 0], "isotropic": sd[rows, 0], "diagonal": sd[rows]}[case["spread"]]
        scale = (scale * unit).astype(dtype)
    else:
        factor = sd[:, :, None] * np.eye(d)
        factor[:, *np.tril_indices(d, -1)] = case["lower"]
        factor[:, -1, -1] *= 10.0 ** -case["singular"]
        covariance = ((factor @ np.swapaxes(factor, 1, 2))[rows] * unit**2).astype(dtype)
        covariance = covariance[0] if case["spread"] == "covariance" else covariance
    return Data(mean, y, scale, covariance, inputs)


def contained(array: np.ndarray, container: str) -> Any:
    """Return the same numbers in another container."""
    if container == "torch":
        import torch

        return torch.asarray(array)
    if container == "ndarray" or array.ndim == 0:
        return array
    return tuple(map(tuple, array.tolist())) if container == "tuple" and array.ndim == 2 else array.tolist()
