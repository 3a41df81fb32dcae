"""Executes microcode an instruction at a time, without pipelines: what a program computes, and in how many cycles."""

from __future__ import annotations

import random

import curve
from microcode import (
    ADDS,
    BLIND,
    CHECKS,
    CONDS,
    CONTROLS,
    FIELDS,
    IN_A,
    IN_HIGH,
    IN_LOW,
    IN_R,
    MULTIPLES,
    OUT,
    K,
    N,
    S,
    Z,
)

M = 2**256 - 1
ADD_NAMES = {index: name for name, index in ADDS.items()}
COND_NAMES = {index: name for name, index in CONDS.items()}
CHECK_NAMES = {index: name for name, index in CHECKS.items()}
# What a signature needs.
VERIFICATION = [name for name in CHECKS if name != "scalar" and not name.endswith("_equal")] + ["x_equal", "y_equal"]
CONTROL_NAMES = {index: name for name, index in CONTROLS.items()}


def fold(value: int) -> int:
    """Modulo 2^256 - 38, below 2^256, as the unit leaves it."""
    while value < 0 or value > M:
        value = (value & M) + 38 * (value >> 256)
    return value


def markers(k: int, width: int) -> list[int]:
    """Positions at which the non-adjacent form of that width has a digit."""
    result, carry, skip = [], 0, 0
    for at in range(256):
        bit = k >> at & 1
        if skip:
            skip -= 1
            carry = bit
        elif bit ^ carry:
            result.append(at)
            skip = width - 1
    return result


def window(k: int, at: int, width: int) -> tuple[int, int]:
    """Index and sign of the odd digit at a position."""
    bits = k >> at + 1 & (1 << width - 1) - 1
    sign, bits = bits >> width - 2, bits & (1 << width - 2) - 1
    return (bits ^ (1 << width - 2) - 1 if sign else bits), sign


class Machine:
    def __init__(self, rom: dict[int, int], entries: dict[str, int], rows: int, is_blinded: bool) -> None:
        self.rom, self.entries, self.rows, self.is_blinded = rom, entries, rows, is_blinded
        self.registers = [random.getrandbits(256) for _ in range(64)]
        self.evidence: dict[str, bool] = {}
        self.slot = 0

    def number(self, at: int) -> int:
        return sum((self.rom[at + word] & 2**64 - 1) << 64 * word for word in range(4))

    def run(self, program: str) -> int:
        pc, cycles, count, cond, index = self.entries[program], 0, 0, 0, 0
        digits: list[tuple[int, int]] = []
        position, digit, digit_a = 0, (0, 0), (0, 0)
        marks_k: set[int] = set()
        marks_s: set[int] = set()
        r = self.registers
        while True:
            word = self.rom[pc]
            f = {name: word >> at & (1 << width) - 1 for name, (at, width) in FIELDS.items()}
            cycles += f["wait"] + 1
            shown_digit, shown_a, shown_index = digit, digit_a, index
            if f["next_digit"]:
                digit = digits.pop(0)
            index = (index + f["next_index"]) % 8
            results = []
            if f["mul"]:
                a, b = r[f["mul_a"]], 0
                if f["b_from"] == 0:
                    b = r[f["mul_b"]]
                elif f["b_from"] == 1:
                    b = self.number(480 + 4 * f["mul_b"])
                else:
                    entry, sign = shown_digit if f["b_from"] == 2 else shown_a
                    kind = f["mul_b"] ^ sign if f["mul_b"] < 2 else f["mul_b"]
                    if f["b_from"] == 3:
                        b = r[MULTIPLES + 4 * entry + kind]
                    elif marks_s or marks_k:
                        b = self.number(384 + 4 * (kind * 8 + entry))
                    else:
                        b = self.number(4 * (kind * 32 + entry))
                to = f["mul_to"] + (4 * shown_index if f["mul_indexed"] else 0)
                if f["raw"]:
                    results.append((to, a * b & M))
                    if not f["low"]:
                        results.append((to + 1, a * b >> 256))
                else:
                    results.append((to, fold(a * b)))
            name = ADD_NAMES[f["add"]]
            if name != "none":
                a, b = r[f["add_a"]], r[f["add_b"]]
                small = 19 if f["add_b"] == 15 else f["add_b"]
                masked = a & 2**255 - 1
                sign = (shown_a if f["sign_of_a"] else shown_digit)[1]
                if name in ("add_signed", "sub_signed"):
                    name = "add" if (name == "add_signed") ^ sign else "sub"
                value = {
                    "add": a + b, "sub": a - b, "add_raw": a + b, "add_carry": a + b + cond, "sub_raw": a - b,
                    "select": a if cond else b, "load": small, "add_small": a + small, "mask_small": masked + small,
                    "mask_if": masked + (small if cond else 0), "select_masked": masked if cond else b,
                }[name]
                carry = value < 0 or value > M
                value = fold(value) if name in ("add", "sub") else value & M
                to = f["add_to"] + (4 * shown_index if f["add_indexed"] else 0)
                results.append((to, value))
                kind = COND_NAMES[f["cond"]]
                top = value >> 255
                if kind == "carry":
                    cond = int(carry)
                elif kind == "top":
                    cond = top
                elif kind == "parity":
                    cond ^= value & 1
                if f["check"]:
                    check = CHECK_NAMES[f["check"]]
                    self.evidence[check] = {
                        "a_canonical": not top, "r_canonical": not top, "s_below_l": carry, "s_below_l_again": carry,
                        "a_order": value != 0, "r_order": value != 0, "scalar": value != 0,
                    }.get(check, value == 0)
            # Of two results of one instruction that of the adder is written first.
            for to, value in reversed(results):
                r[to] = value
            control, target = CONTROL_NAMES[f["control"]], f["target"]
            pc += 1
            if control == "jump":
                pc = target
            elif control == "loop":
                if count:
                    pc, count = target, count - 1
            elif control == "count":
                count = target
            elif control == "comb":
                bits = (r[N] | (r[OUT] << 256 if self.is_blinded else 0)) >> 1
                bits |= 1 << 10 * self.rows - 1
                for row in range(self.rows - 1, -1, -1):
                    for table in range(2):
                        teeth = [bits >> 2 * self.rows * t + self.rows * table + row & 1 for t in range(5)]
                        entry = sum((teeth[t] ^ teeth[4] ^ 1) << t for t in range(4))
                        digits.append((16 * table + entry, 1 - teeth[4]))
                digits.append((0, 0))
            elif control == "recode":
                marks_k, marks_s = set(markers(r[K], 5)), set(markers(r[S], 5))
                position = max(marks_k | marks_s, default=-1) + 1
            elif control == "position":
                position -= 1
                digit, digit_a = window(r[S], position, 5) if position >= 0 else (0, 0), (0, 0)
                if position >= 0:
                    digit_a = window(r[K], position, 5)
                is_sum = position in marks_k or position in marks_s
                pc = target + (2 if position < 0 else int(is_sum))
            elif control == "summands":
                pc = target + int(position in marks_k) + 2 * int(position in marks_s)
            elif control == "end":
                return cycles

    # --- trials ---

    def base(self, scalar: int) -> tuple[bytes, int]:
        self.registers[N] = scalar
        if self.is_blinded:
            self.registers[BLIND], self.registers[Z] = random.getrandbits(64), random.getrandbits(256)
        cycles = self.run("base")
        assert self.registers[N] == (scalar if scalar % 2 else scalar + curve.L)
        return self.registers[OUT].to_bytes(32, "little"), cycles

    def has(self, *names: str) -> bool:
        return all(self.evidence.get(name, False) for name in names)

    def verify(self, key: bytes, r: bytes, s: int, digest: int, program: str = "challenge") -> tuple[bool, int]:
        regs = self.registers
        regs[IN_A], regs[IN_R], regs[S] = int.from_bytes(key, "little"), int.from_bytes(r, "little"), s
        regs[IN_LOW], regs[IN_HIGH] = digest & M, digest >> 256
        self.evidence = {}
        cycles = self.run(program) + self.run("check")
        return self.has(*VERIFICATION), cycles

    def sign(self, scalar: int, prefix: int, nonce: int, challenge: int) -> tuple[bytes, bytes, int, bool]:
        regs = self.registers
        regs[IN_LOW], regs[IN_HIGH] = scalar, prefix
        self.evidence = {}
        self.run("load")
        self.run("load_again")
        assert self.has("scalar", "key_equal", "prefix_equal")
        self.run("key")
        self.base(regs[N])
        self.run("keep_public")
        public = regs[OUT]
        assert public.to_bytes(32, "little") == curve.encode(curve.multiply(scalar % curve.L, curve.BASE))
        regs[IN_LOW], regs[IN_HIGH] = nonce & M, nonce >> 256
        self.run("challenge")
        self.evidence = {}
        self.run("nonce")
        self.run("challenge")
        self.base(regs[N])
        self.run("keep_r")
        assert self.has("scalar", "nonce_equal")
        r = regs[OUT]
        regs[IN_LOW], regs[IN_HIGH] = challenge & M, challenge >> 256
        self.run("challenge")
        self.run("respond")
        s = regs[S]
        self.evidence = {}
        self.run("challenge")
        self.run("check")
        good = self.has(*VERIFICATION)
        self.evidence = {}
        self.run("prefix")
        assert regs[N] == prefix and self.has("prefix_equal")
        return r.to_bytes(32, "little"), public.to_bytes(32, "little"), s, good

    def verifications(self, count: int) -> list[int]:
        """Cycles of some."""
        times = []
        for _ in range(count):
            key, r, k = (random.randrange(curve.L) for _ in range(3))
            public, made = (curve.encode(curve.multiply(number, curve.BASE)) for number in (key, r))
            good, cycles = self.verify(public, made, (r + k * key) % curve.L, k)
            assert good
            times.append(cycles)
        return sorted(times)

    def try_all(self) -> None:
        """Raises if a program computes something else than `curve`."""
        times = set()
        for scalar in (1, 2, 3, curve.L - 1, curve.L - 2, 2**252, random.randrange(curve.L)):
            got, cycles = self.base(scalar)
            times.add(cycles)
            assert got == curve.encode(curve.multiply(scalar, curve.BASE)), f"base product of {scalar}"
        assert len(times) == 1
        for scalar in (2**254 + 8, random.getrandbits(255), 1):
            nonce, challenge = random.getrandbits(512), random.getrandbits(512)
            r, public, s, good = self.sign(scalar, random.getrandbits(256), nonce, challenge)
            assert r == curve.encode(curve.multiply(nonce % curve.L, curve.BASE))
            assert s == (nonce + challenge * scalar) % curve.L, "S"
            assert good, "a signature does not verify"
            assert self.verify(public, r, s, challenge)[0]
            assert not self.verify(public, r, s ^ 2, challenge)[0]
            assert not self.verify(public, r, s + curve.L, challenge)[0]
