//! Runs `hartlock-bench`, the program for owners of boards, under Debian's kernel on emulated processors.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xtask::{Outcome, firmware, initramfs, tools};

use crate::bench;

/// The first program: it runs the other one and shows what that wrote.
const INIT: &str = "#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
/hartlock-bench --quick >/out 2>/err
echo \"bench: ended with $?\"
busybox cat /err
echo \"bench: $(busybox wc -l </out) line\"
busybox cat /out
if busybox test -e /full; then
    /hartlock-bench --quick >/dev/full 2>/dev/null
    echo \"bench: on a full disk it ended with $?\"
fi
busybox poweroff -f
";

/// An `openssl` that knows one algorithm, answers nonsense for another one and fails for the rest.
const OPENSSL: &str = "#!/bin/busybox sh
case \"$*\" in
version) echo 'OpenSSL 9.9.9 of the test' ;;
*sha256) echo '+F:25:sha256:1000000.50' ;;
*aes-256-ctr) echo '+F:25:AES-256-CTR:inf' ;;
*) exit 1 ;;
esac
";

/// A processor, extensions that its probes find and miss, and a kernel that it has and one that it has not.
struct Processor {
    cpu: &'static str,
    vlen: u64,
    works: &'static [&'static str],
    traps: &'static [&'static str],
    has: [&'static str; 3],
    lacks: [&'static str; 3],
}

const PROCESSORS: [Processor; 3] = [
    Processor {
        cpu: "rv64,zba=false,zbb=false,zbc=false,zbs=false",
        vlen: 0,
        works: &[],
        traps: &["zbb", "zknh", "v", "zvkb", "zvkned", "zvknhb"],
        has: ["sha256", "one", "rv64"],
        lacks: ["sha256", "one", "zbb"],
    },
    Processor {
        cpu: "rv64,v=true,vlen=256,elen=64",
        vlen: 256,
        works: &["zbb", "v"],
        traps: &["zknh", "zvkb", "zvkned", "zvkg", "zvknha"],
        has: ["sha3-256", "lanes", "v"],
        lacks: ["sha3-256", "lanes", "zvbb"],
    },
    Processor {
        cpu: "rv64,v=true,vlen=256,elen=64,zbkb=true,zbkc=true,zkne=true,zvbb=true,zvkb=true,zvbc=true,zvkned=true,zvkg=true,zvknhb=true",
        vlen: 256,
        works: &["zbb", "zkne", "v", "zvbb", "zvkb", "zvbc", "zvkned", "zvkg", "zvknhb"],
        traps: &["zknh"],
        has: ["aes-256-gcm", "decrypt-verify", "zvkg"],
        lacks: ["sha256", "one", "zknh"],
    },
];

/// The beginning of the tag that the program knows, and that of the digest of `abc` by SHA-256.
const KNOWN: [[u8; 8]; 2] = [
    [0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99, 0x6b, 0xf0],
    [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea],
];

/// Test step: the program finds what three processors have, and a known answer that is another one in its file.
pub fn step(_: &Path) -> Result<Outcome> {
    let program = fs::read(firmware::bench_program()?)?;
    for processor in &PROCESSORS {
        let found = run(&program, processor.cpu, false)?;
        if let Err(fault) = judge(processor, &found) {
            return Ok(Outcome::Failed(format!("{}: {fault:#}\n{}", processor.cpu, found.console)));
        }
    }
    let mut wrong = program;
    for known in KNOWN {
        let places: Vec<usize> =
            (0..wrong.len()).filter(|at| wrong[*at..].starts_with(&known)).collect();
        ensure!(!places.is_empty(), "the program has no known answer {known:x?}");
        for at in places {
            wrong[at] ^= 1;
        }
    }
    let found = run(&wrong, PROCESSORS[0].cpu, true)?;
    if !found.console.contains("bench: on a full disk it ended with 2\n") {
        return Ok(Outcome::Failed(format!("a file is lost in silence\n{}", found.console)));
    }
    for kernel in [["sha256", "one", "rv64"], ["aes-256-gcm", "decrypt-verify", "portable"]] {
        let status = found.status(kernel)?;
        if found.code != 1 || status != "wrong" {
            let why = format!("with wrong known answers {kernel:?} is {status}");
            return Ok(Outcome::Failed(format!("{why}\n{}", found.console)));
        }
    }
    Ok(Outcome::Passed)
}

/// What the program left.
struct Found {
    code: u32,
    file: Value,
    console: String,
}

impl Found {
    fn status(&self, [name, form, tier]: [&str; 3]) -> Result<&str> {
        let kernels = self.file["kernels"].as_array().context("no kernels")?;
        let kernel = kernels
            .iter()
            .find(|it| it["name"] == name && it["form"] == form && it["tier"] == tier);
        kernel
            .and_then(|it| it["status"].as_str())
            .with_context(|| format!("no row {name} {form} {tier}"))
    }
}

/// Runs the program under Linux and, if wanted, once more with an output that takes nothing.
fn run(program: &[u8], cpu: &str, is_full: bool) -> Result<Found> {
    let tools = tools::locate()?;
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("initramfs");
    let programs = [
        ("hartlock-bench", program),
        ("usr/bin/openssl", OPENSSL.as_bytes()),
        ("full", b"".as_slice()),
    ];
    let programs = &programs[..if is_full { 3 } else { 2 }];
    initramfs::with_programs(&tools.busybox, programs, INIT, &archive)?;
    let kernel = tools.debian_kernel.to_str().context("the path of the kernel")?;
    let archive = archive.to_str().context("the path of the archive")?;
    let line = "console=ttyS0 loglevel=3";
    let options = ["-cpu", cpu, "-kernel", kernel, "-initrd", archive, "-append", line];
    let console = bench::emulate_without_pack(&tools.opensbi, &options)?;
    let code = console.lines().find_map(|line| line.strip_prefix("bench: ended with "));
    let code = code.context("it did not end").with_context(|| console.clone())?.parse()?;
    ensure!(console.contains("bench: 1 line\n"), "not one line\n{console}");
    let json = console.lines().find(|line| line.starts_with('{')).context("no line of JSON")?;
    let file = serde_json::from_str(json).with_context(|| console.clone())?;
    Ok(Found { code, file, console })
}

fn judge(processor: &Processor, found: &Found) -> Result<()> {
    ensure!(found.code == 0, "it ended with {}", found.code);
    let file = &found.file;
    // The reader of files that owners of boards send takes this one, but for its short samples.
    let mut sent = file.clone();
    sent["quick"] = false.into();
    hartlock_results::boards::Board::parse(sent.to_string().as_bytes())?;
    ensure!(file["schema"] == 1 && file["quick"] == true, "not the form that was asked for");
    ensure!(file["vlen"] == processor.vlen, "vector registers of {} bits", file["vlen"]);
    for (names, word) in [(processor.works, "works"), (processor.traps, "traps")] {
        for name in names {
            ensure!(file["probes"][name] == word, "{name}: {}", file["probes"][name]);
        }
    }
    ensure!(found.status(processor.has)? == "measured", "{:?} was not measured", processor.has);
    ensure!(found.status(processor.lacks)? == "absent", "{:?} is not absent", processor.lacks);
    let cpuinfo = file["cpuinfo"].as_str().unwrap_or_default();
    ensure!(cpuinfo.contains("processor"), "no /proc/cpuinfo");
    let peer = &file["openssl"];
    ensure!(peer["version"] == "OpenSSL 9.9.9 of the test", "the version of OpenSSL");
    let rates: Vec<&Value> =
        peer["rows"].as_array().into_iter().flatten().map(|row| &row["bytes_per_second"]).collect();
    ensure!(rates.len() == 6 && rates[0] == &serde_json::json!([1_000_000]), "rates: {rates:?}");
    ensure!(rates[1..].iter().all(|rate| rate.is_null()), "rates: {rates:?}");
    Ok(())
}
