//! The SHA-3 engine: digests of payloads that DMA streams to it.
//!
//! It is no kernel of `crates/kernels`, which has the sponge as a whole: only what is streamed goes through it, and the
//! root over the leaves of a payload in blocks is hashed in software.

use hartlock_drivers::sha3::{Error, Function, Sha3 as Engine};
use hartlock_drivers::wait::Polling;
use hartlock_image::HashId;
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512};
use hartlock_regs::Block;
use hartlock_rot::SHA3;
use hartlock_verify::tree::{self, Digest};

/// Bytes of the longest digest.
const LONGEST: usize = 64;

/// The engine, which has given known answers.
pub struct Sha3(Engine<Polling>);

/// The function of a hash that the engine has, and the bytes of its digest.
fn function(hash: HashId) -> Option<(Function<'static>, usize)> {
    let function = match hash {
        HashId::Sha3_256 => Function::Sha3_256,
        HashId::Sha3_384 => Function::Sha3_384,
        HashId::Sha3_512 => Function::Sha3_512,
        _ => return None,
    };
    Some((function, hash.output_len()))
}

impl Sha3 {
    /// Takes the engine if each of its functions gives the published digest. Called once.
    pub fn take() -> Option<Self> {
        // SAFETY: the engine's registers, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
        let mut engine = Engine::new(registers, Polling).ok()?;
        let known: [(Function<'_>, &[u8]); 3] = [
            (Function::Sha3_256, &Sha3_256::KAT),
            (Function::Sha3_384, &Sha3_384::KAT),
            (Function::Sha3_512, &Sha3_512::KAT),
        ];
        for (function, digest) in known {
            let mut given = [0; LONGEST];
            let given = given.get_mut(..digest.len())?;
            digest_of_abc(&mut engine, function, given).ok()?;
            if given != digest {
                return None;
            }
        }
        Some(Self(engine))
    }

    /// Whether it computes this hash.
    pub fn has(hash: HashId) -> bool {
        function(hash).is_some()
    }

    /// The digest of what `bring` streams to the engine; nothing if it or the stream failed.
    pub fn digest_of_stream(
        &mut self,
        hash: HashId,
        bring: impl FnOnce() -> Option<()>,
    ) -> Option<Digest> {
        let (function, len) = function(hash)?;
        self.0.start_stream(function).ok()?;
        bring()?;
        let mut digest = [0; LONGEST];
        let digest = digest.get_mut(..len)?;
        self.0.read(digest).ok()?;
        Some(tree::padded(digest))
    }
}

fn digest_of_abc(
    engine: &mut Engine<Polling>,
    function: Function<'_>,
    digest: &mut [u8],
) -> Result<(), Error> {
    engine.start(function)?;
    engine.push(b"abc");
    engine.finish(digest)
}
