"""Fingerprints of models and tests, kept beside results: a model or test that has changed gets no old results."""

import json
from collections.abc import Collection, Mapping, Sequence

from .damage import StoreError, damaged, explained
from .fingerprint import PYTHON
from .store import Key, Store

Fingerprints = Mapping[tuple[str, str], Mapping[str, str]]  # by "model" or "test", and name


def accept_fingerprints(store: Store, wanted: Fingerprints, results: Collection[Key]) -> None:
    """Record what models and tests are made of; raise if there are results of one that was made of something else."""
    used = {("model", model) for model, _, _, _ in results} | {("test", test) for _, _, _, test in results}
    with explained(store.path):
        rows = store.connection.execute("select kind, name, parts from fingerprints").fetchall()
        known = {(kind, name): [text for *key, text in rows if key == [kind, name]] for kind, name in wanted}
        others = [key for key, parts in wanted.items() if _as_text(parts) not in known[key]]
        for key in others:
            if key in used:
                raise StoreError(f"{store.path} {_changed(*key, _as_parts(store, known[key]), wanted[key])}")
        # Of these there are no results yet: a run failed, or the results were deleted.
        store.connection.executemany("delete from fingerprints where kind = ? and name = ?", others)
    add_fingerprints(store, {key: wanted[key] for key in others})


def add_fingerprints(store: Store, found: Fingerprints) -> None:
    """Record what models and tests are made of, beside what is recorded of them already."""
    with explained(store.path):
        store.connection.execute("begin")
        rows = [(*key, _as_text(parts)) for key, parts in found.items()]
        store.connection.executemany("insert or ignore into fingerprints values (?, ?, ?)", rows)
        store.connection.execute("commit")


def _as_text(parts: Mapping[str, str]) -> str:
    return json.dumps(parts, sort_keys=True)


def _as_parts(store: Store, texts: Sequence[str]) -> dict[str, str]:
    try:
        parts: dict[str, str] = json.loads(texts[-1])
    except (IndexError, ValueError) as error:
        raise damaged(store.path, "a record of what results were made from is missing or cannot be read") from error
    return parts


def _changed(kind: str, name: str, there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Say which parts of a model or test changed, and what to do."""
    versions = there.get(PYTHON), here.get(PYTHON)
    if None not in versions and versions[0] != versions[1]:
        return (
            f"holds results of the {kind} {name!r} from Python {versions[0]}, and whether it is the same cannot be "
            f"told with Python {versions[1]}. Continue with Python {versions[0]}, or use another file."
        )
    parts = sorted(part for part in there.keys() | here.keys() if there.get(part) != here.get(part))
    named = ", ".join(f"`{part}`" for part in parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
    return (
        f"holds results of the {kind} {name!r}, which is no longer the same: {named} changed. Give the changed {kind} "
        "another name, use another file, or delete its rows from the table `results`."
    )
