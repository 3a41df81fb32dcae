"""Public keys in SubjectPublicKeyInfo, as ``hartlock`` and ``openssl`` write them, to the form of image-format.md §2.2.

RFC 3279 (RSA), RFC 5480 (ECDSA), RFC 8410 (Ed25519), RFC 9802 (HSS, XMSS, XMSS^MT), RFC 9881 (ML-DSA), RFC 9909
(SLH-DSA).
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----\s(.*?)-----END PUBLIC KEY-----", re.DOTALL)
_WHITE = " \t\r\n"
_STATED = re.compile(r"^# algorithm: rsa-(pss|pkcs1)-\d+-(sha\d+)$", re.MULTILINE)
_HASHES = {"sha256": 1, "sha384": 2, "sha512": 3}
_PADDINGS = {"pss": 2, "pkcs1": 3}

RSA_USES = [f"{padding}-{name}" for padding in _PADDINGS for name in _HASHES]


class PublicKey(NamedTuple):
    """A key as encoded in a signature block."""

    algorithm: int
    parameters: int
    data: bytes


def _tlv(tag: int, content: bytes) -> bytes:
    """DER (X.690 §8.1, §10.1) of contents below 64 KiB."""
    size = len(content)
    if size < 0x80:
        head = bytes([tag, size])
    elif size < 0x100:
        head = bytes([tag, 0x81, size])
    else:
        head = bytes([tag, 0x82]) + size.to_bytes(2, "big")
    return head + content


def _oid(text: str) -> bytes:
    """An object identifier (X.690 §8.19)."""
    first, second, *rest = (int(arc) for arc in text.split("."))
    out = bytearray([40 * first + second])
    for arc in rest:
        groups = [arc & 0x7F]
        while arc := arc >> 7:
            groups.append(arc & 0x7F | 0x80)
        out += bytes(reversed(groups))
    return _tlv(0x06, bytes(out))


def _identifier(oid: str, parameters: bytes = b"") -> bytes:
    return _tlv(0x30, _oid(oid) + parameters)


_RSA = _identifier("1.2.840.113549.1.1.1", _tlv(0x05, b""))
_HSS = _identifier("1.2.840.113549.1.9.16.3.17")
_XMSS = {_identifier("1.3.6.1.5.5.7.6.34"): 17, _identifier("1.3.6.1.5.5.7.6.35"): 18}

# Sets in the order of the identifiers: fast after small, SHAKE after SHA-2.
_SLH_DSA = (1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12)

_FIXED: dict[bytes, tuple[int, int]] = {
    _identifier("1.3.101.112"): (1, 0),
    _identifier("1.2.840.10045.2.1", _oid("1.2.840.10045.3.1.7")): (4, 1),
    _identifier("1.2.840.10045.2.1", _oid("1.3.132.0.34")): (4, 2),
    **{
        _identifier(f"2.16.840.1.101.3.4.3.{17 + index}"): (19, number)
        for index, number in enumerate((44, 65, 87))
    },
    **{
        _identifier(f"2.16.840.1.101.3.4.3.{20 + index}"): (20, number)
        for index, number in enumerate(_SLH_DSA)
    },
}


def _numbers(identifier: bytes, key: bytes, rsa_use: str | None) -> tuple[int, int]:
    """Algorithm and parameters."""
    if identifier in _FIXED:
        return _FIXED[identifier]
    if identifier in _XMSS and len(key) >= 4:
        return _XMSS[identifier], int.from_bytes(key[:4], "big")
    if identifier == _HSS and len(key) >= 12:
        levels, lms, ots = (int.from_bytes(key[at : at + 4], "big") for at in (0, 4, 8))
        return 16, levels << 16 | ots << 8 | lms
    if identifier == _RSA:
        bits = (len(key) - 14) * 8  # after it: five heads, a zero, and 65537
        if rsa_use is None:
            raise ValueError("nothing says how this RSA key signs (key-files.md §4)")
        padding, name = rsa_use.split("-")
        return _PADDINGS[padding], bits << 16 | _HASHES[name]
    raise ValueError("a public key of an unknown algorithm")


def load(text: str, rsa_use: str | None = None) -> PublicKey:
    """The key in a PEM; ValueError for anything else. `rsa_use` is one of RSA_USES."""
    if rsa_use is None and (stated := _STATED.search(text)):
        rsa_use = "-".join(stated.groups())
    found = _PEM.search(text)
    if found is None or text.count("-----BEGIN ") != 1 or text[found.end() :].strip(_WHITE):
        raise ValueError("not exactly one PEM block `PUBLIC KEY`, with nothing after it")
    digits = re.sub(f"[{_WHITE}]", "", found[1])
    try:
        der = base64.b64decode(digits, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("the PEM block is not valid base64") from error
    if base64.b64encode(der).decode() != digits:
        raise ValueError("the PEM block has bits after its last byte")
    for identifier in (*_FIXED, *_XMSS, _HSS, _RSA):
        # All heads have the length that follows from the whole, so there is one encoding to compare with.
        start = der.find(identifier)
        if not 0 <= start <= 4:
            continue
        rest = der[start + len(identifier) :]
        for head in (3, 4, 5):
            key = rest[head:]
            if _tlv(0x30, identifier + _tlv(0x03, b"\0" + key)) == der:
                return PublicKey(*_numbers(identifier, key, rsa_use), key)
    raise ValueError("not a public key that this format has")
