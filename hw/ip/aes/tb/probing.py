"""First-order security in the glitch-extended probing model (Faust et al., 2018), by enumeration.

A probe of a signal sees all registers and inputs that the signal depends on. For every such set, the joint distribution
of what it sees, over all masks and random bits, has to be the same for each secret: for all 256, or for some of them. Signals are those of
the netlist; a set that is a part of another one needs no check of its own.

It does not see transitions from one value of a register to the next, nor more than one S-box.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from gates import Netlist, compiled, signal, value

HEAD = """
#include <cstdint>
#include <cstdio>
#include <vector>
#include <cstring>
typedef uint64_t V;
static const V low[6] = {0xaaaaaaaaaaaaaaaaull, 0xccccccccccccccccull, 0xf0f0f0f0f0f0f0f0ull, 0xff00ff00ff00ff00ull,
                         0xffff0000ffff0000ull, 0xffffffff00000000ull};
typedef void (*Eval)(const V *, int, V *);
"""

# Enumerates the variables that what is seen depends on. Others, which cancel, are found by trials with random values.
JUDGE = """
static V state = 88172645463325252ull;
static V any() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static int judge(Eval eval, int count, int seen) {
  std::vector<int> active;
  V v[64], a[32], b[32];
  for (int i = 0; i < count; i++) {
    bool depends = false;
    for (int trial = 0; trial < 400 && !depends; trial++) {
      for (int k = 0; k < count; k++) v[k] = any();
      int secret = any() & 255;
      eval(v, secret, a);
      v[i] = ~v[i];
      eval(v, secret, b);
      depends = memcmp(a, b, seen * sizeof(V)) != 0;
    }
    if (depends) active.push_back(i);
  }
  int size = active.size(), lanes = size < 6 ? 1 << size : 64;
  std::vector<uint32_t> first(1u << seen), counts(1u << seen);
  for (int secret : secrets) {
    std::fill(counts.begin(), counts.end(), 0);
    for (V batch = 0; batch < (1ull << (size > 6 ? size - 6 : 0)); batch++) {
      memset(v, 0, sizeof v);
      for (int k = 0; k < size; k++) v[active[k]] = k < 6 ? low[k] : (batch >> (k - 6) & 1 ? ~V(0) : V(0));
      eval(v, secret, a);
      for (int lane = 0; lane < lanes; lane++) {
        uint32_t key = 0;
        for (int k = 0; k < seen; k++) key |= uint32_t(a[k] >> lane & 1) << k;
        counts[key]++;
      }
    }
    if (secret == secrets[0]) first = counts;
    else if (first != counts) return 1;
  }
  return 0;
}
"""


def stages(netlist: Netlist, seen: dict[Any, frozenset[Any]]) -> dict[Any, int]:
    """The stage of each register: one more than the registers that it stores something of."""
    outputs = {cell["connections"]["Q"][0]: cell["connections"]["D"][0] for cell in netlist.flops}
    found: dict[Any, int] = {}

    def stage(bit: Any) -> int:
        if bit not in outputs:
            return 0
        if bit not in found:
            found[bit] = 1 + max((stage(leaf) for leaf in netlist.leaves(outputs[bit], seen)), default=0)
        return found[bit]

    for bit in outputs:
        stage(bit)
    return found


def variables(netlist: Netlist, bit: Any, stage: int, of: dict[Any, int], seen: dict[Any, Any]) -> set[str]:
    """Masks and random bits that a leaf depends on, when the stage is about to store."""
    data, rnd = netlist.ports["tower_i"], netlist.ports["random_i"]
    if bit in data:
        return {f"m{data.index(bit) % 8}"}
    if bit in rnd:
        return {f"r{stage}_{rnd.index(bit)}"}
    if bit not in of:
        return set()
    source = next(cell for cell in netlist.flops if cell["connections"]["Q"][0] == bit)
    leaves = netlist.leaves(source["connections"]["D"][0], seen)
    return set().union(*(variables(netlist, leaf, of[bit], of, seen) for leaf in leaves))


class Sbox:
    """The masked S-box, for one direction."""

    def __init__(self, parameters: dict[str, int]) -> None:
        self.netlist = Netlist("aes_dom_sbox", parameters)
        self.seen: dict[Any, frozenset[Any]] = {}
        self.of = stages(self.netlist, self.seen)
        control = {
            *self.netlist.ports["step_i"],
            *self.netlist.ports["inverse_i"],
            *self.netlist.ports["clk_i"],
            *self.netlist.ports["rst_ni"],
        }
        probes: dict[frozenset[Any], int] = {}
        for cell in self.netlist.flops:
            bit = cell["connections"]["D"][0]
            probes[self.netlist.leaves(bit, self.seen) - control] = self.of[cell["connections"]["Q"][0]]
        last = max(self.of.values()) + 1
        for bit in self.netlist.ports["byte_o"]:
            probes[self.netlist.leaves(bit, self.seen) - control] = last
        # Any other signal lies on the way to one of these, and sees a part of what they see.
        maximal = [s for s in probes if not any(s < other and probes[s] == probes[other] for other in probes)]
        self.probes = [(sorted(s), probes[s]) for s in maximal]

    def source(self, is_inverse: bool, secrets: list[int]) -> str:
        """A function for each probe: which of them leaks."""
        text = [HEAD, f"static const int secrets[] = {{{', '.join(map(str, secrets))}}};", JUDGE]
        for number, (leaves, stage) in enumerate(self.probes):
            text.append(self._probe(number, leaves, stage, is_inverse))
        calls = " ".join(
            f'if (probe{number}()) {{ leaks++; fprintf(stderr, "probe {number}, stage {stage}\\n"); }}'
            for number, (_, stage) in enumerate(self.probes)
        )
        text.append(f'int main() {{ int leaks = 0; {calls} printf("%d\\n", leaks); return 0; }}')
        return "\n".join(text)

    def _probe(self, number: int, leaves: list[Any], stage: int, is_inverse: bool) -> str:
        names = sorted(set().union(*(variables(self.netlist, leaf, stage, self.of, self.seen) for leaf in leaves)))
        lines: list[str] = []
        known: dict[tuple[Any, int], str] = {}
        data, rnd = self.netlist.ports["tower_i"], self.netlist.ports["random_i"]

        def emit(bit: Any, at: int) -> str:
            """A signal when a stage is about to store. Registers keep what their own stage stored."""
            if isinstance(bit, str):
                return signal(bit)
            if bit in self.of:
                at = self.of[bit]
            if (bit, at) in known:
                return known[bit, at]
            if bit in data:
                index = data.index(bit)
                mask = f"v_m{index % 8}"
                text = mask if index >= 8 else f"({mask} ^ (secret >> {index} & 1 ? ~V(0) : V(0)))"
            elif bit in rnd:
                text = f"v_r{at}_{rnd.index(bit)}"
            elif bit in self.netlist.ports["inverse_i"]:
                text = "(~V(0))" if is_inverse else "V(0)"
            elif bit in self.of:
                cell = next(cell for cell in self.netlist.flops if cell["connections"]["Q"][0] == bit)
                text = emit(cell["connections"]["D"][0], at)
            else:
                cell = self.netlist.driver[bit]
                inputs = {other: emit(other, at) for bits in cell["connections"].values() for other in bits
                          if other != cell["connections"]["O"][0]}
                _, text = value(cell)
                # Longer names first: none is a part of another.
                for other in sorted(inputs, key=lambda b: -len(str(b))):
                    if not isinstance(other, str):
                        text = text.replace(f"n{other} ", f"{inputs[other]} ").replace(f"n{other})", f"{inputs[other]})")
                        text = text.replace(f"n{other};", inputs[other])
                        text = inputs[other] if text == f"n{other}" else text
            name = f"s{len(known)}"
            lines.append(f"V {name} = {text};")
            known[bit, at] = name
            return name

        observed = [emit(leaf, stage) for leaf in leaves]
        assert len(observed) <= 24, f"a probe sees {len(observed)} bits"
        inits = " ".join(f"V v_{name} = v[{index}];" for index, name in enumerate(names))
        outs = " ".join(f"out[{index}] = {name};" for index, name in enumerate(observed))
        body = " ".join(lines)
        return (
            f"static void eval{number}(const V *v, int secret, V *out) {{ {inits} {body} {outs} }}\n"
            f"static int probe{number}() {{ return judge(eval{number}, {len(names)}, {len(observed)}); }}"
        )

    def leaks(self, is_inverse: bool, secrets: list[int]) -> int:
        """How many probes tell these secrets apart."""
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(self.source(is_inverse, secrets), Path(folder))
            return int(subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout)
