#!/usr/bin/env python3
"""Has verify.py judge every bundle of a folder of vectors.

``run_vectors.py FOLDER`` reads FOLDER/expected.json and compares verdict and reason. Exit code 0:
all as expected, 1: some are not, 2: could not decide. See vectors/image/README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import verify as v


def trusted_keys(folder: Path, options: dict[str, Any]) -> list[v.KeyRecord]:
    """Keys by the names of their files, and those of which there is only a record."""
    keys = [v.load_key((folder / f"{name}.pub.pem").read_text()) for name in options["keys"]]
    for record in options.get("records", []):
        key_id = bytes.fromhex(record["key_id"])
        keys.append(v.KeyRecord(record["algorithm"], record["parameters"], key_id))
    return keys


def judge(folder: Path, vector: dict[str, Any]) -> str:
    """`accepted` or the code of the reason."""
    options = vector["options"]
    result = v.verify(
        (folder / f"{vector['name']}.hlk").read_bytes(),
        trusted_keys(folder, options),
        v.Policy[options["policy"].upper().replace("-", "_")],
        kind=options.get("type"),
        board=options.get("board"),
        soc=options.get("soc"),
        floor=options.get("floor"),
        lifecycle=options.get("lifecycle"),
        is_file=not options.get("medium", False),
    )
    return result.reason.name if isinstance(result, v.Refused) else "accepted"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Run verify.py on a folder of vectors.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--all", action="store_true", help="print every vector and its answer")
    options = parser.parse_args(arguments)
    try:
        vectors = json.loads((options.folder / "expected.json").read_text(encoding="utf-8"))
        wrong = 0
        for vector in vectors:
            answer = judge(options.folder, vector)
            expected = vector["reason"] or vector["verdict"]
            wrong += answer != expected
            if options.all:
                print(f"{vector['name']}\t{answer}")
            elif answer != expected:
                print(f"{vector['name']}: verify.py says {answer}, expected is {expected}")
    except (OSError, ValueError, KeyError) as error:
        print(f"run_vectors.py: {error!r}", file=sys.stderr)
        return 2
    print(f"{len(vectors) - wrong} of {len(vectors)} as expected", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
