"""A t-test on toggles of the masked cipher's netlist: fixed against random plaintext (Goodwill et al., 2011).

The netlist is compiled to a program that runs 64 traces at once. A sample is the number of signals that change from a
cycle to the next, of all cells. Samples go from the first cycle of the first round to the last of the last: in the cycle before
them the plaintext is at a port, and in the cycle after them the ciphertext, which are no secrets. Each trace has fresh
masks, of its key too.

Delays are zero, so there are no glitches: those are in `probing.py`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

from gates import Netlist, cell_inputs, compiled, signal, values

SAMPLES = 70
# Statements of a function.
PART = 200
# |t| above it tells both sets apart.
THRESHOLD = 4.5

HEAD = """
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define NOINLINE __attribute__((noinline))
typedef uint64_t V;
static V state;
static V any() {
  V z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static V bit(int value) { return value & 1 ? ~V(0) : V(0); }
"""

MAIN = """
// Sums of 64 lanes at once, in bits of rising weight.
static V sums[16];
static void add(V t) {
  for (int i = 0; t && i < 16; i++) { V carry = sums[i] & t; sums[i] ^= t; t = carry; }
}

static bool is_stuck;
static void cycle(bool counts) {
  for (int i = 0; i < 128; i++) random_i[i] = is_stuck ? 0 : any();
  memcpy(old, n, sizeof n);
  logic();
  if (counts) {
    memset(sums, 0, sizeof sums);
    // Three signals at once are a full adder.
    for (int i = 0; i + 2 < SIGNALS; i += 3) {
      V a = n[i] ^ old[i], b = n[i + 1] ^ old[i + 1], c = n[i + 2] ^ old[i + 2];
      add(a ^ b ^ c);
      V carry = (a & b) | (c & (a ^ b));
      for (int k = 1; carry && k < 16; k++) { V next = sums[k] & carry; sums[k] ^= carry; carry = next; }
    }
  }
}

int main(int, char **argv) {
  long batches = atol(argv[1]);
  state = strtoull(argv[2], nullptr, 10);
  is_stuck = atoi(argv[3]);
  static double count[2], mean[2][SAMPLES], spread[2][SAMPLES];
  V fixed[2] = {any(), any()}, key[4] = {any(), any(), any(), any()};
  for (long batch = 0; batch < batches; batch++) {
    start();
    len(2);
    for (int word = 0; word < 8; word++) {
      for (int i = 0; i < 6; i++) key_index_i[i] = bit(word >> i);
      for (int i = 0; i < 32; i++) key_word_i[i] = bit(key[word / 2] >> (32 * (word % 2) + i));
      key_write_i[0] = ~V(0);
      cycle(false);
      clock();
    }
    key_write_i[0] = 0;
    expand_i[0] = ~V(0);
    cycle(false);
    clock();
    expand_i[0] = 0;
    int waited = 0;
    do { cycle(false); clock(); } while (!(IDLE & 1) && waited++ < 300);
    if (waited >= 300) { fprintf(stderr, "the expansion does not end\\n"); return 2; }
    V is_random = any();
    for (int i = 0; i < 128; i++) block_i[i] = (is_random & any()) | (~is_random & bit(fixed[i / 64] >> (i % 64)));
    block_valid_i[0] = ~V(0);
    cycle(false);
    clock();
    block_valid_i[0] = 0;
    for (int sample = 0; sample < SAMPLES; sample++) {
      cycle(true);
      for (int lane = 0; lane < 64; lane++) {
        int which = is_random >> lane & 1;
        double x = 0;
        for (int i = 0; i < 16; i++) x += double(sums[i] >> lane & 1) * (1 << i);
        if (sample == 0) count[which]++;
        double delta = x - mean[which][sample];
        mean[which][sample] += delta / count[which];
        spread[which][sample] += delta * (x - mean[which][sample]);
      }
      clock();
    }
    cycle(false);
    if (RESULT != ~V(0)) { fprintf(stderr, "no result after the last round\\n"); return 2; }
    // The first lane, for the judge of the test.
    if (batch == 0) {
      for (int i = 255; i >= 0; i--) putchar('0' + (key[i / 64] >> (i % 64) & 1));
      putchar(' ');
      for (int i = 127; i >= 0; i--) putchar('0' + (block_i[i] & 1));
      putchar(' ');
      for (int i = 127; i >= 0; i--) putchar('0' + (result(i) & 1));
      putchar('\\n');
    }
  }
  for (int sample = 0; sample < SAMPLES; sample++) {
    double variance = 0;
    for (int which = 0; which < 2; which++) variance += spread[which][sample] / (count[which] - 1) / count[which];
    double difference = mean[0][sample] - mean[1][sample];
    // Equal samples without any spread tell nothing; different ones everything.
    printf("%.6f ", variance > 0 ? difference / sqrt(variance) : (difference == 0 ? 0.0 : 1e9));
  }
  printf("\\n");
  return 0;
}
"""


class Cipher:
    """The masked cipher as a program. Use it in a `with`, which removes it."""

    def __init__(self, parameters: dict[str, int]) -> None:
        self.netlist = Netlist("aes_masked_core", parameters)
        self.folder = tempfile.TemporaryDirectory()
        self.program = compiled(self.source(), Path(self.folder.name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

    def source(self) -> str:
        """Signals in one array, in the order in which they are evaluated."""
        net = self.netlist
        order = net.ordered()
        names: dict[Any, str] = {}
        text = [HEAD]
        inputs = [name for name in net.ports if name.endswith(("_i", "_ni"))]
        for name in inputs:
            text.append(f"static V {name}[{len(net.ports[name])}];")
            names |= {bit: f"{name}[{at}]" for at, bit in enumerate(net.ports[name])}
        # Registers, what memories show, and logic: all of them are counted.
        counted = [cell["connections"]["Q"][0] for cell in net.flops]
        counted += [bit for cell in net.memories for port in "ABCD" for bit in cell["connections"].get(f"DO{port}", [])]
        counted += [bit for cell in order for bit, _ in values(cell)]
        names |= {bit: f"n[{at}]" for at, bit in enumerate(counted)}
        flops, memories = len(net.flops), len(net.memories)
        text.append(f"enum {{ SIGNALS = {len(counted) // 3 * 3 + 3}, SAMPLES = {SAMPLES} }};")
        text.append("static V n[SIGNALS], old[SIGNALS];")
        text.append(f"static V memory[{max(memories, 1)}][4][32][2], next_q[{flops}];")

        def of(bit: Any) -> str:
            return signal(bit) if isinstance(bit, str) else names[bit]

        def address(cell: dict[str, Any], port: str) -> str:
            # Addresses are public: the same in all traces.
            bits = cell["connections"][f"ADDR{port}"]
            return " | ".join(f"(({of(bit)}) & 1) << {at}" for at, bit in enumerate(bits))

        # Which level of logic a memory's output is on: its address first.
        text.append("static void show() {")
        for number, cell in enumerate(net.memories):
            for at, port in enumerate("ABCD"):
                for index, bit in enumerate(cell["connections"].get(f"DO{port}", [])):
                    text.append(f"{of(bit)} = memory[{number}][{at}][{address(cell, port)}][{index}];")
        text.append("}")
        before, after = self._split(order)
        for function, cells in (("addresses", before), ("rest", after)):
            lines = []
            for cell in cells:
                wires = {other for bits in cell["connections"].values() for other in bits if other in names}
                for bit, formula in values(cell):
                    for other in wires:
                        formula = _replace(formula, f"n{other}", names[other].replace("n[", "@["))
                    lines.append(f"{names[bit]} = {formula.replace('@[', 'n[')};")
            text += _parts(function, lines)
        text.append("static void logic() { addresses(); show(); rest(); }")
        lines = []
        for number, cell in enumerate(net.flops):
            wires = {pin: of(bits[0]) for pin, bits in cell["connections"].items() if pin in ("Q", "D", "CE", "R", "S")}
            keep, new = wires["Q"], wires["D"]
            assert not any(int(cell["parameters"].get(f"IS_{pin}_INVERTED", "0"), 2) for pin in ("C", "D", "R", "S"))
            formula = f"({keep} ^ ({wires['CE']} & ({keep} ^ {new})))"
            if "R" in wires:
                formula = f"({formula} & ~({wires['R']}))"
            if "S" in wires:
                formula = f"({formula} | ({wires['S']}))"
            lines.append(f"next_q[{number}] = {formula};")
        text += _parts("flops", lines)
        text.append("static void clock() { flops();")
        for number, cell in enumerate(net.memories):
            write = of(cell["connections"]["WE"][0])
            text.append(f"if (({write}) & 1) {{ int at = {address(cell, 'D')};")
            for at, port in enumerate("ABCD"):
                for index, bit in enumerate(cell["connections"].get(f"DI{port}", [])):
                    text.append(f"memory[{number}][{at}][at][{index}] = {of(bit)};")
            text.append("}")
        text.append("memcpy(n, next_q, sizeof next_q); }")
        # The state after a reset; registers without one have any value.
        text.append("static void start() {")
        for name in inputs:
            text.append(f"memset({name}, 0, sizeof {name});")
        text.append("rst_ni[0] = ~V(0);")
        for number, cell in enumerate(net.flops):
            reset = {"FDCE": "V(0)", "FDPE": "~V(0)"}.get(cell["type"], "any()")
            text.append(f"n[{number}] = {reset};")
        text.append("}")
        text.append("static void len(int value) { for (int i = 0; i < 2; i++) len_i[i] = bit(value >> i); }")
        results = ", ".join(of(bit) for bit in net.ports["result_o"])
        text.append(f"static V result(int i) {{ V all[] = {{{results}}}; return all[i]; }}")
        text.append(f"#define IDLE {of(net.ports['idle_o'][0])}")
        text.append(f"#define RESULT {of(net.ports['result_valid_o'][0])}")
        text.append(MAIN)
        return "\n".join(text)

    def _split(self, order: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Logic that needs no memory, and the rest."""
        late: set[Any] = {
            bit for cell in self.netlist.memories for port in "ABCD" for bit in cell["connections"].get(f"DO{port}", [])
        }
        before, after = [], []
        for cell in order:
            if set(cell_inputs(cell)) & late:
                late.update(bit for bit, _ in values(cell))
                after.append(cell)
            else:
                before.append(cell)
        return before, after

    def run(self, traces: int, seed: int, is_stuck: bool = False) -> tuple[list[str], list[float]]:
        """Key, plaintext and ciphertext of the first trace, in bits, and t of each sample."""
        arguments = [str(self.program), str(traces // 64), str(seed), str(int(is_stuck))]
        done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True)
        first, t = done.stdout.splitlines()
        return first.split(), [float(number) for number in t.split()]


def _parts(name: str, lines: list[str]) -> list[str]:
    """A function as many short ones: the time that a compiler takes grows faster than the length of one."""
    starts = range(0, len(lines), PART)
    parts = [f"static NOINLINE void {name}{at}() {{ {' '.join(lines[at : at + PART])} }}" for at in starts]
    return [*parts, f"static void {name}() {{ {' '.join(f'{name}{at}();' for at in starts)} }}"]


def _replace(text: str, name: str, instead: str) -> str:
    """A name that is no part of another one."""
    out, at = [], 0
    while (found := text.find(name, at)) >= 0:
        end = found + len(name)
        is_whole = end == len(text) or not text[end].isdigit()
        out.append(text[at:found] + (instead if is_whole else name))
        at = end
    return "".join(out) + text[at:]
