"""Run the campaigns for some minutes: `make fuzz MINUTES=30 SEED=123`."""

import argparse
import secrets
import sys

from .runner import run

CAMPAIGNS = ("reference", "invariances", "files", "kills")  # modules, each with a campaign of its name


def main() -> int:
    """Run the chosen campaigns, print what was tried, and return 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__.split(":")[0] + ".")
    parser.add_argument("--minutes", type=float, default=5.0, help="for all campaigns together (5)")
    parser.add_argument("--seed", type=int, help="of the cases (drawn, and printed)")
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=f"{', '.join(CAMPAIGNS)} (all)")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.campaigns if name not in CAMPAIGNS]
    if unknown:
        parser.error(f"there is no campaign {unknown[0]!r}; there are {', '.join(CAMPAIGNS)}")
    seed = secrets.randbelow(10**6) if chosen.seed is None else chosen.seed
    names = chosen.campaigns or CAMPAIGNS
    print(f"seed {seed}, {chosen.minutes:g} minutes for {', '.join(names)}", flush=True)
    n_findings = 0
    for name in names:
        tried, found = run(f"fuzz.{name}", name.upper(), seed, 60.0 * chosen.minutes / len(names))
        print(f"{name}: {tried} inputs, {'no finding' if found is None else 'a finding'}", flush=True)
        if found is not None:
            n_findings += 1
            print(f"  {found.error[:2000]}\n  kept in {found.save()}", flush=True)
    return int(n_findings > 0)


if __name__ == "__main__":
    sys.exit(main())
