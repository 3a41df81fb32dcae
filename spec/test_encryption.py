"""Tests of encrypted payloads: AES by its standards, the records, and the keys of classes."""

from __future__ import annotations

import base64
import struct
import unittest

import encryption as e
import test_verify
import verify as v
from reasons import Reason
from reference import aes

KEY = bytes(range(32))
DATA = bytes.fromhex("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")
# RFC 3394 §4.6.
WRAPPED = bytes.fromhex("28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21")


def record(payload: int, class_id: bytes = bytes(16), wrapped: bytes = WRAPPED, cipher: int = 1) -> bytes:
    return struct.pack("<2I", payload, cipher) + class_id + wrapped


class Encryption(unittest.TestCase):
    def test_aes_gives_the_known_answers(self) -> None:
        # FIPS 197 appendix C.3.
        plain, cipher = DATA[:16], bytes.fromhex("8ea2b7ca516745bfeafc49904b496089")
        self.assertEqual(aes.encrypt(aes.expand(KEY), plain), cipher)
        self.assertEqual(aes.decrypt(aes.expand(KEY), cipher), plain)
        self.assertEqual(aes.unwrap(KEY, WRAPPED), DATA)
        for bit in (0, 63, 64, 319):
            changed = bytearray(WRAPPED)
            changed[bit // 8] ^= 1 << bit % 8
            self.assertIsNone(aes.unwrap(KEY, bytes(changed)))
        with self.assertRaises(ValueError):
            aes.expand(KEY[:16])
        # The stream begins with the encrypted counter 0, and counts in the last bytes.
        stream = aes.counter_mode(KEY, bytes(37))
        blocks = [aes.encrypt(aes.expand(KEY), bytes(15) + bytes([n])) for n in range(3)]
        self.assertEqual(stream, b"".join(blocks)[:37])
        self.assertEqual(aes.counter_mode(KEY, stream), bytes(37))

    def test_records(self) -> None:
        def reason(value: bytes) -> Reason | None:
            try:
                list(e.read(value, {16: 1, 17: 0, 18: 9}))
            except e.Broken as broken:
                return broken.reason
            return None

        both = record(16) + record(18)
        self.assertIsNone(reason(both))
        self.assertEqual([it.payload for it in e.read(both, {16: 1, 18: 1})], [16, 18])
        for value in (b"", both[:-8], both + bytes(8), record(16) * 9):
            self.assertIs(reason(value), Reason.E0442)
        for cipher in (0, 2):
            self.assertIs(reason(record(16, cipher=cipher)), Reason.E0445)
        for value in (record(18) + record(16), record(16) * 2, record(16) * 8):
            self.assertIs(reason(value), Reason.E0446)
        for payload in (17, 1, 0, 2**32 - 1):
            self.assertIs(reason(record(payload)), Reason.E0516)
        # Order: cipher, then type, then payload.
        self.assertIs(reason(record(18) + record(17, cipher=0)), Reason.E0445)
        self.assertIs(reason(record(18) + record(17)), Reason.E0446)

    def test_keys(self) -> None:
        good = e.Encryption(16, e.class_id(KEY), WRAPPED)
        known = {e.class_id(KEY): KEY}
        self.assertEqual(e.content_key(good, known), DATA)
        for broken, reason in (
            (good._replace(class_id=bytes(16)), Reason.E0606),
            (good._replace(wrapped=WRAPPED[::-1]), Reason.E0517),
        ):
            with self.assertRaises(e.Broken) as refused:
                e.content_key(broken, known)
            self.assertIs(refused.exception.reason, reason)
        with self.assertRaises(e.Broken) as refused:
            e.content_key(good, {})
        self.assertIs(refused.exception.reason, Reason.E0606)

    def test_files_of_class_keys(self) -> None:
        def text(key: bytes, name: str = "HARTLOCK CLASS KEY") -> str:
            return f"# fleet\n-----BEGIN {name}-----\n{base64.b64encode(key).decode()}\n-----END {name}-----\n"

        self.assertEqual(e.load_class_key(text(KEY)), KEY)
        for wrong in ("", text(KEY[:31]), text(KEY, "PRIVATE KEY"), text(KEY) + "x", text(KEY).replace("A", "!")):
            with self.assertRaises(ValueError):
                e.load_class_key(wrong)

    def test_a_bundle_is_read_with_the_key_of_its_class(self) -> None:
        area = test_verify.extension(3, record(16, e.class_id(KEY)))
        data = test_verify.Bundle(extensions=area).build()

        def reason(*class_keys: bytes) -> Reason | None:
            result = v.verify(data, [test_verify.A.record], contents=True, class_keys=class_keys)
            return result.reason if isinstance(result, v.Refused) else None

        for keys, code in (((), None), ((KEY,), None), ((DATA,), Reason.E0606), ((DATA, KEY), None)):
            self.assertIs(reason(*keys), code)
        result = v.verify(data, [test_verify.A.record])
        assert isinstance(result, v.Accepted)
        self.assertEqual([it.payload for it in result.extensions.encrypted], [16])
        boot = test_verify.boot(extensions=test_verify.extension(3, record(3))).build()
        self.assertEqual(test_verify.reason(boot), "E0440")


if __name__ == "__main__":
    unittest.main()
