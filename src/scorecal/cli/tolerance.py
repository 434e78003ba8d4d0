"""Limits of what is good enough, from the options."""

import argparse

from ..diagnosis import ClassTolerance, Tolerance


def tolerance_of(chosen: argparse.Namespace) -> Tolerance | ClassTolerance | None:
    """Return the limits that were given, or None."""
    if chosen.tolerate_error is not None:
        return ClassTolerance(chosen.tolerate_error)
    if chosen.tolerate_bias is None and chosen.tolerate_spread is None:
        return None
    return Tolerance(chosen.tolerate_bias, chosen.tolerate_spread)
