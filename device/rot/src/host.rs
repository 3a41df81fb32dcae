//! Access to the host's memory. The host may change that memory at any time, and its bus may refuse an access or not
//! respond.
//!
//! No program of the root of trust has objects in that memory or creates references to it: it is undefined behaviour if
//! a byte changes while a reference to it exists. Each byte is copied once, by assembly that is opaque to the compiler,
//! and only the copy is used.

use core::arch::global_asm;

use crate::HOST_MEMORY;

global_asm!(include_str!("host.S"));

unsafe extern "C" {
    fn rot_host_copy(to: *mut u8, from: *const u8, count: usize) -> u32;
    fn rot_host_clear(to: *mut u8, count: usize) -> u32;
    fn rot_host_feed(port: *mut u32, from: *const u32, words: usize) -> u32;
}

/// The bus refused an access or did not respond in time, or the range is not in the host's memory. The contents of the
/// destination are unknown then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusError;

/// Fills `into` with the bytes at an address of the host's memory.
///
/// # Errors
/// `BusError`.
pub fn read(at: u64, into: &mut [u8]) -> Result<(), BusError> {
    let from = place(at, into.len())?;
    // SAFETY: the routine writes exactly the bytes of the slice, and reads memory in which there is no object.
    done(unsafe { rot_host_copy(into.as_mut_ptr(), from, into.len()) })
}

/// Writes bytes to an address of the host's memory.
///
/// # Errors
/// `BusError`.
pub fn write(at: u64, bytes: &[u8]) -> Result<(), BusError> {
    let to = place(at, bytes.len())?;
    // SAFETY: the routine reads exactly the bytes of the slice, and writes memory in which there is no object.
    done(unsafe { rot_host_copy(to, bytes.as_ptr(), bytes.len()) })
}

/// Writes words to an address of the host's memory.
///
/// # Errors
/// `BusError`.
pub fn write_words(at: u64, words: &[u32]) -> Result<(), BusError> {
    let to = place(at, size_of_val(words))?;
    // SAFETY: the routine reads exactly the bytes of the words, and writes memory in which there is no object.
    done(unsafe { rot_host_copy(to, words.as_ptr().cast(), size_of_val(words)) })
}

/// Copies bytes within the host's memory. The ranges must not overlap.
///
/// # Errors
/// `BusError`.
pub fn copy(to: u64, from: u64, count: usize) -> Result<(), BusError> {
    let (to, from) = (place(to, count)?, place(from, count)?);
    // SAFETY: there is no object in either range.
    done(unsafe { rot_host_copy(to, from, count) })
}

/// Zeroes bytes of the host's memory.
///
/// # Errors
/// `BusError`.
pub fn clear(at: u64, count: usize) -> Result<(), BusError> {
    let at = place(at, count)?;
    // SAFETY: there is no object in the range.
    done(unsafe { rot_host_clear(at, count) })
}

/// Writes words of the host's memory to a port. The address is aligned to a word.
///
/// # Safety
/// The port consists of eight registers of a device, and a write to them changes no object of this program.
///
/// # Errors
/// `BusError` of the host's memory; the port has received a part of the words then.
pub unsafe fn feed(port: *mut u32, at: u64, words: usize) -> Result<(), BusError> {
    let from = place(at, words.checked_mul(4).ok_or(BusError)?)?;
    // SAFETY: the routine reads memory in which there is no object; the caller guarantees the port.
    done(unsafe { rot_host_feed(port, from.cast(), words) })
}

/// Returns the address of a range if the whole range is in the host's memory, which is the upper half of the address
/// space.
fn place(at: u64, count: usize) -> Result<*mut u8, BusError> {
    const END: u64 = 1 << 32;
    let end = at.checked_add(count as u64).ok_or(BusError)?;
    let is_inside = at >= HOST_MEMORY as u64 && end <= END;
    match usize::try_from(at) {
        Ok(at) if is_inside => Ok(core::ptr::with_exposed_provenance_mut(at)),
        _ => Err(BusError),
    }
}

fn done(cause: u32) -> Result<(), BusError> {
    if cause == 0 { Ok(()) } else { Err(BusError) }
}
