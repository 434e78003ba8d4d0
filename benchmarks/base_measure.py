"""Which base measure for GFD: N(0, I) as in the paper, the prior, or a Gaussian matched to the predictions?

Posteriors of theta ~ N(offset, I) given x ~ N(theta, sd^2 I), d = 2, with an sd of its own for each x; exact, with an
error that depends on the mean, and with one that depends on the sd. Prints rejection rates at level .05.

    python benchmarks/base_measure.py --repetitions 400
"""

import argparse

import numpy as np

import scorecal as sc

OFFSETS = (0.0, 3.0, 30.0)
ERRORS = ("none", "of the mean: pulled by 30 %", "of the sd: bias .2 sd where it is small, -.2 sd where large")


def posteriors(n: int, offset: float, error: str, rng: np.random.Generator) -> tuple[sc.Gaussian, np.ndarray]:
    theta = rng.normal(size=(n, 2))
    sd = 0.7 * np.exp(0.4 * rng.normal(size=(n, 1)))
    x = theta + sd * rng.normal(size=(n, 2))
    gain = 1.0 / (1.0 + sd**2)
    mean, scale = gain * x, np.sqrt(1.0 - gain)
    if error == ERRORS[1]:
        mean = 0.7 * mean
    if error == ERRORS[2]:
        mean = mean + 0.2 * np.sign(0.7 - sd) * scale
    return sc.Gaussian(offset + mean, scale[:, 0]), offset + theta


def rates(n: int, offset: float, error: str, repetitions: int) -> dict[str, float]:
    prior = sc.Gaussian(np.full((1, 2), offset), 1.0)
    kernels = {"N(0, I)": sc.kernels.GFD(), "prior": sc.kernels.GFD(prior), "match": sc.kernels.GFD("match")}
    rejections = dict.fromkeys(kernels, 0)
    for repetition in range(repetitions):
        predictions, y = posteriors(n, offset, error, np.random.default_rng(repetition))
        for name, kernel in kernels.items():
            result = sc.kccsd_test(predictions, y, distribution_kernel=kernel, n_resamples=199, rng=repetition)
            rejections[name] += result.rejects()
    return {name: count / repetitions for name, count in rejections.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--n", type=int, default=200)
    options = parser.parse_args()
    print("| error | offset | N(0, I) | prior | match |\n|---|---|---|---|---|")
    for error in ERRORS:
        for offset in OFFSETS:
            found = rates(options.n, offset, error, options.repetitions)
            print(
                f"| {error} | {offset:g} | " + " | ".join(f"{rate:.3f}" for rate in found.values()) + " |", flush=True
            )


if __name__ == "__main__":
    main()
