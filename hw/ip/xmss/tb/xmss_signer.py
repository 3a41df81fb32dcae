"""Valid XMSS signatures for tests, without a tree: the keys of one leaf and a path of random values make a root.

The judge is `spec/reference/xmss.py`, which was written after the standards.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "spec"))

from reference import xmss  # noqa: E402
from reference.faults import Fault  # noqa: E402


class Signed(NamedTuple):
    oid: int
    key: bytes  # type, root, seed
    message: bytes
    signature: bytes
    is_mt: bool = False  # types are those of XMSS^MT

    @property
    def root(self) -> bytes:
        return self.key[4 : 4 + (len(self.key) - 4) // 2]

    @property
    def seed(self) -> bytes:
        return self.key[4 + (len(self.key) - 4) // 2 :]

    @property
    def fault(self) -> Fault | None:
        """What the judge says."""
        return (xmss.verify_mt if self.is_mt else xmss.verify)(self.key, self.message, self.signature)


class Layer:
    """A leaf of a tree: the secrets of its key and a path, which make a root."""

    def __init__(self, hasher: xmss.Hasher, random_: random.Random, layer: int, tree: int, leaf: int) -> None:
        parameters = hasher.parameters
        self.hasher = hasher
        self.ots = xmss.Address(layer, tree, xmss.OTS, leaf)
        self.secrets = [random_.randbytes(parameters.n) for _ in range(parameters.len)]
        self.path = [random_.randbytes(parameters.n) for _ in range(parameters.layer_height)]
        ends = [hasher.chain(secret, 0, self.ots._replace(second=i)) for i, secret in enumerate(self.secrets)]
        node = xmss.ltree(hasher, ends, self.ots._replace(type=xmss.L_TREE))
        for k, sibling in enumerate(self.path):
            left, right = (sibling, node) if leaf >> k & 1 else (node, sibling)
            node = hasher.rand_hash(left, right, xmss.Address(layer, tree, xmss.HASH_TREE, 0, k, leaf >> k + 1))
        self.root = node

    def sign(self, digest: bytes) -> bytes:
        values = []
        for i, (secret, digit) in enumerate(
            zip(self.secrets, xmss.wots_digits(self.hasher.parameters, digest), strict=True)
        ):
            value = secret
            for step in range(digit):
                address = self.ots._replace(second=i, third=step)
                key, mask = self.hasher.prf(address.encode(0)), self.hasher.prf(address.encode(1))
                value = self.hasher.keyed(0, key, bytes(a ^ b for a, b in zip(value, mask, strict=True)))
            values.append(value)
        return b"".join(values + self.path)


def sign(
    random_: random.Random,
    oid: int = 1,
    message: bytes | None = None,
    index: int | None = None,
    is_mt: bool = False,
    claimed: Callable[[bytes], bytes] | None = None,
) -> Signed:
    """With `claimed` the key has what that makes of the root: a signature that nothing but the last comparison refuses."""
    parameters = (xmss.XMSS_MT if is_mt else xmss.XMSS)[oid]
    n = parameters.n
    seed, randomizer = random_.randbytes(n), random_.randbytes(n)
    message = random_.randbytes(32) if message is None else message
    index = random_.randrange(1 << parameters.h) if index is None else index
    hasher = xmss.Hasher(parameters, seed)
    layers, rest = [], index
    for layer in range(parameters.d):
        leaf, rest = rest % (1 << parameters.layer_height), rest >> parameters.layer_height
        layers.append(Layer(hasher, random_, layer, rest, leaf))
    root = layers[-1].root if claimed is None else claimed(layers[-1].root)
    signature = index.to_bytes(parameters.index_size, "big") + randomizer
    signs = hasher.keyed(2, randomizer + root + index.to_bytes(n, "big"), message)
    for one in layers:
        signature += one.sign(signs)
        signs = one.root
    signed = Signed(oid, oid.to_bytes(4, "big") + root + seed, message, signature, is_mt)
    assert (signed.fault is None) == (root == layers[-1].root)
    return signed
