"""Accessors in Rust, on top of `device/regs/src/lib.rs`: not a line of unsafe code."""

from __future__ import annotations

import textwrap

from model import Enum, Field, Map, Register, Unsupported

INTEGERS = (8, 16, 32)
# Of a comment, without its prefix.
WIDTH = 92


def camel(name: str) -> str:
    """The name of a type. Descriptions may write registers in capitals."""
    return "".join(part.capitalize() for part in name.split("_"))


def doc(indent: str, *texts: str) -> str:
    """Comments of one or more paragraphs."""
    paragraphs = [
        "".join(f"{indent}/// {line}\n" for line in textwrap.wrap(sentence(text), WIDTH))
        for text in texts
        if text
    ]
    return f"{indent}///\n".join(paragraphs)


def sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def module(stem: str, maps: list[Map]) -> str:
    """A source file: enumerations, then the registers of each map."""
    out = f"//! Registers of `{stem}`.\n\n"
    is_only = len(maps) == 1 and not maps[0].part
    if not is_only:
        names = "\n".join(f"//! - [`{one.part or one.name}`]: {sentence(one.title)}" for one in maps)
        out = f"//! Registers of `{stem}`, in {len(maps)} maps:\n//!\n{names}\n\n"
    enums = {field.encode.name: field.encode for one in maps for field in fields(one) if field.encode}
    body = "".join(enumeration(enum) for enum in enums.values())
    if is_only:
        return out + imports(maps[0], "") + "\n" + body + registers(maps[0])
    for one in maps:
        inner = imports(one, "    ", {field.encode.name for field in fields(one) if field.encode})
        inner += "\n" + registers(one)
        body += f"{doc('', one.title)}pub mod {one.part or one.name} {{\n{inner}}}\n\n"
    return out + body


def fields(one: Map) -> list[Field]:
    return [field for register in one.registers for field in register.fields]


def imports(one: Map, indent: str, enums: set[str] | None = None) -> str:
    used = {access(register) for register in one.registers}
    used |= {"Array" if register.count else "Register" for register in one.registers}
    used |= {"Block", "Map"}
    if any(not register.is_word for register in one.registers):
        used.add("Value")
    out = "".join(f"{indent}use super::{camel(name)};\n" for name in sorted(enums or ()))
    return f"{out}{indent}use crate::{{{', '.join(sorted(used))}}};\n"


def access(register: Register) -> str:
    if register.readable and register.writable:
        return "ReadWrite"
    return "ReadOnly" if register.readable else "WriteOnly"


def enumeration(enum: Enum) -> str:
    name = camel(enum.name)
    variants = "".join(f"{doc('', one.about)}{camel(one.name)} = {one.number},\n" for one in enum.choices)
    arms = "".join(f"{one.number} => Some(Self::{camel(one.name)}),\n" for one in enum.choices)
    return (
        f"/// Values of the field `{enum.name}`.\n"
        "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[repr(u32)]\n"
        f"pub enum {name} {{\n{variants}}}\n\n"
        f"impl {name} {{\n/// The one with this value, if there is one.\n#[must_use]\n"
        "pub const fn from_bits(bits: u32) -> Option<Self> {\n"
        f"match bits {{\n{arms}_ => None,\n}}\n}}\n}}\n\n"
    )


def registers(one: Map) -> str:
    marker = camel(one.part) if one.part else camel(one.name)
    size = one.size
    methods = "".join(method(register) for register in one.registers)
    values: dict[str, Register] = {}
    for register in one.registers:
        other = values.setdefault(register.type_name, register)
        if other.fields != register.fields:
            raise Unsupported(f"two registers of the type {register.type_name} differ")
    types = "".join(value(register) for register in values.values() if not register.is_word)
    return (
        f"/// Names the map in the type of a block.\npub struct {marker}Map;\n\n"
        f"impl Map for {marker}Map {{\nconst SIZE: usize = {size:#x};\n}}\n\n"
        f"{doc('', one.title, one.about)}pub type {marker} = Block<{marker}Map>;\n\n"
        f"impl {marker} {{\n{methods}}}\n\n{types}"
    )


def method(register: Register) -> str:
    kind = "u32" if register.is_word else camel(register.type_name)
    what = register.fields[0].about if register.is_word else ""
    comment = doc("", register.title, register.about or ("" if what == "All of it." else what))
    if register.count is None:
        returns = f"Register<'_, {kind}, {access(register)}>"
        call = f"self.register::<{register.offset:#x}, _, _>()"
    else:
        if register.stride != 4:
            raise Unsupported(f"{register.name} has gaps between its elements")
        returns = f"Array<'_, {kind}, {access(register)}, {register.count}>"
        call = f"self.array::<{register.offset:#x}, _, _, {register.count}>()"
    return (
        f"{comment}#[must_use]\npub const fn {register.name.lower()}(&self) -> {returns} {{\n{call}\n}}\n\n"
    )


def value(register: Register) -> str:
    """The type of what is read from a register, or written to it."""
    name = camel(register.type_name)
    reset = sum((field.reset or 0) << field.low for field in register.fields)
    accessors = ""
    for field in register.fields:
        if field.readable:
            accessors += getter(field)
        if field.writable:
            accessors += setter(field)
    return (
        f"/// Value of the register: {lower(register.title)}.\n"
        "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n"
        f"pub struct {name}(u32);\n\n"
        f"impl Value for {name} {{\n"
        f"fn from_bits(bits: u32) -> Self {{\nSelf(bits)\n}}\n\n"
        f"fn to_bits(self) -> u32 {{\nself.0\n}}\n}}\n\n"
        f"impl {name} {{\n/// After reset.\npub const RESET: Self = Self({reset:#x});\n\n{accessors}}}\n\n"
    )


def lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).removesuffix(".")


def bits_of(field: Field) -> str:
    """The value of a field, at the right end."""
    shifted = f"(self.0 >> {field.low})" if field.low else "self.0"
    return f"{shifted} & {(1 << field.width) - 1:#x}" if field.width < 32 else shifted


def getter(field: Field) -> str:
    head = f"{doc('', field.about or field.name)}#[must_use]\npub const fn {field.name.lower()}(self) -> "
    if field.encode:
        name = camel(field.encode.name)
        return f"{head}Option<{name}> {{\n{name}::from_bits({bits_of(field)})\n}}\n\n"
    if field.width == 1:
        return f"{head}bool {{\nself.0 & {field.mask:#x} != 0\n}}\n\n"
    width = next(width for width in INTEGERS if field.width <= width)
    cast = "" if width == 32 else f" as u{width}"
    bits = bits_of(field)
    return f"{head}u{width} {{\n{f'({bits})' if cast else bits}{cast}\n}}\n\n"


def setter(field: Field) -> str:
    width = next(width for width in INTEGERS if field.width <= width)
    kind = "bool" if field.width == 1 else f"u{width}"
    kind = camel(field.encode.name) if field.encode else kind
    raw = "value" if kind == "u32" else "value as u32"
    narrow = f"({raw} & {(1 << field.width) - 1:#x})" if field.width not in (1, *INTEGERS) else f"({raw})"
    shifted = f"({narrow} << {field.low})" if field.low else narrow
    # Of a field that is the whole register nothing else is left.
    bits = raw if field.width == 32 else f"(self.0 & !{field.mask:#x}) | {shifted}"
    return (
        f"{doc('', 'With this field set: ' + lower(field.about or field.name))}#[must_use]\n"
        f"pub const fn with_{field.name.lower()}(self, value: {kind}) -> Self {{\n"
        f"Self({bits})\n}}\n\n"
    )
