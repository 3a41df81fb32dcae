//! The functions of `hartlock.h` (specification §4). Each returns 0 or the number of a reason.

use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use hartlock_handoff::Handoff;
use hartlock_handoff::domain::{self, DomainFault};
use hartlock_handoff::payload::judge_linux;
use hartlock_image::{BundleType, CallReason, Closing, PayloadRecord, PayloadType, Reason};
use hartlock_verify::pool::MAX_HARTS;
use hartlock_verify::{Authenticated, authenticate};

use crate::decryption::Decryption;
use crate::harts;
use crate::library::{Library, OfBootHart, Progress, Refusal};
use crate::port::{CallerPort, described};
use crate::types::{
    CallerPayload, CallerPlatform, CallerRange, CallerRequirements, HARTLOCK_MEMORY_SIZE,
    HARTLOCK_MIN_BUFFER_SIZE, HARTLOCK_VERSION,
};

pub(crate) fn number(result: Result<(), Refusal>) -> u32 {
    match result {
        Ok(()) => 0,
        Err(Refusal(number)) => number,
    }
}

/// Returns the version of the library's structures.
#[unsafe(no_mangle)]
pub extern "C" fn hartlock_version() -> u32 {
    HARTLOCK_VERSION
}

/// Begins a boot. `memory` has `size` bytes; `hart` is the number of the calling hart. The description of the platform is
/// copied.
///
/// # Safety
/// `memory` is null or points to `size` bytes that only the library uses from now on; `platform` is null or points to a
/// description whose functions can be called and whose memory can be used, as the specification says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_begin(
    memory: *mut c_void,
    size: usize,
    platform: *const CallerPlatform,
    hart: u32,
) -> u32 {
    if platform.is_null() || !platform.is_aligned() {
        return CallReason::CallPlatform as u32;
    }
    // SAFETY: the caller guarantees it. Nothing but version and size is read before they are known.
    let [version, of_struct] = unsafe { platform.cast::<[u32; 2]>().read() };
    if version != HARTLOCK_VERSION || !CallerPlatform::SIZES.contains(&(of_struct as usize)) {
        return CallReason::CallPlatform as u32;
    }
    // Zeros are members that are null.
    let mut own = MaybeUninit::<CallerPlatform>::zeroed();
    let (from, to) = (platform.cast::<u8>(), own.as_mut_ptr().cast::<u8>());
    // SAFETY: the caller guarantees that the description has as many bytes, which are read once.
    unsafe { core::ptr::copy_nonoverlapping(from, to, of_struct as usize) };
    // SAFETY: numbers, and pointers that may be null.
    let platform = unsafe { own.assume_init() };
    if !is_complete(&platform, memory) {
        return CallReason::CallPlatform as u32;
    }
    if hart as usize >= MAX_HARTS {
        return CallReason::CallHart as u32;
    }
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::prepare(memory, size, hart, platform) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    number(library.step(Progress::REFUSED, Progress::BEGUN, |_| Ok(())))
}

/// Returns true if nothing that is required is missing, and the pieces of memory do not overlap.
fn is_complete(platform: &CallerPlatform, memory: *mut c_void) -> bool {
    let CallerPlatform { buffer, buffer_size, metadata, metadata_size, closed, .. } = *platform;
    let is_usable = |at: *mut u8, size: usize| {
        !at.is_null()
            && (at as usize).is_multiple_of(8)
            && (at as usize).checked_add(size).is_some()
    };
    let is_apart = |one: (usize, usize), other: (usize, usize)| {
        one.0.saturating_add(one.1) <= other.0 || other.0.saturating_add(other.1) <= one.0
    };
    let own = (memory as usize, HARTLOCK_MEMORY_SIZE);
    let (buffer_range, metadata_range) =
        ((buffer as usize, buffer_size), (metadata as usize, metadata_size));
    let has_functions = platform.read.is_some()
        && platform.require.is_some()
        && platform.may_load.is_some()
        && platform.ticks.is_some()
        && platform.read_start.is_some() == platform.read_poll.is_some();
    let has_memory = is_usable(buffer, buffer_size)
        && is_usable(metadata, metadata_size)
        && buffer_size >= HARTLOCK_MIN_BUFFER_SIZE
        && is_apart(buffer_range, metadata_range)
        && is_apart(own, buffer_range)
        && is_apart(own, metadata_range);
    // Ranges that nobody can try would be a promise that nobody keeps.
    let can_try = platform.closed_count == 0
        || (!closed.is_null() && closed.is_aligned() && platform.attempt.is_some());
    let is_counted = platform.closed_count.checked_mul(size_of::<CallerRange>()).is_some();
    // The same holds for keys of payloads that this archive cannot decrypt.
    let can_decrypt = platform.unwrap.is_none() || Decryption::IS_THERE;
    has_functions
        && has_memory
        && can_try
        && can_decrypt
        && is_counted
        && platform.ticks_per_second > 0
}

/// Verifies what is in front of the payloads: signatures, policy, manifest, requirements, places.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_authenticate(memory: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::at(memory) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    let step = |own: &mut OfBootHart| {
        harts::try_closed_memory(library.platform(), library.boot_hart())?;
        ask_for_requirements(library, &mut own.requirements)?;
        authenticated(library, own)
    };
    number(library.step(Progress::BEGUN, Progress::AUTHENTICATED, step))
}

/// Fills the requirements for a system bundle from the hand-off block of Hartlock's ROM (boot flow §3.4), for a stage that it has
/// started: 4096 bytes at `block`, which this stage cannot write. `boot_hart` is the number by which the ROM knows the calling
/// hart; `max_bootargs` is the longest command line of the kernel. Call it from `require`, each time.
///
/// # Safety
/// `block` is null or points to `size` bytes, `requirements` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_requirements_of_handoff(
    block: *const u8,
    size: usize,
    boot_hart: u64,
    max_bootargs: u32,
    requirements: *mut CallerRequirements,
) -> u32 {
    if requirements.is_null() || !requirements.is_aligned() {
        return CallReason::CallResult as u32;
    }
    let bytes = if block.is_null() {
        &[]
    } else {
        // SAFETY: the caller guarantees the block.
        unsafe { core::slice::from_raw_parts(block, size) }
    };
    let handoff = match Handoff::parse(bytes) {
        Ok(handoff) if handoff.boot_hart == boot_hart => handoff,
        Ok(_) => return Reason::WrongBootHart as u32,
        Err(reason) => return reason as u32,
    };
    // SAFETY: the pointer was checked, and the caller guarantees the place.
    unsafe { requirements.write(CallerRequirements::of_handoff(&handoff, max_bootargs)) };
    0
}

/// Asks twice for the requirements.
#[inline(never)]
fn ask_for_requirements(
    library: &Library,
    requirements: &mut [CallerRequirements; 2],
) -> Result<(), Refusal> {
    let platform = library.platform();
    let require = platform.require.ok_or(CallReason::CallPlatform)?;
    for (reading, place) in (0..).zip(requirements.iter_mut()) {
        *place = CallerRequirements::NONE;
        // SAFETY: the caller gave this function for this purpose, and the place lives until it returns.
        let failed = unsafe { require(platform.context, library.boot_hart(), reading, place) };
        if failed != 0 {
            return Err(CallReason::CallRequirements.into());
        }
    }
    let [first, again] = requirements;
    if first == again { Ok(()) } else { Err(CallReason::CallRequirementsDiffer.into()) }
}

/// Verifies the metadata against the requirements, and keeps the bundle.
#[inline(never)]
fn authenticated(library: &Library, own: &mut OfBootHart) -> Result<(), Refusal> {
    let OfBootHart { bundle, places, requirements: [first, again], .. } = own;
    let platform = library.platform();
    let kernels = harts::kernels(library, library.boot_hart());
    let (acceptance, max_bootargs) = (first.acceptance()?, first.max_bootargs as usize);
    let again = again.acceptance()?;
    let mut port = CallerPort::new(library, kernels, first.bundle_type, places);
    // SAFETY: the platform gave this memory to the library, and nothing else refers to it.
    let metadata =
        unsafe { core::slice::from_raw_parts_mut(platform.metadata, platform.metadata_size) };
    let manifest = bundle.write(authenticate(&mut port, &acceptance, &again, metadata)?).manifest();
    if matches!(manifest.closing, Closing::Bootargs(it) if it.len() > max_bootargs) {
        return Err(Reason::BootargsTooLong.into());
    }
    Ok(library.decryption.unwrap(library, manifest)?)
}

/// Returns the bundle.
///
/// # Safety
/// `hartlock_authenticate` has verified it.
const unsafe fn bundle_of(own: &mut OfBootHart) -> &mut Authenticated<'static> {
    // SAFETY: the caller guarantees it.
    unsafe { own.bundle.assume_init_mut() }
}

/// Loads the payloads and verifies them, with the harts that call `hartlock_work`.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_load(memory: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::at(memory) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    let step = |own: &mut OfBootHart| {
        let kernels = harts::kernels(library, library.boot_hart());
        let OfBootHart {
            bundle,
            places,
            requirements: [CallerRequirements { bundle_type, .. }, _],
            ..
        } = own;
        harts::wait_for_attempts(library)?;
        // SAFETY: the step before has written the bundle.
        let bundle = unsafe { bundle.assume_init_mut() };
        bundle.load_payloads(&mut CallerPort::new(library, kernels, *bundle_type, places))?;
        library.decryption.forget_keys();
        Ok(())
    };
    number(library.step(Progress::AUTHENTICATED, Progress::LOADED, step))
}

/// Lets all harts leave `hartlock_work`. They have to be woken afterwards.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_stop(memory: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees the memory.
    match unsafe { Library::at(memory) } {
        Ok(library) => {
            library.is_stopped.store(true, Ordering::SeqCst);
            0
        }
        Err(Refusal(number)) => number,
    }
}

/// Takes the first decision. No other hart works any more.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_decide(memory: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::at(memory) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    let step = |own: &mut OfBootHart| {
        library.is_stopped.store(true, Ordering::SeqCst);
        if library.running.load(Ordering::SeqCst) != 0 {
            return Err(Reason::HartNotStopped.into());
        }
        library.refuse_reachable_memory()?;
        // SAFETY: a step before has written the bundle.
        let bundle = unsafe { bundle_of(own) };
        let verdict = bundle.conclude()?;
        library.decryption.confirm(bundle.manifest())?;
        judge_payloads(own)?;
        own.verdict.write(verdict);
        Ok(())
    };
    number(library.step(Progress::LOADED, Progress::DECIDED, step))
}

/// Refuses payloads with which Linux would end without a word (boot flow §5.8), and a device tree that leaves the device
/// to the next program.
fn judge_payloads(own: &mut OfBootHart) -> Result<(), Refusal> {
    // SAFETY: a step before has written the bundle.
    let manifest = unsafe { own.bundle.assume_init_ref() }.manifest();
    let found = |payload_type: PayloadType| {
        let mut all = manifest.payloads.iter().zip(&own.places);
        let (record, place) = all.find(|(record, _)| record.payload_type == payload_type)?;
        // SAFETY: the payload was loaded there, and nothing writes to it.
        Some((record, unsafe { core::slice::from_raw_parts(*place, record.size as usize) }))
    };
    let bytes = |payload_type| found(payload_type).map_or(&[][..], |(_, bytes)| bytes);
    if manifest.bundle_type == BundleType::Boot {
        return judge_boot_tree(bytes(PayloadType::BootFdt)).map_err(Refusal::from);
    }
    let memory_size = found(PayloadType::Kernel).map_or(0, |(record, _)| record.memory_size);
    let (kernel, initramfs) = (bytes(PayloadType::Kernel), bytes(PayloadType::Initramfs));
    judge_linux(kernel, memory_size, initramfs, manifest.bootargs().unwrap_or_default())
        .map_err(|_| Reason::PayloadUnusable.into())
}

/// Refuses a device tree for OpenSBI that closes no memory to S-mode, or not on every hart (boot flow §5.6).
fn judge_boot_tree(tree: &[u8]) -> Result<(), Reason> {
    domain::check_any(tree).map_err(|fault| match fault {
        DomainFault::Malformed => Reason::DeviceTreeUnusable,
        _ => Reason::MemoryNotClosed,
    })
}

/// Takes the second decision, directly before the jump.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_confirm(memory: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::at(memory) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    let step = |own: &mut OfBootHart| {
        // SAFETY: the step before has written the verdict, and memory without it is a verdict that refuses.
        if unsafe { own.verdict.assume_init_ref() }.is_confirmed() {
            Ok(())
        } else {
            Err(Reason::VerdictNotConfirmed.into())
        }
    };
    number(library.step(Progress::DECIDED, Progress::DECIDED, step))
}

/// Ends a boot that the caller does not want to end in a kernel. Like a refusal, it overwrites keys and plain text of
/// encrypted payloads.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_abandon(memory: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees the memory.
    number(unsafe { Library::at(memory) }.and_then(Library::abandon))
}

/// Works for the boot hart. Returns `HARTLOCK_WAIT`, `HARTLOCK_STOPPED`, or the number of a reason.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`; no other hart has this number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_work(memory: *mut c_void, hart: u32) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let answer = unsafe { Library::at(memory) }.and_then(|library| harts::work(library, hart));
    answer.unwrap_or_else(|Refusal(number)| number)
}

/// Tells that a hart has trapped in `hartlock_work` and is not there any more.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`; the hart does not run code of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_report_trap(memory: *mut c_void, hart: u32) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let library = unsafe { Library::at(memory) };
    number(library.and_then(|library| harts::report_trap(library, hart)))
}

/// Gives a payload of the bundle.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`; `payload` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_payload(
    memory: *mut c_void,
    payload_type: u32,
    payload: *mut CallerPayload,
) -> u32 {
    let find = |own: &mut OfBootHart| {
        // SAFETY: a step before has written the bundle.
        let manifest = unsafe { bundle_of(own) }.manifest();
        let is_wanted = |record: &&PayloadRecord| record.payload_type as u32 == payload_type;
        let record = manifest.payloads.iter().find(is_wanted).ok_or(CallReason::CallPayload)?;
        let bundle_type = CallerRequirements::number_of(manifest.bundle_type);
        // SAFETY: the pointer was checked, and the caller guarantees the place.
        unsafe { payload.write(described(record, bundle_type)) };
        Ok(())
    };
    // SAFETY: the caller guarantees the memory.
    unsafe { result(memory, !payload.is_null() && payload.is_aligned(), find) }
}

/// Gives the kernel command line, which does not end with a zero.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`; `text` and `length` are null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_bootargs(
    memory: *mut c_void,
    text: *mut *const c_char,
    length: *mut usize,
) -> u32 {
    let find = |own: &mut OfBootHart| {
        // SAFETY: a step before has written the bundle.
        let bootargs = unsafe { bundle_of(own) }.manifest().bootargs().unwrap_or_default();
        // SAFETY: the pointer was checked, and the caller guarantees the place.
        unsafe { text.write(bootargs.as_ptr().cast()) };
        // SAFETY: the same.
        unsafe { length.write(bootargs.len()) };
        Ok(())
    };
    let is_usable =
        !text.is_null() && text.is_aligned() && !length.is_null() && length.is_aligned();
    // SAFETY: the caller guarantees the memory.
    unsafe { result(memory, is_usable, find) }
}

/// Gives a result after the first decision. A question that has no answer does not end the boot.
///
/// # Safety
/// `memory` is null or was given to `hartlock_begin`.
unsafe fn result(
    memory: *mut c_void,
    is_usable: bool,
    find: impl FnOnce(&mut OfBootHart) -> Result<(), Refusal>,
) -> u32 {
    // SAFETY: the caller guarantees the memory.
    let library = match unsafe { Library::at(memory) } {
        Ok(library) => library,
        Err(Refusal(number)) => return number,
    };
    if !is_usable {
        return CallReason::CallResult as u32;
    }
    let mut found = Ok(());
    let step = |own: &mut OfBootHart| {
        found = find(own);
        Ok(())
    };
    let done = library.step(Progress::DECIDED, Progress::DECIDED, step);
    number(done.and(found))
}

/// Writes what happened, in one sentence with a zero at its end, as far as there is room. Returns the length of the whole
/// sentence; 0 for a number that is not a reason, or whose text this build does not have.
///
/// # Safety
/// `text` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_title(reason: u32, text: *mut c_char, size: usize) -> usize {
    // SAFETY: the caller guarantees the place.
    unsafe { put(texts(reason).map_or("", |texts| texts.0), text, size) }
}

/// Writes what to do about a reason, like `hartlock_title`.
///
/// # Safety
/// `text` is null or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hartlock_hint(reason: u32, text: *mut c_char, size: usize) -> usize {
    // SAFETY: the caller guarantees the place.
    unsafe { put(texts(reason).map_or("", |texts| texts.1), text, size) }
}

/// Returns title and hint of a reason.
fn texts(number: u32) -> Option<(&'static str, &'static str)> {
    if !cfg!(feature = "texts") {
        return None;
    }
    let of_bundle = Reason::ALL.iter().find(|reason| **reason as u32 == number);
    let of_call = CallReason::ALL.iter().find(|reason| **reason as u32 == number);
    of_bundle
        .map(|reason| (reason.title(), reason.hint()))
        .or_else(|| of_call.map(|reason| (reason.title(), reason.hint())))
}

/// Copies a text and a zero.
///
/// # Safety
/// `to` is null or points to `size` bytes.
unsafe fn put(text: &str, to: *mut c_char, size: usize) -> usize {
    if !to.is_null()
        && let Some(room) = size.checked_sub(1)
    {
        let len = text.len().min(room);
        // SAFETY: the caller guarantees the place.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), len) };
        // SAFETY: there is room for one more byte.
        unsafe { to.wrapping_add(len).write(0) };
    }
    text.len()
}
