#!/usr/bin/env python3
"""Compares the memory maps of boards.py, which were written from the text, with the descriptions of boards.

Run with ``python3 -m unittest discover -s spec -p 'test_*.py'``.
"""

from __future__ import annotations

import re
import tomllib
import unittest
from pathlib import Path
from typing import Any

import boards
import verify

BOARDS = Path(__file__).parent.parent / "device/boards"
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
STAGES = {"boot": "rom", "system": "loader"}
NUMBERS = {kind.name: number for number, kind in verify.PAYLOAD_TYPES.items()}


def size(text: str) -> int:
    number, unit = text.split()
    return int(number) * UNITS[unit]


def load(name: str) -> dict[str, Any]:
    with (BOARDS / name / "board.toml").open("rb") as file:
        return tomllib.load(file)


class Description:
    """A board.toml, as far as a verifier needs it."""

    def __init__(self, name: str) -> None:
        self.content: dict[str, Any] = load(name)
        if "extends" in self.content:
            base = load(self.content["extends"])
            self.content["forms"] = base["forms"] | self.content.get("forms", {})
            self.content.setdefault("harts", base["harts"])
            for key, by in (("region", "name"), ("place", "payload"), ("device", "name")):
                own = self.content.get(key, [])
                replaced = {entry[by] for entry in own} | set(self.content.get("without", []))
                self.content[key] = [entry for entry in base[key] if entry[by] not in replaced] + own
        self.regions = {region["name"]: region for region in self.content["region"]}

    def range(self, name: str) -> tuple[int, int]:
        region = self.regions[name]
        if "to_end_of" in region:
            return region["start"], self.range(region["to_end_of"])[1]
        return region["start"], region["start"] + size(region["size"]) * region.get("count", 1)

    def live(self, stage: str) -> set[tuple[int, int]]:
        return {self.range(name) for name, region in self.regions.items() if stage in region.get("live", [])}

    def closed(self) -> set[tuple[int, int, str]]:
        if self.content["forms"]["environment"] != "supervisor":
            return set()
        regions = {
            (*self.range(name), region["s_mode"])
            for name, region in self.regions.items()
            if "s_mode" in region
        }
        for device in self.content["device"]:
            if device.get("closed", False) or device.get("monitor", False):
                end = device["start"] + size(device["size"]) * device.get("count", 1)
                access = "none" if device.get("closed", False) else "opensbi"
                regions.add((device["start"], end, access))
        return regions

    def places(self) -> dict[int, boards.Place]:
        return {NUMBERS[place["payload"]]: self.place(place) for place in self.content["place"]}

    def place(self, place: dict[str, Any]) -> boards.Place:
        start, end = self.range(place["region"])
        is_fixed, is_aligned = place.get("fixed", False), "alignment" in place
        is_code = verify.PAYLOAD_TYPES[NUMBERS[place["payload"]]].code
        return boards.Place(
            start,
            end,
            address=start if is_fixed else None,
            alignment=size(place["alignment"]) if is_aligned else 1,
            entry_at_load=is_code and (is_fixed or is_aligned),
        )


class Boards(unittest.TestCase):
    def test_boot_flow_describes_the_same_boards(self) -> None:
        text = (Path(__file__).parent / "boot-flow.md").read_text(encoding="utf-8")
        for table in ("regions", "places"):
            found = re.findall(rf"^<!-- board (\S+): {table} -->$", text, re.MULTILINE)
            # Places of qemu-virt-iommu are those of the board that it extends.
            without = {"qemu-virt-iommu"} if table == "places" else set()
            self.assertEqual(sorted(found), sorted(set(boards.BOARDS) - without), table)
        closed = set(re.findall(r"^<!-- board (\S+): closed -->$", text, re.MULTILINE))
        self.assertEqual(closed, {name for name, board in boards.BOARDS.items() if board.closed})

    def test_the_map_of_each_board_is_that_of_its_description(self) -> None:
        described = {path.parent.name for path in BOARDS.glob("*/board.toml")}
        self.assertEqual(set(boards.BOARDS), described)
        for name, board in boards.BOARDS.items():
            description = Description(name)
            with self.subTest(name):
                self.assertEqual(description.content["name"], name)
                self.assertEqual(board.harts, description.content["harts"])
                self.assertEqual(board.places, description.places())
                for kind, ranges in board.live.items():
                    self.assertEqual(set(ranges), description.live(STAGES[kind]), kind)
                self.assertEqual(set(map(tuple, board.closed)), description.closed())


if __name__ == "__main__":
    unittest.main()
