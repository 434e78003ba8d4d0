"""Values of options: what argparse calls to turn text into numbers, or to refuse it."""

import argparse
import math
from collections.abc import Callable
from typing import Any, NoReturn

from .output import complain, say_as_it_is

MOST_DRAWS = 10**12  # more than any memory holds
MOST_REPEATS = 10**6
MOST_STEPS = 10**9
HUB_OUTPUTS = ("quantile", "sample", "cdf", "pmf")  # of a hub of the Hubverse


_OF_PREDICTIONS = ("mean", "std", "covariance", "quantiles", "samples", "count", "variance", "target", "drop_missing")


def described(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the options on which sums over rows depend, in types that files have."""
    found = {name: getattr(chosen, name) for name in (*_OF_PREDICTIONS, "n_resamples", "seed")}
    return {name: [*map(_plain, each)] if isinstance(each, list) else each for name, each in found.items()}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


class Parser(argparse.ArgumentParser):
    """argparse's, with errors of one line, and with text that can be shown."""

    def error(self, message: str) -> NoReturn:
        complain(self.prog, f"{message} (see {self.prog} --help)")
        self.exit(2)

    def _print_message(self, message: str, file: object = None) -> None:  # of --help and --version
        say_as_it_is(message.rstrip("\n"))


def count(most: int | None = None) -> Callable[[str], int]:
    """Return a function from text to a positive integer; argparse reports anything else."""

    def positive(text: str) -> int:
        if not text.isdecimal() or len(text) > 4000 or int(text) < 1:
            raise argparse.ArgumentTypeError(f"must be a positive integer, but is {text[:40]!r}")
        if most is not None and int(text) > most:
            raise argparse.ArgumentTypeError(f"must be at most {most}, but is {text[:40]}")
        return int(text)

    return positive


def seed(text: str) -> int:
    """Return the integer, zero or more, that the text stands for."""
    if not text.isdecimal() or len(text) > 4000:
        raise argparse.ArgumentTypeError(f"must be an integer of 0 or more, but is {text[:40]!r}")
    return int(text)


def level(text: str) -> float:
    """Return the number between 0 and 1 that the text stands for."""
    value = _number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, but is {text[:40]!r}")
    return value


def largest_bias(text: str) -> float:
    """Return the positive number that the text stands for."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(
            f"must be a positive number of predicted standard deviations, but is {text[:40]!r}"
        )
    return value


def largest_spread(text: str) -> float:
    """Return the number above 1 that the text stands for."""
    value = _number(text)
    if not 1 < value < math.inf:
        raise argparse.ArgumentTypeError(
            f"must be a ratio of true over claimed spread above 1, whose inverse is the smallest, but is {text[:40]!r}"
        )
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
