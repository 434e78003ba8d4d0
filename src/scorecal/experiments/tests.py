"""Tests as values, which turn a data set into a p-value."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernels import DistributionKernel, Gaussian, Radial
from ..predictions import MALA
from ..resampling import draw_signs, u_statistics
from ..results import calibration_result
from ..statistics import ProductOfPairs
from .dataset import DataSet

__all__ = ["KCCSD", "SKCE", "Test", "pvalues"]


@dataclass(frozen=True)
class Test:
    """Any test: `function(predictions, y, rng=...)` returns a p-value, or a result that has a `pvalue`.

    Examples
    --------
    >>> import scorecal as sc
    >>> test = sc.experiments.Test("KCCSD, 99 draws", lambda p, y, rng: sc.kccsd_test(p, y, n_resamples=99, rng=rng))
    """

    name: str
    function: Callable[..., Any]


@dataclass(frozen=True)
class KCCSD:
    """The test of `kccsd_test`, in a form that shares its kernels with other tests of a data set."""

    name: str
    distribution_kernel: DistributionKernel
    target_kernel: Radial = field(default_factory=Gaussian)

    def pairs(self, data: DataSet) -> ProductOfPairs:
        return ProductOfPairs((data.gram(self.distribution_kernel), data.stein(self.target_kernel)))


@dataclass(frozen=True)
class SKCE:
    """The test of `skce_test`, likewise. Nothing is said of chains that have not mixed: that may be what is studied."""

    name: str
    distribution_kernel: DistributionKernel
    target_kernel: Radial = field(default_factory=Gaussian)
    n_samples: int | None = None
    sampler: MALA | None = None

    def pairs(self, data: DataSet) -> ProductOfPairs:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*MALA chains")
            surprise = data.surprise(self.target_kernel, self.n_samples, self.sampler)
        return ProductOfPairs((data.gram(self.distribution_kernel), surprise))


def pvalues(tests: Sequence[Test | KCCSD | SKCE], data: DataSet, n_resamples: int) -> dict[str, float]:
    """The p-value of each test, by its name; kernel tests share one pass over the pairs and one set of signs."""
    found = {test.name: _pvalue(test, data) for test in tests if isinstance(test, Test)}
    kernel_tests = [test for test in tests if not isinstance(test, Test)]
    if kernel_tests:
        signs = draw_signs(data.predictions.n, n_resamples, data.rng("signs"))
        totals = u_statistics([test.pairs(data) for test in kernel_tests], data.targets, signs)
        precision = float(np.finfo(data.targets.dtype).eps)
        null = np.asarray(totals.null)
        for v, test in enumerate(kernel_tests):
            result = calibration_result(float(totals.statistic[v]), null[v], totals.contributions[v], {}, precision)
            found[test.name] = result.pvalue
    return found


def _pvalue(test: Test, data: DataSet) -> float:
    outcome = test.function(data.predictions, data.targets, rng=data.rng(f"test {test.name}"))
    value = getattr(outcome, "pvalue", outcome)
    if not isinstance(value, (float, int, np.floating)) or not 0.0 <= value <= 1.0 or math.isnan(value):
        raise ValueError(
            f"`function` of `Test` {test.name!r} must return a p-value between 0 and 1, but gave {value!r}."
        )
    return float(value)
