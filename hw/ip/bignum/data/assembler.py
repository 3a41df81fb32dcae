"""Instructions of the engine for big numbers as words of its ROM. Encodings are read from `bignum_pkg.sv`."""

from __future__ import annotations

import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "rtl/bignum_pkg.sv"
# Fields of `instruction_t`, from the top.
FIELDS = {"op": 6, "kind": 3, "has_c": 1, "dst": 9, "a": 9, "b": 9, "c": 9, "ka": 4, "kb": 4, "sign": 2, "imm": 10}
WORDS = 1024
# Slots of the lower half of the memory, and of all of it; the bit of a slot that is relative to the pointer.
SLOTS, PRIVATE_SLOTS, POINTER = 128, 256, 256


def encodings() -> dict[str, int]:
    """Every name with a sized value."""
    text = PACKAGE.read_text(encoding="utf-8")
    found = re.findall(r"\b(\w+)\s*=\s*\d+'([dh])([0-9a-f]+)", text)
    return {name: int(value, 16 if base == "h" else 10) for name, base, value in found}


class Assembler:
    """Appends instructions; jumps are to labels, which may come later."""

    def __init__(self) -> None:
        self.codes = encodings()
        self.lines: list[dict[str, int | str]] = []
        self.labels: dict[str, int] = {}
        self.entries: dict[str, int] = {}
        self.data: list[int] = []
        self.numbers: dict[str, int] = {}
        # Slots that the program may name.
        self.slots = SLOTS

    def add(self, op: str, **fields: int | str) -> None:
        for name in ("dst", "a", "b", "c"):
            slot = fields.get(name, 0)
            assert isinstance(slot, str) or slot < self.slots or slot & POINTER, (op, fields)
        self.lines.append({"op": op, **fields})

    def label(self, name: str) -> None:
        assert name not in self.labels, name
        self.labels[name] = len(self.lines)

    def entry(self, name: str) -> None:
        self.entries[name] = len(self.lines)

    def words(self) -> list[int]:
        words = [self.word(line) for line in self.lines] + self.data
        assert len(words) <= WORDS
        return words

    def word(self, line: dict[str, int | str]) -> int:
        word = 0
        for name, bits in FIELDS.items():
            value = line.get(name, 0)
            if isinstance(value, str):
                value = self.place(value[1:]) if value.startswith("@") else self.codes[value]
            assert -(1 << bits - 1) <= value < 1 << bits, (line, name)
            word = word << bits | value & (1 << bits) - 1
        return word

    def place(self, name: str) -> int:
        """Of a label, or of a number, which is stored after all instructions."""
        return self.labels[name] if name in self.labels else len(self.lines) + self.numbers[name]

    def number(self, name: str, value: int, limbs: int) -> None:
        self.numbers[name] = len(self.data)
        self.data += [value >> 68 * limb & (1 << 68) - 1 for limb in range(limbs)]

    def array(self, name: str, words: int) -> None:
        """A number that begins so many words after the next one."""
        self.numbers[name] = len(self.data) + words

    @staticmethod
    def at(number: int) -> int:
        """The slot so many after the pointer."""
        return POINTER | number

    # --- instructions ---

    def linear(self, dst: int, a: int, b: int, ka: int, kb: int, sign: str = "SignIgnored") -> None:
        self.add("OpVector", kind="KindLinear", dst=dst, a=a, b=b, ka=ka, kb=kb, sign=sign)

    def product(self, dst: int, a: int, b: int, ka: int = 1, c: int | None = None, kb: int = 0) -> None:
        """ka a b / R + kb c, modulo the modulus."""
        self.add("OpVector", kind="KindProduct", has_c=int(c is not None), dst=dst, a=a, b=b, c=c or 0, ka=ka, kb=kb)

    def square(self, dst: int, a: int, c: int | None = None, kb: int = 0) -> None:
        self.add("OpVector", kind="KindSquare", has_c=int(c is not None), dst=dst, a=a, b=a, c=c or 0, ka=1, kb=kb)

    def reduce(self, dst: int, c: int) -> None:
        """c / R modulo the modulus; c has twice the limbs."""
        self.add("OpVector", kind="KindReduce", has_c=1, dst=dst, c=c, ka=1, kb=1)

    def select(self, dst: int, a: int, slots: int, entries: int) -> None:
        """The entry of the table at a that the digit names; all are read."""
        self.add("OpVector", kind="KindSelect", dst=dst, a=a, b=slots, c=entries // 2 - 1)

    def jump(self, condition: str, label: str) -> None:
        self.add("OpJump", a=condition, imm=f"@{label}")

    def call(self, label: str) -> None:
        self.add("OpCall", imm=f"@{label}")

    def back(self) -> None:
        self.add("OpReturn")

    def end(self, result: str, step: int = 0) -> None:
        self.add("OpEnd", b=step, imm=result)

    def step(self, number: int) -> None:
        self.add("OpStep", imm=number)

    def counter(self, count: int | None) -> None:
        """None is the doublings of R²."""
        self.add("OpCounter", a=int(count is None), imm=count or 0)

    def loop(self, label: str) -> None:
        self.add("OpLoop", imm=f"@{label}")

    def size(self, limbs: int | str) -> None:
        """A number, or what the encoding names."""
        named = isinstance(limbs, str)
        self.add("OpSize", a=limbs if named else "SizeImm", imm=0 if named else limbs)

    def modulus(self, slot: int, field: str) -> None:
        self.add("OpModulus", a=slot, b=field)

    def position(self, source: str, bit: int = 0) -> None:
        self.add("OpPosition", a=source, imm=bit)

    def bits(self, slot: int, count: int, moves: bool = True) -> None:
        self.add("OpBits", dst=int(moves), a=slot, b=count)

    def pointer(self, slot: int) -> None:
        self.add("OpPointer", a=slot)

    def constant(self, dst: int, name: str, entry_words: int | None = None) -> None:
        """A number, or that of an array, by the digit; each has 8 or 12 words."""
        assert entry_words in (None, 8, 12)
        self.add("OpConstant", has_c=int(entry_words is not None), dst=dst, b=(entry_words or 0) // 4, imm=f"@{name}")

    def inverse(self, slot: int) -> None:
        self.add("OpInverse", a=slot)

    def small(self, dst: int, value: int) -> None:
        self.add("OpSmall", dst=dst, imm=value)

    def set_bit(self, dst: int) -> None:
        self.add("OpSetBit", dst=dst)
