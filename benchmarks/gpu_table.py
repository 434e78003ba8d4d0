"""Parts of `benchmarks/gpu.py`: each public function on one GPU, with its time, its memory or its error."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch

import scorecal as sc

D, N_RESAMPLES = 5, 999
_FEW = 20_000  # predictions in a Gram matrix, which is n x n
Call = Callable[[], object]

_FIRST = """
import time
start = time.perf_counter()
import numpy, torch, scorecal as sc
imported = time.perf_counter()
draw = torch.Generator({device!r}).manual_seed(0)
mean, noise = (torch.randn(({n}, {d}), generator=draw, device={device!r}) for _ in range(2))
predictions, y = sc.Gaussian(mean, torch.ones({n}, device={device!r})), mean + noise
float((mean + noise).sum())
ready = time.perf_counter()
{call}
first = time.perf_counter()
{call}
print(*(f"{{each:.2f}}" for each in (imported - start, ready - imported, first - ready, time.perf_counter() - first)))
"""


def data(n: int, device: str, dtype: torch.dtype = torch.float32) -> tuple[sc.Gaussian, torch.Tensor]:
    draw = torch.Generator(device).manual_seed(0)
    mean, noise = (torch.randn((n, D), generator=draw, dtype=torch.float32, device=device) for _ in range(2))
    return sc.Gaussian(mean.to(dtype), torch.ones(n, dtype=dtype, device=device)), (mean + noise).to(dtype)


def synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Raise in the main thread when time is over."""

    def over(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def timed(call: Call, device: str, repeats: int, limit: int) -> tuple[str, str]:
    """Best time of several calls, or the error, and the peak of memory beyond what was there before."""
    found: list[float] = []
    held = 0
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    try:
        with _at_most(limit):
            for _ in range(1 + repeats):
                synchronise(device)
                start = time.perf_counter()
                call()
                synchronise(device)
                found.append(time.perf_counter() - start)
                if found[0] > limit / (1 + repeats):
                    break
    except Exception as error:  # what fails is a line of the table
        if not found:
            return f"{type(error).__name__}: {str(error)[:90]}".replace("|", "/").replace("\n", " "), "-"
    peak = (torch.cuda.max_memory_allocated() - held) / 1e9 if device == "cuda" else float("nan")
    return f"{min(found):.3f}", f"{peak:.2f}"


def table(calls: Mapping[str, Call], device: str, repeats: int, limit: int) -> None:
    print("| | time [s] | peak memory [GB] |\n|---|---|---|")
    for name, call in calls.items():
        print(f"| {name} | {' | '.join(timed(call, device, repeats, limit))} |", flush=True)
    print()


def tests(n: int, device: str, repeats: int, limit: int) -> None:
    """The tests that the project promises times for."""
    predictions, y = data(n, device)
    options = {"n_resamples": N_RESAMPLES, "rng": 0}
    print(f"n = {n}, d = {D}, B = {N_RESAMPLES}, float32; memory is beyond that of the data\n")
    table(
        {
            "kccsd_test": lambda: sc.kccsd_test(predictions, y, **options),
            "kccsd_test, 10 base points": lambda: sc.kccsd_test(
                predictions, y, distribution_kernel=sc.kernels.GFD(n_base=10), **options
            ),
            "kccsd_test, IMQ": lambda: sc.kccsd_test(predictions, y, target_kernel=sc.kernels.IMQ(), **options),
            **{
                f"kccsd_test, {name}": lambda name=name: sc.kccsd_test(predictions, y, estimator=name, **options)
                for name in ("low-rank", "incomplete", "block", "linear")
            },
            "calibration_test, complete": lambda: sc.calibration_test(predictions, y, estimator="complete", **options),
            "calibration_test (low-rank)": lambda: sc.calibration_test(predictions, y, **options),
            "diagnose": lambda: sc.diagnose(predictions, y, **options),
            "expected_coverage": lambda: sc.expected_coverage(predictions, y),
        },
        device,
        repeats,
        limit,
    )


def large(n: int, device: str, limit: int) -> None:
    predictions, y = data(n, device)
    options = {"n_resamples": N_RESAMPLES, "rng": 0}
    print(f"n = {n}, d = {D}, B = {N_RESAMPLES}, float32, low-rank, once after a call with fewer rows\n")
    few, few_y = data(20_000, device)
    sc.calibration_test(few, few_y, estimator="low-rank", **options)
    calls: dict[str, Call] = {
        "kccsd_test": lambda: sc.kccsd_test(predictions, y, estimator="low-rank", **options),
        "kccsd_test, 10 base points": lambda: sc.kccsd_test(
            predictions, y, estimator="low-rank", distribution_kernel=sc.kernels.GFD(n_base=10), **options
        ),
        "calibration_test": lambda: sc.calibration_test(predictions, y, **options),
    }
    table(calls, device, 0, limit)


def first(n: int, device: str) -> None:
    """Each in a process of its own: seconds of imports, of the data, of the first call and of the second."""
    print(f"First call in a fresh process, n = {n}\n")
    print("| | imports [s] | data | first call | second call |\n|---|---|---|---|---|")
    for call in (
        "kccsd_test(predictions, y, rng=0)",
        "calibration_test(predictions, y, rng=0)",
        "diagnose(predictions, y)",
    ):
        program = _FIRST.format(n=n, d=D, device=device, call=f"sc.{call}")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        found = done.stdout.split() or [done.stderr.strip().splitlines()[-1]]
        print(f"| {call} | {' | '.join(found)} |", flush=True)
    print()


def every(n: int, device: str, limit: int) -> None:
    """Every public function and kernel, once."""
    predictions, y = data(n, device)
    options = {"n_resamples": 199, "rng": 0}
    kernels, cheap = sc.kernels, {"estimator": "low-rank", **options}
    other = sc.Gaussian(predictions.mean + 0.1, torch.ones((n, 1), device=device)[:, 0])
    mixture = sc.GaussianMixture(
        torch.full((n, 2), 0.5, device=device),
        torch.stack([predictions.mean, predictions.mean + 3.0], 1),
        torch.ones((n, 2), device=device),
    )
    few = sc.Gaussian(predictions.mean[:_FEW, :], 1.0)
    covariance = torch.eye(D, device=device).repeat(n, 1, 1)
    logits = torch.randn((n, 10), device=device)
    classes = sc.Categorical(torch.softmax(logits, 1))
    labels = torch.multinomial(torch.softmax(logits, 1), 1)[:, 0]
    between = {
        "GFD(n_base=10)": kernels.GFD(n_base=10),
        "GFD(outer='imq')": kernels.GFD(outer="imq"),
        "KGFD": kernels.KGFD(),
        "MMD": kernels.MMD(),
        "MMD(n_samples=4)": kernels.MMD(n_samples=4),
        "Wasserstein": kernels.Wasserstein(),
        "Constant": kernels.Constant(),
    }
    calls: dict[str, Call] = {
        "kccsd": lambda: sc.kccsd(predictions, y),
        "kccsd_test": lambda: sc.kccsd_test(predictions, y, **options),
        **{
            f"kccsd_test, low-rank, {name}": lambda kernel=kernel: sc.kccsd_test(
                predictions, y, distribution_kernel=kernel, **cheap
            )
            for name, kernel in between.items()
        },
        "kccsd_test, low-rank, IMQ": lambda: sc.kccsd_test(predictions, y, target_kernel=kernels.IMQ(), **cheap),
        "kccsd_test, Linear": lambda: sc.kccsd_test(predictions, y, target_kernel=kernels.Linear(), **cheap),
        "kcsd": lambda: sc.kcsd(predictions, y, predictions.mean),
        "kcsd_test": lambda: sc.kcsd_test(predictions, y, predictions.mean, **options),
        "ksd_test": lambda: sc.ksd_test(sc.Gaussian(0.0 * predictions.mean[:1, :], 1.4), y, **options),
        "skce_test, low-rank": lambda: sc.skce_test(predictions, y, **cheap),
        "skce_test, incomplete": lambda: sc.skce_test(predictions, y, estimator="incomplete", **options),
        "skce_test, linear": lambda: sc.skce_test(predictions, y, estimator="linear", **options),
        "calibration_test": lambda: sc.calibration_test(predictions, y, **options),
        "calibration_test, full covariances": lambda: sc.calibration_test(
            sc.Gaussian(predictions.mean, covariance=covariance), y, **options
        ),
        "calibration_test, mixtures": lambda: sc.calibration_test(mixture, y, **options),
        "calibration_test, classes": lambda: sc.calibration_test(classes, labels, **options),
        "calibration_test, groups": lambda: sc.calibration_test(predictions, y, groups=np.arange(n) // 10, **options),
        "calibration_test, horizon=2": lambda: sc.calibration_test(predictions, y, horizon=2, **options),
        "diagnose": lambda: sc.diagnose(predictions, y, **options),
        "expected_coverage": lambda: sc.expected_coverage(predictions, y),
        "gfd, paired": lambda: sc.gfd(predictions, other, paired=True),
        "kgfd, paired": lambda: sc.kgfd(predictions, other, ground=kernels.Gaussian(1.0), paired=True),
        "mmd, paired": lambda: sc.mmd(predictions, other, ground=kernels.Gaussian(1.0), paired=True),
        "wasserstein, paired": lambda: sc.wasserstein(predictions, other, paired=True),
        "fisher_divergence, paired": lambda: sc.fisher_divergence(predictions, other, paired=True),
        f"gram_matrix, {_FEW} x {_FEW}": lambda: sc.gram_matrix(kernels.GFD(), few),
        "kccsd, with derivatives, 3000 rows": lambda: _derivatives(predictions, y),
    }
    print(f"Every public function, n = {n}, d = {D}, B = 199, float32, at most {limit} s each\n")
    table(calls, device, 0, limit)


def _derivatives(predictions: sc.Gaussian, y: torch.Tensor) -> None:
    mean = predictions.mean[:3000, :].clone().requires_grad_()
    sc.kccsd(sc.Gaussian(mean, 1.0), y[:3000, :]).backward()
