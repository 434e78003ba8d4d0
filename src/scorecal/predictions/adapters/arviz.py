"""Predictions from the draws that arviz keeps: `InferenceData`, and the `DataTree` of its later versions."""

from typing import Any

import numpy as np

from ..samples import Samples, from_samples
from .dispatch import comes_from

_DRAWS = ("chain", "draw", "sample")  # dimensions of draws
_GROUPS = ("predictions", "posterior_predictive")  # the first that is there


def from_arviz(data: Any, variable: str | None = None, *, group: str | None = None) -> Samples:
    """Predictions from the posterior predictive draws in an `InferenceData` or a `DataTree`.

    Parameters
    ----------
    data : arviz.InferenceData or xarray.DataTree
        With a group of draws; also what PyMC and `arviz.from_numpyro` return.
    variable : str, optional
        Name of the variable that is predicted; may be left out where there is one.
    group : str, optional
        Name of the group of draws. By default "predictions", the draws for new data, and where it is missing
        "posterior_predictive".

    Returns
    -------
    Samples
        All chains together, one row for each observation: the first dimension that is not of draws. A second one, if
        any, holds the d numbers of one target.

    Notes
    -----
    Draws of `posterior_predictive` are mostly for the data that the model was fitted to. Their uncertainty is not that
    of new data: with few data for each parameter, targets lie closer to them than the level of a test supposes. Judge a
    model by data that it has not seen, in the group `predictions`.

    Chains that mix slowly hold fewer members than it seems; thin them first (`data.sel(draw=slice(None, None, 10))`).

    Examples
    --------
    >>> import arviz_base, numpy as np, scorecal as sc
    >>> rng = np.random.default_rng(0)
    >>> mean = rng.normal(size=200)
    >>> draws = {"y": mean + 0.7 * rng.normal(size=(4, 50, 200))}
    >>> data = arviz_base.from_dict({"predictions": draws, "observed_data": {"y": mean + rng.normal(size=200)}})
    >>> predictions = sc.from_arviz(data)
    >>> predictions
    Samples(n=200, dim=1, 200 members)
    >>> sc.calibration_test(predictions, data.observed_data["y"], rng=0).seen[0]
    'over-confidence'
    """
    if not (comes_from(data, "arviz") or comes_from(data, "xarray")) or not hasattr(data, "groups"):
        raise TypeError(
            f"`data` must be an InferenceData of arviz or a DataTree of xarray, but is a {type(data).__name__}. For an "
            "array of draws use `sc.from_samples(draws)`."
        )
    names = tuple(data.children) if hasattr(data, "children") else tuple(data.groups())
    found = next((name for name in ((group,) if group else _GROUPS) if name in names), None)
    if found is None:
        raise ValueError(
            f"`data` has no group {' or '.join(map(repr, (group,) if group else _GROUPS))}, but {', '.join(names)}. "
            "Likely cause: draws of parameters alone; draw from the posterior predictive first, as by "
            "`pymc.sample_posterior_predictive`."
        )
    return from_samples(_draws(data[found], found, variable))


def _draws(group: Any, name: str, variable: str | None) -> np.ndarray:
    """Return the draws of one variable, (n, m) or (n, m, d)."""
    known = [str(each) for each in group.data_vars]
    if variable not in known and (variable is not None or len(known) != 1):
        asked = f"{len(known)} variables" if variable is None else f"no variable {variable!r}"
        raise ValueError(f"`data`: the group {name!r} has {asked}; choose `variable` among {', '.join(known)}.")
    array = group[variable or known[0]]
    rest = [each for each in array.dims if each not in _DRAWS]
    drawn = [each for each in array.dims if each in _DRAWS]
    if not drawn or not 1 <= len(rest) <= 2:
        raise ValueError(
            f"`data`: the variable {array.name!r} must have dimensions of draws (chain, draw) and one or two others, a "
            f"row for each observation, but has {', '.join(map(str, array.dims))}. Likely causes: one number for all "
            "observations, or a grid; stack its dimensions into one."
        )
    values = np.asarray(array.transpose(rest[0], *drawn, *rest[1:]).values, dtype=np.float64)
    return values.reshape(values.shape[0], -1, *values.shape[1 + len(drawn) :])
