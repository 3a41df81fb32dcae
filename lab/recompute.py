#!/usr/bin/env python3
"""Recomputes the headlines of stored runs from their samples, without code of the project.

For each run in a folder (lab/runs/latest) the numbers that README, status page and plots quote are computed
again from the CSV files and compared with the JSON. What cannot be, because an older run stored no samples
for it, is named. Exit code 1 if a number differs, or if nothing was compared.
"""

import csv
import json
import statistics
import sys
from pathlib import Path

MIB = 1 << 20
WINDOW = 64  # blocks that the loader announces ahead (crates/verify/src/pool.rs)
INITRAMFS = 97 * MIB
SHA3_BLOCK = {"sha3-256": 136, "sha3-384": 104, "sha3-512": 72}  # bytes, FIPS 202
REPOSITORY_MHZ = 100  # of the third paper's authors
HALF_BRAM_BITS = 18 << 10
BOOT_SIZES = (64 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20)


def host_speed(rows, _):
    """Ratios of medians of wall time, and the peak of memory."""
    rows = [r for r in rows if None not in r]  # older runs have a comma in a name that is not quoted
    def wall(what, config):
        found = [float(r["wall_s"]) for r in rows if (r["what"], r["config"]) == (what, config)]
        return statistics.median(found)

    for config in dict.fromkeys(r["config"] for r in rows if r["what"] == "openssl dgst"):
        for what in ("sign", "verify"):
            yield "speed", what, config, wall("openssl dgst", config) / wall(what, config)
    for what in ("sign", "verify"):
        yield "memory", what, "all hashes", max(int(r["peak_kib"]) for r in rows if r["what"] == what) / 1024


def vector_crypto(rows, _):
    """Instructions of a byte, on a hart that has the tier and nothing beyond it."""
    names = {"sha256": "SHA-256", "sha384": "SHA-384", "sha3-256": "SHA3-256", "sha3-384": "SHA3-384", "kt128": "KT128"}
    forms = {"one": "one message", "half": "half of the lanes", "many": "all lanes"}
    for r in rows:
        tier, _, width = r["hart"].partition("-")
        if r["who"] != "hartlock" or r["tier"] != tier or r["hash"] not in names:
            continue
        config = f"{tier}, VLEN {width}, {forms[r['form']]}" if width else tier
        if width or r["form"] == "one":
            yield "hash", names[r["hash"]], config, int(r["instructions"]) / int(r["bytes"])


def opentitan_accelerator(rows, more):
    """Cycles of a byte, shares of table 4, costs of accesses, and how much slower software is."""
    cycles = {}
    for r in rows:
        place = r["function"], r["memory"], int(r["bytes"])
        cycles[place] = cycles.get(place, 0) + int(r["cycles"])
    for (function, memory, size), total in cycles.items():
        yield "Figure 2", "cost", f"{memory}, {function}, {size} bytes", total / size
    for name, opcode in (("RoT", "Memory-RoT"), ("RAM", "Memory-RAM")):
        found = [(int(r["cycles"]), int(r["accesses"])) for r in more("accesses") if r["opcode"] == opcode]
        if found:
            yield "Table 2", "least", name, min(found)[0]
            yield "Table 2", "most", name, max(found)[0]
            yield "Table 2", "average", name, sum(c * n for c, n in found) / sum(n for _, n in found)
    for r in more("software"):
        function = {"sha256": "SHA-256", "hmac-sha256": "HMAC"}[r["function"]]
        if (r["flags"], r["bytes"], r["who"]) == ("-Os", "4096", "bearssl"):
            yield "Section 4.2", "speed-up over CVA6", function, int(r["cycles"]) / cycles[function, "RAM", 4096]


def quick_boot_tee(rows, more):
    """Cells of netlists, cycles of a block by DMA, and the time of 2 MiB from two lengths."""
    areas = more("area")
    for r in areas:
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
        table = "peers" if r["who"] == "peer" else "SHA-3 in one flow"
        config = f"{r['netlist']}, {r['cycles']} cycles a block"
        bits = r["half_brams"] * HALF_BRAM_BITS
        yield table, "LUT × cycles of a block", config, r["luts"] * r["cycles"]
        cells = {"LUT": "luts", "FF": "flip_flops", "CARRY4": "carries", "DSP48E1": "multipliers"}
        for metric, column in cells.items():
            yield table, metric, config, r[column]
        yield table, "BRAM", config, bits
        if r["netlist"] == "with registers, 2 rounds a cycle":
            found = (("FFs", r["flip_flops"]), ("RAM Bits", bits), ("DSP", r["multipliers"]))
            for metric, value in found:
                yield "Table 1", metric, "SHA-3", value
    cycles = {(r["memory"], r["function"], int(r["bytes"])): int(r["cycles"]) for r in rows if r["offset"] == "0"}
    milliseconds = 1000 * REPOSITORY_MHZ
    for function, rate in SHA3_BLOCK.items():
        name, short, long, whole = function.upper(), 4096, 16384, 2 * MIB
        for memory in ("hits", "no cache"):
            total, config = cycles[memory, function, long], f"{name}, {long} bytes, {memory}"
            yield "SHA-3 by DMA", "cost", config, total / long
            yield "SHA-3 by DMA", "a block", config, total / (long // rate + 1)
        few, many = cycles["no cache", function, short], cycles["no cache", function, long]
        block = (many - few) / (long // rate - short // rate)
        total = many + (whole // rate - long // rate) * block
        yield "SHA-3 of 2 MiB", "by DMA", f"{name}, no cache", total / milliseconds
        if function == "sha3-512":
            engine = next(r["cycles"] for r in areas if r["netlist"] == "with registers, 1 round a cycle")
            yield "SHA-3 of 2 MiB", "engine alone", name, (whole // rate + 1) * engine / milliseconds


    yield from tee_boots(more("boots"), more("software"))


def tee_boots(boots, software):
    """Figure 6 and its ratios: a byte from two lengths, the rest from one of them."""
    for r in boots + software:
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
    columns, whole = {}, {}
    for by, name in (("our software", "our software"), ("SHA-3 engine", "SHA-3 engine"), ("engines", "DMA, 24 cycles")):
        mine = sorted((r for r in boots if r["by"] == by), key=lambda r: r["bytes"])
        for r in mine:
            config = f"{by}, {r['bytes'] >> 10} KiB"
            total = r["measure"] + r["derive"] + r["key_pair"] + r["sign"]
            yield "Boot of a monitor", "key pair", config, r["key_pair"]
            yield "Boot of a monitor", "sign", config, r["sign"]
            yield "Boot of a monitor", "whole", config, total
            whole[name, r["bytes"]] = total
        if len(mine) > 1:
            few, many = mine[0], mine[-1]
            byte = (many["measure"] - few["measure"]) / (many["bytes"] - few["bytes"])
            rest = many["derive"] + many["key_pair"] + many["sign"]
            columns[name] = byte, many["measure"] - byte * many["bytes"], rest
    crates = {(r["what"], r["bytes"]): r["cycles"] for r in software if r["who"] == "crates"}
    if crates:
        short, long, longest = sorted(size for what, size in crates if what == "measure")
        few, many, actual = (crates["measure", size] for size in (short, long, longest))
        byte = (many - few) / (long - short)
        once, rest = few - byte * short, sum(crates[part] for part in (("derive", 64), ("key", 32), ("sign", 96)))
        columns["portable software"] = byte, once, rest
        off = abs((once + byte * longest) / actual - 1) * 100
        yield "Software on a bare hart", "64 KiB, two lengths against a whole run", "portable software", off
        signed = crates["sign", 96] + 2 * (once + byte * 2 * MIB)
        yield "Table 2", "time", "Software, Ed25519 sign", signed / REPOSITORY_MHZ / 1000
        yield "Table 2", "time", "Software, Ed25519 genkey", crates["key", 32] / REPOSITORY_MHZ / 1000
    for r in software:
        if (r["who"], r["what"]) == ("hartlock", "key"):
            yield "Software on a bare hart", "instructions", "our software, key, 32 bytes", r["instructions"]
    for name, (byte, once, rest) in columns.items():
        for passes, metric in ((1, "one pass"), (3, "three passes")):
            for size in BOOT_SIZES:
                total = passes * (once + byte * size) + rest
                text = f"{size // MIB} MiB" if size >= MIB else f"{size >> 10} KiB"
                is_whole = passes == 1 and (name, size) in whole
                yield "Figure 6", metric, f"{name}, {text}", whole[name, size] if is_whole else total
    at = {name: once + byte * 2 * MIB + rest for name, (byte, once, rest) in columns.items()}
    for name, total in at.items():
        yield "Boot of 2 MiB", "whole", name, total
        if name in ("portable software", "our software") and "DMA, 24 cycles" in at:
            config = f"DMA, 24 cycles, against {name}"
            yield "Boot of 2 MiB", "ratio", config, total / at["DMA, 24 cycles"]


def play(harts, block, leaf, fixed, size, block_size):
    """Cycles of a payload in memory: a free hart takes the next block, the boot hart adds leaves in order."""
    count, free, asleep = -(-size // block_size), [0.0] * harts, [False] + [True] * (harts - 1)
    leaves, announced, absorbed = [], 0, 0
    while True:
        hart = min((h for h in range(harts) if not asleep[h]), key=lambda h: free[h])
        now = free[hart]
        if hart == 0:
            while absorbed < count and absorbed < len(leaves) and leaves[absorbed] <= now:
                absorbed, now = absorbed + 1, now + leaf
            if absorbed == count:
                return now + fixed
            if min(count, absorbed + WINDOW) > announced:
                announced = min(count, absorbed + WINDOW)
                for other in range(1, harts):
                    if asleep[other]:
                        asleep[other], free[other] = False, now
        index = len(leaves)
        if index < announced:
            free[hart] = now + block * min(size - index * block_size, block_size) / block_size
            leaves.append(free[hart])
        elif hart == 0:
            free[0] = max(leaves[absorbed] if absorbed < len(leaves) else float("inf"), now + 1)
        else:
            asleep[hart] = True


def parallel_verification(rows, _):
    """A byte of one flat hash; blocks of 80 KiB on four harts; loading while hashing."""
    for r in rows:
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
    memory = [r for r in rows if r["loader"] == "LoadFirst" and r["storage_bytes_per_1000_cycles"] == 4000]
    costs = {}
    for name, of in (("SHA3-384", "sha3-384"), ("SHA-384", "sha384")):
        mine = [r for r in memory if r["hash"] == of]
        small, large = sorted((r for r in mine if r["block_size"] == 0), key=lambda r: r["size"])
        byte = (large["hash_cycles"] - small["hash_cycles"]) / (large["size"] - small["size"])
        flat = large["hash_cycles"] + byte * (INITRAMFS - large["size"])
        yield "Hashing", "one hart", name, flat / INITRAMFS
        # Of a leaf: many blocks of 1 KiB beside two of them, on one hart.
        one = [r for r in mine if r["harts"] == 1 and r["block_size"] == 1024]
        few, many = sorted((r["size"] // 1024, r["hash_cycles"] - r["busy_cycles"]) for r in one)
        leaf = (many[1] - few[1]) / (many[0] - few[0])
        four = next(r for r in mine if (r["harts"], r["block_size"], r["size"]) == (4, 81920, 8 * 81920))
        block = four["busy_cycles"] / 8
        fixed = four["hash_cycles"] - play(4, block, leaf, 0, four["size"], 81920)
        costs[name] = play(4, block, leaf, fixed, INITRAMFS, 81920)
        yield "Hashing", "four harts", f"{name}, blocks of 80 KiB", costs[name] / INITRAMFS
        if name == "SHA3-384":
            yield "Section VII-A", "speed-up", "initramfs, blocks of 80 KiB", flat / costs[name]
    stored = [r for r in rows if r["storage_bytes_per_1000_cycles"] != 4000]
    rates = sorted({r["storage_bytes_per_1000_cycles"] for r in stored})
    for share, rate in zip(("0.5", "1", "2"), rates):
        apart, together = sorted((r for r in stored if r["storage_bytes_per_1000_cycles"] == rate), key=lambda r: r["loader"])
        ratio = together["total_cycles"] / apart["read_cycles"]
        yield "Overlap", "verified by unverified", f"storage at {share} of the hash rate", ratio


def main(folder):
    compared, wrong, absent = 0, 0, 0
    for make in (host_speed, opentitan_accelerator, parallel_verification, quick_boot_tee, vector_crypto):
        key = make.__name__.replace("_", "-")

        def samples(kind=None):
            path = folder / (f"{key}-{kind}.csv" if kind else f"{key}.csv")
            if not path.exists():
                return []
            with path.open(newline="") as file:
                return list(csv.DictReader(file))

        kinds = [path.stem for path in sorted(folder.glob(f"{key}-*.csv"))]
        run = json.loads((folder / f"{key}.json").read_text())
        rows = {(r["table"], r["metric"], r["config"]): r["ours"] for r in run["rows"]}
        seen = set()
        for *place, value in make(samples(), samples):
            ours = rows.get(tuple(place))
            if ours is None or tuple(place) in seen:
                continue
            seen.add(tuple(place))
            compared += 1
            # Stored with three decimals; wall times have four of a second.
            if abs(value - ours) > 0.0006 + (0.001 * ours if make is host_speed else 0):
                wrong += 1
                print(f"{key}: {', '.join(place)}: {ours} is stored, the samples give {value:.4f}")
        print(f"{key}: {len(seen)} numbers recomputed from {1 + len(kinds)} files")
        if key == "opentitan-accelerator" and not samples("software"):
            absent += 1
            print(f"{key}: no samples of software and of single accesses: an older run")
    print(f"{compared} compared, {wrong} wrong, {absent} runs without all of their samples")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "lab/runs/latest")))
