#!/usr/bin/env python3
"""Tests of verify.py, one fault at a time.

Run with ``python3 test_verify.py`` or ``python3 -m unittest`` in this directory. "§" is a section
of image-format.md.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import random
import struct
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path

import algorithms
import spki
import verify as v
from encode import (
    RFC8032,
    A,
    B,
    Bundle,
    C,
    D,
    E,
    Edit,
    Item,
    Signer,
    block,
    boot,
    boot_items,
    command_line,
    extension,
    names,
    put,
    put32,
    put64,
    system_items,
    trust,
)
from reference import ed25519, keccak
from verify import KeyRecord, Policy, Reason


def reason(data: bytes, keys: Sequence[Signer] = (A, B, C, D), **options: object) -> str | None:
    """The code of the refusal, None if accepted."""
    result = v.verify(data, [key.record for key in keys], **options)  # type: ignore[arg-type]
    return result.reason.name if isinstance(result, v.Refused) else None


REC = 256 + 64  # the first payload record of a bundle with one signer
END = REC + 3 * 128  # the closing section of a bundle with one signer and three payloads


# ----------------------------------------------------------------------
# Tests
# ----------------------------------------------------------------------


class Ed25519(unittest.TestCase):
    def test_the_y_of_order_8_in_the_text_is_one(self) -> None:
        """§5.2 gives y8 in digits. It solves d y^4 + 2 y^2 = 1: doubling such a point gives y = 0."""
        text = (Path(__file__).parent / "image-format.md").read_text(encoding="utf-8")
        y8 = int(text.split("where y8 = ")[1].split(".")[0], 16)
        p = 2**255 - 19
        d = -121665 * pow(121666, p - 2, p)
        self.assertEqual((d * y8**4 + 2 * y8**2 - 1) % p, 0)

    def test_rfc8032(self) -> None:
        for secret, public, message, signature in RFC8032:
            signer = Signer(bytes.fromhex(secret))
            text = bytes.fromhex(message)
            self.assertEqual(signer.public.hex(), public)
            self.assertEqual(signer.sign(text).hex(), signature)
            self.assertIsNone(algorithms._check_ed25519(signer.public, bytes.fromhex(signature), text))
            wrong = algorithms._check_ed25519(signer.public, bytes.fromhex(signature), text + b"!")
            self.assertIs(wrong, Reason.E0301)

    def torsion(self) -> ed25519.Point:
        """A point of order 8."""
        for y in range(2, 1000):
            point = ed25519.decode_point(y.to_bytes(32, "little"))
            if point is not None:
                candidate = ed25519.multiply(ed25519.L, point)
                if ed25519.encode_point(ed25519.multiply(4, candidate)) != ed25519.encode_point(
                    ed25519.IDENTITY
                ):
                    return candidate
        raise AssertionError("no point of order 8")

    def test_small_order_and_encodings(self) -> None:
        good = A.sign(b"m")
        eighth = self.torsion()
        small = [ed25519.encode_point(ed25519.multiply(i, eighth)) for i in range(8)]
        self.assertEqual(len(set(small)), 8)
        self.assertEqual({ed25519.split(point)[1] for point in small}, ed25519.SMALL_ORDER_Y)
        # y >= p (the points with small y, encoded a second time) and both kinds of "-0"
        others = [(ed25519.P + i).to_bytes(32, "little") for i in range(19)]
        others += [(y | 1 << 255).to_bytes(32, "little") for y in (1, ed25519.P - 1)]
        others.append(b"\xff" * 32)
        for bad in small + others:
            self.assertIs(algorithms._check_ed25519(bad, good, b"m"), Reason.E0302)
            self.assertIs(algorithms._check_ed25519(A.public, bad + good[32:], b"m"), Reason.E0303)

    def test_off_the_curve(self) -> None:
        """R is not decoded (§5.2), so one off the curve merely fails the equation."""
        good = A.sign(b"m")
        candidates = [y.to_bytes(32, "little") for y in range(2, 99)]
        off_curve = [c for c in candidates if ed25519.decode_point(c) is None]
        self.assertGreater(len(off_curve), 20)
        for bad in off_curve:
            self.assertIs(algorithms._check_ed25519(bad, good, b"m"), Reason.E0302)
            self.assertIs(algorithms._check_ed25519(A.public, bad + good[32:], b"m"), Reason.E0301)
            excess = bad + ed25519.L.to_bytes(32, "little")
            self.assertIs(algorithms._check_ed25519(A.public, excess, b"m"), Reason.E0303)

    def test_scalar_range(self) -> None:
        good = A.sign(b"m")
        s = int.from_bytes(good[32:], "little")
        for bad in (s + ed25519.L, ed25519.L, 2**256 - 1):
            signature = good[:32] + bad.to_bytes(32, "little")
            self.assertIs(algorithms._check_ed25519(A.public, signature, b"m"), Reason.E0303)
        zero = good[:32] + bytes(32)
        self.assertIs(algorithms._check_ed25519(A.public, zero, b"m"), Reason.E0301)

    def test_small_order_r_that_fulfils_the_equation(self) -> None:
        r = ed25519.encode_point(ed25519.IDENTITY)
        k = int.from_bytes(hashlib.sha512(r + A.public + b"m").digest(), "little")
        signature = r + (k * A.scalar % ed25519.L).to_bytes(32, "little")
        self.assertIs(algorithms._check_ed25519(A.public, signature, b"m"), Reason.E0303)

    def test_cofactorless(self) -> None:
        """A key of mixed order verifies exactly if k mod L is a multiple of 8."""
        mixed = ed25519.encode_point(
            ed25519.add(ed25519.multiply(A.scalar, ed25519.BASE), self.torsion())
        )
        outcomes = set()
        for i in range(40):
            message = b"message %d" % i
            r = ed25519.encode_point(ed25519.multiply(i + 1, ed25519.BASE))
            k = int.from_bytes(hashlib.sha512(r + mixed + message).digest(), "little") % ed25519.L
            signature = r + ((i + 1 + k * A.scalar) % ed25519.L).to_bytes(32, "little")
            expected = None if k % 8 == 0 else Reason.E0301
            self.assertIs(algorithms._check_ed25519(mixed, signature, message), expected)
            outcomes.add(expected)
        self.assertEqual(len(outcomes), 2)


def pattern(size: int) -> bytes:
    """The message of RFC 9861 §5 and of the examples in §6.3 and §6.4."""
    return bytes(i % 251 for i in range(size))


class Keccak(unittest.TestCase):
    def setUp(self) -> None:
        self.text = (Path(__file__).parent / "image-format.md").read_text(encoding="utf-8")

    def example(self, start: str) -> list[str]:
        """The text between backquotes in the row of a table that begins so."""
        row = self.text.split(f"\n| {start} |")[1].split("\n")[0]
        return row.split("`")[1::2]

    def test_the_sponge_is_that_of_hashlib(self) -> None:
        for size in (0, 1, 135, 136, 137, 167, 168, 169, 500):
            data = pattern(size)
            sha3 = hashlib.sha3_256(data).digest()
            self.assertEqual(keccak.sponge(data, 0x06, 136, 24, 32), sha3)
            for rate, shake in ((168, hashlib.shake_128), (136, hashlib.shake_256)):
                expected = shake(data).digest(64)
                self.assertEqual(keccak.sponge(data, 0x1F, rate, 24, 64), expected)

    def test_published(self) -> None:
        """RFC 9861 §5, and sample 1 of each strength among NIST's for SP 800-185."""
        for size, digest in (
            (1, "2bda92450e8b147f8a7cb629e784a058efca7cf7d8218e02d345dfaa65244a1f"),
            (17**2, "0c315ebcdedbf61426de7dcf8fb725d1e74675d7f5327a5067f367b108ecb67c"),
            (17**4, "8701045e22205345ff4dda05555cbb5c3af1a771c2b89baef37db43d9998b9fe"),
        ):
            self.assertEqual(keccak.kt128([pattern(size)]).hex(), digest)
        message = bytes(16 * row + i for row in range(3) for i in range(8))
        self.assertEqual(
            keccak.parallelhash(128, message, 8, 32).hex(),
            "ba8dc1d1d979331d3f813603c67f72609ab5e44b94a0b8f9af46514454a2b4f5",
        )
        self.assertEqual(
            keccak.parallelhash(256, message, 8, 64).hex(),
            "bc1ef124da34495e948ead207dd9842235da432d2bbc54b4c110e64c45110553"
            "1b7f2a3e0ce055c02805e7c2de1fb746af97a1dd01f43b824e31b87612410429",
        )

    def test_examples_of_kt128(self) -> None:
        sizes = {"empty": 0, "8,191 bytes": 8191, "8,192 bytes": 8192, "8,193 bytes": 8193}
        for start, size in sizes.items():
            self.assertEqual([keccak.kt128([pattern(size)]).hex()], self.example(start))
        value = keccak.sponge(b"\0", 0x0B, 168, 12, 32).hex()
        self.assertIn(f"`{value}`", self.text)

    def test_examples_of_parallelhash(self) -> None:
        data = pattern(2500)
        for i in range(3):
            leaf = hashlib.shake_128(data[1024 * i : 1024 * (i + 1)]).hexdigest(32)
            self.assertEqual([leaf], self.example(f"leaf_{i}"))
        front = bytes.fromhex("".join(self.example("front")))
        self.assertEqual(len(front) + 150, 168)
        z = "".join(
            self.example(start)[0]
            for start in (
                "left_encode(1024)",
                *(f"leaf_{i}" for i in range(3)),
                "right_encode(3)",
                "right_encode(256)",
            )
        )
        message = front.ljust(168, b"\0") + bytes.fromhex(z)
        digest = keccak.sponge(message, 0x04, 168, 24, 32).hex()
        self.assertEqual([digest], self.example("digest, ParallelHash128"))
        self.assertEqual(digest, keccak.parallelhash(128, data, 1024, 32).hex())
        digest = keccak.parallelhash(256, data, 1024, 64).hex()
        self.assertEqual([digest], self.example("digest, ParallelHash256"))


class KeyFiles(unittest.TestCase):
    """SubjectPublicKeyInfo of every family."""

    KEYS = Path(__file__).resolve().parent / "vectors" / "keys"

    def test_numbers_and_sizes(self) -> None:
        files = sorted(self.KEYS.glob("*.pub.pem"))
        self.assertGreater(len(files), 15)

        def load(file: Path) -> spki.PublicKey:
            return spki.load(file.read_text(), "pss-sha384" if "rsa" in file.name else None)

        for file in files:
            key = load(file)
            row = v.ALGORITHMS[key.algorithm, key.parameters]
            self.assertEqual(len(key.data), row.public_key_size, file.name)
        families = {load(file).algorithm for file in files}
        self.assertEqual(families, {2, 4, 16, 17, 18, 19, 20})

    def test_the_use_of_an_rsa_key(self) -> None:
        text = (self.KEYS / "fake-rsa-3072.pub.pem").read_text()
        with self.assertRaises(ValueError):
            spki.load(text)
        line = "# algorithm: rsa-pss-3072-sha384\n"
        self.assertEqual(spki.load(line + text)[:2], (2, 3072 << 16 | 2))
        self.assertEqual(spki.load(text, "pkcs1-sha512")[:2], (3, 3072 << 16 | 3))

    def test_a_line_states_the_algorithm_of_the_key(self) -> None:
        for file in self.KEYS.glob("*.pub.pem"):
            text, name = file.read_text(), file.name.removeprefix("fake-").removesuffix(".pub.pem")
            if "rsa" in name:
                bits = name.removeprefix("rsa-")
                names = ["rsa-{1}-{0}-{2}".format(bits, *use.split("-")) for use in spki.RSA_USES]
            else:
                names = [name]
            for right in names:
                for line in (f"# algorithm: {right}\n", f"text\n  # algorithm:{right} \r\n# a comment\n"):
                    key = spki.load(line + text)
                    self.assertEqual(spki.name_of(key.algorithm, key.parameters), right)
            for other in ("", "rot13", "ed25519", "rsa-pss-1024-sha256", "rsa-pss-4096-sha9", names[0] + "x"):
                with self.assertRaises(ValueError, msg=(file.name, other)):
                    spki.load(f"# algorithm: {other}\n" + text)
            with self.assertRaises(ValueError):
                spki.load(f"# algorithm: {names[0]}\n" * 2 + text)
        text = (self.KEYS / "fake-rsa-3072.pub.pem").read_text()
        line = "# algorithm: rsa-pss-3072-sha384\n"
        self.assertEqual(spki.load(line + text, "pss-sha384")[0], 2)
        with self.assertRaises(ValueError):
            spki.load(line + text, "pkcs1-sha384")

    def test_each_algorithm_has_a_name_of_its_own(self) -> None:
        names = [spki.name_of(*numbers) for numbers in v.ALGORITHMS]
        self.assertEqual(len(set(names) - {None}), len(v.ALGORITHMS))

    def test_a_key_file_has_one_key_in_one_encoding(self) -> None:
        text = (Path(v.__file__).resolve().parent / "vectors/image/fake-root-a.pub.pem").read_text()
        begin, body, end = text.splitlines()
        self.assertIsNotNone(spki.load("text before\n\n" + text.replace("\n", " \t\r\n ")))
        for other in (
            text + "text after",
            text + "\0",
            text + text,
            text + text.replace("PUBLIC", "PRIVATE"),
            text.replace("PUBLIC", "PRIVATE") + text,
            f"{begin}\n{body[:9]}\v{body[9:]}\n{end}\n",
            f"{begin}\n{body[:9]}\u00a0{body[9:]}\n{end}\n",
            f"{begin}\n{body[:-2]}{chr(ord(body[-2]) + 1)}=\n{end}\n",
        ):
            with self.assertRaises(ValueError, msg=other):
                spki.load(other)

    def test_anything_else(self) -> None:
        for file in self.KEYS.glob("fake-e*.pub.pem"):
            head, *body, end = file.read_text().splitlines()
            der = base64.b64decode("".join(body))
            for bad in (der[:-1], der + b"\0", b"\x31" + der[1:], der[:1] + b"\x81" + der[1:]):
                text = "\n".join((head, base64.b64encode(bad).decode(), end))
                with self.assertRaises(ValueError):
                    spki.load(text)
        with self.assertRaises(ValueError):
            spki.load("")


class Good(unittest.TestCase):
    def test_accepted(self) -> None:
        self.assertIsNone(reason(Bundle().build()))
        self.assertIsNone(reason(boot().build()))
        self.assertIsNone(reason(boot(signers=(A, B, C, D)).build()))
        self.assertIsNone(reason(Bundle(closing=command_line(b"")).build()))
        self.assertIsNone(reason(Bundle(closing=command_line(b"x ~" * 341)).build()))
        eight = [Signer(bytes([i] * 32)).record for i in range(8)]
        self.assertIsNone(reason(boot(closing=trust(1, eight)).build()))

    def test_without_initramfs_and_with_an_empty_one(self) -> None:
        kernel, initramfs, fdt = system_items()
        self.assertIsNone(reason(Bundle(items=[kernel, fdt]).build()))
        for block_size in (0, 1024):
            initramfs.data, initramfs.block_size = b"", block_size
            for load in (initramfs.load, kernel.load + 4096):  # an empty range overlaps nothing
                initramfs.load = load
                self.assertIsNone(reason(Bundle(items=[kernel, initramfs, fdt]).build()))

    def test_every_hash_in_its_modes(self) -> None:
        for hash_ in (8, 9):
            for block_size in (1024, 9216, 16777216):
                items = system_items()
                for item in items:
                    item.hash, item.mode, item.block_size = hash_, 3, block_size
                items[1].data = b""
                self.assertIsNone(reason(Bundle(items=items).build()))
        for hash_ in range(1, 8):
            for block_size in (0, 1024, 3072, 16777216):
                items = system_items()
                for item in items:
                    item.hash, item.block_size = hash_, block_size
                self.assertIsNone(reason(Bundle(items=items).build()))

    def test_contents(self) -> None:
        result = v.verify(Bundle().build(), [A.record])
        assert isinstance(result, v.Accepted)
        self.assertEqual(result.header.board, "qemu-virt")
        self.assertEqual(result.header.label, "test bundle 1")
        self.assertEqual(result.header.security_version, 7)
        self.assertEqual(result.signers, (A.record,))
        self.assertEqual([p.name for p in result.payloads], ["kernel", "initramfs", "system-fdt"])

    def test_device(self) -> None:
        data = boot().build()
        self.assertIsNone(
            reason(
                data, kind="boot", board="qemu-virt", soc="virt", floor=7, lifecycle="production"
            )
        )


class Refusals(unittest.TestCase):
    """One fault at a time, in the order of §8."""

    def check(self, code: str, bundle: Bundle, **options: object) -> None:
        self.assertEqual(reason(bundle.build(), **options), code)  # type: ignore[arg-type]

    def region(self, code: str, edit: Edit, base: Bundle | None = None) -> None:
        bundle = base or Bundle()
        bundle.edit_region = edit
        self.check(code, bundle)

    def test_01_container(self) -> None:
        data = Bundle().build()
        for size in (0, 16, 255, 256, 800):
            self.assertEqual(reason(data[:size]), "E0101")
        self.assertEqual(reason(bytes(4096)), "E0102")
        self.assertEqual(reason(b"HARTLOCK-DELG-v1" + data[16:]), "E0102")
        self.assertEqual(reason(data, kind="boot"), "E0103")
        self.assertEqual(reason(boot().build(), kind="system"), "E0103")
        for size in (0, 448, 457, 16392, 2**32 - 8):
            self.check("E0104", Bundle(edit_file=put32(16, size)))
        for size in (0, 113, 262152, 2**32 - 8):
            self.check("E0105", Bundle(edit_file=put32(20, size)))
        self.check("E0101", Bundle(edit_file=put32(20, 262144)))

    def test_01_limits(self) -> None:
        """The sizes at the ends of their ranges are not refused for their size."""
        kernel = system_items()[0]
        smallest = Bundle(items=[kernel], closing=command_line(b""))
        self.assertEqual(struct.unpack_from("<I", smallest.build(), 16)[0], 456)
        self.check("E0503", smallest)
        self.check("E0201", Bundle(edit_file=put32(20, 8)))
        filler = Bundle(edit_region=lambda region: region.extend(bytes(16384 - len(region))))
        filler.edit_file = put32(16, 16384)
        self.check("E0301", filler)
        end = sum(struct.unpack_from("<2I", Bundle().build(), 16))
        damaged = Bundle(edit_area=put(80, b"\0")).build()
        self.assertEqual(reason(damaged[:end]), "E0301")
        self.assertEqual(reason(damaged[: end - 1]), "E0101")

    def test_02_blocks(self) -> None:
        self.check("E0201", Bundle(extra_blocks=(bytes(8),)))
        self.check("E0201", Bundle(edit_area=put32(8, 2**32 - 1)))
        self.check("E0201", Bundle(edit_area=put32(12, 65)))
        self.check("E0201", Bundle(edit_area=put(0, struct.pack("<4I", 0, 0, 2**32 - 1, 0))))
        self.check("E0205", Bundle(edit_area=put(0, bytes(112))))
        self.check("E0202", Bundle(edit_area=put32(8, 31)))
        self.check("E0202", Bundle(edit_area=put32(12, 63)))
        self.check("E0203", Bundle(extra_blocks=(block(9, 0, b"key", b"sig")[:-1] + b"\1",)))
        self.check(
            "E0203",
            Bundle(
                extra_blocks=(block(9, 0, b"", b"")[:12] + b"\1" + bytes(3) + b"\0" * 7 + b"\1",)
            ),
        )
        self.check("E0204", Bundle(signers=(A, B, C, D), extra_blocks=(bytes(8),)))
        # structure of all blocks comes before the signature of the first
        broken = Bundle(extra_blocks=(bytes(16),), edit_area=put(60, b"\xaa" * 8))
        self.check("E0205", broken)

    def test_03_signatures(self) -> None:
        self.check("E0301", Bundle(edit_file=put64(32, 8)))
        self.check("E0301", Bundle(edit_area=put(80, b"\0")))
        for key in (bytes(32), b"\xff" * 32):
            bundle = Bundle(edit_area=put(16, key))
            trusted = [KeyRecord.of(1, 0, key)]
            self.assertEqual(v.verify(bundle.build(), trusted), v.Refused(Reason.E0302))
            # a key that is not trusted is not parsed
            self.check("E1001", bundle)
        self.check("E0303", Bundle(edit_area=put(48, bytes(32))))
        self.check("E0303", Bundle(edit_area=put(80, b"\xff" * 32)))
        # a damaged signature of a trusted key is never outvoted; that of another one is not verified
        damaged = Bundle(signers=(A, E), edit_area=put(112 + 80, b"\0"))
        for policy in (Policy.ANY, Policy.ALL, Policy.EVERY_SIGNER):
            self.check("E0301", damaged, keys=[A, E], policy=policy)
        for policy in (Policy.ANY, Policy.ALL):
            self.assertIsNone(reason(damaged.build(), [A], policy=policy))
        self.check("E1001", damaged, keys=[A], policy=Policy.EVERY_SIGNER)

    def test_03_policy(self) -> None:
        data = Bundle(signers=(A, B)).build()
        cases: list[tuple[Policy, Sequence[Signer], str | None]] = [
            (Policy.EVERY_SIGNER, (A, B, C), None),
            (Policy.EVERY_SIGNER, (A,), "E1001"),
            (Policy.EVERY_SIGNER, (), "E1001"),
            (Policy.ANY, (B, C), None),
            (Policy.ANY, (C,), "E0304"),
            (Policy.ANY, (), "E0304"),
            (Policy.ALL, (A, B), None),
            (Policy.ALL, (B, B), None),
            (Policy.ALL, (A, B, C), "E0305"),
            (Policy.ALL, (C,), "E0304"),
            (Policy.HYBRID, (A, B), "E0306"),
            (Policy.HYBRID, (C,), "E0304"),
        ]
        for policy, keys, expected in cases:
            self.assertEqual(reason(data, keys, policy=policy), expected, (policy, len(keys)))

    def test_03_algorithm_not_carried(self) -> None:
        other = KeyRecord.of(9, 0, b"a public key")
        both = Bundle(
            listed=[A.record, other], extra_blocks=(block(9, 0, b"a public key", b"anything"),)
        )
        data = both.build()
        self.assertEqual(reason(data, policy=Policy.EVERY_SIGNER), "E1001")
        self.assertIsNone(reason(data, policy=Policy.ANY))
        result = v.verify(both.build(), [A.record, other], Policy.ANY)
        self.assertEqual(result, v.Refused(Reason.E0307))
        both.edit_area = put(80, b"\0")
        result = v.verify(both.build(), [A.record, other], Policy.ANY)
        self.assertEqual(result, v.Refused(Reason.E0307))

    def test_04_header(self) -> None:
        self.region("E0408", put32(48, 0))
        self.region("E0408", put32(48, 8 | 1))
        self.region("E0402", put32(52, 0))
        self.region("E0402", put32(52, 5))
        self.region("E0403", put32(56, 0))
        self.region("E0403", put32(56, 9))
        for offset, code in ((64, "E0405"), (96, "E0406")):
            for name in (bytes(32), b"a b\0", b"a\0b", b"\x7f", b"virt\xe9", b"\0virt"):
                self.region(code, put(offset, name))
        for label in (b"a\0b", b"\n", b"\x7f"):
            self.region("E0407", put(128, label))
        self.assertIsNone(reason(Bundle(edit_region=put(128, b"~ " * 32)).build()))
        self.assertIsNone(reason(Bundle(edit_region=put(128, bytes(64))).build()))
        self.region("E0401", put(192, b"\1"))
        self.region("E0401", put(255, b"\1"))
        for size in (1, 4, 15, 2056, 2**32 - 8):
            self.region("E0413", put32(60, size))
        self.region("E0404", put32(60, 2048))

    def test_04_extensions(self) -> None:
        other, boot_version = extension(1, names(b"b", b"soc")), extension(2, struct.pack("<Q", 5))
        for area in (other, boot_version, other + boot_version):
            self.assertIsNone(reason(Bundle(extensions=area).build()))
        self.assertIsNone(reason(boot(extensions=other).build()))
        self.check("E0440", boot(extensions=boot_version))
        for type_ in (0, 4, 8, 2**32 - 1):
            self.check("E0440", Bundle(extensions=extension(type_, bytes(8))))
            self.check("E0440", Bundle(extensions=boot_version + extension(type_, bytes(8))))
        self.check("E0441", Bundle(extensions=boot_version + boot_version))
        self.check("E0441", Bundle(extensions=boot_version + other))
        self.check("E0441", Bundle(extensions=other + other))
        for length in (16, 2**32 - 8, 2**32 - 1):
            cut = struct.pack("<2I", 2, length) + bytes(8)
            self.check("E0442", Bundle(extensions=cut))
        for value in (b"", bytes(16)):
            self.check("E0442", Bundle(extensions=extension(2, value)))
        eight = b"".join(names(bytes([c]), b"soc") for c in b"bcdefghi")
        self.assertIsNone(reason(Bundle(extensions=extension(1, eight[:448])).build()))
        for value in (b"", eight, eight[:96], eight[:8]):
            self.check("E0442", Bundle(extensions=extension(1, value)))
        self.check("E0405", Bundle(extensions=extension(1, names(b"", b"soc"))))
        self.check("E0406", Bundle(extensions=extension(1, names(b"b", b"\xff"))))
        self.check("E0443", Bundle(extensions=extension(1, names(b"qemu-virt", b"virt"))))
        self.check("E0443", Bundle(extensions=extension(1, eight[:64] + eight[:64])))
        self.check("E0444", Bundle(extensions=extension(2, bytes(8))))

    def test_06_devices(self) -> None:
        area = extension(1, names(b"b", b"soc-b") + names(b"c", b"soc-c"))
        data = Bundle(extensions=area + extension(2, struct.pack("<Q", 5))).build()
        for board, soc, code in (
            ("b", "soc-b", None),
            ("c", None, None),
            (None, "soc-c", None),
            ("qemu-virt", "virt", None),
            ("d", "soc-b", "E0601"),
            ("b", "soc-c", "E0602"),
            (None, "soc", "E0602"),
        ):
            self.assertEqual(reason(data, board=board, soc=soc), code)
        self.assertIsNone(reason(data, boot_version=5))
        self.assertEqual(reason(data, boot_version=4), "E0605")
        # security version, then boot version, then lifecycle
        self.assertEqual(reason(data, floor=8, boot_version=4), "E0603")
        self.assertEqual(reason(data, boot_version=4, lifecycle="returned"), "E0605")

    def test_04_closing_first_fields(self) -> None:
        self.region("E0420", put32(END, 0), boot())
        self.region("E0420", put32(END, 4), boot())
        self.region("E0421", put32(END + 4, 0), boot())
        self.region("E0421", put32(END + 4, 9), boot())
        self.region("E0430", put32(END, 1024))
        self.region("E0430", put32(END, 2**32 - 1))
        self.region("E0404", put32(END, 17))
        self.region("E0404", put32(END + 4, 1), boot())
        self.region("E0404", put32(52, 4))
        self.region("E0404", put32(56, 8))
        self.region("E0404", put32(56, 8), boot())

    def test_04_signers(self) -> None:
        self.check("E0409", Bundle(signers=(A, A)))
        self.check("E0410", Bundle(listed=[A.record, B.record]))
        self.check("E0411", Bundle(signers=(A, B), listed=[A.record]))
        self.check("E0412", Bundle(signers=(A, B), listed=[B.record, A.record]))
        self.check("E0412", Bundle(listed=[B.record]))
        self.region("E0412", put32(256, 2))
        self.region("E0412", put32(260, 1))
        self.region("E0401", put(256 + 63, b"\1"))
        self.check("E0401", Bundle(signers=(A, A), edit_region=put(256 + 127, b"\1")))

    def test_04_closing_rest(self) -> None:
        records = [s.record for s in (A, B, C, D, E)]
        self.assertIsNone(reason(boot(edit_region=put(END + 15, b"\1")).build()))
        self.check("E0424", boot(closing=trust(1, records, 1 << 16)))
        far = KeyRecord(65, 0, bytes(48))
        self.check("E0424", boot(closing=trust(1, [far], 2**64 - 1)))
        self.region("E0401", put(-1, b"\1"), boot())
        self.check("E0422", boot(closing=trust(1, [A.record, A.record])))
        self.check("E0423", boot(closing=trust(2, records)))
        self.assertIsNone(reason(boot(closing=trust(2, records[:4])).build()))
        self.assertIsNone(reason(boot(closing=trust(1, records)).build()))
        self.check("E0423", boot(closing=trust(3, records)))
        self.region("E0401", put(END + 4, b"\1"))
        self.region("E0431", put(END + 8, b"\0"))
        self.region("E0431", put(END + 20, b"\x7f"))
        self.region("E0432", put(-1, b" "))

    def test_05_payload_records(self) -> None:
        second, third = REC + 128, REC + 256
        self.region("E0501", put32(REC, 1))
        self.region("E0501", put32(REC, 0))
        self.region("E0501", put32(REC, 16), boot())
        self.region("E0502", put32(second, 16))
        self.region("E0502", put32(third, 16))
        self.check("E0503", Bundle(items=system_items()[:2]))
        self.check("E0503", Bundle(items=system_items()[1:]))
        for missing in range(3):
            items = boot_items()
            del items[missing]
            self.check("E0503", boot(items=items))
        for value in (0, 10, 2**32 - 1):
            self.region("E0504", put32(REC + 4, value))
        for value in (0, 4):
            self.region("E0505", put32(REC + 8, value))
        for value in (0, 512, 1025, 16777216 + 1024):
            self.region("E0506", put32(REC + 12, value))
            self.region("E0506", put(REC + 4, struct.pack("<3I", 8, 3, value)))
        for mode, block_size in ((1, 0), (2, 1024), (3, 1024)):
            for hash_ in range(1, 10):
                if (mode == 3) != (hash_ in (8, 9)):
                    fields = struct.pack("<3I", hash_, mode, block_size)
                    self.region("E0515", put(REC + 4, fields))
                    # after block_size, before everything else
                    fields = struct.pack("<3I", hash_, mode, block_size + 1)
                    self.region("E0506", put(REC + 4, fields))
        everything_else = put(REC + 4, struct.pack("<3I", 9, 1, 0) + b"\xff" * 116)
        self.region("E0515", everything_else)
        self.region("E0506", put32(third + 12, 1024))
        self.region("E0507", put(REC + 127, b"\1"))
        self.region("E0507", put(REC + 64 + 48, b"\1"))
        self.region("E0401", put(REC + 56, b"\1"))

    def test_05_ranges(self) -> None:
        second, third = REC + 128, REC + 256
        self.region("E0508", put64(REC + 16, 0))
        self.region("E0508", put64(second + 16, 4096))
        self.region("E0509", put64(REC + 24, 0))
        self.region("E0509", put64(REC + 24, 2**40 + 1))
        self.region("E0510", put64(REC + 24, 2**40))
        self.region("E0509", put64(third + 24, 0))
        self.region("E0510", put64(REC + 32, 0x8120_0800))
        self.region("E0510", put64(REC + 40, 8192))
        self.region("E0510", put64(REC + 40, 12289))
        self.region("E0511", put64(REC + 32, 2**64 - 4096))
        self.region("E0511", put64(REC + 32, 2**64 - 12288))
        self.region("E0513", put64(REC + 32, 2**64 - 16384))
        self.region("E0511", put64(REC + 40, 2**64 - 4096))
        self.region("E0512", put64(second + 32, 0x8120_2000))
        self.region("E0512", put64(third + 32, 0x8120_0000))
        self.region("E0513", put64(REC + 48, 0x8120_0000 - 4))
        self.region("E0513", put64(REC + 48, 0x8120_0002))
        self.region("E0513", put64(REC + 48, 0x8120_0000 + 9004))
        self.region("E0513", put64(second + 48, 0x8200_0000))
        self.region("E0513", put64(second + 48, 0x8020_1000), boot())
        self.region("E0514", put64(24, 0))
        self.region("E0514", put64(24, 2**64 - 1))

    def test_06_device(self) -> None:
        bundle = Bundle()
        self.check("E0601", bundle, board="qemu", soc="other", floor=8, lifecycle="returned")
        self.check("E0602", bundle, board="qemu-virt", soc="other", floor=8)
        self.check("E0603", bundle, soc="virt", floor=8, lifecycle="returned")
        self.check("E0604", bundle, floor=7, lifecycle="returned")

    def test_07_placement(self) -> None:
        def moved(items: list[Item], index: int, load: int, entry: int | None = None) -> Bundle:
            items[index].load = load
            items[index].entry = items[index].entry if entry is None else entry
            return boot(items=items) if items[0].type == 1 else Bundle(items=items)

        self.check("E0701", moved(boot_items(), 0, 0x8018_0000, 0x8018_0000))
        self.check("E0701", moved(boot_items(), 2, 0x8041_F000 + 4096))
        self.check("E0703", moved(boot_items(), 0, 0x8000_1000, 0x8000_1000))
        self.check("E0703", moved(boot_items(), 0, 0x8000_0000, 0x8000_0004))
        self.check("E0703", moved(boot_items(), 1, 0x8020_1000, 0x8020_1000))
        self.check("E0703", moved(boot_items(), 2, 0x8040_1000))
        self.check("E0701", moved(system_items(), 0, 0x7FE0_0000, 0x7FE0_0000))
        self.check("E0703", moved(system_items(), 0, 0x8110_0000, 0x8110_0000))
        self.check("E0703", moved(system_items(), 0, 0x8120_0000, 0x8120_0004))
        self.check("E0701", moved(system_items(), 1, 0x80FF_F000))
        self.check("E0701", moved(system_items(), 1, 0xBFFF_F000))
        self.assertIsNone(reason(moved(system_items(), 1, 0xBFFF_E000).build()))
        elsewhere = moved(system_items(), 1, 0x1000)
        elsewhere.board = b"other-board"
        self.assertIsNone(reason(elsewhere.build()))

    def test_07_live_regions(self) -> None:
        """Live regions come before place and fixed address, and differ between the stages."""
        for kind, items in (("boot", boot_items), ("system", system_items)):
            for low, high in v.BOARDS["qemu-virt"].live[kind]:
                for load in (low, high - 4096):
                    moved = items()
                    moved[-1].load = load
                    base = boot if kind == "boot" else Bundle
                    self.check("E0702", base(items=moved))
        only_in_loader = boot_items()
        only_in_loader[2].load = 0x8008_0000  # OpenSBI's memory is free while the ROM runs
        self.check("E0701", boot(items=only_in_loader))

    def test_07_empty_initramfs(self) -> None:
        """An empty range shares no byte with a live region but has a place."""
        for load, code in ((0xC000_0000, None), (0xC000_1000, "E0701"), (0x8012_0000, "E0701")):
            items = system_items()
            items[1].data, items[1].load = b"", load
            self.assertEqual(reason(Bundle(items=items).build()), code, hex(load))

    def test_08_medium(self) -> None:
        """On a medium, what follows the bundle is not part of it (§3.3)."""
        data = Bundle().build()
        self.assertIsNone(reason(data + b"noise", is_file=False))
        self.assertEqual(reason(data[:-1], is_file=False), "E0101")

    def test_08_bytes(self) -> None:
        data = Bundle().build()
        for size in (4096, len(data) - 4096, len(data) - 1):
            self.assertEqual(reason(data[:size]), "E0101")
        self.assertEqual(reason(data + b"\0"), "E0803")
        first = 4096  # offset of payload 0
        for offset, code in (
            (first - 1, "E0802"),
            (first, "E0801"),
            (first + 9000, "E0801"),
            (first + 9001, "E0802"),
            (first + 12288 + 4096, "E0801"),
            (first + 12288 + 4097, "E0802"),
            (len(data) - 1, "E0802"),
        ):
            self.check(code, Bundle(edit_file=put(offset, bytes([data[offset] ^ 1]))))
        self.region("E0801", put(REC + 64, bytes(48)))

    def test_blocks_are_bound_to_the_record(self) -> None:
        self.region("E0801", put64(REC + 40, 65536))  # block mode: the root covers the record
        flat = Bundle()
        flat.edit_region = put64(REC + 256 + 40, 65536)  # flat: only the signature does
        self.assertIsNone(reason(flat.build()))


class Robustness(unittest.TestCase):
    def test_every_flip_is_refused(self) -> None:
        choice = random.Random(1)
        for bundle in (Bundle(), boot(signers=(A, B))):
            data = bytearray(bundle.build())
            metadata = 256 + 64 * 2 + 128 * 3 + 160 + 224
            spots = list(range(0, metadata, 3)) + choice.sample(range(len(data)), 200)
            for spot in spots:
                bit = 1 << choice.randrange(8)
                data[spot] ^= bit
                self.assertIsNotNone(reason(bytes(data)), spot)
                data[spot] ^= bit

    def test_signed_garbage(self) -> None:
        """Random values in signed fields, with valid signatures: a verdict, never an exception."""
        choice = random.Random(2)
        for _round in range(150):
            bundle = choice.choice([Bundle(), boot()])
            edits: list[Edit] = []
            for _ in range(choice.randrange(1, 4)):
                spot = choice.randrange(24, END + 24)
                edits.append(put(spot, choice.randbytes(choice.randrange(1, 9))))

            def edit(region: bytearray, edits: Sequence[Edit] = tuple(edits)) -> None:
                size = len(region)
                for change in edits:
                    change(region)
                del region[size:]

            bundle.edit_region = edit
            reason(bundle.build())

    def test_random_area(self) -> None:
        choice = random.Random(3)
        data = bytearray(Bundle(signers=(A, B, C, D)).build())
        at = struct.unpack_from("<I", data, 16)[0]
        for _ in range(300):
            changed = bytearray(data)
            spot = at + 112 * choice.randrange(4) + choice.randrange(16)
            changed[spot : spot + 4] = choice.randbytes(choice.choice([1, 4])).ljust(4, b"\0")
            reason(bytes(changed))


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)
        items = system_items()
        items[2].data = self.tree("right")
        self.good = self.write("good.hlk", Bundle(items=items).build())
        self.bad = self.write("bad.hlk", Bundle(edit_file=put64(32, 8)).build())
        self.key = self.write("a.pem", A.pem.encode())

    def write(self, name: str, data: bytes) -> str:
        path = self.directory / name
        path.write_bytes(data)
        return str(path)

    @staticmethod
    def tree(name: str) -> bytes:
        folder = Path(v.__file__).resolve().parent / "vectors/system-trees"
        return (folder / f"{name}.dtb").read_bytes()

    def run_main(self, *arguments: str) -> tuple[int, str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            try:
                code = v.main(arguments)
            except SystemExit as stop:
                code = int(stop.code or 0)
        return code, output.getvalue()

    def test_exit_codes(self) -> None:
        key = ("--key", self.key)
        self.assertEqual(self.run_main(self.good, *key), (0, "accepted\n"))
        code, output = self.run_main(self.bad, *key)
        self.assertEqual(code, 1)
        self.assertTrue(output.startswith("E0301 SignatureMismatch: A signature does not verify."))
        self.assertIn("\n  hint: Fetch the bundle again", output)
        self.assertEqual(self.run_main(self.good, self.bad, *key)[0], 1)
        missing = str(self.directory / "none.hlk")
        self.assertEqual(self.run_main(missing, self.bad, self.good, *key)[0], 2)
        self.assertEqual(self.run_main(str(self.directory), *key)[0], 2)
        self.assertEqual(self.run_main(self.good)[0], 2)
        self.assertEqual(self.run_main(self.good, *key, "--floor", "-1")[0], 2)
        self.assertEqual(self.run_main(self.good, *key, "--floor", "0")[0], 0)
        self.assertEqual(self.run_main(self.good, *key, "--floor", "8")[0], 1)
        self.assertEqual(self.run_main(self.good, *key, "--policy", "all")[0], 0)
        self.assertEqual(self.run_main(self.good, *key, "--type", "boot")[0], 1)

    def test_device_tree_for_linux(self) -> None:
        vectors = json.loads(
            (Path(v.__file__).resolve().parent / "vectors/system-trees/expected.json").read_text()
        )
        for vector in vectors:
            # The payloads of these bundles are elsewhere, so that these trees are not in their way.
            if vector["name"] in ("less_memory", "reserved_kernel", "reserved_initramfs"):
                continue
            items = system_items()
            items[2].data = self.tree(vector["name"])
            bundle = self.write("tree.hlk", Bundle(items=items).build())
            code, output = self.run_main(bundle, "--key", self.key)
            self.assertEqual(code, 0 if vector["rule"] is None else 1, vector["name"])
            self.assertIn("accepted" if vector["rule"] is None else "E0908", output)

    def test_bad_keys(self) -> None:
        x25519 = A.pem.replace("MCowBQYDK2Vw", "MCowBQYDK2Vu")
        for text in (
            b"",
            A.pem.encode() * 2,
            x25519.encode(),
            b"\xff",
            b"-----BEGIN PUBLIC KEY",
            A.pem.replace("A", "*").encode(),
            A.pem[:40].encode(),
        ):
            key = self.write("bad.pem", text)
            self.assertEqual(self.run_main(self.good, "--key", key)[0], 2, text)

    def test_json(self) -> None:
        code, output = self.run_main(self.good, self.bad, "--key", self.key, "--json")
        self.assertEqual(code, 1)
        first, second = map(json.loads, output.splitlines())
        accepted = {"file": self.good, "verdict": "accepted", "reason": None, "name": None}
        refused = {"file": self.bad, "verdict": "refused"}
        self.assertEqual(first, accepted)
        self.assertEqual(second, {**refused, "reason": "E0301", "name": "SignatureMismatch"})

    def test_reasons_are_those_of_the_list(self) -> None:
        texts = v.load_texts(Path(v.__file__).resolve().parent / "errors.toml")
        listed = {
            code: text["name"]
            for code, text in texts.items()
            # Of devices, of the command's files, of requests, of the C library, of signers.
            if not code.startswith(("E09", "E11", "E12", "E13", "E15", "E16")) or code in ("E0908", "E0920", "E1204")
        }
        self.assertEqual({reason.name: reason.value for reason in Reason}, listed)
        self.assertTrue(all(text["title"] and text["hint"] for text in texts.values()))


if __name__ == "__main__":
    unittest.main()
