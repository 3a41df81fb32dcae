"""The public vectors of SHA-3, SHAKE, cSHAKE, KMAC and TurboSHAKE (`hw/prim/tb/vectors.py`), within a number of
blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from keccak import bytepad, encode_string, kmac_header, right_encode
from sha3_bench import (
    CSHAKE128,
    CSHAKE256,
    SHA3_256,
    SHA3_384,
    SHA3_512,
    SHAKE128,
    SHAKE256,
    Function,
)
from vectors import Log, folder, some_of, tests_of

# Files of NIST, by their first words.
NIST = {
    "SHA3-256-2.0-byte": SHA3_256,
    "SHA3-384-2.0-byte": SHA3_384,
    "SHA3-512-2.0-byte": SHA3_512,
    "SHAKE-128-FIPS202-byte": SHAKE128,
    "SHAKE-256-FIPS202-byte": SHAKE256,
}
# Those of Keccak's authors.
AUTHORS = {"SHA3-256": SHA3_256, "SHA3-384": SHA3_384, "SHA3-512": SHA3_512} | {
    "SHAKE128": SHAKE128,
    "SHAKE256": SHAKE256,
}
CSHAKE = {"128": CSHAKE128, "256": CSHAKE256}


class Case(NamedTuple):
    """What a sponge takes, prefixes and suffixes of SP 800-185 included, and what it gives. A case of KMAC has a
    key, and only the message itself."""

    name: str
    function: Function
    message: bytes
    expected: bytes
    key: bytes | None = None

    @property
    def whole(self) -> bytes:
        """With what SP 800-185 §4.3 puts around the message of KMAC."""
        if self.key is None:
            return self.message
        rate = self.function.rate
        before = kmac_header(rate) + bytepad(encode_string(self.key), rate)
        return before + self.message + right_encode(8 * len(self.expected))


def blocks(case: Case) -> int:
    rate = case.function.rate
    return len(case.whole) // rate + 1 + len(case.expected) // rate


def of_nist(path: Path, function: Function) -> Iterator[Case]:
    """Lengths are in bits. A Monte Carlo test is a chain of its own, `chain`."""
    for group, test in tests_of(path):
        if group["testType"] != "MCT":
            message = bytes.fromhex(test["msg"])[: test["len"] // 8]
            yield Case(f"{path.stem} {test['tcId']}", function, message, bytes.fromhex(test["md"]))


def of_authors(path: Path, function: Function) -> Iterator[Case]:
    """`Len` is in bits, and not all messages are bytes; an empty one is shown as a byte."""
    length, message = 0, b""
    for line in path.read_text().splitlines():
        name, _, value = line.partition(" = ")
        if name == "Len":
            length = int(value)
        elif name == "Msg":
            message = bytes.fromhex(value)[: length // 8]
        elif name in ("MD", "Squeezed") and length % 8 == 0:
            yield Case(f"{path.stem} {length}", function, message, bytes.fromhex(value))


def cshake(function: Function, name: bytes, customization: bytes, message: bytes) -> tuple[Function, bytes]:
    """SP 800-185 §3.3: without strings it is SHAKE."""
    if not name and not customization:
        return (SHAKE128 if function.rate == SHAKE128.rate else SHAKE256), message
    return function, bytepad(encode_string(name) + encode_string(customization), function.rate) + message


def of_cshake(found: Path) -> Iterator[Case]:
    for strength, function in CSHAKE.items():
        path = found / f"sp800-185/cSHAKE-{strength}-1.0.json"
        for _, test in tests_of(path):
            if "md" in test and test["len"] % 8 == 0 and test["outLen"] % 8 == 0:
                strings = [test[part].encode() for part in ("functionName", "customization")]
                what = cshake(function, *strings, bytes.fromhex(test["msg"])[: test["len"] // 8])
                yield Case(f"{path.stem} {test['tcId']}", *what, bytes.fromhex(test["md"]))
        path = found / f"sp800-185/noble_cshake{strength}.json"
        for number, test in enumerate(json.loads(path.read_text())["v"]):
            strings = [bytes.fromhex(test[part]) for part in ("nist_fn", "personalization")]
            what = cshake(function, *strings, bytes.fromhex(test["data"]))
            yield Case(f"{path.stem} {number}", *what, bytes.fromhex(test["exp"]))


def of_kmac(found: Path) -> Iterator[Case]:
    """Wrong tags are for software to refuse, which compares them."""
    for strength, function in CSHAKE.items():
        path = found / f"wycheproof/kmac{strength}_no_customization_test.json"
        for _, test in tests_of(path):
            if test["result"] == "valid":
                texts = [bytes.fromhex(test[part]) for part in ("msg", "tag", "key")]
                yield Case(f"{path.stem} {test['tcId']}", function, *texts)


def cases(budget: int, log: Log) -> list[Case]:
    """Of all functions; a part of each family, so that none is left out."""
    found = folder(log)
    if found is None:
        return []
    families: dict[str, list[Case]] = {
        "SHA-3 and SHAKE, NIST": [
            case for name, function in NIST.items() for case in of_nist(found / f"sha3/{name}.json", function)
        ],
        "SHA-3 and SHAKE, Keccak's authors": [
            case
            for name, function in AUTHORS.items()
            for case in of_authors(found / f"sha3/ShortMsgKAT_{name}.txt", function)
        ],
        "cSHAKE": list(of_cshake(found)),
        "KMAC": list(of_kmac(found)),
    }
    taken: list[Case] = []
    for family, known in families.items():
        part = some_of(known, budget // len(families), blocks)
        log("stored vectors: %s: %d of %d", family, len(part), len(known))
        taken += part
    return taken


def chains(log: Log) -> list[tuple[str, Function, bytes, list[bytes]]]:
    """The Monte Carlo tests of SHA-3: a chain of a thousand digests gives each digest of the file."""
    found = folder(log)
    result: list[tuple[str, Function, bytes, list[bytes]]] = []
    for name, function in NIST.items() if found else ():
        for group, test in tests_of(found / f"sha3/{name}.json"):
            is_chain: bool = group["testType"] == "MCT" and group.get("mctVersion") == "standard"
            if is_chain:
                ends: list[dict[str, Any]] = test["resultsArray"]
                digests = [bytes.fromhex(end["md"]) for end in ends]
                result.append((name, function, bytes.fromhex(test["msg"]), digests))
    return result
