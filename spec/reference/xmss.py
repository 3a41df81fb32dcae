"""XMSS and XMSS^MT verification (RFC 8391, SP 800-208 §5), for verify.py and its tests.

The sets that SP 800-208 approves: SHA-256, SHA-256/192, SHAKE256/256 and SHAKE256/192, all with
w = 16. A public key is OID, root and SEED; XMSS and XMSS^MT number their sets separately, so that
the caller has to say which of the two it means.

The order of the faults: KEY or KEY_UNSUPPORTED, LENGTH, INDEX, MISMATCH.
"""

from __future__ import annotations

import hashlib
import struct
from typing import NamedTuple

from .faults import Fault

W, LOG_W = 16, 4
OTS, L_TREE, HASH_TREE = 0, 1, 2  # types of address (RFC 8391 §2.5)


class Parameters(NamedTuple):
    """A parameter set: a hash, n, the whole height, the number of layers, bytes of the index."""

    hash_name: str
    n: int
    h: int
    d: int
    index_size: int

    @property
    def len_1(self) -> int:
        return 8 * self.n // LOG_W

    @property
    def len(self) -> int:
        """len_2 is 3 for both n (RFC 8391 §3.1.1)."""
        return self.len_1 + 3

    @property
    def layer_height(self) -> int:
        return self.h // self.d

    @property
    def signature_size(self) -> int:
        return self.index_size + self.n + self.d * self.n * (self.len + self.layer_height)


def _sets(first: int, hash_name: str, n: int) -> dict[int, Parameters]:
    """The three sets of XMSS with one hash, from their first OID on."""
    return {first + i: Parameters(hash_name, n, h, 1, 4) for i, h in enumerate((10, 16, 20))}


def _sets_mt(first: int, hash_name: str, n: int) -> dict[int, Parameters]:
    """The eight sets of XMSS^MT with one hash, from their first OID on."""
    shapes = ((20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12))
    return {
        first + i: Parameters(hash_name, n, h, d, (h + 7) // 8) for i, (h, d) in enumerate(shapes)
    }


# RFC 8391 §5.3, §5.4 and §8, SP 800-208 §5.1 to §5.4.
XMSS: dict[int, Parameters] = {
    **_sets(0x01, "sha256", 32),
    **_sets(0x0D, "sha256", 24),
    **_sets(0x10, "shake_256", 32),
    **_sets(0x13, "shake_256", 24),
}
XMSS_MT: dict[int, Parameters] = {
    **_sets_mt(0x01, "sha256", 32),
    **_sets_mt(0x21, "sha256", 24),
    **_sets_mt(0x29, "shake_256", 32),
    **_sets_mt(0x31, "shake_256", 24),
}


class Address(NamedTuple):
    """ADRS (RFC 8391 §2.5). The last three words mean different things by type."""

    layer: int
    tree: int
    type: int
    first: int  # OTS address, L-tree address, or padding
    second: int = 0  # chain address, or tree height
    third: int = 0  # hash address, or tree index

    def encode(self, key_and_mask: int) -> bytes:
        return struct.pack(">IQ5I", *self, key_and_mask)


class Hasher(NamedTuple):
    """The keyed functions (RFC 8391 §5.1, SP 800-208 §5) of a parameter set under one SEED."""

    parameters: Parameters
    seed: bytes

    def keyed(self, domain: int, key: bytes, message: bytes) -> bytes:
        """F, H, H_msg and PRF are domains 0 to 3; the domain has n bytes, or 4 where n is 24."""
        n = self.parameters.n
        data = domain.to_bytes(32 if n == 32 else 4, "big") + key + message
        if self.parameters.hash_name == "sha256":
            return hashlib.sha256(data).digest()[:n]
        return hashlib.shake_256(data).digest(n)

    def prf(self, address: bytes) -> bytes:
        return self.keyed(3, self.seed, address)

    def rand_hash(self, left: bytes, right: bytes, address: Address) -> bytes:
        """RFC 8391 Algorithm 7."""
        key, bm_0, bm_1 = (self.prf(address.encode(i)) for i in range(3))
        return self.keyed(1, key, _xor(left, bm_0) + _xor(right, bm_1))

    def chain(self, x: bytes, start: int, address: Address) -> bytes:
        """The rest of a chain, from step `start` to w - 1 (RFC 8391 Algorithm 2)."""
        for i in range(start, W - 1):
            step = address._replace(third=i)
            key, bm = self.prf(step.encode(0)), self.prf(step.encode(1))
            x = self.keyed(0, key, _xor(x, bm))
        return x


def _xor(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def base_w(x: bytes) -> list[int]:
    """The digits of 4 bits, the upper one of a byte first (RFC 8391 Algorithm 1)."""
    return [digit for byte in x for digit in (byte >> 4, byte & 15)]


def wots_digits(parameters: Parameters, message: bytes) -> list[int]:
    """The digits of a message of n bytes and of its checksum (RFC 8391 Algorithm 5).

    Three digits of checksum have 12 bits, so that it is shifted left by 4 in its two bytes.
    """
    msg = base_w(message)
    csum = sum(W - 1 - digit for digit in msg)
    msg += base_w((csum << 4).to_bytes(2, "big"))
    return msg[: parameters.len]


def wots_pk_from_sig(
    hasher: Hasher, message: bytes, sig_ots: list[bytes], address: Address
) -> list[bytes]:
    """RFC 8391 Algorithm 6."""
    digits = wots_digits(hasher.parameters, message)
    return [
        hasher.chain(sig_ots[i], digits[i], address._replace(second=i))
        for i in range(hasher.parameters.len)
    ]


def ltree(hasher: Hasher, pk: list[bytes], address: Address) -> bytes:
    """RFC 8391 Algorithm 8."""
    height = 0
    while len(pk) > 1:
        parents = [
            hasher.rand_hash(pk[2 * i], pk[2 * i + 1], address._replace(second=height, third=i))
            for i in range(len(pk) // 2)
        ]
        if len(pk) % 2:
            parents.append(pk[-1])
        pk = parents
        height += 1
    return pk[0]


def root_from_sig(
    hasher: Hasher, idx_leaf: int, signature: bytes, message: bytes, layer: int, tree: int
) -> bytes:
    """XMSS_rootFromSig (RFC 8391 Algorithm 13) of the one-time signature and path of a layer."""
    n, length = hasher.parameters.n, hasher.parameters.len
    pieces = _pieces(signature, n)
    sig_ots, auth = pieces[:length], pieces[length:]
    pk_ots = wots_pk_from_sig(hasher, message, sig_ots, Address(layer, tree, OTS, idx_leaf))
    node = ltree(hasher, pk_ots, Address(layer, tree, L_TREE, idx_leaf))
    for k in range(hasher.parameters.layer_height):
        index = idx_leaf >> k
        left, right = (auth[k], node) if index % 2 else (node, auth[k])
        node = hasher.rand_hash(left, right, Address(layer, tree, HASH_TREE, 0, k, index // 2))
    return node


def _verify(
    sets: dict[int, Parameters], public_key: bytes, message: bytes, signature: bytes
) -> Fault | None:
    """RFC 8391 Algorithm 17; with one layer it is Algorithm 14."""
    if len(public_key) < 4:
        return Fault.KEY
    parameters = sets.get(int.from_bytes(public_key[:4], "big"))
    if parameters is None:
        return Fault.KEY_UNSUPPORTED
    n, index_size = parameters.n, parameters.index_size
    if len(public_key) != 4 + 2 * n:
        return Fault.KEY
    if len(signature) != parameters.signature_size:
        return Fault.LENGTH
    idx_sig = int.from_bytes(signature[:index_size], "big")
    if idx_sig >= 2**parameters.h:
        return Fault.INDEX
    root, hasher = public_key[4 : 4 + n], Hasher(parameters, public_key[4 + n :])
    r, layers = signature[index_size : index_size + n], signature[index_size + n :]
    node = hasher.keyed(2, r + root + idx_sig.to_bytes(n, "big"), message)
    idx_tree = idx_sig
    reduced = _pieces(layers, len(layers) // parameters.d)
    for layer in range(parameters.d):
        idx_leaf = idx_tree % 2**parameters.layer_height
        idx_tree >>= parameters.layer_height
        node = root_from_sig(hasher, idx_leaf, reduced[layer], node, layer, idx_tree)
    return None if node == root else Fault.MISMATCH


def verify(public_key: bytes, message: bytes, signature: bytes) -> Fault | None:
    """XMSS, one tree."""
    return _verify(XMSS, public_key, message, signature)


def verify_mt(public_key: bytes, message: bytes, signature: bytes) -> Fault | None:
    """XMSS^MT, layers of trees."""
    return _verify(XMSS_MT, public_key, message, signature)
