"""Values from the text of CSV files: numbers, times and labels."""

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from .table import InputError, shown

MOST_EXACT = 2**53  # beyond, not every integer is a floating-point number
INEXACT = "has more digits than can be computed with; subtract the same round number from means and targets"
_MISSING = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none"))
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?")
_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)


@dataclass
class Decimals:
    """Decimal marks in the numbers read so far: an example with a point, and one with a comma that parts no columns.

    Numbers have decimal commas if some have a comma, none has a point, and one of them at least cannot mean thousands,
    as 1,500 could.
    """

    may_be_commas: bool
    with_point: str = ""
    with_comma: str = ""
    certain: bool = False

    def number(self, text: str) -> float:
        """The number that the text stands for, NaN if it is missing; raise for anything else."""
        try:
            value = float(text)
        except ValueError:
            value = self._unusual(text.strip())
        else:
            if "_" in text:
                raise InputError(f"{shown(text)} is not a number.")
            if self.may_be_commas and "." in text:
                self.with_point = text
        return value

    def _unusual(self, text: str) -> float:
        if text.lower() in _MISSING:
            return math.nan
        if self.may_be_commas and _WITH_COMMA.fullmatch(text):
            self.with_comma = text
            self.certain = self.certain or not _THOUSANDS.fullmatch(text)
            return float(text.replace(",", "."))
        hint = "; decimals follow a point, and nothing stands between thousands" if re.search(r"\d,\d", text) else ""
        raise InputError(f"{shown(text)} is not a number{hint}.")

    def check(self) -> None:
        """Raise if it cannot be told what the commas in numbers mean."""
        if self.with_comma and self.with_point:
            raise InputError(
                f"some numbers have a comma, as {self.with_comma}, and some a point, as {self.with_point}; write all "
                "decimals with a point, and nothing between thousands."
            )
        if self.with_comma and not self.certain:
            raise InputError(
                f"numbers such as {self.with_comma} may have a decimal comma or mean thousands; write decimals with a "
                "point, and nothing between thousands."
            )

    def together(self, other: "Decimals") -> "Decimals":
        """Return the decimal marks of two columns together."""
        return Decimals(
            self.may_be_commas,
            self.with_point or other.with_point,
            self.with_comma or other.with_comma,
            self.certain or other.certain,
        )


def exact_number(text: str, decimals: Decimals) -> float:
    """A number that is computed with; an integer of which digits would be lost is refused."""
    value = decimals.number(text)
    if MOST_EXACT <= abs(value) < math.inf:
        digits = re.sub(r"[.,]0*$", "", text.strip()).lstrip("+-0")  # not more than 309
        if digits.isdecimal() and int(digits) != abs(int(value)):
            raise InputError(f"the value is {shown(text.strip())}, which {INEXACT}.")
    return value


def as_values(texts: Sequence[str], decimals: Decimals) -> tuple[np.ndarray, bool, str]:
    """Numbers if all texts are numbers, times if all are dates or timestamps, and otherwise labels.

    With them: whether times are in UTC, and one of the numbers that have a decimal comma, if any.
    """
    own = Decimals(decimals.may_be_commas)
    try:
        numbers = array("d", map(own.number, texts))
        own.together(decimals).check()
        return np.frombuffer(numbers), False, own.with_comma
    except InputError:
        pass
    known = known_texts(texts)
    values, in_utc = as_times(known) or (as_labels(known), False)
    return values, in_utc, ""


def known_texts(texts: Sequence[str]) -> list[str | None]:
    """The texts without space around them, None where they say that a value is missing."""
    return [None if text.strip().lower() in _MISSING else text.strip() for text in texts]


def as_labels(texts: Sequence[str | None]) -> np.ndarray:
    """An array of labels, with None where they are missing."""
    labels = np.empty(len(texts), dtype=object)
    labels[:] = texts
    return labels


def as_times(texts: Sequence[str | None]) -> tuple[np.ndarray, bool] | None:
    """Times, and whether they are in UTC, if all texts are dates or timestamps by ISO 8601; otherwise None."""
    times = array("q")
    in_utc = set()
    for text in texts:
        if text is None:
            times.append(np.iinfo(np.int64).min)  # NaT
            continue
        try:
            time = datetime.fromisoformat(text) if _TIME.fullmatch(text) else None
            if time is not None and time.tzinfo is not None:
                time = time.astimezone(UTC)
        except (OverflowError, ValueError):  # the 30th of February; hours before the year 1
            time = None
        if time is None:
            return None
        in_utc.add(time.tzinfo is not None)
        times.append((time.replace(tzinfo=None) - _EPOCH) // _MICROSECOND)
    if len(in_utc) != 1:  # some with a time zone and some without cannot be compared
        return None
    return np.frombuffer(times, dtype="datetime64[us]"), in_utc.pop()


def inexact(values: np.ndarray) -> np.ndarray:
    """Return a mask of the integers that are not floating-point numbers."""
    found = (values >= MOST_EXACT) | (values <= -MOST_EXACT)
    found[found] = [int(value) != int(float(value)) for value in values[found].tolist()]
    return np.asarray(found)
