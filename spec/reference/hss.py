"""LMS and HSS verification (RFC 8554, SP 800-208), for verify.py and its tests.

The parameter sets with SHA-256 and with SHA-256/192 (SP 800-208 §4.1 and §4.2). One hash is used
everywhere below a key: by LMS and LM-OTS of a tree and by the trees of all levels (SP 800-208 §4).

The order of the faults. Key: KEY or KEY_UNSUPPORTED. Signature: its fields from front to back, as
in RFC 8554 Algorithm 6a, a type that does not fit being PARAMETERS and a field that is cut off or
bytes that are left over being LENGTH; then INDEX of any level; then MISMATCH.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from .faults import Fault

D_PBLC, D_MESG, D_LEAF, D_INTR = b"\x80\x80", b"\x81\x81", b"\x82\x82", b"\x83\x83"  # §7.1
LEVELS = range(1, 9)


class LmOts(NamedTuple):
    """A parameter set of the one-time signature (RFC 8554 §4.1)."""

    n: int
    w: int
    p: int
    ls: int

    @property
    def signature_size(self) -> int:
        return 4 + self.n * (self.p + 1)


class Lms(NamedTuple):
    """A parameter set of the tree (RFC 8554 §5.1)."""

    m: int
    h: int


LM_OTS_TYPES: dict[int, LmOts] = {
    1: LmOts(32, 1, 265, 7),  # LMOTS_SHA256_N32_W1
    2: LmOts(32, 2, 133, 6),
    3: LmOts(32, 4, 67, 4),
    4: LmOts(32, 8, 34, 0),
    5: LmOts(24, 1, 200, 8),  # LMOTS_SHA256_N24_W1
    6: LmOts(24, 2, 101, 6),
    7: LmOts(24, 4, 51, 4),
    8: LmOts(24, 8, 26, 0),
}
LMS_TYPES: dict[int, Lms] = {
    5: Lms(32, 5),  # LMS_SHA256_M32_H5
    6: Lms(32, 10),
    7: Lms(32, 15),
    8: Lms(32, 20),
    9: Lms(32, 25),
    10: Lms(24, 5),  # LMS_SHA256_M24_H5
    11: Lms(24, 10),
    12: Lms(24, 15),
    13: Lms(24, 20),
    14: Lms(24, 25),
}


class Key(NamedTuple):
    """The public key of one tree (RFC 8554 §5.3)."""

    lms_type: int
    ots_type: int
    i: bytes
    t1: bytes

    @property
    def lms(self) -> Lms:
        return LMS_TYPES[self.lms_type]

    @property
    def ots(self) -> LmOts:
        return LM_OTS_TYPES[self.ots_type]


class Signature(NamedTuple):
    """The signature of one tree (RFC 8554 §5.4), without its types."""

    q: int
    c: bytes
    y: list[bytes]
    path: list[bytes]


def _u32str(value: int) -> bytes:
    return value.to_bytes(4, "big")


def _u16str(value: int) -> bytes:
    return value.to_bytes(2, "big")


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def _hash(n: int, *parts: bytes) -> bytes:
    """SHA-256, or its first 24 bytes."""
    return hashlib.sha256(b"".join(parts)).digest()[:n]


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


# ----------------------------------------------------------------------
# One-time signature (RFC 8554 §4)
# ----------------------------------------------------------------------


def coef(s: bytes, i: int, w: int) -> int:
    """The i-th digit of w bits (RFC 8554 §3.1.3)."""
    return ((1 << w) - 1) & (s[i * w // 8] >> (8 - (w * (i % (8 // w)) + w)))


def checksum(ots: LmOts, s: bytes) -> int:
    """Cksm (RFC 8554 §4.4)."""
    total = 0
    for i in range(8 * ots.n // ots.w):
        total += 2**ots.w - 1 - coef(s, i, ots.w)
    return total << ots.ls


def ots_candidate(key: Key, message: bytes, signature: Signature) -> bytes:
    """Kc, the one-time public key to which the signature leads (RFC 8554 Algorithm 4b)."""
    ots, front = key.ots, key.i + _u32str(signature.q)
    q = _hash(ots.n, front, D_MESG, signature.c, message)
    digits = q + _u16str(checksum(ots, q))
    z = b""
    for i in range(ots.p):
        tmp = signature.y[i]
        for j in range(coef(digits, i, ots.w), 2**ots.w - 1):
            tmp = _hash(ots.n, front, _u16str(i), bytes([j]), tmp)
        z += tmp
    return _hash(ots.n, front, D_PBLC, z)


# ----------------------------------------------------------------------
# One tree (RFC 8554 §5)
# ----------------------------------------------------------------------


def _has_types(data: bytes) -> bool:
    """Whether the first 8 bytes name two parameter sets."""
    return _u32(data, 0) in LMS_TYPES and _u32(data, 4) in LM_OTS_TYPES


def _split_key(data: bytes) -> tuple[Key, bytes] | None:
    """The key at the start of `data`, which names two parameter sets, and what follows it."""
    lms_type, ots_type = _u32(data, 0), _u32(data, 4)
    end = 24 + LMS_TYPES[lms_type].m
    if len(data) < end:
        return None
    return Key(lms_type, ots_type, data[8:24], data[24:end]), data[end:]


def decode_key(public_key: bytes) -> Key | Fault:
    """The public key of one tree without trailing bytes (RFC 8554 Algorithm 6, steps 1 and 2)."""
    if len(public_key) < 8:
        return Fault.KEY
    if not _has_types(public_key):
        return Fault.KEY_UNSUPPORTED
    split = _split_key(public_key)
    if split is None or split[1]:
        return Fault.KEY
    key = split[0]
    return key if key.lms.m == key.ots.n else Fault.KEY


def split_signature(key: Key, data: bytes) -> tuple[Signature, bytes] | Fault:
    """The signature at the start of `data`, and what follows it (Algorithm 6a, step 2)."""
    lms, ots = key.lms, key.ots
    if len(data) < 8:
        return Fault.LENGTH
    if _u32(data, 4) != key.ots_type:
        return Fault.PARAMETERS
    ots_end = 4 + ots.signature_size
    if len(data) < ots_end + 4:
        return Fault.LENGTH
    if _u32(data, ots_end) != key.lms_type:
        return Fault.PARAMETERS
    end = ots_end + 4 + lms.m * lms.h
    if len(data) < end:
        return Fault.LENGTH
    q, c = _u32(data, 0), data[8 : 8 + ots.n]
    y, path = data[8 + ots.n : ots_end], data[ots_end + 4 : end]
    return Signature(q, c, _pieces(y, ots.n), _pieces(path, lms.m)), data[end:]


def tree_candidate(key: Key, message: bytes, signature: Signature) -> bytes:
    """Tc, the root to which the signature leads (Algorithm 6a, steps 3 and 4). Needs q < 2^h."""
    m = key.lms.m
    node_num = 2**key.lms.h + signature.q
    kc = ots_candidate(key, message, signature)
    tmp = _hash(m, key.i, _u32str(node_num), D_LEAF, kc)
    for sibling in signature.path:
        left, right = (sibling, tmp) if node_num % 2 else (tmp, sibling)
        node_num //= 2
        tmp = _hash(m, key.i, _u32str(node_num), D_INTR, left, right)
    return tmp


Step = tuple[Key, bytes, Signature]  # a tree, what it signs, and how


def _judge(steps: list[Step]) -> Fault | None:
    """Indexes first, then hashes."""
    if any(signature.q >= 2**key.lms.h for key, _, signature in steps):
        return Fault.INDEX
    verifies = all(tree_candidate(*step) == step[0].t1 for step in steps)
    return None if verifies else Fault.MISMATCH


def verify_lms(public_key: bytes, message: bytes, signature: bytes) -> Fault | None:
    """One tree without levels (RFC 8554 Algorithm 6)."""
    key = decode_key(public_key)
    if isinstance(key, Fault):
        return key
    split = split_signature(key, signature)
    if isinstance(split, Fault):
        return split
    if split[1]:
        return Fault.LENGTH
    return _judge([(key, message, split[0])])


# ----------------------------------------------------------------------
# Levels (RFC 8554 §6)
# ----------------------------------------------------------------------


def verify(public_key: bytes, message: bytes, signature: bytes) -> Fault | None:
    """HSS (RFC 8554 §6.3): each tree signs the key of the next one, the last the message."""
    if len(public_key) < 4 or _u32(public_key, 0) not in LEVELS:
        return Fault.KEY
    top = decode_key(public_key[4:])
    if isinstance(top, Fault):
        return top
    if len(signature) < 4:
        return Fault.LENGTH
    n_spk = _u32(signature, 0)
    if n_spk + 1 != _u32(public_key, 0):
        return Fault.PARAMETERS
    steps: list[Step] = []
    key, rest = top, signature[4:]
    for _level in range(n_spk):
        split = split_signature(key, rest)
        if isinstance(split, Fault):
            return split
        tree_signature, signed = split
        if len(signed) < 8:
            return Fault.LENGTH
        if not _has_types(signed):
            return Fault.KEY_UNSUPPORTED
        if _other_hash(top, signed):
            return Fault.PARAMETERS
        next_key = _split_key(signed)
        if next_key is None:
            return Fault.LENGTH
        steps.append((key, signed[: len(signed) - len(next_key[1])], tree_signature))
        key, rest = next_key
    split = split_signature(key, rest)
    if isinstance(split, Fault):
        return split
    if split[1]:
        return Fault.LENGTH
    return _judge([*steps, (key, message, split[0])])


def _other_hash(top: Key, data: bytes) -> bool:
    """Whether one of the types in the first 8 bytes has another hash than the tree of level 0."""
    lms, ots = LMS_TYPES[_u32(data, 0)], LM_OTS_TYPES[_u32(data, 4)]
    return lms.m != top.lms.m or ots.n != top.lms.m
