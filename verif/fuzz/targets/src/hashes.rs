//! Digests of payloads (image format §6) by hash implementations other than those of the verifier.

use cshake::digest::ExtendableOutput;

use crate::numbers::u32_at;

/// Returns the digest of a payload with the hash and mode of its record. `rec` is the first 64
/// bytes of the record (§6).
pub fn digest(rec: &[u8], data: &[u8]) -> Vec<u8> {
    let number = u32_at(rec, 4);
    if u32_at(rec, 8) == 1 {
        return hash(number, &[data]);
    }
    let block_size = u32_at(rec, 12) as usize;
    if u32_at(rec, 8) == 3 {
        return parallelhash(number, block_size, data);
    }
    let leaves: Vec<u8> = data
        .chunks(block_size)
        .zip(0u64..)
        .flat_map(|(block, index)| hash(number, &[b"HLKleaf0", &index.to_le_bytes(), block]))
        .collect();
    let count = data.len().div_ceil(block_size) as u64;
    let header = hash(number, &[b"HLKrec_0", rec]);
    let parts: [&[u8]; 6] = [
        b"HLKroot0",
        &count.to_le_bytes(),
        &(data.len() as u64).to_le_bytes(),
        &(block_size as u64).to_le_bytes(),
        &header,
        &leaves,
    ];
    hash(number, &parts)
}

fn hash(number: u32, parts: &[&[u8]]) -> Vec<u8> {
    fn of<D: sha2::Digest>(parts: &[&[u8]]) -> Vec<u8> {
        parts.iter().fold(D::new(), |hash, part| hash.chain_update(part)).finalize().to_vec()
    }
    match number {
        1 => of::<sha2::Sha256>(parts),
        2 => of::<sha2::Sha384>(parts),
        3 => of::<sha2::Sha512>(parts),
        4 => of::<sha3::Sha3_256>(parts),
        5 => of::<sha3::Sha3_384>(parts),
        6 => of::<sha3::Sha3_512>(parts),
        7 => output(k12::Kt128::default(), 32, parts),
        8 => output(cshake::CShake128::default(), 32, parts),
        9 => output(cshake::CShake256::default(), 64, parts),
        _ => panic!("hash {number}"),
    }
}

fn output(mut function: impl ExtendableOutput, len: usize, parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().for_each(|part| function.update(part));
    let mut digest = vec![0; len];
    function.finalize_xof_into(&mut digest);
    digest
}

/// Computes ParallelHash (§6.3). A hash that this mode does not allow uses an arbitrary function,
/// because such a record is refused.
fn parallelhash(number: u32, block_size: usize, data: &[u8]) -> Vec<u8> {
    let leaves: Vec<u8> =
        data.chunks(block_size.max(1)).flat_map(|block| hash(number, &[block])).collect();
    // Block sizes and counts are below 2^32 here.
    let digits = |value: usize| {
        let bytes = (value as u32).to_be_bytes();
        bytes[bytes.iter().take(3).take_while(|byte| **byte == 0).count()..].to_vec()
    };
    let left = |value| [vec![digits(value).len() as u8], digits(value)].concat();
    let right = |value| [digits(value), vec![digits(value).len() as u8]].concat();
    let output_bits = if number == 8 { 256 } else { 512 };
    let count = data.len().div_ceil(block_size.max(1));
    let z = [left(block_size), leaves, right(count), right(output_bits)].concat();
    let name = b"ParallelHash";
    match number {
        8 => output(cshake::CShake128::new_with_function_name(name, b""), 32, &[&z]),
        9 => output(cshake::CShake256::new_with_function_name(name, b""), 64, &[&z]),
        _ => hash(number, &[&z]),
    }
}
