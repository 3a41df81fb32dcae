//! The engine for hash-based signatures, with the stream that feeds it. Signature and message are those in the scratchpad, where
//! both are checked.

use hartlock_drivers::scratchpad_stream::ScratchpadStream;
use hartlock_drivers::wait::Polling;
use hartlock_drivers::xmss::streamed::StreamedXmss;
use hartlock_drivers::xmss::{Key, Xmss};
use hartlock_kernels::engines::{RootRequest, RootScheme};
use hartlock_kernels::hash_based::{SCRATCH_LEN, SCRATCH_LEN_OF_TREES};
use hartlock_regs::Block;
use hartlock_rot::{SCRATCHPAD, SCRATCHPAD_STREAM, XMSS};

use crate::words::Words;

/// Bytes for known answers: those of the schemes that this ROM carries.
pub const KNOWN_LEN: usize =
    if cfg!(feature = "slh-dsa") { SCRATCH_LEN } else { SCRATCH_LEN_OF_TREES };

/// Bytes of a message that is cut: with SLH-DSA the signed region of a bundle has a prefix (FIPS 205 §10.2). A longer one takes
/// more time.
const ROOM_LEN: usize = if cfg!(feature = "slh-dsa") { 2048 } else { 64 };
static mut ROOM: Words<ROOM_LEN> = Words([0; ROOM_LEN]);

/// The engine and its stream.
pub type RootEngine = StreamedXmss<Polling>;

/// Takes the engine; nothing if it is not there, or has failed. Called once.
pub fn take() -> Option<RootEngine> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(XMSS)) };
    let engine = Xmss::new(registers, Polling).ok()?;
    let registers = core::ptr::with_exposed_provenance_mut(SCRATCHPAD_STREAM);
    // SAFETY: the registers of the stream, of which this is the only user.
    let stream = unsafe { ScratchpadStream::new(registers, SCRATCHPAD) };
    let room = &raw mut ROOM;
    // SAFETY: this function is called once, and nothing else names it.
    let Words(room) = unsafe { &mut *room };
    Some(StreamedXmss::new(engine, stream, room))
}

/// The key of a request; nothing if the engine does not have the scheme, or this ROM no verifier for it.
pub fn key<'a>(request: &RootRequest<'a>) -> Option<Key<'a>> {
    match request.scheme {
        RootScheme::Xmss if cfg!(feature = "xmss") => Key::xmss(request.public_key),
        RootScheme::Lms if cfg!(feature = "lms") => Key::lms(request.public_key),
        RootScheme::SlhDsaSha2_128s if cfg!(feature = "slh-dsa") => {
            Key::slh_dsa_sha2_128s(request.public_key)
        }
        _ => None,
    }
}
