"""Disks of a few kilobytes, where the system lets us mount them."""

import shutil
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small_disk(folder, kilobytes=64):
    """Yield the folder with a file system of its own in it; where it cannot be mounted, the test is skipped."""
    folder.mkdir(exist_ok=True)
    if not _mount(folder, kilobytes):
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        _unmount(folder)


def can_mount(folder):
    """Whether a file system can be mounted on the folder."""
    mounted = _mount(folder, 64)
    if mounted:
        _unmount(folder)
    return mounted


def _mount(folder, kilobytes):
    if shutil.which("mount") is None:
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _unmount(folder):
    subprocess.run(["umount", folder], check=True)
