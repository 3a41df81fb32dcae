"""Names of registers for tests, out of the header that is generated for C."""

from __future__ import annotations

import pathlib


class Registers(dict[str, int]):
    """`Registers("mailbox", bench_file)["MAILBOX_HOST_STATUS_OFFSET"]`."""

    def __init__(self, name: str, test: str) -> None:
        """`test` is the `__file__` of a test in `hw/ip/<name>/tb`."""
        super().__init__()
        path = pathlib.Path(test).resolve().parent.parent / "data" / f"{name}.h"
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) == 3 and words[0] == "#define":
                self[words[1]] = int(words[2], 0)

    def offsets(self, prefix: str) -> dict[str, int]:
        """Offsets of a map's registers by their names in small letters; of arrays, the first."""
        ends = {key: value for key, value in self.items() if key.startswith(f"{prefix}_")}
        strip = len(prefix) + 1
        return {
            key[strip : -len("_OFFSET")].lower(): value
            for key, value in ends.items()
            if key.endswith("_OFFSET")
        }
