"""Valid LMS and HSS signatures for tests, without private keys: random values lead to a root, which is the key's.

The judge is `spec/reference/hss.py`, which was written after the standards.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "spec"))

from reference import hss  # noqa: E402
from reference.faults import Fault  # noqa: E402

# Types of a tree and of its one-time signatures: LMS_SHA256_M32_H10 and LMOTS_SHA256_N32_W4, and small ones.
H10_W4 = (6, 3)
H5_W8 = (5, 4)


def word_at(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


class Signed(NamedTuple):
    levels: int  # of HSS, or 0
    types: tuple[int, int]  # of the tree and of its one-time signatures
    key: bytes  # as it is encoded, without the count of levels
    message: bytes
    signature: bytes

    @property
    def code(self) -> int:
        """The types as the engine takes them."""
        return self.levels << 28 | self.types[1] << 16 | self.types[0]

    @property
    def identifier(self) -> bytes:
        return self.key[8:24]

    @property
    def root(self) -> bytes:
        return self.key[24:]

    def judge(self) -> Fault | None:
        if self.levels:
            return hss.verify(self.levels.to_bytes(4, "big") + self.key, self.message, self.signature)
        return hss.verify_lms(self.key, self.message, self.signature)

    @property
    def one_time(self) -> hss.LmOts:
        return hss.LM_OTS_TYPES[self.types[1]]

    @property
    def height(self) -> int:
        return hss.LMS_TYPES[self.types[0]].h


def _tree(random_: random.Random, types: tuple[int, int], message: bytes, index: int | None) -> tuple[bytes, bytes]:
    """The signature of one tree, and its key."""
    tree, ots = hss.LMS_TYPES[types[0]], hss.LM_OTS_TYPES[types[1]]
    index = random_.randrange(1 << tree.h) if index is None else index
    values, path = random_.randbytes(ots.n * (ots.p + 1)), random_.randbytes(tree.m * tree.h)
    parts = (index.to_bytes(4, "big"), types[1].to_bytes(4, "big"), values, types[0].to_bytes(4, "big"), path)
    signature = b"".join(parts)
    key = hss.Key(*types, random_.randbytes(16), b"")
    split = hss.split_signature(key, signature)
    assert not isinstance(split, Fault)
    root = hss.tree_candidate(key, message, split[0])
    return signature, b"".join(one.to_bytes(4, "big") for one in types) + key.i + root


def sign(
    random_: random.Random,
    types: tuple[int, int] = H10_W4,
    message: bytes | None = None,
    index: int | None = None,
) -> Signed:
    """With one tree, without HSS."""
    message = random_.randbytes(32) if message is None else message
    signature, key = _tree(random_, types, message, index)
    signed = Signed(0, types, key, message, signature)
    assert signed.judge() is None
    return signed


def sign_levels(random_: random.Random, levels: Sequence[tuple[int, int]], message: bytes | None = None) -> Signed:
    """HSS, with these types from the top down."""
    message = random_.randbytes(32) if message is None else message
    rest, below, key = b"", message, b""
    for types in reversed(levels):
        signature, next_key = _tree(random_, types, below, None)
        rest = signature + key + rest
        below = key = next_key
    signature = (len(levels) - 1).to_bytes(4, "big") + rest
    signed = Signed(len(levels), levels[0], key, message, signature)
    assert signed.judge() is None
    return signed
