"""`rot_address_map`: every address reaches its target, and no fetch leaves the ROM."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Part

REGIONS = {"rom": (0x0000_0000, 17), "scratchpad": (0x1000_0000, 16), "registers": (0x4000_0000, 16)}
REGIONS |= {"host": (0x8000_0000, 31)}
# In the order of the bits of each port.
TARGETS = {"instr": ["rom"], "data": ["rom", "scratchpad", "registers", "host"]}
SIDES = {"instr": "fetch", "data": "access"}
INPUTS = ["instr_req_i", "instr_addr_i", "data_req_i", "data_addr_i", "fetch_gnt_i", "access_gnt_i"]
INPUTS += ["fetch_rvalid_i", "fetch_rdata_i", "access_rvalid_i", "access_rdata_i", "access_err_i"]


def region_of(address: int) -> str | None:
    found = [name for name, (base, bits) in REGIONS.items() if address >> bits == base >> bits]
    return found[0] if found else None


def random_address() -> int:
    """Often the first or last word of a region, or the one before or after it."""
    base, bits = random.choice(list(REGIONS.values()))
    edges = [0, -4, (1 << bits) - 4, 1 << bits]
    offset = random.choice([*edges, random.getrandbits(bits), random.getrandbits(32)])
    return (base + offset) & 0xFFFF_FFFC


class Port(Part):
    """Requests an access in every cycle; its target grants at once and answers in the next cycle."""

    def __init__(self, dut: HierarchyObject, name: str, seen: set[tuple[str, str | None]]) -> None:
        self.dut = dut
        self.name = name
        self.side = SIDES[name]
        self.targets = TARGETS[name]
        self.seen = seen
        self.address = 0
        # The access of the cycle before: its target, if it has one, and what that answers.
        self.open: int | None = None
        self.is_open = False

    def target(self) -> int | None:
        region = region_of(self.address)
        return self.targets.index(region) if region in self.targets else None

    def drive(self) -> None:
        self.address = random_address()
        self.words = [random.getrandbits(32) for _ in self.targets]
        self.errors = random.getrandbits(len(self.targets)) if self.name == "data" else 0
        getattr(self.dut, f"{self.name}_req_i").value = 1
        getattr(self.dut, f"{self.name}_addr_i").value = self.address
        getattr(self.dut, f"{self.side}_gnt_i").value = (1 << len(self.targets)) - 1
        getattr(self.dut, f"{self.side}_rvalid_i").value = 0 if self.open is None else 1 << self.open
        packed = sum(word << 32 * target for target, word in enumerate(self.words))
        getattr(self.dut, f"{self.side}_rdata_i").value = packed
        if self.name == "data":
            self.dut.access_err_i.value = self.errors

    def sample(self) -> None:
        read = lambda signal: int(getattr(self.dut, signal).value)  # noqa: E731
        target = self.target()
        wanted = 0 if target is None else 1 << target
        assert read(f"{self.side}_req_o") == wanted, f"{self.name} {self.address:#x}"
        assert read(f"{self.name}_gnt_o") == 1
        if self.is_open:
            assert read(f"{self.name}_rvalid_o") == 1
            error = 1 if self.open is None else self.errors >> self.open & 1
            assert read(f"{self.name}_err_o") == error
            assert read(f"{self.name}_rdata_o") == (0 if self.open is None else self.words[self.open])
        self.seen.add((self.name, region_of(self.address)))
        self.open, self.is_open = target, True


@cocotb.test()
async def every_address_reaches_its_target_alone(dut):
    bench = Bench(dut, INPUTS)
    seen: set[tuple[str, str | None]] = set()
    await bench.start(Port(dut, "instr", seen), Port(dut, "data", seen))
    await bench.cycles(2000)
    # Each port met each region, and addresses of none.
    assert len(seen) == 2 * (len(REGIONS) + 1)
