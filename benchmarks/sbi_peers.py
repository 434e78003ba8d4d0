"""The KCCSD test beside what users of sbi run today: SBC, expected coverage, TARP and L-C2ST, on the same posteriors.

Every data set has 200 pairs of parameters and simulations; tests that need draws get 100 for each simulation.

    python benchmarks/sbi_peers.py rates --repetitions 200 --level 1000 --moons 30 --lc2st 3
    python benchmarks/sbi_peers.py times

`rates` writes each p-value to results/sbi_peers.csv as it comes, and goes on where it was. Both write their tables to
results/sbi_peers.md.
"""

import argparse
import csv
import logging
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from sbi.diagnostics import check_tarp, run_sbc, run_tarp
from sbi.diagnostics.lc2st import LC2ST
from sbi.diagnostics.sbc import check_uniformity_frequentist
from sbi.diagnostics.tarp import get_tarp_references
from sbi.utils.metrics import l2
from sbi_cases import BOX, ERRORS, LINEAR, MOONS, N_PAIRS, TRAINED, Case, gaussian_case, pairs, trained_case
from scipy.stats import kstest
from tqdm import tqdm

import scorecal as sc
from scorecal._lib.files import write_whole
from scorecal.experiments.sweep.rates import LEVEL, wilson

RESULTS = Path(__file__).parent / "results"
FIELDS = ("case", "family", "error", "test", "repetition", "pvalue")
N_DRAWS = 100
DRAWS, NEW_X = 10**7, 2 * 10**7  # seeds of draws and of one more x start here
MCMC_X = (5, 20)  # so many x are sampled to extrapolate to all
SCORECAL, LOCAL = "scorecal", "L-C2ST"
TESTS = (SCORECAL, "SBC", "expected coverage", "TARP", "TARP, KS of all", LOCAL)


class Draws:
    """What sbi's diagnostics take for a posterior: draws that are there already."""

    def __init__(self, draws):
        self.draws = draws

    def sample_batched(self, sample_shape, x, show_progress_bars=False):
        return self.draws


def scorecal(case, theta, x, seed):
    return sc.kccsd_test(sc.from_sbi(case.posterior, x), theta, rng=seed).pvalue


def sbc(draws, theta, x):
    """The KS p-values of `check_sbc`, without the classifiers that it trains besides; Bonferroni over dimensions."""
    ranks, _ = run_sbc(theta, x, Draws(draws), N_DRAWS, show_progress_bar=False)
    return min(1.0, theta.shape[1] * check_uniformity_frequentist(ranks, N_DRAWS).min().item())


def coverage(draws, theta, x, log_prob):
    """As in sbi's docs: SBC of the log-density, one x at a time."""
    ranks, _ = run_sbc(theta, x, Draws(draws), N_DRAWS, reduce_fns=log_prob, show_progress_bar=False)
    return check_uniformity_frequentist(ranks, N_DRAWS).item()


def coverage_at_once(draws, theta, x, posterior):
    """The same ranks from one call of the density, for `rates`."""
    values = posterior.log_prob_batched(torch.cat([theta[None], draws]), x, norm_posterior=False)
    return check_uniformity_frequentist((values[1:] < values[0]).sum(0)[:, None].float(), N_DRAWS).item()


def tarp(draws, theta, x, references=None):
    return float(check_tarp(*run_tarp(theta, x, Draws(draws), references, N_DRAWS, show_progress_bar=False))[1])


def tarp_of_all(draws, theta, references):
    """TARP's coverage values against the uniform; `check_tarp` compares the 21 points of its curve with their grid."""
    low, width = theta.min(0).values, theta.max(0).values - theta.min(0).values
    draws, theta, references = ((points - low) / width for points in (draws, theta, references))
    return float(kstest((l2(references, draws) < l2(references, theta)).float().mean(0).numpy(), "uniform").pvalue)


def lc2st(theta, x, one_draw, draws_at_new, x_new):
    test = LC2ST(theta, x, one_draw)
    test.train_on_observed_data(verbosity=0).train_under_null_hypothesis(verbosity=0)
    return test.p_value(draws_at_new, x_new)


def pvalues(case: Case, repetition: int, wanted: list[str]):
    """P-values of the wanted tests on one data set, as they come; all seeds follow from the repetition's number."""
    theta, x = pairs(case.problem, repetition)
    if SCORECAL in wanted:
        yield SCORECAL, scorecal(case, theta, x, repetition)
    if wanted == [SCORECAL]:
        return
    _, x_new = pairs(case.problem, NEW_X + repetition, n=1)  # L-C2ST must not be asked about an x that it learnt from
    torch.manual_seed(DRAWS + repetition)  # not the stream that made theta
    np.random.seed(repetition)  # noqa: NPY002 scikit-learn's classifiers draw from it
    draws = case.to_draw_from.sample_batched((N_DRAWS,), x=x, show_progress_bars=False)
    references = get_tarp_references(theta)
    peers = {
        "SBC": lambda: sbc(draws, theta, x),
        "expected coverage": lambda: coverage_at_once(draws, theta, x, case.to_draw_from),
        "TARP": lambda: tarp(draws, theta, x, references),
        "TARP, KS of all": lambda: tarp_of_all(draws, theta, references),
        LOCAL: lambda: lc2st(theta, x, draws[0], draw(case.to_draw_from, N_DRAWS, x_new)[:, 0], x_new),
    }
    for test, pvalue in peers.items():
        if test in wanted:
            yield test, pvalue()


def plan(options) -> list[tuple[tuple[str, str, str], int, list[str]]]:
    """Which tests on which data sets: L-C2ST on the first few of exact NPE only, draws of trained NLE never."""
    keys = [(problem, family, error) for problem in (LINEAR, BOX) for family in ("NPE", "NLE") for error in ERRORS]
    found = []
    for key in keys + [(MOONS, name, "as trained") for name in TRAINED]:
        repetitions = max(options.repetitions, options.level) if key[1:] == ("NPE", "none") else options.repetitions
        counts = dict.fromkeys(TESTS, options.moons if key[0] == MOONS else repetitions)
        counts[LOCAL] = options.lc2st if key[1] == "NPE" else 0
        if key[0] == MOONS and "NLE" in key[1]:
            counts = {SCORECAL: options.moons}
        for repetition in range(max(counts.values())):
            found.append((key, repetition, [test for test, count in counts.items() if repetition < count]))
    return found


def rates(options) -> str:
    path = RESULTS / "sbi_peers.csv"
    if not path.exists():
        write_whole(path, ",".join(FIELDS) + "\n")
    there = {tuple(row)[:5] for row in csv.reader(path.open())}
    todo = [
        (key, repetition, missing)
        for key, repetition, tests in plan(options)
        if (missing := [test for test in tests if (*key, test, str(repetition)) not in there])
    ]
    with path.open("a", newline="") as file:
        for key, repetition, missing in tqdm(todo, disable=None):
            case = trained_case(key[1]) if key[0] == MOONS else gaussian_case(*key)
            for test, pvalue in pvalues(case, repetition, missing):
                csv.writer(file, lineterminator="\n").writerow([*key, test, repetition, f"{pvalue:.6g}"])
                file.flush()
    return rates_table(list(csv.DictReader(path.open())))


def rates_table(rows: list[dict[str, str]]) -> str:
    """sbi rejects where p < .05; scorecal, whose p-values are never 0, where p <= .05."""
    counts: dict[tuple[str, ...], dict[str, list[bool]]] = {}
    for row in rows:
        rejects = float(row["pvalue"]) < LEVEL or (row["test"] == SCORECAL and float(row["pvalue"]) <= LEVEL)
        cell = counts.setdefault((row["case"], row["family"], row["error"]), {})
        cell.setdefault(row["test"], []).append(rejects)
    lines = [f"| case | posterior | error | {' | '.join(TESTS)} |", "|" + "---|" * (3 + len(TESTS))]
    order = [key for key, *_ in plan(argparse.Namespace(repetitions=1, level=1, moons=1, lc2st=0))]
    for key in sorted(counts, key=order.index):
        cells = [rate(counts[key].get(test, [])) for test in TESTS]
        lines.append(f"| {' | '.join(key)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def rate(rejections: list[bool]) -> str:
    if not rejections:
        return ""
    low, high = wilson(sum(rejections), len(rejections))
    return f"{sum(rejections) / len(rejections):.2f} [{low:.2f}, {high:.2f}] of {len(rejections)}"


def seconds(function, warm_up: bool = True) -> tuple[float, object]:
    """Of the second call, where there is a first."""
    if warm_up:
        function()
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def times(options) -> str:
    tests = ("SBC", "expected coverage", "TARP", LOCAL)
    lines = [
        f"| posterior | scorecal [s] | draws alone [s] | {' | '.join(f'{test} [s]' for test in tests)} "
        "| draws / scorecal |",
        "|" + "---|" * (4 + len(tests)),
    ]
    cases = [gaussian_case(LINEAR, "NPE", "none"), trained_case(TRAINED[1])]
    cases += [gaussian_case(LINEAR, "NLE", "none"), trained_case(TRAINED[2])]
    for case in tqdm(cases, disable=None):
        name = f"{case.problem}, {case.family}" + (", exact" if case.error == "none" else "")
        lines.append(f"| {name} | {' | '.join(f'{cell:.3g}' for cell in times_of(case))} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def times_of(case: Case) -> list[float]:
    """One row: scorecal, the draws, the tests that need them, and the ratio of the first two."""
    theta, x = pairs(case.problem, 0)
    direct = "NPE" in case.family
    own, _ = seconds(lambda: scorecal(case, theta, x, 0))
    sampling, draws = seconds(lambda: draw(case.posterior, N_DRAWS, x)) if direct else mcmc(case.posterior, x)
    few, (one, at_first) = seconds(lambda: (draw(case.posterior, 1, x), draw(case.posterior, 99, x[:1])), direct)
    found = [
        sampling + seconds(lambda: sbc(draws, theta, x))[0],
        sampling + seconds(lambda: coverage(draws, theta, x, log_prob_of(case.posterior)))[0],
        sampling + seconds(lambda: tarp(draws, theta, x))[0],
        few + seconds(lambda: lc2st(theta, x, one[0], at_first[:, 0], x[:1]), False)[0],
    ]
    return [own, sampling, *found, sampling / own]


def mcmc(posterior, x):
    """Seconds for all x, along the line through the times for the first few, and their draws over and over.

    All of them at once take sbi over ten minutes.
    """
    small, large = MCMC_X
    first, _ = seconds(lambda: draw(posterior, N_DRAWS, x[:small]), False)
    second, draws = seconds(lambda: draw(posterior, N_DRAWS, x[:large]), False)
    print(f"MCMC: {first:.1f} s for {small} x, {second:.1f} s for {large}", flush=True)
    return first + (second - first) / (large - small) * (len(x) - small), draws.repeat(1, len(x) // large, 1)


def draw(posterior, n, x):
    return posterior.sample_batched((n,), x=x, show_progress_bars=False)


def log_prob_of(posterior):
    """Not normalised: `DirectPosterior` would draw 10,000 times for each x to find the constant."""
    if hasattr(posterior, "leakage_correction"):
        return lambda theta, x: posterior.log_prob(theta, x=x, norm_posterior=False)
    return lambda theta, x: posterior.potential(theta, x=x)


NOTES = {
    "rates": f"""\
Rejection rates at level .05 with 95 % Wilson intervals; n = {N_PAIRS} pairs, {N_DRAWS} draws for each x. Seeds
follow from each repetition's number; two moons trained once, on simulations from seed 1,000,000.

Errors: the posterior's sd x 0.8; its mean shifted by 0.3 sd (of the Gaussian before the box cuts it off) in every
dimension; its mean 20 % closer to the prior mean. For NLE: the likelihood's sd x 0.8; a shift that moves the posterior
by 0.3 sd; the likelihood's maximum 20 % closer to the prior mean, which also makes the posterior narrower.

scorecal gets sbi's own posterior (`DirectPosterior`, `MCMCPosterior`). The others see draws only: those of NLE and of
the bounded prior are drawn exactly from the same posterior, not by MCMC or rejection; the trained NLE is too slow to
draw from that often. SBC: KS, Bonferroni over dimensions. TARP: `check_tarp`, whose KS test compares the points of a
curve with a grid, not the data; "KS of all" is KS on TARP's {N_PAIRS} coverage values. L-C2ST: sbi's defaults, at one
more x, NPE of the Gaussian cases only: it asks about that one x, and trains 101 classifiers for it, so that its few
repetitions are no rates yet.

Read it so: scorecal, with its defaults, is nearly blind to a wrong sd (x 0.8) where the prior is Gaussian and weak
where it is bounded; expected coverage sees it almost always. scorecal sees shifts as SBC does, and a wrong gain that
SBC misses where the prior is Gaussian; where it is bounded, expected coverage sees the gain better. With the bounded
prior, NLE and NPE are different posteriors for the wrong gain only; NLE's 200 data sets are NPE's first 200.""",
    "times": f"""\
Seconds on the same {N_PAIRS} pairs (seed 0), one process, one thread, {N_DRAWS} draws for each x by sbi's default
`sample_batched`; every test includes the draws it needs. The draws of NLE (MCMC, 20 chains for each x) are extrapolated
along the line through the times for {MCMC_X[0]} and {MCMC_X[1]} x. Second calls, but MCMC and L-C2ST, which ran once.

scorecal is `from_sbi` and `kccsd_test` with 999 bootstrap draws. SBC is without the classifiers that `check_sbc` trains
besides; expected coverage is `run_sbc` with the log-density that is not normalised; L-C2ST needs one draw for each x
and 99 at the first.""",
}


def write(section: str, table: str, options) -> None:
    """Replaces the section in results/sbi_peers.md."""
    path = RESULTS / "sbi_peers.md"
    parts = path.read_text().split("\n## ")[1:] if path.exists() else []
    sections = {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() for part in parts}
    settings = "".join(f" --{name} {value}" for name, value in vars(options).items() if name != "command")
    versions = ", ".join(f"{name} {version(name)}" for name in ("scorecal", "sbi", "torch", "numpy", "scikit-learn"))
    head = f"`python benchmarks/sbi_peers.py {section}{settings}`; {versions}."
    sections[section] = f"{head}\n{NOTES[section]}\n\n{table}"
    body = "".join(f"\n## {name}\n\n{sections[name]}\n" for name in ("rates", "times") if name in sections)
    write_whole(path, "# scorecal beside sbi's own diagnostics\n" + body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for_rates = commands.add_parser("rates")
    for_rates.add_argument("--repetitions", type=int, default=200, help="of the Gaussian cases")
    for_rates.add_argument("--level", type=int, default=1000, help="of the exact NPE posteriors")
    for_rates.add_argument("--moons", type=int, default=30, help="repetitions of two moons")
    for_rates.add_argument("--lc2st", type=int, default=3, help="repetitions of L-C2ST")
    commands.add_parser("times")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # sbi's: of many chains, of capped batches
    logging.disable(logging.WARNING)
    RESULTS.mkdir(exist_ok=True)
    table = rates(options) if options.command == "rates" else times(options)
    write(options.command, table, options)
    print(table)


if __name__ == "__main__":
    main()
