#!/usr/bin/env python3
"""Has system_tree.py judge and edit every tree of vectors/system-trees.

Run with ``python3 -m unittest discover -s spec -p 'test_*.py'``.
"""

from __future__ import annotations

import json
import unittest
from pathlib import Path

import boot_tree
import system_tree

FOLDER = Path(__file__).parent / "vectors/system-trees"
EDITS = system_tree.Edits("console=ttyS0", (0x8800_0000, 0x8800_1234), frozenset({0, 1, 2}))
FILLED = ((0x8200_0000, 0x8400_0000), (0x8800_0000, 0x8800_2000))


def judge(data: bytes) -> int | None:
    try:
        system_tree.edit(data, EDITS)
        system_tree.check_memory(data, FILLED)
        system_tree.check_boot_hart(data)
    except system_tree.Broken as broken:
        return broken.rule
    return None


def ranges(node: boot_tree.Node) -> list[tuple[int, int]]:
    """Address and size of the memory of a node."""
    if node.properties.get("device_type") != b"memory\0":
        return []
    reg = node.properties["reg"]
    return [(int.from_bytes(reg[:8], "big"), int.from_bytes(reg[8:16], "big"))]


class Trees(unittest.TestCase):
    def test_every_tree_gets_its_answer(self) -> None:
        vectors = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
        self.assertEqual({it["rule"] for it in vectors}, {None, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11})
        for vector in vectors:
            with self.subTest(vector["name"]):
                tree = (FOLDER / f"{vector['name']}.dtb").read_bytes()
                self.assertEqual(judge(tree), vector["rule"])

    def test_every_right_tree_is_edited_alike(self) -> None:
        vectors = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
        for name in [it["name"] for it in vectors if it["rule"] is None]:
            with self.subTest(name):
                own = system_tree.edit((FOLDER / f"{name}.dtb").read_bytes(), EDITS)
                other = boot_tree.parse((FOLDER / f"{name}.edited.dtb").read_bytes())
                self.assertEqual(system_tree.as_lists(own), system_tree.as_lists(other))

    def test_the_boot_hart_is_found_by_its_number_too(self) -> None:
        tree = (FOLDER / "right.dtb").read_bytes()
        other = tree.replace(b"cpu@0\0", b"CPU@0\0").replace(b"timebase-frequency\0", b"timebase-frequencx\0")
        # The node of hart 1 becomes a second one of hart 0, by its name alone.
        second = tree.replace(b"cpu@1\0", b"cpu@0\0")
        at = second.index(b"rv64", second.rindex(b"cpu@0\0"))
        second = second[:at] + b"rv32" + second[at + 4 :]
        for changed in (tree.replace(b"cpu@0\0", b"CPU@0\0").replace(b"rv64", b"rv32"), other, second):
            with self.assertRaises(system_tree.Broken) as broken:
                system_tree.check_boot_hart(changed)
            self.assertEqual(broken.exception.rule, 11)

    def test_a_limit_of_memory_leaves_the_payloads(self) -> None:
        for bootargs, limit in (
            ("mem=512M", 512 << 20),
            ("quiet mem=1G root=/dev/vda mem=512M", 512 << 20),
            ('quiet "mem=512M"', 512 << 20),
            ('mem="512M"', 512 << 20),
            ("mem=0x20000000", 512 << 20),
            ("mem=010K", 8 << 10),
            ("mem=8191", 4096),
            ("mem=4095", None),
            ("mem=x", None),
            ("mem", None),
            ("memory=512M xmem=512M", None),
            ('text="a mem=512M"', None),
            ("quiet -- mem=512M", None),
        ):
            with self.subTest(bootargs):
                self.assertEqual(system_tree.memory_limit(bootargs), limit)
        tree = (FOLDER / "right.dtb").read_bytes()
        start = min(first for node in boot_tree.parse(tree).children for first, _ in ranges(node))
        needed = FILLED[1][1] - start
        system_tree.check_memory(tree, FILLED, needed)
        with self.assertRaises(system_tree.Broken) as broken:
            system_tree.check_memory(tree, FILLED, needed - 1)
        self.assertEqual(broken.exception.rule, 12)

    def test_a_cut_or_changed_tree_never_ends_in_another_exception(self) -> None:
        tree = (FOLDER / "right.dtb").read_bytes()
        for at in range(0, len(tree), 5):
            self.assertEqual(judge(tree[:at]), 1)
            for byte in (0, 1, 0xFF):
                judge(tree[:at] + bytes([byte]) + tree[at + 1 :])


if __name__ == "__main__":
    unittest.main()
