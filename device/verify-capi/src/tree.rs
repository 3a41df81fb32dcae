//! The device tree for Linux: the signed one with the edits of boot flow §6.

use core::ffi::c_void;

use hartlock_handoff::fdt::{self, Edits, Reservation, Tree};
use hartlock_handoff::memory::{self as places, Filled};
use hartlock_handoff::{bootargs, cpus};
use hartlock_image::{CallReason, PayloadType, Reason};

use crate::calls::number;
use crate::library::{Library, OfBootHart, Progress, Refusal};
use crate::types::CallerReservation;

/// Number of reservations that a caller can make.
const MAX_RESERVATIONS: usize = 8;

/// Writes the device tree for Linux to `out`: the signed one with the edits of boot flow §6. `harts` has a bit for each hart
/// that exists. `out` is at a multiple of 8, and no payload is there. Gives the length of the tree. Whatever it refuses, also a
/// parameter, ends the boot.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`; `reservations` is null or points to `count` of them; `out` is null or
/// points to `size` bytes that nobody else uses; `length` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_tree(
    memory: *mut c_void,
    harts: u64,
    reservations: *const CallerReservation,
    count: usize,
    out: *mut u8,
    size: usize,
    length: *mut usize,
) -> u32 {
    let is_usable = !out.is_null()
        && (out as usize).is_multiple_of(8)
        && (out as usize).checked_add(size).is_some()
        && !length.is_null()
        && length.is_aligned()
        && count <= MAX_RESERVATIONS
        && (count == 0 || (!reservations.is_null() && reservations.is_aligned()));
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::at(memory) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    let step = |own: &mut OfBootHart| {
        if !is_usable {
            return Err(CallReason::CallResult.into());
        }
        let reservations = match count {
            0 => &[],
            // SAFETY: the pointer was checked, and the caller guarantees what is there.
            count => unsafe { core::slice::from_raw_parts(reservations, count) },
        };
        // SAFETY: the same.
        let out = unsafe { core::slice::from_raw_parts_mut(out, size) };
        let written = edited(own, harts, library.boot_hart(), reservations, out)?;
        // SAFETY: the same.
        unsafe { length.write(written) };
        Ok(())
    };
    number(library.step(Progress::DECIDED, Progress::DECIDED, step))
}

#[inline(never)]
fn edited(
    own: &OfBootHart,
    harts: u64,
    hart: u32,
    wanted: &[CallerReservation],
    out: &mut [u8],
) -> Result<usize, Refusal> {
    // SAFETY: a step before has written the bundle.
    let manifest = unsafe { own.bundle.assume_init_ref() }.manifest();
    let mut all = manifest.payloads.iter().zip(&own.places);
    let found = all.find(|(record, _)| record.payload_type == PayloadType::SystemFdt);
    let (record, place) = found.ok_or(CallReason::CallPayload)?;
    // SAFETY: the payload was loaded there, and nothing writes to it.
    let source = unsafe { core::slice::from_raw_parts(*place, record.size as usize) };
    let none = Reservation { name: "", address: 0, size: 0, compatible: None };
    let mut reservations = [none; MAX_RESERVATIONS];
    for (place, wanted) in reservations.iter_mut().zip(wanted) {
        let name = text(&wanted.name).filter(|name| name.starts_with("hartlock-"));
        let compatible = text(&wanted.compatible).ok_or(CallReason::CallResult)?;
        *place = Reservation {
            name: name.ok_or(CallReason::CallResult)?,
            address: wanted.address,
            size: wanted.size,
            compatible: Some(compatible).filter(|it| !it.is_empty()),
        };
    }
    let initramfs = manifest.payload(PayloadType::Initramfs).filter(|it| it.size > 0);
    let edits = Edits {
        bootargs: manifest.bootargs().unwrap_or_default(),
        initrd: initramfs.map(|it| (it.load_address, it.load_address.saturating_add(it.size))),
        reservations: reservations.get(..wanted.len()).unwrap_or_default(),
        harts,
        boot_hart: u64::from(hart),
    };
    let refused = || Refusal::from(Reason::DeviceTreeUnusable);
    let written = fdt::edit(source, out, &edits).map_err(|_| refused())?;
    let tree = Tree::parse(source).ok_or_else(refused)?;
    let filled = [PayloadType::Kernel, PayloadType::Initramfs]
        .map(|it| manifest.payload(it).map_or(Filled::NOTHING, Filled::by));
    let limit = bootargs::memory_limit(edits.bootargs.as_bytes());
    places::check(&tree, &filled, limit).map_err(|_| refused())?;
    cpus::check(&tree, u64::from(hart)).map_err(|_| refused())?;
    Ok(written)
}

/// Returns the text before the first zero, which has to be there.
fn text(field: &[u8; 32]) -> Option<&str> {
    let end = field.iter().position(|byte| *byte == 0)?;
    core::str::from_utf8(field.get(..end)?).ok()
}
