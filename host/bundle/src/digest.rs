//! Computes payload digests (image format §6) of data in a file, on all cores.
//!
//! A payload in mode `blocks` or `parallelhash` is cut into runs of blocks. Each thread takes the next run,
//! has its bytes read into a buffer of its own, and hashes them there, several blocks at once if the
//! processor has vector instructions for that. No byte is passed from one thread to another. Mode `flat` is
//! one hash from the first byte to the last, so one thread computes it.
//!
//! Memory does not grow with the payload or with the number of cores: the buffers of all threads and the
//! leaves that wait for an earlier leaf take at most 40 MiB.

use std::num::NonZero;
use std::thread;

use hartlock_image::HashId;
use hartlock_verify::tree::Digest;

mod host;
mod lanes;
mod part_queue;
mod plan;
#[cfg(test)]
mod tests;

pub use host::HostHasher;
pub use plan::{Piece, Plan};

/// Computes the digests of the messages `heads[i] ‖ bodies[i]` in vector lanes of this processor, even where
/// hashing one message at a time would be faster, and passes them to `on_digest` in order. All heads have the
/// same length, and so have all bodies. Returns `false` if this processor has no lanes for the hash. This
/// function is for known-answer tests; bundles are hashed by a [`Plan`].
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

/// Returns the number of cores that this process may use.
pub fn core_count() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
