"""Messages on ports that take some bytes in a cycle."""

from __future__ import annotations

import random
from typing import Literal


def in_words(
    message: bytes, size: int, is_end: bool = True, may_end_empty: bool = False
) -> list[tuple[bytes, bool]]:
    """Words of up to `size` bytes, and whether each ends the message.

    With `is_end` the last one does. It has no byte if it is the only one of an empty message; and sometimes
    after a message of whole words, with `may_end_empty`."""
    starts = list(range(0, len(message), size))
    is_whole = len(message) % size == 0
    if is_end and (not starts or (may_end_empty and is_whole and random.random() < 0.3)):
        starts.append(len(message))
    return [(message[at : at + size], is_end and at == starts[-1]) for at in starts]


def filled(part: bytes, size: int, order: Literal["big", "little"]) -> int:
    """A word with random bytes after those of the message, which must not matter."""
    return int.from_bytes(part + random.randbytes(size - len(part)), order)
