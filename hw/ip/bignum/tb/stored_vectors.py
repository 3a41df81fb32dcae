"""Public vectors of RSA (`hw/prim/tb/vectors.py`), within cycles of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rsa_padding import Mask, is_pss, mgf1, pkcs1, shake
from vectors import Log, folder, some_of, tests_of


class Case(NamedTuple):
    name: str
    modulus: int
    exponent: int
    message: bytes
    signature: bytes
    # None where the file leaves it to the verifier: a block without the NULL of its algorithm, which is refused here.
    is_valid: bool | None
    hash: str
    # PSS, if there are any; else PKCS #1 v1.5.
    mask: Mask | None = None
    salt_length: int = 0

    @property
    def bits(self) -> int:
        return self.modulus.bit_length()

    @property
    def length(self) -> int:
        return (self.bits + 7) // 8

    def accepts(self, power: int) -> bool:
        """Whether the number that the signature gives is the padded digest of the message."""
        if self.mask is None:
            want = pkcs1(self.hash, self.message, self.length)
            return want is not None and power.to_bytes(self.length, "big") == want
        return is_pss(self.hash, self.mask, self.salt_length, self.message, power, self.bits)


def cost(case: Case) -> int:
    """Cycles, roughly, with 16 DSP blocks: products of two times limbs squared, and R²."""
    limbs = case.bits // 68 + 1
    return (case.exponent.bit_length() + case.exponent.bit_count() + 14) * limbs * limbs * 2


def name_of(text: str) -> str:
    """One name for a hash: files differ."""
    upper = text.upper().replace("SHA2-", "SHA-")
    return upper.replace("SHAKE1", "SHAKE-1").replace("SHAKE2", "SHAKE-2")


def mask_of(function: str, name: str) -> Mask:
    """SHAKE as it is (RFC 8702 §3.1), or MGF1 with a hash, which NIST has of SHAKE, too."""
    return mgf1(name) if function.lower() == "mgf1" else shake(name_of(function))


def wycheproof(path: Path) -> Iterator[Case]:
    for group, test in tests_of(path):
        key: dict[str, Any] = group["publicKey"]
        verdict = {"valid": True, "invalid": False, "acceptable": None}[test["result"]]
        name = name_of(group["sha"])
        mask = mask_of(group["mgf"], name_of(group["mgfSha"])) if "mgf" in group else None
        yield Case(f"{path.stem} {test['tcId']}", int(key["modulus"], 16), int(key["publicExponent"], 16),
                   bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]), verdict, name, mask, group.get("sLen", 0))


def nist(path: Path) -> Iterator[Case]:
    for group, test in tests_of(path):
        if group["sigType"] not in ("pkcs1v1.5", "pss"):
            continue
        name = name_of(group["hashAlg"])
        # FIPS 186-2 has MGF1 alone.
        mask = mask_of(group.get("maskFunction", "mgf1"), name) if group["sigType"] == "pss" else None
        yield Case(f"{path.stem} {test['tcId']}", int(group["n"], 16), int(group["e"], 16),
                   bytes.fromhex(test["message"]), bytes.fromhex(test["signature"]), test["testPassed"],
                   name, mask, group["saltLen"])


def cases(budget: int, log: Log) -> Iterator[Case]:
    """Some of each source, of a cost that is shared evenly."""
    base = folder(log)
    if base is None:
        return
    sources = {
        "Wycheproof, PKCS #1 v1.5": [case for path in sorted((base / "wycheproof").glob("rsa_signature_*.json"))
                                     for case in wycheproof(path)],
        "Wycheproof, PSS": [case for path in sorted((base / "wycheproof").glob("rsa_pss_*.json")) for case in wycheproof(path)],
        "NIST": [case for path in sorted((base / "rsa").glob("RSA-SigVer-*.json")) for case in nist(path)],
    }
    for name, group in sources.items():
        part = some_of(group, budget // len(sources), cost)
        log("stored vectors: %d of %d cases of %s", len(part), len(group), name)
        # Keys stay in the engine from one signature to the next.
        yield from sorted(part, key=lambda case: (case.modulus, case.exponent))


class Raw(NamedTuple):
    """A power with a secret exponent; none if the base is not below the modulus."""

    name: str
    modulus: int
    exponent: int
    base: int
    power: int | None


def raw_cases(budget: int, log: Log) -> Iterator[Raw]:
    base = folder(log)
    if base is None:
        return
    path = base / "rsa/rsa_raw_512_1024.json"
    all_of_it = []
    for group, test in tests_of(path):
        modulus, exponent = int(group["n"], 16), int(group["d"], 16)
        power = int(test["sig"], 16) if test["result"] == "valid" else None
        all_of_it.append(Raw(f"{path.stem} {test['tcId']}", modulus, exponent, int(test["msg"], 16), power))
    part = some_of(all_of_it, budget, lambda case: case.modulus.bit_length() ** 3 // 1250)
    log("stored vectors: %d of %d powers with a secret exponent", len(part), len(all_of_it))
    yield from part
