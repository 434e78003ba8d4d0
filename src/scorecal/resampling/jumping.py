"""Random numbers by row number: those of rows i to j, without drawing the ones before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .signs import Signs

_WORD = 8  # bytes that one step of the generator gives


@dataclass(frozen=True, eq=False)
class JumpingSigns:
    """The signs that `RandomSigns` draws from a generator in this state, for any rows.

    Attributes
    ----------
    state : mapping
        State of PCG64, the generator of `numpy.random.default_rng`: plain numbers, which files can hold.
    n_resamples : int
        Number of draws.
    """

    state: Mapping[str, Any]
    n_resamples: int

    def rows(self, start: int, stop: int) -> Signs:
        """Return the signs of some rows: the same bits as in one sequence over all rows."""
        first, end = start * self.n_resamples, stop * self.n_resamples
        packed = np.frombuffer(bytearray(_bytes_of(self.state, first // 8, -(-end // 8))), dtype=np.uint8)
        shift = first % 8
        if shift:  # a row need not start at a byte
            following = np.append(packed[1:], np.uint8(0))
            packed = np.bitwise_or(np.left_shift(packed, shift), np.right_shift(following, 8 - shift))
        return Signs(packed[: -(-(end - first) // 8)], self.n_resamples)

    def after(self, n: int) -> np.random.Generator:
        """Return the generator as it is once the signs of n rows are drawn."""
        n_bytes = -(-n * self.n_resamples // 8)
        words = -(-n_bytes // 4)  # of half a word each
        source = generator_in(self.state)
        rng = np.random.Generator(source)
        if self.state["has_uint32"] and words:
            rng.integers(0, 2**32, dtype=np.uint32)
            words -= 1
        if words > 1:
            source.advance(words // 2)
        if words % 2:
            rng.integers(0, 2**32, dtype=np.uint32)
        return rng


def jumping_signs(rng: np.random.Generator, n_resamples: int) -> JumpingSigns:
    """Return the signs that the generator would draw next; it is not advanced."""
    return JumpingSigns(state_of(rng), n_resamples)


def state_of(rng: np.random.Generator) -> Mapping[str, Any]:
    """Return the state of a generator; raise unless it can jump."""
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise TypeError(
            "`rng` must be a seed, or a generator of `numpy.random.default_rng`, whose numbers can be had by row, but "
            f"is one of {state['bit_generator']}."
        )
    return state


def generator_in(state: Mapping[str, Any]) -> np.random.PCG64:
    """Return PCG64 in a state."""
    source: Any = np.random.PCG64(0)
    source.state = dict(state)
    return source  # type: ignore[no-any-return]


def _bytes_of(state: Mapping[str, Any], start: int, stop: int) -> bytes:
    """Bytes start to stop of those that `Generator.bytes` gives: words of 8, least significant byte first.

    Half a word may be left from before; it comes first.
    """
    left = state["uinteger"].to_bytes(4, "little") if state["has_uint32"] else b""
    source = generator_in(state)
    first = max(0, start - len(left)) // _WORD
    source.advance(first)  # drops what is left from before
    found = np.random.Generator(source).bytes(max(0, stop - len(left) - first * _WORD))
    return left[start:stop] + found[max(0, start - len(left)) - first * _WORD :]
