"""Sums in files: runs that were killed go on, shares add up, and files of others are refused."""

import io
import json

import numpy as np
import pytest

import scorecal as sc
from scorecal.streams import Batches, judge
from scorecal.streams.files import FileError, kind_of, load, save
from scorecal.streams.judge import rows_in
from scorecal.streams.shares import (
    FIRST,
    added,
    load_share,
    save_share,
    share_of_first,
    share_of_second,
    verdict_of,
)

N_PARTS, SIZE = 6, 80


class Reader:
    """Makes parts, keeps what was read, and is interrupted at one of the readings."""

    def __init__(self, stop=None):
        self.read, self.stop = [], stop

    def __call__(self, part):
        if len(self.read) == self.stop:
            raise KeyboardInterrupt
        self.read.append(part)
        rng = np.random.default_rng(part)
        mean = rng.normal(size=(SIZE, 1))
        return sc.Gaussian(mean, 0.9), mean + rng.normal(size=(SIZE, 1))


def judged(reader, state=None, n_resamples=49, rng=1):
    return judge(Batches(range(N_PARTS), reader, [SIZE] * N_PARTS), state=state, n_resamples=n_resamples, rng=rng)


@pytest.fixture
def always_kept(monkeypatch):
    monkeypatch.setattr("scorecal.streams.state._SECONDS", 0.0)


@pytest.fixture(scope="module")
def expected():
    return judged(Reader())


@pytest.mark.parametrize("stop", [3, N_PARTS + 4])
def test_a_run_that_was_interrupted_goes_on(tmp_path, always_kept, expected, stop):
    state = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        judged(Reader(stop), state)
    again = Reader()
    found = judged(again, state)
    assert len(again.read) == 2 * N_PARTS - stop
    assert found.result.statistic == expected.result.statistic
    np.testing.assert_array_equal(found.result.null_distribution, expected.result.null_distribution)
    assert str(found.diagnosis) == str(expected.diagnosis)
    assert judged(Reader(0), state).result.statistic == expected.result.statistic


def test_files_of_other_runs_are_refused(tmp_path, always_kept):
    judged(Reader(), tmp_path / "state")
    with pytest.raises(FileError, match="another run, with n_resamples = 49 and not 99"):
        judged(Reader(), tmp_path / "state", n_resamples=99)
    with pytest.raises(FileError, match="rng"):
        judged(Reader(), tmp_path / "state", rng=2)
    (tmp_path / "state").write_text("text")
    with pytest.raises(FileError, match="not a file of sums, or a damaged one"):
        judged(Reader(), tmp_path / "state")


def test_few_saves(tmp_path):
    """Sums are written at the end of a pass, and every so many seconds."""
    with pytest.raises(KeyboardInterrupt):
        judged(Reader(3), tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_shares_add_up_in_any_order(tmp_path, expected):
    batches = Batches(range(N_PARTS), Reader(), [SIZE] * N_PARTS)
    settings = {"n_resamples": 49, "seed": 1}
    for k in range(4):
        save_share(tmp_path / f"{k}", share_of_first(batches, settings, k, 4))
    parts = [(tmp_path / f"{k}", load_share(tmp_path / f"{k}", FIRST)) for k in (2, 0, 3, 1)]
    first = added(parts)
    assert first.is_whole
    second = added([(tmp_path, share_of_second(batches, first, k, 3)) for k in (1, 0, 2)])
    found = verdict_of(Batches([]), first, second, 0.05, None)
    assert found.result.pvalue == expected.result.pvalue
    assert found.result.statistic == pytest.approx(expected.result.statistic, rel=1e-6)
    assert str(found.diagnosis) == str(expected.diagnosis)
    with pytest.raises(FileError, match="parts 1 to 2 of 6 are missing"):
        added([parts[0], parts[1]])
    with pytest.raises(FileError, match="come twice"):
        added([parts[1], parts[1]])
    other = share_of_first(batches, settings | {"seed": 2}, 1, 4)
    with pytest.raises(FileError, match="of another run"):
        added([parts[1], (tmp_path / "other", other)])
    with pytest.raises(FileError, match="nothing to do in share 0 of 9"):
        share_of_first(batches, settings, 0, 9)


def test_what_files_hold_comes_back(tmp_path):
    value = {"a": [1, 2.5, "text", None, True], "b": {"c": np.arange(6.0).reshape(2, 3)}, "long": 2**120}
    save(tmp_path / "file", "things", value)
    found = load(tmp_path / "file", "things", {})
    np.testing.assert_array_equal(found["b"].pop("c"), value["b"].pop("c"))
    assert found == value
    assert kind_of(tmp_path / "file") == "things"
    with pytest.raises(FileError, match="holds things, not others"):
        load(tmp_path / "file", "others", {})


def head(**changes):
    content = {"scorecal": "things", "version": 1, "value": None} | changes
    return np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": np.zeros(1)}, "not a file of sums"),
        ({"head": np.array([{}], dtype=object)}, "not a file of sums"),
        ({"head": np.zeros(3, dtype=np.uint8)}, "not a file of sums"),
        ({"head": head(version=2)}, "another version"),
        ({"head": head(value={"of": "Popen", "parts": {}})}, "not a file of sums"),
        ({"head": head(value={"array": "none"})}, "not a file of sums"),
    ],
)
def test_files_that_are_none_of_ours(tmp_path, arrays, message):
    content = io.BytesIO()
    np.savez(content, **arrays)
    (tmp_path / "file").write_bytes(content.getvalue())
    with pytest.raises(FileError, match=message):
        load(tmp_path / "file", "things", {})


def test_normal_scores_have_numbers_by_row():
    rows = rows_in(Batches([]), [5, 5], np.random.default_rng(0))
    assert rows.n == 10
    assert rows.noise["bit_generator"] == "PCG64"
