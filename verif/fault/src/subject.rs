//! What a campaign disturbs: a machine that can be copied while it runs, and what came of it.

use std::sync::{Arc, Mutex};

use crate::memory::Trace;

/// What is at an address, and who chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Memory that nothing has written since reset: an attacker's, from before a warm reset.
    Prepared,
    /// Where payloads go, and memory that the ROM does not use.
    Payload,
    /// The stage's own code, or that of OpenSBI, after a store or a device changed it. It need not have run.
    ChangedCode,
    /// The flash bank of the boot bundle.
    BundleFlash,
    /// What the stage wrote or holds beside its code: stack, metadata of the bundle, hand-off block, log.
    Data,
    /// The root-of-trust block, and erased flash.
    RomFlash,
    /// What the ROM of the root of trust holds beside its code: constants, identity of the device.
    Constants,
    /// OpenSBI, with other registers, payloads or hand-off block than the signed and provisioned ones.
    Handover,
    /// What the host starts with, beside a root of trust: it has left its reset.
    Host,
}

impl Place {
    /// Whether the bytes there are an attacker's choice.
    pub fn is_turned(self) -> bool {
        !matches!(self, Self::Data | Self::RomFlash | Self::Constants)
    }
}

/// How a boot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The boot hart waits for something that never comes, or asks OpenSBI to stop it or to reset the machine; or it
    /// enters OpenSBI in a boot that is to be accepted, with all that it should pass on.
    Stopped,
    /// An instruction was fetched from a place of this kind.
    Ran(Place),
    /// It had not ended after as many instructions as it was given.
    Astray,
}

/// What tells which stores of a boot nothing reads.
pub type SharedTrace = Arc<Mutex<Trace>>;

/// A machine that a campaign disturbs.
pub trait Subject: Clone + Sync {
    /// Where the next instruction is.
    fn pc(&self) -> u64;

    /// Instructions that the boot hart has executed.
    fn executed(&self) -> u64;

    /// Where the last instruction that is not the stage's was fetched from, or what is taken for it.
    fn fetched_from(&self) -> u64;

    /// Whether it executed what a ROM holds beside its code, which need not end a boot.
    fn ran_constants(&self) -> bool {
        false
    }

    /// What was printed.
    fn console(&self) -> String;

    /// Leaves out the next instruction; `false` if there is none to leave out.
    fn skip(&mut self) -> bool;

    /// Whether to skip the next instruction is to execute it ([`Hart::is_idle`](crate::hart::Hart::is_idle)).
    fn is_next_idle(&self) -> bool;

    /// Notes loads and stores of memory from now on; `None` if it cannot.
    fn trace(&mut self) -> Option<SharedTrace> {
        None
    }

    /// Where in the memory that is traced the next instruction stores, and how many bytes, if it does nothing else.
    fn next_store(&self) -> Option<(u64, u64)> {
        None
    }

    /// Makes this machine equal to another one. Memory is copied where either changed since the last call.
    fn follow(&mut self, leader: &mut Self);

    /// Executes one instruction.
    fn step(&mut self) -> Option<End>;

    /// Runs until the boot ends, or until so many instructions were executed since reset.
    fn run(&mut self, until: u64) -> End;
}

/// [`Subject::run`] of every machine, compiled where its machine is.
pub(crate) fn step_until(machine: &mut impl Subject, until: u64) -> End {
    while machine.executed() < until {
        if let Some(end) = machine.step() {
            return end;
        }
    }
    End::Astray
}
