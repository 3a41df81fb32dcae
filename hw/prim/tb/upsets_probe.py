"""Questions for `upset_probe.sv`: a wrong password, and the right one."""

from __future__ import annotations

from upset_script import Script, write_scripts

PASSWORD = 0x0123_4567_89AB_CDEF
WORD_MASK = (1 << 64) - 1
# Cycles of the wait after the answer.
WAIT_CYCLES = 3


def script(password: int) -> Script:
    script = Script()
    script.random("noise_i", 1)
    if password != PASSWORD:
        script.forbid(pass_o=1)
    script.alert()
    for word, is_last in ((1, False), (password, True)):
        script.send(word, 8, is_last, "ask")
        script.expect("tell", word ^ WORD_MASK)
    script.wait_for("done_o")
    script.drain("tell")
    script.wait(WAIT_CYCLES)
    return script


if __name__ == "__main__":
    write_scripts([("wrong", script(PASSWORD ^ 1)), ("right", script(PASSWORD))])
