"""A campaign: cases of plain data that hypothesis draws and minimises, and a check that raises on a defect."""

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

FINDINGS = Path(__file__).parent / "findings"
_BATCH = 200  # cases between two looks at the clock


@dataclass(frozen=True)
class Campaign:
    """Cases as JSON can hold them, their check, and how many of them the ordinary tests try.

    `minimise` is for checks that do the same every time.
    """

    name: str
    cases: SearchStrategy[Any]
    check: Callable[[Any], object]
    quick: int
    minimise: bool = True


@dataclass(frozen=True)
class Finding:
    """The smallest case found on which a check fails, and how it fails."""

    campaign: str
    case: Any
    error: str

    def save(self, folder: Path = FINDINGS) -> Path:
        """Write the finding to a file that the ordinary tests replay, named by its case."""
        folder.mkdir(exist_ok=True)
        text = json.dumps(self.case, sort_keys=True)
        path = folder / f"{self.campaign}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
        path.write_text(_in_lines(vars(self)) + "\n", encoding="utf-8")
        return path


def _in_lines(value: Any, indent: str = "") -> str:
    """Return JSON with a line for each name, and lists in one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    inner = indent + "  "
    lines = (f"{inner}{json.dumps(name)}: {_in_lines(part, inner)}" for name, part in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def check_named(error: Exception) -> None:
    """Raise unless an error of the library names an argument in backticks."""
    if not re.search(r"`\w+", str(error)):
        raise AssertionError(f"no argument is named: {type(error).__name__}: {error}") from error


def explore(
    campaign: Campaign,
    number: int,
    *,
    seconds: float | None = None,
    before: Callable[[Any], object] = lambda case: None,
) -> tuple[int, Finding | None]:
    """Try cases for some seconds, or as many as the ordinary tests do; return how many, and the first finding.

    `number` is the seed. `before` is called with each case before its check.
    """
    tried, last = 0, None
    end = None if seconds is None else time.monotonic() + seconds

    def check(case: Any) -> None:
        nonlocal tried, last
        if end is not None and time.monotonic() > end and last is None:
            return  # the time is up, and nothing is being minimised
        tried += 1
        before(case)
        try:
            campaign.check(case)
        except Exception as error:
            last = Finding(campaign.name, case, f"{type(error).__name__}: {error}")
            raise

    chosen = settings(
        max_examples=campaign.quick if seconds is None else _BATCH,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if campaign.minimise else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    for batch in range(10**9):
        try:
            seed(number * 10**6 + batch)(chosen(given(campaign.cases)(check)))()
        except Exception as error:
            if last is None:
                raise
            return tried, Finding(last.campaign, last.case, last.error or str(error))
        if end is None or time.monotonic() > end:
            break
    return tried, None
