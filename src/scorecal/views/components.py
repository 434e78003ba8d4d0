"""Whether the components of mixtures are modes of their own."""

import numpy as np

from .._lib.arrays import to_numpy
from ..predictions import GaussianMixture
from .frame import ViewFrame

_APART = 0.9  # mean probability of a component at its own mean: two of unit spread have it at a distance of 2.1


def separated(frame: ViewFrame) -> bool:
    """Return whether components are modes; that of other predictions than mixtures is not known, and taken for so."""
    mixture = frame.predictions
    if not isinstance(mixture, GaussianMixture):
        return True
    n_components = mixture.weights.shape[1]
    own = [to_numpy(mixture.shares(mixture.means[:, k, :]))[:, k] for k in range(n_components)]
    weights = to_numpy(mixture.weights)
    return bool(np.sum(weights * np.stack(own, axis=1)) > _APART * np.sum(weights))
