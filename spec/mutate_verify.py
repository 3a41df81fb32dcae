#!/usr/bin/env python3
"""Mutates verify.py and first_stage.py, and tells which changes no vector notices.

A verifier is only as well tested as its vectors are: a change of one of them that every vector passes is a
rule, or an order of rules, that other implementers can get wrong without notice. Changed are the functions
that decide: each requirement is left out, each comparison and connective is turned, each number moved
by one, and each pair of neighbouring requirements is exchanged.

A survivor must be explained in mutants.toml, by its file, its function and its text. Exit code 0: each is, every
explanation is needed, and the counts are those that are stored there. The tests take a sample.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import sys
import time
import tomllib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import first_stage
import run_vectors
import verify

SPEC = Path(__file__).resolve().parent
SETS = ("image", "order", "attacks")
ED25519 = 1

# Functions that judge a bundle; the others print, or read options and keys.
_OF_BUNDLES = {
    "_overlap",
    "_check_placement",
    "_align",
    "_zero",
    "_text",
    "_key_records",
    "_read_metadata",
    "_read_blocks",
    "_check_signatures",
    "_check_policy",
    "_both_families",
    "_read_header",
    "_check_signers",
    "_read_payload",
    "_read_payloads",
    "_read_identities",
    "_read_extensions",
    "_check_closing",
    "_check_bytes",
    "_keeps_to",
    "verify",
}

# The same of a first stage. `_of_hss`, `_of_xmss` and `_forms` make the table of algorithms.
_OF_FIRST_STAGES = {
    "_size",
    "_align",
    "_u32str",
    "_of_hss",
    "_of_xmss",
    "_forms",
    "_zero",
    "_is_name",
    "key_digest",
    "_read_front",
    "_read_signed",
    "_check_signature",
    "_check_header",
    "_check_device",
    "verify",
}


@dataclass(frozen=True)
class Subject:
    """A second verifier, and the vectors that judge it."""

    file: str
    judges: frozenset[str]
    load: Callable[[], list[Any]]
    judge: Callable[[Any, types.ModuleType], str]
    algorithms: dict[Any, Any]

    @property
    def source(self) -> str:
        """Its text."""
        return (SPEC / self.file).read_text(encoding="utf-8")


def _bundles() -> list[Any]:
    vectors = [v for name in SETS for v in run_vectors.load(SPEC / "vectors" / name)]
    # Quick ones first: they notice most mutants.
    return sorted(vectors, key=lambda it: any(key[0] != ED25519 for key in it.keys))


def _first_stages() -> list[Any]:
    return run_vectors.load_first_stages(SPEC / "vectors" / "first-stage")


SUBJECTS = (
    Subject(
        "verify.py", frozenset(_OF_BUNDLES), _bundles, run_vectors.judge, verify.ALGORITHMS
    ),
    Subject(
        "first_stage.py",
        frozenset(_OF_FIRST_STAGES),
        _first_stages,
        run_vectors.judge_first_stage,
        first_stage.ALGORITHMS,
    ),
)

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    """A change of one function."""

    function: str
    what: str  # the text that was changed, and how
    number: int  # among the changes of the function
    original: ast.Module

    def tree(self) -> ast.Module:
        """The changed module."""
        changed = copy.deepcopy(self.original)
        _what, change = list(_changes(_function(changed, self.function)))[self.number]
        change()
        return changed


def _is_requirement(node: ast.stmt) -> bool:
    """A statement `_require(condition, reason)`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    return isinstance(node.value.func, ast.Name) and node.value.func.id == "_require"


def _bodies(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield body


Change = tuple[str, Callable[[], None]]


def _changes(function: ast.FunctionDef) -> Iterator[Change]:
    """What can be changed in a function, each with the change itself."""
    for body in _bodies(function):
        for index, node in enumerate(body):
            if not _is_requirement(node):
                continue
            text = ast.unparse(node)

            def leave_out(body: list[ast.stmt] = body, index: int = index) -> None:
                body[index] = ast.copy_location(ast.Pass(), body[index])

            yield f"leave out: {text}", leave_out
            if index + 1 < len(body) and _is_requirement(body[index + 1]):

                def exchange(body: list[ast.stmt] = body, index: int = index) -> None:
                    body[index], body[index + 1] = body[index + 1], body[index]

                yield f"exchange: {text}; {ast.unparse(body[index + 1])}", exchange
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            for index, operator in enumerate(node.ops):

                def turn(node: ast.Compare = node, index: int = index) -> None:
                    node.ops[index] = _TURNED[type(node.ops[index])]()

                place = f" ({index + 1})" if len(node.ops) > 1 else ""
                yield f"turn {type(operator).__name__}{place}: {ast.unparse(node)}", turn
        elif isinstance(node, ast.BoolOp):

            def connect(node: ast.BoolOp = node) -> None:
                node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()

            yield f"connect: {ast.unparse(node)}", connect
        elif isinstance(node, ast.Constant) and type(node.value) is int:

            def move(node: ast.Constant = node) -> None:
                node.value += 1

            yield f"one more than {node.value} (line {node.lineno - function.lineno})", move


def mutants(subject: Subject) -> Iterator[Mutant]:
    """Every mutant of the functions that judge."""
    tree = ast.parse(subject.source)
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    missing = subject.judges.difference(names)
    if missing:
        raise SystemExit(f"{subject.file} has no {', '.join(sorted(missing))}")
    for name in names:
        if name not in subject.judges:
            continue
        for number, (what, _change) in enumerate(_changes(_function(tree, name))):
            yield Mutant(name, what, number, tree)


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise KeyError(name)


class _Remembered(dict[Any, Any]):
    """The algorithms, whose answers are kept: no mutant changes them, and they take nearly all of the time."""

    def __init__(self, algorithms: dict[Any, Any]) -> None:
        super().__init__({pair: _Algorithm(known) for pair, known in algorithms.items()})


class _Algorithm:
    def __init__(self, known: Any) -> None:
        self._known = known
        self._answers: dict[tuple[bytes, bytes, bytes], Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def check(self, key: bytes, signature: bytes, message: bytes) -> Any:
        """As the algorithm's own."""
        case = (bytes(key), bytes(signature), bytes(message))
        if case not in self._answers:
            self._answers[case] = self._known.check(*case)
        return self._answers[case]


def _load(tree: ast.Module, algorithms: _Remembered) -> types.ModuleType:
    module = types.ModuleType("mutant")
    module.__file__ = str(SPEC / "mutant.py")
    sys.modules["mutant"] = module  # dataclasses look their module up
    exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), module.__dict__)
    module.__dict__["ALGORITHMS"] = algorithms
    return module


class Campaign:
    """The vectors of a subject, and what they notice."""

    def __init__(self, subject: Subject) -> None:
        self.vectors = subject.load()
        self._judge = subject.judge
        self._algorithms = _Remembered(subject.algorithms)

    def passes(self, tree: ast.Module) -> bool:
        """Whether a variant of the subject answers every vector as it must."""
        try:
            module = _load(tree, self._algorithms)
        except Exception:  # a mutant that cannot even be loaded is noticed
            return False
        return all(self._answers(module))

    def _answers(self, module: types.ModuleType) -> Iterator[bool]:
        """For each vector, whether the module answers as it must."""
        for vector in self.vectors:
            try:
                answer = self._judge(vector, module)
            except Exception:  # a mutant that fails is noticed
                answer = "failed"
            yield answer == vector.expected


def load_stored(subject: Subject) -> tuple[dict[str, int], dict[tuple[str, str], str]]:
    """The counts of mutants.toml, and why survivors are right."""
    stored = tomllib.loads((SPEC / "mutants.toml").read_text(encoding="utf-8"))
    survivors = [entry for entry in stored["survivor"] if entry["file"] == subject.file]
    reasons = {(entry["function"], entry["what"]): entry["why"] for entry in survivors}
    return stored["run"][subject.file], reasons


def main() -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print counts and survivors as JSON")
    files = [subject.file for subject in SUBJECTS]
    parser.add_argument("--only", choices=files, help="mutate one of the verifiers")
    options = parser.parse_args()
    chosen = [subject for subject in SUBJECTS if options.only in (None, subject.file)]
    return max(_run(subject, options.json) for subject in chosen)


def _run(subject: Subject, as_json: bool) -> int:
    """Mutates one verifier; returns the exit code."""
    campaign = Campaign(subject)
    if not campaign.passes(ast.parse(subject.source)):
        print(f"mutate_verify.py: {subject.file} itself fails a vector", file=sys.stderr)
        return 2
    counts, reasons = load_stored(subject)
    start, count, survivors = time.monotonic(), 0, []
    for mutant in mutants(subject):
        count += 1
        if sys.stderr.isatty():
            print(f"\r{count} mutants, {len(survivors)} survive", end="", file=sys.stderr)
        if campaign.passes(mutant.tree()):
            survivors.append((mutant.function, mutant.what))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    unexplained = [survivor for survivor in survivors if survivor not in reasons]
    needless = [key for key in reasons if key not in survivors]
    summary = {"mutants": count, "killed": count - len(survivors)}
    if as_json:
        print(json.dumps({"file": subject.file, **summary, "survivors": survivors}, indent=1))
    else:
        killed, by = summary["killed"], len(campaign.vectors)
        print(f"{count} mutants of {subject.file}, {killed} killed by {by} vectors")
        print(f"{len(survivors)} survive, of which {len(survivors) - len(unexplained)} are explained")
        print(f"({time.monotonic() - start:.0f} s)", file=sys.stderr)
    for function, what in unexplained:
        print(f"not explained: {function}: {what}", file=sys.stderr)
    for function, what in needless:
        print(f"explained, and killed: {function}: {what}", file=sys.stderr)
    if summary != counts:
        print(f"mutants.toml has other counts of {subject.file}: {counts}", file=sys.stderr)
    return 1 if unexplained or needless or summary != counts else 0


if __name__ == "__main__":
    sys.exit(main())
