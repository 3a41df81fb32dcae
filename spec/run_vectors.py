#!/usr/bin/env python3
"""Has verify.py judge every bundle of a folder of vectors, and first_stage.py every first stage.

``run_vectors.py FOLDER`` reads FOLDER/expected.json and compares verdict and reason. Exit code 0:
all as expected, 1: some are not, 2: could not decide. See vectors/image/README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import first_stage
import verify as v


@dataclass(frozen=True)
class FirstStageVector:
    """A first stage, the options of its verifier, and the answer."""

    name: str
    data: bytes
    options: dict[str, Any]
    expected: str


@dataclass(frozen=True)
class Vector:
    """A bundle, the options of its verifier, and the answer: `accepted` or the code of the reason."""

    name: str
    data: bytes
    keys: tuple[tuple[int, int, bytes], ...]  # algorithm, parameters, key id
    options: dict[str, Any]
    expected: str


def load(folder: Path) -> list[Vector]:
    """The bundles of a folder, in the order of its list."""
    return [_load(folder, entry) for entry in _listed(folder)]


def load_first_stages(folder: Path) -> list[FirstStageVector]:
    """The first stages of a folder, in the order of its list."""
    return [_load_first_stage(folder, entry) for entry in _listed(folder)]


def _listed(folder: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(
        (folder / "expected.json").read_text(encoding="utf-8")
    )
    return listed


def _is_of_first_stages(folder: Path) -> bool:
    return any("key_digests" in entry["options"] for entry in _listed(folder))


def _load_first_stage(folder: Path, entry: dict[str, Any]) -> FirstStageVector:
    data = (folder / f"{entry['name']}.hlf").read_bytes()
    expected = entry["reason"] or entry["verdict"]
    return FirstStageVector(entry["name"], data, entry["options"], expected)


def judge_first_stage(vector: FirstStageVector, module: ModuleType = first_stage) -> str:
    """What `module`, which is first_stage.py or a variant of it, answers."""
    options = vector.options
    result = module.verify(
        vector.data,
        [bytes.fromhex(digest) for digest in options["key_digests"]],
        board=options.get("board"),
        soc=options.get("soc"),
        floor=options.get("floor"),
        lifecycle=options.get("lifecycle"),
        capacity=options.get("capacity"),
        is_file=not options.get("medium", False),
    )
    return result.reason.name if isinstance(result, module.Refused) else "accepted"


def _load(folder: Path, entry: dict[str, Any]) -> Vector:
    options = entry["options"]
    named = [v.load_key((folder / f"{name}.pub.pem").read_text()) for name in options["keys"]]
    keys = [(key.algorithm, key.parameters, key.key_id) for key in named]
    for record in options.get("records", []):
        keys.append((record["algorithm"], record["parameters"], bytes.fromhex(record["key_id"])))
    data = (folder / f"{entry['name']}.hlk").read_bytes()
    return Vector(entry["name"], data, tuple(keys), options, entry["reason"] or entry["verdict"])


def judge(vector: Vector, module: ModuleType = v) -> str:
    """What `module`, which is verify.py or a variant of it, answers."""
    options = vector.options
    result = module.verify(
        vector.data,
        [module.KeyRecord(*key) for key in vector.keys],
        module.Policy[options["policy"].upper().replace("-", "_")],
        kind=options.get("type"),
        board=options.get("board"),
        soc=options.get("soc"),
        floor=options.get("floor"),
        boot_version=options.get("boot_version"),
        lifecycle=options.get("lifecycle"),
        profile=options.get("profile"),
        is_file=not options.get("medium", False),
        contents=True,
    )
    return result.reason.name if isinstance(result, module.Refused) else "accepted"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Run the second verifiers on a folder of vectors.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--all", action="store_true", help="print every vector and its answer")
    options = parser.parse_args(arguments)
    try:
        vectors: Sequence[Vector | FirstStageVector]
        if _is_of_first_stages(options.folder):
            stages = load_first_stages(options.folder)
            who, vectors = "first_stage.py", stages
            answers = (judge_first_stage(vector) for vector in stages)
        else:
            bundles = load(options.folder)
            who, vectors = "verify.py", bundles
            answers = (judge(vector) for vector in bundles)
        wrong = 0
        for vector, answer in zip(vectors, answers, strict=True):
            wrong += answer != vector.expected
            if options.all:
                print(f"{vector.name}\t{answer}")
            elif answer != vector.expected:
                print(f"{vector.name}: {who} says {answer}, expected is {vector.expected}")
    except (OSError, ValueError, KeyError) as error:
        print(f"run_vectors.py: {error!r}", file=sys.stderr)
        return 2
    print(f"{len(vectors) - wrong} of {len(vectors)} as expected", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
