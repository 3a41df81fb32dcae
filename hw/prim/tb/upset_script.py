"""Scripts for campaigns of upsets: what an engine does while a bit of it flips.

A module `upsets_<name>.py` in an engine's `tb/` writes a script for each input; the compiled bench of `verif/machines/sim/upsets`
runs them (`cargo xtask ip NAME --upsets`). Operations follow each other: the next one begins in the cycle after the last
handshake. The script is the software that uses the engine, so it checks what a driver would check, and
no more: an error on the bus ends a run as refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from messages import in_words


def parameters() -> dict[str, int]:
    """Of the variant, by their names."""
    pairs = (pair.split("=") for pair in os.environ["HARTLOCK_PARAMETERS"].split())
    return {name: int(value) for name, value in pairs}


class Script:
    """Begins with a reset of two cycles."""

    def __init__(self, bus: str = "axil", settling_cycles: int = 1) -> None:
        """`settling_cycles` are those after the reset before the first operation."""
        self.bus = bus
        self.lines = ["reset 2", f"wait {settling_cycles}"]

    # --- conditions on outputs, in every cycle ---

    def forbid(self, cycles: int = 1, **ports: int) -> None:
        """These values of ports together, for so many cycles, are a bad outcome. Fewer cycles are counted as brief."""
        self._say("forbidden", cycles, *(word for pair in ports.items() for word in pair))

    def alert(self, port: str = "alert_o") -> None:
        """The engine has detected an upset, and the chip stops."""
        self._say("alert", 1, port, 1)

    def event(self, name: str, signal: str, value: int, mask: int = (1 << 64) - 1) -> None:
        """Names the first cycle in which a register or a port has a value, in the run without an upset."""
        self._say("event", name, signal, mask, value)

    def random(self, port: str, seed: int) -> None:
        """An input has other values in every cycle, the same in every run: entropy."""
        self._say("random", port, seed)

    def expect(self, stream: str, value: int, mask: int = (1 << 64) - 1) -> None:
        """The next word that a stream of the engine delivers; another one is a bad outcome."""
        self._say("expect", stream, mask, value)

    # --- operations ---

    def mark(self, name: str) -> None:
        """Names the first cycle of the next operation."""
        self._say("mark", name)

    def set(self, port: str, value: int) -> None:
        self._say("set", port, value)

    def wait(self, cycles: int) -> None:
        self._say("wait", cycles)

    def wait_for(self, port: str, value: int = 1) -> None:
        self._say("wait_for", port, value)

    def drain(self, stream: str) -> None:
        """Waits for all words that are expected of a stream."""
        self._say("drain", stream)

    def write(self, address: int, value: int, strobe: int = 0xF) -> None:
        self._say("write", self.bus, address, value, strobe)

    def write_bytes(self, address: int, data: bytes) -> None:
        """Words in little-endian order."""
        for at in range(0, len(data), 4):
            self.write(address + at, int.from_bytes(data[at : at + 4], "little"))

    def poll(self, address: int, mask: int, value: int, refused: int = 0) -> None:
        """Reads until the bits of `mask` have this value. One of the bits `refused` ends the run as refused."""
        self._say("poll", self.bus, address, mask, value, refused)

    def require(self, address: int, mask: int, value: int) -> None:
        """Reads; another value ends the run as refused."""
        self._say("require", self.bus, address, mask, value)

    def accept(self, address: int, value: int, mask: int = 0xFFFF_FFFF) -> None:
        """Reads the verdict, which ends the run: accepted with this value, refused with another."""
        self._say("accept", self.bus, address, mask, value)

    def output(self, address: int, value: int) -> None:
        """Reads a word of the result; another value is a bad outcome, if the script comes to its end: what it checks
        after the last word can still refuse it."""
        self._say("output", self.bus, address, 0xFFFF_FFFF, value)

    def output_bytes(self, address: int, data: bytes) -> None:
        """Words in little-endian order."""
        for at in range(0, len(data), 4):
            self.output(address + at, int.from_bytes(data[at : at + 4], "little"))

    def send(self, data: int, size: int, is_last: bool, stream: str = "str") -> None:
        self._say("send", stream, data, size, int(is_last))

    def send_bytes(self, data: bytes, stream: str = "str", size: int = 8, is_end: bool = True) -> None:
        """Words of `size` bytes in little-endian order; the end of the message with the last one."""
        for part, is_last in in_words(data, size, is_end):
            self.send(int.from_bytes(part, "little"), len(part), is_last, stream)

    def _say(self, *words: object) -> None:
        self.lines.append(" ".join(str(word) for word in words))

    def text(self) -> str:
        return "\n".join([*self.lines, "end"]) + "\n"


def write_scripts(scripts: Iterable[tuple[str, Script]]) -> None:
    """Writes them into the folder that the command line names."""
    folder = Path(sys.argv[1])
    for name, script in scripts:
        (folder / f"{name}.script").write_text(script.text(), encoding="utf-8")
