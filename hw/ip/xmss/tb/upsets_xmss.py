"""What the engine for hash-based signatures does while a bit of it flips: it accepts no signature that is not valid.

A script is the driver (`device/drivers/src/xmss.rs`): it waits for `status.done`, then reads the verdict, the reason and the
errors. Each family that is built in has three signatures that are refused by nothing but the comparison of the root: of another
message, by a key whose root has another bit, and by another key."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import lms_signer
import slh_dsa_signer
import xmss_signer
from upset_script import Script, parameters, write_scripts
from xmss_bench import NO_ERROR, PASSED
from xmss_driver import AT, DONE, FAILED, LMS, SLH_DSA, START, STREAM, TWO_PASSES, XMSS

# A reset clears counts, one a cycle.
SETTLING_CYCLES = 600
# Types of both levels of HSS: small ones.
H5_W4 = (5, 3)
# A bit in the middle of the first word of the root.
ROOT_BIT = 13


class Family(NamedTuple):
    algorithm: int
    control: str
    # Codes of its states: the first cycle of a comparison, and its turn.
    count: int
    turn: int


FAMILIES = {
    "HasXmss": Family(XMSS, "g_xmss.u_core.u_control", 0x99, 0xAA),
    "HasLms": Family(LMS, "g_lms.u_core.u_control", 0x69, 0x99),
    "HasSlhDsa": Family(SLH_DSA, "g_slh_dsa.u_core.u_control", 0x5A, 0x69),
}


class Request(NamedTuple):
    """A signature as the engine takes it."""

    name: str
    type: int
    # Words of the key, from these on.
    key: tuple[tuple[int, bytes], ...]
    signature: bytes
    message: bytes


def flipped(data: bytes, bit: int = ROOT_BIT) -> bytes:
    return bytes(byte ^ (at == bit // 8) << bit % 8 for at, byte in enumerate(data))


def verify(family: Family, request: Request, config: int = 0) -> Script:
    script = Script(settling_cycles=SETTLING_CYCLES)
    script.alert()
    script.event("compare", f"{family.control}.u_state.u_flop.value_q", family.count)
    script.event("turn", f"{family.control}.u_state.u_flop.value_q", family.turn)
    if family.algorithm != XMSS:
        script.write(AT["algorithm"], family.algorithm)
        # Hash cores change their owner, which is an abort.
        script.wait(SETTLING_CYCLES)
    script.write(AT["control"], STREAM | config)
    script.write(AT["expected_type"], request.type)
    script.write(AT["key_type"], request.type)
    for first, data in request.key:
        script.write_bytes(AT["key"] + 4 * first, data)
    script.mark("verify")
    script.write(AT["command"], START)
    script.send_bytes(request.signature)
    script.mark("message")
    script.send_bytes(request.message)
    script.mark("sent")
    script.poll(AT["status"], DONE, DONE, FAILED)
    script.mark("done")
    script.require(AT["verdict"], 0xFFFF_FFFF, PASSED & 0xFFFF_FFFF)
    script.require(AT["verdict"] + 4, 0xFFFF_FFFF, PASSED >> 32)
    script.require(AT["reason"], 0xFFFF_FFFF, NO_ERROR)
    script.accept(AT["error"], 0)
    return script


def xmss(random_: random.Random) -> list[Request]:
    signed, other = xmss_signer.sign(random_), xmss_signer.sign(random_)
    # The message digest has the root of the key in it, so this one is signed for the wrong root.
    near = xmss_signer.sign(random_, claimed=flipped)

    def request(name: str, signed: xmss_signer.Signed) -> Request:
        return Request(name, signed.oid, ((0, signed.key[4:]),), signed.signature, signed.message)

    return [
        request("wrong image", signed._replace(message=random_.randbytes(32))),
        request("root one bit off", near),
        request("wrong key", signed._replace(key=other.key)),
    ]


def lms(random_: random.Random) -> list[Request]:
    signed, other = lms_signer.sign(random_), lms_signer.sign(random_)
    levels = lms_signer.sign_levels(random_, [H5_W4, H5_W4])

    def request(name: str, signed: lms_signer.Signed, root: bytes | None = None) -> Request:
        key = ((0, signed.root if root is None else root), (8, signed.identifier))
        return Request(name, signed.code, key, signed.signature, signed.message)

    image = random_.randbytes(32)
    return [
        request("LMS, wrong image", signed._replace(message=image)),
        request("LMS, root one bit off", signed, flipped(signed.root)),
        request("LMS, wrong key", signed._replace(key=other.key)),
        # The lower level and the upper one refuse.
        request("HSS, wrong image", levels._replace(message=image)),
        request("HSS, root one bit off", levels, flipped(levels.root)),
    ]


def slh_dsa(random_: random.Random) -> list[Request]:
    signed, other = slh_dsa_signer.sign(random_), slh_dsa_signer.sign(random_, number=1)
    near = slh_dsa_signer.sign(random_, claimed=flipped)

    def request(name: str, signed: slh_dsa_signer.Signed) -> Request:
        key = ((0, signed.root), (8, signed.seed))
        return Request(f"SLH-DSA, {name}", signed.oid, key, signed.signature, signed.message)

    return [
        request("wrong image", signed._replace(message=random_.randbytes(32))),
        request("root one bit off", near),
        request("wrong key", signed._replace(root=other.root, seed=other.seed)),
    ]


REQUESTS: dict[str, Callable[[random.Random], list[Request]]] = {"HasXmss": xmss, "HasLms": lms, "HasSlhDsa": slh_dsa}


def scripts() -> list[tuple[str, Script]]:
    built = {"HasXmss": 1} | parameters()
    found = []
    for name, family in FAMILIES.items():
        if not built.get(name):
            continue
        for request in REQUESTS[name](random.Random(1)):
            found.append((request.name, verify(family, request)))
            if family.algorithm == XMSS:
                found.append((f"two passes, {request.name}", verify(family, request, TWO_PASSES)))
    return found


if __name__ == "__main__":
    write_scripts(scripts())
