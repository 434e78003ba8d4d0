"""The file of results: damage is told from a new file, and never changes a p-value."""

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from scorecal.experiments.sweep.damage import StoreError
from scorecal.experiments.sweep.store import open_store, read_results, record

SETTINGS = {"seed": 0}
RESULTS = {("a model", 20, repetition, test): (repetition + 0.5) / 40 for repetition in range(20) for test in "ab"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a file of 40 results."""
    path = tmp_path_factory.mktemp("whole") / "results.sqlite"
    with open_store(path, SETTINGS) as store:
        record(store, list(RESULTS.items()))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def read(path):
    with open_store(path, SETTINGS) as store:
        return read_results(store)


@pytest.mark.parametrize("size", [1, 16, 99])
@pytest.mark.parametrize("journal", [None, b"", b"a note"])
def test_a_file_too_short_for_results_is_not_written_over(whole, path, size, journal):
    path.write_bytes(whole[:size])
    if journal is not None:
        path.with_name("results.sqlite-journal").write_bytes(journal)
    with pytest.raises(StoreError, match="is no file of results"):
        read(path)
    assert path.read_bytes() == whole[:size]


def test_what_was_recorded_is_read(whole, path):
    path.write_bytes(whole)
    assert read(path) == RESULTS


DAMAGE = {
    "cut short": (lambda whole: whole[:-4096], "is damaged: "),
    "cut in its first page": (lambda whole: whole[:100], "is damaged: "),
    "all zero": (lambda whole: bytes(len(whole)), "is no file of results: it is of another kind, or its beginning"),
    "another beginning": (lambda whole: b"x" * 50 + whole[50:], "is no file of results"),
    "a text": (lambda whole: b"not a database " * 100, "is no file of results"),
    "a short text": (lambda whole: b"hello", "is no file of results"),
    "a p-value": (
        lambda whole: whole.replace(struct.pack(">d", 10.5 / 40), b"\x3f" * 8),
        "is damaged: a result does not match its checksum",
    ),
    "a name": (lambda whole: whole.replace(b"a model", b"a mOdel"), "is damaged: a result does not match its checksum"),
    "a name that is no text": (lambda whole: whole.replace(b"a model", b"a \xff\xff\xff\xff\xff"), "is damaged: "),
    "a table of another name": (lambda whole: whole.replace(b"CREATE TABLE", b"CREATE TALBE"), "is damaged: "),
    "its settings": (lambda whole: whole.replace(b"seed0", b"seed7"), "other settings .seed 7 there and 0 here"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_told_in_a_sentence(whole, path, what):
    change, message = DAMAGE[what]
    damaged = change(whole)
    assert damaged != whole
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match=message):
        read(path)
    assert path.read_bytes() == damaged


def test_no_byte_can_be_changed_so_that_a_result_changes_unnoticed(whole, path):
    """Results that cannot be found any more are computed again, and are the same; none may come out different."""
    rng = np.random.default_rng(0)
    used = np.flatnonzero(np.frombuffer(whole, dtype=np.uint8))
    places = rng.choice(used, 1500, replace=False)
    path.write_bytes(whole)
    told = 0
    for place in places:
        with open(path, "r+b") as file:
            file.seek(place)
            file.write(bytes([whole[place] ^ rng.integers(1, 256)]))
        try:
            assert read(path).items() <= RESULTS.items()
        except StoreError:
            told += 1
        path.write_bytes(whole)
    assert told > 1000


def test_an_empty_file_is_new(path):
    path.touch()
    assert read(path) == {}
    assert read(path) == {}


def cut_off(path, crashed, statement, rows):
    """Copy a file and its journal as a power cut in the middle of a transaction would leave them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma cache_size = 1")  # pages go to the disk before the end of the transaction
        connection.execute("begin exclusive")
        connection.execute("create table if not exists filling (text)")
        connection.executemany(statement, rows)
        for suffix in ("", "-journal"):
            shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
        connection.execute("rollback")


def filling(path, crashed):
    cut_off(path, crashed, "insert into filling values (?)", [(f"{k} " * 500,) for k in range(100)])


def test_a_crash_loses_nothing_that_was_recorded(whole, path, tmp_path):
    path.write_bytes(whole)
    filling(path, tmp_path / "crashed.sqlite")
    assert (tmp_path / "crashed.sqlite").stat().st_size > len(whole)
    assert read(tmp_path / "crashed.sqlite") == RESULTS


@pytest.mark.parametrize("left", ["empty", "missing", "cut off"])
def test_an_empty_file_whose_journal_says_otherwise_is_not_new(whole, path, tmp_path, left):
    path.write_bytes(whole)
    crashed = tmp_path / "crashed.sqlite"
    filling(path, crashed)
    crashed.unlink() if left == "missing" else crashed.write_bytes(whole[: 50 * (left == "cut off")])
    journal = Path(f"{crashed}-journal")
    with pytest.raises(
        StoreError, match=r"crashed.sqlite (is empty|has 50 bytes), but crashed.sqlite-journal .* its results are lost"
    ):
        read(crashed)
    assert journal.exists()
    journal.unlink()
    crashed.unlink(missing_ok=True)
    assert read(crashed) == {}


def test_a_crash_while_the_file_was_made_leaves_a_new_one(path, tmp_path):
    crashed = tmp_path / "crashed.sqlite"
    filling(path, crashed)
    assert crashed.stat().st_size > 0
    assert read(crashed) == {}
    filling(path, crashed)
    crashed.write_bytes(b"")
    assert read(crashed) == {}


def test_another_database_is_refused_and_left_alone(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table accounts (name text)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is a database of something else, not a file of results"):
        read(path)
    assert path.read_bytes() == before


def test_a_file_of_an_earlier_version_is_refused(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table settings (name text primary key, value text not null) without rowid")
        connection.execute("create table results (model, n, repetition, test, pvalue)")
        connection.execute("create table runs (what, workers, n_results, seconds)")
        connection.execute("insert into settings values ('seed', '0')")
        connection.commit()
    with pytest.raises(StoreError, match="another version of scorecal, in format 1 instead of 2"):
        read(path)


def test_a_folder_and_a_missing_folder_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "results.sqlite"):
        with pytest.raises(StoreError, match="cannot be used: unable to open database file"):
            read(path)
