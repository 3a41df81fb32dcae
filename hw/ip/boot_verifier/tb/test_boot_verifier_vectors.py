"""Every vector of the first-stage form (spec/vectors/first-stage) through the verification unit, with `spec/first_stage.py`
as the judge, and as the engine for the signature."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cocotb
from boot_verifier_bench import DEVELOPMENT, PRODUCTION, RETURNED, SOC, Device, Engine, Medium, Ram, Setup, Storage

SPEC = Path(__file__).parents[4] / "spec"
sys.path.insert(0, str(SPEC))

import first_stage  # noqa: E402

LIFECYCLES = {"development": DEVELOPMENT, "production": PRODUCTION, "returned": RETURNED}


def name(field: bytes) -> str:
    """The name in a field, or that of a device if it is none."""
    text = field.rstrip(b"\0")
    is_name = 0 < len(text) and all(0x20 < byte < 0x7F for byte in text)
    return text.decode() if is_name else "hartlock-soc"


class Judge(Engine):
    """The engine as the specification has it."""

    def __init__(self, dut, image: bytes) -> None:
        self.image = image
        super().__init__(dut, None)
        self.answer: str | None = None

    def prepare(self, image) -> None:
        """Nothing is expected beforehand."""

    def drive(self) -> None:
        dut = self.dut
        dut.engine_ready_i.value = 1
        if self.waits is not None:
            self.waits -= 1
            if self.waits <= 0 and not self.is_done:
                self.is_done = True
                self.answer = self.judge()
        dut.engine_done_i.value = int(self.is_done)
        dut.engine_verdict_i.value = self.verdict if self.answer == "" else 0
        dut.engine_index_i.value = int(self.answer == "E0308")

    def judge(self) -> str:
        key, signature, message = self.taken
        form = first_stage._read_front(self.image[:64] + key)
        padding = bytes(form.signed_at - 128 - len(signature))
        try:
            first_stage._check_signature(self.image[:64] + key + signature + padding + message, form, message)
        except first_stage._Refusal as refusal:
            return refusal.reason.name
        return ""


def expected(image: bytes, trusted: bytes, pair: tuple[int, int], capacity: int, device: dict) -> int:
    """The reason as a number, 0 for none. A pair that the unit does not carry is E0206 (§2)."""
    result = first_stage.verify(image, [trusted], capacity=capacity, is_file=False, **device)
    reason = "" if isinstance(result, first_stage.Accepted) else result.reason.name
    front = image[16:24]
    is_carried = front == pair[0].to_bytes(4, "little") + pair[1].to_bytes(4, "little")
    if len(image) >= 128 and reason != "E0102" and not is_carried:
        reason = "E0206"
    # To hardware the end of a medium is an error of its bus (§8).
    reason = "E0901" if reason == "E0101" else reason
    return int(reason[1:]) if reason else 0


@cocotb.test()
async def judges_every_vector_as_the_specification_does(dut):
    setup = Setup(dut)
    pair = int(dut.Algorithm.value), int(dut.Parameters.value)
    counts: dict[int, int] = {}
    for vector in json.loads((SPEC / "vectors/first-stage/expected.json").read_text()):
        image = (SPEC / "vectors/first-stage" / f"{vector['name']}.hlf").read_bytes()
        options = vector["options"]
        trusted = bytes.fromhex((options["key_digests"] or ["00" * 32])[0])
        signed_at = 128 + -(-setup.signature_size // 64) * 64
        board = options.get("board", name(image[signed_at + 64 : signed_at + 96]))
        device = {
            "board": board,
            "soc": options.get("soc", name(SOC)),
            "floor": options.get("floor", 0),
            "lifecycle": options.get("lifecycle", "production"),
        }
        if device["soc"] != name(SOC) or device["floor"] > 64:
            continue
        reason = expected(image, trusted, pair, setup.capacity, device)
        storage = Device(trusted, board.encode().ljust(32, b"\0"), device["floor"], LIFECYCLES[device["lifecycle"]])
        setup.medium, setup.storage = Medium(dut, image), Storage(dut, storage)
        # What is past the end of the medium is an error of the bus.
        setup.medium.end = len(image) // 8
        setup.engine, setup.ram = Judge(dut, image), Ram(dut)
        if setup.bench.cycle == 0:
            await setup.bench.start_clock()
        else:
            setup.bench.clear_inputs()
            await setup.bench.reset()
        setup.bench.parts = [setup.medium, setup.storage, setup.engine, setup.ram]
        result = await setup.run()
        assert result == reason, f"{vector['name']} is refused with {result}, not {reason}: {vector['description']}"
        await setup.stays(result)
        if result == 0:
            assert image[signed_at:].startswith(setup.ram.contents())
        counts[result] = counts.get(result, 0) + 1
    dut._log.info("vectors by reason: %s", dict(sorted(counts.items())))
    assert counts[0] >= 10 and len(counts) >= 15, counts
