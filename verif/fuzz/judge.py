#!/usr/bin/env python3
"""Has the second verifiers of spec/ judge what arrives on standard input, for `differential` and `first-stage`.

A request is two parts, each after its length as a little-endian u32: options as JSON, then the
bundle, or the first stage if the options have digests of keys. The answer is one line: `accepted` or the code of the reason. The end of input ends it.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "spec"))

import first_stage as f  # noqa: E402  (its folder was just made known)
import verify as v  # noqa: E402


def read_part(stream: BinaryIO) -> bytes | None:
    """The next part, None at the end."""
    size = stream.read(4)
    if len(size) < 4:
        return None
    (length,) = struct.unpack("<I", size)
    return stream.read(length)


def answer(options: dict, bundle: bytes) -> str:
    """What the second verifier says."""
    keys = [v.KeyRecord(key[0], key[1], bytes.fromhex(key[2])) for key in options["keys"]]
    result = v.verify(
        bundle,
        keys,
        v.Policy[options["policy"].upper().replace("-", "_")],
        kind=options["type"],
        board=options["board"],
        soc=options["soc"],
        floor=options["floor"],
        boot_version=options["boot_version"],
        lifecycle=options["lifecycle"],
        is_file=not options["medium"],
    )
    return result.reason.name if isinstance(result, v.Refused) else "accepted"


def answer_first_stage(options: dict, image: bytes) -> str:
    """The same of a first stage."""
    result = f.verify(
        image,
        [bytes.fromhex(digest) for digest in options["key_digests"]],
        board=options.get("board"),
        soc=options.get("soc"),
        floor=options.get("floor"),
        lifecycle=options.get("lifecycle"),
        capacity=options.get("capacity"),
        is_file=not options.get("medium", False),
    )
    return result.reason.name if isinstance(result, f.Refused) else "accepted"


def main() -> None:
    """Answers until the input ends."""
    requests = sys.stdin.buffer
    while (options := read_part(requests)) is not None and (bundle := read_part(requests)) is not None:
        told = json.loads(options)
        judge = answer_first_stage if "key_digests" in told else answer
        print(judge(told, bundle), flush=True)


if __name__ == "__main__":
    main()
