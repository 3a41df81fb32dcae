//! The computations in the interpreter of RV64IMAC.

use anyhow::{Result, anyhow, ensure};
use hartlock_fault::timing::{Difference, Program, Runs, Seen, observe};
use xtask::firmware;

use super::{Linked, TimingRow, named};

/// Runs all computations that need no extension, with this number of secrets each.
pub fn run(secrets: u32) -> Result<Vec<TimingRow>> {
    let linked = Linked::build()?;
    let image = linked.image(secrets, true)?;
    let program = Program {
        image: &image,
        start: firmware::symbol(&linked.elf, "_start")?,
        subject: linked.mark("subject")?,
        begin: linked.mark("begin")?,
        begin_confined: linked.mark("begin_confined")?,
        end: linked.mark("end")?,
        confined: linked.symbols.addresses(&["hartlock_kernels", "secret", "confined"]),
    };
    let (all, console) = observe(&program).map_err(|error| anyhow!(error))?;
    ensure!(!console.contains("wrong"), "{console}");
    all.into_iter().map(|runs| row(&linked, secrets, &runs)).collect()
}

fn row(linked: &Linked, secrets: u32, runs: &Runs) -> Result<TimingRow> {
    let (subject, tier) = named(&runs.name)?;
    ensure!(runs.count == u64::from(secrets) && runs.instructions > 0, "{subject} was not run");
    let leak = runs.difference.as_ref().map(|difference| describe(linked, difference));
    let observed = format!("{} instructions, {} accesses", runs.instructions, runs.accesses);
    Ok(TimingRow { subject, tier, observed, leak })
}

fn describe(linked: &Linked, difference: &Difference) -> String {
    let seen = |seen: Seen| match seen {
        Seen::Instruction(address) => format!("the instruction at {}", linked.name(address)),
        Seen::Load(address, len) => format!("a load of {len} from {address:#x}"),
        Seen::Store(address, len) => format!("a store of {len} to {address:#x}"),
        Seen::Division(dividend, divisor) => format!("the division {dividend:#x} / {divisor:#x}"),
        Seen::End => "the end".to_owned(),
    };
    let Difference { run, pc, first, other } = *difference;
    format!("secret {run}, at {}: {} instead of {}", linked.name(pc), seen(other), seen(first))
}
