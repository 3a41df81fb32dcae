"""Public vectors of ECDSA with P-256 (`hw/prim/tb/vectors.py`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vectors import Log, folder, some_of, tests_of

HASHES = {"SHA-256": "sha256", "SHA-512": "sha512", "SHA3-256": "sha3_256"}
BYTES = 32


class Case(NamedTuple):
    name: str
    key: tuple[int, int]
    digest: int
    # None if it is not encoded as it has to be, which software refuses before it asks the engine.
    signature: tuple[int, int] | None
    is_valid: bool


def integer(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "big")
    return bytes([2, len(data)]) + data


def of_der(data: bytes) -> tuple[int, int] | None:
    """What is not the one encoding of two numbers is refused, and so is what no signature of this curve can have."""
    numbers = []
    rest = data[2:]
    for _ in range(2):
        if len(rest) < 2 or len(rest) < 2 + rest[1] or rest[1] > BYTES + 1:
            return None
        numbers.append(int.from_bytes(rest[2 : 2 + rest[1]], "big"))
        rest = rest[2 + rest[1] :]
    r, s = numbers
    body = integer(r) + integer(s)
    return (r, s) if data == bytes([0x30, len(body)]) + body else None


def of_words(data: bytes) -> tuple[int, int] | None:
    """r and s of 32 bytes each (IEEE P1363)."""
    return (int.from_bytes(data[:BYTES], "big"), int.from_bytes(data[BYTES:], "big")) if len(data) == 2 * BYTES else None


def of_file(path: Path) -> Iterator[Case]:
    decode = of_words if "p1363" in path.stem else of_der
    for group, test in tests_of(path):
        point = bytes.fromhex(group["publicKey"]["uncompressed"])
        assert point[0] == 4 and len(point) == 1 + 2 * BYTES
        key = int.from_bytes(point[1 : 1 + BYTES], "big"), int.from_bytes(point[1 + BYTES :], "big")
        hashed = hashlib.new(HASHES[group["sha"]], bytes.fromhex(test["msg"])).digest()
        digest = int.from_bytes(hashed[:BYTES], "big")
        yield Case(f"{path.stem} {test['tcId']}", key, digest, decode(bytes.fromhex(test["sig"])), test["result"] == "valid")


def cases(budget: int, log: Log) -> Iterator[Case]:
    """So many of those that reach the engine."""
    base = folder(log)
    if base is None:
        return
    every = [case for path in sorted((base / "wycheproof").glob("ecdsa_secp256r1_*.json")) for case in of_file(path)]
    encoded = [case for case in every if case.signature is not None]
    wrong = len(every) - len(encoded)
    assert not any(case.is_valid for case in every if case.signature is None)
    part = some_of(encoded, budget, lambda _: 1)
    log("stored vectors: %d of %d cases of Wycheproof, P-256; %d more are not encoded as they have to be", len(part), len(encoded), wrong)
    yield from part
