#!/usr/bin/env python3
"""Independent verifier for Hartlock bundles, written from the specification alone.

Every "§" without a document's name refers to image-format.md; the board's memory map is §2 of
boot-flow.md. The signature algorithms of the format are in algorithms.py, its hashes in hashes.py,
encryption in encryption.py, profiles in profiles.py, key files in spki.py, the boards in boards.py, payloads in payloads.py, device trees in
boot_tree.py and system_tree.py, the reasons in reasons.py; reference/ has the algorithms
themselves, with KT128 and ParallelHash. Only the standard library is used, and no code is shared with
the implementation that this file checks.

Command line: ``verify.py BUNDLE... --key PUB.pem`` (see ``--help``). Exit code 0 is accepted,
1 refused, 2 could not decide. As a module: :func:`verify`, a pure function of bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import boot_tree
import encryption
import payloads as usable
import spki
import system_tree
from algorithms import ALGORITHMS
from boards import BOARDS, INITRAMFS, Board
from hashes import ALLOWED, FLAT, HASHES, KT128, PARALLELHASH, SHAKE128
from profiles import PROFILES, Profile
from reasons import Reason, load_texts
from reference import aes, keccak


class _Refusal(Exception):
    """Carries the first rule that was broken from a step to :func:`verify`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason


def _require(condition: bool, reason: Reason) -> None:
    if not condition:
        raise _Refusal(reason)


# ----------------------------------------------------------------------
# Numbers (§2)
# ----------------------------------------------------------------------

TAGS: dict[bytes, str] = {b"HARTLOCK-BOOT-v1": "boot", b"HARTLOCK-SYST-v1": "system"}  # §2.1
LIFECYCLES: dict[str, int] = {"development": 0, "production": 1, "returned": 2}  # §7.3


class PayloadType(NamedTuple):
    """A row of the table of §2.4."""

    name: str
    kind: str
    required: bool
    code: bool


PAYLOAD_TYPES: dict[int, PayloadType] = {
    1: PayloadType("opensbi", "boot", True, True),
    2: PayloadType("loader", "boot", True, True),
    3: PayloadType("boot-fdt", "boot", True, False),
    16: PayloadType("kernel", "system", True, True),
    INITRAMFS: PayloadType("initramfs", "system", False, False),
    18: PayloadType("system-fdt", "system", True, False),
}


class Policy(Enum):
    """§5.3; the numbers are those of §4.4, and "every signer" has none in any bundle."""

    EVERY_SIGNER = 0
    ANY = 1
    ALL = 2
    HYBRID = 3


@dataclass(frozen=True)
class KeyRecord:
    """Algorithm, parameters and id of a public key (§4.2)."""

    algorithm: int
    parameters: int
    key_id: bytes

    @classmethod
    def of(cls, algorithm: int, parameters: int, public_key: bytes) -> KeyRecord:
        """The record of a public key (§2.5)."""
        prefix = b"HLKkeyid" + struct.pack("<II", algorithm, parameters)
        return cls(algorithm, parameters, hashlib.sha384(prefix + public_key).digest())


@dataclass(frozen=True)
class SignatureBlock:
    """One block of the signature area (§5.1)."""

    algorithm: int
    parameters: int
    public_key: bytes
    signature: bytes

    @property
    def record(self) -> KeyRecord:
        return KeyRecord.of(self.algorithm, self.parameters, self.public_key)


@dataclass(frozen=True)
class Payload:
    """One payload record (§4.3); `rec` is its first 64 bytes (§6.2)."""

    type: int
    hash: int
    mode: int
    block_size: int
    offset: int
    size: int
    load_address: int
    memory_size: int
    entry: int
    digest: bytes
    rec: bytes

    @property
    def name(self) -> str:
        return PAYLOAD_TYPES[self.type].name

    @property
    def load_end(self) -> int:
        return self.load_address + self.memory_size


@dataclass(frozen=True)
class Header:
    """The fields of the header that are used after it was checked (§4.1)."""

    kind: str
    signed_size: int
    signatures_size: int
    bundle_size: int
    security_version: int
    created: int
    lifecycle_mask: int
    signer_count: int
    payload_count: int
    extensions_size: int
    board: str
    soc: str
    label: str

    @property
    def payloads_at(self) -> int:
        return 256 + 64 * self.signer_count

    @property
    def extensions_at(self) -> int:
        return self.payloads_at + 128 * self.payload_count

    @property
    def closing_at(self) -> int:
        return self.extensions_at + self.extensions_size


@dataclass(frozen=True)
class Extensions:
    """The extension records (§4.6): devices besides that of the header, and what it depends on."""

    identities: tuple[tuple[str, str], ...] = ()
    boot_version: int = 0
    encrypted: tuple[encryption.Encryption, ...] = ()


@dataclass(frozen=True)
class Accepted:
    """The bundle kept every rule that was checked."""

    header: Header
    signers: tuple[KeyRecord, ...]
    payloads: tuple[Payload, ...]
    extensions: Extensions


@dataclass(frozen=True)
class Refused:
    """The bundle broke a rule; this is the first one in the order of §8."""

    reason: Reason


# ----------------------------------------------------------------------
# Placement (boot-flow §2)
# ----------------------------------------------------------------------


def _overlap(a: int, b: int, c: int, d: int) -> bool:
    """Whether [a, b) and [c, d) share a byte; an empty range shares none."""
    return max(a, c) < min(b, d)


def _check_placement(board: Board, kind: str, payloads: Sequence[Payload]) -> None:
    """§8 step 12: live regions, place and fixed address, payload by payload."""
    for payload in payloads:
        place = board.places.get(payload.type)
        if place is None:
            raise _Refusal(Reason.E0701)
        start, end = payload.load_address, payload.load_end
        clear = not any(_overlap(start, end, low, high) for low, high in board.live[kind])
        _require(clear, Reason.E0702)
        _require(place.start <= start and end <= place.end, Reason.E0701)
        fixed = (
            (place.address is None or start == place.address)
            and start % place.alignment == 0
            and (not place.entry_at_load or payload.entry == start)
        )
        _require(fixed, Reason.E0703)


# ----------------------------------------------------------------------
# The steps of §8
# ----------------------------------------------------------------------


def _align(x: int, n: int) -> int:
    return (x + n - 1) // n * n


def _zero(data: bytes | memoryview) -> bool:
    return not any(data)


def _u32(data: bytes | memoryview, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "little")


def _u64(data: bytes | memoryview, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def _text(field: bytes, minimum: int, lowest: int, reason: Reason) -> str:
    """A name or a label (§4.1): text of `lowest` to 0x7E, then zeros to the end of the field."""
    text = field.rstrip(b"\0")
    _require(len(text) >= minimum and all(lowest <= c <= 0x7E for c in text), reason)
    return text.decode("ascii")


def _key_records(region: bytes, offset: int, count: int, duplicate: Reason) -> list[KeyRecord]:
    """`count` key records (§4.2): for each reserved bytes, then duplicate."""
    records: list[KeyRecord] = []
    ids: set[bytes] = set()
    for at in range(offset, offset + 64 * count, 64):
        key_id = region[at + 8 : at + 56]
        _require(_zero(region[at + 56 : at + 64]), Reason.E0401)
        _require(key_id not in ids, duplicate)
        ids.add(key_id)
        records.append(KeyRecord(_u32(region, at), _u32(region, at + 4), key_id))
    return records


def _read_metadata(view: memoryview, kind: str | None) -> tuple[str, bytes, bytes]:
    """Steps 1 and 2: type of bundle, signed region, signature area (§3.1, §3.2)."""
    _require(len(view) >= 256, Reason.E0101)
    tag = bytes(view[:16])
    _require(tag in TAGS, Reason.E0102)
    _require(kind is None or TAGS[tag] == kind, Reason.E0103)
    signed_size, signatures_size = _u32(view, 16), _u32(view, 20)
    _require(signed_size % 8 == 0 and 456 <= signed_size <= 16384, Reason.E0104)
    _require(signatures_size % 8 == 0 and 8 <= signatures_size <= 262144, Reason.E0105)
    end = signed_size + signatures_size
    _require(len(view) >= end, Reason.E0101)
    return TAGS[tag], bytes(view[:signed_size]), bytes(view[signed_size:end])


def _read_blocks(area: bytes) -> list[SignatureBlock]:
    """Step 3: the structure of the signature area (§5.1)."""
    blocks: list[SignatureBlock] = []
    at = 0
    while at < len(area):
        _require(len(blocks) < 4, Reason.E0204)
        _require(at + 16 <= len(area), Reason.E0201)
        algorithm, parameters, key_size, signature_size = struct.unpack_from("<4I", area, at)
        key_at = at + 16
        signature_at = key_at + _align(key_size, 8)
        end = signature_at + _align(signature_size, 8)
        _require(end <= len(area), Reason.E0201)
        _require(algorithm != 0, Reason.E0205)
        known = ALGORITHMS.get((algorithm, parameters))
        if known is not None:
            _require(key_size == known.public_key_size, Reason.E0202)
            _require(known.signature_size in (None, signature_size), Reason.E0202)
        public_key = area[key_at : key_at + key_size]
        signature = area[signature_at : signature_at + signature_size]
        padding = area[key_at + key_size : signature_at] + area[signature_at + signature_size : end]
        _require(_zero(padding), Reason.E0203)
        blocks.append(SignatureBlock(algorithm, parameters, public_key, signature))
        at = end
    return blocks


def _check_signatures(
    region: bytes, blocks: Sequence[SignatureBlock], keys: Sequence[KeyRecord]
) -> set[KeyRecord]:
    """Step 4: every signature of a trusted key (§5.2). Returns the keys that verified."""
    for key in keys:
        _require((key.algorithm, key.parameters) in ALGORITHMS, Reason.E0307)
    verified: set[KeyRecord] = set()
    for block in blocks:
        if block.record in keys:
            carried = ALGORITHMS[block.algorithm, block.parameters]
            reason = carried.check(block.public_key, block.signature, region)
            if reason is not None:
                raise _Refusal(reason)
            verified.add(block.record)
    return verified


def _check_policy(
    policy: Policy,
    blocks: Sequence[SignatureBlock],
    counted: set[KeyRecord],
    keys: Sequence[KeyRecord],
) -> None:
    """Step 5: who is trusted (§5.3)."""
    if policy is Policy.EVERY_SIGNER:
        _require(all(block.record in counted for block in blocks), Reason.E1001)
        return
    _require(bool(counted), Reason.E0304)
    if policy is Policy.ALL:
        _require(counted.issuperset(keys), Reason.E0305)
    elif policy is Policy.HYBRID:
        _require(_both_families(counted), Reason.E0306)


def _both_families(keys: set[KeyRecord] | Sequence[KeyRecord]) -> bool:
    known = (ALGORITHMS.get((key.algorithm, key.parameters)) for key in keys)
    families = {algorithm.family for algorithm in known if algorithm is not None}
    return {"classical", "post-quantum"} <= families


def _read_header(region: bytes, kind: str, signatures_size: int) -> Header:
    """Step 6: the header, the first fields of the closing section, and signed_size (§4.1)."""
    bundle_size, security_version, created = struct.unpack_from("<3Q", region, 24)
    lifecycle_mask, signer_count, payload_count, extensions_size = struct.unpack_from(
        "<4I", region, 48
    )
    _require(lifecycle_mask != 0 and lifecycle_mask >> 3 == 0, Reason.E0408)
    _require(1 <= signer_count <= 4, Reason.E0402)
    _require(1 <= payload_count <= 8, Reason.E0403)
    board = _text(region[64:96], 1, 0x21, Reason.E0405)
    soc = _text(region[96:128], 1, 0x21, Reason.E0406)
    label = _text(region[128:192], 0, 0x20, Reason.E0407)
    _require(_zero(region[192:256]), Reason.E0401)
    _require(extensions_size % 8 == 0 and extensions_size <= 2048, Reason.E0413)
    header = Header(
        kind=kind,
        signed_size=len(region),
        signatures_size=signatures_size,
        bundle_size=bundle_size,
        security_version=security_version,
        created=created,
        lifecycle_mask=lifecycle_mask,
        signer_count=signer_count,
        payload_count=payload_count,
        extensions_size=extensions_size,
        board=board,
        soc=soc,
        label=label,
    )
    at = header.closing_at
    _require(at + 8 <= len(region), Reason.E0404)
    if kind == "boot":
        policy, key_count = _u32(region, at), _u32(region, at + 4)
        _require(1 <= policy <= 3, Reason.E0420)
        _require(1 <= key_count <= 8, Reason.E0421)
        closing_size = 16 + 64 * key_count
    else:
        length = _u32(region, at)
        _require(length <= 1023, Reason.E0430)
        closing_size = 8 + _align(length, 8)
    _require(at + closing_size == len(region), Reason.E0404)
    return header


def _check_signers(
    region: bytes, header: Header, blocks: Sequence[SignatureBlock]
) -> tuple[KeyRecord, ...]:
    """Step 7: the signers, and the blocks against them (§4.2, §5.2)."""
    signers = _key_records(region, 256, header.signer_count, Reason.E0409)
    _require(len(blocks) >= len(signers), Reason.E0410)
    _require(len(blocks) <= len(signers), Reason.E0411)
    for block, signer in zip(blocks, signers):
        _require(block.record == signer, Reason.E0412)
    return tuple(signers)


def _read_payload(record: bytes, kind: str, end: int, earlier: Sequence[Payload]) -> Payload:
    """One payload record (§4.3); `end` is where the part of the bundle before it ends."""
    type_, hash_, mode, block_size = struct.unpack_from("<4I", record, 0)
    offset, size, load_address, memory_size, entry = struct.unpack_from("<5Q", record, 16)
    known = PAYLOAD_TYPES.get(type_)
    if known is None or known.kind != kind:
        raise _Refusal(Reason.E0501)
    _require(not earlier or type_ > earlier[-1].type, Reason.E0502)
    _require(hash_ in HASHES, Reason.E0504)
    _require(mode in ALLOWED, Reason.E0505)
    if mode == FLAT:
        _require(block_size == 0, Reason.E0506)
    else:
        _require(block_size % 1024 == 0 and 1024 <= block_size <= 16777216, Reason.E0506)
    _require(hash_ in ALLOWED[mode], Reason.E0515)
    digest_end = 64 + HASHES[hash_].digest_size
    _require(_zero(record[digest_end:]), Reason.E0507)
    _require(_zero(record[56:64]), Reason.E0401)
    _require(offset == _align(end, 4096), Reason.E0508)
    _require(size <= 2**40 and (size != 0 or type_ == INITRAMFS), Reason.E0509)
    form = load_address % 4096 == 0 and memory_size % 4096 == 0
    _require(form and memory_size >= _align(size, 4096), Reason.E0510)
    load_end = load_address + memory_size
    _require(load_end < 2**64, Reason.E0511)
    for other in earlier:
        clear = not _overlap(load_address, load_end, other.load_address, other.load_end)
        _require(clear, Reason.E0512)
    if known.code:
        _require(entry % 4 == 0 and load_address <= entry < load_address + size, Reason.E0513)
    else:
        _require(entry == 0, Reason.E0513)
    return Payload(
        type=type_,
        hash=hash_,
        mode=mode,
        block_size=block_size,
        offset=offset,
        size=size,
        load_address=load_address,
        memory_size=memory_size,
        entry=entry,
        digest=record[64:digest_end],
        rec=record[:64],
    )


def _read_payloads(region: bytes, header: Header) -> tuple[Payload, ...]:
    """Step 8: payload records, required types, bundle_size (§4.3)."""
    payloads: list[Payload] = []
    end = header.signed_size + header.signatures_size
    for at in range(header.payloads_at, header.extensions_at, 128):
        payload = _read_payload(region[at : at + 128], header.kind, end, payloads)
        payloads.append(payload)
        end = payload.offset + payload.size
    seen = {payload.type for payload in payloads}
    for number, known in PAYLOAD_TYPES.items():
        required = known.required and known.kind == header.kind
        _require(not required or number in seen, Reason.E0503)
    _require(header.bundle_size == _align(end, 4096), Reason.E0514)
    return tuple(payloads)


def _read_identities(value: bytes, header: Header) -> tuple[tuple[str, str], ...]:
    """Extension 1: one to seven further pairs of board and SoC (§4.6)."""
    _require(len(value) % 64 == 0 and 1 <= len(value) // 64 <= 7, Reason.E0442)
    seen = [(header.board, header.soc)]
    for at in range(0, len(value), 64):
        board = _text(value[at : at + 32], 1, 0x21, Reason.E0405)
        soc = _text(value[at + 32 : at + 64], 1, 0x21, Reason.E0406)
        _require((board, soc) not in seen, Reason.E0443)
        seen.append((board, soc))
    return tuple(seen[1:])


def _read_extensions(region: bytes, header: Header, payloads: Sequence[Payload]) -> Extensions:
    """Step 9: the extension records (§4.6)."""
    found: dict[int, bytes] = {}
    extensions = Extensions()
    area = region[header.extensions_at : header.closing_at]
    at = 0
    while at < len(area):
        type_, length = _u32(area, at), _u32(area, at + 4)
        _require(type_ == 1 or (type_ in (2, 3) and header.kind == "system"), Reason.E0440)
        _require(all(type_ > earlier for earlier in found), Reason.E0441)
        _require(length <= len(area) - at - 8, Reason.E0442)
        value = found[type_] = area[at + 8 : at + 8 + length]
        if type_ == 1:
            extensions = replace(extensions, identities=_read_identities(value, header))
        elif type_ == 3:
            sizes = {payload.type: payload.size for payload in payloads}
            extensions = replace(extensions, encrypted=tuple(encryption.read(value, sizes)))
        else:
            _require(length == 8, Reason.E0442)
            _require(_u64(value, 0) != 0, Reason.E0444)
            extensions = replace(extensions, boot_version=_u64(value, 0))
        at += 8 + length
    return extensions


def _check_closing(region: bytes, header: Header) -> list[KeyRecord]:
    """Step 10: the rest of the closing section (§4.4, §4.5). Returns the trusted keys."""
    closing = region[header.closing_at :]
    if header.kind == "boot":
        policy, key_count = Policy(_u32(closing, 0)), _u32(closing, 4)
        carried = _u64(closing, 8)
        keys = _key_records(closing, 16, key_count, Reason.E0422)
        _require(policy is not Policy.ALL or key_count <= 4, Reason.E0423)
        _require(policy is not Policy.HYBRID or _both_families(keys), Reason.E0423)
        usable = all(key.algorithm < 64 and carried >> key.algorithm & 1 for key in keys)
        _require(usable, Reason.E0424)
        return keys
    else:
        end = 8 + _u32(closing, 0)
        _require(_zero(closing[4:8]), Reason.E0401)
        _require(all(0x20 <= c <= 0x7E for c in closing[8:end]), Reason.E0431)
        _require(_zero(closing[end:]), Reason.E0432)
        return []


def _hash(number: int, *parts: bytes | memoryview) -> bytes:
    """`h` of the joined parts (§2.3), for the hashes of modes flat and blocks."""
    if number == KT128:
        return keccak.kt128(parts)
    state = hashlib.new(str(HASHES[number].name))
    for part in parts:
        state.update(part)
    return state.digest()


def _digest(payload: Payload, data: memoryview) -> bytes:
    """The digest of a payload's bytes (§6)."""
    h, size, block_size = payload.hash, payload.size, payload.block_size
    if payload.mode == FLAT:
        return _hash(h, data)
    if payload.mode == PARALLELHASH:
        strength = 128 if h == SHAKE128 else 256
        return keccak.parallelhash(strength, data, block_size, HASHES[h].digest_size)
    count = (size + block_size - 1) // block_size
    parts = [b"HLKroot0" + struct.pack("<3Q", count, size, block_size)]
    parts.append(_hash(h, b"HLKrec_0", payload.rec))
    for i in range(count):
        block = data[i * block_size : min((i + 1) * block_size, size)]
        parts.append(_hash(h, b"HLKleaf0", struct.pack("<Q", i), block))
    return _hash(h, *parts)


def _check_bytes(
    view: memoryview, header: Header, payloads: Sequence[Payload], is_file: bool
) -> None:
    """Steps 13 and 14: length of the medium, padding and digests (§3.3, §6)."""
    _require(len(view) >= header.bundle_size, Reason.E0101)
    _require(not is_file or len(view) == header.bundle_size, Reason.E0803)
    end = header.signed_size + header.signatures_size
    _require(_zero(view[end : _align(end, 4096)]), Reason.E0802)
    for payload in payloads:
        end = payload.offset + payload.size
        _require(_digest(payload, view[payload.offset : end]) == payload.digest, Reason.E0801)
        _require(_zero(view[end : _align(end, 4096)]), Reason.E0802)


def _bootargs(region: bytes, header: Header) -> str:
    """The command line of a system bundle."""
    closing = region[header.closing_at :]
    is_system = header.kind == "system"
    return bytes(closing[8 : 8 + _u32(closing, 0)]).decode("ascii") if is_system else ""


def _plain(
    view: memoryview,
    payloads: Sequence[Payload],
    encrypted: Sequence[encryption.Encryption],
    class_keys: Sequence[bytes],
) -> dict[str, bytes]:
    """The plain text of each payload that is not encrypted, or whose class key is given (§7.6)."""
    known = {encryption.class_id(key): key for key in class_keys}
    hidden = [] if class_keys else [it.payload for it in encrypted]
    keys = {it.payload: encryption.content_key(it, known) for it in encrypted if class_keys}
    plain = {}
    for payload in payloads:
        data = bytes(view[payload.offset : payload.offset + payload.size])
        if payload.type in keys:
            data = aes.counter_mode(keys[payload.type], data)
        if payload.type not in hidden:
            plain[payload.name] = data
    return plain


def _check_payloads(
    plain: dict[str, bytes], payloads: Sequence[Payload], bootargs: str = ""
) -> None:
    """What a stage could not start or hand over (boot-flow §5.8)."""
    sizes = {it.name: it.memory_size for it in payloads}
    found = {name: usable.Content(data, sizes[name]) for name, data in plain.items()}
    try:
        usable.check(found, bootargs)
    except usable.Unusable:
        raise _Refusal(Reason.E1204) from None
    except usable.OtherInitramfs:
        raise _Refusal(Reason.E0920) from None


def _check_boot_tree(plain: dict[str, bytes], board: Board) -> None:
    """The device tree for OpenSBI (boot-flow §5.6)."""
    tree = plain.get("boot-fdt")
    if tree is None or not board.closed:
        return
    try:
        boot_tree.check(tree, board.closed, board.places[2].start, board.harts, board.linux)
        system_tree.check_boot_hart(tree)
    except (boot_tree.Malformed, system_tree.Broken):
        raise _Refusal(Reason.E0908) from None
    except boot_tree.Broken:
        raise _Refusal(Reason.E1401) from None


def _check_system_tree(
    plain: dict[str, bytes], bootargs: str, payloads: Sequence[Payload]
) -> None:
    """The device tree for Linux (boot-flow §6), as the loader edits it if no other hart reported."""
    found = {payload.name: payload for payload in payloads}
    data = plain.get("system-fdt")
    if data is None:
        return
    loaded = [found[name] for name in ("kernel", "initramfs") if name in found]
    initrd = found.get("initramfs")
    edits = system_tree.Edits(
        bootargs=bootargs,
        initrd=None if initrd is None else (initrd.load_address, initrd.load_address + initrd.size),
        harts=frozenset({system_tree.BOOT_HART}),
    )
    try:
        system_tree.edit(data, edits)
        filled = [(it.load_address, it.load_address + it.memory_size) for it in loaded]
        system_tree.check_memory(data, filled, system_tree.memory_limit(edits.bootargs))
        system_tree.check_boot_hart(data)
    except system_tree.Broken:
        raise _Refusal(Reason.E0908) from None


def _keeps_to(profile: Profile, keys: Sequence[KeyRecord], payloads: Sequence[Payload]) -> bool:
    """Whether the profile has everything that a bundle names (§2.2)."""
    return all((key.algorithm, key.parameters) in profile.algorithms for key in keys) and all(
        payload.hash in profile.hashes and payload.mode in profile.modes for payload in payloads
    )


def verify(
    data: bytes,
    keys: Sequence[KeyRecord],
    policy: Policy = Policy.EVERY_SIGNER,
    *,
    kind: str | None = None,
    board: str | None = None,
    soc: str | None = None,
    floor: int | None = None,
    boot_version: int | None = None,
    lifecycle: str | None = None,
    profile: str | None = None,
    is_file: bool = True,
    contents: bool = False,
    linux: bool = False,
    class_keys: Sequence[bytes] = (),
) -> Accepted | Refused:
    """Verify the bundle at the start of `data`, in the order of §8; a file must end with it.

    `kind` ("boot" or "system") is the type that is booted, None for either (§3.1). `board`, `soc`,
    `floor`, `boot_version` and `lifecycle` are the device's (§7), and `profile` is the caller's (§2.2);
    what is None is not checked. With `contents`, a workstation's rules about payloads and the device tree for
    OpenSBI follow (§8), with `linux` those about that for Linux: payloads of vectors are noise. With `class_keys`
    encrypted payloads are decrypted for these rules (§7.6), without they are left out.
    Placement (step 12) is checked for the boards of :data:`BOARDS`.
    """
    view = memoryview(data)
    try:
        found, region, area = _read_metadata(view, kind)  # steps 1 and 2
        blocks = _read_blocks(area)  # step 3
        counted = _check_signatures(region, blocks, keys)  # step 4
        _check_policy(policy, blocks, counted, keys)  # step 5
        header = _read_header(region, found, len(area))  # step 6
        signers = _check_signers(region, header, blocks)  # step 7
        payloads = _read_payloads(region, header)  # step 8
        extensions = _read_extensions(region, header, payloads)  # step 9
        trusted = _check_closing(region, header)  # step 10
        identities = ((header.board, header.soc), *extensions.identities)
        of_board = [pair for pair in identities if board in (None, pair[0])]
        _require(bool(of_board), Reason.E0601)  # step 11
        _require(any(soc in (None, pair[1]) for pair in of_board), Reason.E0602)
        _require(floor is None or header.security_version >= floor, Reason.E0603)
        _require(boot_version is None or boot_version >= extensions.boot_version, Reason.E0605)
        if lifecycle is not None:
            _require(bool(header.lifecycle_mask >> LIFECYCLES[lifecycle] & 1), Reason.E0604)
        for name, _soc in identities:
            if name in BOARDS:
                _check_placement(BOARDS[name], header.kind, payloads)  # step 12
        _check_bytes(view, header, payloads, is_file)  # steps 13 and 14
        if profile is not None:
            _require(_keeps_to(PROFILES[profile], [*signers, *trusted], payloads), Reason.E1002)  # §2.2
        plain = _plain(view, payloads, extensions.encrypted, class_keys)
        bootargs = _bootargs(region, header)
        if contents:
            _check_payloads(plain, payloads, bootargs)
        for name, _soc in identities:
            if contents and name in BOARDS:
                _check_boot_tree(plain, BOARDS[name])
            if linux and name in BOARDS and BOARDS[name].edits:
                _check_system_tree(plain, bootargs, payloads)
    except (_Refusal, encryption.Broken) as refusal:
        return Refused(refusal.reason)
    return Accepted(header, signers, payloads, extensions)


# ----------------------------------------------------------------------
# Command line
# ----------------------------------------------------------------------

def load_key(text: str, rsa_use: str | None = None) -> KeyRecord:
    """The record of the public key in a SubjectPublicKeyInfo PEM; ValueError for anything else."""
    return KeyRecord.of(*spki.load(text, rsa_use))


def _texts() -> dict[str, dict[str, str]]:
    try:
        return load_texts(Path(__file__).resolve().parent / "errors.toml")
    except (OSError, ValueError):
        return {}  # codes and names are known without it


def _natural(text: str) -> int:
    value = int(text, 0)
    if value < 0:
        raise ValueError(text)
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Verify Hartlock bundles as image-format.md says.",
        epilog="Exit code: 0 accepted, 1 refused, 2 could not decide; of several, the highest.",
    )
    parser.add_argument("bundles", metavar="BUNDLE", nargs="+")
    parser.add_argument("--key", metavar="PUB.pem", action="append", required=True, dest="keys")
    parser.add_argument(
        "--rsa", choices=spki.RSA_USES, help="how RSA keys sign whose files do not say it"
    )
    parser.add_argument("--type", choices=sorted(TAGS.values()), help="refuse the other type")
    parser.add_argument("--board", metavar="NAME", help="board of the device")
    parser.add_argument("--soc", metavar="NAME", help="SoC of the device")
    parser.add_argument("--floor", metavar="N", type=_natural, help="lowest security version")
    parser.add_argument(
        "--boot-version", metavar="N", type=_natural, help="security version of the boot bundle"
    )
    parser.add_argument(
        "--decrypt-with", metavar="CLASS.pem", action="append", default=[], dest="class_keys"
    )
    parser.add_argument("--profile", choices=list(PROFILES), help="refuse what it does not have")
    parser.add_argument("--lifecycle", choices=list(LIFECYCLES), help="state of the device")
    policies = [policy.name.lower().replace("_", "-") for policy in Policy]
    parser.add_argument("--policy", choices=policies, default=policies[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def _printable(name: str) -> str:
    """A file's name without what a terminal obeys, also if it is not valid in the encoding of the system."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _report(file: str, reason: Reason | None, as_json: bool, prefix: str) -> None:
    if as_json:
        record = {
            "file": file,
            "verdict": "refused" if reason else "accepted",
            "reason": reason.name if reason else None,
            "name": reason.value if reason else None,
        }
        print(json.dumps(record))
    elif reason is None:
        print(f"{prefix}accepted")
    else:
        text = _texts().get(reason.name, {})
        print(f"{prefix}{reason.name} {reason.value}: {text.get('title', '(no title)')}")
        print(f"  hint: {text.get('hint', '(no hint)')}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    keys: list[KeyRecord] = []
    class_keys: list[bytes] = []
    for path in (*options.keys, *options.class_keys):
        try:
            text = Path(path).read_text(encoding="utf-8")
            if len(keys) < len(options.keys):
                keys.append(load_key(text, options.rsa))
            else:
                class_keys.append(encryption.load_class_key(text))
        except (OSError, ValueError) as error:
            print(_printable(f"verify.py: {path}: {error}"), file=sys.stderr)
            return 2
    worst = 0
    for file in options.bundles:
        try:
            data = Path(file).read_bytes()
        except (OSError, ValueError, MemoryError) as error:
            print(_printable(f"verify.py: {file}: {error}"), file=sys.stderr)
            worst = 2
            continue
        result = verify(
            data,
            keys,
            Policy[options.policy.upper().replace("-", "_")],
            kind=options.type,
            board=options.board,
            soc=options.soc,
            floor=options.floor,
            boot_version=options.boot_version,
            lifecycle=options.lifecycle,
            profile=options.profile,
            contents=True,
            linux=True,
            class_keys=class_keys,
        )
        reason = result.reason if isinstance(result, Refused) else None
        prefix = f"{_printable(file)}: " if len(options.bundles) > 1 else ""
        _report(file, reason, options.json, prefix)
        worst = max(worst, 0 if reason is None else 1)
    return worst


if __name__ == "__main__":
    sys.exit(main())
