"""A header for C: offsets, masks, values. No types and no functions, so it suits assembly too."""

from __future__ import annotations

from model import Map


def header(stem: str, maps: list[Map]) -> str:
    guard = f"HARTLOCK_REGS_{stem.upper()}_H"
    out = f"#ifndef {guard}\n#define {guard}\n"
    enums = {}
    for one in maps:
        prefix = one.name.upper()
        out += f"\n/* {one.title}. */\n"
        out += define(f"{prefix}_SIZE", one.size)
        for register in one.registers:
            name = f"{prefix}_{register.name.upper()}"
            out += f"\n/* {register.title}. */\n"
            out += define(f"{name}_OFFSET", register.offset)
            if register.count:
                out += define(f"{name}_COUNT", register.count, "d")
            for field in register.fields:
                if field.encode:
                    enums[field.encode.name] = field.encode
                if not register.is_word:
                    out += define(f"{name}_{field.name.upper()}_SHIFT", field.low, "d")
                    out += define(f"{name}_{field.name.upper()}_MASK", field.mask)
    for enum in enums.values():
        out += f"\n/* Values of the field {enum.name}. */\n"
        for choice in enum.choices:
            name = f"{stem.upper()}_{enum.name.upper()}_{choice.name.upper()}"
            out += define(name, choice.value, "#x" if choice.is_pattern else "d")
    return out + "\n#endif\n"


def define(name: str, value: int, form: str = "#x") -> str:
    return f"#define {name} {value:{form}}\n"
