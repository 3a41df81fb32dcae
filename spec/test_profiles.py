#!/usr/bin/env python3
"""Tests of profiles: the table of image-format.md §2.2, and the command that is asked for one.

Bundles inside and outside of profiles are vectors.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import tempfile
import unittest
from pathlib import Path

import verify as v
from algorithms import ALGORITHMS
from hashes import ALLOWED, HASHES
from profiles import PROFILES

SPEC = Path(__file__).resolve().parent
IMAGES = SPEC / "vectors" / "image"
MODES = {"flat": 1, "blocks": 2, "parallelhash": 3}


class Table(unittest.TestCase):
    """Each row of the text against :data:`PROFILES`."""

    def test_the_sets_are_those_of_the_text(self) -> None:
        text = (SPEC / "image-format.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(default|cnsa2|all)` \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
        self.assertEqual([name for name, _, _ in rows], list(PROFILES))
        for name, algorithms, rest in rows:
            profile = PROFILES[name]
            if algorithms == "the table":
                self.assertEqual(rest, "the tables of §2.3 and §6.1")
                expected = (set(ALGORITHMS), set(HASHES), set(ALLOWED))
            else:
                pairs = set()
                for item in algorithms.split(", "):
                    number, _, only = item.partition(" with parameters ")
                    pairs |= {
                        known
                        for known in ALGORITHMS
                        if known[0] == int(number) and (not only or known[1] == int(only))
                    }
                hashes, modes = rest.split(", ")
                expected = (
                    pairs,
                    {int(number) for number in hashes.split(" and ")},
                    {MODES[mode] for mode in modes.split(" and ")},
                )
            self.assertEqual((profile.algorithms, profile.hashes, profile.modes), expected, name)


class CommandLine(unittest.TestCase):
    """Options and names of files."""

    def run_main(self, *arguments: str) -> tuple[int, str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                code = v.main(arguments)
            except SystemExit as end:
                code = int(end.code or 0)
        return code, output.getvalue()

    def test_a_profile_can_be_asked_for(self) -> None:
        listed = json.loads((IMAGES / "expected.json").read_text(encoding="utf-8"))
        options = next(it["options"] for it in listed if it["name"] == "signer_outside_profile")
        key = ("--key", str(IMAGES / f"{options['keys'][0]}.pub.pem"))
        bundle = str(IMAGES / "signer_outside_profile.hlk")
        # The device tree of the vector is noise, which is judged after the profile.
        for profile, reason in ((None, "E0908"), ("default", "E0908"), ("all", "E0908"), ("cnsa2", "E1002")):
            asked = () if profile is None else ("--profile", profile)
            code, output = self.run_main(bundle, *key, *asked)
            self.assertEqual((code, reason in output), (1, True), output)
        self.assertEqual(self.run_main(bundle, *key, "--profile", "x")[0], 2)

    def test_the_name_of_a_file_does_not_steer_a_terminal(self) -> None:
        steering = "a\r\x1b[2K\u202e\x9b\nb"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / steering
            file.write_bytes(b"")
            key = ("--key", str(IMAGES / "fake-root-a.pub.pem"))
            for arguments in ((str(file), str(file), *key), (str(file) + "x", *key)):
                _, output = self.run_main(*arguments)
                self.assertIn(r"a\r\x1b[2K\u202e\x9b\nb", output)
                odd = [c for c in output if not c.isprintable() and c != "\n"]
                self.assertEqual(odd, [], output)
            _, output = self.run_main(str(file), "--key", str(file))
            self.assertNotIn("\r", output)


if __name__ == "__main__":
    unittest.main()
