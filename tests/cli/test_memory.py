"""Memory that data may take."""

import sys
from pathlib import Path

import pytest

from scorecal.cli.memory import check_memory, left_in, memory_for_data
from scorecal.cli.table import InputError


@pytest.mark.skipif(sys.platform != "linux", reason="the size of memory is read from /proc")
def test_at_most_half_of_the_machine_is_given_to_data():
    words = Path("/proc/meminfo").read_text().split()
    assert 1e6 < memory_for_data() <= 512 * int(words[words.index("MemTotal:") + 1])


def test_what_does_not_fit_is_refused():
    check_memory("a.npz", 1e9, 1e9)
    check_memory("a.npz", 1e30, float("inf"))  # not known
    with pytest.raises(InputError, match=r"a\.npz: the data would take 2\.0 GB or more of memory, but only 1\.0 GB"):
        check_memory("a.npz", 2e9, 1e9)


def test_what_a_container_has_in_use_is_not_free(tmp_path):
    """Files that are cached are in use, but could be given up."""
    files = (str(tmp_path), "memory.max", "memory.current")
    assert left_in(*files) == float("inf")
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 400\nactive_file 50\ninactive_file 150\nworkingset_refault_file 9\n")
    assert left_in(*files) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert left_in(*files) == float("inf")
    (tmp_path / "memory.max").write_text("100\n")
    assert left_in(*files) == 0
