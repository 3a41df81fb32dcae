#!/usr/bin/env python3
"""Tests of payloads.py, and that verify.py asks it for every bundle.

Run with ``python3 -m unittest discover -s spec -p 'test_*.py'``.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import unittest
from pathlib import Path
from unittest import mock

import payloads
import run_vectors
import verify as v
from payloads import Content

SIZE = 4096
OTHER = (0x4942_4537).to_bytes(4, "little")  # lui a0, 0x49424


def _kernel(image_size: int = SIZE, flags: int = 0, memory_size: int = SIZE) -> Content:
    data = bytearray(SIZE)
    data[16:24], data[24:32] = image_size.to_bytes(8, "little"), flags.to_bytes(8, "little")
    data[0x38:0x3C] = b"RSC\5"
    return Content(bytes(data), memory_size)


def _opensbi(code: bytes) -> Content:
    return Content(b"OpenSBI v1.8" + code + bytes(16), SIZE)


def _entry(name: bytes, data: bytes) -> bytes:
    sizes = [0, 0, 0, 0, 0, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % size for size in sizes) + name + b"\0"
    head += bytes(-len(head) % 4)
    return head + data + bytes(-len(data) % 4)


def _samples(content: bytes) -> list[bytes]:
    """Content in each form; that of the last three, which are not decompressed, is stored."""
    size = len(content)
    zstd = b"\x28\xb5\x2f\xfd\xa0" + size.to_bytes(4, "little") + (size << 3 | 1).to_bytes(3, "little") + content
    block = bytes([0xF0]) + bytes([255]) * ((size - 15) // 255) + bytes([(size - 15) % 255]) + content
    lz4 = b"\x02\x21\x4c\x18" + len(block).to_bytes(4, "little") + block
    lzo = b"\x89LZO\0\r\n\x1a\n\x10\x40\x20\xa0\x09\x40\x01\x05" + bytes(21)
    lzo += size.to_bytes(4, "big") * 2 + bytes(4) + content + bytes(4)
    return [
        gzip.compress(content),
        lzma.compress(content, check=lzma.CHECK_CRC32),
        bz2.compress(content),
        lzma.compress(content, format=lzma.FORMAT_ALONE),
        zstd,
        lz4,
        lzo,
    ]


LUI = (0x4942_5537).to_bytes(4, "little")  # lui a0, 0x49425
NOP = (0x13).to_bytes(4, "little")
LW, LD, C_LW, C_LD = (it.to_bytes(4, "little") for it in (0x0005_A283, 0x0005_B283, 0x4188, 0x6188))


class Payloads(unittest.TestCase):
    def refused(self, found: dict[str, Content]) -> bool:
        try:
            payloads.check(found)
        except payloads.Unusable:
            return True
        return False

    def test_opensbi_takes_the_next_stage_from_the_stage_before(self) -> None:
        for code in (LUI + NOP + LD, LUI + NOP + C_LD, NOP + LUI + NOP + LD + LUI + NOP + LW, b"\1\0" + LUI + NOP + LD):
            self.assertFalse(self.refused({"opensbi": _opensbi(code)}), code.hex())
        for code in (b"", NOP, LUI + NOP + LW, LUI + NOP + C_LW, b"\1" + LUI + NOP + LD, OTHER + NOP + LD):
            self.assertTrue(self.refused({"opensbi": _opensbi(code)}), code.hex())
        self.assertFalse(self.refused({"opensbi": Content(NOP, SIZE)}), "another firmware")

    def test_a_kernel_of_linux_has_its_memory(self) -> None:
        for kernel in (_kernel(), _kernel(SIZE + 1, memory_size=SIZE + 1), _kernel(flags=0xFE)):
            self.assertFalse(self.refused({"kernel": kernel}))
        for kernel in (_kernel(flags=1), _kernel(SIZE - 1), _kernel(0), _kernel(SIZE + 1)):
            self.assertTrue(self.refused({"kernel": kernel}))
        self.assertFalse(self.refused({"kernel": Content(bytes(SIZE), 0)}), "another system")

    def test_an_initramfs_is_what_linux_unpacks(self) -> None:
        right = [bytes(at) + mark + b"0" * 104 for mark in payloads.ARCHIVES for at in (0, 4, 4096, 1 << 20)]
        right += [bytes(at) + data for data in _samples(_entry(b"init", b"12345")) for at in (0, 1, 5001)] + [b""]
        for data in right:
            self.assertFalse(self.refused({"kernel": _kernel(), "initramfs": Content(data, SIZE)}), data[:9])
        cut = [bytes(at) + b"070701" + b"0" * 104 for at in (1, 2, 3, 4097)]
        for data in [*cut, bytes(9), b"text", b"0707", b"\xfd7zXZ\0\0\4", b"070707"]:
            self.assertTrue(self.refused({"kernel": _kernel(), "initramfs": Content(data, SIZE)}))
            self.assertFalse(self.refused({"kernel": Content(b"", 0), "initramfs": Content(data, SIZE)}))

    def why(self, data: bytes) -> str:
        with self.assertRaises(payloads.Unusable) as refused:
            payloads.check({"kernel": _kernel(), "initramfs": Content(data, SIZE)})
        return str(refused.exception)

    def test_compressed_data_is_whole(self) -> None:
        whole = _entry(b"init", bytes(range(256)) * 9)
        for data in _samples(whole):
            for end in range(9, len(data)):
                self.assertEqual(self.why(data[:end]), "initramfs is cut", (data[:4], end))
        gz, xz, bz, alone = _samples(whole)[:4]
        for data in (gz, xz, bz):
            at = len(data) // 2
            self.assertIn("damaged", self.why(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]), data[:4])
        self.assertIn("header", self.why(gz[:3] + b"\x04" + gz[4:]))
        self.assertIn("checksum", self.why(whole + lzma.compress(whole, check=lzma.CHECK_CRC64)))
        payloads.check({"kernel": _kernel(), "initramfs": Content(alone[:4] + b"\x20" + alone[5:], SIZE)})
        lz4, lzo = _samples(whole)[-2:]
        self.assertIn("damaged", self.why(lz4 + b"0707"))
        self.assertIn("damaged", self.why(lzo[:45] + b"\x09" + lzo[46:]))
        large = (300_000).to_bytes(4, "big")
        self.assertIn("damaged", self.why(lzo[:38] + large * 2 + bytes(300_000)))
        zstd = _samples(whole)[4]
        self.assertIn("damaged", self.why(zstd[:9] + bytes([zstd[9] | 6]) + zstd[10:]))
        self.assertEqual(self.why(zstd[:4] + b"\xa4" + zstd[5:]), "initramfs is cut")

    def test_the_archive_in_compressed_data_is_judged(self) -> None:
        whole = _entry(b"init", b"12345")
        for content in (whole[:-1], whole[:50], b"text", b"", bytes(200), bytes(4) + whole, whole + b"text"):
            for data in _samples(content)[:4]:
                self.assertTrue(self.why(data), content)
        for data in _samples(bytes(4) + whole):
            self.assertFalse(self.refused({"kernel": _kernel(), "initramfs": Content(whole + data, SIZE)}))
        for data in _samples(whole)[:4]:
            self.assertEqual(self.why(data + bytes(-len(data) % 4) + whole[:-8]), "initramfs is cut")

    def test_an_archive_is_whole(self) -> None:
        def refused(data: bytes) -> bool:
            return self.refused({"kernel": _kernel(), "initramfs": Content(data, SIZE)})

        whole = _entry(b"init", b"12345") + _entry(b"TRAILER!!!", b"")
        for data in (whole, whole + bytes(512) + whole, whole + _samples(whole)[0], whole + b"#BOOTCONFIG\n", whole[:-2]):
            self.assertFalse(refused(data), data)
        for data in (whole[:-8], whole + whole[:50], whole + bytes(4) + b"0", whole[:54] + b"g" + whole[55:]):
            self.assertTrue(refused(data), data)

    def test_a_command_line_names_no_initramfs(self) -> None:
        for line in ("initrd=0x90000000,4096", "quiet  initrdmem=1,2 ro", '"initrd=1,2"', "initrd="):
            with self.assertRaises(payloads.OtherInitramfs):
                payloads.check({"kernel": _kernel()}, line)
            payloads.check({"kernel": Content(b"", 0)}, line)
        for line in ("noinitrd", "initrd", 'x="y initrd=1,2"', "rdinit=/initrd=1", "-- initrd=1,2"):
            payloads.check({"kernel": _kernel()}, line)
        record = v.Payload(16, 2, 1, 0, 4096, SIZE, 0, SIZE, 0, b"", b"")
        with self.assertRaises(v._Refusal) as refused:
            v._check_payloads({"kernel": _kernel().data}, [record], "initrd=1")
        self.assertEqual(refused.exception.reason, v.Reason.E0920)

    def test_the_verifier_asks(self) -> None:
        record = v.Payload(16, 2, 1, 0, 4096, SIZE, 0, SIZE, 0, b"", b"")
        v._check_payloads({"kernel": _kernel().data}, [record])
        # A kernel that cannot be read is not judged, nor what depends on it.
        v._check_payloads({}, [record], "initrd=1")
        with self.assertRaises(v._Refusal) as refused:
            v._check_payloads({"kernel": _kernel(flags=1).data}, [record])
        self.assertEqual(refused.exception.reason, v.Reason.E1204)

    def test_the_verifier_asks_for_each_bundle(self) -> None:
        folder = Path(__file__).resolve().parent / "vectors/image"
        vector = next(it for it in run_vectors.load(folder) if it.expected == "accepted")
        with mock.patch.object(payloads, "check", side_effect=payloads.Unusable):
            self.assertEqual(run_vectors.judge(vector), "E1204")
        self.assertEqual(run_vectors.judge(vector), "accepted")


if __name__ == "__main__":
    unittest.main()
