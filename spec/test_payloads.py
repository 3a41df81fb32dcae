#!/usr/bin/env python3
"""Tests of payloads.py, and that verify.py asks it for every bundle.

Run with ``python3 -m unittest discover -s spec -p 'test_*.py'``.
"""

from __future__ import annotations

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
        right = [bytes(at) + mark + b"0" * 104 for mark in payloads.ARCHIVES for at in (0, 4, 4088)]
        right += [bytes(at) + mark for mark in payloads.COMPRESSED for at in (0, 1)] + [b""]
        for data in right:
            self.assertFalse(self.refused({"kernel": _kernel(), "initramfs": Content(data, SIZE)}))
        cut = [bytes(at) + b"070701" for at in (1, 2, 3, 4092, 4096)]
        for data in [*cut, bytes(9), b"text", b"0707", b"\xfd7zXZ\0\0\4", b"070707"]:
            self.assertTrue(self.refused({"kernel": _kernel(), "initramfs": Content(data, SIZE)}))
            self.assertFalse(self.refused({"kernel": Content(b"", 0), "initramfs": Content(data, SIZE)}))

    def test_an_archive_is_whole(self) -> None:
        def entry(name: bytes, data: bytes) -> bytes:
            sizes = [0, 0, 0, 0, 0, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
            head = b"070701" + b"".join(b"%08x" % size for size in sizes) + name + b"\0"
            head += bytes(-len(head) % 4)
            return head + data + bytes(-len(data) % 4)

        def refused(data: bytes) -> bool:
            return self.refused({"kernel": _kernel(), "initramfs": Content(data, SIZE)})

        whole = entry(b"init", b"12345") + entry(b"TRAILER!!!", b"")
        for data in (whole, whole + bytes(512) + whole, whole + b"\x1f\x8b\x08", whole + b"#BOOTCONFIG\n", whole[:-2]):
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
