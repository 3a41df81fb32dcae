"""The registers of an address map, as far as this project uses SystemRDL."""

from __future__ import annotations

from dataclasses import dataclass, field

from systemrdl.node import AddrmapNode, FieldNode, MemNode, RegNode
from systemrdl.rdltypes import OnReadType, OnWriteType, UserEnum


class Unsupported(Exception):
    """A feature of SystemRDL that the generators do not support."""


@dataclass(frozen=True)
class Choice:
    """A value of an enumeration."""

    name: str
    value: int
    about: str

    @property
    def number(self) -> str:
        """The value as Rust and readers write it: a large one is a pattern of bits and no count."""
        return f"{self.value:#011_x}" if self.is_pattern else f"{self.value}"

    @property
    def is_pattern(self) -> bool:
        return self.value > 0xFFFF


@dataclass(frozen=True)
class Enum:
    name: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Field:
    name: str
    low: int
    width: int
    about: str
    readable: bool
    writable: bool
    # What a write does besides storing, as a word for the page: "write one to clear".
    effect: str
    reset: int | None
    encode: Enum | None

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.low


@dataclass(frozen=True)
class Register:
    name: str
    # Of the type: registers of one type share it.
    type_name: str
    title: str
    about: str
    offset: int
    count: int | None
    stride: int
    fields: tuple[Field, ...]

    @property
    def readable(self) -> bool:
        return any(field.readable for field in self.fields)

    @property
    def writable(self) -> bool:
        return any(field.writable for field in self.fields)

    @property
    def is_word(self) -> bool:
        """A field of all 32 bits without names for values: no type is needed to take it apart."""
        return len(self.fields) == 1 and self.fields[0].width == 32 and not self.fields[0].encode


@dataclass(frozen=True)
class Map:
    name: str
    # The name without that of the file; empty if they are the same.
    part: str
    title: str
    about: str
    size: int
    registers: tuple[Register, ...] = field(default=())


# What a description says of the only field of a register that is a plain word.
WHOLE_WORD = "The field takes the whole word."

EFFECTS = {
    OnWriteType.woclr: "write 1 to clear",
    OnWriteType.woset: "write 1 to set",
    OnWriteType.wot: "write 1 to toggle",
    OnWriteType.wzc: "write 0 to clear",
    OnReadType.rclr: "cleared by reading",
}


def words(text: str | None) -> str:
    """A description on one line."""
    return " ".join((text or "").split())


def without(name: str, stem: str) -> str:
    """A name without that of its file in front."""
    return name.removeprefix(stem).lstrip("_")


def read(node: AddrmapNode, stem: str) -> Map:
    if not node.inst_name.startswith(stem):
        raise Unsupported(f"the map {node.inst_name} has to begin with the name of its file, {stem}")
    registers = []
    for child in node.children(unroll=False):
        if isinstance(child, RegNode):
            registers.append(read_register(child, stem))
        elif isinstance(child, MemNode):
            registers.append(read_memory(child))
        else:
            raise Unsupported(f"{child.get_path()} is neither a register nor a memory")
    return Map(
        name=node.inst_name,
        part=without(node.inst_name, stem),
        title=node.get_property("name"),
        about=words(node.get_property("desc")),
        size=node.size,
        registers=tuple(registers),
    )


def read_register(node: RegNode, stem: str) -> Register:
    if node.get_property("regwidth") != 32:
        raise Unsupported(f"{node.get_path()} is not 32 bits wide")
    if node.is_array and len(node.array_dimensions or []) != 1:
        raise Unsupported(f"{node.get_path()} has more than one dimension")
    # A property that is set on an instance gives it a type of its own, with digits for a name.
    type_name = node.inst.original_def.type_name if node.inst.original_def else None
    return Register(
        name=node.inst_name,
        type_name=without(type_name or node.inst_name, stem) or node.inst_name,
        title=words(node.get_property("name")),
        about=words(node.get_property("desc")),
        offset=node.raw_address_offset,
        count=node.array_dimensions[0] if node.is_array else None,
        stride=node.array_stride if node.is_array else 4,
        fields=tuple(read_field(child, stem) for child in node.fields()),
    )


def read_memory(node: MemNode) -> Register:
    """A window of words without fields: registers that are all the same."""
    if node.get_property("memwidth") != 32 or node.is_array or list(node.registers()):
        raise Unsupported(f"{node.get_path()} is not one plain memory of words of 32 bits")
    word = Field(
        name="word",
        low=0,
        width=32,
        about=WHOLE_WORD,
        readable=node.is_sw_readable,
        writable=node.is_sw_writable,
        effect="",
        reset=None,
        encode=None,
    )
    return Register(
        name=node.inst_name,
        type_name=node.inst_name,
        title=words(node.get_property("name")),
        about=words(node.get_property("desc")),
        offset=node.raw_address_offset,
        count=node.get_property("mementries"),
        stride=4,
        fields=(word,),
    )


def read_field(node: FieldNode, stem: str) -> Field:
    effects = [EFFECTS.get(node.get_property(name)) for name in ("onwrite", "onread")]
    if node.get_property("singlepulse"):
        effects.append("a pulse")
    reset = node.get_property("reset")
    if reset is not None and not isinstance(reset, int):
        raise Unsupported(f"the reset value of {node.get_path()} is a signal")
    return Field(
        name=node.inst_name,
        low=node.low,
        width=node.width,
        about=words(node.get_property("desc")),
        readable=node.is_sw_readable,
        writable=node.is_sw_writable,
        effect=", ".join(effect for effect in effects if effect),
        reset=reset,
        encode=read_enum(node.get_property("encode"), stem),
    )


def read_enum(encode: type[UserEnum] | None, stem: str) -> Enum | None:
    if encode is None:
        return None
    choices = (Choice(one.name, int(one.value), words(one.rdl_desc)) for one in encode)
    # `mode_e` is how RTL would name the type.
    return Enum(without(encode.type_name, stem).removesuffix("_e"), tuple(choices))
