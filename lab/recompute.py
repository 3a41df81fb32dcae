#!/usr/bin/env python3
"""Recomputes the headlines of stored runs from their samples, without code of the project.

For each run in a folder (lab/runs/latest) the numbers that README, status page and plots quote are computed
again from the CSV files and compared with the JSON; ratios and verdicts follow from the numbers beside them. What
cannot be, because an older run stored no samples for it, is named. Exit code 1 if a number differs, or if nothing was
compared.
"""

import csv
import json
import math
import statistics
import sys
import tomllib
from pathlib import Path

MIB = 1 << 20
WINDOW = 64  # blocks that the loader announces ahead (device/verify/src/pool.rs)
INITRAMFS = 97 * MIB
SHA3_BLOCK = {"sha3-256": 136, "sha3-384": 104, "sha3-512": 72}  # bytes, FIPS 202
REPOSITORY_MHZ = 100  # of the third paper's authors
SECOND_PAPER = Path(__file__).parent / "papers/post-quantum-xmss/paper.toml"
THIRD_PAPER = Path(__file__).parent / "papers/quick-boot-tee/paper.toml"
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


def vector_crypto(rows, samples):
    """Instructions of a byte, on a hart that has the tier and nothing beyond it, and of a generator of WalnutDSA."""
    names = {"sha256": "SHA-256", "sha384": "SHA-384", "sha3-256": "SHA3-256", "sha3-384": "SHA3-384", "kt128": "KT128"}
    forms = {"one": "one message", "half": "half of the lanes", "many": "all lanes"}
    for r in rows:
        tier, _, width = r["hart"].partition("-")
        if r["who"] != "hartlock" or r["tier"] != tier or r["hash"] not in names:
            continue
        config = f"{tier}, VLEN {width}, {forms[r['form']]}" if width else tier
        if width or r["form"] == "one":
            yield "hash", names[r["hash"]], config, int(r["instructions"]) / int(r["bytes"])
    metrics = {"products": "E-multiplication", "all": "verification without the hash"}
    for r in samples("walnut"):
        place = "WalnutDSA, instructions", metrics[r["what"]], f"{r['level']}, {r['tier']}"
        yield *place, int(r["instructions"]) / int(r["generators"])
    yield from ciphers(list(samples("ciphers")))
    yield from first_stage(samples("first-stage"))


def vector_crypto_models(rows, _samples):
    """Cycles of a byte in inner loops, by models of cores."""
    tables = {"hartlock": "models of cores", "openssl": "models of cores, OpenSSL"}
    for r in rows:
        yield tables[r["who"]], r["loop"], r["core"], float(r["cycles"]) / float(r["bytes"])


# Names of harts in rows of ciphers, and of what is counted.
CIPHER_HARTS = {"rv64": "rv64", "zkne-zbkc": "Zkne and Zbkc"} | {
    f"{kind}-{width}": f"Zvkned and {kind.capitalize()}, VLEN {width}"
    for kind in ("zvbc", "zvkg")
    for width in (128, 256, 512)
}
CIPHER_PARTS = {"gcm": "AES-256-GCM", "ctr": "AES-256-CTR", "ghash": "GHASH"}


def ciphers(rows):
    """Instructions of a byte of a long text, and those of a message of 1 KiB."""
    used = {r["hart"]: r["tier"] for r in rows if "program" in r and r["who"] == "hartlock" and r["program"] == "ciphers"}
    for r in rows:
        per_byte = int(r["instructions"]) / int(r["bytes"])
        config = "64 KiB, decrypted in place" if r["who"] == "hartlock" else f"{r['who']} on rv64"
        if "program" not in r:  # older runs have no other program
            yield "portable cipher", "AES-256-GCM", config, per_byte
            continue
        hart, what = CIPHER_HARTS[r["hart"]], r["what"]
        if r["program"] == "bench":
            tier = used[r["hart"]]
            tier = "zvkned" if what == "ctr" and tier == "zvkg" else tier
            if r["tier"] == tier:
                yield "cipher", CIPHER_PARTS[what], hart, per_byte
        elif r["bytes"] == "1024":
            key = "with key schedule" if what == "gcm-with-key" else "key expanded before"
            place = "AES-256-GCM, instructions", "message of 1 KiB", f"{r['who']}, {hart}, {key}"
            yield *place, int(r["instructions"])
        elif what == "gcm-with-key" and r["hart"] == "rv64" and r["who"] != "openssl":
            yield "portable cipher", "AES-256-GCM", config, per_byte


SCHEMES = {
    "walnut-128": "WalnutDSA",
    "ed25519": "Ed25519",
    "ecdsa-p256": "ECDSA P-256",
    "lms-sha256-h10-w4": "LMS-SHA256 H10/W4",
    "ml-dsa-44": "ML-DSA-44",
    "ml-dsa-65": "ML-DSA-65",
}
WAYS = {
    ("rv64", "portable"): "portable",
    ("rv64", "chosen"): "scalar assembly",
    ("scalar-crypto", "chosen"): "scalar assembly, Zbb, Zknh, Zbc",
    ("vectors-128", "chosen"): "vectors, VLEN 128",
    ("vectors-256", "chosen"): "vectors, VLEN 256",
}


def first_stage(rows):
    """Hash, signature and sum: one message on one hart, and a tree on several; and quotients of the same form."""
    sums = {}
    for unit in ("instructions", "cycles"):
        mine = [r for r in rows if (r["machine"] == "qemu") == (unit == "instructions")]
        table = "first stage, " + (unit if unit == "instructions" else "cycles on Rocket")
        for (hart, kernels), way in WAYS.items():
            of = [r for r in mine if (r["hart"], r["kernels"]) == (hart, kernels)]

            def cost(part, form, harts, who=None):
                found = [r for r in of if (r["part"], r["form"], r["harts"]) == (part, form, str(harts))]
                found = [int(r[unit]) for r in found if who is None or r["who"] == who]
                return max(found, default=None)

            for harts in (None, 4, 1):
                form = "tree" if harts else "flat"
                if harts:
                    shared = cost("share" if unit == "instructions" else "together", form, harts)
                    parts = (shared, cost("root", form, harts))
                else:
                    parts = (cost("hash", form, 1),)
                if None in parts:
                    continue
                config = f"{way}, {harts} harts" if harts else way
                yield table, "SHA-256", config, sum(parts)
                for name, title in SCHEMES.items():
                    # Cycles are of the signature of the digest, whatever is hashed.
                    verification = cost("verify", form if unit == "instructions" else "flat", 1, name)
                    sums[unit, way, harts, title] = sum(parts) + verification
                    yield table, f"{title}, verification", config, verification
                    yield table, f"{title}, sum", config, sums[unit, way, harts, title]
            if unit == "instructions":
                for r in of:
                    if r["part"] == "share":
                        what = f"hart {r['who']}, share" if r["harts"] == "4" else "one hart, all blocks"
                        yield f"{table} of each hart", what, way, int(r[unit])
                    if r["part"] == "root" and r["harts"] == "4":
                        yield f"{table} of each hart", "hart 0, root", way, int(r[unit])
    for (unit, way, harts, title), value in sums.items():
        place = "first stage, speed-up", f"{title}, sum in {unit}"
        if harts is None and way != "portable":
            yield *place, f"{way}, by portable", sums[unit, "portable", None, title] / value
        if harts == 4 and (unit, way, 1, title) in sums:
            yield *place, f"{way}, 4 harts, by one hart with the same tree", sums[unit, way, 1, title] / value


# What tables call a function of the program.
CALLED = {
    "sha256": "SHA-256",
    "hmac-sha256": "HMAC",
    "aes-256-cbc": "AES-256",
    "aes-256-ctr": "AES-256-CTR",
    "aes-256-gcm": "AES-256-GCM",
    "rsa-512-public": "RSA-512 encryption",
    "rsa-512-private": "RSA-512 decryption",
    "rsa-1024-public": "RSA-1024 encryption",
    "rsa-1024-private": "RSA-1024 decryption",
}
# What the paper's section compares with software, and which implementation its software was.
IN_SECTION_4_2 = {
    "SHA-256": ("SHA-256, 4096 bytes", ""),
    "HMAC": ("HMAC, 4096 bytes", ""),
    "AES-256": ("AES-256, 4096 bytes", "aes_big"),
    "RSA-512": ("RSA-512 decryption", "i31"),
    "RSA-1024": ("RSA-1024 decryption", "i31"),
}


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
    software = {}
    for r in more("software"):
        # Of an operation with a key of RSA there is one size.
        size = "" if r["function"].startswith("rsa") else f", {r['bytes']} bytes"
        place = r["flags"], CALLED[r["function"]] + size
        if r["who"].startswith("bearssl"):
            software.setdefault(place, []).append((int(r["cycles"]), int(r["bytes"]), r["who"].partition("-")[2]))
    for (flags, config), counts in software.items():
        count, size, _ = min(counts)
        yield "Figure 2", "cost", f"BearSSL {flags} on CVA6, {config}", count / size
        for count, size, name in counts if flags == "-Os" else ():
            yield "Implementations of BearSSL", "cost", f"{config}, {name}", count / size
    ours = {f"{f}, {size} bytes": total / size for (f, memory, size), total in cycles.items() if memory == "RAM"}
    for r in more("operations"):
        cost = sum(int(r[part]) for part in ("load", "compute", "rest")) / int(r["bytes"])
        yield "Figure 2", "cost", f"{r['memory']}, {CALLED[r['operation']]}", cost
        if r["memory"] == "RAM":
            ours[CALLED[r["operation"]]] = cost
    for function, (config, chosen) in IN_SECTION_4_2.items():
        counts = software.get(("-Os", config), [])
        for count, size, name in counts:
            if name == chosen:
                yield "Section 4.2, software", "cost", function, count / size
        if counts and config in ours:
            count, size, _ = min(counts)
            yield "Section 4.2", "speed-up over CVA6", function, count / size / ours[config]
    yield from feeds(more)
    engines = {r["kind"]: int(r["genuine"]) for r in more("signatures") if r["by"] == "engine"}
    processors = {"rot": "our software on Ibex", "rocket-1": "our software on Rocket"}
    for r in more("signatures"):
        config = f"{r['kind']}, {processors.get(r['machine'], 'engine')}"
        yield "Verification of signatures", "time", config, int(r["genuine"])
        if r["by"] == "software":
            yield "Verification of signatures", "by the engine's", config, int(r["genuine"]) / engines[r["kind"]]


def feeds(more):
    """Cycles of a byte by engine, size and feed, and from which size on an engine is faster than software."""
    def called(name):
        if name.startswith("rsa"):
            return "RSA encryption" if name.endswith("public") else "RSA decryption"
        return "AES-256-CBC" if name == "aes-256-cbc" else CALLED[name]

    engines, software, request = {}, {}, 0.0
    for r in more("feeds"):
        if r["function"] == "mailbox":
            request = float(r["cycles"])
        else:
            engines.setdefault((called(r["function"]), r["feed"]), {})[int(r["bytes"])] = int(r["cycles"])
    for r in more("operations"):
        if r["memory"] == "RAM":
            total = sum(int(r[part]) for part in ("load", "compute", "rest"))
            engines.setdefault((called(r["operation"]), "words"), {})[int(r["bytes"])] = total
    for r in more("software"):
        if r["flags"] == "-Os" and r["who"].startswith("bearssl"):
            mine = software.setdefault(called(r["function"]), {})
            mine[int(r["bytes"])] = min(int(r["cycles"]), mine.get(int(r["bytes"]), sys.maxsize))
    table = "Engine, size and feed"
    for name, costs in software.items():
        for size, cycles in costs.items():
            yield table, "cost", f"{name}, software, {size} bytes", cycles / size
    for (name, feed), costs in engines.items():
        for suffix, extra in (("", 0), (", for the host", request)):
            config = f"{name}, {feed}{suffix}"
            for size, cycles in costs.items():
                yield table, "cost", f"{config}, {size} bytes", (cycles + extra) / size
            lead = [(size, software[name][size] - costs[size] - extra) for size in sorted(costs) if size in software[name]]
            wins = next((at for at in range(len(lead)) if all(it[1] > 0 for it in lead[at:])), None)
            if wins is not None:
                yield table, "the engine wins from", config, lead[wins][0]
            if wins:
                (below, lost), (above, won) = lead[wins - 1 : wins + 1]
                yield table, "crossing point", config, below + (above - below) * lost / (lost - won)


def numbers_of(path):
    """Constants of a paper, and its numbers by table, metric and configuration."""
    paper, numbers = tomllib.loads(path.read_text()), {}
    for table in paper["table"]:
        for row in table["rows"]:
            for column, value in zip(table["columns"], row[1:]):
                config = f"{column['of']}, {row[0]}" if "of" in column else row[0]
                numbers[table["name"], column["metric"], config] = value
    return paper["constants"], numbers


def post_quantum_xmss(rows, more):
    """Means of verifications, cells of netlists, what follows of both, and the second paper against itself."""
    for r in rows:
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
    constants, paper = numbers_of(SECOND_PAPER)
    clock = 1000 * constants["clock_mhz"]

    def named(k):
        return f"{k} instance{'s' if k > 1 else ''}"

    def table(r):
        return "Table I" if r == 2 else f"Table I, {r} round a cycle"

    means, steps = {}, {}
    for k, r in dict.fromkeys((row["lanes"], row["rounds"]) for row in rows):
        mine = [row for row in rows if (row["lanes"], row["rounds"]) == (k, r)]
        once = [row for row in mine if (row["height"], row["passes"]) == (10, 1)]
        means[k, r] = statistics.fmean(row["cycles"] for row in once)
        steps[k, r] = statistics.fmean(row["steps"] for row in once)
        two = [row["cycles"] for row in mine if row["passes"] == 2]
        if two:
            yield "Two passes", "two passes", f"K = {k}, R = {r}", statistics.fmean(two)
    titles = {"lms": "LMS H10/W4", "slh_dsa": "SLH-DSA-SHA2-128s"}
    engines = {"XMSS-SHA2_10_256": means[4, 2]} if (4, 2) in means else {}
    for r in more("families"):
        engines[titles[r["family"]]] = mean = int(r["cycles"]) / int(r["count"])
        yield "Other families", "time", f"{titles[r['family']]}, K = {r['lanes']}, R = {r['rounds']}", mean
    areas = {}
    for r in more("area"):
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
        areas[r["top"], r["lanes"], r["rounds"]] = r
    for rounds in (2, 1):
        block = 68 // rounds
        yield table(rounds), "time", "sha256", block
        for config, nodes in (("LTREE (without sha256)", 66), ("MERKLEROOT (without sha256)", 10)):
            yield table(rounds), "time", config, nodes * 6 * block
        if ("xmss_hash", 0, rounds) not in areas:
            continue
        parts = {
            "sha256": [("xmss_hash", rounds)],
            "MESSAGEDIGEST": [("xmss_message", 0), ("xmss_hash", rounds)],
            "BUILD_WOTSCHAIN": [("xmss_lane", rounds), ("xmss_hash", rounds)],
        }
        for metric, column in (("LUTs", "luts"), ("FFs", "flip_flops")):
            sums = {name: sum(areas[top, 0, r][column] for top, r in of) for name, of in parts.items()}
            for name, value in sums.items():
                yield table(rounds), metric, name, value
            for k in (1, 2, 4, 8):
                yield table(rounds), metric, f"chains, {named(k)}", k * sums["BUILD_WOTSCHAIN"]
    wholes = {(k, r): area for (top, k, r), area in areas.items() if top == "xmss"}
    for (k, r), area in wholes.items():
        config, place = f"whole, {named(k)}", f"K = {k}, R = {r}"
        yield table(r), "LUTs", config, area["luts"]
        yield table(r), "FFs", config, area["flip_flops"]
        yield from figures("Engine", place, means.get((k, r)), area)
        unit = [areas.get((f"boot_verifier{part}", 0, 0)) for part in ("", "_engine", "_driver")]
        if None not in unit:
            for metric, column in (("LUTs", "luts"), ("FFs", "flip_flops")):
                yield "Engine", f"{metric} with the unit that needs no core", place, sum(it[column] for it in [area, *unit])
    for (k, r), mean in means.items():
        yield table(r), "time", f"whole, {named(k)}", mean
        yield table(r), "time", f"chains, {named(k)}", steps[k, r] * 4 * (68 // r) / k
        calls = 4 * steps[k, r] + 6 * 76 + 4
        yield "Engine", "hash cores at work", f"K = {k}, R = {r}", 100 * calls * (68 // r) / (k * mean)
    for name, title in titles.items():
        table_, config = "Other families", f"{title}, K = 4, R = 2"
        if (f"{name}_alone", 4, 2) in areas:
            yield table_, "LUTs without registers", config, areas[f"{name}_alone", 4, 2]["luts"]
        if (f"xmss for {name}", 4, 2) in areas:
            area = areas[f"xmss for {name}", 4, 2]
            yield table_, "LUTs", config, area["luts"]
            yield table_, "FFs", config, area["flip_flops"]
            yield from figures(table_, config, engines.get(title), area)
    yield from calls_of_a_step([r for r in rows if (r["lanes"], r["rounds"]) == (1, 2)])
    # The engine in the place of the paper's.
    place, beside = ("ECDSA in hardware",), "Section IV, XMSS beside ECDSA"
    luts, cycles = (paper["Section IV, ECDSA", metric, *place] for metric in ("LUTs", "time"))
    for k in (1, 2, 4, 8):
        if (k, 2) in means:
            yield beside, "time", named(k), means[k, 2] / cycles
            yield beside, "time at 100 MHz", named(k), means[k, 2] / clock
        if (k, 2) in wholes:
            yield beside, "area below that of ECDSA", named(k), luts / wholes[k, 2]["luts"]
    for config in dict.fromkeys(c for t, _, c in paper if t == "Section IV, co-designs"):
        if (1, 1) in means:
            yield "Section IV, co-designs", "time", config, means[1, 1]
            yield "Section IV, co-designs", "time at 100 MHz", config, means[1, 1] / clock
        if (1, 1) in wholes:
            yield "Section IV, co-designs", "area", config, wholes[1, 1]["luts"]
            yield "Section IV, co-designs", "registers", config, wholes[1, 1]["flip_flops"]
    found = {"LUTs": [wholes.get((k, 2), {}).get("luts") for k in (1, 2, 4, 8)]}
    found["FFs"] = [wholes.get((k, 2), {}).get("flip_flops") for k in (1, 2, 4, 8)]
    found["time"] = [means.get((k, 2)) for k in (1, 2, 4, 8)]
    for metric, values in found.items():
        if None not in values:
            yield "Table II", metric, "from, XMSS (this work)", min(values)
            yield "Table II", metric, "to, XMSS (this work)", max(values)
    processors = {"rocket-1": "Rocket", "rot": "Ibex"}
    software = more("software")
    for kind, machine, by in dict.fromkeys((r["kind"], r["machine"], r["by"]) for r in software):
        mine = [int(r["cycles"]) for r in software if (r["kind"], r["machine"], r["by"]) == (kind, machine, by)]
        config = f"{kind}, {processors[machine]}, {by}"
        yield "Software against the engine", "time", config, statistics.fmean(mine)
        if kind in engines:
            yield "Software against the engine", "by the engine's", config, statistics.fmean(mine) / engines[kind]
    for r in more("releases"):
        yield "Reset to release", "to the first instruction", f"64 KiB, {r['medium']}", int(r["cycles"]) / clock
    upsets = more("upsets")
    columns = {"upsets": ["runs"], "ended as without an upset": ["same"], "refused": ["refused"], "alert": ["alert"]}
    columns |= {"no end": ["hang"], "forbidden, but not for long enough": ["brief"], "accepted or wrong": ["accepted", "wrong"]}
    for place in dict.fromkeys((r["campaign"], r["variant"], r["input"]) for r in upsets):
        mine = [r for r in upsets if (r["campaign"], r["variant"], r["input"]) == place]
        for metric, names in columns.items():
            yield "Campaigns of upsets", metric, ", ".join(place), sum(int(r[name]) for r in mine for name in names)
    yield from second_paper(constants, paper)


def figures(table, config, cycles, area):
    """Cells beside look-up tables and flip-flops, and products with cycles, where there are any."""
    yield table, "CARRY4", config, area["carries"]
    yield table, "BRAM36", config, area["half_brams"] / 2
    if cycles:
        yield table, "cycles × LUT", config, cycles * area["luts"] / 1e6
    if area["megahertz"]:
        yield table, "frequency", config, float(area["megahertz"])
        if cycles:
            yield table, "ns × LUT", config, cycles * area["luts"] / 1e3 / float(area["megahertz"])


def calls_of_a_step(rows):
    """Hash calls of a step of a chain and of a node, from signatures on one hash core of 34 cycles."""
    low = [r for r in rows if (r["height"], r["passes"]) == (10, 1)]
    if len({r["steps"] for r in low}) < 2:
        return
    slope = statistics.linear_regression([r["steps"] for r in low], [r["cycles"] for r in low]).slope
    yield "Section III-A", "hash calls", "thash_f, after", slope / 34
    rest = {h: [r["cycles"] - slope * r["steps"] for r in rows if (r["height"], r["passes"]) == (h, 1)] for h in (10, 20)}
    if rest[20]:
        node = (statistics.fmean(rest[20]) - statistics.fmean(rest[10])) / 10
        yield "Section III-A", "hash calls", "thash_h, after", node / 34


def second_paper(constants, paper):
    """Its comparisons from its own table, its errata, and both readings of its hash calls."""
    def named(k):
        return f"{k} instance{'s' if k > 1 else ''}"

    def time(config):
        return paper["Table I", "time", config]

    def area(config):
        return paper["Table I", "LUTs", config]

    place = "ECDSA in hardware"
    luts, cycles = (paper["Section IV, ECDSA", metric, place] for metric in ("LUTs", "time"))
    clock, table = 1000 * constants["clock_mhz"], "Section IV, recomputed"
    yield table, "time at 100 MHz", place, cycles / clock
    for k in (1, 2, 4, 8):
        whole, chains = f"whole, {named(k)}", f"chains, {named(k)}"
        yield table, "time", named(k), time(whole) / cycles
        yield table, "area below that of ECDSA", named(k), luts / area(whole)
        yield table, "time at 100 MHz", named(k), time(whole) / clock
        yield table, "time at 200 MHz", whole, time(whole) / constants["clock_met_mhz"] / 1000
        parts = time(chains) + time("LTREE (without sha256)") + time("MERKLEROOT (without sha256)")
        yield "Errata, as arithmetic", "chains, L-tree and path", named(k), parts
        yield "Errata, as arithmetic", "whole without chains", named(k), area(whole) - area(chains)
    murax, micro = (c for t, m, c in paper if (t, m) == ("Section IV, co-designs", "time at 100 MHz"))
    yield table, "time", murax, paper["Section IV, co-designs", "time at 100 MHz", murax] * clock
    yield table, "time at 100 MHz", micro, paper["Section IV, co-designs", "time", micro] / clock
    for end, k in (("from", 8), ("to", 1)):
        config = f"{end}, XMSS (this work)"
        ratio = paper["Table II", "time", config] / time(f"whole, {named(k)}")
        yield "Errata, as arithmetic", "Table II by Table I", config, ratio
    yield "Errata, as arithmetic", "time at 100 MHz", named(1), time("whole, 1 instance") / clock
    yield "Errata, as arithmetic", "area by that of ECDSA", named(8), area("whole, 8 instances") / luts
    for config, path in (("as section III-A prints it", 10), ("with 10 nodes of 32 bytes", 320)):
        yield "Errata, as arithmetic", "length of a signature", config, 4 + 32 + 67 * 32 + path
    # The mean of steps: 64 digits of a uniform digest, and the three of their checksum.
    sums = [1.0]
    for _ in range(64):
        sums = [sum(sums[max(0, at - 15) : at + 1]) / 16 for at in range(len(sums) + 15)]
    steps = sum(p * (c + sum(15 - int(digit, 16) for digit in f"{c:03x}")) for c, p in enumerate(sums))
    parts = (
        ("a step of a chain", steps, time("chains, 1 instance"), (4, 6)),
        ("a node of the L-tree", 66, time("LTREE (without sha256)"), (6, 9)),
        ("a node of the path", 10, time("MERKLEROOT (without sha256)"), (6, 9)),
    )
    for what, count, taken, calls in parts:
        yield "Hash calls, both readings", "calls that fit", what, taken / (count * time("sha256"))
        for reading, of in zip(("as the text says", "before the saving"), calls):
            yield "Hash calls, both readings", f"cycles, {reading}", what, count * of * time("sha256")


def quick_boot_tee(rows, more):
    """Cells of netlists, cycles of a block by DMA, the time of 2 MiB from two lengths, the boots of a TEE, and errata."""
    areas = more("area")
    for r in areas:
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
        engine = r.get("engine", "sha3")  # older runs have no other
        name, of, published, registers = {
            "sha3": ("SHA-3", "block", "SHA-3", "with registers, 2 rounds a cycle"),
            "ed25519": ("Ed25519", "product", "Ed25519 mult", "with registers"),
        }[engine]
        table = "peers" if r["who"] == "peer" else f"{name} in one flow"
        config = f"{r['netlist']}, {r['cycles']} cycles a {'S' if r['netlist'] == 'S of the paper' else of}"
        bits = r["half_brams"] * HALF_BRAM_BITS
        yield table, f"LUT × cycles of a {of}", config, r["luts"] * r["cycles"]
        cells = {"LUT": "luts", "FF": "flip_flops", "CARRY4": "carries", "DSP48E1": "multipliers"}
        for metric, column in cells.items():
            yield table, metric, config, r[column]
        yield table, "BRAM", config, bits
        if r["netlist"] == registers:
            found = (("FFs", r["flip_flops"]), ("RAM Bits", bits), ("DSP", r["multipliers"]))
            for metric, value in found:
                yield "Table 1", metric, published, value
    cycles = {(r["memory"], r["function"], int(r["bytes"])): int(r["cycles"]) for r in rows if r["offset"] == "0"}
    milliseconds = 1000 * REPOSITORY_MHZ
    for function, rate in SHA3_BLOCK.items():
        name, size, whole = function.upper(), 16384, 2 * MIB
        for memory in ("hits", "no cache"):
            total, config = cycles[memory, function, size], f"{name}, {size} bytes, {memory}"
            yield "SHA-3 by DMA", "cost", config, total / size
            yield "SHA-3 by DMA", "a block", config, total / (size // rate + 1)
        # Runs without boots took shorter ones.
        short, long = (16384, 65536) if more("boots") else (4096, 16384)
        few, many = cycles["no cache", function, short], cycles["no cache", function, long]
        block = (many - few) / (long // rate - short // rate)
        total = many + (whole // rate - long // rate) * block
        yield "SHA-3 of 2 MiB", "by DMA", f"{name}, no cache", total / milliseconds
        if function == "sha3-512":
            engine = next(r["cycles"] for r in areas if r["netlist"] == "with registers, 1 round a cycle")
            yield "SHA-3 of 2 MiB", "engine alone", name, (whole // rate + 1) * engine / milliseconds
    yield from tee_boots(more("boots"), more("software"))
    yield from tee_points(more("points"))
    yield from third_paper()


def tee_columns(boots, software):
    """Of each column two lengths whose difference is the cost of a byte, and the parts of each size that was simulated."""
    parts, columns = ("measure", "derive", "key_pair", "sign"), {}
    for who, name in (("crates", "portable software"), ("hartlock", "our software")):
        counts = {(r["what"], r["bytes"]): r["cycles"] for r in software if r["who"] == who}
        if counts:
            rest = [counts[part] for part in (("derive", 64), ("key", 32), ("sign", 96))]
            sizes = sorted(size for what, size in counts if what == "measure")
            short, long, whole = ({"bytes": n, **dict(zip(parts, [counts["measure", n], *rest]))} for n in sizes)
            columns[name] = [short, long], {whole["bytes"]: whole}
    for name in dict.fromkeys(r["column"] for r in boots):
        mine = sorted((r for r in boots if r["column"] == name), key=lambda r: r["bytes"])
        if name not in columns and name != "our software":
            columns[name] = [mine[0], mine[-1]] if len(mine) > 1 else None, {r["bytes"]: r for r in mine}
    return columns


def tee_boots(boots, software):
    """Figure 6, its ratios, and table 2: sizes that were simulated, the others on the line through two lengths."""
    for r in boots + software:
        r.update({k: int(v) for k, v in r.items() if v.isdigit()})
    columns = tee_columns(boots, software)

    def byte(name):
        short, long = columns[name][0]
        return (long["measure"] - short["measure"]) / (long["bytes"] - short["bytes"])

    def on_line(name, size):
        long = columns[name][0][1]
        return long["measure"] + byte(name) * (size - long["bytes"])

    def others(name, size):
        line, whole = columns[name]
        return whole[size] if size in whole else line[1]

    def measure(name, size):
        whole = columns[name][1]
        return whole[size]["measure"] if size in whole else on_line(name, size)

    def total(name, size, passes):
        rest = others(name, size)
        return passes * measure(name, size) + rest["derive"] + rest["key_pair"] + rest["sign"]

    for r in (r for r in boots if r["bytes"] == BOOT_SIZES[0]):
        config = f"{r['column']}, 64 KiB"
        for part in ("measure", "derive", "key_pair", "device_key", "sign"):
            yield "Boot of a monitor", part.replace("_", " "), config, r[part]
        whole = r["measure"] + r["derive"] + r["key_pair"] + r["sign"]
        yield "Boot of a monitor", "whole", config, whole
        if r["column"] == "our software" and "our software" in columns:
            off = abs(whole / total("our software", r["bytes"], 1) - 1) * 100
            what = "64 KiB, boot of the loader against its parts"
            yield "Software on a bare hart", what, "our software", off
    for name, (line, simulated) in columns.items():
        known = BOOT_SIZES if line else sorted(simulated)
        for passes, metric in ((1, "one pass"), (3, "three passes")):
            for size in known:
                text = f"{size // MIB} MiB" if size >= MIB else f"{size >> 10} KiB"
                yield "Figure 6", metric, f"{name}, {text}", total(name, size, passes)
        between = [size for size in simulated if line and size not in (line[0]["bytes"], line[1]["bytes"])]
        if between:
            off = max(abs(on_line(name, size) / simulated[size]["measure"] - 1) for size in between)
            yield "Figure 6, against a line", "simulated sizes, at most", name, 100 * off
        if line:
            yield "Boot of 2 MiB", "whole", name, total(name, 2 * MIB, 1)
            signed = 2 * measure(name, 2 * MIB) + others(name, BOOT_SIZES[0])["sign"]
            yield "Table 2, the payload signed", "sign, two passes over 2 MiB", name, signed / REPOSITORY_MHZ / 1000
    for fast, line in ((name, column[0]) for name, column in columns.items() if column[0]):
        for slow in (name for name in columns if columns[name][0]):
            ratio = total(slow, 2 * MIB, 1) / total(fast, 2 * MIB, 1)
            yield "Boot of 2 MiB", "ratio", f"{fast}, against {slow}", ratio
    published = {
        "Software": "portable software",
        "HW SHA-3, SW Ed25519": "SHA-3 engine",
        "HW SHA-3, HW Ed25519": "DMA, 24 cycles",
    }
    for theirs, name in published.items():
        if name in columns:
            found = others(name, BOOT_SIZES[0])
            sign = found["sign"] + (2 * measure(name, 2 * MIB) if theirs == "Software" else 0)
            yield "Table 2", "time", f"{theirs}, Ed25519 genkey", found["key_pair"] / REPOSITORY_MHZ / 1000
            yield "Table 2", "time", f"{theirs}, Ed25519 sign", sign / REPOSITORY_MHZ / 1000
    if {"SHA-3 engine", "DMA, 24 cycles"} <= columns.keys():
        both = [others(name, BOOT_SIZES[0]) for name in ("DMA, 24 cycles", "SHA-3 engine")]
        engines, slow = (r["key_pair"] + r["sign"] for r in both)
        yield "Abstract, Ed25519", "decrease of the time", "genkey and sign", 100 * (1 - engines / slow)
    if {"portable software", "engines in the paper's manner"} <= columns.keys():
        slow, fast = (total(name, 2 * MIB, 3) for name in ("portable software", "engines in the paper's manner"))
        yield "Abstract", "speed-up", "SHA-3, signature procedure", math.log10(slow / fast)
    for r in software:
        who = {"crates": "portable software", "hartlock": "our software"}[r["who"]]
        config = f"{who}, {r['what']}, {r['bytes']} bytes"
        yield "Software on a bare hart", "time", config, r["cycles"]
        yield "Software on a bare hart", "instructions", config, r["instructions"]


def tee_points(points):
    """Timelines of boots from a storage of a byte a cycle, and a whole boot beside reading alone."""
    for r in points:
        if r["storage_rate"] != "1000":
            continue
        config = f"{r['column']}, {int(r['bytes']) >> 10} KiB"
        yield "Timeline", f"{r['number']}. {r['point']}", config, int(r["cycle"])
        if r["column"] == "engines, while read, quiet" and r["point"] == "entered":
            jump, medium, place = int(r["cycle"]), int(r["medium"]), "monitor of 2 MiB, a byte a cycle"
            yield "From storage", "reset to jump", place, jump
            yield "From storage", "reading", place, medium
            yield "From storage", "reset to jump, by reading", place, jump / medium


def third_paper():
    """Its errata, from what it prints and from cycles of its authors' repository."""
    constants, tables = numbers_of(THIRD_PAPER)
    product, s = constants["repository_product_cycles"], constants["repository_s_cycles"]
    kilohertz = 1000 * constants["clock_mhz"]
    blocks = constants["payload_bytes"] // 72 + 1
    genkey, sign = (
        [tables["Table 2", "time", f"{of}, Ed25519 {what}"] for of in ("Software", "HW SHA-3, SW Ed25519", "HW SHA-3, HW Ed25519")]
        for what in ("genkey", "sign")
    )
    block = sign[0] * kilohertz / (2 * blocks)
    mult = {metric: tables["Table 1", metric, "Ed25519 mult"] for metric in ("DSP", "DSP (%)", "Total", "RAM Bits", "RAM (%)")}
    found = {
        ("genkey, engines", "cycles of the multiplier"): product / kilohertz,
        ("sign, engines", "multiplier, then S"): (product + s) / kilohertz,
        ("sign, engines", "two passes over 2 MiB at 12 cycles a block"): 2 * blocks * 12 / kilohertz,
        ("sign by genkey, software", "table 2"): sign[0] / genkey[0],
        ("a block, software", "two passes over 2 MiB"): block,
        ("genkey by SHA-3, software", "109.5 - 93.4 ms"): (genkey[0] - genkey[1]) * kilohertz / block,
        ("sign less genkey, software", "Ed25519 beside the SHA-3 engine"): sign[1] - genkey[1],
        ("clock", "cycles of the multiplier in genkey"): product / genkey[2] / 1000,
        ("RAM of the whole system", "sum of table 1"): mult["RAM (%)"] + tables["Table 1", "RAM (%)", "Rocket Tiles"],
        ("speed-up of sign", "table 2, software by engines"): math.log10(sign[0] / sign[2]),
        ("decrease of the time", "genkey, table 2"): 100 * (1 - genkey[2] / genkey[1]),
        ("decrease of the time", "sign, table 2"): 100 * (1 - sign[2] / sign[1]),
        ("DSP blocks of S", "as its share of 10.0 % says"):
            mult["DSP"] / mult["DSP (%)"] * tables["Table 1", "DSP (%)", "Ed25519 sign"],
        ("Total", "multiplier, without its RAM bits"): mult["Total"] - mult["RAM Bits"],
        ("2^252 - 19 modulo 3", "the modulus as printed"): (2**252 - 19) % 3,
        ("time of 32 MiB by time of 64 KiB", "payload alone"): (32 * MIB) / (64 << 10),
    }
    for (metric, config), value in found.items():
        yield "Errata, as arithmetic", metric, config, value


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


def verdicts(rows):
    """Rows whose ratio or status does not follow from their other numbers (spec/lab-run.md)."""
    for row in rows:
        ours, target, ratio = row["ours"], row["target"], row["ratio"]
        other = row["published"] if row["published"] is not None else row.get("peer")
        if ratio is not None and abs(ours / other - ratio) > 0.0006:
            yield row, f"the ratio is {ours / other:.4f}, not {ratio}"
        is_hit = None not in (ours, target) and (ours >= target if row["better"] == "higher" else ours <= target)
        status = "info" if target is None else "hit" if is_hit else "miss"
        if row["status"] != status:
            yield row, f"it is a {status}, not a {row['status']}"


MAKERS = (
    host_speed,
    opentitan_accelerator,
    parallel_verification,
    post_quantum_xmss,
    quick_boot_tee,
    vector_crypto,
    vector_crypto_models,
)


def main(folder):
    compared, wrong, absent = 0, 0, 0
    for make in MAKERS:
        key = make.__name__.replace("_", "-")

        def samples(kind=None):
            path = folder / (f"{key}-{kind}.csv" if kind else f"{key}.csv")
            if not path.exists():
                return []
            with path.open(newline="") as file:
                return list(csv.DictReader(file))

        if not (folder / f"{key}.json").exists():
            print(f"{key}: no run is stored")
            continue
        kinds = [path.stem for path in sorted(folder.glob(f"{key}-*.csv"))]
        run = json.loads((folder / f"{key}.json").read_text())
        rows = {(r["table"], r["metric"], r["config"]): r["ours"] for r in run["rows"]}
        for row, what in verdicts(run["rows"]):
            wrong += 1
            print(f"{key}: {row['table']}, {row['metric']}, {row['config']}: {what}")
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
        known = sum(row["ours"] is not None for row in run["rows"])
        print(f"{key}: {len(seen)} of {known} numbers recomputed from {1 + len(kinds)} files")
        if key == "opentitan-accelerator" and not samples("software"):
            absent += 1
            print(f"{key}: no samples of software and of single accesses: an older run")
    print(f"{compared} compared, {wrong} wrong, {absent} runs without all of their samples")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "lab/runs/latest")))
