"""Level and power of the test of predictions of classes, beside peers.

    python benchmarks/classes.py [--repeats 2000] [--power-repeats 200]

Labels are drawn from the softmax of normal logits, or row by row, with logits that follow the labels before.
Predictions are these probabilities, or those of logits that are multiplied, shifted for one class, or wrong in part.
Peers are a bootstrap of the expected calibration error (labels drawn from the predictions, 15 bins of equal width) and
`skce_test`.
Each cell is kept in results/classes.json as it comes, and an interrupted run goes on where it was; then all of them are
written to results/classes.md.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import scorecal as sc
from scorecal._lib.files import write_whole

RESULTS = Path(__file__).parent / "results" / "classes.md"
CLASSES, ROWS = (2, 5, 10), (50, 200)
LEVEL_DRAWS, DRAWS, BINS = 199, 999, 15
Flaw = Callable[[np.ndarray, np.random.Generator], np.ndarray]
Made = tuple[np.ndarray, np.ndarray]  # calibrated probabilities, and labels


def softmax(logits: np.ndarray) -> np.ndarray:
    parts = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    return parts / np.sum(parts, axis=-1, keepdims=True)


def labels_of(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return sc.Categorical(p).sample(1, rng)[0]


def independent(n: int, n_classes: int, rng: np.random.Generator) -> Made:
    p = softmax(1.5 * rng.normal(size=(n, n_classes)))
    return p, labels_of(p, rng)


def series(n: int, n_classes: int, rng: np.random.Generator, keep: float, gain: float, noise: float) -> Made:
    """Logits that keep a part of what they were, and are moved by the label before and by noise."""
    logits, p, y = np.zeros(n_classes), np.empty((n, n_classes)), np.empty(n, dtype=int)
    for t in range(n):
        p[t] = softmax(logits)
        y[t] = np.searchsorted(np.cumsum(p[t])[:-1], rng.random(), side="right")
        surprise = (np.arange(n_classes) == y[t]) - p[t]
        logits = keep * logits + gain * surprise + noise * rng.normal(size=n_classes)
    return p, y


def chain(n: int, n_classes: int, rng: np.random.Generator) -> Made:
    """A Markov chain that stays where it is with probability .6, or is drawn anew."""
    p, y = np.empty((n, n_classes)), np.zeros(n + 1, dtype=int)
    for t in range(n):
        p[t] = 0.6 * (np.arange(n_classes) == y[t]) + 0.4 / n_classes
        y[t + 1] = np.searchsorted(np.cumsum(p[t])[:-1], rng.random(), side="right")
    return p, y[1:]


SERIES: dict[str, Callable[[int, int, np.random.Generator], Made]] = {
    "logits follow labels, and forget": lambda n, k, rng: series(n, k, rng, 0.9, 1.0, 0.3),
    "Markov chain": chain,
    "logits learn from every error, and forget none": lambda n, k, rng: series(n, k, rng, 1.0, 0.7, 0.0),
}


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


class Cells:
    """What was found, by the names of cells, kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def __call__(self, name: str, find: Callable[[], Any]) -> Any:
        if name not in self.known:
            self.known[name] = find()
            write_whole(self.path, json.dumps(self.known, indent=0) + "\n")
        return self.known[name]


def rejected(make: Callable, n: int, n_classes: int, repeats: int, **arguments: Any) -> list[float]:
    """Shares of calibrated data sets that are rejected at 5 % and at 1 %."""
    rng, found = np.random.default_rng([n_classes, n]), []
    for _ in range(repeats):
        p, y = make(n, n_classes, rng)
        result = sc.calibration_test(sc.Categorical(p), y, n_resamples=LEVEL_DRAWS, rng=rng, **arguments)
        found.append(result.pvalue)
    return [float(np.mean(np.array(found) <= level)) for level in (0.05, 0.01)]


def level_table(cells: Cells, repeats: int) -> list[str]:
    lines = ["| rows | classes | n | rejected at 5 % | at 1 % |", "|---|---|---|---|---|"]
    cases = [("independent", independent, {}), *((name, make, {"horizon": 1}) for name, make in SERIES.items())]
    for name, make, arguments in cases:
        for n_classes in CLASSES:
            for n in ROWS:
                key = f"level, {name}, {n_classes} classes, n = {n}, {repeats} data sets"
                at_5, at_1 = cells(
                    key,
                    lambda make=make, n=n, k=n_classes, more=arguments: rejected(make, n, k, repeats, **more),
                )
                lines.append(f"| {name} | {n_classes} | {n} | {at_5:.3f} | {at_1:.3f} |")
                print(lines[-1], flush=True)
    return lines


def power(flaw: Flaw, sd: float, n: int, n_classes: int, repeats: int) -> list[Any]:
    """Shares of data sets that are rejected by `calibration_test`, by the ECE and by `skce_test`; first words."""
    rng = np.random.default_rng([7, round(10 * sd)])
    found, words = np.zeros((repeats, 3)), []
    for k in range(repeats):
        logits = sd * rng.normal(size=(n, n_classes))
        y, p = labels_of(softmax(logits), rng), softmax(flaw(logits, rng))
        result = sc.calibration_test(sc.Categorical(p), y, rng=rng)
        words += result.seen[:1]
        skce = sc.skce_test(sc.Categorical(p), y, n_resamples=199, rng=rng).pvalue
        found[k] = np.array([result.pvalue, ece_pvalue(p, y, rng), skce]) <= 0.05
    word = max(set(words), key=words.count)
    return [*np.mean(found, axis=0).tolist(), word, words.count(word) / len(words)]


def power_table(cells: Cells, repeats: int, n: int = 500, n_classes: int = 10) -> list[str]:
    lines = [
        "| flaw | sd of logits | calibration_test | first word | ECE bootstrap | skce_test |",
        "|---|---|---|---|---|---|",
    ]
    cases = [(name, flaw, sd) for name, flaw in FLAWS.items() for sd in ((1.0, 1.5, 2.5) if "1.3" in name else (1.5,))]
    for name, flaw, sd in cases:
        key = f"power, {name}, sd {sd:g}, {n_classes} classes, n = {n}, {repeats} data sets"
        ours, by_ece, by_skce, word, share = cells(key, lambda flaw=flaw, sd=sd: power(flaw, sd, n, n_classes, repeats))
        lines.append(f"| {name} | {sd:g} | {ours:.2f} | {word} ({share:.0%}) | {by_ece:.2f} | {by_skce:.2f} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--power-repeats", type=int, default=200)
    options = parser.parse_args()
    cells = Cells(RESULTS.with_suffix(".json"))
    level, found = level_table(cells, options.repeats), power_table(cells, options.power_repeats)
    text = [
        "# Predictions of classes\n",
        f"`python benchmarks/classes.py --repeats {options.repeats} --power-repeats {options.power_repeats}`\n",
        f"Level: calibrated predictions, {options.repeats} data sets each, {LEVEL_DRAWS} draws, default null. "
        "Independent rows: softmax of N(0, 1.5^2) logits. Others: `horizon=1`, and labels drawn row by row.\n",
        *level,
        "\nLogits that add up all errors and forget none never settle: late predictions tell what the errors were, so "
        "that errors given the predictions are not what draws from these are. The level is then only roughly right.",
        f"\nPower at the 5 % level: ten classes, n = 500, {options.power_repeats} data sets each. The ECE bootstrap "
        "has 15 bins and draws labels from the predictions; `skce_test` has its defaults.\n",
        *found,
    ]
    write_whole(RESULTS, "\n".join(text) + "\n")


if __name__ == "__main__":
    main()
