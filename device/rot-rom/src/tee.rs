//! The boot of a TEE (feature `tee`). This file does the work of a first-stage boot loader, with the library of
//! `device/fsbl`. The monitor is measured in the same pass that verifies it. Its key pair is derived from the device
//! secret and the measurement, and the device endorses the key.
//!
//! The host stays in reset until all of this is complete: the device secret is closed until reset, the engines have
//! cleared their keys, the stack is wiped, and the record is in memory of the host that the board protects. The monitor
//! runs first, in M-mode, and closes that page to all other software.

use hartlock_drivers::device_secret;
use hartlock_fsbl::{Computer, Endorsement, ExpandedDeviceKey, HANDOVER_SIZE, Handover, endorse};
use hartlock_image::{PAGE_SIZE, PayloadType, Reason};
use hartlock_kernels::Kernels;
use hartlock_kernels::engines::EngineFault;
use hartlock_kernels::secret::wipe;
use hartlock_rot::{DEVICE_SECRET, host, wipe_stack};

use crate::map;
use crate::words::Words;

/// Address of the record for the monitor: the last page of the log, the same as in `device/fsbl`. The memory map
/// excludes this page from payloads, and `LIMITS` of the service excludes it from requests of the host.
const HANDOVER: u64 = map::LOG.end - PAGE_SIZE;

/// Type of the payload that is measured.
pub const MONITOR: Option<PayloadType> = Some(PayloadType::Opensbi);

/// Endorses the measured monitor and writes its record to the host's memory. `print` gets the lines of a console.
///
/// # Errors
/// `InternalLimit` if there is no monitor; `DeviceSecretInvalid`; `NotEndorsed`; `MediumError` if the record cannot be
/// written to memory.
pub fn hand_over(
    kernels: Kernels,
    measurement: Option<[u8; 64]>,
    print: fn(&[&str]),
) -> Result<(), Reason> {
    let done = endorse_and_write(kernels, &measurement.ok_or(Reason::InternalLimit)?, print);
    // The compiler may have left copies of secrets on the stack, also of those that are wiped.
    wipe_stack();
    done
}

/// Endorses the monitor. The function has its own stack frame, so that all its data is below the stack pointer when it
/// has returned.
#[inline(never)]
fn endorse_and_write(
    kernels: Kernels,
    measurement: &[u8; 64],
    print: fn(&[&str]),
) -> Result<(), Reason> {
    let mut computer = Computer::new(kernels);
    let mut secret = ExpandedDeviceKey::EMPTY;
    secret.take(|bytes| secret_page().read(bytes), shut_secret)?;
    let mut made = Endorsement { measurement: *measurement, ..Endorsement::EMPTY };
    let endorsed = endorse(&mut computer, &secret, &mut made, |_| ());
    say(computer.fault(), print);
    endorsed?;
    write(&made).map_err(|_| Reason::MediumError)
}

fn write(endorsement: &Endorsement) -> Result<(), host::BusError> {
    let Words(record) = &mut Words([0; HANDOVER_SIZE]);
    Handover::encode(endorsement, record);
    let written = host::write(HANDOVER, record);
    // It holds the key of the monitor.
    wipe(record);
    written
}

/// Clears the record and closes the secret, so that a refused host gets nothing of an endorsement.
pub fn take_back() {
    shut_secret();
    // Memory that fails must not prevent the refusal.
    let _ = host::clear(HANDOVER, HANDOVER_SIZE);
}

fn secret_page() -> device_secret::DeviceSecretPage {
    let base = core::ptr::with_exposed_provenance_mut(DEVICE_SECRET);
    // SAFETY: the address is the page of the secret, which only this file uses, from one place at a time.
    unsafe { device_secret::DeviceSecretPage::new(base) }
}

/// Closes the secret until reset. Returns true if it is closed.
fn shut_secret() -> bool {
    // No barrier is needed, because Ibex makes only one access to devices at a time.
    secret_page().close(|| ())
}

/// Prints the reasons why software replaced engines.
fn say(faults: [Option<EngineFault>; 2], print: fn(&[&str])) {
    for (name, fault) in ["sha3-512", "ed25519"].into_iter().zip(faults) {
        print(&["hartlock: ", name, " ", EngineFault::said(fault)]);
    }
}
