"""The page of a register map, in Markdown."""

from __future__ import annotations

import pathlib

from model import Field, Map, Register


def name(path: pathlib.PurePosixPath) -> str:
    """Of an engine, the only one in its folder; elsewhere there may be several."""
    return "registers.md" if path.parent.parent.name == path.stem else f"{path.stem}-registers.md"


def text(maps: list[Map]) -> str:
    if len(maps) == 1:
        return f"# Registers: {maps[0].title}\n\n" + body(maps[0], "##")
    titles = "".join(f"## {one.title}\n\n{body(one, '###')}\n" for one in maps)
    return "# Registers\n\n" + titles.rstrip("\n") + "\n"


def body(one: Map, heading: str) -> str:
    out = f"{one.about}\n\n" if one.about else ""
    out += "| Offset | Register | Access | |\n|---|---|---|---|\n"
    for register in one.registers:
        out += f"| {place(register)} | `{label(register)}` | {access(register)} | {register.title} |\n"
    for register in one.registers:
        out += f"\n{heading} {one.name}.{label(register)}, {place(register)}\n\n"
        if register.about:
            out += f"{register.about}\n\n"
        out += "| Bits | Field | Access | Reset | |\n|---|---|---|---|---|\n"
        out += "".join(row(field) for field in register.fields)
        for field in register.fields:
            if field.encode:
                out += f"\n| `{field.name}` | Value | |\n|---|---|---|\n"
                for choice in field.encode.choices:
                    out += f"| `{choice.name}` | {choice.number} | {choice.about} |\n"
    return out


def label(register: Register) -> str:
    return f"{register.name}[{register.count}]" if register.count else register.name


def place(register: Register) -> str:
    if register.count:
        last = register.offset + (register.count - 1) * register.stride
        return f"{register.offset:#05x} to {last:#05x}"
    return f"{register.offset:#05x}"


def row(field: Field) -> str:
    bits = f"{field.low + field.width - 1}:{field.low}" if field.width > 1 else f"{field.low}"
    reset = f"{field.reset:#x}" if field.reset is not None else ""
    how = ", ".join(part for part in (access(field), field.effect) if part)
    return f"| {bits} | `{field.name}` | {how} | {reset} | {field.about} |\n"


def access(what: Field | Register) -> str:
    if what.readable and what.writable:
        return "read, write"
    return "read" if what.readable else "write"
