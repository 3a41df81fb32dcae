"""The hashes of image-format.md §2.3, and the modes of §6.1."""

from __future__ import annotations

from typing import NamedTuple


class Hash(NamedTuple):
    """A row of the table of §2.3; hashlib has those with a name."""

    digest_size: int
    name: str | None = None


KT128, SHAKE128, SHAKE256 = 7, 8, 9
HASHES: dict[int, Hash] = {
    1: Hash(32, "sha256"),
    2: Hash(48, "sha384"),
    3: Hash(64, "sha512"),
    4: Hash(32, "sha3_256"),
    5: Hash(48, "sha3_384"),
    6: Hash(64, "sha3_512"),
    KT128: Hash(32),
    SHAKE128: Hash(32),
    SHAKE256: Hash(64),
}
FLAT, BLOCKS, PARALLELHASH = 1, 2, 3  # §6.1
_SHAKES = {SHAKE128, SHAKE256}
ALLOWED: dict[int, set[int]] = {  # §6.1: the hashes of each mode
    FLAT: HASHES.keys() - _SHAKES,
    BLOCKS: HASHES.keys() - _SHAKES,
    PARALLELHASH: _SHAKES,
}
