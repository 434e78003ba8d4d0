"""A limit on the threads of the BLAS."""

import os
import threading
from typing import Any


class _SingleThreadedBLAS:
    """Limit the BLAS of the whole process to one thread, from the first entry until the last exit."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: list[int] = []  # threads, once for each of their entries
        self._limits: Any = None

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            if self._limits is None:
                _free_openblas()
                self._limits = threadpool_limits(1, user_api="blas")
            self._inside.append(threading.get_ident())

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside.remove(threading.get_ident())
            self._restore_after_the_last()

    def _restore_after_the_last(self) -> None:
        if self._limits is not None and not self._inside:
            _free_openblas()
            self._limits.restore_original_limits()
            self._limits = None
            _free_openblas()

    def survive_forks(self) -> None:
        """Let a fork wait for a change of the limit; in the child, all threads but the one that forked have left."""

        def in_child() -> None:
            self._lock.release()
            self._inside = [thread for thread in self._inside if thread == threading.get_ident()]
            self._restore_after_the_last()

        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=in_child)


def _free_openblas() -> None:
    """Let any thread change the limit: threadpoolctl ignores all but the one that set it, as long as that one lives."""
    import threadpoolctl

    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):  # since version 3.8
        openblas.clear_controlling_thread(force=True)


single_threaded_blas = _SingleThreadedBLAS()
single_threaded_blas.survive_forks()
