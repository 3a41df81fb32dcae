//! Tests what M-mode does for S-mode on request: no SBI call may read, print or change memory that is closed to S-mode
//! (boot flow §5.1).
//!
//! The program of `verif/programs/sbi` makes the calls on every hart. Before and after, the closed memory is read from
//! outside of the machine.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::{Machine, Stop};
use hartlock_emulator::qemu::MachineKind as Board;
use hartlock_image::PayloadType;
use hartlock_maps::qemu_virt_iommu as map;
use hartlock_verify::board::Region;

use super::board::{TestBoard, last_lines};
use super::case::Case;
use super::port;
use xtask::{firmware, monitor};

const READY: &str = "sbi: ready";
const DONE: &str = "sbi: done";
/// What the program prints of a call that succeeded for a range that has to be refused.
const SUCCESS: &str = " succeeded for ";
/// The beginning of the fault that is found then.
const REACHED: &str = "success for closed memory";
/// Error number *not supported* (SBI v2.0 §3, table 1).
const NOT_SUPPORTED: &str = "-2";
/// Error numbers with which a hart may be refused an address: *invalid parameter*, *invalid address*.
const REFUSALS: [&str; 2] = ["-3", "-5"];
/// Kinds of calls that take no address of memory, so some of them succeed.
const HARMLESS: [&str; 6] = ["base", "time", "ipi", "rfence", "hsm-status", "srst"];
/// Kinds of calls that take the address at which a hart continues.
const STARTS: [&str; 2] = ["hsm-start", "hsm-suspend"];
/// Loads and stores at the registers of closed devices, which all trap.
const REGISTERS: &str = "registers";
/// Number of kinds of calls, with the accesses to registers.
const KINDS: usize = 36;
/// The call of this project's own OpenSBI. Before the list of calls, it has succeeded for the boot hart.
const SYSTEM_MAP: &str = "system-map";
/// Error number *denied*.
const DENIED: &str = "-4";

/// Memory that nothing changes after the program has started: the code of OpenSBI, the memory of the ROM, the hand-off
/// block and, where there are any, the tables of the IOMMU and its registers up to those of its queues. OpenSBI's own data
/// changes in every trap.
const UNCHANGED: [(&str, Region); 5] = [
    ("code of OpenSBI", Region::new(map::OPENSBI.start, 0x4_0000)),
    ("memory of the ROM", map::ROM_RAM),
    ("hand-off block", map::HANDOFF),
    ("tables of the IOMMU", map::IOMMU_TABLES),
    ("registers of the IOMMU", Region::new(0x301_0000, 0x58)),
];

/// Cases for every board.
pub fn everywhere() -> Vec<Case> {
    vec![Case::new("sbi/no-call-reaches-closed-memory-on-any-hart", |bench| {
        let opensbi = fs::read(&bench.tools.opensbi)?;
        let faults = attack(bench, opensbi, port::identity()?.harts, DONE)?;
        ensure!(faults.is_empty(), "{}", faults.join("\n"));
        Ok(())
    })]
}

pub fn cases() -> Vec<Case> {
    vec![Case::new("sbi/an-opensbi-with-a-console-is-caught", |bench| {
        let opensbi = fs::read(monitor::variant(&[monitor::CONSOLE])?.bin)?;
        // The first success is enough, because a later call may never return.
        let faults = attack(bench, opensbi, 2, SUCCESS)?;
        let is_success = |fault: &String| fault.starts_with(REACHED) && fault.contains("dbcn");
        ensure!(faults.iter().any(is_success), "not caught:\n{}", faults.join("\n"));
        Ok(())
    })]
}

/// Makes the calls under this OpenSBI until this text is printed, and returns what went wrong.
fn attack(
    bench: &TestBoard,
    opensbi: Vec<u8>,
    harts: u32,
    until: &'static str,
) -> Result<Vec<String>> {
    let program = firmware::stage("sbi", &[])?;
    let mut setup = bench.setup_with_payload(&program, PayloadType::Opensbi, opensbi)?;
    setup.harts = harts;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let mut machine = bench.start_on(&device, &setup, &[])?;
    let stop = bench.wait(&mut machine, Some(READY));
    if !matches!(stop, Stop::Found) {
        let run = machine.finish(stop, &mut |_| {});
        anyhow::bail!("the calls did not begin: {:?}\n{}", run.outcome, last_lines(&run));
    }
    let before = closed(&mut machine, &device)?;
    let is_read = |bytes: &Vec<u8>| bytes.iter().any(|byte| *byte != 0);
    ensure!(before.values().all(is_read), "a closed place was not read from outside");
    // The program takes the first byte; the others are there for a call that reads the console.
    machine.send(&"x".repeat(200))?;
    let stop = bench.wait(&mut machine, Some(until));
    let after = closed(&mut machine, &device)?;
    let is_done = matches!(stop, Stop::Found);
    let run = machine.finish(stop, &mut |_| {});

    let (first, said) = run.transcript.split_once(READY).context("the calls began")?;
    let mut faults = judge(said, harts)?;
    faults.extend(judge_system_map(first)?);
    if !is_done {
        let made = said.lines().rev().find(|line| line.starts_with("sbi: hart"));
        faults.push(format!("a hart did not come back; the last kind of call: {made:?}"));
    }
    for (name, before) in &before {
        if after.get(name) != Some(before) {
            faults.push(format!("changed: {name}"));
        }
    }
    Ok(faults)
}

/// Reads what must not change: memory, and both flash banks.
fn closed(machine: &mut Machine, device: &Device) -> Result<BTreeMap<&'static str, Vec<u8>>> {
    let mut all = BTreeMap::new();
    let has_iommu = port::emulated()?.machine == Board::Iommu;
    for (name, region) in UNCHANGED.iter().filter(|(name, _)| has_iommu || !name.ends_with("IOMMU"))
    {
        all.insert(*name, machine.read_memory(region)?);
    }
    all.insert("flash bank 0", fs::read(device.rom_flash())?);
    all.insert("flash bank 1", fs::read(device.bundle_flash())?);
    Ok(all)
}

/// Returns what is wrong about the answers to the first calls for the map of the system. It is for the boot hart, once,
/// and where there is an IOMMU.
fn judge_system_map(said: &str) -> Result<Option<String>> {
    let expected = match port::emulated()?.machine {
        Board::Plain => [NOT_SUPPORTED; 3],
        Board::Iommu => [DENIED, "-0", DENIED],
    };
    let callers = ["another hart", "the boot hart", "the boot hart again"];
    let lines = callers.iter().zip(expected);
    let expected: Vec<_> =
        lines.map(|(caller, error)| format!("sbi: system map by {caller}: {error}")).collect();
    let found: Vec<_> = said.lines().filter(|it| it.starts_with("sbi: system map")).collect();
    let found: Vec<_> = found.iter().map(|line| line.trim_end()).collect();
    Ok((found != expected).then(|| format!("expected {expected:?}, found {found:?}")))
}

/// Returns what is wrong about the lines that a run printed after the calls had begun.
fn judge(said: &str, harts: u32) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut kinds = vec![0; harts as usize];
    let mut finished = 0;
    for line in said.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let Some(rest) = line.strip_prefix("sbi: hart ") else {
            if line != DONE {
                faults.push(format!("something was printed: {line}"));
            }
            continue;
        };
        let mut words = rest.split(' ');
        let (hart, kind) = (words.next().context("a hart")?, words.next().context("a kind")?);
        if rest.contains(SUCCESS) {
            faults.push(format!("{REACHED}: hart {rest}"));
            continue;
        }
        if kind == "finished" {
            finished += 1;
            if !rest.ends_with(" bytes-copied=0") {
                faults.push(format!("something was copied to open memory: hart {rest}"));
            }
            continue;
        }
        let results: Vec<_> = words.filter_map(|word| word.split_once('=')).collect();
        ensure!(!results.is_empty(), "no result in: {line}");
        if let Some(count) = kinds.get_mut(hart.parse::<usize>()?) {
            *count += 1;
        }
        let is_expected = |error: &str| match kind {
            REGISTERS => error == "trapped",
            _ if HARMLESS.contains(&kind) => error != "other" && error != "trapped",
            SYSTEM_MAP => error == NOT_SUPPORTED || error == DENIED,
            _ if STARTS.contains(&kind) => REFUSALS.contains(&error),
            _ => error == NOT_SUPPORTED,
        };
        for (error, count) in results.iter().filter(|(error, _)| !is_expected(error)) {
            faults.push(format!("hart {hart}, {kind}: {count} calls returned {error}"));
        }
    }
    if finished != harts as usize || kinds.iter().any(|count| *count != KINDS) {
        faults
            .push(format!("{finished} of {harts} harts finished; kinds of calls made: {kinds:?}"));
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(line: &str) -> Vec<String> {
        let mut said = String::new();
        for number in 1..KINDS {
            said += &format!("sbi: hart 0 kind-{number} -2=40\n");
        }
        said += line;
        judge(&(said + "\nsbi: hart 0 finished bytes-copied=0\nsbi: done\n"), 1).unwrap()
    }

    #[test]
    fn judges_each_kind_of_fault() {
        for good in [
            "registers trapped=8",
            "dbcn -2=40",
            "rfence -0=3 -3=7",
            "hsm-start -5=16",
            "hsm-suspend -3=8",
        ] {
            assert_eq!(faults(&format!("sbi: hart 0 {good}")), [""; 0], "{good}");
        }
        for bad in [
            "registers trapped=7 -0=1",
            "dbcn -0=1 -2=39",
            "dbcn -3=40",
            "hsm-start -0=1",
            "hsm-start -6=1",
            "rfence trapped=1",
        ] {
            assert_eq!(faults(&format!("sbi: hart 0 {bad}")).len(), 1, "{bad}");
        }
        let more = "sbi: hart 0 dbcn -2=40\n";
        assert_eq!(faults(&format!("{more}HARTLOCK-ROOT-v1")).len(), 1);
        assert_eq!(faults(&format!("{more}sbi: hart 0 dbcn succeeded for flash inside")).len(), 1);
        assert_eq!(faults("").len(), 1, "a kind of call is missing");
    }
}
