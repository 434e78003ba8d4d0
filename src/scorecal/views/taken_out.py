"""Targets from which flaws of the predictions are taken out, so that views can be asked what else is wrong.

In units of its own prediction, u, each target is moved to (u - b) / c. As in maximum likelihood, b and c are such that
scores t have mean zero, E[t x] = 0, and spreads are as claimed, E[(u t + 1) x] = 0: x is 1 for a bias and a wrong
spread, and otherwise what they depend on. What a view no longer sees was explained by these flaws.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like, to_numpy
from .._lib.dimensions import are_many
from ..predictions import Gaussian, GaussianMixture, Scores, evaluate_score
from .common_factors import without_factors
from .components import separated
from .far_rows import far_rows_in
from .frame import ViewFrame
from .many_dependences import own_slopes, shared_slopes

_ROUNDS, _MORE_ROUNDS = 6, 10  # of Fisher scoring; the latter where predictions are not Gaussian
_LEAST = 0.05  # of the second moment in terms of what is claimed: a step goes no further
_LONGEST = 0.5  # step of the logarithm of a spread
_CLEAR = 2.0  # standard errors
_SETTLED = 0.1  # standard errors of a mean: rounds end where no target moves farther, in its own units


class _Units(NamedTuple):
    """Targets u (S, n, d) from a location in units of a spread, and the slopes t of the log-density along u."""

    location: Array
    sd: Array
    u: np.ndarray
    t: np.ndarray


def without(frame: ViewFrame, kinds: Sequence[str]) -> ViewFrame:
    """Return the frame of targets without the flaws of these kinds, as far as it is known how to take them out."""
    if "outliers" in kinds:
        frame = _pulled_in(frame)
    for _ in range(_ROUNDS if _is_linear(frame) else _MORE_ROUNDS):
        before = frame
        for kind in kinds:
            if kind == "bias":
                frame = _centred(frame)
            elif kind.endswith("confidence"):
                frame = _respread(frame)
            elif kind == "correlation":
                frame = _uncorrelated(frame)
            elif kind in ("dependence", "covariates", "serial"):
                frame = _independent(frame, kind)
        if frame is before:
            break
        frame = _asked_anew(before, frame)
        if _is_settled(before, frame):
            break
    return frame


def spread_too_much(frame: ViewFrame) -> bool:
    """Return whether targets spread more than claimed, over all dimensions."""
    units = _near(frame)
    return bool(np.mean(_kept(frame, units.u * units.t)) < -1.0)


def _is_settled(before: ViewFrame, after: ViewFrame) -> bool:
    """Whether a round has moved no target by more than a part of the standard error of a mean."""
    u, moved = (to_numpy(each.marginal[0]).astype(np.float64) for each in (before, after))
    return bool(np.max(np.abs(moved - u) / np.maximum(1.0, np.abs(u))) < _SETTLED / u.shape[1] ** 0.5)


def _pulled_in(frame: ViewFrame) -> ViewFrame:
    """The frame with far targets at a typical distance from their predictions, on the same side."""
    length = np.sqrt(np.mean(np.sum(to_numpy(frame.whitened[0]).astype(np.float64) ** 2, axis=2), axis=0))
    factor = np.where(far_rows_in(frame).far, np.median(length) / np.maximum(length, np.finfo(float).tiny), 1.0)
    units = _whole(frame)
    return _moved(frame, units, units.u * factor[:, None])


def _centred(frame: ViewFrame) -> ViewFrame:
    """The frame without a bias: a step by the mean score over its information, which is 1 for Gaussians."""
    units = _near(frame)
    step = np.mean(_kept(frame, units.t), axis=0)
    return _moved(frame, units, units.u + _share(frame, units.t, 1.0) * step)


def _respread(frame: ViewFrame) -> ViewFrame:
    """The frame with spreads as claimed: a step by the mean of u t + 1 over its information, 2 for Gaussians."""
    units = _near(frame)
    products = _kept(frame, units.u * units.t)
    least = np.finfo(np.float64).tiny if _is_linear(frame) else _LEAST  # that step is exact, however long
    step = 0.5 * np.log(np.maximum(-np.mean(products, axis=0), least))
    return _moved(frame, units, units.u * np.exp(-_share(frame, units.u * units.t + 1.0, 2.0) * step))


def _share(frame: ViewFrame, values: np.ndarray, of_gaussians: float) -> Any:
    """Share of the step of Gaussians, by their information over that of the predictions, the mean square of the values.

    Where scores are large or vary much, full steps would go to and fro.
    """
    if _is_linear(frame):
        return 1.0
    return of_gaussians / np.maximum(np.mean(_kept(frame, values) ** 2, axis=0), of_gaussians)


def _independent(frame: ViewFrame, kind: str) -> ViewFrame:
    """The frame with biases and spreads that do not depend on the prediction, on covariates or on errors before."""
    units = _near(frame)
    own, common = _functions(frame, kind)
    if are_many(frame.reference.shape[1]):
        return _independent_of_many(frame, units, kind, own, common)
    shift = np.stack([_fitted(frame, np.mean(units.t[..., a], axis=0), x) for a, x in enumerate(own)], axis=1)
    return _respread_by(_moved(frame, units, units.u + _share(frame, units.t, 1.0) * shift), common)


def _independent_of_many(
    frame: ViewFrame, units: _Units, kind: str, own: list[np.ndarray], common: np.ndarray
) -> ViewFrame:
    """Likewise, of many dimensions: what depends on the prediction in other ways than linearly, in all alike."""
    t = np.mean(units.t, axis=0)
    if kind == "covariates":
        shift = shared_slopes(frame, t, common)
    else:
        shift = own_slopes(frame, t, np.concatenate(own, axis=1))
    if kind == "dependence":
        shift = shift + _fitted(frame, np.mean(t + shift, axis=1), common)[:, None]
    return _respread_by(_moved(frame, units, units.u + _share(frame, units.t, 1.0) * shift), common)


def _respread_by(frame: ViewFrame, common: np.ndarray) -> ViewFrame:
    """The frame with spreads that do not depend on functions (n, q), the same in all dimensions."""
    units = _near(frame)
    products = units.u * units.t
    share = np.mean(_share(frame, products + 1.0, 2.0))
    step = 0.5 * share * _fitted(frame, np.mean(products, axis=(0, 2)), common)
    return _moved(frame, units, units.u * np.exp(np.clip(step, -_LONGEST, _LONGEST))[:, None])


def _functions(frame: ViewFrame, kind: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Functions that biases may depend on, (n, q) for each dimension, and those that spreads may."""
    dims = range(frame.reference.shape[1])
    if kind == "covariates":
        columns = np.concatenate([to_numpy(each) for each in frame.covariates.values()], axis=1)
        if are_many(len(dims)):
            return [], columns
        return [columns for _ in dims], columns
    if kind == "serial":
        return [to_numpy(frame.errors_before)[:, [a]] for a in dims], to_numpy(frame.sizes_before)
    traits, curves, steps = (to_numpy(x) for x in (frame.traits, frame.curves, frame.directions["marginal"]))
    places = np.column_stack([to_numpy(frame.whitening.location), to_numpy(frame.whitening.log_spread)])
    if are_many(len(dims)):
        common = np.concatenate([traits, curves, np.sign(traits - np.median(traits, axis=0))], axis=1)
        return [steps], common
    common = np.concatenate([traits, curves, np.sign(places - np.median(places, axis=0))], axis=1)
    return [np.concatenate([steps[:, [a]], common], axis=1) for a in dims], common


def _fitted(frame: ViewFrame, values: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Regression (n,) of values (n,), about their mean, on those of the functions (n, q) that each tell of them."""
    kept = np.ones(len(values), dtype=bool) if frame.kept is None else to_numpy(frame.kept)[:, 0] > 0
    y, x = values - np.mean(values[kept]), functions - np.mean(functions[kept], axis=0)
    y, fitted = y[kept], x[kept]
    products = y[:, None] * fitted
    chosen = np.abs(np.sum(products, axis=0)) > _CLEAR * np.sqrt(np.sum(products**2, axis=0))
    return np.asarray(x[:, chosen] @ np.linalg.lstsq(fitted[:, chosen], y, rcond=None)[0])


def _uncorrelated(frame: ViewFrame) -> ViewFrame:
    """The frame with the claimed correlation, where whitened targets have E[s z'] = -I, and spreads as they are."""
    if are_many(frame.reference.shape[1]):
        return _moved(frame, _whole(frame), without_factors(frame))
    z, s = (_kept(frame, to_numpy(part).astype(np.float64)) for part in frame.whitened)
    products = s[:, :, None] * z[:, None, :]
    second = -np.mean(products, axis=0)
    size, axes = np.linalg.eigh(0.5 * (second + second.T))
    share = 1.0 if _is_linear(frame) else 1.0 / max(1.0, float(np.mean((products + np.eye(len(second))) ** 2)))
    root = (axes * np.maximum(size, _LEAST) ** (-0.5 * share)) @ axes.T
    turned = full_product(frame.whitened[0], like(root, frame.targets))
    whitening = frame.whitening
    other = to_numpy(whitening.forward_step(turned) / whitening.sd).astype(np.float64)
    units = _whole(frame)
    before, after = (np.mean(_kept(frame, u) ** 2, axis=0) for u in (units.u, other))
    return _moved(frame, units, other * np.sqrt(before / np.maximum(after, np.finfo(float).tiny)))


def _is_linear(frame: ViewFrame) -> bool:
    """Whether scores are those of Gaussians, or step as these do."""
    return isinstance(frame.predictions, Gaussian | Scores)


def _whole(frame: ViewFrame) -> _Units:
    u, t = (to_numpy(part).astype(np.float64) for part in frame.marginal)
    return _Units(frame.whitening.location, frame.whitening.sd, u, t)


def _near(frame: ViewFrame) -> _Units:
    """Targets in units of the likeliest component of a mixture, if these are modes, otherwise of the prediction."""
    mixture: Any = frame.predictions
    if not isinstance(mixture, GaussianMixture) or not separated(frame):
        return _whole(frame)
    likeliest = np.argmax(to_numpy(mixture.shares(frame.targets[0, ...])), axis=1)
    rows = np.arange(len(likeliest))
    location, sd = (like(to_numpy(part)[rows, likeliest], frame.targets) for part in (mixture.means, mixture.scales))
    u = to_numpy((frame.targets - location) / sd).astype(np.float64)
    return _Units(location, sd, u, -u)


def _kept(frame: ViewFrame, values: np.ndarray) -> np.ndarray:
    """Rows that count, of all draws of noise: (S, n, ...) as (S rows, ...)."""
    rows = values if frame.kept is None else values[:, to_numpy(frame.kept)[:, 0] > 0]
    return rows.reshape(-1, *values.shape[2:])


def _moved(frame: ViewFrame, units: _Units, u: np.ndarray) -> ViewFrame:
    """The frame of targets u in these units, with scores that step as those of a Gaussian.

    Models are asked once a round, for they may be slow, and where nothing moves any more their scores are their own.
    """
    targets = units.location + units.sd * like(u, frame.targets)
    return _at(frame, targets, frame.scores - frame.whitening.score_step(targets - frame.targets))


def _asked_anew(before: ViewFrame, frame: ViewFrame) -> ViewFrame:
    """The frame with scores of the predictions; targets at which they have none go back to where they were before."""
    if _is_linear(frame):
        return frame
    xp = array_namespace(frame.targets)
    scores = evaluate_score(frame.predictions, frame.targets, finite=False)
    known = xp.all(xp.isfinite(scores), axis=2, keepdims=True)
    return _at(frame, xp.where(known, frame.targets, before.targets), xp.where(known, scores, before.scores))


def _at(frame: ViewFrame, targets: Array, scores: Array) -> ViewFrame:
    """The frame of other targets and scores, of which the same rows count."""
    kept = vars(frame).get("kept")
    other = frame.redrawn(targets, scores)
    if kept is not None:
        vars(other)["kept"] = kept
    return other
