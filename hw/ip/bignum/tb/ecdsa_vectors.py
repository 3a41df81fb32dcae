"""Public vectors of ECDSA with P-256 and P-384 (`hw/prim/tb/vectors.py`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ecdsa import Curve
from vectors import Log, folder, some_of, tests_of

HASHES = {"SHA256": "sha256", "SHA384": "sha384", "SHA512": "sha512", "SHA512256": "sha512_256", "SHA3256": "sha3_256",
          "SHA3384": "sha3_384", "SHA3512": "sha3_512"}
# Bytes that ECDSA takes of functions with an output of any length (FIPS 186-5 §6.4.1).
SHAKES = {"SHAKE128": ("shake_128", 32), "SHAKE256": ("shake_256", 64)}


class Case(NamedTuple):
    name: str
    key: tuple[int, int]
    digest: int
    # None if it is not encoded as it has to be, which software refuses before it asks the engine.
    signature: tuple[int, int] | None
    is_valid: bool


def digest_of(name: str, message: bytes, bits: int) -> int:
    """The leftmost bits of the message's digest."""
    plain = name.upper().replace("SHA2-", "SHA").replace("-", "").replace("/", "")
    if plain in SHAKES:
        function, length = SHAKES[plain]
        hashed = hashlib.new(function, message).digest(length)  # type: ignore[call-arg]
    else:
        hashed = hashlib.new(HASHES[plain], message).digest()
    return int.from_bytes(hashed[: bits // 8], "big")


def integer(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "big")
    return bytes([2, len(data)]) + data


def of_der(data: bytes, length: int) -> tuple[int, int] | None:
    """What is not the one encoding of two numbers is refused, and so is what no signature of this curve can have."""
    numbers = []
    rest = data[2:]
    for _ in range(2):
        if len(rest) < 2 or len(rest) < 2 + rest[1] or rest[1] > length + 1:
            return None
        numbers.append(int.from_bytes(rest[2 : 2 + rest[1]], "big"))
        rest = rest[2 + rest[1] :]
    r, s = numbers
    body = integer(r) + integer(s)
    return (r, s) if data == bytes([0x30, len(body)]) + body else None


def of_words(data: bytes, length: int) -> tuple[int, int] | None:
    """r and s of the curve's bytes each (IEEE P1363)."""
    return (int.from_bytes(data[:length], "big"), int.from_bytes(data[length:], "big")) if len(data) == 2 * length else None


def wycheproof(path: Path, curve: Curve) -> Iterator[Case]:
    decode = of_words if "p1363" in path.stem else of_der
    length = curve.bits // 8
    for group, test in tests_of(path):
        point = bytes.fromhex(group["publicKey"]["uncompressed"])
        assert point[0] == 4 and len(point) == 1 + 2 * length
        key = int.from_bytes(point[1 : 1 + length], "big"), int.from_bytes(point[1 + length :], "big")
        digest = digest_of(group["sha"], bytes.fromhex(test["msg"]), curve.bits)
        signature = decode(bytes.fromhex(test["sig"]), length)
        yield Case(f"{path.stem} {test['tcId']}", key, digest, signature, test["result"] == "valid")


def nist(path: Path, curve: Curve) -> Iterator[Case]:
    for group, test in tests_of(path):
        if group["curve"] != curve.name:
            continue
        x, y, r, s = (int(test[name], 16) for name in ("qx", "qy", "r", "s"))
        digest = digest_of(group["hashAlg"], bytes.fromhex(test["message"]), curve.bits)
        yield Case(f"{path.stem} {test['tcId']}", (x, y), digest, (r, s), test["testPassed"])


def cases(curve: Curve, budget: int, log: Log) -> Iterator[Case]:
    """So many of those that reach the engine."""
    base = folder(log)
    if base is None:
        return
    stem = f"ecdsa_secp{curve.bits}r1_*.json"
    every = [case for path in sorted((base / "wycheproof").glob(stem)) for case in wycheproof(path, curve)]
    every += [case for path in sorted((base / "ecdsa").glob("ECDSA-SigVer-*.json")) for case in nist(path, curve)]
    encoded = [case for case in every if case.signature is not None]
    wrong = len(every) - len(encoded)
    assert not any(case.is_valid for case in every if case.signature is None)
    part = some_of(encoded, budget, lambda _: 1)
    log("stored vectors: %d of %d cases of Wycheproof and NIST, %s; %d more are not encoded as they have to be",
        len(part), len(encoded), curve.name, wrong)
    yield from part
