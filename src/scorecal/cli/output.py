"""Printing: text in characters that the output can show; an output that fails does not change the exit status."""

import os
import sys
from contextlib import suppress
from typing import TextIO

from .._lib.text import visible


def say(text: str) -> None:
    """Print lines on standard output, with escapes for what a terminal would obey."""
    say_as_it_is(visible(text, keep="\n"))


def say_as_it_is(text: str) -> None:
    """Print text of our own on standard output. Ignore a reader who has left; the exit status still counts."""
    try:
        _print(sys.stdout, text)
    except BrokenPipeError:
        pass
    except OSError as error:
        raise OSError(f"standard output cannot be written: {error.strerror or error}.") from None


def complain(who: str, message: object) -> None:
    """Print a message as one line on standard error."""
    complain_in_lines(visible(f"{who}: {message}"))


def complain_in_lines(text: str) -> None:
    """Print lines on standard error. If that fails there is nobody to tell, and the exit status must do."""
    with suppress(OSError):
        _print(sys.stderr, visible(text, keep="\n"))


def _print(stream: TextIO | None, text: str) -> None:
    """Print text with escapes for what the stream cannot encode."""
    if stream is None:
        raise OSError("it is closed")
    encoding = stream.encoding or "utf-8"
    shown = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        print(shown, file=stream, flush=True)
    except OSError:
        # What is left in the buffer would fail again when Python ends, and change the exit status.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


def fill_closed_streams() -> None:
    """Open the null device in place of standard streams that are closed.

    The next file that we open would get the number of the closed one, and with it all that libraries print.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
