//! Tries on a hart whether the memory that the board closes is closed, also by OpenSBI for others (boot flow §5.7).
//!
//! OpenSBI protects memory as its device tree says. The tree was signed, but a signer can err, so each hart tries the
//! accesses itself before it touches a byte of a bundle.

use core::arch::global_asm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hartlock_handoff::domain::{self, DomainFault};
use hartlock_image::Reason;
use hartlock_verify::board::{Access, Closed};
use hartlock_virt::board::map;
use hartlock_virt::{console, environment, memory};

global_asm!(include_str!("protection.S"));

unsafe extern "C" {
    /// Loads a byte, and stores it again if `is_store`. Returns the cause of the trap, or `u64::MAX` (protection.S).
    ///
    /// # Safety
    /// Interrupts are off. Where the access does not trap, it changes nothing that anything relies on.
    fn try_access(address: u64, is_store: bool) -> u64;
    static __page_tables: u8;
}

/// Causes of traps (RISC-V Privileged Architecture §10.1.8). A page fault would tell about the loader's own tables and
/// not about the protection behind them.
const LOAD_ACCESS_FAULT: u64 = 5;
const STORE_ACCESS_FAULT: u64 = 7;

/// The reason that a worker found, or 0, with the number of the hart and the address.
static FOUND: AtomicU32 = AtomicU32::new(0);
static FOUND_BY: AtomicU64 = AtomicU64::new(0);
static FOUND_AT: AtomicU64 = AtomicU64::new(0);

/// Tries this hart's accesses to the first byte, the last and one in the middle of each range that the board closes.
///
/// # Errors
/// `PagingOff`; `MemoryReachable` with the first address whose access did not trap.
fn judge() -> Result<(), (Reason, u64)> {
    if environment::IS_ALONE {
        return Ok(());
    }
    let tables = &raw const __page_tables as u64;
    if !environment::is_paged(tables) {
        return Err((Reason::PagingOff, tables));
    }
    for Closed { start, end, access } in map::BOARD.closed {
        let size = end.wrapping_sub(*start);
        let (is_store, expected) = match access {
            Access::Read => (true, STORE_ACCESS_FAULT),
            Access::None | Access::Monitor => (false, LOAD_ACCESS_FAULT),
        };
        for address in [*start, start.wrapping_add(size / 2), end.wrapping_sub(1)] {
            // SAFETY: interrupts are off in the loader, and the store writes the byte that is there.
            if unsafe { try_access(address, is_store) } != expected {
                return Err((Reason::MemoryReachable, address));
            }
        }
    }
    Ok(())
}

fn report(hart: u64, reason: Reason, address: u64) -> Reason {
    let numbers = [console::Number::hex(hart), console::Number::hex(address)];
    let [hart, address] = numbers.each_ref().map(console::Number::as_str);
    console::line(&["hartlock: hart ", hart, " at 0x", address]);
    reason
}

/// Checks that no device of the tree for OpenSBI is in memory that the board closes: where the tree says that a device
/// is, OpenSBI stores for S-mode.
///
/// # Errors
/// `MemoryReachable`, after the console names the address.
fn judge_devices() -> Result<(), Reason> {
    if environment::IS_ALONE {
        return Ok(());
    }
    // SAFETY: OpenSBI edited the tree before it entered this stage, and nothing writes there any more.
    let tree = unsafe { memory::bytes(map::BOOT_FDT) };
    domain::check_devices(tree, map::BOARD.closed).map_err(|fault| {
        match fault {
            DomainFault::DeviceInside { address, .. } | DomainFault::SystemMapOpen { address } => {
                let address = console::Number::hex(address);
                console::line(&["hartlock: device of OpenSBI at 0x", address.as_str()]);
            }
            _ => console::line(&["hartlock: device of OpenSBI at no known address"]),
        }
        Reason::MemoryReachable
    })
}

/// Tries the accesses of the boot hart, asks OpenSBI for calls by which it would make them for S-mode, and looks where
/// its devices are.
///
/// # Errors
/// `PagingOff`, `MemoryReachable`, `MonitorCalls`.
pub(crate) fn check(hart: usize) -> Result<(), Reason> {
    FOUND.store(0, Ordering::Release);
    judge().map_err(|(reason, address)| report(hart as u64, reason, address))?;
    let mut result = Ok(());
    for extension in environment::calls_with_address() {
        let extension = console::Number::hex(extension as u64);
        console::line(&["hartlock: extension 0x", extension.as_str()]);
        result = Err(Reason::MonitorCalls);
    }
    result.and_then(|()| judge_devices())
}

/// Tries the accesses of another hart, and keeps the result for the boot hart.
pub(crate) fn check_worker(hart: usize) {
    if let Err((reason, address)) = judge() {
        FOUND_BY.store(hart as u64, Ordering::Relaxed);
        FOUND_AT.store(address, Ordering::Relaxed);
        FOUND.store(reason as u32, Ordering::Release);
    }
}

/// Returns what the other harts found.
///
/// # Errors
/// `PagingOff`, `MemoryReachable`.
pub(crate) fn of_workers() -> Result<(), Reason> {
    let found = FOUND.load(Ordering::Acquire);
    let reasons = [Reason::PagingOff, Reason::MemoryReachable];
    let Some(reason) = reasons.into_iter().find(|reason| *reason as u32 == found) else {
        return Ok(());
    };
    Err(report(FOUND_BY.load(Ordering::Relaxed), reason, FOUND_AT.load(Ordering::Relaxed)))
}
