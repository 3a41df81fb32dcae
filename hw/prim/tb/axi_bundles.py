"""Ports that are bundles of `hartlock_axi_pkg`: a field is read and written as a signal of its own.

A simulator shows a packed structure as one vector, and a test can only write all of it. So an input keeps what was
written, and each write of a field writes the whole.
"""

from __future__ import annotations

from typing import Any

from cocotb.handle import HierarchyObject, LogicArrayObject

PAYLOAD = {"addr": 32, "len": 8, "size": 3, "burst": 2}


def address_channel(name: str) -> dict[str, int]:
    payload = {f"{name}_{field}": width for field, width in PAYLOAD.items()}
    return {f"{name}_valid": 1, f"{name}_id": 5} | payload


# Fields and their widths, from the highest bit on, as the package declares them. `side` compares their sum with the
# width of the port.
AXI_REQ = address_channel("aw") | {"w_valid": 1, "w_data": 64, "w_strb": 8, "w_last": 1, "b_ready": 1}
AXI_REQ |= address_channel("ar") | {"r_ready": 1}
AXI_RESP = {"aw_ready": 1, "w_ready": 1, "b_valid": 1, "b_id": 5, "b_resp": 2, "ar_ready": 1, "r_valid": 1}
AXI_RESP |= {"r_id": 5, "r_data": 64, "r_resp": 2, "r_last": 1}
AXIL_REQ = {"aw_valid": 1, "aw_addr": 12, "w_valid": 1, "w_data": 32, "w_strb": 4, "b_ready": 1}
AXIL_REQ |= {"ar_valid": 1, "ar_addr": 12, "r_ready": 1}
AXIL_RESP = {"aw_ready": 1, "w_ready": 1, "b_valid": 1, "b_resp": 2, "ar_ready": 1, "r_valid": 1}
AXIL_RESP |= {"r_data": 32, "r_resp": 2}


class Vector:
    """A port of one or more bundles."""

    def __init__(self, handle: LogicArrayObject) -> None:
        self.handle = handle
        self.written = 0

    def clear(self) -> None:
        self.written = 0
        self.handle.value = 0


# By their paths: all who drive a port share what was written.
vectors: dict[str, Vector] = {}


def vector(dut: HierarchyObject, name: str) -> Vector:
    handle = getattr(dut, name)
    return vectors.setdefault(handle._path, Vector(handle))


class Field:
    """Bits of a port."""

    def __init__(self, vector: Vector, low: int, width: int) -> None:
        self.vector, self.low, self.width = vector, low, width
        self.mask = (1 << width) - 1

    @property
    def value(self) -> int:
        return int(self.vector.handle.value) >> self.low & self.mask

    @value.setter
    def value(self, new: int) -> None:
        new = int(new)
        assert 0 <= new <= self.mask, f"{new:#x} has more than {self.width} bits"
        self.vector.written = self.vector.written & ~(self.mask << self.low) | new << self.low
        self.vector.handle.value = self.vector.written


class Side:
    """Requests and responses of one port, with the fields of both as attributes. Names are unique: what one side
    sends the other does not. `index` is the place of the bundle in a port of several."""

    def __init__(
        self, request: Vector, response: Vector, is_lite: bool = False, index: int = 0
    ) -> None:
        fields = (AXIL_REQ, AXIL_RESP) if is_lite else (AXI_REQ, AXI_RESP)
        for vector, widths in zip((request, response), fields):
            size = sum(widths.values())
            assert len(vector.handle) % size == 0, f"{vector.handle._path} is no port of such bundles"
            low = (index + 1) * size
            for name, width in widths.items():
                low -= width
                setattr(self, name, Field(vector, low, width))


def side(dut: HierarchyObject, name: str, is_manager: bool, is_lite: bool = False, index: int = 0) -> Side:
    """The port `name`, whose inputs begin as zeros; `is_manager` says whether its requests come from the test."""
    ends = ("i", "o") if is_manager else ("o", "i")
    request, response = (vector(dut, f"{name}_{end}") for end in ends)
    (request if is_manager else response).clear()
    return Side(request, response, is_lite, index)


class Fields:
    """A block with a port of bundles, seen like its core, which has a signal for each field: `aw_valid_o` is the field
    `aw_valid`. All other names are those of the block."""

    def __init__(self, dut: HierarchyObject, name: str, is_manager: bool) -> None:
        self._dut, self._side = dut, side(dut, name, is_manager)

    def __getattr__(self, name: str) -> Any:
        field = name.removesuffix("_i").removesuffix("_o")
        return getattr(self._side, field) if hasattr(self._side, field) else getattr(self._dut, name)
