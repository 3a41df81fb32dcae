#!/usr/bin/env python3
"""Tests of first_stage.py, on the vectors and on images that are changed here.

Run with ``python3 test_first_stage.py`` or ``python3 -m unittest`` in this directory. "§" is a section of
first-stage.md.
"""

from __future__ import annotations

import contextlib
import io
import random
import re
import struct
import unittest
from pathlib import Path
from unittest import mock

import first_stage as f
import run_vectors
from reasons import Reason

SPEC = Path(__file__).resolve().parent
FOLDER = SPEC / "vectors" / "first-stage"
MINIMAL = (FOLDER / "minimal.hlf").read_bytes()
SIGNED_AT = 128 + 832
DIGEST = f.key_digest(MINIMAL)


def reason(image: bytes, **options: object) -> str | None:
    """The code of the refusal, None if accepted."""
    result = f.verify(image, [DIGEST], **options)  # type: ignore[arg-type]
    return result.reason.name if isinstance(result, f.Refused) else None


def put(image: bytes, at: int, data: bytes) -> bytes:
    return image[:at] + data + image[at + len(data) :]


class Vectors(unittest.TestCase):
    def test_every_vector_has_its_answer(self) -> None:
        vectors = run_vectors.load_first_stages(FOLDER)
        self.assertGreater(len(vectors), 150)
        for vector in vectors:
            with self.subTest(vector.name):
                self.assertEqual(run_vectors.judge_first_stage(vector), vector.expected)

    def test_the_runner_takes_the_folder(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(run_vectors.main([str(FOLDER)]), 0)
        self.assertRegex(said.getvalue(), r"^(\d+) of \1 as expected")

    def test_every_code_of_the_text_is_given_and_no_other(self) -> None:
        stated = set(re.findall(r"\*\*(E\d{4})\*\*", (SPEC / "first-stage.md").read_text()))
        given = {vector.expected for vector in run_vectors.load_first_stages(FOLDER)}
        self.assertEqual(stated, given - {"accepted"})
        source = (SPEC / "first_stage.py").read_text(encoding="utf-8")
        # A signature that does not verify is judged by algorithms.py.
        own = set(re.findall(r"Reason\.(E\d{4})", source))
        self.assertEqual(stated, own | {"E0301"})


class Sizes(unittest.TestCase):
    def test_sizes_are_those_of_the_examples(self) -> None:
        for pair, size, signed_at in (
            ((17, 1), 2504, 2688),
            ((17, 13), 1496, 1664),
            ((16, 0x10306), 2504, 2688),
            ((16, 0x20306), 5056, 5184),
            ((20, 1), 7856, 8000),
        ):
            self.assertEqual(f.FORMS[pair].signature_size, size)
            self.assertEqual(f.FORMS[pair].signed_at, signed_at)
            text = (SPEC / "first-stage.md").read_text(encoding="utf-8")
            self.assertIn(f"| {size:,} | {(size + 63) // 64 * 64:,} | {signed_at:,} |", text)

    def test_the_formulas_of_the_text_give_the_same_sizes(self) -> None:
        chains = (265, 133, 67, 34, 200, 101, 51, 26)
        for (algorithm, parameters), form in f.FORMS.items():
            if algorithm == f.LMS_HSS:
                levels, ots_type, lms_type = parameters >> 16, parameters >> 8 & 255, parameters & 255
                n = 32 if lms_type <= 9 else 24
                h = 5 * ((lms_type - 5) % 5 + 1)
                p = chains[ots_type - 1]
                size = levels * (8 + n * (1 + p + h)) + (levels - 1) * (16 + n)
                key_size = 16 + n
            elif algorithm == f.SLH_DSA:
                size, key_size = 7856, 32
            else:
                first = 13 if algorithm == f.XMSS else 33
                n, length = (32, 67) if parameters < first else (24, 51)
                number = parameters - (1 if parameters < first else first)
                if algorithm == f.XMSS:
                    h, d = (10, 16, 20)[number], 1
                else:
                    table = ((20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12))
                    h, d = table[number]
                size, key_size = 8 + n * (1 + d * length + h), 2 * n
            self.assertEqual((form.signature_size, form.key_size), (size, key_size), (algorithm, parameters))
            self.assertLessEqual(form.key_size, 64)
            self.assertEqual(form.signature_size % 8, 0)
        self.assertEqual(len(f.FORMS), 320 + 6 + 16 + 1)


class Changes(unittest.TestCase):
    def test_an_image_is_read(self) -> None:
        accepted = f.verify(MINIMAL, [DIGEST])
        self.assertIsInstance(accepted, f.Accepted)
        assert isinstance(accepted, f.Accepted)
        self.assertEqual(accepted.security_version, 7)
        self.assertEqual(accepted.code, bytes(index ^ 0x5A for index in range(128)))
        self.assertIsNone(accepted.next_key)
        named = (FOLDER / "next_key.hlf").read_bytes()
        accepted = f.verify(named, [DIGEST])
        assert isinstance(accepted, f.Accepted) and accepted.next_key is not None
        self.assertEqual(accepted.next_key[:2], (17, 1))

    def test_every_cut_is_truncated(self) -> None:
        for size in range(len(MINIMAL)):
            self.assertEqual(reason(MINIMAL[:size]), "E0101", size)

    def test_every_changed_bit_is_refused(self) -> None:
        source = random.Random(1)
        for at in range(0, len(MINIMAL), 3):
            changed = put(MINIMAL, at, bytes([MINIMAL[at] ^ 1 << source.randrange(8)]))
            self.assertIsNotNone(reason(changed), at)

    def test_random_bytes_are_refused(self) -> None:
        source = random.Random(2)
        for size in (*range(0, 300, 7), 2000):
            noise = source.randbytes(size)
            self.assertIsNotNone(reason(noise))
            self.assertIsNotNone(reason(MINIMAL[:24] + noise))
            self.assertIsNotNone(reason(MINIMAL[:SIGNED_AT] + noise))

    def test_fields_of_the_header_where_the_signature_does_not_count(self) -> None:
        """Every value of small fields, with a verifier of signatures that accepts all."""
        anyone = {pair: mock.Mock(check=lambda *_: None) for pair in f.FORMS}
        with mock.patch.object(f, "ALGORITHMS", anyone):
            for mask in range(256):
                image = put(MINIMAL, SIGNED_AT + 40, struct.pack("<I", mask))
                self.assertEqual(reason(image), None if 1 <= mask <= 7 else "E0408", mask)
            for at in (*range(44, 64), *range(136, 160), *range(192, 256)):
                self.assertEqual(reason(put(MINIMAL, SIGNED_AT + at, b"\x01")), "E0401", at)
            for algorithm in range(64):
                for parameters in (0, 1, 13, 40, 0x10306):
                    pair = struct.pack("<II", algorithm, parameters)
                    image = put(MINIMAL, SIGNED_AT + 128, pair)
                    is_named = (algorithm, parameters) in f.FORMS or algorithm == parameters == 0
                    self.assertEqual(reason(image), None if is_named else "E0425")
            for at in range(16):
                self.assertEqual(reason(put(MINIMAL, SIGNED_AT + at, b"\x00")), "E0103")
            for size in (0, 1, 63, 64, 65, 96, 128, 192, 1 << 24, (1 << 24) + 64, 1 << 63):
                image = put(MINIMAL, SIGNED_AT + 24, struct.pack("<Q", size))
                is_size = size % 64 == 0 and 64 <= size <= 1 << 24
                expected = {64: "E0803", 128: None}.get(size, "E0101")
                self.assertEqual(reason(image), expected if is_size else "E0106", size)

    def test_every_key_of_the_folder_has_the_digest_of_its_images(self) -> None:
        keys = SPEC / "vectors" / "keys"
        digest = f.load_digest(keys / "fake-lms-sha256-192-h5-w8.pub.pem")
        self.assertEqual(digest, DIGEST)
        self.assertIsNone(f.load_digest(keys / "fake-ml-dsa-44.pub.pem"))

    def test_the_command_answers_with_its_exit_code(self) -> None:
        key = str(SPEC / "vectors" / "keys" / "fake-lms-sha256-192-h5-w8.pub.pem")
        image = str(FOLDER / "minimal.hlf")
        for arguments, code, text in (
            ([image, "--key", key], 0, "accepted"),
            ([image, "--key", key, "--floor", "8"], 1, "E0603"),
            ([image, "--key", key, "--board", "other"], 1, "E0601"),
            ([image, "--key", key, "--capacity", "64"], 1, "E0106"),
            ([image, "--key", image], 2, ""),
            ([image + "x", "--key", key], 2, ""),
        ):
            with (
                contextlib.redirect_stdout(io.StringIO()) as said,
                contextlib.redirect_stderr(io.StringIO()),
            ):
                self.assertEqual(f.main(arguments), code, arguments)
            self.assertIn(text, said.getvalue())

    def test_reasons_have_the_names_of_the_list(self) -> None:
        self.assertEqual(Reason.E0106.value, "CodeSizeOutOfRange")
        self.assertEqual(Reason.E0206.value, "FirstStageAlgorithm")
        self.assertEqual(Reason.E0425.value, "NextKeyInvalid")


if __name__ == "__main__":
    unittest.main()
