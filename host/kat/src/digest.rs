//! The operation `digest`.

use hartlock_image::HashId;
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::parallelhash::{left_encode, right_encode};
use hartlock_kernels::xof::{self, Xof};
use hartlock_kernels::{Hash, HashFamily, Kernels};
use hartlock_verify::tree::{self, Hasher, SoftwareHasher};

use crate::hash::{self, Name};
use crate::lanes::{self, Leaf};
use crate::request::Field;
use crate::{Answer, Engine, KernelChoice, NO_KERNEL, Output, Request};

/// Maximum length of an output in bytes. Lines have a maximum length, so outputs need one too.
pub const MAX_OUTPUT_LEN: u64 = 4 << 20;
/// Number of bytes that are squeezed at a time.
const PIECE: usize = 168;

/// An algorithm of the operation, with its parameters.
enum DigestAlgorithm {
    Hash(Name),
    Shake { is_256: bool },
    CShake { is_256: bool },
    ParallelHash { is_256: bool, is_xof: bool },
    Kt128,
    Tree(HashId),
    PaperTree(HashId),
}

impl DigestAlgorithm {
    fn parse(name: &str) -> Option<Self> {
        let tree_hash = |name: &str| Name::parse(name).and_then(Name::id);
        if let Some(hash) = name.strip_prefix("tree-") {
            return tree_hash(hash).map(DigestAlgorithm::Tree);
        }
        if let Some(hash) = name.strip_prefix("papertree-") {
            return tree_hash(hash).map(DigestAlgorithm::PaperTree);
        }
        Some(match name {
            "shake128" => DigestAlgorithm::Shake { is_256: false },
            "shake256" => DigestAlgorithm::Shake { is_256: true },
            "cshake128" => DigestAlgorithm::CShake { is_256: false },
            "cshake256" => DigestAlgorithm::CShake { is_256: true },
            "parallelhash128" => DigestAlgorithm::ParallelHash { is_256: false, is_xof: false },
            "parallelhash256" => DigestAlgorithm::ParallelHash { is_256: true, is_xof: false },
            "parallelhashxof128" => DigestAlgorithm::ParallelHash { is_256: false, is_xof: true },
            "parallelhashxof256" => DigestAlgorithm::ParallelHash { is_256: true, is_xof: true },
            "kt128" => DigestAlgorithm::Kt128,
            // The hashes that only signatures use are not algorithms of this operation.
            _ => match Name::parse(name)? {
                Name::Sha1 | Name::Sha224 | Name::Sha512_224 | Name::Sha512_256 => return None,
                hash => DigestAlgorithm::Hash(hash),
            },
        })
    }
}

/// Returns the fields that an algorithm needs in addition to the message; `None` if the algorithm is unknown.
pub fn needs(alg: &str) -> Option<&'static [Field]> {
    Some(match DigestAlgorithm::parse(alg)? {
        DigestAlgorithm::Hash(_) => &[],
        DigestAlgorithm::Shake { .. } | DigestAlgorithm::CShake { .. } | DigestAlgorithm::Kt128 => {
            &[Field::OutputLen]
        }
        DigestAlgorithm::ParallelHash { .. } => &[Field::OutputLen, Field::BlockSize],
        DigestAlgorithm::Tree(_) | DigestAlgorithm::PaperTree(_) => &[Field::BlockSize],
    })
}

/// Computes a digest.
pub(crate) fn answer(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    let Some(alg) = DigestAlgorithm::parse(request.alg()) else {
        return Answer::UnsupportedField(Field::Alg);
    };
    let kernels = &engine.kernels;
    let message = request.bytes(Field::Message);
    let len = request.number(Field::OutputLen).unwrap_or(0);
    if len > MAX_OUTPUT_LEN {
        return Answer::Unsupported("more output than this engine gives");
    }
    let block_size = request.number(Field::BlockSize).unwrap_or(0);
    let has_blocks = matches!(
        alg,
        DigestAlgorithm::ParallelHash { .. }
            | DigestAlgorithm::Tree(_)
            | DigestAlgorithm::PaperTree(_)
    );
    if has_blocks && block_size == 0 {
        return Answer::Invalid("block_size is zero");
    }
    let customization = request.bytes(Field::Customization);
    match alg {
        DigestAlgorithm::Hash(name) => {
            let Some(digest) = hash::digest(engine, name, message, &[]) else { return NO_KERNEL };
            output(digest.as_ref());
        }
        DigestAlgorithm::Shake { is_256 } => {
            let name = if is_256 { Name::Shake256 } else { Name::Shake128 };
            // Lanes give an output that is long enough for most cases; for a longer output, the message is
            // hashed separately.
            if engine.kernel_choice(HashFamily::Keccak) == Some(KernelChoice::Lanes)
                && len <= name.output_len() as u64
            {
                let Some(digest) = hash::digest(engine, name, message, &[]) else {
                    return NO_KERNEL;
                };
                output(digest.as_ref().get(..len as usize).unwrap_or_default());
                return Answer::Ok;
            }
            return sponge(engine, cshake(kernels, is_256, &[], &[]), message, len, output);
        }
        DigestAlgorithm::CShake { is_256 } => {
            let function_name = request.bytes(Field::FunctionName);
            let hash = cshake(kernels, is_256, function_name, customization);
            return sponge(engine, hash, message, len, output);
        }
        DigestAlgorithm::ParallelHash { is_256, is_xof } => {
            if engine.kernel_choice(HashFamily::Keccak).is_none() {
                return NO_KERNEL;
            }
            let hash = if is_256 { HashId::Shake256 } else { HashId::Shake128 };
            let leaf_len = hash.output_len();
            let mut root = cshake(kernels, is_256, b"ParallelHash", customization);
            root.update(left_encode(block_size).as_ref());
            let mut count = 0_u64;
            let on_leaf = &mut |leaf: &tree::Digest| {
                root.update(leaf.get(..leaf_len).unwrap_or(leaf));
                count = count.wrapping_add(1);
            };
            if !lanes::leaves(engine, (Leaf::ParallelHash, hash), block_size, message, on_leaf) {
                return NO_KERNEL;
            }
            root.update(right_encode(count).as_ref());
            let bits = if is_xof { 0 } else { len.wrapping_mul(8) };
            root.update(right_encode(bits).as_ref());
            squeeze(root.finalize(), len, output);
        }
        DigestAlgorithm::Kt128 => {
            if engine.lanes.is_some() && len == 32 && customization.is_empty() {
                let Some(digest) = hash::digest(engine, Name::Kt128, message, &[]) else {
                    return NO_KERNEL;
                };
                output(digest.as_ref());
                return Answer::Ok;
            }
            if engine.kernel_choice(HashFamily::Keccak).is_none() || engine.lanes.is_some() {
                return NO_KERNEL;
            }
            return kt128(engine, message, customization, len, output);
        }
        DigestAlgorithm::Tree(hash) | DigestAlgorithm::PaperTree(hash) => {
            let family = match hash {
                HashId::Sha256 => HashFamily::Sha256,
                HashId::Sha384 | HashId::Sha512 => HashFamily::Sha512,
                _ => HashFamily::Keccak,
            };
            if engine.kernel_choice(family).is_none() {
                return NO_KERNEL;
            }
            let kind =
                if matches!(alg, DigestAlgorithm::Tree(_)) { Leaf::Tree } else { Leaf::Paper };
            let Some(digest) = root(engine, (kind, hash), request, block_size) else {
                return NO_KERNEL;
            };
            output(digest.get(..hash.output_len()).unwrap_or(&digest));
        }
    }
    Answer::Ok
}

/// Makes a cSHAKE128 or cSHAKE256 (SP 800-185 §3).
pub(crate) fn cshake(
    kernels: &Kernels,
    is_256: bool,
    function_name: &[u8],
    customization: &[u8],
) -> Xof {
    let of = if is_256 { Xof::cshake256 } else { Xof::cshake128 };
    of(kernels, function_name, customization)
}

fn sponge(engine: &Engine, mut hash: Xof, message: &[u8], len: u64, output: Output<'_>) -> Answer {
    if engine.kernel_choice(HashFamily::Keccak) != Some(KernelChoice::Single) {
        return NO_KERNEL;
    }
    hash.update(message);
    squeeze(hash.finalize(), len, output);
    Answer::Ok
}

/// Writes `len` bytes of output.
pub(crate) fn squeeze(mut squeezed: xof::Output, len: u64, output: Output<'_>) {
    let mut left = len;
    while left > 0 {
        let mut piece = [0; PIECE];
        squeezed.read(&mut piece);
        let now = left.min(PIECE as u64);
        output(piece.get(..now as usize).unwrap_or(&piece));
        left = left.wrapping_sub(now);
    }
}

fn kt128(
    engine: &Engine,
    message: &[u8],
    customization: &[u8],
    len: u64,
    output: Output<'_>,
) -> Answer {
    let mut hash = Kt128::with(&engine.kernels);
    hash.update(message);
    if len == Kt128::OUTPUT_LEN as u64 && customization.is_empty() {
        // This is the function that hashes payloads.
        output(&hash.finalize());
        return Answer::Ok;
    }
    squeeze(hash.finalize_xof(customization), len, output);
    Answer::Ok
}

/// Computes a hash tree.
///
/// `tree` is the root of mode `blocks` (image format §6.2) over a record that the case gives. `papertree` has
/// the equations of the first paper, `H_i = h(u64le(i) ‖ B_i)` and `H_root = h(H_hdr ‖ H_0 ‖ …)`. They have no
/// domain separation, so no verifier uses them. Returns `None` if the requested lanes are not available.
fn root(
    engine: &Engine,
    (kind, hash): (Leaf, HashId),
    request: &Request<'_>,
    block_size: u64,
) -> Option<tree::Digest> {
    let kernels = &engine.kernels;
    let message = request.bytes(Field::Message);
    let leaf_len = hash.output_len();
    let mut header = SoftwareHasher::with(hash, kernels);
    let mut root = SoftwareHasher::with(hash, kernels);
    if kind == Leaf::Tree {
        header.update(b"HLKrec_0");
        root.update(b"HLKroot0");
        let len = message.len() as u64;
        // A block size of zero was refused before; this only avoids a division by zero.
        for number in [len.div_ceil(block_size.max(1)), len, block_size] {
            root.update(&number.to_le_bytes());
        }
    }
    header.update(request.bytes(Field::Record));
    root.update(header.finalize().get(..leaf_len)?);
    let is_done = lanes::leaves(engine, (kind, hash), block_size, message, &mut |leaf| {
        root.update(leaf.get(..leaf_len).unwrap_or(leaf));
    });
    is_done.then(|| root.finalize())
}
