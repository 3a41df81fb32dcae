//! The messages that kernels are tried with, and their digests by the portable forms.

use anyhow::{Context, Result};
use hartlock_bench::kernels::{Case, MAX_HEAD_LEN, MAX_MESSAGES};
use hartlock_image::HashId;
use hartlock_verify::tree::{Digest, Hasher, Kernel};

/// A case that owns its digests.
pub struct OwnedCase {
    case: Case<'static>,
    digests: Vec<Digest>,
}

/// How messages are laid out: number, bytes, bytes of the head, misalignment.
type Layout = (usize, usize, usize, usize);

/// Every hash with messages around the ends of blocks, in every place, and more of them than lanes.
pub fn all() -> Result<Vec<OwnedCase>> {
    let mut cases = Vec::new();
    for hash in HashId::ALL {
        let mut layouts = layouts(block_len(hash));
        if hash == HashId::Kt128 {
            // Chunks in all lanes, and half of the lanes and one more.
            layouts.extend([(2, 8 * 8192, 0, 0), (1, 7 * 8192 + 5, 0, 0), (1, 5 * 8192 + 1, 0, 4)]);
        }
        for (seed, layout) in (1..).zip(layouts) {
            cases.push(OwnedCase::new(hash, layout, seed));
        }
    }
    Ok(cases)
}

fn layouts(block: usize) -> Vec<Layout> {
    vec![
        (1, 0, 0, 0),
        (3, 1, 0, 0),
        (2, 1, 1, 5),
        (2, block - 1, 0, 0),
        (5, block, 0, 0),
        (3, block + 1, 0, 1),
        // Padding that does not fit behind the message.
        (4, block - 8, 4, 0),
        (2, block - 17, 0, 3),
        (7, 2 * block, block, 0),
        // As leaves are hashed: a prefix of 16 bytes, then aligned data.
        (16, 3 * block + 40, 16, 8),
        (MAX_MESSAGES, 4 * block + 3, 16, 0),
        (17, 2 * block + 9, 16, 4),
        (9, 4 * block, 299, 2),
        (2, 20_000, 16, 0),
        (4, 4 * block + 100, 0, 7),
    ]
}

impl OwnedCase {
    fn new(hash: HashId, (count, len, head_len, misalignment): Layout, seed: u32) -> Self {
        let case = Case {
            hash,
            count,
            len,
            head_len: head_len.min(len).min(MAX_HEAD_LEN),
            misalignment,
            seed,
            digests: &[],
        };
        let digests = (0..count).map(|index| {
            let mut message = vec![0; len];
            case.message(index, &mut message);
            let mut judge = Kernel::new(hash);
            judge.update(&message);
            judge.finalize()
        });
        Self { case, digests: digests.collect() }
    }
}

/// All cases in the form of the pack.
pub fn encode(cases: &[OwnedCase]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for OwnedCase { case, digests } in cases {
        let mut entry = vec![0; 32 + 64 * MAX_MESSAGES];
        let size = Case { digests, ..*case }.encode(&mut entry).context("too many messages")?;
        body.extend_from_slice(&entry[..size]);
    }
    Ok(body)
}

/// Bytes of a block.
const fn block_len(hash: HashId) -> usize {
    match hash {
        HashId::Sha256 => 64,
        HashId::Sha384 | HashId::Sha512 => 128,
        HashId::Sha3_256 | HashId::Shake256 => 136,
        HashId::Sha3_384 => 104,
        HashId::Sha3_512 => 72,
        HashId::Shake128 => 168,
        // A chunk: its ends are where KT128 changes.
        HashId::Kt128 => 8192,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_what_was_made() {
        let cases = all().unwrap();
        let bytes = encode(&cases).unwrap();
        let mut rest = &bytes[..];
        for made in &cases {
            let (case, behind) = Case::parse(rest).unwrap();
            assert_eq!(case, Case { digests: &made.digests, ..made.case });
            rest = behind;
        }
        assert!(rest.is_empty());
    }
}
