//! `cargo xtask hw` builds the cycle-accurate simulated machines (`hw/README.md`) and runs programs on them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};
use hartlock_handoff::{Entry, Step};
use hartlock_image::{HashId, PayloadType, TreeMode};
use hartlock_timeline::report::Report;
use hartlock_timeline::{Look, Timeline, chart};

use hartlock_testkit::bundle::Edit;
use xtask::{Verdict, firmware, project, run};

pub mod ciphertexts;
pub mod cva6;
pub mod digests;
pub(crate) mod ibex;
pub mod kept;
mod key_requests;
pub mod loader;
pub mod model;
mod number_vectors;
pub mod numbers;
pub mod report;
pub mod rot;
pub mod rot_boot;
pub mod rot_crypto;
pub mod rot_dma;
mod rot_faults;
pub mod rot_keys;
pub mod rot_signature;
pub mod rot_streams;
mod rot_tee;
mod scratchpads;
mod signature_vectors;
pub mod signatures;
mod smoke;
pub mod soc;
mod steps;
pub mod svu;
pub mod svu_boot;
pub(crate) mod svu_cases;
pub mod tee;
pub mod tee_boot;

use model::{CORES, Core};
use rot::{ROTS, Rot};
use rot_boot::{HostBoot, RotBootResult, SignedBy};
use smoke::medium;
pub use smoke::{End, Machine, SmokeReport};
use soc::{SOCS, Soc};
pub use steps::{rot_first_step, rot_step, soc_step, step};
use svu::{SVUS, Svu};
pub use svu_cases::{release_step, step as svu_step};
use tee::{TEES, Tee};
use tee_boot::ComputeMode;
use xtask::python;

/// Bytes of a block of the smoke program; small, so that a run takes seconds.
const SMOKE_BLOCK: usize = 512;
/// Bytes of a block for numbers to quote; large, so that start and end of a hash are negligible.
const QUOTED_BLOCK: usize = 16 << 10;

/// The options for other modes than a boot. An option that requires `--boot` must also conflict with all of these: if
/// an option that conflicts with `--boot` is given, clap does not enforce the requirement.
const OTHER_MODES: [&str; 7] =
    ["program", "faults", "dma", "guard", "signatures", "numbers", "crypto"];

#[derive(clap::Args)]
pub struct MachineArgs {
    /// Names of machines [default: those of the everyday tests]
    #[arg(value_name = "MACHINE", value_parser = kind)]
    machines: Vec<MachineKind>,
    /// Print the names of all machines
    #[arg(long)]
    list: bool,
    /// Size of each of the four blocks to hash, in bytes; a multiple of 512
    #[arg(long, value_name = "BYTES", value_parser = block_size)]
    block_size: Option<usize>,
    /// Show how the cycles of each hart were spent
    #[arg(short, long)]
    verbose: bool,
    /// Size of the bundle that a root of trust boots, in bytes [default: 64 KiB]. For `rot`, --block-size hashes
    /// its largest payload in blocks
    #[arg(long, value_name = "BYTES", requires = "boot", conflicts_with_all = OTHER_MODES, value_parser = bundle_size)]
    bundle_size: Option<usize>,
    /// Hash of the largest payload that `rot` boots [default: sha256]
    #[arg(long, value_name = "HASH", requires = "boot", conflicts_with_all = OTHER_MODES, value_parser = hash)]
    hash: Option<HashId>,
    /// Signature algorithm of the bundle that a root of trust or its host boots: ed25519, lms, lms-w8, xmss or
    /// slh-dsa; on `rot-full` and `rot-secure` also rsa-pss, rsa-pkcs1, ecdsa-p256 and ecdsa-p384. Engines verify
    /// all of these except ed25519 [default: LMS, with only the SHA-256 engine]
    #[arg(long, value_name = "ALGORITHM", requires = "boot", conflicts_with_all = OTHER_MODES, conflicts_with = "tee", value_parser = SignedBy::from_name)]
    signed_by: Option<SignedBy>,
    /// What computes when a TEE boots [default: engines and the software of this project]
    #[arg(long, value_name = "WHAT", requires = "boot", conflicts_with_all = OTHER_MODES, value_parser = ComputeMode::from_name)]
    by: Option<ComputeMode>,
    /// Boot a TEE, whose monitor the root of trust measures and endorses; --bundle-size is the size of the monitor
    #[arg(long, requires = "boot", conflicts_with_all = OTHER_MODES, conflicts_with_all = ["hash", "block_size"])]
    tee: bool,
    /// Build a model that can write waveforms (options --vcd… of the machine)
    #[arg(long)]
    waves: bool,
    /// Boot the loader with small payloads, and show its measurement log
    #[arg(long, conflicts_with = "program")]
    boot: bool,
    /// Boot the root of trust with each fault in bundle, memory, chip or ROM that it must survive or refuse
    #[arg(long, conflicts_with_all = ["program", "boot", "options"])]
    faults: bool,
    /// Hash by DMA on the root of trust, and count cycles from doorbell to digest; with a host, through its caches
    #[arg(long, conflicts_with_all = ["program", "boot", "faults"])]
    dma: bool,
    /// Make the storage of a host write at each boundary of the guarded ranges
    #[arg(long, conflicts_with_all = ["program", "boot", "faults", "dma", "options"])]
    guard: bool,
    /// Verify hash-based signatures on the root of trust or in software on a host, and count cycles
    #[arg(long, conflicts_with_all = ["program", "boot", "faults", "dma", "guard", "options"])]
    signatures: bool,
    /// Verify RSA and ECDSA signatures on a root of trust or a host, by the big-number engine if there is one, else
    /// in software, and count cycles; the engine also gets signatures with a flipped bit
    #[arg(long, conflicts_with_all = ["program", "boot", "faults", "dma", "guard", "signatures", "options"])]
    numbers: bool,
    /// Run known-answer tests of the AES and big-number engines of a root of trust, also with broken or upset
    /// engines; with a host, test keys by handle and requests that must be refused
    #[arg(long, conflicts_with_all = ["program", "boot", "faults", "dma", "guard", "signatures", "numbers", "options"])]
    crypto: bool,
    /// Run this program instead of the smoke program
    #[arg(long, value_name = "ELF")]
    program: Option<PathBuf>,
    /// Options for the machine (hw/README.md), after `--`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// The kind of a machine, with its configuration.
#[derive(Clone, Copy)]
enum MachineKind {
    /// Only Rocket.
    Host(Core),
    /// Only the root of trust.
    Rot(Rot),
    /// A host and the root of trust.
    Soc(Soc),
    /// A host with engines of its own.
    Tee(Tee),
    /// A signature verification unit and its host.
    Svu(Svu),
}

impl MachineKind {
    fn all() -> impl Iterator<Item = MachineKind> {
        let own =
            ROTS.into_iter().map(MachineKind::Rot).chain(SOCS.into_iter().map(MachineKind::Soc));
        let own = own.chain(TEES.into_iter().map(MachineKind::Tee));
        let own = own.chain(SVUS.into_iter().map(MachineKind::Svu));
        CORES.into_iter().map(MachineKind::Host).chain(own)
    }

    fn is_daily(self) -> bool {
        match self {
            MachineKind::Host(core) => core.is_daily,
            MachineKind::Rot(rot) => rot.is_daily,
            MachineKind::Soc(soc) => soc.is_daily,
            MachineKind::Tee(tee) => tee.is_daily,
            MachineKind::Svu(svu) => svu.is_daily,
        }
    }

    /// Returns the command that runs a program on the machine.
    fn command(self, args: &MachineArgs, program: &Path) -> Result<Command> {
        let machine = match self {
            MachineKind::Host(core) => model::machine(core, args.waves)?,
            MachineKind::Rot(_) if args.waves => {
                anyhow::bail!("the root of trust alone has no waves")
            }
            MachineKind::Rot(rot) => rot::machine(rot)?,
            MachineKind::Soc(soc) => return soc::command(soc, args.waves, &args.options, program),
            MachineKind::Tee(_) if args.waves => anyhow::bail!("this machine has no waves"),
            MachineKind::Tee(tee) => tee::machine(tee)?,
            MachineKind::Svu(_) if args.waves => anyhow::bail!("this machine has no waves"),
            MachineKind::Svu(svu) => svu::machine(svu)?,
        };
        let mut command = Command::new(machine);
        command.args(&args.options).arg(program);
        Ok(command)
    }
}

fn kind(name: &str) -> Result<MachineKind, String> {
    let own = rot::rot(name).map(MachineKind::Rot).or_else(|| soc::soc(name).map(MachineKind::Soc));
    let own = own.or_else(|| tee::tee(name).map(MachineKind::Tee));
    let own = own.or_else(|| svu::svu(name).map(MachineKind::Svu));
    let others = || {
        let names = ROTS.map(|rot| rot.name).into_iter().chain(SOCS.map(|soc| soc.name));
        let names = names.chain(TEES.map(|tee| tee.name)).chain(SVUS.map(|svu| svu.name));
        names.map(|name| format!(", {name}")).collect::<String>()
    };
    let host =
        || model::core(name).map(MachineKind::Host).map_err(|error| format!("{error}{}", others()));
    own.map_or_else(host, Ok)
}

fn block_size(text: &str) -> Result<usize, String> {
    let size: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    let is_good = (512..=4 << 20).contains(&size) && size.is_multiple_of(512);
    if is_good { Ok(size) } else { Err("expected a multiple of 512, at most 4 MiB".into()) }
}

/// Parses the size of a bundle: at least the size of its three payloads, at most what fits into the region of the
/// largest.
fn bundle_size(text: &str) -> Result<usize, String> {
    let size: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    let is_good = (20 << 10..=2 << 20).contains(&size) && size.is_multiple_of(4096);
    if is_good { Ok(size) } else { Err("expected a multiple of 4096, from 20 KiB to 2 MiB".into()) }
}

fn hash(name: &str) -> Result<HashId, String> {
    HashId::from_name(name)
        .ok_or_else(|| format!("expected one of {}", HashId::ALL.map(HashId::name).join(", ")))
}

pub fn main(args: &MachineArgs) -> Result<Verdict> {
    if args.list {
        for core in CORES {
            println!("{:<14} {}", core.name, core.about);
        }
        for rot in ROTS {
            println!("{:<14} {}", rot.name, rot.about);
        }
        for soc in SOCS {
            println!("{:<14} {}", soc.name, soc.about);
        }
        for tee in TEES {
            println!("{:<14} {}", tee.name, tee.about);
        }
        for svu in SVUS {
            println!("{:<14} {}", svu.name, svu.about);
        }
        return Ok(Verdict::Yes);
    }
    let machines = match &args.machines[..] {
        [] => MachineKind::all().filter(|kind| kind.is_daily()).collect(),
        machines => machines.to_vec(),
    };
    if let Some(program) = &args.program {
        return run_program(args, &machines, program);
    }
    let (mut cores, mut rots, mut socs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tees, mut svus) = (Vec::new(), Vec::new());
    for machine in machines {
        match machine {
            MachineKind::Host(core) => cores.push(core),
            MachineKind::Rot(rot) => rots.push(rot),
            MachineKind::Soc(soc) => socs.push(soc),
            MachineKind::Tee(tee) => tees.push(tee),
            MachineKind::Svu(svu) => svus.push(svu),
        }
    }
    if args.boot {
        for core in cores {
            boot_loader(core, args)?;
        }
        for rot in rots {
            if args.tee { boot_tee(rot, args)? } else { boot_rot(rot, args)? }
        }
        for soc in socs {
            if args.tee { boot_tee_of_host(soc, args)? } else { boot_soc(soc, args)? }
        }
        let mut verdict = Verdict::Yes;
        for tee in tees {
            if !tee_boot::show(tee, args.bundle_size, args.by)? {
                verdict = Verdict::No;
            }
        }
        for svu in svus {
            svu_boot::show(svu, args.bundle_size, &args.options)?;
        }
        return Ok(verdict);
    }
    if args.faults {
        return provoke_faults(&rots, &socs, &svus);
    }
    if args.signatures {
        return verify_signatures(&rots, &cores);
    }
    if args.numbers {
        ensure!(
            !rots.is_empty() || !cores.is_empty(),
            "--numbers needs a root of trust or a host: rot-full, rocket-1"
        );
        numbers::print_table(&rots, &cores)?;
        return Ok(Verdict::Yes);
    }
    if args.crypto {
        return answer_known(&rots, &socs);
    }
    if args.dma {
        return hash_by_dma(args, &rots, &socs);
    }
    if args.guard {
        return try_guard(&socs);
    }
    smoke_hosts(args, &cores)?;
    smoke_rots(args, &rots)?;
    smoke_socs(args, &socs)?;
    match try_tees(&tees)? {
        Verdict::Yes => svu_cases::tried(&svus),
        verdict => Ok(verdict),
    }
}

/// Provokes faults on these machines, and prints for each the first fault that is not handled.
fn provoke_faults(rots: &[Rot], socs: &[Soc], svus: &[Svu]) -> Result<Verdict> {
    let mut verdict = Verdict::Yes;
    let mut tell = |name: &str, fault: Option<String>| match fault {
        None => println!("{name}: every fault ends as it has to"),
        Some(why) => {
            println!("{name}: {why}");
            verdict = Verdict::No;
        }
    };
    for rot in rots {
        tell(rot.name, rot_tee::fault(*rot, false, &rot::folder(*rot).join("tee"))?);
        tell(rot.name, rot_boot::faults(*rot, false, &rot::folder(*rot).join("boot"))?);
        tell(rot.name, rot_signature::fault(*rot, false, &rot::folder(*rot).join("signature"))?);
    }
    for soc in socs {
        tell(soc.name, rot_boot::host_faults(*soc, &soc::folder(*soc).join("boot"))?);
        let folder = soc::folder(*soc).join("signature");
        tell(soc.name, rot_signature::host_fault(*soc, false, &folder)?);
        tell(soc.name, rot_tee::host_fault(*soc, &soc::folder(*soc).join("tee"))?);
    }
    for svu in svus {
        tell(svu.name, svu_cases::fault(*svu, svu_cases::Which::All)?);
    }
    Ok(verdict)
}

/// Runs the program that hashes by DMA on these machines, and checks the bounds for the default memory.
fn hash_by_dma(args: &MachineArgs, rots: &[Rot], socs: &[Soc]) -> Result<Verdict> {
    ensure!(socs.is_empty() || args.options.is_empty(), "--dma beside a host takes no options");
    for soc in socs {
        let rows = rot_dma::measure_coherent(*soc)?;
        rot_dma::print_table(&rows, "through the caches of the host, which runs");
    }
    let options: Vec<&str> = args.options.iter().map(String::as_str).collect();
    for rot in rots {
        let rows = rot_dma::measure(*rot, &options)?;
        let memory = match options.as_slice() {
            [] => "with the payload in the last-level cache".to_owned(),
            options => format!("with {}", options.join(" ")),
        };
        rot_dma::print_table(&rows, &memory);
        let fault = if options.is_empty() { rot_dma::fault(&rows)? } else { None };
        println!("{} digests by the other feeds of the drivers", rot_dma::feed(*rot)?);
        if let Some(why) = fault {
            println!("{}: {why}", rot.name);
            return Ok(Verdict::No);
        }
    }
    Ok(Verdict::Yes)
}

/// Verifies a signature of each kind on these machines.
fn verify_signatures(rots: &[Rot], cores: &[Core]) -> Result<Verdict> {
    ensure!(
        !rots.is_empty() || !cores.is_empty(),
        "--signatures needs rot or a host: rocket-1-full"
    );
    for rot in rots {
        signature_vectors::print(*rot)?;
    }
    signatures::print_table(rots, cores)?;
    Ok(Verdict::Yes)
}

/// Runs the known answers of AES and big numbers on these machines, and the requests of a host with keys.
fn answer_known(rots: &[Rot], socs: &[Soc]) -> Result<Verdict> {
    let is_right = rots.len() + socs.len() > 0
        && rots.iter().all(|rot| rot.has_bignum())
        && socs.iter().all(|soc| soc.has_all_engines);
    ensure!(is_right, "--crypto needs a root of trust with all engines: rot-full or soc-1-full");
    for soc in socs {
        if let Some(why) = rot_keys::fault(*soc, &soc::folder(*soc).join("keys"))? {
            println!("{}: {why}", soc.name);
            return Ok(Verdict::No);
        }
        println!("{}: the host uses keys by handle, and is refused what it has to be", soc.name);
    }
    for rot in rots {
        rot_streams::print(*rot)?;
        rot_crypto::print(*rot)?;
        if let Some(why) = rot_crypto::fault(*rot, &rot::folder(*rot).join("crypto"))? {
            println!("{}: {why}", rot.name);
            return Ok(Verdict::No);
        }
        println!("{}: engines that are broken or upset are noticed", rot.name);
    }
    Ok(Verdict::Yes)
}

/// Runs the first-stage loader on these machines, by engines and in software, and with faults that it has to refuse.
fn try_tees(tees: &[Tee]) -> Result<Verdict> {
    for tee in tees {
        if let Some(why) = tee_boot::fault(*tee, false)? {
            println!("{}: {why}", tee.name);
            return Ok(Verdict::No);
        }
        println!("{}: the monitor gets the same keys by engines and in software", tee.name);
    }
    Ok(Verdict::Yes)
}

/// Lets the storage of these machines write to ranges that the guard closes.
fn try_guard(socs: &[Soc]) -> Result<Verdict> {
    ensure!(!socs.is_empty(), "--guard needs a machine with a host and a guard: soc-1 or soc-4");
    for soc in socs {
        if let Some(why) = soc::guard_fault(*soc)? {
            println!("{}: {why}", soc.name);
            return Ok(Verdict::No);
        }
        print!("{}", soc::guard(*soc, &[])?.1);
        println!("{}: nothing closed was written; a range left open is noticed", soc.name);
    }
    Ok(Verdict::Yes)
}

/// Runs the smoke program of the root of trust on these machines. If the command names no machine, the options after
/// `--` are for the host only.
fn smoke_rots(args: &MachineArgs, rots: &[Rot]) -> Result<()> {
    let options: Vec<&str> = args.options.iter().map(String::as_str).collect();
    let options = if args.machines.is_empty() { &[] } else { &options[..] };
    let rows = rots.iter().map(|rot| Ok((*rot, rot::smoke(*rot, options)?)));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    if !rows.is_empty() {
        rot::print_table(&rows);
    }
    Ok(())
}

/// Runs the smoke programs of host and root of trust.
fn smoke_socs(args: &MachineArgs, socs: &[Soc]) -> Result<()> {
    let options = if args.machines.is_empty() { &[] } else { &args.options[..] };
    let block_len = args.block_size.unwrap_or(SMOKE_BLOCK);
    let rows = socs.iter().map(|soc| Ok((*soc, soc::released(*soc, block_len, options)?)));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    if !rows.is_empty() {
        soc::print_table(&rows);
    }
    Ok(())
}

/// Runs the smoke program of the host.
fn smoke_hosts(args: &MachineArgs, cores: &[Core]) -> Result<()> {
    if cores.is_empty() {
        return Ok(());
    }
    let program = build_smoke()?;
    let mut rows = Vec::new();
    for &core in cores {
        let machine = model::machine(core, args.waves)?;
        let folder = folder(core);
        let runs = Machine {
            machine: &machine,
            program: &program,
            folder: &folder,
            options: &args.options,
        };
        let usual = if core.is_daily { SMOKE_BLOCK } else { QUOTED_BLOCK };
        let block_len = args.block_size.unwrap_or(usual);
        eprintln!("running the smoke program on {} with blocks of {block_len} bytes", core.name);
        rows.push((core, runs.smoke(block_len)?));
    }
    print_table(&rows);
    if args.verbose {
        for (core, measured) in &rows {
            println!("\n{}\n{}", core.name, measured.report.trim_end());
        }
    }
    Ok(())
}

/// Runs the user's program, and shows its console on this terminal.
fn run_program(args: &MachineArgs, machines: &[MachineKind], program: &Path) -> Result<Verdict> {
    ensure!(args.machines.len() == 1, "a program runs on one machine: name it");
    let mut verdict = Verdict::Yes;
    for machine in machines {
        let mut command = machine.command(args, program)?;
        let status: ExitStatus =
            command.status().map_err(|error| run::not_started(&command, &error))?;
        match status.code() {
            Some(0) => {}
            Some(1) => verdict = Verdict::No,
            _ => anyhow::bail!("the machine ended with {status}"),
        }
    }
    Ok(verdict)
}

/// Boots the loader with a payload of two blocks for each hart, and shows its log.
fn boot_loader(core: Core, args: &MachineArgs) -> Result<()> {
    let loader = loader::Loader::new(core, loader::LoaderForm::Release)?;
    let block_size = args.block_size.unwrap_or(SMOKE_BLOCK).max(1024);
    let mode = TreeMode::Blocks { block_size: u32::try_from(block_size)? };
    let kind = (HashId::Sha3_384, mode);
    let bundle = loader::bundle(
        loader::payload(PayloadType::Kernel, 4096, (HashId::Sha384, TreeMode::Flat)),
        loader::payload(PayloadType::Initramfs, 2 * core.harts * block_size, kind),
        &std::fs::read(firmware::build()?.system_fdt)?,
    );
    let boot = loader::LoaderBoot {
        bundle: &bundle,
        harts: (1 << core.harts) - 1,
        options: &args.options,
    };
    let booted = loader.boot(&boot, &folder(core))?;
    print_log(core.name, &booted.entries);
    if args.verbose {
        println!("\n{}", booted.report.trim_end());
    }
    Ok(())
}

/// Prints a measurement log as a table.
fn print_log(name: &str, entries: &[Entry]) {
    println!("{name}");
    println!(
        "{:<12} {:<10} {:>8} {:>5} {:>12} {:>10} {:>12}",
        "step", "payload", "bytes", "harts", "start", "cycles", "instructions"
    );
    for entry in entries.iter().filter(|entry| entry.step != Step::Kernel) {
        let instructions = entry.instret.1.saturating_sub(entry.instret.0);
        println!(
            "{:<12} {:<10} {:>8} {:>5} {:>12} {:>10} {:>12}",
            entry.step.name(),
            entry.payload.map_or("", |payload| payload.name()),
            entry.bytes,
            entry.harts.count_ones(),
            entry.time.0,
            loader::cycles(entry),
            // These are instructions of the boot hart. For work of another hart, only cycles are known.
            if instructions > 0 { instructions.to_string() } else { String::new() },
        );
    }
}

/// Boots the ROM of the root of trust with a good bundle and with changed ones, and shows the results.
fn boot_rot(rot: Rot, args: &MachineArgs) -> Result<()> {
    let options: Vec<&str> = args.options.iter().map(String::as_str).collect();
    let needs_bignum = args.signed_by.is_some_and(SignedBy::is_of_numbers);
    ensure!(rot.has_bignum() || !needs_bignum, "{} has no engine for big numbers", rot.name);
    let rom = rot_boot::rom_for(args.signed_by.unwrap_or_default(), rot_boot::ALONE)?;
    for (what, edits) in rot_signature::shown(args.signed_by) {
        let bundle = boot_bundle(args, edits)?;
        let booted = rot_boot::boot_with(rot, &rom, &bundle, &options, &rot::folder(rot))?;
        println!("{}, {what}", rot.name);
        show(&booted, rot.name, &rot::folder(rot))?;
        let host = if booted.is_host_running { "runs" } else { "stays in reset" };
        println!("the host {host}\n");
        if args.verbose {
            println!("{}\n", booted.console.trim());
        }
    }
    if let Some(signed_by) = args.signed_by.filter(|signed_by| signed_by.is_by_engine()) {
        let size = args.bundle_size.unwrap_or(rot_boot::USUAL_SIZE);
        let folder = rot::folder(rot).join("signature");
        let (_, cycles) = rot_signature::measure(rot, signed_by, size, &folder)?;
        rot_signature::print(signed_by, cycles);
        ensure!(cycles.is_good(signed_by), "that is more");
    }
    Ok(())
}

/// Boots a TEE on the root of trust without a host.
fn boot_tee(rot: Rot, args: &MachineArgs) -> Result<()> {
    let folder = rot::folder(rot).join("tee");
    let (booted, console) = rot_tee::show(rot, args.bundle_size, &folder)?;
    show_tee(&booted, rot.name, &console, &folder)
}

/// Boots a TEE on a machine with a host, whose first program is the monitor.
fn boot_tee_of_host(soc: Soc, args: &MachineArgs) -> Result<()> {
    let folder = soc::folder(soc).join("tee");
    let (booted, console) = rot_tee::show_beside_a_host(soc, args.bundle_size, &folder)?;
    show_tee(&booted, soc.name, &console, &folder)
}

fn show_tee(booted: &RotBootResult, machine: &str, console: &str, folder: &Path) -> Result<()> {
    println!("{machine}, a TEE");
    show(booted, machine, folder)?;
    println!("{}", loader::without_log(console).trim());
    println!("the record of the monitor is the one that a workstation computes");
    Ok(())
}

/// Shows the log of a boot as a chart and as a table of cycles. A good boot is stored, too.
fn show(booted: &RotBootResult, machine: &str, folder: &Path) -> Result<()> {
    let timeline = booted.timeline(machine);
    for line in chart(&timeline, Look { columns: 100, is_unicode: true }) {
        println!("{line}");
    }
    print_log("", &booted.entries);
    if booted.reason.is_none() {
        store(&timeline, folder)?;
    }
    Ok(())
}

/// Returns the bundle with the size, hash and signature that the command asks for.
fn boot_bundle(args: &MachineArgs, edits: &[Edit]) -> Result<Vec<u8>> {
    let size = args.bundle_size.unwrap_or(rot_boot::USUAL_SIZE);
    let mode = match args.block_size.map(u32::try_from).transpose()? {
        None => TreeMode::Flat,
        Some(block_size) => {
            let sizes = TreeMode::BLOCK_SIZES;
            ensure!(sizes.contains(&block_size), "blocks have {sizes:?} bytes");
            TreeMode::Blocks { block_size }
        }
    };
    let hash = args.hash.unwrap_or(HashId::Sha256);
    Ok(rot_boot::bundle_of(hash, mode, size, args.signed_by.unwrap_or_default(), None, edits))
}

/// Writes the timeline as JSON and as an HTML page, and prints the paths.
fn store(timeline: &Timeline, folder: &Path) -> Result<()> {
    let json = serde_json::to_string_pretty(timeline)? + "\n";
    let page = Report::of_one(timeline.clone()).to_html();
    for (name, text) in [("timeline.json", json), ("timeline.html", page)] {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("stored as {}", path.display());
    }
    Ok(())
}

/// Boots a root of trust and its host, which requests digests from the root of trust as soon as it runs.
fn boot_soc(soc: Soc, args: &MachineArgs) -> Result<()> {
    let is_usual = args.hash.is_none() && args.block_size.is_none();
    ensure!(is_usual, "--hash and --block-size are for the boot of rot");
    let needs_bignum = args.signed_by.is_some_and(SignedBy::is_of_numbers);
    ensure!(!needs_bignum, "{} has no engine for big numbers", soc.name);
    let options: Vec<&str> = args.options.iter().map(String::as_str).collect();
    for (what, edits) in rot_signature::shown(args.signed_by) {
        let boot = HostBoot {
            edits,
            options: &options,
            size: args.bundle_size.unwrap_or(rot_boot::USUAL_SIZE),
            signed_by: args.signed_by.unwrap_or_default(),
            ..HostBoot::default()
        };
        let booted = boot.run(soc, &soc::folder(soc))?;
        println!("{}, {what}", soc.name);
        show(&RotBootResult::beside_a_host(&booted)?, soc.name, &soc::folder(soc))?;
        println!("{}", loader::without_log(&booted.console).trim());
        println!("{} cycles, {} instructions of the host\n", booted.cycles, booted.host_retired);
        // A refused bundle ends as a failure, and so does a host whose answers are wrong.
        ensure!(!edits.is_empty() || booted.end != End::Failure, "the host or its boot has failed");
    }
    Ok(())
}

/// Runs the smoke program on a core with blocks of `block_len` bytes, and returns the measured values.
///
/// # Errors
/// If there is no such core, or the program fails.
pub fn smoke_on(name: &str, block_len: usize, options: &[&str]) -> Result<SmokeReport> {
    let core = CORES.into_iter().find(|core| core.name == name);
    let core = core.with_context(|| format!("there is no core {name}"))?;
    let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    let (machine, program) = (model::machine(core, false)?, build_smoke()?);
    let runs =
        Machine { machine: &machine, program: &program, folder: &folder(core), options: &options };
    runs.smoke(block_len)
}

/// Builds the smoke program and returns its path.
fn build_smoke() -> Result<PathBuf> {
    Ok(firmware::stage("smoke", &[])?.elf)
}

/// Returns the folder for the files of runs.
pub fn folder(core: Core) -> PathBuf {
    project::work_dir("hw").join(core.name)
}

fn print_table(rows: &[(Core, SmokeReport)]) {
    println!(
        "{:<14} {:>5} {:>7} {:>10} {:>10} {:>14} {:>9} {:>10} {:>14}",
        "core",
        "harts",
        "bytes",
        "sha3-384",
        "sha384",
        "all: sha3-384",
        "speed-up",
        "wake+join",
        "storage",
    );
    for (core, measured) in rows {
        let SmokeReport { harts, wake, storage, sha3_384, sha384, all_sha3_384, .. } = measured;
        println!(
            "{:<14} {harts:>5} {:>7} {:>10.1} {:>10.1} {:>14.1} {:>9.2} {wake:>10} {:>14.2}",
            core.name,
            sha3_384.bytes,
            sha3_384.cycles_per_byte(),
            sha384.cycles_per_byte(),
            all_sha3_384.cycles_per_byte(),
            sha3_384.cycles as f64 / all_sha3_384.cycles as f64,
            storage.cycles_per_byte(),
        );
    }
    println!("hashes and storage in cycles for each byte, wake+join in cycles");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct TestCommand {
        #[command(flatten)]
        args: MachineArgs,
    }

    #[test]
    fn options_belong_to_the_modes_that_pass_them_on() {
        use clap::Parser;
        let parse =
            |mode: &str| TestCommand::try_parse_from(["hw", "rot", mode, "--", "--no-bench"]);
        for mode in ["--boot", "--dma", "--verbose"] {
            let options = parse(mode).map(|command| command.args.options);
            assert_eq!(options.unwrap(), ["--no-bench"], "{mode}");
        }
        for mode in ["--faults", "--guard", "--signatures", "--numbers", "--crypto"] {
            assert!(parse(mode).is_err(), "{mode}");
        }
    }

    #[test]
    fn a_hash_has_its_name_and_belongs_to_a_boot() {
        use clap::Parser;
        let parse = |words: &[&str]| {
            let command = TestCommand::try_parse_from([&["hw", "rot"], words].concat());
            command.map(|command| command.args.hash).ok()
        };
        assert_eq!(parse(&["--boot", "--hash", "sha3-384"]), Some(Some(HashId::Sha3_384)));
        assert_eq!(parse(&["--boot", "--hash", "sha3"]), None);
        for mode in OTHER_MODES {
            let mode = format!("--{mode}");
            let value = if mode == "--program" { vec!["a.elf"] } else { vec![] };
            let words = [&[mode.as_str()][..], &value].concat();
            assert!(parse(&words).is_some(), "{mode}");
            assert_eq!(parse(&[&words[..], &["--hash", "sha3-384"]].concat()), None, "{mode}");
            assert_eq!(parse(&[&words[..], &["--bundle-size", "65536"]].concat()), None, "{mode}");
        }
    }

    #[test]
    fn blocks_are_whole_sectors() {
        assert_eq!(block_size("1024"), Ok(1024));
        for wrong in ["0", "100", "1000", "8388608", "-512", "x"] {
            assert!(block_size(wrong).is_err(), "{wrong}");
        }
    }
}
