"""Tables in Rust, for the macros of `device/regs/src/tables.rs`: not a line of unsafe code."""

from __future__ import annotations

import textwrap

from model import WHOLE_WORD, Enum, Field, Map, Register, Unsupported

INTEGERS = (8, 16, 32)
# Of a comment with its indent, without the slashes.
WIDTH = 100
OUTER = " " * 4
INNER = " " * 8


def camel(name: str) -> str:
    """The name of a type. Descriptions may write registers in capitals."""
    return "".join(part.capitalize() for part in name.split("_"))


def type_name(owner: str, name: str) -> str:
    """The name of a type: that of its map or file goes before its own, so that the crate has it once."""
    return camel(owner) + camel(name)


def doc(indent: str, *texts: str) -> str:
    """Comments of one or more paragraphs."""
    paragraphs = [
        "".join(f"{indent}/// {line}\n" for line in textwrap.wrap(sentence(text), WIDTH - len(indent)))
        for text in texts
        if text
    ]
    return f"{indent}///\n".join(paragraphs)


def sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def module(stem: str, maps: list[Map]) -> str:
    """A source file: tables of enumerations, then of the registers of each map and their values."""
    out = f"//! Registers of `{stem}`.\n"
    is_only = len(maps) == 1 and not maps[0].part
    if not is_only:
        names = "\n".join(f"//! - [`{one.part or one.name}`]: {sentence(one.title)}" for one in maps)
        out = f"//! Registers of `{stem}`, in {len(maps)} maps:\n//!\n{names}\n"
    enums = {field.encode.name: field.encode for one in maps for field in fields(one) if field.encode}
    out += table("choices", "".join(enumeration(stem, enum) for enum in enums.values()))
    if is_only:
        return out + registers(stem, maps[0])
    for one in maps:
        used = sorted({field.encode.name for field in fields(one) if field.encode})
        inner = "".join(f"use super::{type_name(stem, name)};\n" for name in used) + registers(stem, one)
        body = textwrap.indent(inner.removeprefix("\n"), "    ")
        out += f"\n{doc('', one.title)}pub mod {one.part or one.name} {{\n{body}}}\n"
    return out


def table(macro: str, rows: str) -> str:
    """A call of a macro of `tables.rs`."""
    return f"\n{macro}! {{\n{rows}}}\n" if rows else ""


def fields(one: Map) -> list[Field]:
    return [field for register in one.registers for field in register.fields]


def access(register: Register) -> str:
    if register.readable and register.writable:
        return "ReadWrite"
    return "ReadOnly" if register.readable else "WriteOnly"


def enumeration(stem: str, enum: Enum) -> str:
    rows = "".join(
        f"{doc(INNER, one.about)}{INNER}{camel(one.name)} = {one.number},\n" for one in enum.choices
    )
    return f"{OUTER}/// Values of the field `{enum.name}`.\n{OUTER}{type_name(stem, enum.name)} {{\n{rows}{OUTER}}}\n"


def registers(stem: str, one: Map) -> str:
    name = camel(one.name)
    methods = "".join(method(one.name, register) for register in one.registers)
    values: dict[str, Register] = {}
    for register in one.registers:
        other = values.setdefault(register.type_name, register)
        if other.fields != register.fields:
            raise Unsupported(f"two registers of the type {register.type_name} differ")
    types = "".join(value(stem, one.name, register) for register in values.values() if not register.is_word)
    head = f"{doc(OUTER, one.title, one.about)}{OUTER}{name}Registers: {name}Map, {one.size:#x} bytes"
    return table("block", f"{head} {{\n{methods}{OUTER}}}\n") + table("values", types)


def method(owner: str, register: Register) -> str:
    kind = "u32" if register.is_word else type_name(owner, register.type_name)
    what = register.fields[0].about if register.is_word else ""
    comment = doc(INNER, register.title, register.about or ("" if what == WHOLE_WORD else what))
    if register.count is not None:
        if register.stride != 4:
            raise Unsupported(f"{register.name} has gaps between its elements")
        kind = f"[{kind}; {register.count}]"
    name = register.name.lower()
    return f"{comment}{INNER}{register.offset:#x} {name}: {kind} {access(register)},\n"


def value(stem: str, owner: str, register: Register) -> str:
    """The type of what is read from a register, or written to it."""
    reset = sum((field.reset or 0) << field.low for field in register.fields)
    rows = "".join(accessors(stem, field) for field in register.fields)
    head = f"{OUTER}{type_name(owner, register.type_name)}: {reset:#x} after reset"
    return f"{doc(OUTER, f'A value of this register: {lower(register.title)}')}{head} {{\n{rows}{OUTER}}}\n"


def lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).removesuffix(".")


def accessors(stem: str, field: Field) -> str:
    """A field with its bits, the names of its accessors, and its type."""
    is_flag = field.width == 1 and not field.encode
    bits = f"[{field.low}]" if is_flag else f"[{field.low + field.width - 1}:{field.low}]"
    width = next(width for width in INTEGERS if field.width <= width)
    kind = type_name(stem, field.encode.name) if field.encode else "bool" if is_flag else f"u{width}"
    name = field.name.lower()
    get, set_ = name if field.readable else "_", f"with_{name}" if field.writable else "_"
    return f"{doc(INNER, field.about or field.name)}{INNER}{bits} {get} {set_}: {kind},\n"
