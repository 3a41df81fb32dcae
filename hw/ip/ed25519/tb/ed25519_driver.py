"""What a driver of the engine does, over its registers (`../data/ed25519.rdl`)."""

from __future__ import annotations

from axi_lite import Manager
from clocked import Clocked
from cocotb.handle import HierarchyObject, Immediate
from cocotb.triggers import ClockCycles, First, RisingEdge
from cocotb.utils import get_sim_time
from ed25519_bench import Key
from registers import Registers

REGS = Registers("ed25519", __file__)
AT = REGS.offsets("ED25519")
INPUTS = ("dig_valid_i", "dig_data_i", "ent_valid_i", "ent_data_i", "pre_ready_i", "lifecycle_i")
CLAMP = 1 << 5
LOAD, PUBLIC, NONCE, SIGN, VERIFY, PREFIX, ABORT, WIPE = (1 << bit for bit in range(8))
IDLE, POINT_VALID, S_VALID, NONCE_VALID, FAILED = (1 << bit for bit in range(5))
BAD_COMMAND, BAD_WRITE = 1, 2
DONE_IRQ, ERROR_IRQ = 1, 2
NONE, GOOD, DONE, KEY, SIGNATURE, MISMATCH, SCALAR, ORDER = (
    *(0, 0xC33CC33C, 0xA55AA55A, 0x3CC33CC3, 0x55AA55AA, 0xAA55AA55),
    *(0x69966996, 0x96699669),
)


class Driver(Clocked):
    """The register port `axil`, and the side ports."""

    settling_cycles = 260

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, INPUTS, stalls)
        self.bus = Manager(dut, "axil", stalls)

    async def start_clock(self) -> None:
        self.clock.value = Immediate(0)
        self._port(self.reset_name).value = Immediate(self.reset_value)
        await super().start_clock()

    async def _count(self) -> None:
        """Time counts cycles here."""

    def now(self) -> int:
        return int(get_sim_time("ns")) // 10

    def stall(self, stalls: float) -> None:
        self.stalls = self.bus.stalls = stalls

    async def get(self, name: str) -> int:
        return await self.bus.get(AT[name])

    async def put(self, name: str, data: bytes) -> None:
        for at in range(0, len(data), 4):
            await self.bus.write(AT[name] + at, int.from_bytes(data[at : at + 4], "little"))

    async def read(self, name: str) -> bytes:
        words = [await self.bus.get(AT[name] + 4 * index) for index in range(8)]
        return b"".join(word.to_bytes(4, "little") for word in words)

    async def configure(self, config: int) -> None:
        await self.bus.write(AT["control"], config)
        assert await self.get("control") == config

    async def command(self, bits: int) -> None:
        await self.bus.write(AT["command"], bits)

    async def until_idle(self, limit: int = 80_000) -> None:
        if self.dut.is_idle.value != 1:
            await First(RisingEdge(self.dut.is_idle), ClockCycles(self.dut.clk_i, limit))
        await self.tick()
        assert await self.get("status") & IDLE, "a command does not end"

    async def run(self, bits: int) -> int:
        await self.command(bits)
        await self.tick(2)
        await self.until_idle()
        return await self.get("outcome")

    async def expect_errors(self, bits: int) -> None:
        got = await self.get("error")
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.bus.write(AT["error"], bits)

    async def side_digest(self, digest: bytes) -> None:
        for at in range(0, 64, 8):
            await self.send("dig", dig_data=int.from_bytes(digest[at : at + 8], "little"))

    async def prefix(self) -> bytes:
        text = b""
        for word in range(4):
            await self.pause()
            self.dut.pre_ready_i.value = 1
            text += (await self.value_when(self.dut.pre_valid_o, self.dut.pre_data_o)).to_bytes(8, "little")
            self.dut.pre_ready_i.value = 0
            del word
        return text

    async def load(self, key: Key, slot: int = 0, by_side: bool = False) -> int:
        """A key as its 64 bytes."""
        await self.configure(slot | CLAMP)
        text = key.scalar.to_bytes(32, "little") + key.prefix
        await (self.side_digest(text) if by_side else self.put("digest", text))
        result = await self.run(LOAD)
        await self.configure(slot)
        return result

    async def verify(self, public: bytes, signature: bytes, digest: bytes) -> int:
        await self.put("key", public)
        await self.put("r_in", signature[:32])
        await self.put("s_in", signature[32:])
        await self.put("digest", digest)
        return await self.run(VERIFY)
