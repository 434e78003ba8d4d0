"""Options of `scorecal test`, and its help."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .classes import class_column
from .forms import quantile
from .options import HUB_OUTPUTS, MOST_DRAWS, MOST_STEPS, count, largest_bias, largest_spread, level, seed

_EXAMPLES = """examples:
  scorecal test forecasts.csv --mean mu --std sigma --target observed
  scorecal test demand.csv --quantiles 0.05:q05 0.5:q50 0.95:q95 --target sold
  scorecal test ensemble.csv --samples m1..m50 --target observed
  scorecal test calls.csv --count --mean expected --target calls
  scorecal test animals.csv --classes cat:p_cat dog:p_dog bird:p_bird --target animal
  scorecal test rain.csv --classes wet:p_wet --target weather --tolerate-error 0.05
  scorecal test team-model.csv --hub time-series.csv --by location --group reference_date
  scorecal test forecasts.csv --mean lon lat --std s_lon s_lat --target x y --by season
  scorecal test patients.csv --mean mu --std sigma --target observed --group patient
  scorecal test stations.csv --mean mu --std sigma --target observed --group station --time day --horizon 6
  scorecal test forecasts.parquet --mean lon lat --covariance c11 c12 c22 --target x y
  gunzip -c forecasts.csv.gz | scorecal test - --mean mu --std sigma --target observed --drop-missing
  scorecal test scores.npz --json
  scorecal test forecasts.csv --mean mu --std sigma --target observed --report report.html
  scorecal test forecasts.csv --mean mu --std sigma --target observed --fail-on-rejection
  scorecal test forecasts/ --mean mu --std sigma --target observed --state forecasts.state
  scorecal test millions.parquet --mean mu --std sigma --target observed --tolerate-bias 0.05 --tolerate-spread 1.05

exit status: 0 done, 1 rejected (with --fail-on-rejection), or not shown to be within the tolerance
(with one of the options --tolerate-...: beyond it, or too few rows to tell), 2 bad input or
output that cannot be written, 3 a defect of ours"""


def add_test_options(commands: Any, run: Callable[[argparse.Namespace], int]) -> None:
    """Add the command `test`, with its options, to the parser."""
    parser = commands.add_parser(
        "test",
        help="test the predictions in a file",
        description="Test whether predictions are calibrated, and describe how and where they are not.\n\n"
        "FILE is a CSV or Parquet file with a row for each prediction and its target, or an NPZ file\n"
        "with arrays targets (n, d), scores (n, d), base_scores (n, m, d) and base_points (m, d).\n"
        "A CSV file may be compressed (.csv.gz); - reads one from standard input.\n"
        "Large files, and folders of Parquet files, are judged in batches, in bounded memory.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="CSV, Parquet, NPZ, a folder of Parquet files, or - for standard input"
    )
    add_forms(parser)
    parser.add_argument(
        "--classes",
        nargs="+",
        default=[],
        type=class_column,
        metavar="LABEL:COL",
        help="targets are classes: predicted probabilities of all of them, such as cat:p_cat dog:p_dog, or COL where "
        "the column has the name of its class; one column alone is for the second of two classes",
    )
    parser.add_argument("--ordinal", action="store_true", help="the order of --classes means something, as for grades")
    parser.add_argument(
        "--hub",
        type=Path,
        metavar="OBSERVED",
        help="FILE is the output of one model as hubs of the Hubverse have it, with the columns output_type, "
        "output_type_id and value; this second table, CSV or Parquet, has what was observed in the column observation, "
        "or --target, and columns of the same names to join by",
    )
    parser.add_argument(
        "--output-type",
        choices=HUB_OUTPUTS,
        help="with --hub, which output is tested, where there are several",
    )
    parser.add_argument(
        "--by",
        nargs="+",
        default=[],
        metavar="COL",
        help="columns that errors may follow, which the test looks for and by which regions are shown: numbers, dates "
        "(2024-01-31) or labels; COL:label takes numbers as labels (optional)",
    )
    parser.add_argument(
        "--drop-missing", action="store_true", help="leave out rows with a missing value in one of these columns"
    )
    parser.add_argument(
        "--group",
        metavar="COL",
        help="rows with the same text or number in this column may depend on each other, as those of one patient; with "
        "--time or --horizon they are one time series, as that of a station",
    )
    parser.add_argument(
        "--time",
        metavar="COL",
        help="rows follow each other in the order of these dates, timestamps or numbers, and are sorted by them; the "
        "test looks for a drift",
    )
    parser.add_argument(
        "--horizon",
        type=count(MOST_STEPS),
        metavar="H",
        help="rows are forecasts so many rows ahead, in the order of --time or else of the file (1 with --time)",
    )
    parser.add_argument(
        "--null",
        choices=("auto", "signs", "simulate"),
        default="auto",
        help="how the null distribution is found: by random signs, by draws from the predictions, or by the latter "
        "where these can be made and take little time (auto)",
    )
    add_verdict(parser)
    add_draws(parser)
    parser.add_argument(
        "--state",
        type=Path,
        metavar="FILE",
        help="judge rows in batches and keep sums in this file, from which the same command goes on if it was killed",
    )
    add_output(parser)
    parser.set_defaults(run=run, interrupted="interrupted")


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which columns are predictions and targets that are numbers."""
    parser.add_argument("--mean", nargs="+", default=[], metavar="COL", help="predicted means, one for each dimension")
    parser.add_argument("--std", nargs="+", default=[], metavar="COL", help="predicted standard deviations")
    parser.add_argument(
        "--covariance",
        nargs="+",
        default=[],
        metavar="COL",
        help="in place of --std: the upper triangle of predicted covariances, row by row (c11 c12 c22), or all of it",
    )
    parser.add_argument(
        "--quantiles",
        nargs="+",
        default=[],
        type=quantile,
        metavar="LEVEL:COL",
        help="in place of means: predicted quantiles, such as 0.05:q05 0.5:q50 0.95:q95",
    )
    parser.add_argument(
        "--samples",
        nargs="+",
        default=[],
        metavar="COL",
        help="in place of means: members of an ensemble, or other draws, such as m1 m2 m3 or m1..m50",
    )
    parser.add_argument(
        "--count",
        action="store_true",
        help="targets are counts: Poisson with --mean, negative binomial with --mean and --variance",
    )
    parser.add_argument("--variance", nargs="+", default=[], metavar="COL", help="predicted variances of counts")
    parser.add_argument("--target", nargs="+", default=[], metavar="COL", help="what was observed")


def add_draws(parser: argparse.ArgumentParser) -> None:
    """Add the options of random numbers."""
    parser.add_argument("--n-resamples", type=count(MOST_DRAWS), default=999, metavar="B", help="bootstrap draws (999)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of the random numbers (0)")


def add_verdict(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verdict."""
    parser.add_argument("--alpha", type=level, default=0.05, metavar="A", help="level of the test (0.05)")
    parser.add_argument(
        "--tolerate-bias",
        type=largest_bias,
        metavar="B",
        help="largest bias that is good enough, in predicted standard deviations: exit with 1 unless every dimension "
        "is shown to be within it, at level A",
    )
    parser.add_argument(
        "--tolerate-spread",
        type=largest_spread,
        metavar="R",
        help="likewise, the largest ratio of true over claimed spread, such as 1.1, and the inverse of the smallest",
    )
    parser.add_argument(
        "--tolerate-error",
        type=level,
        metavar="E",
        help="likewise, the largest expected calibration error of classes, such as 0.05",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is printed and written, and of the exit status."""
    parser.add_argument("--report", type=Path, metavar="HTML", help="write a report, one file with all in it")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--fail-on-rejection", action="store_true", help="exit with 1 if calibration is rejected")
