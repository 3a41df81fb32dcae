//! Faults of chip, memory and ROM: the ROM of the root of trust has to survive them, or the host has to stay in reset.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_image::Reason;
use hartlock_maps::hartlock_soc;
use hartlock_testkit::bundle::Edit;
use object::{Object, ObjectSection, ObjectSymbol};

use super::End;
use super::report::{BootSequencerState, BootState, MailboxState};
use super::rot::Rot;
use super::rot_boot::{
    ALONE, BOOT_CYCLES, HostBoot, MAX_CYCLES, NO_BENCH, RomEdit, SETTLED, SHIPPED, SMALL_SIZE,
    SignedBy, WATCHED, bundle, rom, run_unwatched,
};
use super::soc::Soc;

/// Longer than the root of trust waits for its bus (`TimeoutCycles` of hw/soc/top/rot.sv) and its ROM for a list of the
/// DMA engine (`PATIENCE` of device/rot-rom/src/dma.rs), but shorter than it waits for the end of a list that it
/// aborts.
const STALL_CYCLES: u64 = 100_000;

/// Limits above the cycles that a host takes to boot and make its requests (13 million), and to be released (2.4
/// million).
const HOST_CYCLES: &str = "20000000";
const RELEASE_CYCLES: &str = "3500000";

/// Cycles of upsets in a boot of [`of_alerts`]: in the first the ROM verifies, in the second its host runs. The host is
/// released after 2.2 million cycles without a console, and after 2.4 million with one. The third is the number of
/// cycles for which a chip is observed after its upset.
const UPSET_BEFORE: u32 = 1_000_000;
const UPSET_AFTER: u32 = 2_700_000;
const UPSET_SHOWS: u32 = 100_000;
/// The engines and the cycles of the upsets. Outside of the engines their alerts are one signal, but the mailbox also
/// shows its own state. A run that releases its host takes more than twice as long, so only two engines are upset after
/// the release.
const UPSETS: [(&str, u32); 8] = [
    ("sha2", UPSET_BEFORE),
    ("sha2", UPSET_AFTER),
    ("mailbox", UPSET_AFTER),
    ("mailbox", UPSET_BEFORE),
    ("dma", UPSET_BEFORE),
    ("sha3", UPSET_BEFORE),
    ("ed25519", UPSET_BEFORE),
    ("xmss", UPSET_BEFORE),
];
/// The value of `mcause` for the interrupt that cannot be masked (Ibex reference manual, "Exceptions and Interrupts").
const NOT_MASKABLE: u32 = 1 << 31 | 31;

/// The maximum number of cycles for a digest of 4 KiB, from the host's request to the answer.
const DIGEST_CYCLES: u64 = 8000;
/// The payloads in a bundle of `SMALL_SIZE`, which follow its first page: two of 4 KiB, and one of 1 KiB before
/// padding.
const PAYLOADS: Range<usize> = 1 << 12..(3 << 12) + 1024;

/// Returns the state of a host that stays in reset for this reason.
fn in_reset(status: BootSequencerState, reason: Option<Reason>) -> BootState {
    let reason = reason.map_or(0, |reason| reason as u32);
    BootState { status, reason, is_host_running: false, mailbox: MailboxState::Closed }
}

/// Checks that the ROM as it ships boots and refuses on a chip, which does not have the registers of the bench. A ROM
/// that prints stops at its first character there, which shows that they do not exist.
pub fn of_chips(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let changed = Edit::File(|file| file[3 << 12] ^= 1);
    let good = bundle(SMALL_SIZE, SignedBy::Lms, None, &[]);
    let bad = bundle(SMALL_SIZE, SignedBy::Lms, None, &[changed]);
    let released = BootState {
        status: BootSequencerState::Released,
        reason: 0,
        is_host_running: true,
        mailbox: MailboxState::Ready,
    };
    let refused = in_reset(BootSequencerState::Refused, Some(Reason::PayloadDigestMismatch));
    // The access to the bench never ends. The sequencer is on the same bus and cannot be informed either, so this is a
    // double fault.
    let lost = in_reset(BootSequencerState::Error, None);
    for (form, bundle, expected) in
        [(SHIPPED, &good, released), (SHIPPED, &bad, refused), (WATCHED, &good, lost)]
    {
        let options = [&SETTLED[..], &["--max-cycles", BOOT_CYCLES, NO_BENCH]].concat();
        let (console, state, end) = run_unwatched(machine, &rom(form)?, bundle, &options, folder)?;
        if (state, end) != (expected, End::Timeout) || !console.is_empty() {
            return Ok(Some(format!("{form:?} on a chip: {state:?}, {end:?}\n{console}")));
        }
    }
    Ok(None)
}

/// Checks that a good boot loads each byte of its bundle once, by the trace of the machine. Payloads are copied by DMA,
/// which is not in the trace. The core must load none of their bytes, so that it can only have used the copy.
pub fn of_reads(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let good = bundle(SMALL_SIZE, SignedBy::Lms, None, &[]);
    let path = folder.join("reads.csv");
    let name = path.to_str().context("the path of the trace is text")?;
    let options = ["--max-cycles", MAX_CYCLES, "--trace", name];
    let (_, state, end) = run_unwatched(machine, &rom(ALONE)?, &good, &options, folder)?;
    ensure!(end == End::Success, "a good bundle ended in {end:?}, {state:?}");
    let mut times = vec![0_u32; good.len()];
    for line in BufReader::new(File::open(&path)?).lines() {
        for at in loaded(&line?) {
            if let Some(times) = at.and_then(|at| times.get_mut(at)) {
                *times += 1;
            }
        }
    }
    fs::remove_file(&path)?;
    let mut times_by_place = times.iter().enumerate();
    let wrong = times_by_place.position(|(at, times)| *times != u32::from(!PAYLOADS.contains(&at)));
    let wrong = wrong.and_then(|at| Some((at, times.get(at)?)));
    Ok(wrong.map(|(at, times)| format!("byte {at} of the bundle is loaded {times} times")))
}

/// Returns the bytes that an instruction loads, as offsets in the bundle, from its line of the trace
/// (`cycle,cost,pc,instruction,address,read,write,trap,mark`).
fn loaded(line: &str) -> [Option<usize>; 4] {
    let hexadecimal = |at: usize| {
        let field = line.split(',').nth(at);
        field.and_then(|field| u64::from_str_radix(field, 16).ok())
    };
    let (address, mask) = (hexadecimal(4), hexadecimal(5).unwrap_or(0));
    std::array::from_fn(|byte| {
        let at = (address? + byte as u64).checked_sub(hartlock_soc::BUNDLE.start)?;
        usize::try_from(at).ok().filter(|_| mask >> byte & 1 == 1)
    })
}

/// Checks that a trap which the ROM does not expect leaves the host in reset, or puts it back into reset.
pub fn of_roms(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let good = bundle(SMALL_SIZE, SignedBy::Lms, None, &[]);
    let stopped = |reason| in_reset(BootSequencerState::Stopped, reason);
    let cases: [(&str, RomEdit, BootState); 4] = [
        (
            "a trap before the decision",
            |rom| break_at(rom, "rot_main"),
            stopped(Some(Reason::UnexpectedTrap)),
        ),
        ("a trap after the release", break_sleep, stopped(None)),
        (
            "a trap in the handler of a trap",
            |rom| break_at(rom, "rot_main").and_then(|()| break_at(rom, "rot_stop")),
            in_reset(BootSequencerState::Error, None),
        ),
        (
            "the same after the release",
            |rom| break_sleep(rom).and_then(|()| break_at(rom, "rot_stop")),
            in_reset(BootSequencerState::Error, None),
        ),
    ];
    for (what, change, expected) in cases {
        let mut rom = rom(SHIPPED)?;
        change(&mut rom)?;
        let options = [&SETTLED[..], &["--max-cycles", BOOT_CYCLES, NO_BENCH]].concat();
        let (_, state, end) = run_unwatched(machine, &rom, &good, &options, folder)?;
        if (state, end) != (expected, End::Timeout) {
            return Ok(Some(format!("{what} ended in {end:?}, {state:?}")));
        }
    }
    Ok(None)
}

/// Checks that an engine which detects an upset of its state puts the host into reset, before the release and after it,
/// on a chip and without software; and that the ROM gets an interrupt that it cannot mask. The daily form checks only one
/// of the two for each upset, by turns; the seed says with which it begins.
pub fn of_alerts(machine: Rot, is_daily: bool, folder: &Path) -> Result<Option<String>> {
    let good = bundle(SMALL_SIZE, SignedBy::Lms, None, &[]);
    let (shipped, watched) = (rom(SHIPPED)?, rom(WATCHED)?);
    // Without an upset, the host runs in the later cycle.
    let until = UPSET_AFTER.to_string();
    let options = ["--max-cycles", &until, NO_BENCH];
    let (_, state, _) = run_unwatched(machine, &shipped, &good, &options, folder)?;
    if !state.is_host_running || state.mailbox != MailboxState::Ready {
        return Ok(Some(format!("cycle {UPSET_AFTER} is before the release: {state:?}")));
    }
    let seed: usize = crate::seed().parse().context("HARTLOCK_SEED is no number")?;
    let all = 2 * UPSETS.len();
    if is_daily {
        eprintln!(
            "{}: {} of {all} runs with an upset engine, chosen by the seed {seed}; `cargo xtask hw {} --faults` has all",
            machine.name,
            UPSETS.len(),
            machine.name
        );
    }
    for (place, (engine, cycle)) in (seed..).zip(UPSETS) {
        let upset = format!("{engine}@{cycle}");
        let mailbox = if engine == "mailbox" { MailboxState::Fault } else { MailboxState::Closed };
        let expected = BootState { mailbox, ..in_reset(BootSequencerState::Error, None) };
        let until = (cycle + UPSET_SHOWS).to_string();
        let options = ["--max-cycles", &until, "--upset-state", &upset];
        let is_of_chip = place.is_multiple_of(2);
        if !is_daily || is_of_chip {
            let chip = [&options[..], &[NO_BENCH]].concat();
            let (_, state, end) = run_unwatched(machine, &shipped, &good, &chip, folder)?;
            if (state, end) != (expected, End::Timeout) {
                return Ok(Some(format!("an upset {upset} ended in {end:?}, {state:?}")));
            }
        }
        if !is_daily || !is_of_chip {
            // The ROM that prints reports whether it had released the host, and the trap.
            let (console, state, end) = run_unwatched(machine, &watched, &good, &options, folder)?;
            let is_released = console.contains("the host is released");
            let is_taken = console.contains(&format!("rot: trap {NOT_MASKABLE} "));
            if (state, end) != (expected, End::Failure)
                || is_released != (cycle == UPSET_AFTER)
                || !is_taken
            {
                return Ok(Some(format!("an upset {upset}: {end:?}, {state:?}\n{console}")));
            }
        }
    }
    Ok(None)
}

/// Checks that a bundle in memory that does not answer in time is refused, without a trap.
pub fn of_memory(machine: Rot, folder: &Path) -> Result<Option<String>> {
    let good = bundle(SMALL_SIZE, SignedBy::Lms, None, &[]);
    let rom = rom(ALONE)?;
    for (what, address) in [
        ("the header", hartlock_soc::BUNDLE.start),
        ("a payload", hartlock_soc::BUNDLE.start + (3 << 12)),
        ("the place of a payload", hartlock_soc::LOADER.start),
    ] {
        let stall = format!("{address:#x}@{STALL_CYCLES}");
        let options = ["--max-cycles", MAX_CYCLES, "--stall", &stall];
        let (console, state, end) = run_unwatched(machine, &rom, &good, &options, folder)?;
        let expected = in_reset(BootSequencerState::Refused, Some(Reason::MediumError));
        if (state, end) != (expected, End::Failure) {
            return Ok(Some(format!("{what} stalls: {end:?}, {state:?}\n{console}")));
        }
    }
    Ok(None)
}

/// Checks the same with a host, on a chip as it ships. The requests of the host have to be served or refused. It makes
/// the root of trust access memory that is missing or answers too late, and must be served afterwards.
pub fn of_hosts(soc: Soc, folder: &Path) -> Result<Option<String>> {
    // Memory ends with the bundle. The memory that answers too late is 18 MiB after the start of RAM.
    let size = format!("{:#x}", hartlock_soc::BUNDLE.end - hartlock_soc::RAM.start);
    let stall = format!("{:#x}@{STALL_CYCLES}", hartlock_soc::RAM.start + (18 << 20));
    let options = ["--max-cycles", HOST_CYCLES, "--memory-size", &size, "--stall", &stall];
    let host = HostBoot {
        is_shipped: true,
        signed_by: SignedBy::LmsByEngine,
        host: &["bus-faults"],
        options: &options,
        ..HostBoot::default()
    };
    let survived = host.run(soc, folder)?;
    if survived.end != End::Success || !survived.console.contains("host: done") {
        return Ok(Some(format!("memory that fails: {:?}\n{}", survived.end, survived.console)));
    }
    let prefix = "host: a digest in memory ";
    let cycles = survived.console.lines().find_map(|line| line.strip_prefix(prefix));
    let cycles: u64 = cycles.context("the host reports no digest")?.parse()?;
    if cycles > DIGEST_CYCLES {
        return Ok(Some(format!("a digest of 4 KiB takes the host {cycles} cycles")));
    }
    // The host sleeps while it waits for digests of 4 KiB, and for memory.
    if survived.host_waiting < 100_000 {
        return Ok(Some(format!("the host slept for {} cycles", survived.host_waiting)));
    }
    let options = ["--max-cycles", RELEASE_CYCLES];
    let trap = HostBoot {
        is_shipped: true,
        signed_by: SignedBy::LmsByEngine,
        options: &options,
        rom_edit: Some(break_sleep),
        ..HostBoot::default()
    };
    let trapped = trap.run(soc, folder)?;
    let state = trapped.boot;
    if (state.status, state.is_host_running) != (BootSequencerState::Stopped, false)
        || trapped.console.contains("host: done")
    {
        return Ok(Some(format!("a trap after the release: {state:?}\n{}", trapped.console)));
    }
    Ok(None)
}

/// Makes the first instruction of a function illegal: all zeros (RISC-V Unprivileged ISA, "Illegal instruction").
fn break_at(rom: &mut [u8], symbol: &str) -> Result<()> {
    let file = object::File::parse(&*rom).context("the ROM is no ELF file")?;
    let mut symbols = file.symbols();
    let found = symbols.find(|found| found.name() == Ok(symbol));
    let address = found.with_context(|| format!("the ROM has no {symbol}"))?.address();
    let (base, start, _) = code(&file)?;
    let at = start + usize::try_from(address - base)?;
    rom.get_mut(at..at + 4).context("the code is past the end of the file")?.fill(0);
    Ok(())
}

/// Makes every `wfi` illegal that follows a write of `mie`. The first one that a good boot reaches is that of the
/// service, after the release. The `wfi` of the trap handler follows another instruction.
fn break_sleep(rom: &mut [u8]) -> Result<()> {
    const WFI: u32 = 0x1050_0073;
    /// The encoding of `csrw mie, rs1`, and a mask without the bits of rs1.
    const WRITE_MIE: (u32, u32) = (0x3040_1073, !(31 << 15));
    let file = object::File::parse(&*rom).context("the ROM is no ELF file")?;
    let (_, start, size) = code(&file)?;
    let text = rom.get_mut(start..start + size).context("the code is past the end of the file")?;
    let word = |at: usize| {
        let bytes = text.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes)
    };
    let is_sleep = |&at: &usize| {
        let before = at.checked_sub(4).and_then(word).map(|before| before & WRITE_MIE.1);
        word(at) == Some(WFI) && before == Some(WRITE_MIE.0)
    };
    let places: Vec<usize> = (0..size).step_by(2).filter(is_sleep).collect();
    ensure!(!places.is_empty(), "the ROM never sleeps");
    for at in places {
        text[at..at + 4].fill(0);
    }
    Ok(())
}

/// Returns the address of the code, its offset in the file and its size.
fn code(file: &object::File<'_>) -> Result<(u64, usize, usize)> {
    let section = file.section_by_name(".text").context("the ROM has no code")?;
    let (start, size) = section.file_range().context("the code is not in the file")?;
    Ok((section.address(), usize::try_from(start)?, usize::try_from(size)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_bytes_of_the_bundle() {
        assert_eq!(loaded("9,5,0,0002a023,88000004,f,0,0,"), [Some(4), Some(5), Some(6), Some(7)]);
        assert_eq!(loaded("9,5,0,0002a023,88000009,1,0,0,"), [Some(9), None, None, None]);
        // These lines are a store, a load from another region, an instruction without access, and the heading.
        for line in [
            "9,5,0,0002a023,88000004,0,f,0,",
            "9,5,0,0002a023,10000004,f,0,0,",
            "9,5,0,0002a023,,0,0,0,",
            "cycle,cost,pc,instruction,address,read,write,trap,mark",
        ] {
            assert_eq!(loaded(line), [None; 4], "{line}");
        }
    }
}
