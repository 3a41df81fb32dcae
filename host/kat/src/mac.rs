//! Operation `mac`: HMAC (FIPS 198-1, RFC 2104) and KMAC (SP 800-185 §4).
//!
//! The run time depends on the tag and on the key. These are keys of public test vectors: no secret
//! may be passed to this code.

use hartlock_kernels::HashFamily;
use hartlock_kernels::parallelhash::{left_encode, right_encode};

use crate::digest::{cshake, squeeze};
use crate::hash::{self, Digest, Name};
use crate::request::Field;
use crate::{Answer, Engine, KernelChoice, NO_KERNEL, Output, Request};

/// The largest block length in bytes of a hash for which HMAC is defined: that of SHA3-224.
const MAX_BLOCK_LEN: usize = 144;

/// An algorithm of the operation, with its parameters.
enum MacAlgorithm {
    Hmac(Name),
    Kmac { is_256: bool },
}

impl MacAlgorithm {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "kmac128" => return Some(MacAlgorithm::Kmac { is_256: false }),
            "kmac256" => return Some(MacAlgorithm::Kmac { is_256: true }),
            _ => {}
        }
        let hash = Name::parse(name.strip_prefix("hmac-")?)?;
        hash.block_len().map(|_| MacAlgorithm::Hmac(hash))
    }
}

/// Returns the fields that an algorithm needs in addition to key and message; `None` if the algorithm
/// is unknown.
pub fn needs(alg: &str) -> Option<&'static [Field]> {
    MacAlgorithm::parse(alg).map(|_| &[][..])
}

/// Computes a tag, or compares it with the tag in the case if there is one.
pub(crate) fn answer(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    let Some(alg) = MacAlgorithm::parse(request.alg()) else {
        return Answer::UnsupportedField(Field::Alg);
    };
    let tag = request.raw(Field::Tag);
    let whole_len = match alg {
        MacAlgorithm::Hmac(hash) => hash.output_len() as u64,
        // SP 800-185 defines no default length; these lengths give the full security strength.
        MacAlgorithm::Kmac { is_256 } => {
            if is_256 {
                64
            } else {
                32
            }
        }
    };
    let len = request.number(Field::OutputLen).unwrap_or(whole_len);
    if len > crate::digest::MAX_OUTPUT_LEN {
        return Answer::Unsupported("more output than this engine gives");
    }
    if matches!(alg, MacAlgorithm::Hmac(_)) && len > whole_len {
        return Answer::Invalid("output_len is longer than the hash");
    }
    if tag.is_some_and(|tag| tag.len() as u64 != len) {
        return Answer::Invalid("the tag does not have output_len bytes");
    }
    // The tag is compared piece by piece while it is computed.
    let (mut rest, mut is_equal) = (tag.unwrap_or_default(), true);
    let mut compare = |piece: &[u8]| {
        let (now, after) = rest.split_at_checked(piece.len()).unwrap_or((rest, &[]));
        is_equal &= now == piece;
        rest = after;
    };
    let sink: Output<'_> = if tag.is_some() { &mut compare } else { output };
    let answer = match alg {
        MacAlgorithm::Hmac(hash) => hmac(engine, hash, request, len, sink),
        MacAlgorithm::Kmac { is_256 } => kmac(engine, is_256, request, len, sink),
    };
    match (answer, tag) {
        (Answer::Ok, Some([])) => Answer::Invalid("an empty tag proves nothing"),
        (Answer::Ok, Some(_)) if is_equal && rest.is_empty() => Answer::Valid,
        (Answer::Ok, Some(_)) => Answer::Invalid("the tag is that of another message or key"),
        (answer, _) => answer,
    }
}

fn hmac(
    engine: &Engine,
    hash: Name,
    request: &Request<'_>,
    len: u64,
    output: Output<'_>,
) -> Answer {
    let key = request.bytes(Field::Key);
    let block_len = hash.block_len().unwrap_or(MAX_BLOCK_LEN);
    // A key that is longer than a block is replaced by its digest (FIPS 198-1 §4, step 2).
    let short;
    let key = if key.len() > block_len {
        let Some(digest) = hash::digest(engine, hash, key, &[]) else { return NO_KERNEL };
        short = digest;
        short.as_ref()
    } else {
        key
    };
    let padded = |pad: u8| {
        let mut block = [pad; MAX_BLOCK_LEN];
        for (to, from) in block.iter_mut().zip(key) {
            *to ^= *from;
        }
        block
    };
    let pass = |pad: u8, text: &[u8]| -> Option<Digest> {
        let block = padded(pad);
        hash::digest(engine, hash, block.get(..block_len)?, text)
    };
    if hash::digest(engine, hash, &[], &[]).is_none() && hash.family().is_none() {
        return Answer::UnsupportedField(Field::Alg);
    }
    let inner = pass(0x36, request.bytes(Field::Message));
    let Some(tag) = inner.and_then(|inner| pass(0x5c, inner.as_ref())) else { return NO_KERNEL };
    output(tag.as_ref().get(..len as usize).unwrap_or_default());
    Answer::Ok
}

fn kmac(
    engine: &Engine,
    is_256: bool,
    request: &Request<'_>,
    len: u64,
    output: Output<'_>,
) -> Answer {
    if engine.kernel_choice(HashFamily::Keccak) != Some(KernelChoice::Single) {
        return NO_KERNEL;
    }
    let customization = request.bytes(Field::Customization);
    let mut hash = cshake(&engine.kernels, is_256, b"KMAC", customization);
    // The input is bytepad(encode_string(K), rate) ‖ X ‖ right_encode(L) (SP 800-185 §4.3).
    hash.update(left_encode(if is_256 { 136 } else { 168 }).as_ref());
    hash.update_string(request.bytes(Field::Key));
    hash.pad_block();
    hash.update(request.bytes(Field::Message));
    hash.update(right_encode(len.wrapping_mul(8)).as_ref());
    squeeze(hash.finalize(), len, output);
    Answer::Ok
}
