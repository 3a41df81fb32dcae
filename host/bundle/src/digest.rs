//! Payload digests (image format §6) of data in a file, on all cores.
//!
//! A payload in mode `blocks` or `parallelhash` is cut into runs of blocks. Each thread takes the next run, has its
//! bytes moved into a buffer of its own, and hashes them there: several blocks at once where the
//! processor has vectors for it. No byte is handed from one thread to another. Mode `flat` is one
//! hash from the first byte to the last, so one thread has to do it.
//!
//! Memory does not grow with the payload or with the number of cores: 40 MiB is the bound of the
//! buffers of all threads and of the leaves that wait for an earlier one.

use std::num::NonZero;
use std::thread;

use hartlock_image::HashId;
use hartlock_verify::tree::Digest;

mod host;
mod lanes;
mod plan;
#[cfg(test)]
mod tests;
mod turns;

pub use host::HostHasher;
pub use plan::{Piece, Plan};

/// Digests of the messages `heads[i] ‖ bodies[i]`, in the lanes of this processor even where one message
/// at a time would be faster, in order. Heads are of equal length, and so are bodies. `false` if there are
/// no lanes for this hash. Of known-answer tests; bundles are hashed by a [`Plan`].
pub fn digest_in_lanes(
    hash: HashId,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    on_digest: &mut dyn FnMut(&Digest),
) -> bool {
    let Some(engine) = lanes::Engine::all(hash).next() else { return false };
    for (heads, bodies) in heads.chunks(engine.lanes()).zip(bodies.chunks(engine.lanes())) {
        let mut lanes = lanes::Lanes::new(engine);
        lanes.update(heads);
        lanes.update(bodies);
        lanes.finalize().iter().take(heads.len()).for_each(&mut *on_digest);
    }
    true
}

/// Cores that this process may use.
pub fn core_count() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
