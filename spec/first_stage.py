#!/usr/bin/env python3
"""Independent verifier for first-stage images, written from first-stage.md alone.

Every "§" is a section of that page. The signature algorithms are those of verify.py, in reference/; they take
keys and signatures in the encodings of their standards, which are made here from the values of §2.

Command line: ``first_stage.py IMAGE... --key PUB.pem`` (see ``--help``). Exit code 0 is accepted, 1 refused, 2
could not decide. As a module: :func:`verify`, a pure function of bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import spki
from algorithms import ALGORITHMS
from reasons import Reason
from reference import hss, xmss

LIFECYCLES: dict[str, int] = {"development": 0, "production": 1, "returned": 2}  # §6


class _Refusal(Exception):
    """Carries the first rule that was broken from a step to :func:`verify`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason


def _require(condition: bool, reason: Reason) -> None:
    if not condition:
        raise _Refusal(reason)


# ----------------------------------------------------------------------
# Algorithms (§2)
# ----------------------------------------------------------------------

LMS_HSS, XMSS, XMSS_MT, SLH_DSA = 16, 17, 18, 20
SLH_DSA_SHA2_128S = 1


class Index(NamedTuple):
    """An index of eight bytes in the form (§2.2): below 2^height, `size` bytes long in the standard."""

    height: int
    size: int


class Code(NamedTuple):
    """Bytes of the standard that are not in the form."""

    data: bytes


class Values(NamedTuple):
    """Bytes that are the same in both."""

    size: int


Piece = Index | Code | Values


class Form(NamedTuple):
    """A pair of the table of §2."""

    key_codes: bytes  # what the standard has in front of the key
    key_size: int  # without these
    pieces: tuple[Piece, ...]  # of a signature

    @property
    def signature_size(self) -> int:
        return sum(_size(piece) for piece in self.pieces)

    @property
    def signed_at(self) -> int:
        """Where the signed part begins (§3)."""
        return 128 + _align(self.signature_size, 64)


def _size(piece: Piece) -> int:
    match piece:
        case Index():
            return 8
        case Values(size):
            return size
        case _:
            return 0


def _align(x: int, n: int) -> int:
    return (x + n - 1) // n * n


def _u32str(value: int) -> bytes:
    return struct.pack(">I", value)


def _of_hss(levels: int, lms_type: int, ots_type: int) -> Form:
    lms, ots = hss.LMS_TYPES[lms_type], hss.LM_OTS_TYPES[ots_type]
    pieces: list[Piece] = [Code(_u32str(levels - 1))]
    for level in range(levels):
        pieces += [Index(lms.h, 4), Code(_u32str(ots_type)), Values(ots.n * (1 + ots.p))]
        pieces += [Code(_u32str(lms_type)), Values(lms.h * lms.m)]
        if level < levels - 1:
            pieces += [Code(_u32str(lms_type) + _u32str(ots_type)), Values(16 + lms.m)]
    codes = _u32str(levels) + _u32str(lms_type) + _u32str(ots_type)
    return Form(codes, 16 + lms.m, tuple(pieces))


def _of_xmss(number: int, parameters: xmss.Parameters, multi: bool) -> Form:
    size = (parameters.h + 7) // 8 if multi else 4
    rest = parameters.signature_size - size
    return Form(_u32str(number), 2 * parameters.n, (Index(parameters.h, size), Values(rest)))


def _forms() -> dict[tuple[int, int], Form]:
    forms: dict[tuple[int, int], Form] = {}
    for levels in range(1, 9):
        for lms_type in range(5, 15):
            for ots_type in range(1, 9):
                if (lms_type <= 9) == (ots_type <= 4):
                    parameters = 65536 * levels + 256 * ots_type + lms_type
                    forms[LMS_HSS, parameters] = _of_hss(levels, lms_type, ots_type)
    for number in (1, 2, 3, 13, 14, 15):
        forms[XMSS, number] = _of_xmss(number, xmss.XMSS[number], multi=False)
    for number in (*range(1, 9), *range(33, 41)):
        forms[XMSS_MT, number] = _of_xmss(number, xmss.XMSS_MT[number], multi=True)
    forms[SLH_DSA, SLH_DSA_SHA2_128S] = Form(b"", 32, (Values(7856),))
    return forms


FORMS = _forms()


# ----------------------------------------------------------------------
# The steps of §8
# ----------------------------------------------------------------------


@dataclass(frozen=True)
class Accepted:
    """The image kept every rule that was checked."""

    key_digest: bytes
    security_version: int
    next_key: tuple[int, int, bytes] | None  # algorithm, parameters, digest
    code: bytes


@dataclass(frozen=True)
class Refused:
    """The image broke a rule; this is the first one in the order of §8."""

    reason: Reason


def _zero(data: bytes) -> bool:
    return not any(data)


def _u32(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "little")


def _u64(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def _pair(data: bytes, offset: int) -> tuple[int, int]:
    return _u32(data, offset), _u32(data, offset + 4)


def _is_name(field: bytes) -> bool:
    text = field.rstrip(b"\0")
    return bool(text) and all(0x21 <= byte <= 0x7E for byte in text)


def key_digest(front: bytes) -> bytes:
    """§5, of the first 128 bytes of an image."""
    return hashlib.sha256(front[:128]).digest()


def front_of(algorithm: int, parameters: int, public_key: bytes) -> bytes:
    """Lead and key (§4, §2.1) of a key in the encoding of its standard."""
    form = FORMS[algorithm, parameters]
    lead = b"HARTLOCK-FRST-v1" + struct.pack("<II", algorithm, parameters)
    return lead.ljust(64, b"\0") + public_key.removeprefix(form.key_codes).ljust(64, b"\0")


def _read_front(image: bytes) -> Form:
    """Step 1: lead and key."""
    _require(len(image) >= 128, Reason.E0101)
    _require(image[:16] == b"HARTLOCK-FRST-v1", Reason.E0102)
    form = FORMS.get(_pair(image, 16))
    if form is None:
        raise _Refusal(Reason.E0206)
    _require(_zero(image[24:64]) and _zero(image[64 + form.key_size : 128]), Reason.E0203)
    return form


def _read_signed(image: bytes, form: Form, capacity: int | None) -> bytes:
    """Steps 3 and 4: header and code."""
    _require(len(image) >= form.signed_at + 256, Reason.E0101)
    _require(_zero(image[128 + form.signature_size : form.signed_at]), Reason.E0203)
    code_size = _u64(image, form.signed_at + 24)
    _require(code_size % 64 == 0 and 64 <= code_size <= 16777216, Reason.E0106)
    _require(capacity is None or code_size <= capacity, Reason.E0106)
    end = form.signed_at + 256 + code_size
    _require(len(image) >= end, Reason.E0101)
    return image[form.signed_at : end]


def _check_signature(image: bytes, form: Form, signed: bytes) -> None:
    """Step 5: the values in the encoding of the standard, then its verification."""
    signature = b""
    at = 128
    for piece in form.pieces:
        data = image[at : at + _size(piece)]
        at += _size(piece)
        match piece:
            case Index(height, size):
                index = int.from_bytes(data, "big")
                _require(index < 1 << height, Reason.E0308)
                signature += index.to_bytes(size, "big")
            case Code(code):
                signature += code
            case _:
                signature += data
    key = form.key_codes + image[64 : 64 + form.key_size]
    reason = ALGORITHMS[_pair(image, 16)].check(key, signature, signed)
    if reason is not None:
        raise _Refusal(reason)


def _check_header(header: bytes, pair: tuple[int, int]) -> None:
    """Step 6: what the signer said, at the start of the signed part."""
    _require(header[:16] == b"HARTLOCK-CODE-v1", Reason.E0103)
    _require(_pair(header, 16) == pair, Reason.E0412)
    _require(_zero(header[44:64] + header[136:160] + header[192:256]), Reason.E0401)
    lifecycle_mask = _u32(header, 40)
    _require(lifecycle_mask != 0 and lifecycle_mask >> 3 == 0, Reason.E0408)
    _require(_zero(header[128:192]) or _pair(header, 128) in FORMS, Reason.E0425)


def _check_device(
    header: bytes,
    board: str | None,
    soc: str | None,
    floor: int | None,
    lifecycle: str | None,
) -> None:
    """Step 7: whether it is for this device (§7)."""
    for name, at, other, form in (
        (board, 64, Reason.E0601, Reason.E0405),
        (soc, 96, Reason.E0602, Reason.E0406),
    ):
        field = header[at : at + 32]
        if name is None:
            _require(_is_name(field), form)
        else:
            _require(field == name.encode("ascii").ljust(32, b"\0"), other)
    _require(floor is None or _u64(header, 32) >= floor, Reason.E0603)
    if lifecycle is not None:
        _require(bool(_u32(header, 40) >> LIFECYCLES[lifecycle] & 1), Reason.E0604)


def verify(
    image: bytes,
    trusted: Collection[bytes],
    *,
    board: str | None = None,
    soc: str | None = None,
    floor: int | None = None,
    lifecycle: str | None = None,
    capacity: int | None = None,
    is_file: bool = True,
) -> Accepted | Refused:
    """Verify the image at the start of `image`, in the order of §8; a file must end with it.

    `trusted` are digests of keys (§5). The others are the device's (§7); what is None is not checked.
    """
    try:
        form = _read_front(image)  # step 1
        digest = key_digest(image)
        _require(digest in trusted, Reason.E0304)  # step 2
        signed = _read_signed(image, form, capacity)  # steps 3 and 4
        _check_signature(image, form, signed)  # step 5
        _check_header(signed, _pair(image, 16))  # step 6
        _check_device(signed, board, soc, floor, lifecycle)  # step 7
        _require(not is_file or len(image) == form.signed_at + len(signed), Reason.E0803)  # step 8
    except _Refusal as refusal:
        return Refused(refusal.reason)
    return _accepted(digest, signed)


def _accepted(digest: bytes, signed: bytes) -> Accepted:
    next_key = None if _zero(signed[128:192]) else (*_pair(signed, 128), signed[160:192])
    return Accepted(digest, _u64(signed, 32), next_key, signed[256:])


# ----------------------------------------------------------------------
# Command line
# ----------------------------------------------------------------------


def load_digest(path: Path) -> bytes | None:
    """The digest of the public key in a file; None if no first stage can be signed with such a key."""
    algorithm, parameters, key = spki.load(path.read_text(encoding="utf-8"), None)
    if (algorithm, parameters) not in FORMS:
        return None
    return key_digest(front_of(algorithm, parameters, key))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description="Verify first-stage images as first-stage.md says.",
        epilog="Exit code: 0 accepted, 1 refused, 2 could not decide; of several, the highest.",
    )
    parser.add_argument("images", metavar="IMAGE", nargs="+", type=Path)
    parser.add_argument(
        "--key", metavar="PUB.pem", action="append", required=True, dest="keys", type=Path
    )
    parser.add_argument("--board", metavar="NAME", help="board of the device")
    parser.add_argument("--soc", metavar="NAME", help="SoC of the device")
    parser.add_argument("--floor", metavar="N", type=int, help="lowest security version")
    parser.add_argument("--lifecycle", choices=LIFECYCLES, help="state of the device")
    parser.add_argument("--capacity", metavar="BYTES", type=int, help="room for code")
    options = parser.parse_args(arguments)
    worst = 0
    try:
        trusted = {load_digest(path) for path in options.keys} - {None}
        images = [(path, path.read_bytes()) for path in options.images]
    except (OSError, ValueError) as error:
        print(f"first_stage.py: {error!r}", file=sys.stderr)
        return 2
    for path, image in images:
        result = verify(
            image,
            [digest for digest in trusted if digest is not None],
            board=options.board,
            soc=options.soc,
            floor=options.floor,
            lifecycle=options.lifecycle,
            capacity=options.capacity,
        )
        if isinstance(result, Refused):
            print(ascii(f"{path}: refused: {result.reason.name} {result.reason.value}")[1:-1])
            worst = 1
        else:
            print(ascii(f"{path}: accepted")[1:-1])
    return worst


if __name__ == "__main__":
    sys.exit(main())
