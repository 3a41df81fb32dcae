"""What software does with the power that the engine gives: the paddings of RSA signatures (RFC 8017)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

# DigestInfo of RFC 8017 §9.2, note 1, up to the digest: identifiers of hashes below 2.16.840.1.101.3.4.2, and SHA-1's own.
NIST_HASHES = {"SHA-256": 1, "SHA-384": 2, "SHA-512": 3, "SHA-224": 4, "SHA3-256": 8}
SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
# Bytes that an extendable-output function gives as a hash (RFC 8702 §3.1).
EXTENDABLE = {"SHAKE-128": 32, "SHAKE-256": 64}
Mask = Callable[[bytes, int], bytes]


def digest(name: str, message: bytes) -> bytes:
    if name in EXTENDABLE:
        return shake(name)(message, EXTENDABLE[name])
    return hashlib.new(name.lower().replace("sha3-", "sha3_").replace("sha-", "sha"), message).digest()


def shake(name: str) -> Mask:
    function = {"SHAKE-128": hashlib.shake_128, "SHAKE-256": hashlib.shake_256}[name]
    return lambda seed, length: function(seed).digest(length)


def mgf1(name: str) -> Mask:
    """RFC 8017 §B.2.1."""

    def mask(seed: bytes, length: int) -> bytes:
        out = b""
        while len(out) < length:
            counter = len(out) // len(digest(name, b""))
            out += digest(name, seed + counter.to_bytes(4, "big"))
        return out[:length]

    return mask


def pkcs1(name: str, message: bytes, length: int) -> bytes | None:
    """The one block that is right (RFC 8017 §9.2): it is compared as a whole, and nothing in it is parsed."""
    hashed = digest(name, message)
    info = SHA1_INFO
    if name != "SHA-1":
        oid = bytes.fromhex("06096086480165030402") + bytes([NIST_HASHES[name]])
        inner = bytes([0x30, len(oid) + 2]) + oid + b"\x05\x00"
        info = bytes([0x30, len(inner) + 2 + len(hashed)]) + inner + bytes([0x04, len(hashed)])
    fill = length - 3 - len(info) - len(hashed)
    return None if fill < 8 else b"\x00\x01" + b"\xff" * fill + b"\x00" + info + hashed


def is_pss(name: str, mask: Mask, salt_length: int, message: bytes, number: int, modulus_bits: int) -> bool:
    """RFC 8017 §9.1.2, with the number that the block is."""
    hashed = digest(name, message)
    bits = modulus_bits - 1
    length = (bits + 7) // 8
    if number.bit_length() > bits or length < len(hashed) + salt_length + 2:
        return False
    block = number.to_bytes(length, "big")
    masked, seed, end = block[: -len(hashed) - 1], block[-len(hashed) - 1 : -1], block[-1]
    if end != 0xBC or int.from_bytes(masked, "big") >> bits - 8 * (len(hashed) + 1):
        return False
    pad = mask(seed, len(masked))
    data = int.from_bytes(masked, "big") ^ int.from_bytes(pad, "big")
    data &= (1 << bits - 8 * (len(hashed) + 1)) - 1
    plain = data.to_bytes(len(masked), "big")
    zeros = len(masked) - salt_length - 1
    if plain[:zeros] != bytes(zeros) or plain[zeros] != 1:
        return False
    salt = plain[zeros + 1 :]
    return digest(name, bytes(8) + hashed + salt) == seed
