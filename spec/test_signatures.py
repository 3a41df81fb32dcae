#!/usr/bin/env python3
"""Tests of the signature algorithms: public vectors, and each refusal on its own.

Run with ``python3 test_signatures.py`` or ``python3 -m unittest`` in this directory. Of vectors of
a kind some are taken; ``--all`` takes every one and needs a minute or two.
"""

from __future__ import annotations

import hashlib
import random
import sys
import unittest
from pathlib import Path
from typing import Callable, Optional

from reference import ecdsa, hss, ml_dsa, public_vectors, rsa, slh_dsa, xmss
from reference.faults import Fault
from reference.sample_signatures import (
    der,
    der_integer,
    hss_pair,
    ml_dsa_pair,
    rsa_key,
    rsa_prime,
    xmss_pair,
)

OF_A_KIND = 2  # vectors of a file and stratum that are taken
TAKE_ALL = False

Verify = Callable[[bytes, bytes, bytes], Optional[Fault]]  # key, message, signature


def replaced(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def reordered(pair: tuple[bytes, bytes]) -> tuple[bytes, bytes, bytes]:
    """Key and signature of the message "m" in the order in which they are verified."""
    return pair[0], b"m", pair[1]


class PublicVectors(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        try:
            cls.folder = public_vectors.find_folder()
        except public_vectors.Missing as missing:
            print(f"SKIPPED: public vectors: {missing}", file=sys.stderr)
            raise unittest.SkipTest(str(missing)) from None

    def check(self, algorithm: str) -> None:
        taken: dict[tuple[str, str], int] = {}
        accepted = refused = 0
        for case in public_vectors.cases(self.folder, algorithm):
            kind = (case.file, case.stratum)
            taken[kind] = taken.get(kind, 0) + 1
            if taken[kind] > OF_A_KIND and not TAKE_ALL:
                continue
            with self.subTest(file=case.file, number=case.number, stratum=case.stratum):
                answer = case.answer()
                self.assertIn(answer, case.right)
                accepted += answer is None
                refused += answer is not None
        self.assertGreater(accepted, 0)
        self.assertGreater(refused, 0)
        print(
            f"{algorithm}: {accepted + refused} of {sum(taken.values())} vectors,"
            f" {accepted} accepted",
            file=sys.stderr,
        )

    def test_rsa(self) -> None:
        self.check("rsa")

    def test_ecdsa(self) -> None:
        self.check("ecdsa")

    def test_lms(self) -> None:
        self.check("lms")

    def test_xmss(self) -> None:
        self.check("xmss")

    def test_ml_dsa(self) -> None:
        self.check("ml-dsa")

    def test_slh_dsa(self) -> None:
        self.check("slh-dsa")

    def test_no_file_is_forgotten(self) -> None:
        patterns = [pattern for readers in public_vectors.READERS.values() for pattern in readers]
        read = {file for pattern in patterns for file in self.folder.glob(pattern)}
        for algorithm in public_vectors.READERS:
            files = set((self.folder / algorithm).glob("*[!d]"))  # all but README.md
            self.assertEqual(files - read, set())
        for name in ("rsa", "ecdsa", "mldsa"):
            self.assertEqual(set((self.folder / "wycheproof").glob(f"{name}_*")) - read, set())


class Refusals(unittest.TestCase):
    """What the tests of all algorithms do alike."""

    def check(self, right: Fault, verify: Verify, *arguments: bytes) -> None:
        self.assertIs(verify(*arguments), right)

    def check_lengths(self, verify: Verify, key: bytes, message: bytes, signature: bytes) -> None:
        """The signature verifies, and with a byte more or fewer it is a question of length."""
        self.assertIsNone(verify(key, message, signature))
        for wrong in (b"", signature[:-1], signature + b"\0", signature * 2, b"\0" + signature):
            answer = verify(key, message, wrong)
            self.assertIn(answer, (Fault.LENGTH, Fault.PARAMETERS))
        self.check(Fault.LENGTH, verify, key, message, signature[:-1])
        self.check(Fault.LENGTH, verify, key, message, signature + b"\0")

    def check_flips(
        self, verify: Verify, key: bytes, message: bytes, signature: bytes, count: int = 40
    ) -> None:
        """No changed bit anywhere goes through."""
        choice = random.Random(1)
        for _ in range(count):
            bit = choice.randrange(8 * len(signature))
            self.assertIsNotNone(verify(key, message, flipped(signature, bit)), bit)
            bit = choice.randrange(8 * len(key))
            self.assertIsNotNone(verify(flipped(key, bit), message, signature), bit)
        self.check(Fault.MISMATCH, verify, key, message + b"\0", signature)
        self.check(Fault.MISMATCH, verify, key, message[1:], signature)

    def check_garbage(self, verify: Verify, key: bytes, signature: bytes) -> None:
        """Every input gets an answer, of the right lengths or not."""
        choice = random.Random(2)
        for _ in range(60):
            garbage_key, garbage = (
                replaced(data[: choice.randrange(len(data) + 1)], 0, choice.randbytes(size))
                for data, size in ((key, choice.randrange(70)), (signature, choice.randrange(70)))
            )
            self.assertIsInstance(verify(garbage_key, b"m", signature), Fault)
            self.assertIsInstance(verify(key, b"m", garbage), Fault)
        for fill in (b"\0", b"\xff"):
            self.assertIsInstance(verify(key, b"m", fill * len(signature)), Fault)
            self.assertIsInstance(verify(fill * len(key), b"m", signature), Fault)


# ----------------------------------------------------------------------
# RSA
# ----------------------------------------------------------------------


class Rsa(Refusals):
    def setUp(self) -> None:
        self.p, self.q = rsa_prime(2048, 0), rsa_prime(2048, 1)
        self.n = self.p * self.q
        self.key = rsa_key(self.n, 65537)

    def seal(self, em: bytes) -> bytes:
        """What opens to `em`."""
        d: int = pow(65537, -1, (self.p - 1) * (self.q - 1))
        return pow(int.from_bytes(em, "big"), d, self.n).to_bytes(len(em), "big")

    def pkcs1(self, message: bytes, name: str = "sha256") -> bytes:
        t = rsa.DIGEST_INFO[name] + hashlib.new(name, message).digest()
        return b"\0\1" + b"\xff" * (self.n.bit_length() // 8 - 3 - len(t)) + b"\0" + t

    def pss(self, message: bytes, salt: bytes, name: str = "sha256", one: bytes = b"\1") -> bytes:
        digest = hashlib.new(name, message).digest()
        h = hashlib.new(name, bytes(8) + digest + salt).digest()
        db = (one + salt).rjust(self.n.bit_length() // 8 - len(h) - 1, b"\0")
        masked = bytearray(x ^ y for x, y in zip(db, rsa.mgf1(name, h, len(db))))
        masked[0] &= 0x7F
        return bytes(masked) + h + b"\xbc"

    def verify_pkcs1(self, key: bytes, message: bytes, signature: bytes) -> Fault | None:
        return rsa.verify_pkcs1("sha256", key, message, signature)

    def verify_pss(self, key: bytes, message: bytes, signature: bytes) -> Fault | None:
        return rsa.verify_pss("sha256", key, message, signature)

    def test_all_sizes_and_hashes(self) -> None:
        for bits in rsa.MODULUS_BITS:
            self.p, self.q = rsa_prime(bits, 0), rsa_prime(bits, 1)
            self.n = self.p * self.q
            key = rsa_key(self.n, 65537)
            for name in rsa.DIGEST_INFO:
                salt = bytes(range(hashlib.new(name).digest_size))
                pkcs1, pss = (
                    self.seal(self.pkcs1(b"m", name)),
                    self.seal(self.pss(b"m", salt, name)),
                )
                self.assertIsNone(rsa.verify_pkcs1(name, key, b"m", pkcs1))
                self.assertIsNone(rsa.verify_pss(name, key, b"m", pss))
                self.assertIs(rsa.verify_pkcs1(name, key, b"m", pss), Fault.MISMATCH)
                self.assertIs(rsa.verify_pss(name, key, b"m", pkcs1), Fault.MISMATCH)

    def test_keys(self) -> None:
        n, e = der_integer(self.n), der_integer(65537)
        good = der(0x30, n + e)
        self.assertEqual(good, self.key)
        bad = [good[:size] for size in range(len(good))]
        bad += [good + b"\0", der(0x30, n + e + b"\0"), der(0x30, n + e + e), der(0x31, n + e)]
        bad += [der(0x30, n), der(0x30, b""), der(0x30, e)]
        bad.append(b"\x30\x80" + n + e + b"\0\0")  # indefinite length
        bad.append(b"\x30\x83\0" + good[2:4] + n + e)  # long length, with a zero in front
        bad.append(der(0x30, n + b"\2\x81\3\1\0\1"))  # long length of a short value
        bad.append(b"\x30\xff" + b"\xff" * 200)
        bad.append(der(0x30, n + b"\2\4\0\1\0\1"))  # a zero too many
        bad.append(der(0x30, der(2, n[5:]) + e))  # without the zero: negative
        bad.append(der(0x30, der(2, b"\0" + n[4:]) + e))
        bad.append(der(0x30, n + b"\2\0"))
        bad += [der(0x30, n + der_integer(0)), der(0x30, der_integer(0) + e)]
        bad.append(rsa_key(self.n + 1, 65537))  # even
        bad += [rsa_key(self.n, e) for e in (1, 2, 65536, self.n, self.n + 2)]
        oid = bytes.fromhex("300d06092a864886f70d0101010500")
        bad.append(der(0x30, oid + der(3, b"\0" + good)))  # SubjectPublicKeyInfo
        for verify in (self.verify_pkcs1, self.verify_pss):
            for key in bad:
                self.check(Fault.KEY, verify, key, b"m", b"")

    def test_unsupported_keys(self) -> None:
        unsupported = [rsa_key(self.n, e) for e in (3, 17, 65535, 65539, 2**32 + 1)]
        for bits in (512, 1024, 2047, 2049, 2056, 3071, 3073, 4095, 4097, 8192):
            unsupported.append(rsa_key(2**bits - 1, 65537))
        for key in unsupported:
            self.check(Fault.KEY_UNSUPPORTED, self.verify_pkcs1, key, b"m", bytes(256))
            self.check(Fault.KEY_UNSUPPORTED, self.verify_pss, key, b"m", bytes(256))

    def test_signatures(self) -> None:
        for verify, em in (
            (self.verify_pkcs1, self.pkcs1(b"m")),
            (self.verify_pss, self.pss(b"m", bytes(32))),
        ):
            good = self.seal(em)
            self.check_lengths(verify, self.key, b"m", good)
            self.check_flips(verify, self.key, b"m", good)
            self.check_garbage(verify, self.key, good)
            for s in (self.n, self.n + 1, 2**2048 - 1):
                self.check(Fault.ENCODING, verify, self.key, b"m", s.to_bytes(256, "big"))
            for s in (0, 1, self.n - 1, self.n - int.from_bytes(good, "big")):
                self.check(Fault.MISMATCH, verify, self.key, b"m", s.to_bytes(256, "big"))

    def test_pkcs1_padding(self) -> None:
        good, digest = self.pkcs1(b"m"), hashlib.sha256(b"m").digest()
        without_null = bytes.fromhex("302f300b0609608648016503040201") + b"\4\x20" + digest
        wrong = [
            b"\0\1" + b"\xff" * (253 - len(without_null)) + b"\0" + without_null,
            b"\0\1" + b"\xff" * 8 + b"\0" + good[-51:] + bytes(194),
            b"\0\1" + b"\xff" * 220 + b"\0" + digest + b"\0",
            *(replaced(good, at, b"\2") for at in (0, 1, 2, 100, 203, 204, 205, 223)),
            self.pkcs1(b"m", "sha384"),
        ]
        for em in wrong:
            self.assertEqual(len(em), 256)
            self.check(Fault.MISMATCH, self.verify_pkcs1, self.key, b"m", self.seal(em))

    def test_pss_padding(self) -> None:
        good = self.pss(b"m", b"\7" * 32)
        self.assertIsNone(self.verify_pss(self.key, b"m", self.seal(good)))
        wrong = [self.pss(b"m", bytes(size)) for size in (0, 20, 31, 33, 48, 222)]
        wrong += [self.pss(b"m", bytes(32), one=one) for one in (b"\0", b"\2", b"\1\1", b"\x80\1")]
        wrong += [good[:-1] + b"\xcc", self.pss(b"m", bytes(48), "sha384")]
        # The bit above emBits, in a block that is still below the modulus.
        high = [flipped(self.pss(b"m", bytes([i]) * 32), 7) for i in range(9)]
        wrong.append(min(high))
        for em in wrong:
            self.assertLess(int.from_bytes(em, "big"), self.n)
            self.check(Fault.MISMATCH, self.verify_pss, self.key, b"m", self.seal(em))


# ----------------------------------------------------------------------
# ECDSA
# ----------------------------------------------------------------------


def encoded(curve: ecdsa.Curve, x: int, y: int) -> bytes:
    return b"\4" + x.to_bytes(curve.size, "big") + y.to_bytes(curve.size, "big")


class Ecdsa(Refusals):
    def sign(self, curve: ecdsa.Curve, secret: int, message: bytes, k: int) -> bytes:
        point = ecdsa.multiply(curve, k, curve.g)
        assert point is not None
        e = int.from_bytes(hashlib.new(curve.hash_name, message).digest(), "big")
        r = point[0] % curve.n
        s = pow(k, -1, curve.n) * (e + r * secret) % curve.n
        return b"".join(value.to_bytes(curve.size, "big") for value in (r, s))

    def key(self, curve: ecdsa.Curve, secret: int) -> bytes:
        point = ecdsa.multiply(curve, secret, curve.g)
        assert point is not None
        return encoded(curve, *point)

    def test_constants(self) -> None:
        for curve in (ecdsa.P256, ecdsa.P384):
            assert curve.g is not None
            self.assertTrue(ecdsa.is_on_curve(curve, *curve.g))
            self.assertIsNone(ecdsa.multiply(curve, curve.n, curve.g))
            self.assertEqual(curve.n.bit_length(), curve.p.bit_length())
            self.assertEqual(8 * hashlib.new(curve.hash_name).digest_size, curve.n.bit_length())

    def test_each_curve(self) -> None:
        for curve in (ecdsa.P256, ecdsa.P384):
            with self.subTest(curve=curve.hash_name):
                self.check_curve(curve)

    def check_curve(self, curve: ecdsa.Curve) -> None:
        def verify(key: bytes, message: bytes, signature: bytes) -> Fault | None:
            return ecdsa.verify(curve, key, message, signature)

        size, n = curve.size, curve.n
        key, good = self.key(curve, 12345), self.sign(curve, 12345, b"m", 67890)
        self.check_lengths(verify, key, b"m", good)
        self.check_flips(verify, key, b"m", good, 8)
        r, s = good[:size], int.from_bytes(good[size:], "big")
        self.assertIsNone(verify(key, b"m", r + (n - s).to_bytes(size, "big")))
        for value in (0, n, n + 1, n + s, 2 ** (8 * size) - 1):
            if value < 2 ** (8 * size):
                bad = value.to_bytes(size, "big")
                self.check(Fault.ENCODING, verify, key, b"m", bad + good[size:])
                self.check(Fault.ENCODING, verify, key, b"m", r + bad)
        x, y = key[1 : 1 + size], key[1 + size :]
        odd = bytes([2 + y[-1] % 2])
        over = (curve.p + 5).to_bytes(size, "big")
        for bad in (
            *(b"", b"\0", key[:-1], key + b"\0", key[1:], odd + x, odd + x + y, b"\0" + x + y),
            *(b"\6" + x + y, b"\4" + bytes(2 * size), b"\4" + y + x, b"\4" + x + over),
            b"\4" + over + y,
            flipped(key, 8 * size),
        ):
            self.check(Fault.KEY, verify, bad, b"m", good)
            self.check(Fault.KEY, verify, bad, b"m", b"")
        # u G + v Q is the point at infinity: r d = -e.
        e = int.from_bytes(hashlib.new(curve.hash_name, b"m").digest(), "big")
        secret = -e * pow(7, -1, n) % n
        infinite = (7).to_bytes(size, "big") + (1).to_bytes(size, "big")
        self.check(Fault.MISMATCH, verify, self.key(curve, secret), b"m", infinite)

    def test_coordinates_above_p(self) -> None:
        """Points with a small coordinate, which fits a second time. The x solve cubic equations."""
        for curve, y, x_text in (
            (ecdsa.P256, 5, "d7325d7646cd60d80a92738ceb345f844cffaf35841022cab176f692de8de1d7"),
            (
                *(ecdsa.P384, 1),
                "2261b2bf605c22f2f3aef6338719b2c486388ad5240719a5"
                "257315969ef01ba27f0a104c89704773a81fdabee6ab5c78",
            ),
        ):
            points = [(int(x_text, 16), y)]
            for x in range(20):
                root = pow(x**3 - 3 * x + curve.b, (curve.p + 1) // 4, curve.p)
                if ecdsa.is_on_curve(curve, x, root):
                    points.append((x, root))
            self.assertGreater(len(points), 5)
            for point in points:
                self.assertEqual(ecdsa.decode_point(curve, encoded(curve, *point)), point)
                for above in ((point[0] + curve.p, point[1]), (point[0], point[1] + curve.p)):
                    if max(above) < 2 ** (8 * curve.size):
                        self.assertTrue(ecdsa.is_on_curve(curve, *above))
                        self.assertIsNone(ecdsa.decode_point(curve, encoded(curve, *above)))

    def test_x_above_the_order(self) -> None:
        """r is x modulo n, also where x is not below n."""
        curve = ecdsa.P256
        x = curve.n
        while True:  # few x are between n and p, and half of them are on the curve
            x += 1
            y = pow(x**3 - 3 * x + curve.b, (curve.p + 1) // 4, curve.p)
            if ecdsa.is_on_curve(curve, x, y):
                break
        # [u]G + [v]Q = R for s = 1: Q = [1/r](R - [e]G).
        r, e = x - curve.n, int.from_bytes(hashlib.sha256(b"m").digest(), "big")
        rest = ecdsa.add(curve, (x, y), ecdsa.multiply(curve, curve.n - e % curve.n, curve.g))
        q = ecdsa.multiply(curve, pow(r, -1, curve.n), rest)
        assert q is not None
        key = encoded(curve, *q)
        signature = r.to_bytes(32, "big") + (1).to_bytes(32, "big")
        self.assertIsNone(ecdsa.verify(curve, key, b"m", signature))
        above = x.to_bytes(32, "big") + (1).to_bytes(32, "big")
        self.assertIs(ecdsa.verify(curve, key, b"m", above), Fault.ENCODING)


# ----------------------------------------------------------------------
# LMS and HSS
# ----------------------------------------------------------------------


class Hss(Refusals):
    def test_tables(self) -> None:
        """p and ls follow from n and w (RFC 8554 Appendix B)."""
        for ots in hss.LM_OTS_TYPES.values():
            u = 8 * ots.n // ots.w
            v = -(-((2**ots.w - 1) * u).bit_length() // ots.w)
            self.assertEqual((ots.p, ots.ls), (u + v, 16 - v * ots.w))

    def test_digits(self) -> None:
        """The examples of RFC 8554 §3.1.3."""
        s = b"\x12\x34"
        self.assertEqual([hss.coef(s, i, w) for i, w in ((7, 1), (0, 4))], [0, 1])

    def test_every_set(self) -> None:
        for lms_type, lms in hss.LMS_TYPES.items():
            for ots_type, ots in hss.LM_OTS_TYPES.items():
                if lms.m == ots.n:
                    key, signature = hss_pair([(lms_type, ots_type)], b"m", 2**lms.h - 1)
                    self.assertIsNone(hss.verify(key, b"m", signature))
                    self.assertIsNone(hss.verify_lms(key[4:], b"m", signature[4:]))

    def test_every_count_of_levels(self) -> None:
        for count in range(1, 9):
            key, signature = hss_pair(([(10, 7), (11, 6)] * 4)[:count], b"m")
            self.check_lengths(hss.verify, key, b"m", signature)
        key, signature = hss_pair([(10, 7)] * 9, b"m")
        self.check(Fault.KEY, hss.verify, key, b"m", signature)

    def test_signatures(self) -> None:
        key, signature = hss_pair([(5, 3), (6, 2), (5, 4)], b"m")
        self.check_lengths(hss.verify, key, b"m", signature)
        self.check_flips(hss.verify, key, b"m", signature)
        self.check_garbage(hss.verify, key, signature)
        key, signature = hss_pair([(5, 3)], b"m")
        self.check_lengths(hss.verify_lms, key[4:], b"m", signature[4:])
        self.check_flips(hss.verify_lms, key[4:], b"m", signature[4:])
        self.check_garbage(hss.verify_lms, key[4:], signature[4:])

    def test_every_truncation(self) -> None:
        key, signature = hss_pair([(10, 8), (10, 8)], b"m")
        for size in range(len(signature)):
            self.check(Fault.LENGTH, hss.verify, key, b"m", signature[:size])

    def test_keys(self) -> None:
        key, signature = hss_pair([(5, 4)], b"m")
        bad = [key[:size] for size in range(len(key)) if not 8 <= size < 12] + [key + b"\0"]
        bad += [replaced(key, 3, bytes([count])) for count in (0, 9, 255)] + [b"\1" + key[1:]]
        bad.append(replaced(key, 11, b"\x08"))  # SHA-256/192 below SHA-256
        for wrong in bad:
            self.check(Fault.KEY, hss.verify, wrong, b"m", signature)
        for at in (7, 11):
            for type_ in (0, 15, 20, 255):
                wrong = replaced(key, at, bytes([type_]))
                self.check(Fault.KEY_UNSUPPORTED, hss.verify, wrong, b"m", signature)
        self.check(Fault.KEY_UNSUPPORTED, hss.verify, replaced(key, 4, b"\1"), b"m", signature)

    def test_other_parameters(self) -> None:
        key, signature = hss_pair([(5, 4), (6, 4)], b"m")
        lms_at = 4 + 8 + 32 * 35
        key_at = lms_at + 4 + 5 * 32
        second = key_at + 24 + 32
        for at, type_ in (
            *((0, 2), (0, 0), (0, 8), (0, 2**32 - 1)),  # levels
            *((8, 3), (8, 0), (8, 8), (lms_at, 6), (lms_at, 0)),  # the upper signature
            *((key_at, 10), (key_at + 4, 8)),
            *((second + 4, 3), (second + 8 + 32 * 35, 5)),  # the lower signature
        ):
            wrong = replaced(signature, at, type_.to_bytes(4, "big"))
            self.check(Fault.PARAMETERS, hss.verify, key, b"m", wrong)
        for at, type_ in ((key_at, 0), (key_at, 15), (key_at + 4, 0), (key_at + 4, 9)):
            wrong = replaced(signature, at, type_.to_bytes(4, "big"))
            self.check(Fault.KEY_UNSUPPORTED, hss.verify, key, b"m", wrong)
        self.check(Fault.PARAMETERS, hss.verify, key, b"m", bytes(4) + signature[second:])
        one_key, one = hss_pair([(5, 4)], b"m")
        self.check(Fault.PARAMETERS, hss.verify, one_key, b"m", signature)
        self.check(Fault.PARAMETERS, hss.verify, key, b"m", one)

    def test_other_hash(self) -> None:
        """Consistent but for the hash, which has to be that of the first tree everywhere."""
        for levels in ([(5, 4), (10, 8)], [(10, 8), (5, 4)], [(5, 4), (5, 4), (11, 7)]):
            self.check(Fault.PARAMETERS, hss.verify, *reordered(hss_pair(levels, b"m")))
        for lower in ((5, 8), (10, 4)):
            pair = hss_pair([(5, 4), lower], b"m")
            self.check(Fault.PARAMETERS, hss.verify, *reordered(pair))
            pair = hss_pair([lower], b"m")
            self.check(Fault.KEY, hss.verify, *reordered(pair))

    def test_indexes(self) -> None:
        key, signature = hss_pair([(5, 4), (6, 4)], b"m")
        second = 4 + 8 + 32 * 35 + 4 + 5 * 32 + 24 + 32
        for at, q in ((4, 32), (4, 33), (4, 2**32 - 1), (second, 1024), (second, 1025)):
            wrong = replaced(signature, at, q.to_bytes(4, "big"))
            self.check(Fault.INDEX, hss.verify, key, b"m", wrong)
            self.check(Fault.LENGTH, hss.verify, key, b"m", wrong + b"\0")
        for at, q in ((4, 31), (second, 1023)):
            wrong = replaced(signature, at, q.to_bytes(4, "big"))
            self.check(Fault.MISMATCH, hss.verify, key, b"m", wrong)


# ----------------------------------------------------------------------
# XMSS
# ----------------------------------------------------------------------


class Xmss(Refusals):
    def test_every_set(self) -> None:
        """A digit, a message, the last leaf of the last tree; and the index one too large."""
        for is_mt, sets in ((False, xmss.XMSS), (True, xmss.XMSS_MT)):
            verify = xmss.verify_mt if is_mt else xmss.verify
            for oid, parameters in sets.items():
                with self.subTest(is_mt=is_mt, oid=oid):
                    idx = 2**parameters.h - 2
                    key, signature = xmss_pair(oid, is_mt, b"m", idx)
                    self.assertEqual(len(signature), parameters.signature_size)
                    self.check_lengths(verify, key, b"m", signature)
                    self.check(Fault.MISMATCH, verify, key, b"n", signature)
                    size, end = parameters.index_size, 2 ** (8 * parameters.index_size)
                    for wrong in (2**parameters.h, 2**parameters.h + idx, end - 1):
                        if 2**parameters.h <= wrong < end:
                            other = replaced(signature, 0, wrong.to_bytes(size, "big"))
                            self.check(Fault.INDEX, verify, key, b"m", other)
                    other = replaced(signature, 0, (idx + 1).to_bytes(size, "big"))
                    self.check(Fault.MISMATCH, verify, key, b"m", other)

    def test_whole_trees(self) -> None:
        """Few public vectors have another index than 0, which hides mistakes in addresses."""
        for idx in (0, 0xABCDE, 2**20 - 1):
            key, signature = xmss_pair(0x22, True, b"m", idx, whole_trees=True)
            self.assertIsNone(xmss.verify_mt(key, b"m", signature))

    def test_sets(self) -> None:
        """A set of each hash (RFC 8391 §8, SP 800-208 §5)."""
        for first, hash_name, n in (
            *((0x01, "sha256", 32), (0x21, "sha256", 24)),
            *((0x29, "shake_256", 32), (0x31, "shake_256", 24)),
        ):
            shapes = [(20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12)]
            for i, shape in enumerate(shapes):
                self.assertEqual(xmss.XMSS_MT[first + i][:4], (hash_name, n, *shape))

    def test_sizes(self) -> None:
        """RFC 8391 §5.3 and §5.4, SP 800-208 §5: what the standards print."""
        sizes = [xmss.XMSS[oid].signature_size for oid in (1, 2, 3)]
        self.assertEqual(sizes, [2500, 2692, 2820])
        sizes = [xmss.XMSS_MT[oid].signature_size for oid in range(1, 9)]
        self.assertEqual(sizes, [4963, 9251, 5605, 9893, 18469, 8392, 14824, 27688])
        oids = [*range(1, 4), *range(0x0D, 0x16)]
        self.assertEqual(sorted(xmss.XMSS), oids)
        self.assertEqual(sorted(xmss.XMSS_MT), [*range(1, 9), *range(0x21, 0x39)])

    def test_signatures(self) -> None:
        for verify, (key, signature) in (
            (xmss.verify, xmss_pair(0x0D, False, b"m", 77)),
            (xmss.verify_mt, xmss_pair(0x21, True, b"m", 7777)),
        ):
            self.check_flips(verify, key, b"m", signature)
            self.check_garbage(verify, key, signature)

    def test_keys(self) -> None:
        key, signature = xmss_pair(0x13, False, b"m", 5)
        for wrong in [key[:size] for size in range(len(key))] + [key + b"\0"]:
            self.check(Fault.KEY, xmss.verify, wrong, b"m", signature)
        for oid in (0, *range(4, 13), 0x16, 0x21, 2**24 + 1, 2**32 - 1):
            wrong = replaced(key, 0, oid.to_bytes(4, "big"))
            self.check(Fault.KEY_UNSUPPORTED, xmss.verify, wrong, b"m", signature)
            self.check(Fault.KEY_UNSUPPORTED, xmss.verify, wrong[:4], b"m", b"")
        for oid in (0, *range(9, 0x21), 0x39, 2**32 - 1):
            wrong = replaced(key, 0, oid.to_bytes(4, "big"))
            self.check(Fault.KEY_UNSUPPORTED, xmss.verify_mt, wrong, b"m", signature)
        self.check(Fault.KEY_UNSUPPORTED, xmss.verify_mt, key, b"m", signature)


# ----------------------------------------------------------------------
# ML-DSA
# ----------------------------------------------------------------------


class MlDsa(Refusals):
    def test_sizes(self) -> None:
        """FIPS 204 Table 2."""
        sizes = [(p.public_key_size, p.signature_size) for p in ml_dsa.PARAMETERS.values()]
        self.assertEqual(sizes, [(1312, 2420), (1952, 3309), (2592, 4627)])

    def test_transform(self) -> None:
        """Its product is that of polynomials modulo X^256 + 1."""
        choice = random.Random(5)
        a, b = ([choice.randrange(ml_dsa.Q) for _ in range(256)] for _ in range(2))
        product = [0] * 256
        for i in range(256):
            for j in range(256):
                product[(i + j) % 256] += (-1 if i + j > 255 else 1) * a[i] * b[j]
        values = [x * y % ml_dsa.Q for x, y in zip(ml_dsa.ntt(a), ml_dsa.ntt(b))]
        self.assertEqual(ml_dsa.inverse_ntt(values), [c % ml_dsa.Q for c in product])
        self.assertEqual(ml_dsa.inverse_ntt(ml_dsa.ntt(a)), a)

    def test_decompose(self) -> None:
        """The definition (FIPS 204 §7.4), at the edges of every interval."""
        for parameters in ml_dsa.PARAMETERS.values():
            alpha = 2 * parameters.gamma_2
            m = (ml_dsa.Q - 1) // alpha
            for edge in range(0, ml_dsa.Q, alpha // 2):
                for r in range(edge - 2, edge + 3):
                    r1, r0 = ml_dsa.decompose(parameters, r)
                    self.assertEqual((r1 * alpha + r0 - r) % ml_dsa.Q, 0)
                    self.assertTrue(0 <= r1 < m and -alpha // 2 <= r0 <= alpha // 2, r)

    def test_each_set(self) -> None:
        for name, parameters in ml_dsa.PARAMETERS.items():
            with self.subTest(name=name):
                self.check_set(parameters)

    def check_set(self, parameters: ml_dsa.Parameters) -> None:
        def verify(key: bytes, message: bytes, signature: bytes) -> Fault | None:
            return ml_dsa.verify(parameters, key, message, signature)

        largest = parameters.gamma_1 - parameters.beta - 1
        choice, omega, k = random.Random(6), parameters.omega, parameters.k
        spots = sorted(choice.sample(range(256 * k), omega))
        full = [[s % 256 for s in spots if s // 256 == row] for row in range(k)]
        key, good = ml_dsa_pair(parameters, b"m", full, largest)
        self.check_lengths(verify, key, b"m", good)
        self.check_flips(verify, key, b"m", good, 4)
        none: list[list[int]] = [[]] * k
        for size in (largest + 1, parameters.gamma_1 - 1):
            pair = ml_dsa_pair(parameters, b"m", none, size)
            self.check(Fault.ENCODING, verify, *reordered(pair))
        for wrong in (b"", key[:-1], key + b"\0"):
            self.check(Fault.KEY, verify, wrong, b"m", good)
            self.check(Fault.KEY, verify, wrong, b"m", b"")
        self.assertIs(ml_dsa.verify(parameters, key, b"m", good, bytes(256)), Fault.CONTEXT)
        self.assertIs(ml_dsa.verify(parameters, key, b"m", good, bytes(255)), Fault.MISMATCH)
        self.assertIs(ml_dsa.verify(parameters, key, b"m", good, b"\0"), Fault.MISMATCH)
        some = [[3, 200], [], [7]] + [[0, 255]] * (k - 3)
        key, good = ml_dsa_pair(parameters, b"m", some, largest)
        self.assertIsNone(verify(key, b"m", good))
        hint, ends = len(good) - omega - k, len(good) - k
        # The byte after the hint, an end, would continue the last polynomial's ascending ones.
        long = [list(range(omega - 2)), *none[2:], [0, 1]]
        other_key, other = ml_dsa_pair(parameters, b"m", long, largest)
        self.assertIsNone(verify(other_key, b"m", other))
        other = replaced(other, len(good) - 1, bytes([omega + 1]))
        self.check(Fault.ENCODING, verify, other_key, b"m", other)
        for at, new in (
            (hint, b"\xc8\3"),  # descending
            (hint, b"\3\3"),  # twice
            (ends - 1, b"\1"),  # something after the last one
            (hint + 2 * k - 3, b"\1"),
            (ends, b"\3\2"),  # an end that falls back
            (ends + 1, b"\1"),  # the same, with nothing else wrong
            (len(good) - 1, bytes([omega + 1])),
            (ends, bytes([omega + 1]) * k),
            (ends, b"\xff" * k),
            (ends, bytes(k)),
        ):
            self.check(Fault.ENCODING, verify, key, b"m", replaced(good, at, new))
        self.check(Fault.MISMATCH, verify, key, b"m", replaced(good, hint, b"\3\xc9"))
        self.check(Fault.MISMATCH, verify, key, b"m", replaced(good, ends, b"\1"))


# ----------------------------------------------------------------------
# SLH-DSA
# ----------------------------------------------------------------------


class SlhDsa(Refusals):
    def test_sizes(self) -> None:
        """FIPS 205 Table 2: m, public key, signature."""
        sizes = [
            *((30, 32, 7856), (34, 32, 17088), (39, 48, 16224)),
            *((42, 48, 35664), (47, 64, 29792), (49, 64, 49856)),
        ]
        found = [
            (sum(p.digest_parts), p.public_key_size, p.signature_size)
            for p in slh_dsa.PARAMETERS.values()
        ]
        self.assertEqual(found, sizes * 2)

    def test_each_set(self) -> None:
        for name, parameters in slh_dsa.PARAMETERS.items():
            with self.subTest(name=name):
                self.check_set(parameters)

    def check_set(self, parameters: slh_dsa.Parameters) -> None:
        def verify(key: bytes, message: bytes, signature: bytes) -> Fault | None:
            return slh_dsa.verify(parameters, key, message, signature)

        choice = random.Random(7)
        key = choice.randbytes(parameters.public_key_size)
        signature = choice.randbytes(parameters.signature_size)
        for wrong in (b"", key[:-1], key + b"\0"):
            self.check(Fault.KEY, verify, wrong, b"m", signature)
            self.check(Fault.KEY, verify, wrong, b"m", b"")
        for wrong in (b"", signature[:-1], signature + b"\0", signature * 2):
            self.check(Fault.LENGTH, verify, key, b"m", wrong)
        self.check(Fault.MISMATCH, verify, key, b"m", signature)
        self.check(Fault.MISMATCH, verify, bytes(len(key)), b"", bytes(len(signature)))
        for size, right in ((255, Fault.MISMATCH), (256, Fault.CONTEXT)):
            answer = slh_dsa.verify(parameters, key, b"m", signature, bytes(size))
            self.assertIs(answer, right)


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        TAKE_ALL = True
    unittest.main()
