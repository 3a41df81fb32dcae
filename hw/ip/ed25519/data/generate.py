#!/usr/bin/env python3
"""Writes `rtl/ed25519_rom_pkg.sv`: tables, constants and microcode of the engine.

Programs are tried on random numbers before they are written. `--check` compares with the file instead.
"""

from __future__ import annotations

import pathlib
import sys

import curve
import microcode
from interpreter import Machine
from microcode import CONSTANTS, CONTROLS, FIELDS, VECTORS, Programs
from schedule import Instruction, close_up, schedule

ROWS = 26
WORDS = 1024
# Words of the ROM: summands of the comb, of the window, constants, microcode.
COMB, WINDOW, CONSTANT, CODE = 0, 384, 480, 544
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "rtl/ed25519_rom_pkg.sv"


def words_of(number: int) -> list[int]:
    return [number >> 64 * index & 2**64 - 1 for index in range(4)]


def tables(rows: int) -> dict[int, int]:
    """Numbers of a table lie by their kind, then by their index: an address is made of bits, without a sum."""
    rom: dict[int, int] = {}
    for at, points in ((COMB, curve.comb(rows)), (WINDOW, curve.odd_multiples(curve.BASE, 8))):
        for index, point in enumerate(points):
            for kind, number in enumerate(curve.addend(point)):
                for word, value in enumerate(words_of(number)):
                    rom[at + 4 * (kind * len(points) + index) + word] = value
    for index, number in enumerate(CONSTANTS.values()):
        for word, value in enumerate(words_of(number)):
            rom[CONSTANT + 4 * index + word] = value
    return rom


def assemble(programs: Programs) -> tuple[dict[int, Instruction], dict[str, int]]:
    """Instructions by address, and addresses of segments."""
    code: dict[int, Instruction] = {}
    places: dict[str, int] = {}
    vectors = {}
    at = CODE
    for name, members in VECTORS.items():
        vectors[name] = at
        for offset, member in members.items():
            places[member] = at + offset
        at += 4
    for segment in programs.segments:
        rest = segment.code
        if segment.name in places:
            # Its first instruction is in the vector, and leads to the others.
            first = rest[0]
            if len(rest) > 1:
                assert first.control == "next"
                first = Instruction(first.wait, first.fields, "jump", at)
            code[places[segment.name]] = first
            rest = rest[1:]
        else:
            places[segment.name] = at
        for instruction in rest:
            code[at] = instruction
            at += 1
    assert at <= WORDS, f"the microcode has {at - CODE} instructions"
    for instruction in code.values():
        if isinstance(instruction.target, str):
            table = vectors if instruction.control in ("position", "summands") else places
            instruction.target = table[instruction.target]
    return code, places


def word_of(instruction: Instruction) -> int:
    fields = dict(instruction.fields)
    fields["wait"], fields["control"] = instruction.wait, CONTROLS[instruction.control]
    assert isinstance(instruction.target, int)
    fields["target"] = instruction.target
    word = 0
    for name, value in fields.items():
        at, width = FIELDS[name]
        assert 0 <= value < 1 << width, (name, value)
        word |= value << at
    return word


def build(rows: int) -> tuple[dict[int, int], dict[int, Instruction], Programs, dict[str, int]]:
    programs = Programs()
    programs.all(rows)
    schedule(programs.segments)
    close_up(programs.segments)
    code, places = assemble(programs)
    rom = tables(rows) | {at: word_of(instruction) for at, instruction in code.items()}
    entries = {name: places[segment] for name, segment in programs.entries.items()}
    return rom, code, programs, entries


def text(rom: dict[int, int], entries: dict[str, int]) -> str:
    lines = [
        "// Tables, constants and microcode: written by data/generate.py, not by hand.",
        "",
        "package ed25519_rom_pkg;",
        f"  parameter int unsigned RomWords = {WORDS};",
        "",
        "  // Where parts of the ROM begin.",
        f"  parameter logic [9:0] RomConstants = 10'd{CONSTANT};",
        "",
        "  // Where programs begin.",
    ]
    for name, at in entries.items():
        words = "".join(word.capitalize() for word in name.split("_"))
        lines.append(f"  parameter logic [9:0] Entry{words} = 10'd{at};")
    lines += ["", f"  parameter logic [71:0] Rom [{WORDS}] = '{{"]
    rows = [f"    72'h{rom.get(at, 0):018x}" for at in range(WORDS)]
    return "\n".join([*lines, ",\n".join(rows), "  };", "endpackage", ""])


def main() -> int:
    rom, code, programs, entries = build(ROWS)
    if "--report" in sys.argv:
        for segment in programs.segments:
            print(f"{segment.name:20} {len(segment.code):3} instructions {segment.length:5} cycles")
        print(f"{max(code) + 1 - CODE} words of microcode")
    machine = Machine(rom, entries, ROWS)
    machine.try_all()
    if "--report" in sys.argv:
        print("base product:", machine.base(5)[1], "verifications:", machine.verifications(20))
    result = text(rom, entries)
    if "--check" in sys.argv:
        if OUTPUT.read_text(encoding="utf-8") != result:
            print(f"{OUTPUT.name} is not what {pathlib.Path(__file__).name} writes", file=sys.stderr)
            return 1
        return 0
    OUTPUT.write_text(result, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
