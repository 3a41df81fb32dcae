"""RSA signature verification, PKCS#1 v1.5 and PSS (RFC 8017), for verify.py and its tests.

Narrower than the RFC: moduli of 2048, 3072 or 4096 bits, the public exponent 65537, one hash for
message and mask, a salt as long as the hash, and keys as RSAPublicKey (RFC 8017 §A.1.1) in DER.
Everything that is computed here is public.

The order of the faults: KEY, KEY_UNSUPPORTED, LENGTH, ENCODING, MISMATCH.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from .faults import Fault

MODULUS_BITS = (2048, 3072, 4096)
EXPONENT = 65537

# Prefix of the digest in a DigestInfo (RFC 8017 §9.2, note 1), parameters NULL.
DIGEST_INFO: dict[str, bytes] = {
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
    "sha384": bytes.fromhex("3041300d060960864801650304020205000430"),
    "sha512": bytes.fromhex("3051300d060960864801650304020305000440"),
}

_INTEGER, _SEQUENCE = 0x02, 0x30  # tags of X.690 §8.3 and §8.9


class Key(NamedTuple):
    """A public key whose modulus has one of the sizes and whose exponent is 65537."""

    n: int
    k: int  # the length of the modulus in bytes


def _take(data: bytes, tag: int) -> tuple[bytes, bytes] | None:
    """Contents of the DER value at the start of `data`, and what follows it (X.690 §10.1)."""
    if len(data) < 2 or data[0] != tag:
        return None
    length, at = data[1], 2
    if length >= 0x80:  # the long form, only with digits and only where the short one is too short
        at += length - 0x80
        digits = data[2:at]
        if len(digits) != length - 0x80 or digits[:1] in (b"", b"\0"):
            return None
        length = int.from_bytes(digits, "big")
        if length < 0x80:
            return None
    if len(data) < at + length:
        return None
    return data[at : at + length], data[at + length :]


def _take_positive(data: bytes) -> tuple[int, bytes] | None:
    """A positive INTEGER in as few bytes as possible (X.690 §8.3), and what follows it."""
    taken = _take(data, _INTEGER)
    if taken is None:
        return None
    digits, rest = taken
    value = int.from_bytes(digits, "big")
    # As many bytes as it takes with one bit more than the value has, for the sign, which is 0.
    if value == 0 or len(digits) != value.bit_length() // 8 + 1:
        return None
    return value, rest


def decode_key(public_key: bytes) -> Key | Fault:
    """The key of an RSAPublicKey (RFC 8017 §A.1.1)."""
    sequence = _take(public_key, _SEQUENCE)
    if sequence is None or sequence[1]:
        return Fault.KEY
    modulus = _take_positive(sequence[0])
    if modulus is None:
        return Fault.KEY
    exponent = _take_positive(modulus[1])
    if exponent is None or exponent[1]:
        return Fault.KEY
    n, e = modulus[0], exponent[0]
    # The factors of n are odd primes, and e has an inverse (RFC 8017 §3.1).
    if n % 2 == 0 or e % 2 == 0 or not 1 < e < n:
        return Fault.KEY
    if n.bit_length() not in MODULUS_BITS or e != EXPONENT:
        return Fault.KEY_UNSUPPORTED
    return Key(n, n.bit_length() // 8)


def _open(key: Key, signature: bytes) -> bytes | Fault:
    """The encoded message of a signature (RFC 8017 §8.1.2 and §8.2.2, steps 1 and 2).

    It is as long as the modulus in both schemes: for PSS emBits is 8k - 1, so that emLen is k.
    """
    if len(signature) != key.k:
        return Fault.LENGTH
    s = int.from_bytes(signature, "big")
    if s >= key.n:
        return Fault.ENCODING
    return pow(s, EXPONENT, key.n).to_bytes(key.k, "big")


def verify_pkcs1(
    hash_name: str, public_key: bytes, message: bytes, signature: bytes
) -> Fault | None:
    """RSASSA-PKCS1-v1_5 (RFC 8017 §8.2.2): the encoded message is made anew and compared."""
    key = decode_key(public_key)
    if isinstance(key, Fault):
        return key
    em = _open(key, signature)
    if isinstance(em, Fault):
        return em
    t = DIGEST_INFO[hash_name] + hashlib.new(hash_name, message).digest()
    expected = b"\0\1" + b"\xff" * (key.k - len(t) - 3) + b"\0" + t  # §9.2
    return None if em == expected else Fault.MISMATCH


def mgf1(hash_name: str, seed: bytes, size: int) -> bytes:
    """RFC 8017 §B.2.1."""
    t = b""
    counter = 0
    while len(t) < size:
        t += hashlib.new(hash_name, seed + counter.to_bytes(4, "big")).digest()
        counter += 1
    return t[:size]


def verify_pss(hash_name: str, public_key: bytes, message: bytes, signature: bytes) -> Fault | None:
    """RSASSA-PSS (RFC 8017 §8.1.2)."""
    key = decode_key(public_key)
    if isinstance(key, Fault):
        return key
    em = _open(key, signature)
    if isinstance(em, Fault):
        return em
    m_hash = hashlib.new(hash_name, message).digest()
    return None if _is_consistent(hash_name, m_hash, em) else Fault.MISMATCH


def _is_consistent(hash_name: str, m_hash: bytes, em: bytes) -> bool:
    """EMSA-PSS-VERIFY (RFC 8017 §9.1.2) with emBits = 8 emLen - 1 and sLen = hLen."""
    h_len = s_len = len(m_hash)
    db_len = len(em) - h_len - 1
    masked_db, h, trailer = em[:db_len], em[db_len:-1], em[-1:]
    if trailer != b"\xbc":  # step 4
        return False
    if masked_db[0] >= 0x80:  # step 6: the bit above emBits
        return False
    db_mask = mgf1(hash_name, h, db_len)
    db = bytearray(x ^ y for x, y in zip(masked_db, db_mask))
    db[0] &= 0x7F  # step 9
    if db[:-s_len] != bytes(db_len - s_len - 1) + b"\1":  # step 10
        return False
    salt = bytes(db[-s_len:])
    return hashlib.new(hash_name, bytes(8) + m_hash + salt).digest() == h
