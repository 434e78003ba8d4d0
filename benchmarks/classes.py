"""Level and power of the test of predictions of classes, beside peers.

    python benchmarks/classes.py [--repeats 2000] [--power-repeats 200]

Labels are drawn from the softmax of normal logits; predictions are these probabilities, or those of logits that are
multiplied, shifted for one class, or wrong in part. Peers are a bootstrap of the expected calibration error (labels
drawn from the predictions, 15 bins of equal width) and `skce_test`. Writes results/classes.md.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import scorecal as sc
from scorecal._lib.files import write_whole

RESULTS = Path(__file__).parent / "results" / "classes.md"
CLASSES, ROWS = (2, 5, 10), (50, 200)
LEVEL_DRAWS, DRAWS, BINS = 199, 999, 15
Flaw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def softmax(logits: np.ndarray) -> np.ndarray:
    parts = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    return parts / np.sum(parts, axis=1, keepdims=True)


def labels_of(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return sc.Categorical(p).sample(1, rng)[0]


def shifted(logits: np.ndarray, size: float) -> np.ndarray:
    return logits + size * (np.arange(logits.shape[1]) == 0)


FLAWS: dict[str, Flaw] = {
    "logits x 1.3": lambda z, _: 1.3 * z,
    "logits x 0.75": lambda z, _: 0.75 * z,
    "one class, logit + .6": lambda z, _: shifted(z, 0.6),
    "x 1.6 where the first logit is above 0, x .7 elsewhere": lambda z, _: np.where(z[:, :1] > 0, 1.6, 0.7) * z,
    "one row in 50 all but rules out its class": lambda z, rng: np.where(rng.random((len(z), 1)) < 0.02, -8.0 * z, z),
}


def ece(confidence: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Expected calibration errors of m data sets, `right` (m, n), in bins of equal width."""
    places = np.minimum((confidence * BINS).astype(int), BINS - 1)
    member = (places[:, None] == np.arange(BINS)).astype(float)
    return np.sum(np.abs((right - confidence) @ member), axis=1) / len(confidence)


def ece_pvalue(p: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    top = np.argmax(p, axis=1)
    drawn = np.concatenate([y[None], sc.Categorical(p).sample(DRAWS, rng)])
    errors = ece(np.max(p, axis=1), (drawn == top) * 1.0)
    return float(np.mean(errors >= errors[0]))


def level_table(repeats: int) -> list[str]:
    lines = ["| classes | n | rejected at 5 % | at 1 % |", "|---|---|---|---|"]
    for n_classes in CLASSES:
        for n in ROWS:
            rng = np.random.default_rng([n_classes, n])
            found = []
            for _ in range(repeats):
                p = softmax(1.5 * rng.normal(size=(n, n_classes)))
                result = sc.calibration_test(sc.Categorical(p), labels_of(p, rng), n_resamples=LEVEL_DRAWS, rng=rng)
                found.append(result.pvalue)
            shares = [np.mean(np.array(found) <= level) for level in (0.05, 0.01)]
            lines.append(f"| {n_classes} | {n} | {shares[0]:.3f} | {shares[1]:.3f} |")
            print(lines[-1], flush=True)
    return lines


def power_table(repeats: int, n: int = 500, n_classes: int = 10) -> list[str]:
    lines = [
        "| flaw | sd of logits | calibration_test | first word | ECE bootstrap | skce_test |",
        "|---|---|---|---|---|---|",
    ]
    cases = [(name, flaw, sd) for name, flaw in FLAWS.items() for sd in ((1.0, 1.5, 2.5) if "1.3" in name else (1.5,))]
    for name, flaw, sd in cases:
        rng = np.random.default_rng([7, round(10 * sd)])
        rejected, words = np.zeros((repeats, 3)), []
        for k in range(repeats):
            logits = sd * rng.normal(size=(n, n_classes))
            y, p = labels_of(softmax(logits), rng), softmax(flaw(logits, rng))
            result = sc.calibration_test(sc.Categorical(p), y, rng=rng)
            words += result.seen[:1]
            skce = sc.skce_test(sc.Categorical(p), y, n_resamples=199, rng=rng).pvalue
            rejected[k] = np.array([result.pvalue, ece_pvalue(p, y, rng), skce]) <= 0.05
        word = max(set(words), key=words.count)
        ours, by_ece, by_skce = np.mean(rejected, axis=0)
        share = words.count(word) / len(words)
        lines.append(f"| {name} | {sd:g} | {ours:.2f} | {word} ({share:.0%}) | {by_ece:.2f} | {by_skce:.2f} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--power-repeats", type=int, default=200)
    options = parser.parse_args()
    level, power = level_table(options.repeats), power_table(options.power_repeats)
    text = [
        "# Predictions of classes\n",
        f"`python benchmarks/classes.py --repeats {options.repeats} --power-repeats {options.power_repeats}`\n",
        f"Level: calibrated predictions, softmax of N(0, 1.5^2) logits, {options.repeats} data sets each, "
        f"{LEVEL_DRAWS} draws, default null.\n",
        *level,
        f"\nPower at the 5 % level: ten classes, n = 500, {options.power_repeats} data sets each. The ECE bootstrap "
        "has 15 bins and draws labels from the predictions; `skce_test` has its defaults.\n",
        *power,
    ]
    write_whole(RESULTS, "\n".join(text) + "\n")


if __name__ == "__main__":
    main()
