"""Run the campaigns for some minutes: `make fuzz MINUTES=30 SEED=123`.

Each campaign runs in a process of its own, which first writes down the case that it is about to try: a case that ends
the process (a crash inside a library, memory that ran out) is a finding too.
"""

import argparse
import json
import multiprocessing
import secrets
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from .campaign import Campaign, Finding, explore
from .files import FILES
from .invariances import INVARIANCES
from .kills import KILLS
from .reference import REFERENCE

CAMPAIGNS = {campaign.name: campaign for campaign in (REFERENCE, INVARIANCES, FILES, KILLS)}


def run(campaign: Campaign, seed: int, seconds: float) -> tuple[int, Finding | None]:
    """Return how many cases were tried in a process of its own, and the first finding."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        last, count = Path(folder) / "case.json", spawn.Value("q", 0)
        receiver, sender = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_explore, args=(campaign.name, seed, seconds, last, count, sender))
        process.start()
        sender.close()
        try:
            found = receiver.recv()
        except EOFError:  # the process ended before it could send anything
            process.join()
            error = f"the process ended with {process.exitcode}"
            if not last.exists():
                raise RuntimeError(f"{campaign.name}: {error} before the first case") from None
            found = Finding(campaign.name, json.loads(last.read_text(encoding="utf-8")), error)
        process.join()
        return count.value, found


def _explore(name: str, seed: int, seconds: float, last: Path, count: Any, sender: Any) -> None:
    def before(case: Any) -> None:
        count.value += 1
        last.write_text(json.dumps(case), encoding="utf-8")

    warnings.simplefilter("error")
    sender.send(explore(CAMPAIGNS[name], seed, seconds=seconds, before=before)[1])
    sender.close()


def main() -> int:
    """Run the chosen campaigns, print what was tried, and return 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="for all campaigns together (5)")
    parser.add_argument("--seed", type=int, help="of the cases (drawn, and printed)")
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=f"{', '.join(CAMPAIGNS)} (all)")
    chosen = parser.parse_args()
    unknown = set(chosen.campaigns) - set(CAMPAIGNS)
    if unknown:
        parser.error(f"there is no campaign {unknown.pop()!r}; there are {', '.join(CAMPAIGNS)}")
    seed = secrets.randbelow(10**6) if chosen.seed is None else chosen.seed
    names = chosen.campaigns or list(CAMPAIGNS)
    print(f"seed {seed}, {chosen.minutes:g} minutes for {', '.join(names)}", flush=True)
    n_findings = 0
    for name in names:
        tried, found = run(CAMPAIGNS[name], seed, 60.0 * chosen.minutes / len(names))
        print(f"{name}: {tried} inputs, {'no finding' if found is None else 'a finding'}", flush=True)
        if found is not None:
            n_findings += 1
            print(f"  {found.error[:2000]}\n  kept in {found.save()}", flush=True)
    return int(n_findings > 0)


if __name__ == "__main__":
    sys.exit(main())
