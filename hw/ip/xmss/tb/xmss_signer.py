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


class Signed(NamedTuple):
    oid: int
    key: bytes  # type, root, seed
    message: bytes
    signature: bytes

    @property
    def root(self) -> bytes:
        return self.key[4 : 4 + (len(self.key) - 4) // 2]

    @property
    def seed(self) -> bytes:
        return self.key[4 + (len(self.key) - 4) // 2 :]


def sign(
    random_: random.Random,
    oid: int = 1,
    message: bytes | None = None,
    index: int | None = None,
    claimed: Callable[[bytes], bytes] | None = None,
) -> Signed:
    """With `claimed` the key has what that makes of the root: a signature that nothing but the last comparison refuses."""
    parameters = xmss.XMSS[oid]
    n = parameters.n
    seed, randomizer = random_.randbytes(n), random_.randbytes(n)
    message = random_.randbytes(32) if message is None else message
    index = random_.randrange(1 << parameters.h) if index is None else index
    hasher = xmss.Hasher(parameters, seed)
    secrets = [random_.randbytes(n) for _ in range(parameters.len)]
    path = [random_.randbytes(n) for _ in range(parameters.h)]
    ots = xmss.Address(0, 0, xmss.OTS, index)
    ends = [hasher.chain(secret, 0, ots._replace(second=i)) for i, secret in enumerate(secrets)]
    node = xmss.ltree(hasher, ends, xmss.Address(0, 0, xmss.L_TREE, index))
    for k, sibling in enumerate(path):
        left, right = (sibling, node) if index >> k & 1 else (node, sibling)
        node = hasher.rand_hash(left, right, xmss.Address(0, 0, xmss.HASH_TREE, 0, k, index >> k + 1))
    root = node if claimed is None else claimed(node)
    digest = hasher.keyed(2, randomizer + root + index.to_bytes(n, "big"), message)
    digits = xmss.wots_digits(parameters, digest)
    values = []
    for i, (secret, digit) in enumerate(zip(secrets, digits, strict=True)):
        value = secret
        for step in range(digit):
            address = ots._replace(second=i, third=step)
            key, mask = hasher.prf(address.encode(0)), hasher.prf(address.encode(1))
            value = hasher.keyed(0, key, bytes(a ^ b for a, b in zip(value, mask, strict=True)))
        values.append(value)
    signature = index.to_bytes(4, "big") + randomizer + b"".join(values + path)
    signed = Signed(oid, oid.to_bytes(4, "big") + root + seed, message, signature)
    assert (xmss.verify(signed.key, message, signature) is None) == (root == node)
    return signed
