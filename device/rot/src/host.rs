//! The host's memory, which the host may change at any time and whose bus may refuse an access or not answer.
//!
//! No program of the root of trust has objects there, and none makes references to it: a byte that changes while a
//! reference to it lives is undefined behaviour. Bytes are copied, each once, by assembly that the compiler does not
//! see through, and are used in the copy.

use core::arch::global_asm;

use crate::HOST_MEMORY;

global_asm!(include_str!("host.S"));

unsafe extern "C" {
    fn rot_host_copy(to: *mut u8, from: *const u8, count: usize) -> u32;
    fn rot_host_clear(to: *mut u8, count: usize) -> u32;
    fn rot_host_feed(port: *mut u32, from: *const u32, words: usize) -> u32;
}

/// The bus refused an access or did not answer in time, or the range is not of the host's memory. What was to be
/// written is unknown then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusError;

/// Fills `into` with the bytes at an address.
///
/// # Errors
/// `BusError`.
pub fn read(at: u64, into: &mut [u8]) -> Result<(), BusError> {
    let from = place(at, into.len())?;
    // SAFETY: writes as many bytes as the slice has, and reads memory in which no object is.
    done(unsafe { rot_host_copy(into.as_mut_ptr(), from, into.len()) })
}

/// Writes bytes to an address.
///
/// # Errors
/// `BusError`.
pub fn write(at: u64, bytes: &[u8]) -> Result<(), BusError> {
    let to = place(at, bytes.len())?;
    // SAFETY: reads as many bytes as the slice has, and writes memory in which no object is.
    done(unsafe { rot_host_copy(to, bytes.as_ptr(), bytes.len()) })
}

/// Writes words to an address.
///
/// # Errors
/// `BusError`.
pub fn write_words(at: u64, words: &[u32]) -> Result<(), BusError> {
    let to = place(at, size_of_val(words))?;
    // SAFETY: reads as many bytes as the words have, and writes memory in which no object is.
    done(unsafe { rot_host_copy(to, words.as_ptr().cast(), size_of_val(words)) })
}

/// Copies bytes from one place to another that does not overlap it.
///
/// # Errors
/// `BusError`.
pub fn copy(to: u64, from: u64, count: usize) -> Result<(), BusError> {
    let (to, from) = (place(to, count)?, place(from, count)?);
    // SAFETY: no object is at either place.
    done(unsafe { rot_host_copy(to, from, count) })
}

/// Writes zeros.
///
/// # Errors
/// `BusError`.
pub fn clear(at: u64, count: usize) -> Result<(), BusError> {
    let at = place(at, count)?;
    // SAFETY: no object is there.
    done(unsafe { rot_host_clear(at, count) })
}

/// Writes words to a port, from an address that is one of a word.
///
/// # Safety
/// The port is eight registers of a device, a write of which changes no object of this program.
///
/// # Errors
/// `BusError`: of the host's memory. The port got a part of the words then.
pub unsafe fn feed(port: *mut u32, at: u64, words: usize) -> Result<(), BusError> {
    let from = place(at, words.checked_mul(4).ok_or(BusError)?)?;
    // SAFETY: reads memory in which no object is; the caller guarantees the port.
    done(unsafe { rot_host_feed(port, from.cast(), words) })
}

/// The address of a range that is one of the host's memory as a whole: the upper half of the address space.
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
