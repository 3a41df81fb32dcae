"""Public keys in SubjectPublicKeyInfo, as ``hartlock`` and ``openssl`` write them, to the form of image-format.md §2.2.

RFC 3279 (RSA), RFC 5480 (ECDSA), RFC 8410 (Ed25519), RFC 9802 (HSS, XMSS, XMSS^MT), RFC 9881 (ML-DSA), RFC 9909
(SLH-DSA).
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

from reference import hss, xmss

_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----\s(.*?)-----END PUBLIC KEY-----", re.DOTALL)
_WHITE = " \t\r\n"
_STATED = "# algorithm:"
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
        if padding not in _PADDINGS or name not in _HASHES:
            raise ValueError("no use of an RSA key")
        return _PADDINGS[padding], bits << 16 | _HASHES[name]
    raise ValueError("a public key of an unknown algorithm")


def name_of(algorithm: int, parameters: int) -> str | None:
    """The name of an algorithm in key files, or None if there is none of these numbers."""
    fixed = {(1, 0): "ed25519", (4, 1): "ecdsa-p256", (4, 2): "ecdsa-p384"}
    if algorithm in (2, 3):
        names = {number: name for name, number in _HASHES.items()}
        padding = {number: name for name, number in _PADDINGS.items()}[algorithm]
        return f"rsa-{padding}-{parameters >> 16}-{names.get(parameters & 0xFFFF)}"
    if algorithm == 16:
        lms, ots = hss.LMS_TYPES.get(parameters & 0xFF), hss.LM_OTS_TYPES.get(parameters >> 8 & 0xFF)
        if lms is None or ots is None:
            return None
        levels = parameters >> 16
        kind = "lms" if levels == 1 else f"hss-l{levels}"
        return f"{kind}-{'sha256' if lms.m == 32 else 'sha256-192'}-h{lms.h}-w{ots.w}"
    if algorithm in (17, 18):
        found = (xmss.XMSS if algorithm == 17 else xmss.XMSS_MT).get(parameters)
        if found is None:
            return None
        shape = [found.h] if algorithm == 17 else [found.h, found.d]
        kind, name = ("xmss", "xmssmt")[algorithm - 17], "sha2" if found.hash_name == "sha256" else "shake256"
        return "-".join(map(str, (kind, name, *shape, 8 * found.n)))
    if algorithm == 19:
        return f"ml-dsa-{parameters}"
    if algorithm == 20 and 1 <= parameters <= 12:
        sizes = [f"{size}{form}" for size in (128, 192, 256) for form in "sf"]
        return f"slh-dsa-{('sha2', 'shake')[(parameters - 1) % 2]}-{sizes[(parameters - 1) // 2]}"
    return fixed.get((algorithm, parameters))


def _stated(text: str) -> str | None:
    """What a line before the key states (key-files.md §4)."""
    lines = [line.strip(_WHITE + "\f") for line in text.split("-----BEGIN ")[0].split("\n")]
    stated = [line.removeprefix(_STATED).strip(_WHITE + "\f") for line in lines if line.startswith(_STATED)]
    if len(stated) > 1:
        raise ValueError("two lines that state an algorithm")
    return stated[0] if stated else None


def load(text: str, rsa_use: str | None = None) -> PublicKey:
    """The key in a PEM; ValueError for anything else. `rsa_use` is one of RSA_USES."""
    stated = _stated(text)
    of_line = re.fullmatch(r"rsa-(pss|pkcs1)-\d+-(sha\d+)", stated or "")
    if of_line is not None:
        if rsa_use not in (None, "-".join(of_line.groups())):
            raise ValueError("the line before this RSA key and the caller differ")
        rsa_use = "-".join(of_line.groups())
    key = _load(text, rsa_use)
    if stated is not None and stated != name_of(key.algorithm, key.parameters):
        raise ValueError("the line before this key states another algorithm")
    return key


def _load(text: str, rsa_use: str | None) -> PublicKey:
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
