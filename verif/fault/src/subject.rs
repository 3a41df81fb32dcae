//! The interface of a machine that a campaign runs with faults: a machine that can be copied while it runs, and the
//! results of a boot.

use std::sync::{Arc, Mutex};

use crate::memory::Trace;

/// Kind of memory from which an instruction was fetched, or other outcome, by who controls the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Memory that was not written since reset. Its contents are from before a warm reset, so an attacker chose
    /// them.
    Prepared,
    /// Memory for payloads, and memory that the ROM does not use.
    Payload,
    /// Code of the stage or of OpenSBI that a store or a device changed. The changed code need not have been
    /// executed.
    ChangedCode,
    /// The flash bank of the boot bundle.
    BundleFlash,
    /// Data of the stage: stack, metadata of the bundle, hand-off block, log.
    Data,
    /// The root-of-trust block, and erased flash.
    RomFlash,
    /// Data in the ROM of the root of trust: constants, identity of the device.
    Constants,
    /// OpenSBI, entered with other registers, payloads or hand-off block than the signed and provisioned ones.
    Handover,
    /// The first instruction of a host with a root of trust: the host was released from reset.
    Host,
}

impl MemoryKind {
    /// Returns true if an attacker can choose the bytes there.
    pub fn is_attacker_controlled(self) -> bool {
        !matches!(self, Self::Data | Self::RomFlash | Self::Constants)
    }
}

/// The end of a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The boot hart waits for an interrupt that never comes, or asks OpenSBI to stop it or to reset the machine; or
    /// it enters OpenSBI in a boot that is to be accepted, with the correct hand-over values.
    Stopped,
    /// An instruction was fetched from memory of this kind.
    Ran(MemoryKind),
    /// The boot had not ended after the maximum number of instructions.
    Endless,
}

/// A shared recorder of loads and stores, which finds the stores that nothing reads.
pub type SharedTrace = Arc<Mutex<Trace>>;

/// A machine into which a campaign injects faults.
pub trait FaultMachine: Clone + Sync {
    /// Returns the address of the next instruction.
    fn pc(&self) -> u64;

    /// Returns the number of instructions that the boot hart has executed.
    fn executed(&self) -> u64;

    /// Returns the address from which the last instruction outside the stage's code was fetched, or the address that
    /// stands for it.
    fn fetched_from(&self) -> u64;

    /// Returns true if the machine executed data of a ROM, which need not end a boot.
    fn ran_constants(&self) -> bool {
        false
    }

    /// Returns the console output.
    fn console(&self) -> String;

    /// Skips the next instruction. Returns `false` if there is none to skip.
    fn skip(&mut self) -> bool;

    /// Returns true if skipping the next instruction equals executing it
    /// ([`Hart::is_idle`](crate::hart::Hart::is_idle)).
    fn is_next_idle(&self) -> bool;

    /// Records loads and stores of memory from now on. Returns `None` if the machine cannot record them.
    fn trace(&mut self) -> Option<SharedTrace> {
        None
    }

    /// Returns the offset in the recorded memory and the length of the next instruction's store, if the instruction
    /// is a plain store.
    fn next_store(&self) -> Option<(u64, u64)> {
        None
    }

    /// Makes this machine equal to `leader`. Only memory pages that either of them changed since the last call are
    /// copied.
    fn follow(&mut self, leader: &mut Self);

    /// Executes one instruction. Returns the end of the boot if it ended.
    fn step(&mut self) -> Option<End>;

    /// Runs until the boot ends, or until `until` instructions have been executed since reset.
    fn run(&mut self, until: u64) -> End;
}

/// Implements [`FaultMachine::run`] for every machine; it is compiled separately for each machine type.
pub(crate) fn step_until(machine: &mut impl FaultMachine, until: u64) -> End {
    while machine.executed() < until {
        if let Some(end) = machine.step() {
            return end;
        }
    }
    End::Endless
}
