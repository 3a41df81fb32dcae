"""Judges what the next program cannot use in its payloads, written from §5.8 of boot-flow.md and §2 of command.md alone."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Unusable(Exception):
    """The first rule that a payload breaks, in words."""


class OtherInitramfs(Exception):
    """The command line names an initramfs."""


class Content(NamedTuple):
    """The bytes of a payload, and the size of its memory."""

    data: bytes
    memory_size: int


# Marks of command §2: archives, which have to begin at a multiple of four, and what is compressed.
ARCHIVES = (b"070701", b"070702")
COMPRESSED = (
    b"\x1f\x8b\x08",
    b"\xfd7zXZ\0\0\0",
    b"\xfd7zXZ\0\0\x01",
    b"\x28\xb5\x2f\xfd",
    b"\x02\x21\x4c\x18",
    b"BZh",
    b"\x5d\0",
    b"\x89LZO\0\r\n\x1a\n",
)


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _check_opensbi(data: bytes) -> None:
    if b"OpenSBI v" not in data:
        return
    for at in range(0, len(data) - 3, 2):
        if _number(data, at, 4) & 0xFFFF_F07F == 0x4942_5037:  # lui of 0x49425000
            after = _number(data, at + 8, 2)
            if after & 0xE003 == 0x4000 or after & 0x707F == 0x2003:  # c.lw, lw
                raise Unusable("for 32-bit harts")
            return
    raise Unusable("not fw_dynamic")


def _is_linux(kernel: Content) -> bool:
    return kernel.data[0x38:0x3C] == b"RSC\5"


def _check_kernel(kernel: Content) -> None:
    image_size = _number(kernel.data, 16, 8)
    if _number(kernel.data, 24, 8) & 1:
        raise Unusable("kernel is big-endian")
    if image_size < len(kernel.data):
        raise Unusable("image_size of the kernel is too small")
    if kernel.memory_size < image_size:
        raise Unusable("memory_size of the kernel is too small")


def _check_initramfs(data: bytes) -> None:
    """What the loader refuses, and then what is compressed."""
    first = len(data) - len(data.lstrip(b"\0"))
    is_archive = first % 4 == 0 and data.startswith(ARCHIVES, first)
    if data and not is_archive and not data.startswith(COMPRESSED, first):
        raise Unusable("initramfs is no cpio archive")
    at = _end_of_archives(data, first)
    while data.startswith(COMPRESSED, at):
        end = _end_of_compressed(data, at, at == first)
        if end is None:
            return
        at = _end_of_archives(data, end)
    if data.startswith(b"\xfd7zXZ\0", at):
        raise Unusable("a checksum that Linux does not check")


def _end_of_archives(data: bytes, at: int, is_inside: bool = False) -> int:
    """Where archives end that are not compressed. Inside of compressed data each entry has its padding."""
    while at < len(data):
        if data[at] == 0:
            at += 1
            continue
        mark = data[at : at + 6]
        if at % 4 or not any(it.startswith(mark) for it in ARCHIVES):
            return at
        header = data[at : at + 110]
        if len(header) < 110:
            raise Unusable("initramfs is cut")
        if not all(re.fullmatch(rb"[0-9A-Fa-f]{8}", header[it : it + 8]) for it in (54, 94)):
            raise Unusable("initramfs is no cpio archive")
        file, name = int(header[54:62], 16), int(header[94:102], 16)
        start = at + 110 + name
        end = -(-start // 4) * 4 + file
        at = -(-end // 4) * 4
        if start > len(data) or (file and end > len(data)) or (is_inside and at > len(data)):
            raise Unusable("initramfs is cut")
    return at


def _check_content(data: bytes, is_first: bool) -> None:
    """What is in compressed data: whole entries, after zeros only if another archive is before it."""
    if is_first and data[:1] in (b"", b"\0"):
        raise Unusable("initramfs is no cpio archive")
    if _end_of_archives(data, 0, is_inside=True) < len(data):
        raise Unusable("initramfs has something else behind its archive")


def _end_of_compressed(data: bytes, at: int, is_first: bool) -> int | None:
    """Where compressed data ends, if it can be told."""
    walks = {b"\x28": _end_of_zstd, b"\x02": _end_of_lz4, b"\x89": _end_of_lzo}
    if (walk := walks.get(data[at : at + 1])) is not None:
        return walk(data, at)
    if data.startswith(b"\x1f", at):
        if len(data) > at + 3 and data[at + 3] & ~9:
            raise Unusable("a header that Linux does not skip")
        unpacker = zlib.decompressobj(31)
    elif data.startswith(b"B", at):
        unpacker = bz2.BZ2Decompressor()
    else:
        form = lzma.FORMAT_XZ if data.startswith(b"\xfd", at) else lzma.FORMAT_ALONE
        unpacker = lzma.LZMADecompressor(form, memlimit=256 << 20)
    try:
        content = unpacker.decompress(data[at:])
    except (zlib.error, lzma.LZMAError, OSError) as error:
        if "limit" in str(error):
            return None
        raise Unusable("initramfs is damaged") from error
    if not unpacker.eof:
        raise Unusable("initramfs is cut")
    _check_content(content, is_first)
    return len(data) - len(unpacker.unused_data)


def _must_have(data: bytes, end: int) -> int:
    if end > len(data):
        raise Unusable("initramfs is cut")
    return end


def _end_of_zstd(data: bytes, at: int) -> int:
    """The end of a frame (RFC 8878 §3.1.1), whose blocks are not decompressed."""
    _must_have(data, at + 5)
    flags = data[at + 4]
    is_single = flags >> 5 & 1
    size_of_size = (is_single, 2, 4, 8)[flags >> 6]
    at += 5 + (1 - is_single) + (0, 1, 2, 4)[flags & 3] + size_of_size
    is_last = False
    while not is_last:
        block = _number(data, at, 3)
        _must_have(data, at + 3)
        is_last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        if kind == 3:
            raise Unusable("initramfs is damaged")
        at = _must_have(data, at + 3 + (1 if kind == 1 else size))
    return _must_have(data, at + 4 * (flags >> 2 & 1))


def _end_of_lz4(data: bytes, at: int) -> int:
    """The end of blocks with their sizes, which are not decompressed."""
    while at + 4 <= len(data):
        size = _number(data, at, 4)
        at += 4
        if size == 0:
            break
        if size != 0x184C2102:
            if size > (8 << 20) + (8 << 20) // 255 + 16:
                raise Unusable("initramfs is damaged")
            at = _must_have(data, at + size)
    return at


def _end_of_lzo(data: bytes, at: int) -> int:
    """The end of blocks with their sizes, which are not decompressed."""
    is_newer = int.from_bytes(data[at + 9 : at + 11], "big") >= 0x940
    at += 17 if is_newer else 16
    has_filter = int.from_bytes(data[at : at + 4], "big") & 0x800
    at += (8 if has_filter else 4) + (12 if is_newer else 8)
    _must_have(data, at + 1)
    at += 1 + data[at] + 4
    while True:
        _must_have(data, at + 4)
        size, packed = (int.from_bytes(data[it : it + 4], "big") for it in (at, at + 4))
        if size == 0:
            return at + 4
        _must_have(data, at + 12)
        if size > 256 << 10 or not 0 < packed <= size:
            raise Unusable("initramfs is damaged")
        at = _must_have(data, at + 12 + packed)


def options(bootargs: str) -> Iterator[tuple[str, str | None]]:
    """Names and values of a command line, as §6 separates them (rule 12)."""

    def bare(text: str) -> str:
        return text.removeprefix('"').removesuffix('"')

    for match in re.finditer(r'(?:[^\s"]|"[^"]*(?:"|$))+', bootargs):
        if match.group() == "--":
            return
        name, equals, value = match.group().partition("=")
        yield bare(name), bare(value) if equals else None


def check(found: Mapping[str, Content], bootargs: str = "") -> None:
    """Raises :class:`Unusable` for payloads, by their names, that a stage would refuse.

    Raises :class:`OtherInitramfs` if the command line is what it would refuse.
    """
    if "opensbi" in found:
        _check_opensbi(found["opensbi"].data)
    if "kernel" in found and _is_linux(found["kernel"]):
        _check_kernel(found["kernel"])
        names = {name for name, value in options(bootargs) if value is not None}
        if names & {"initrd", "initrdmem"}:
            raise OtherInitramfs
        if "initramfs" in found and found["initramfs"].data:
            _check_initramfs(found["initramfs"].data)
