"""Tests as values, which turn a data set into a p-value."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..._inference import infer_all
from ..._lib.arrays import array_namespace
from ...kernels import DistributionKernel, Gaussian, Radial
from ...pairwise import ProductOfPairs
from ...predictions import MALA, check_predictions
from ...resampling import ComputeOptions, RandomSigns
from .dataset import DataSet

_TILE = 384


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
    __test__: ClassVar[bool] = False  # pytest would take it for a test class


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
    """The test of `skce_test`, likewise. Warnings of chains that have not mixed are ignored: they may be studied."""

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


AnyTest = Test | KCCSD | SKCE


def pvalues(tests: Sequence[AnyTest], data: DataSet, n_resamples: int) -> dict[str, float]:
    """P-values by the name of the test; kernel tests share one pass over the pairs and one set of signs."""
    found = {test.name: _pvalue(test, data) for test in tests if isinstance(test, Test)}
    kernel_tests = [test for test in tests if not isinstance(test, Test)]
    if kernel_tests:
        check_predictions("predictions", data.predictions)
        dtype = data.targets.dtype
        if array_namespace(data.targets).finfo(dtype).bits < 64:
            raise TypeError(f"`draw` of a `Model` must return float64 data for kernel tests, not {dtype}.")
        functions = [test.pairs(data) for test in kernel_tests]
        # A tile that depended on the number of tests would change the last digits.
        none: list[dict[str, float]] = [{}] * len(functions)
        options = ComputeOptions(null=RandomSigns())
        results = infer_all(functions, data.targets, none, n_resamples, data.rng("signs"), options, _TILE)
        found |= {test.name: result.pvalue for test, (result, _) in zip(kernel_tests, results, strict=True)}
    return found


def _pvalue(test: Test, data: DataSet) -> float:
    outcome = test.function(data.predictions, data.targets, rng=data.rng(f"test {test.name}"))
    value = getattr(outcome, "pvalue", outcome)
    if isinstance(value, bool) or not isinstance(value, (float, int, np.floating)) or not 0.0 <= value <= 1.0:
        raise ValueError(
            f"`function` of `Test` {test.name!r} must return a p-value between 0 and 1, but gave {value!r}."
        )
    return float(value)
