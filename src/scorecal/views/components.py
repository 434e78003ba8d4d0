"""Targets in units of the components of mixtures, and whether components are modes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._lib.arrays import Array, array_namespace, to_numpy
from ..predictions import GaussianMixture

if TYPE_CHECKING:
    from .frame import ViewFrame

_APART = 0.9  # mean probability of a component at its own mean: two of unit spread have it at a distance of 2.1


def in_components(mixture: Any, targets: Array) -> tuple[Array, Array, Array]:
    """Return targets (S, n, d) in units of each of the K Gaussians, scores (S, K, n, d), and shares (S, K, n, 1).

    Features averaged by the shares r_k are those of one test function, the sum of r_k scale_k phi(z_k).
    """
    xp = array_namespace(targets)
    z = (targets[:, :, None, :] - mixture.means) / mixture.scales
    z, shares = (xp.permute_dims(each, (0, 2, 1, 3)) for each in (z, mixture.shares(targets)[..., None]))
    return z, -z, shares


def separated(frame: ViewFrame) -> bool:
    """Return whether components are modes; that of other predictions than mixtures is not known, and taken for so."""
    mixture = frame.predictions
    if not isinstance(mixture, GaussianMixture):
        return True
    n_components = mixture.weights.shape[1]
    own = [to_numpy(mixture.shares(mixture.means[:, k, :]))[:, k] for k in range(n_components)]
    weights = to_numpy(mixture.weights)
    return bool(np.sum(weights * np.stack(own, axis=1)) > _APART * np.sum(weights))
