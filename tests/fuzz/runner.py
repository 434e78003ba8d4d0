"""A campaign in a process of its own, which may crash.

The process first writes down the case that it is about to try: a case that ends the process (a crash inside a library,
memory that ran out) is a finding too.
"""

import json
import multiprocessing
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from .campaign import Finding, explore


def run(module: str, name: str, seed: int, seconds: float) -> tuple[int, Finding | None]:
    """Run the campaign that has this name in a module; return how many cases it tried, and its first finding."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        last, count = Path(folder) / "case.json", spawn.Value("q", 0)
        receiver, sender = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_explore, args=(module, name, seed, seconds, last, count, sender))
        process.start()
        sender.close()
        try:
            found = receiver.recv()
        except EOFError:  # the process ended before it could send anything
            process.join()
            if not last.exists():
                raise RuntimeError(f"{name}: the process ended with {process.exitcode} before its first case") from None
            case = json.loads(last.read_text(encoding="utf-8"))
            found = Finding(name.lower(), case, f"the process ended with {process.exitcode}")
        process.join()
        return count.value, found


def _explore(module: str, name: str, seed: int, seconds: float, last: Path, count: Any, sender: Any) -> None:
    def before(case: Any) -> None:
        count.value += 1
        last.write_text(json.dumps(case), encoding="utf-8")

    warnings.simplefilter("error")
    campaign = getattr(import_module(module), name)
    sender.send(explore(campaign, seed, seconds=seconds, before=before)[1])
    sender.close()
