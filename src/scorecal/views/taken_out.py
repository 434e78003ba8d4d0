"""Targets from which flaws of the predictions are taken out, so that views can be asked what else is wrong.

In units of its own prediction, u, each target is moved to (u - b) / c. As in maximum likelihood, b and c are such that
scores t have mean zero, E[t x] = 0, and spreads are as claimed, E[(u t + 1) x] = 0: x is 1 for a bias and a wrong
spread, and otherwise what they depend on. What a view no longer sees was explained by these flaws.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._lib.arrays import Array, array_namespace, full_product, like, to_numpy
from .._lib.linalg import times
from ..predictions import Scores, evaluate_score
from .frame import ViewFrame

_ROUNDS = 5  # of Fisher scoring: one is enough where predictions are Gaussian, but for regressions of spreads
_LEAST = 0.05  # of the second moment in terms of what is claimed: a step goes no further
_ROWS_A_FUNCTION = 5


def without(frame: ViewFrame, kinds: Sequence[str], far: np.ndarray | None) -> ViewFrame:
    """Return the frame of targets without the flaws of these kinds, as far as it is known how to take them out."""
    if far is not None and "outliers" in kinds:
        frame = _without_rows(frame, far)
    for _ in range(_ROUNDS):
        for kind in kinds:
            if kind == "correlation":
                frame = _uncorrelated(frame)
            elif kind == "bias":
                frame = _moved(frame, _marginal(frame)[0] + np.mean(_kept(frame, _marginal(frame)[1]), axis=0))
            elif kind.endswith("confidence"):
                frame = _respread(frame)
            elif kind in ("dependence", "covariates", "serial"):
                frame = _independent(frame, kind)
    return frame


def _without_rows(frame: ViewFrame, far: np.ndarray) -> ViewFrame:
    """The frame with rows left out, as those are whose predictions have no spread."""
    other = replace(frame)
    kept = ~(far | frame.whitening.unfitted)
    vars(other).update({"whitening": frame.whitening, "kept": like(kept[:, None], frame.targets)})
    return other


def _respread(frame: ViewFrame) -> ViewFrame:
    u, t = _marginal(frame)
    return _moved(frame, u * np.exp(_log_step(np.mean(_kept(frame, u * t), axis=0))))


def _independent(frame: ViewFrame, kind: str) -> ViewFrame:
    """The frame with biases and spreads that do not depend on the prediction, on covariates or on errors before."""
    u, t = _marginal(frame)
    dim = u.shape[2]
    own, common = _functions(frame, kind)
    shift = np.stack([_fitted(frame, t[..., a], own[a]) for a in range(dim)], axis=1)
    frame = _moved(frame, u + shift - np.mean(_kept(frame, shift[None]), axis=0))
    u, t = _marginal(frame)
    step = _log_step(_fitted(frame, np.mean(u * t, axis=2), common))
    return _moved(frame, u * np.exp(step - np.mean(step))[:, None])


def _functions(frame: ViewFrame, kind: str) -> tuple[list[np.ndarray], np.ndarray]:
    """What biases may depend on, (n, q) for each dimension, and what spreads may."""
    dims = range(frame.reference.shape[1])
    if kind == "covariates":
        columns = np.concatenate([to_numpy(each) for each in frame.covariates.values()], axis=1)
        return [columns for _ in dims], columns
    if kind == "serial":
        return [to_numpy(frame.errors_before)[:, [a]] for a in dims], to_numpy(frame.sizes_before)
    traits, curves, steps = (to_numpy(x) for x in (frame.traits, frame.curves, frame.directions["marginal"]))
    by_dim = to_numpy(frame.curves_of_locations)
    own = [np.concatenate([steps[:, [a]], traits, *by_dim[:, a : a + 1, :].swapaxes(0, 1)], axis=1) for a in dims]
    return own, np.concatenate([traits, curves], axis=1)


def _fitted(frame: ViewFrame, values: np.ndarray, functions: np.ndarray) -> np.ndarray:
    """Regression of the mean of values (S, n) on functions (n, q) and a constant, (n,)."""
    design = np.concatenate([np.ones((len(functions), 1)), functions], axis=1)
    kept = np.ones(len(design), dtype=bool) if frame.kept is None else to_numpy(frame.kept)[:, 0] > 0
    if np.sum(kept) < _ROWS_A_FUNCTION * design.shape[1]:
        design = design[:, :1]
    found = np.linalg.lstsq(design[kept], np.mean(values, axis=0)[kept], rcond=None)[0]
    return np.asarray(design @ found)


def _log_step(second: np.ndarray) -> np.ndarray:
    """Logarithm of the factor of u for second moments E[u t], which should be -1."""
    return np.asarray(-0.5 * np.log(np.maximum(-second, _LEAST)))


def _uncorrelated(frame: ViewFrame) -> ViewFrame:
    """The frame with the claimed correlation, where whitened targets have E[s z'] = -I, and spreads as they are."""
    z, s = (_kept(frame, to_numpy(part).astype(np.float64)) for part in frame.whitened)
    second = -np.mean(s[:, :, None] * z[:, None, :], axis=0)
    size, axes = np.linalg.eigh(0.5 * (second + second.T))
    root = (axes / np.sqrt(np.maximum(size, _LEAST))) @ axes.T
    turned = full_product(frame.whitened[0], like(root, frame.targets))
    whitening = frame.whitening
    steps = full_product(times(whitening.root, turned), whitening.frame.root.mT)
    other = to_numpy(steps / whitening.sd).astype(np.float64)
    before, after = (np.mean(_kept(frame, u) ** 2, axis=0) for u in (_marginal(frame)[0], other))
    return _moved(frame, other * np.sqrt(before / np.maximum(after, np.finfo(float).tiny)))


def _marginal(frame: ViewFrame) -> tuple[np.ndarray, np.ndarray]:
    u, t = (to_numpy(part).astype(np.float64) for part in frame.marginal)
    return u, t


def _kept(frame: ViewFrame, values: np.ndarray) -> np.ndarray:
    """Rows that count, of all draws of noise: (S, n, ...) as (S rows, ...)."""
    rows = values if frame.kept is None else values[:, to_numpy(frame.kept)[:, 0] > 0]
    return rows.reshape(-1, *values.shape[2:])


def _moved(frame: ViewFrame, u: np.ndarray) -> ViewFrame:
    """The frame of targets u, in units of single dimensions; scores that cannot be asked for step as a Gaussian's."""
    xp, whitening = array_namespace(frame.targets), frame.whitening
    targets = whitening.location + whitening.sd * like(u, frame.targets)
    scores: Array
    if isinstance(frame.predictions, Scores):
        step = xp.linalg.solve(whitening.covariance, (targets - frame.targets)[..., None])[..., 0]
        scores = frame.scores - step
    else:
        scores = evaluate_score(frame.predictions, targets, finite=False)
        known = xp.all(xp.isfinite(scores), axis=2, keepdims=True)
        targets, scores = xp.where(known, targets, frame.targets), xp.where(known, scores, frame.scores)
    kept = vars(frame).get("kept")
    other = frame.redrawn(targets, scores)
    if kept is not None:
        vars(other)["kept"] = kept
    return other
