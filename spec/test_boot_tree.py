#!/usr/bin/env python3
"""Has boot_tree.py judge every tree of vectors/trees, and verify.py a bundle with each.

Run with ``python3 -m unittest discover -s spec -p 'test_*.py'``.
"""

from __future__ import annotations

import json
import unittest
from pathlib import Path

import boards
import boot_tree
import verify

FOLDER = Path(__file__).parent / "vectors/trees"


def judge(data: bytes, name: str) -> str:
    board = boards.BOARDS[name]
    try:
        boot_tree.check(data, board.closed, board.places[2].start, board.harts, board.linux)
    except boot_tree.Malformed:
        return "E0908"
    except boot_tree.Broken:
        return "E1401"
    return "accepted"


class Trees(unittest.TestCase):
    def test_every_tree_gets_its_answer(self) -> None:
        vectors = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
        self.assertGreater(len(vectors), 30)
        for vector in vectors:
            with self.subTest(vector["name"]):
                tree = (FOLDER / f"{vector['name']}.dtb").read_bytes()
                answer = judge(tree, vector["board"])
                self.assertEqual(answer, vector["reason"] or vector["verdict"])

    def test_a_cut_or_changed_tree_never_ends_in_another_exception(self) -> None:
        tree = (FOLDER / "right.dtb").read_bytes()
        for at in range(0, len(tree), 5):
            self.assertEqual(judge(tree[:at], "qemu-virt"), "E0908")
            for byte in (0, 1, 0xFF):
                judge(tree[:at] + bytes([byte]) + tree[at + 1 :], "qemu-virt")


if __name__ == "__main__":
    unittest.main()
