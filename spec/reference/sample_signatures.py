"""Makes keys and signatures for the tests of the signature algorithms.

None of it is fit for anything else: where a genuine key would need whole trees, this one is made to
fit the signature.
"""

from __future__ import annotations

import hashlib
import random

from . import hss, ml_dsa, xmss
from .faults import Fault

# ----------------------------------------------------------------------
# RSA
# ----------------------------------------------------------------------


def der(tag: int, contents: bytes) -> bytes:
    size = len(contents)
    if size < 0x80:
        return bytes([tag, size]) + contents
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 + len(digits)]) + digits + contents


def der_integer(value: int) -> bytes:
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def rsa_key(n: int, e: int) -> bytes:
    """RSAPublicKey (RFC 8017 §A.1.1)."""
    return der(0x30, der_integer(n) + der_integer(e))


# How far the primes are from where `rsa_prime` starts to search.
PRIMES = {2048: (764, 838), 3072: (816, 286), 4096: (1852, 406)}


def rsa_prime(bits: int, index: int) -> int:
    """p or q of a modulus of so many bits."""
    start = hashlib.shake_256(f"{'pq'[index]} {bits}".encode()).digest(bits // 16)
    return (int.from_bytes(start, "big") | 3 << (bits // 2 - 2) | 1) + PRIMES[bits][index]


# ----------------------------------------------------------------------
# LMS and HSS
# ----------------------------------------------------------------------


def lms_signature(lms_type: int, ots_type: int, q: int, choice: random.Random) -> bytes:
    """Right in form. It leads to some root, which :func:`lms_key` makes that of the key."""
    lms, ots = hss.LMS_TYPES[lms_type], hss.LM_OTS_TYPES[ots_type]
    front = q.to_bytes(4, "big") + ots_type.to_bytes(4, "big")
    middle = choice.randbytes(ots.n * (ots.p + 1)) + lms_type.to_bytes(4, "big")
    return front + middle + choice.randbytes(lms.m * lms.h)


def lms_key(types: tuple[int, int], message: bytes, signature: bytes) -> bytes:
    """The key under which the signature verifies."""
    identifier = hashlib.sha256(signature).digest()[:16]
    key = hss.Key(*types, identifier, b"")
    split = hss.split_signature(key, signature)
    assert not isinstance(split, Fault)
    root = hss.tree_candidate(key, message, split[0])
    return b"".join(t.to_bytes(4, "big") for t in types) + identifier + root


def hss_pair(levels: list[tuple[int, int]], message: bytes, q: int = 1) -> tuple[bytes, bytes]:
    """Key and signature with these types, from the top down."""
    choice = random.Random(3)
    rest, signed, next_key = b"", message, b""
    for types in reversed(levels):
        signature = lms_signature(*types, q, choice)
        rest = signature + next_key + rest
        signed = next_key = lms_key(types, signed, signature)
    count = len(levels)
    return count.to_bytes(4, "big") + signed, (count - 1).to_bytes(4, "big") + rest


# ----------------------------------------------------------------------
# XMSS
# ----------------------------------------------------------------------


class XmssMaker:
    """Signs with the one leaf `idx`; what is beside its paths is made up, or computed as well."""

    def __init__(self, parameters: xmss.Parameters, idx: int, whole_trees: bool) -> None:
        self.parameters, self.idx, self.whole_trees = parameters, idx, whole_trees
        self.hasher = xmss.Hasher(parameters, self.made_up("SEED"))

    def made_up(self, *label: object) -> bytes:
        return hashlib.sha256(repr(label).encode()).digest()[: self.parameters.n]

    def chain(self, address: xmss.Address, steps: int) -> bytes:
        """The first steps of a chain (RFC 8391 Algorithm 2)."""
        value = self.made_up(*address[:5])
        for i in range(steps):
            step = address._replace(third=i)
            key, mask = self.hasher.prf(step.encode(0)), self.hasher.prf(step.encode(1))
            value = self.hasher.keyed(0, key, bytes(x ^ y for x, y in zip(value, mask)))
        return value

    def leaf(self, layer: int, tree: int, index: int) -> bytes:
        ots = xmss.Address(layer, tree, xmss.OTS, index)
        ends = [self.chain(ots._replace(second=i), 15) for i in range(self.parameters.len)]
        return xmss.ltree(self.hasher, ends, xmss.Address(layer, tree, xmss.L_TREE, index))

    def tree(self, layer: int, tree: int, leaf: int) -> tuple[list[bytes], bytes]:
        """Path of a leaf and root, from the leaves up (RFC 8391 Algorithms 9 and 10)."""
        path = []
        nodes = [self.leaf(layer, tree, i) for i in range(2**self.parameters.layer_height)]
        for height in range(self.parameters.layer_height):
            path.append(nodes[(leaf >> height) ^ 1])
            above = xmss.Address(layer, tree, xmss.HASH_TREE, 0, height)
            nodes = [
                self.hasher.rand_hash(nodes[2 * i], nodes[2 * i + 1], above._replace(third=i))
                for i in range(len(nodes) // 2)
            ]
        return path, nodes[0]

    def sign(self, layer: int, signed: bytes) -> tuple[bytes, bytes]:
        """The signature of a layer, and its root, which does not depend on what is signed."""
        height = self.parameters.layer_height
        tree, leaf = self.idx >> height * (layer + 1), (self.idx >> height * layer) % 2**height
        ots = xmss.Address(layer, tree, xmss.OTS, leaf)
        digits = xmss.wots_digits(self.parameters, signed)
        sig_ots = [self.chain(ots._replace(second=i), digit) for i, digit in enumerate(digits)]
        if self.whole_trees:
            path, root = self.tree(layer, tree, leaf)
            return b"".join(sig_ots + path), root
        path = [self.made_up("path", layer, k) for k in range(height)]
        parts = b"".join(sig_ots + path)
        return parts, xmss.root_from_sig(self.hasher, leaf, parts, signed, layer, tree)


def xmss_pair(
    oid: int, is_mt: bool, message: bytes, idx: int, whole_trees: bool = False
) -> tuple[bytes, bytes]:
    """Key and signature. Whole trees take seconds, and minutes where layers are high."""
    parameters = (xmss.XMSS_MT if is_mt else xmss.XMSS)[oid]
    n, maker = parameters.n, XmssMaker(parameters, idx, whole_trees)
    root = maker.sign(parameters.d - 1, bytes(n))[1]
    r = maker.made_up("r")
    node = maker.hasher.keyed(2, r + root + idx.to_bytes(n, "big"), message)
    signature = idx.to_bytes(parameters.index_size, "big") + r
    for layer in range(parameters.d):
        parts, node = maker.sign(layer, node)
        signature += parts
    return oid.to_bytes(4, "big") + root + maker.hasher.seed, signature


# ----------------------------------------------------------------------
# ML-DSA
# ----------------------------------------------------------------------


def ml_dsa_pair(
    parameters: ml_dsa.Parameters, message: bytes, ones: list[list[int]], largest: int
) -> tuple[bytes, bytes]:
    """A key whose t1 is zero, for which an attacker can sign, and a signature with a given hint."""
    choice = random.Random(4)
    key = choice.randbytes(32) + bytes(320 * parameters.k)
    z = [[choice.randint(-9, 9) for _ in range(256)] for _ in range(parameters.l)]
    z[0][0], z[-1][-1] = largest, -largest
    h = [[int(i in row) for i in range(256)] for row in ones]
    hint = bytes(i for row in ones for i in row).ljust(parameters.omega, b"\0")
    ends = bytes(sum(map(len, ones[: i + 1])) for i in range(parameters.k))
    t1 = [[0] * 256 for _ in range(parameters.k)]
    w1 = ml_dsa.commitment(parameters, key[:32], t1, [0] * 256, z, h)
    bits = 6 if parameters.k == 4 else 4
    m_prime = bytes(2) + message
    mu = hashlib.shake_256(hashlib.shake_256(key).digest(64) + m_prime).digest(64)
    packed = b"".join(pack(polynomial, bits) for polynomial in w1)
    c_tilde = hashlib.shake_256(mu + packed).digest(parameters.c_tilde_size)
    z_packed = b"".join(pack([parameters.gamma_1 - c for c in p], parameters.z_bits) for p in z)
    return key, c_tilde + z_packed + hint + ends


def pack(values: list[int], bits: int) -> bytes:
    total = sum(value << bits * i for i, value in enumerate(values))
    return total.to_bytes(len(values) * bits // 8, "little")
