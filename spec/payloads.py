"""Judges what the next program cannot use in its payloads, written from §5.8 of boot-flow.md alone."""

from __future__ import annotations

import re
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
    start = data[:4096]
    archive = start.lstrip(b"\0")
    is_aligned = (len(start) - len(archive)) % 4 == 0
    if not archive.startswith(COMPRESSED) and not (is_aligned and archive.startswith(ARCHIVES)):
        raise Unusable("initramfs is no cpio archive")


def _check_archives(data: bytes) -> None:
    at = 0
    while at < len(data):
        if data[at] == 0:
            at += 1
            continue
        mark = data[at : at + 6]
        if at % 4 or not any(it.startswith(mark) for it in ARCHIVES):
            return
        header = data[at : at + 110]
        if len(header) < 110:
            raise Unusable("initramfs is cut")
        if not all(re.fullmatch(rb"[0-9A-Fa-f]{8}", header[it : it + 8]) for it in (54, 94)):
            raise Unusable("initramfs is no cpio archive")
        file, name = int(header[54:62], 16), int(header[94:102], 16)
        start = at + 110 + name
        end = -(-start // 4) * 4 + file
        if start > len(data) or (file and end > len(data)):
            raise Unusable("initramfs is cut")
        at = -(-end // 4) * 4


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
            _check_archives(found["initramfs"].data)
