"""Encrypted payloads, written from §4.6 and §7.6 of image-format.md alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Iterator
from typing import NamedTuple

from reasons import Reason
from reference import aes

AES_256_CTR = 1


class Broken(Exception):
    """Carries the rule that is broken."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason


class Encryption(NamedTuple):
    """A record of an encrypted payload (§4.6)."""

    payload: int
    class_id: bytes
    wrapped: bytes


def read(value: bytes, sizes: dict[int, int]) -> Iterator[Encryption]:
    """The records of the extension; `sizes` are those of the payloads by their types."""
    if len(value) % 64 or not 1 <= len(value) // 64 <= 8:
        raise Broken(Reason.E0442)
    last = -1
    for at in range(0, len(value), 64):
        payload, cipher = struct.unpack_from("<2I", value, at)
        if cipher != AES_256_CTR:
            raise Broken(Reason.E0445)
        if payload <= last:
            raise Broken(Reason.E0446)
        if sizes.get(payload, 0) == 0:
            raise Broken(Reason.E0516)
        last = payload
        yield Encryption(payload, bytes(value[at + 8 : at + 24]), bytes(value[at + 24 : at + 64]))


def class_id(key: bytes) -> bytes:
    """The id of a class key (§7.6)."""
    return hashlib.sha384(b"HLKclass" + key).digest()[:16]


def content_key(encryption: Encryption, class_keys: dict[bytes, bytes]) -> bytes:
    """The key of a payload, with the class keys by their ids."""
    if encryption.class_id not in class_keys:
        raise Broken(Reason.E0606)
    key = aes.unwrap(class_keys[encryption.class_id], encryption.wrapped)
    if key is None:
        raise Broken(Reason.E0517)
    return key


def load_class_key(text: str) -> bytes:
    """The class key in a PEM file; ValueError for anything else (key-files §8)."""
    name = "HARTLOCK CLASS KEY"
    _, found, rest = text.partition(f"-----BEGIN {name}-----")
    body, end, after = rest.partition(f"-----END {name}-----")
    if not found or not end or after.strip():
        raise ValueError("no class key")
    try:
        key = base64.b64decode("".join(body.split()), validate=True)
    except binascii.Error as error:
        raise ValueError("wrong Base64") from error
    if len(key) != 32:
        raise ValueError("a class key has 32 bytes")
    return key
