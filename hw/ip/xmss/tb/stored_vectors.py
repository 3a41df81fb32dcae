"""The public vectors of XMSS (`hw/prim/tb/vectors.py`) as cases of the engine: signatures and keys of whole length."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vectors import Log, folder, some_of, tests_of
from xmss_signer import Signed

# The types that are built in, as files name them. Keys of other sets with n = 32 are as long, and have to be refused.
TYPES = {"SHA2_10_256": 1, "SHA2_16_256": 2, "SHA2_20_256": 3}
KEY_SIZE = 68
# The same with hashes of 24 bytes.
SHORT_TYPES = {"SHA2_10_192": 13, "SHA2_16_192": 14, "SHA2_20_192": 15}
SHORT_KEY_SIZE = 52


class Case(NamedTuple):
    name: str
    signed: Signed
    is_valid: bool


def signed(key: bytes, message: bytes, signature: bytes, expected: int | None = None) -> Signed:
    return Signed(int.from_bytes(key[:4], "big") if expected is None else expected, key, message, signature)


def records(path: Path) -> Iterator[dict[str, str]]:
    """Lines `name = value`, in parts between empty lines."""
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        pairs = [line.split("=", 1) for line in part.splitlines() if "=" in line and line[0] != "#"]
        if pairs:
            yield {name.strip(): value.strip() for name, value in pairs}


def botan(path: Path) -> Iterator[Case]:
    hexed = bytes.fromhex
    for one in records(path):
        valid = one.get("Valid", "1") != "0"
        key = hexed(one["PublicKey"])
        if one["Params"] in TYPES:
            yield Case(one["Params"], signed(key, hexed(one["Msg"]), hexed(one["Signature"])), valid)
        elif len(key) == KEY_SIZE:
            yield Case(f"{one['Params']}, not built in", signed(key, hexed(one["Msg"]), hexed(one["Signature"])), False)


def liboqs(base: Path) -> Iterator[Case]:
    for name in TYPES:
        head, *messages = records(base / f"liboqs_XMSS-{name}.rsp")
        for one in messages:
            parts = (head["pk"], one["msg"], one["sm"])
            yield Case(f"liboqs {name}", signed(*(bytes.fromhex(part) for part in parts)), True)


def of_layers(base: Path) -> Iterator[Case]:
    """XMSS^MT: those of liboqs, and changed ones."""
    for path in sorted(base.glob("liboqs_XMSSMT-SHA2_*_256.rsp")):
        head, *messages = records(path)
        for one in messages:
            parts = (head["pk"], one["msg"], one["sm"])
            yield Case(path.stem, signed(*(bytes.fromhex(part) for part in parts))._replace(is_mt=True), True)
    for group, test in tests_of(base / "derived_xmss_invalid.json"):
        if group["type"] == "XmssMtVerify":
            key = bytes.fromhex(test.get("publicKeyOverride", group["publicKey"]))
            if len(key) == KEY_SIZE:
                one = signed(key, bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]), int(group["publicKey"][:8], 16))
                # Those of other hashes are valid for their sets.
                is_valid = test["result"] == "valid" and "SHA2" in group["params"]
                yield Case(f"{group['params']}, {test['comment']}", one._replace(is_mt=True), is_valid)


def short(base: Path) -> Iterator[Case]:
    """Sets of XMSS with hashes of 24 bytes. Those with SHAKE256 have to be refused."""
    for one in records(base / "botan_xmss_verify.vec"):
        case = signed(*(bytes.fromhex(one[part]) for part in ("PublicKey", "Msg", "Signature")))
        if len(case.key) == SHORT_KEY_SIZE:
            yield Case(one["Params"], case, one["Params"] in SHORT_TYPES and one.get("Valid", "1") != "0")
    for path in sorted(base.glob("liboqs_XMSS-SHA2_*_192.rsp")):
        head, *messages = records(path)
        for one in messages:
            parts = (head["pk"], one["msg"], one["sm"])
            yield Case(path.stem, signed(*(bytes.fromhex(part) for part in parts)), True)
    for group, test in tests_of(base / "derived_xmss_invalid.json"):
        key = bytes.fromhex(test.get("publicKeyOverride", group["publicKey"]))
        if group["type"] == "XmssVerify" and len(key) == SHORT_KEY_SIZE:
            one = signed(key, bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]), int(group["publicKey"][:8], 16))
            is_valid = test["result"] == "valid" and group["params"] in SHORT_TYPES
            yield Case(f"{group['params']}, {test['comment']}", one, is_valid)


def derived(path: Path, is_built_in: bool) -> Iterator[Case]:
    """Who asks says which type it expects: that of the key before it was changed."""
    for group, test in tests_of(path):
        if group["type"] != "XmssVerify" or (group["params"] in TYPES) != is_built_in:
            continue
        expected = int(group["publicKey"][:8], 16)
        key = bytes.fromhex(test.get("publicKeyOverride", group["publicKey"]))
        if len(key) == KEY_SIZE:
            name = f"{group['params']}, {test['comment']}"
            one = signed(key, bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]), expected)
            yield Case(name, one, test["result"] == "valid")


def cases(budget: int, log: Log) -> Iterator[Case]:
    """Some of each source, as many from each."""
    base = folder(log)
    if base is None:
        return
    base /= "xmss"
    changed = base / "derived_xmss_invalid.json"
    groups = {
        "Botan": list(botan(base / "botan_xmss_verify.vec")),
        "liboqs": list(liboqs(base)),
        "changed signatures": list(derived(changed, is_built_in=True)),
        "other types": list(derived(changed, is_built_in=False)),
    }
    for name, group in groups.items():
        part = some_of(group, max(1, budget // len(groups)), lambda _: 1)
        log("stored vectors: %d of %d cases of %s", len(part), len(group), name)
        yield from part
