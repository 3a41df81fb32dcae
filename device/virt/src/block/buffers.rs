//! The buffers of the requests. Apart from the queue they are the only memory that the device writes to: a device may
//! write at any time, so no code uses bytes where the device put them. A hart copies them, and uses the copy.

use core::arch::asm;

use hartlock_verify::board::Region;

use super::DEPTH;
use crate::board::map;

/// Size in bytes of a buffer, which is the maximum size of a request.
pub const BUFFER_SIZE: u64 = 128 << 10;

/// One buffer for each request in flight, 1 MiB after the queue of the driver.
const BUFFERS: Region = Region::new(map::DMA.start + (1 << 20), DEPTH as u64 * BUFFER_SIZE);
const _: () = assert!(map::DMA.contains(&BUFFERS));

/// Returns the address of the buffer of a request slot. Slots are numbered from 0 to `DEPTH` - 1.
pub(super) const fn address(slot: usize) -> u64 {
    BUFFERS.start.saturating_add((slot % DEPTH) as u64 * BUFFER_SIZE)
}

/// Copies bytes from the buffer of a slot, from the offset `skip` on. Bytes outside of the buffer are not copied.
///
/// Every byte is read once. With `has_vectors` the copy uses vector instructions.
pub fn copy_from(slot: usize, skip: usize, into: &mut [u8], has_vectors: bool) {
    let most = (BUFFER_SIZE as usize).saturating_sub(skip);
    let Some(into) = into.get_mut(..most.min(into.len())) else { return };
    let source = address(slot).saturating_add(skip as u64) as usize;
    if has_vectors { copy_by_vectors(source, into) } else { copy_by_words(source, into) }
}

/// Copies by words of 64 bits, and the bytes after the last multiple of 64 one by one.
fn copy_by_words(source: usize, into: &mut [u8]) {
    let whole = into.len() & !63;
    let (words, rest) = into.split_at_mut(whole);
    if source.is_multiple_of(8) && words.as_ptr().addr().is_multiple_of(8) && !words.is_empty() {
        let range = words.as_mut_ptr_range();
        // SAFETY: both ranges have the same multiple of 64 bytes, the source lies in the buffers, to which no
        // reference exists, and the destination is the slice.
        unsafe {
            asm!(
                "2:",
                "ld {0}, 0({from})",
                "ld {1}, 8({from})",
                "ld {2}, 16({from})",
                "ld {3}, 24({from})",
                "sd {0}, 0({to})",
                "sd {1}, 8({to})",
                "sd {2}, 16({to})",
                "sd {3}, 24({to})",
                "ld {0}, 32({from})",
                "ld {1}, 40({from})",
                "ld {2}, 48({from})",
                "ld {3}, 56({from})",
                "sd {0}, 32({to})",
                "sd {1}, 40({to})",
                "sd {2}, 48({to})",
                "sd {3}, 56({to})",
                "addi {from}, {from}, 64",
                "addi {to}, {to}, 64",
                "bltu {to}, {end}, 2b",
                out(reg) _,
                out(reg) _,
                out(reg) _,
                out(reg) _,
                from = inout(reg) source => _,
                to = inout(reg) range.start => _,
                end = in(reg) range.end,
                options(nostack)
            );
        }
        copy_by_bytes(source.wrapping_add(whole), rest);
    } else {
        copy_by_bytes(source, into);
    }
}

fn copy_by_bytes(source: usize, into: &mut [u8]) {
    let source: *const u8 = core::ptr::with_exposed_provenance(source);
    for (index, byte) in into.iter_mut().enumerate() {
        // SAFETY: callers pass a range of the buffers, to which no reference exists.
        *byte = unsafe { source.wrapping_add(index).read_volatile() };
    }
}

/// Copies by vector registers. The hart has the extension V, and the stage has turned it on.
fn copy_by_vectors(source: usize, into: &mut [u8]) {
    if into.is_empty() {
        return;
    }
    // SAFETY: both ranges have the length of the slice, the source lies in the buffers, to which no reference exists,
    // and the destination is the slice.
    unsafe {
        asm!(
            ".option push",
            ".option arch, +v",
            "2:",
            "vsetvli {count}, {left}, e8, m8, ta, ma",
            "vle8.v v8, ({from})",
            "vse8.v v8, ({to})",
            "add {from}, {from}, {count}",
            "add {to}, {to}, {count}",
            "sub {left}, {left}, {count}",
            "bnez {left}, 2b",
            ".option pop",
            count = out(reg) _,
            from = inout(reg) source => _,
            to = inout(reg) into.as_mut_ptr() => _,
            left = inout(reg) into.len() => _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            options(nostack)
        );
    }
}
