"""The public vectors of AES-CBC and AES-GCM (`hw/prim/tb/vectors.py`), within a number of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vectors import Log, folder, some_of, tests_of


class Case(NamedTuple):
    name: str
    mode: str
    key: bytes
    iv: bytes
    aad: bytes
    text: bytes
    sealed: bytes
    tag: bytes
    is_valid: bool


def cost(case: Case) -> int:
    return 2 + (len(case.text) + len(case.sealed) + len(case.aad) + len(case.iv)) // 16


def of_nist_cbc(path: Path) -> Iterator[Case]:
    """Not padded. Monte Carlo tests are chains of a thousand blocks, and left out."""
    for group, test in tests_of(path):
        if group["testType"] == "AFT":
            key, iv, text, sealed = (bytes.fromhex(test[part]) for part in ("key", "iv", "pt", "ct"))
            yield Case(f"{path.stem} {test['tcId']}", "cbc", key, iv, b"", text, sealed, b"", True)


def of_nist_gcm(path: Path) -> Iterator[Case]:
    for group, test in tests_of(path):
        is_valid = test.get("testPassed", True)
        fields = {part: bytes.fromhex(test.get(part, "")) for part in ("key", "iv", "aad", "pt", "ct", "tag")}
        name = f"{path.stem} {test['tcId']}"
        if group["tagLen"] % 8 == 0 and "tag" in test and "key" in test and len(fields["iv"]) > 0:
            yield Case(
                *(name, "gcm", fields["key"], fields["iv"], fields["aad"], fields["pt"], fields["ct"]),
                *(fields["tag"], is_valid),
            )


def of_wycheproof_gcm(path: Path) -> Iterator[Case]:
    """A vector without bytes is refused at the start (`refuses_bad_input_with_an_error_and_goes_on`)."""
    for _, test in tests_of(path):
        fields = [bytes.fromhex(test[part]) for part in ("key", "iv", "aad", "msg", "ct", "tag")]
        if fields[1]:
            yield Case(f"{path.stem} {test['tcId']}", "gcm", *fields, test["result"] == "valid")


def of_wycheproof_cbc(path: Path) -> Iterator[Case]:
    """PKCS#7 padding is of software, which is put here; invalid ones differ in nothing else."""
    for _, test in tests_of(path):
        if test["result"] == "valid":
            key, iv, text, sealed = (bytes.fromhex(test[part]) for part in ("key", "iv", "msg", "ct"))
            fill = 16 - len(text) % 16
            text += bytes([fill]) * fill
            yield Case(f"{path.stem} {test['tcId']}", "cbc", key, iv, b"", text, sealed, b"", True)


def cases(budget: int, log: Log) -> list[Case]:
    """A part of each family, so that none is left out."""
    found = folder(log)
    if found is None:
        return []
    families = {
        "AES-CBC, NIST": list(of_nist_cbc(found / "aes/ACVP-AES-CBC-1.0.json")),
        "AES-GCM, NIST": list(of_nist_gcm(found / "aes/ACVP-AES-GCM-1.0.json")),
        "AES-CBC, Wycheproof": list(of_wycheproof_cbc(found / "wycheproof/aes_cbc_pkcs5_test.json")),
        "AES-GCM, Wycheproof": list(of_wycheproof_gcm(found / "wycheproof/aes_gcm_test.json")),
    }
    taken: list[Case] = []
    for family, known in families.items():
        part = some_of(known, budget // len(families), cost)
        log("stored vectors: %s: %d of %d", family, len(part), len(known))
        taken += part
    return taken
