"""What the stream writer does while a bit of it flips: no byte outside of the destination changes, and no message of which a
byte is missing or wrong is said to be written.

A script is the driver (`device/drivers/src/stream_writer.rs`) and an engine that gives the words; the memory is a model
(`stream_writer_watched.sv`), which knows what each byte has to be."""

from __future__ import annotations

from registers import Registers
from upset_script import Script, write_scripts

AT = Registers("stream_writer", __file__).offsets("STREAM_WRITER")
START, IDLE, FAILED, DONE, ERROR = 1, 1, 2, 1, 2
ALL = 0xFFFF_FFFF
# `StRun` of `stream_writer_core`.
RUN = 0b010101
FIRST, LAST = 0x8000_1000, 0x8000_2000


def byte_of(place: int) -> int:
    """As the memory has it."""
    return (place * 167 + 29) & 0xFF


def writes(address: int, length: int, pauses: tuple[int, ...]) -> Script:
    """A message, with pauses before its words. One that is not within the window has no place."""
    is_inside = address >= FIRST
    script = Script(settling_cycles=3)
    script.alert()
    script.forbid(strays_o=1)
    script.forbid(lacks_o=1)
    if is_inside:
        script.event("runs", "u_writer.u_core.u_state.u_flop.value_q", RUN)
    script.set("first_i", address)
    script.set("length_i", length if is_inside else 0)
    # The window, which is locked and read back.
    script.write(AT["window_first"], FIRST)
    script.write(AT["window_last"], LAST)
    script.write(AT["lock"], 1)
    script.require(AT["window_first"], ALL, FIRST)
    script.require(AT["window_last"], ALL, LAST)
    script.require(AT["lock"], ALL, 1)
    script.require(AT["status"], ALL, IDLE)
    script.write(AT["destination"], address)
    script.write(AT["length"], length)
    script.write(AT["interrupt"], 7)
    script.mark("command")
    script.write(AT["command"], START)
    script.require(AT["interrupt"], ERROR, 0)
    script.mark("stream")
    message = bytes(byte_of(place) for place in range(length))
    for at in range(0, length, 8):
        if pause := pauses[at // 8 % len(pauses)]:
            script.wait(pause)
        part = message[at : at + 8]
        script.send(int.from_bytes(part, "little"), len(part), at + 8 >= length)
    script.mark("sent")
    script.poll(AT["interrupt"], DONE | ERROR, DONE, ERROR)
    # Not busy, and no upset: one of the interrupt alone is none of the message.
    script.require(AT["status"], IDLE | FAILED, IDLE)
    script.write(AT["interrupt"], DONE)
    script.set("is_told_i", 1)
    return script


def scripts() -> list[tuple[str, Script]]:
    return [
        ("written, whole lines", writes(FIRST + 0x40, 192, (0,))),
        ("written, any places", writes(FIRST + 0x35, 149, (0, 2, 0, 0, 5))),
        ("written, one word", writes(FIRST + 0xFFB, 3, (1,))),
        ("outside", writes(FIRST - 0x20, 64, (0,))),
    ]


if __name__ == "__main__":
    write_scripts(scripts())
