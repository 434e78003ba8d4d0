"""Predictions and targets from the file and the columns that options of the command line name."""

import argparse

import numpy as np

from ..predictions import Gaussian, Predictions
from .read_npz import read_npz
from .read_table import InputError, Table, read_table


def read(chosen: argparse.Namespace) -> tuple[Predictions, np.ndarray, dict[str, np.ndarray] | None]:
    """Predictions, targets and columns of `--by` from the file, as the options say."""
    columns = [*chosen.mean, *chosen.std, *chosen.covariance, *chosen.target]
    if chosen.file.suffix.lower() == ".npz":
        if columns or chosen.by:
            raise InputError(
                f"{chosen.file}: an NPZ file has arrays, not columns; leave out --mean, --std and the like."
            )
        return *read_npz(chosen.file), None
    d = len(chosen.target)
    if not chosen.mean and not d:
        raise InputError(
            "--mean, --target and one of --std and --covariance are needed, to say which columns they are."
        )
    if not d or len(chosen.mean) != d:
        raise InputError(
            f"--mean and --target must name as many columns each, one for each dimension, but name {len(chosen.mean)} "
            f"and {d}."
        )
    if bool(chosen.std) == bool(chosen.covariance):
        raise InputError("one of --std and --covariance is needed, and not both.")
    table = read_table(chosen.file, list(dict.fromkeys(columns)), chosen.by)
    mean, y = (np.stack([table[name] for name in names], axis=1) for names in (chosen.mean, chosen.target))
    by = {name: table[name] for name in chosen.by} or None
    if chosen.covariance:
        return Gaussian(mean, covariance=_covariance(table, chosen.covariance, d)), y, by
    if len(chosen.std) != d:
        raise InputError(f"--std must name {d} columns, one for each of --mean, but names {len(chosen.std)}.")
    for name in chosen.std:
        table.check(name, table[name] <= 0, "a standard deviation must be positive")
    return Gaussian(mean, np.stack([table[name] for name in chosen.std], axis=1)), y, by


def _covariance(table: Table, names: list[str], d: int) -> np.ndarray:
    if len(names) not in (d * d, d * (d + 1) // 2):
        raise InputError(
            f"--covariance must name {d * (d + 1) // 2} columns, the upper triangle row by row, or {d * d}, but names "
            f"{len(names)}."
        )
    covariance = np.empty((table.n, d, d))
    whole = len(names) == d * d
    places = [(k, m) for k in range(d) for m in range(0 if whole else k, d)]
    for (k, m), name in zip(places, names, strict=True):
        covariance[:, k, m] = table[name]
        if not whole:
            covariance[:, m, k] = table[name]
    smallest = np.linalg.eigvalsh(0.5 * (covariance + np.swapaxes(covariance, 1, 2)))[:, 0]
    if np.any(smallest <= 0):
        row = int(np.argmax(smallest <= 0))
        raise InputError(f"{table.place(row, names[0])}: the covariance of this row is not positive definite.")
    return covariance
