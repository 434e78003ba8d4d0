"""Summary of the power study, in words: level, power beside other tests, and the cells that fall short."""

from collections.abc import Sequence

from ..sweep.rates import LEVEL
from .grid import FITTED, OTHERS, OURS, situations
from .rates import STRICT, Rates, against_single_checks, not_run, share

_MOST_ERRORS, _LEAST_FOR_MODES = 3.0, 0.8  # standard errors above the level


def summary(rates: Rates, sizes: Sequence[int]) -> str:
    """Describe the level of our test, its power beside the other tests, and the cells that fall short.

    Weights of modes, which scores alone do not see, have a bound of their own. Cells that were not run are passed over,
    and counted.
    """
    levels, gaps, short = [], [], []
    for row, n in ((row, n) for row in situations() for n in sizes):
        for test in (OURS, FITTED):
            level = share(rates, row, n, test.name)
            if row.calibrated and level is not None:
                levels.append(level)
                n_sets = rates[LEVEL][row.model.name, n, test.name][1]
                if level > LEVEL + _MOST_ERRORS * (LEVEL * (1.0 - LEVEL) / n_sets) ** 0.5:
                    short.append(f"- {row.model.name}, n = {n}: level of {test.name} {level:.3f}")
        ours, theirs = share(rates, row, n, OURS.name), [share(rates, row, n, test.name) for test in OTHERS]
        best = max((rate for rate in theirs if rate is not None), default=None)
        if ours is None or best is None or row.calibrated:
            continue
        if row.kind == "modes":
            if n >= 200 and ours < _LEAST_FOR_MODES:
                short.append(f"- {row.model.name}, n = {n}: {ours:.3f}")
            continue
        gaps.append(ours - best)
        error = (best * (1.0 - best) / rates[LEVEL][row.model.name, n, OURS.name][1]) ** 0.5
        if gaps[-1] < -0.05 - 2.0 * error:
            short.append(f"- {row.model.name}, n = {n}: {ours:.3f}, the best of the others {best:.3f}")
    lines = [
        f"Calibrated predictions are rejected in {100 * sum(levels) / len(levels):.1f} % of data sets, at level .05, "
        f"and in at most {100 * max(levels):.1f} % of a cell. In "
        f"{sum(gap >= 0 for gap in gaps)} of {len(gaps)} cells with a flaw other than the weights of modes, "
        f"`calibration_test` rejects at least as often as the best of {', '.join(test.name for test in OTHERS)}; at "
        f"worst {-100 * min(gaps):.1f} points less often, at best {100 * max(gaps):.1f} more.",
        "",
        "Short of what we promise:" if short else "No cell falls short of what we promise.",
        *short,
        *_beside_single_checks(rates, sizes),
        *_missing(rates, sizes),
    ]
    return "\n".join(lines)


def _beside_single_checks(rates: Rates, sizes: Sequence[int]) -> list[str]:
    """Lines on the best single check at level .01: one of many checks must pay for the others."""
    flawed = [(row, n) for row in situations() if not row.calibrated for n in sizes]
    known = [(row, n, found) for row, n in flawed if (found := against_single_checks(rates, row, n)) is not None]
    short = [(row, n, found) for row, n, found in known if found.falls_short]
    if not known:
        return []
    lines = [
        "",
        f"In {len(known) - len(short)} of {len(known)} cells with a flaw, `calibration_test` at level {LEVEL:g}",
        f"rejects at least as often as the best single check at level {STRICT:g}, less two standard errors of the",
        "difference.",
    ]
    if short:
        lines += ["It rejects less often in:", ""]
    for row, n, found in short:
        lines.append(f"- {row.model.name}, n = {n}: {found.ours:.3f}, {found.name} {found.best:.3f}")
    return lines


def _missing(rates: Rates, sizes: Sequence[int]) -> list[str]:
    missing, wanted = not_run(rates, situations(), sizes)
    if not any(missing.values()):
        return []
    return [
        "",
        f"Not complete: of {wanted} cells, {missing[LEVEL]} have no results at level {LEVEL:g} yet, and "
        f"{missing[STRICT]} none at level {STRICT:g}.",
    ]
