"""The public vectors of SHA-2 and HMAC (`hw/prim/tb/vectors.py`), within a number of bytes to hash."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from vectors import Log, folder, some_of, tests_of, wants_all

# A chain of a thousand hashes makes one digest of the file.
CHAIN = 1000
# Limit of a part: each chain costs a thousand hashes of the reference.
FEW_CHAINS = 5
HASHES = {"SHA2-256": hashlib.sha256, "SHA2-384": hashlib.sha384, "SHA2-512": hashlib.sha512}


class Case(NamedTuple):
    """A message and its digest; with a key its MAC, which may be truncated."""

    name: str
    message: bytes
    expected: bytes
    key: bytes | None = None


def has_whole_bytes(test: dict[str, Any]) -> bool:
    """Lengths are in bits; the engine takes bytes."""
    return all(test.get(part, 0) % 8 == 0 for part in ("len", "keyLen", "msgLen", "macLen"))


def next_of_chain(last: list[bytes], length: int | None) -> bytes:
    """The next message of a Monte Carlo test: the last three digests. In the validation system's form
    `alternate` they are cut, or filled with zeros, to the bytes of the first message."""
    joined = b"".join(last[-3:])
    return joined if length is None else joined[:length].ljust(length, b"\0")


def chain_length(group: dict[str, Any], seed: bytes) -> int | None:
    return len(seed) if group["mctVersion"] == "alternate" else None


def ends_of_chains(
    group: dict[str, Any], test: dict[str, Any], digest: Callable[[bytes], Any]
) -> Iterator[Case]:
    """The last message of each chain. The judge makes those before it; the digest is the file's."""
    seed = bytes.fromhex(test["msg"])
    length = chain_length(group, seed)
    for number, result in enumerate(test["resultsArray"]):
        last = [seed] * 3
        for _ in range(CHAIN - 1):
            last = [*last[1:], digest(next_of_chain(last, length)).digest()]
        seed = bytes.fromhex(result["md"])
        yield Case(f"chain {number} of {test['tcId']}", next_of_chain(last, length), seed)
        if not wants_all() and number + 1 == FEW_CHAINS:
            return


def digests(algorithm: str, budget: int, log: Log) -> list[Case]:
    """Cases of NIST's files for a hash; with a Monte Carlo test among them, ends of its chains."""
    found = folder(log)
    if found is None:
        return []
    known: list[Case] = []
    ends: list[Case] = []
    skipped = 0
    for path in sorted((found / "sha2").glob(f"{algorithm}-1.0-*.json")):
        for group, test in tests_of(path):
            if not has_whole_bytes(test):
                skipped += 1
            elif group["testType"] == "MCT":
                ends += ends_of_chains(group, test, HASHES[algorithm])
            else:
                message = bytes.fromhex(test["msg"])[: test["len"] // 8]
                known.append(Case(f"{path.name} {test['tcId']}", message, bytes.fromhex(test["md"])))
    part = some_of(known, budget, cost)
    some_ends = ends if wants_all() else random.sample(ends, min(1, len(ends)))
    log(
        "stored vectors: %s: %d of %d; ends of Monte Carlo chains: %d; skipped: %d of no whole bytes",
        *(algorithm, len(part), len(known), len(some_ends), skipped),
    )
    return part + some_ends


def macs(budget: int, log: Log) -> list[Case]:
    """Cases of NIST and of Wycheproof for HMAC-SHA-256."""
    found = folder(log)
    if found is None:
        return []
    cases: list[Case] = []
    bits = invalid = 0
    for file in ("hmac/HMAC-SHA2-256-2.0.json", "wycheproof/hmac_sha256_test.json"):
        for _, test in tests_of(found / file):
            if not has_whole_bytes(test):
                bits += 1
            elif test.get("result") == "invalid":
                invalid += 1
            else:
                key, message = bytes.fromhex(test["key"]), bytes.fromhex(test["msg"])
                expected = bytes.fromhex(test["mac"] if "mac" in test else test["tag"])
                cases.append(Case(f"{file} {test['tcId']}", message, expected, key))
    part = some_of(cases, budget, cost)
    # Software compares tags: the engine cannot detect a wrong one.
    log(
        "stored vectors: HMAC-SHA2-256: %d of %d; skipped: %d of no whole bytes, %d with wrong tags",
        *(len(part), len(cases), bits, invalid),
    )
    return part


def cost(case: Case) -> int:
    """Bytes of message, key and padding."""
    blocks = 1 if case.key is None else 4 + len(case.key) // 64
    return len(case.message) + 64 * blocks


class Chain(NamedTuple):
    """The first chain of a Monte Carlo test."""

    seed: bytes
    length: int | None
    expected: bytes


def whole_chain(algorithm: str, log: Log) -> Chain | None:
    """With all vectors, a whole chain if there is one: a thousand digests, each the input of the next."""
    found = folder(log) if wants_all() else None
    for path in sorted((found / "sha2").glob(f"{algorithm}-1.0-*.json")) if found else []:
        for group, test in tests_of(path):
            if group["testType"] == "MCT":
                seed = bytes.fromhex(test["msg"])
                log("stored vectors: %s: a Monte Carlo chain of %d", algorithm, CHAIN)
                return Chain(seed, chain_length(group, seed), bytes.fromhex(test["resultsArray"][0]["md"]))
    return None
