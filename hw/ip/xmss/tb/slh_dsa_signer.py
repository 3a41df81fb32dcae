"""Valid SLH-DSA-SHA2-128s signatures for tests, with a secret key of the highest layer only (FIPS 205).

A verification computes a root from any values, so all trees below the highest layer are random values: a signature
leads to some root of the layer below it, and that is signed. The message digest has the root of the key in it, so the
highest layer has a key whose tree is known: 512 leaves, a second of hashing for each key.

The judge is `spec/reference/slh_dsa.py`, which was written after the standard.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "spec"))

from reference import slh_dsa  # noqa: E402

SET = slh_dsa.PARAMETERS["SLH-DSA-SHA2-128s"]
TYPE = 1
LAYERS, HEIGHT, CHAINS = SET.d, SET.h_prime, SET.len
WOTS_HASH, WOTS_PK, TREE, FORS_TREE, FORS_ROOTS = range(5)


class Signed(NamedTuple):
    oid: int
    root: bytes
    seed: bytes
    message: bytes  # M', as it is hashed
    signature: bytes

    @property
    def public_key(self) -> bytes:
        return self.seed + self.root


class Functions:
    """F, H and T_l (§11.2.1), from the state after the block of the seed."""

    def __init__(self, seed: bytes) -> None:
        self.start = hashlib.sha256(seed.ljust(64, b"\0"))

    def __call__(self, place: bytes, kind: int, words: tuple[int, int, int], values: bytes) -> bytes:
        """`place` is layer and tree, nine bytes of the compressed address."""
        state = self.start.copy()
        a, b, c = words
        state.update(place + (kind << 96 | a << 64 | b << 32 | c).to_bytes(13, "big") + values)
        return state.digest()[:16]


class Key:
    """Of the highest layer, with each node of its tree."""

    def __init__(self, number: int) -> None:
        random_ = random.Random(f"key {number}")
        self.seed = random_.randbytes(16)
        self.functions = f = Functions(self.seed)
        self.place = bytes([LAYERS - 1]) + bytes(8)
        self.secrets = [[random_.randbytes(16) for _ in range(CHAINS)] for _ in range(1 << HEIGHT)]
        leaves = []
        for leaf, secrets in enumerate(self.secrets):
            ends = b"".join(chain(f, self.place, leaf, i, secret, 0, 15) for i, secret in enumerate(secrets))
            leaves.append(f(self.place, WOTS_PK, (leaf, 0, 0), ends))
        self.levels = [leaves]
        for height in range(1, HEIGHT + 1):
            below = self.levels[-1]
            pairs = (below[2 * i] + below[2 * i + 1] for i in range(len(below) // 2))
            self.levels.append([f(self.place, TREE, (0, height, i), pair) for i, pair in enumerate(pairs)])
        self.root = self.levels[-1][0]


@cache
def key(number: int) -> Key:
    return Key(number)


def chain(f: Functions, place: bytes, leaf: int, i: int, value: bytes, start: int, end: int) -> bytes:
    for step in range(start, end):
        value = f(place, WOTS_HASH, (leaf, i, step), value)
    return value


def climb(
    f: Functions, place: bytes, kind: int, key_pair: int, node: bytes, index: int, path: list[bytes]
) -> bytes:
    for height, sibling in enumerate(path, 1):
        pair = sibling + node if index & 1 else node + sibling
        index >>= 1
        node = f(place, kind, (key_pair, height, index), pair)
    return node


def sign(
    random_: random.Random,
    message: bytes | None = None,
    number: int = 0,
    claimed: Callable[[bytes], bytes] | None = None,
) -> Signed:
    """By one of the keys. `message` is M'; without one, 32 random bytes. With `claimed` the key has what that makes of the
    root: a signature that nothing but the last comparison refuses."""
    secret = key(number)
    f, root = secret.functions, secret.root if claimed is None else claimed(secret.root)
    message = random_.randbytes(32) if message is None else message
    randomizer = random_.randbytes(16)
    digest = slh_dsa.Hasher(SET, secret.seed).h_msg(randomizer, root, message)
    tree = int.from_bytes(digest[21:28], "big") % 2**54
    leaf = int.from_bytes(digest[28:], "big") % 2**HEIGHT
    values = [randomizer]
    place = bytes(1) + tree.to_bytes(8, "big")
    roots = b""
    for i, index in enumerate(slh_dsa.base_2b(digest[:21], SET.a, SET.k)):
        own, *path = (random_.randbytes(16) for _ in range(1 + SET.a))
        values += [own, *path]
        number_of_leaf = (i << SET.a) + index
        node = f(place, FORS_TREE, (leaf, 0, number_of_leaf), own)
        roots += climb(f, place, FORS_TREE, leaf, node, number_of_leaf, path)
    node = f(place, FORS_ROOTS, (leaf, 0, 0), roots)
    for layer in range(LAYERS):
        place = bytes([layer]) + tree.to_bytes(8, "big")
        digits = slh_dsa.wots_digits(SET, node)
        if layer == LAYERS - 1:
            secrets = secret.secrets[leaf]
            own = [chain(f, place, leaf, i, secrets[i], 0, digit) for i, digit in enumerate(digits)]
            path = [secret.levels[height][leaf >> height ^ 1] for height in range(HEIGHT)]
        else:
            own = [random_.randbytes(16) for _ in range(CHAINS)]
            path = [random_.randbytes(16) for _ in range(HEIGHT)]
            ends = b"".join(chain(f, place, leaf, i, own[i], digit, 15) for i, digit in enumerate(digits))
            node = climb(f, place, TREE, 0, f(place, WOTS_PK, (leaf, 0, 0), ends), leaf, path)
        values += own + path
        leaf, tree = tree % 2**HEIGHT, tree >> HEIGHT
    signed = Signed(TYPE, root, secret.seed, message, b"".join(values))
    judged = slh_dsa.verify_internal(SET, signed.public_key, message, signed.signature)
    assert (judged is None) == (root == secret.root)
    return signed
