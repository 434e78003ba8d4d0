"""The page of real data: its table, its lists, and the warnings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from case import Case
from checks import checks, coverage, independent_rows
from scipy import stats

import scorecal as sc

ALPHA, CLEAR = 0.05, 0.01  # the level of `calibration_test`, and of each simple check
OF_ORDER = ("lag 1", "lag 1 of sizes")  # forecasts may be calibrated, and errors still go together
_HEAD = ("model", "verdict", "seen", "KS", "AD", "50 %", "90 %", "mean", "sd", "skewness", "kurtosis", "also by", "")


@dataclass(frozen=True, eq=False)
class Judged:
    """A case, the result of `calibration_test`, and p-values of simple checks."""

    case: Case
    result: sc.CombinedResult
    checks: dict[str, float]
    z: np.ndarray

    @property
    def clear(self) -> list[str]:
        """Names of the simple checks that reject, the clearest first."""
        return sorted((name for name, p in self.checks.items() if p <= CLEAR), key=self.checks.__getitem__)

    @property
    def missed(self) -> bool:
        return bool(self.clear) and not self.result.rejects(ALPHA)

    @property
    def mark(self) -> str:
        if self.missed:
            return "order missed" if all(name in OF_ORDER for name in self.clear) else "missed"
        return "alone" if self.alone else ""

    @property
    def alone(self) -> bool:
        return self.result.rejects(ALPHA) and not self.clear


def judge(case: Case, seed: int) -> Judged:
    result = sc.calibration_test(case.predictions, case.y, horizon=case.horizon, groups=case.groups, rng=seed)
    return Judged(case, result, checks(case), case.z[independent_rows(case)])


def table(judged: list[Judged]) -> list[str]:
    """Return one table for each set, with its size, horizon and null above it."""
    lines: list[str] = []
    for name in dict.fromkeys(each.case.data for each in judged):
        rows = [each for each in judged if each.case.data == name]
        lines += ["", f"### {name[0].upper() + name[1:]}", "", _about(rows[0]), ""]
        lines += [f"| {' | '.join(_HEAD)} |", "|---" * len(_HEAD) + "|", *map(_row, rows)]
    return lines


def _about(each: Judged) -> str:
    n, d = each.case.y.shape
    about = f"n = {n}" + (f", {d} dimensions" if d > 1 else "")
    if each.case.horizon:
        about += f", `horizon={each.case.horizon}`"
    if each.case.groups is not None:
        about += f", {len(np.unique(each.case.groups))} `groups`"
    used = f"; simple checks use {len(each.z)} rows" if len(each.z) < n else ""
    return f"{about}, null by {each.result.null}{used}."


def _row(each: Judged) -> str:
    result, z = each.result, each.z.ravel()
    cells = [
        each.case.model,
        f"{'rejected' if result.rejects(ALPHA) else 'not rejected'}, {_p(result.pvalue)}",
        ", ".join(result.seen) or "-",
        _p(each.checks["KS"]),
        _p(each.checks["AD"]),
        *("{:.0%} ({:.0%} to {:.0%})".format(*coverage(z, level)) for level in (0.5, 0.9)),
        f"{z.mean():.2f}",
        f"{z.std():.2f}",
        f"{stats.skew(z):.1f}",
        f"{stats.kurtosis(z):.1f}",
        ", ".join(each.clear[:3]) or "-",
        each.mark,
    ]
    return f"| {' | '.join(cells)} |"


def _p(p: float) -> str:
    return "< .0001" if p < 1e-4 else f"{p:.2g}".replace("0.", ".", 1) if p < 0.01 else f"{p:.3f}".lstrip("0")


def summary(judged: list[Judged], n_sets: int) -> list[str]:
    """Return counts, and the cases that `calibration_test` misses or is alone with, as sentences."""
    rejected = sum(each.result.rejects(ALPHA) for each in judged)
    missed, order, alone = ([e for e in judged if e.mark == mark] for mark in ("missed", "order missed", "alone"))
    n_clear = sum(bool(each.clear) for each in judged)
    n_tables = len({each.case.data for each in judged})
    lines = [
        f"There are {n_sets} sets, {n_tables} things to predict from them, and {len(judged)} models. "
        f"`calibration_test` rejects {rejected} models at level {ALPHA}. At least one simple check rejects {n_clear} "
        f"at level {CLEAR}. Of these, {len(missed)} pass `calibration_test`, and {len(order)} more do whose errors "
        f"only follow each other; {len(alone)} are rejected by `calibration_test` alone.",
        "",
        "**Missed**: " + ("these pass `calibration_test`, and a simple check rejects." if missed else "none."),
        "",
        *(f"- {_name(each)}: {_found(each)}; `calibration_test` {_p(each.result.pvalue)}." for each in missed),
        "",
        "**Order missed**: " + ("these pass, and errors of successive rows go together." if order else "none."),
        "",
        *(f"- {_name(each)}: {_found(each)}; `calibration_test` {_p(each.result.pvalue)}." for each in order),
        "",
        "**Alone**: " + ("`calibration_test` rejects these, and no simple check does." if alone else "none."),
        "",
        *(f"- {_name(each)}: {_p(each.result.pvalue)}, seen: {', '.join(each.result.seen)}." for each in alone),
    ]
    return [line for line, before in zip(lines, ["x", *lines], strict=False) if line or before]


def warned(judged: list[Judged]) -> list[str]:
    """Return the warnings of all results, each with the cases that have it."""
    cases: dict[str, list[str]] = {}
    for each in judged:
        for warning in each.result.warnings:
            cases.setdefault(warning, []).append(_name(each))
    return [f"- {'; '.join(names)}: {warning}" for warning, names in cases.items()] or ["None."]


def _name(each: Judged) -> str:
    return f"{each.case.data} ({each.case.model})"


def _found(each: Judged) -> str:
    return ", ".join(f"{name} {_p(each.checks[name])}" for name in each.clear)
