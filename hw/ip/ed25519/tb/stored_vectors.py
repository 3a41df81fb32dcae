"""The public vectors of Ed25519 (`hw/prim/tb/vectors.py`), within a number of operations of the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ed25519_bench import Hash, sha3_512, sha512
from vectors import Log, folder, some_of, tests_of


class Case(NamedTuple):
    name: str
    public: bytes
    message: bytes
    signature: bytes
    hash: Hash
    # None where the file has no verdict for this rule.
    is_valid: bool | None
    # 32 bytes of seed, or 64 of scalar and prefix.
    secret: bytes = b""

    @property
    def challenge(self) -> bytes:
        return self.hash(self.signature[:32] + self.public + self.message)


def records(path: Path) -> Iterator[dict[str, str]]:
    """Of Botan's files: those of the scheme without a prehash."""
    is_pure = True
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        lines = part.splitlines()
        for line in lines:
            if line.startswith("["):
                is_pure = line == "[Pure]"
        pairs = [line.split("=", 1) for line in lines if "=" in line and line[0] not in "#["]
        if pairs and is_pure:
            yield {name.strip(): value.strip() for name, value in pairs}


def wycheproof(path: Path) -> Iterator[Case]:
    for group, test in tests_of(path):
        key = bytes.fromhex(group["publicKey"]["pk"])
        signature = bytes.fromhex(test["sig"])
        if len(signature) == 64:
            name = f"Wycheproof {test['tcId']}"
            yield Case(name, key, bytes.fromhex(test["msg"]), signature, sha512, test["result"] == "valid")


def of_folder(base: Path) -> dict[str, list[Case]]:
    plain, sha3 = base / "ed25519", base / "ed25519-sha3"
    hexed = bytes.fromhex
    groups: dict[str, list[Case]] = {"Wycheproof": list(wycheproof(base / "wycheproof/ed25519_test.json"))}
    groups["NIST"] = [
        Case(f"NIST {test['tcId']}", hexed(test["q"]), hexed(test["message"]), hexed(test["signature"]), sha512,
             test["testPassed"])
        for group, test in tests_of(plain / "EDDSA-SigVer-1.0.json") if not group["preHash"]
    ]
    groups["Botan"] = [
        Case("Botan", hexed(one["Pubkey"]), hexed(one["Msg"]), hexed(one["Signature"]), sha512, False)
        for one in records(plain / "botan_ed25519_verify.vec")
    ]
    groups["SUPERCOP"] = [
        Case("SUPERCOP", hexed(one["Pubkey"]), hexed(one["Msg"]), hexed(one["Signature"]), sha512, True,
             hexed(one["Privkey"])[:32])
        for one in records(plain / "botan_ed25519_signinput.vec")
    ]
    groups["CCTV"] = [
        Case(f"CCTV {one['number']}", hexed(one["key"]), one["msg"].encode(), hexed(one["sig"]), sha512, None)
        for one in json.loads((plain / "cctv_ed25519vectors.json").read_text(encoding="utf-8"))
    ]
    groups["speccheck"] = [
        Case("speccheck", hexed(one["pub_key"]), hexed(one["message"]), hexed(one["signature"]), sha512, None)
        for one in json.loads((plain / "speccheck_cases.json").read_text(encoding="utf-8"))
    ]
    groups["RFC 8032"] = [
        Case(f"RFC 8032 {one['name']}", hexed(one["publicKey"]), hexed(one["message"]), hexed(one["signature"]), sha512,
             True, hexed(one["secretKey"]))
        for one in json.loads((plain / "rfc8032_ed25519.json").read_text(encoding="utf-8"))
    ]
    groups["SHA3-512"] = []
    for line in (sha3 / "sign.input.with.sha3.txt").read_text(encoding="utf-8").split():
        secret, public, message, signed = line.split(":")[:4]
        signature = hexed(signed)[:64]
        groups["SHA3-512"].append(
            Case("SHA3-512", hexed(public), hexed(message), signature, sha3_512, True, hexed(secret)[:32])
        )
    groups["Keystone"] = [
        Case(f"Keystone {test['tcId']}", hexed(test.get("publicKey", group["publicKey"])), hexed(test["msg"]),
             hexed(test["sig"]), sha3_512, test["result"] == "valid")
        for group, test in tests_of(sha3 / "keystone_endorsement.json")
        if len(hexed(test["sig"])) == 64
    ]
    return {name: [case for case in cases if len(case.public) == 32 and len(case.signature) == 64]
            for name, cases in groups.items()}


def cases(budget: int, log: Log, only_secret: bool = False) -> Iterator[Case]:
    """Some of each source, as many from each."""
    base = folder(log)
    if base is None:
        return
    groups = of_folder(base)
    if only_secret:
        groups = {name: [case for case in group if case.secret] for name, group in groups.items()}
        groups = {name: group for name, group in groups.items() if group}
    for name, group in groups.items():
        part = some_of(group, max(1, budget // len(groups)), lambda _: 1)
        log("stored vectors: %d of %d cases of %s%s", len(part), len(group), name, " to sign" if only_secret else "")
        yield from part
