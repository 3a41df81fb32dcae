"""What the verification unit does while a bit of it flips: no upset releases a host for an image that has to be refused,
and none for an image that is not the one in the RAM."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace

from boot_verifier_bench import ACCEPTED, BOARD, PRODUCTION, Image
from upset_script import Script, parameters, write_scripts

CODE_BYTES = 64
FLOOR = 5
# Cycles after a release in which the host would run.
RUNNING_CYCLES = 20


def flipped(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


def image() -> Image:
    chance = random.Random(3)
    signature = chance.randbytes(8 * parameters()["SignatureWords"])
    return Image(signature, chance.randbytes(64), code=chance.randbytes(CODE_BYTES))


def script(
    image: Image,
    digest: bytes | None = None,
    board: bytes = BOARD,
    floor: int = FLOOR,
    lifecycle: int = PRODUCTION,
    verdict: int = ACCEPTED,
    is_right: bool = False,
) -> Script:
    """The unit from reset, with an image on its medium; the host must not run, or not with other words in the RAM."""
    script = Script()
    script.forbid(release_o=1, **({"is_changed_o": 1} if is_right else {}))
    script.alert("error_o")
    script.set("floor_i", floor)
    script.set("lifecycle_i", lifecycle)
    script.set("verdict_i", verdict)
    digest = hashlib.sha256(image.front()).digest() if digest is None else digest
    script.send_bytes(digest + board + image.encode())
    script.mark("loaded")
    script.wait_for("release_o" if is_right else "refused_o")
    script.mark("decided")
    script.wait(RUNNING_CYCLES)
    return script


if __name__ == "__main__":
    right = image()
    own = hashlib.sha256(right.front()).digest()
    write_scripts([
        ("right image", script(right, is_right=True)),
        ("wrong key", script(right, digest=hashlib.sha256(b"another").digest())),
        ("digest of key one bit off", script(right, digest=flipped(own))),
        ("wrong signature", script(right, verdict=0)),
        ("verdict one bit off", script(right, verdict=ACCEPTED ^ 1 << 40)),
        ("wrong board", script(right, board=b"board-9".ljust(32, b"\0"))),
        ("below the floor", script(right, floor=right.security_version + 1)),
        ("wrong lifecycle", script(replace(right, mask=1))),
        ("wrong padding", script(replace(right, padding=b"\x01" + bytes(23)))),
    ])
