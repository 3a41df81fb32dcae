"""The public vectors of SLH-DSA-SHA2-128s (`hw/prim/tb/vectors.py`) as cases of the engine, which hashes M'.

M' is made here (FIPS 205 §10.2): of a pure signature it has a context before the message, of a pre-hash one a context, the
name of the hash function and a digest; of the internal interface it is the message. Vectors of other sets have to be
refused: for their types, or for their lengths if the caller expects this set.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from slh_dsa_signer import TYPE, Signed
from stored_vectors import records
from vectors import Log, folder, some_of, tests_of

NAME = "SLH-DSA-SHA2-128s"
# DER of the object identifier of SHA-256 (§10.2.2).
SHA256 = bytes.fromhex("0609608648016503040201")


class Case(NamedTuple):
    name: str
    signed: Signed
    is_valid: bool


def pure(context: bytes, message: bytes) -> bytes:
    return bytes([0, len(context)]) + context + message


def pre_hash(context: bytes, message: bytes) -> bytes:
    return bytes([1, len(context)]) + context + SHA256 + hashlib.sha256(message).digest()


def signed(key: bytes, message: bytes, signature: bytes) -> Signed:
    """A key is PK.seed, then PK.root."""
    return Signed(TYPE, key[16:], key[:16], message, signature)


def contexts(text: str) -> bytes:
    return b"" if text == "zero_length" else bytes.fromhex(text)


def bouncy_castle(base: Path) -> Iterator[Case]:
    """Without a context a record of the pure file is of the internal interface."""
    for file, encode in (("bc_sha2-128s.rsp", pure), ("bc_sha2-128s-sha256.rsp", pre_hash)):
        for one in records(base / file):
            if "sm" not in one:
                continue
            message = bytes.fromhex(one["msg"])
            if one["context"] != "none":
                message = encode(contexts(one["context"]), message)
            assert message.hex() == one.get("message_prime", message.hex()).lower(), "M' is another one"
            key, signature = bytes.fromhex(one["pk"]), bytes.fromhex(one["sm"])
            yield Case(f"{file} {one['count']}", signed(key, message, signature), True)


def derived(path: Path) -> Iterator[Case]:
    """Changed signatures, keys, messages and contexts of this set; and other sets with keys of the same length."""
    for test in json.loads(path.read_text())["tests"]:
        key, context, message = (bytes.fromhex(test[name]) for name in ("pk", "context", "msg"))
        is_of_set, is_pure = test["parameterSet"] == NAME, test["preHash"] == "pure"
        # A key has 32 bytes here, and M' is the caller's part: other hash functions are none of ours.
        if len(key) != 32 or len(context) > 255 or not (is_of_set or is_pure):
            continue
        encode = pure if is_pure else pre_hash
        name = f"{test['parameterSet']}, {test['preHash']}, {test['comment']}"
        case = signed(key, encode(context, message), bytes.fromhex(test["sig"]))
        yield Case(name, case, test["result"] == "valid")


def nist(path: Path) -> Iterator[Case]:
    """Of the internal interface: other sets only, with keys of the same length."""

    def key_of(group: dict[str, Any], test: dict[str, Any]) -> bytes:
        return bytes.fromhex(test.get("pk") or group["pk"])

    for group, test in tests_of(path):
        key = key_of(group, test)
        if len(key) == 32:
            case = signed(key, bytes.fromhex(test["message"]), bytes.fromhex(test["signature"]))
            is_valid = group["parameterSet"] == NAME and test["testPassed"]
            yield Case(f"{group['parameterSet']}, {test['tcId']}", case, is_valid)


def cases(budget: int, log: Log) -> Iterator[Case]:
    """Some of each source, as many from each."""
    base = folder(log)
    if base is None:
        return
    base /= "slh-dsa"
    changed = list(derived(base / "derived_slhdsa_invalid.json"))
    groups = {
        "Bouncy Castle": list(bouncy_castle(base)),
        "changed signatures": [case for case in changed if case.name.startswith(NAME)],
        "other sets": [case for case in changed if not case.name.startswith(NAME)],
        "NIST": list(nist(base / "SLH-DSA-sigVer-FIPS205-2024-internal.json")),
    }
    for name, group in groups.items():
        part = some_of(group, max(1, budget // len(groups)), lambda _: 1)
        log("stored vectors: %d of %d cases of %s", len(part), len(group), name)
        yield from part
