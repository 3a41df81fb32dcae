//! Computes the digests of payloads that other tools print: one hash over all bytes.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::Error;
use crate::describe::{Description, Payload, ToolDigest, hex};
use hartlock_files::FileError;

/// Number of bytes that are read at once.
const PIECE: usize = 1 << 20;

/// Reads the payloads of a bundle again, and adds their plain digests to the description: with the hash of
/// the payload if that is SHA-2, else with SHA-384. The digests are not compared with anything; only the
/// verifier decides whether the bytes are genuine.
///
/// # Errors
/// Fails if the file cannot be read, or is shorter than the description states.
pub fn add_digests(path: &Path, description: &mut Description) -> Result<(), Error> {
    thread::scope(|scope| {
        let threads: Vec<_> = description
            .payloads
            .iter_mut()
            .map(|payload| {
                scope.spawn(|| {
                    // The file of an encrypted payload is another one than the bytes of the bundle.
                    if payload.encryption.is_none() {
                        payload.plain = Some(of(path, payload)?);
                    }
                    Ok(())
                })
            })
            .collect();
        // A panic in a thread is a bug, so it is passed on.
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

fn of(path: &Path, payload: &Payload) -> Result<ToolDigest, Error> {
    let (tool, digest) = match payload.hash {
        "sha256" => ("sha256sum", digest::<Sha256>(path, payload)?),
        "sha512" => ("sha512sum", digest::<Sha512>(path, payload)?),
        _ => ("sha384sum", digest::<Sha384>(path, payload)?),
    };
    Ok(ToolDigest { tool, digest })
}

fn digest<H: Digest>(path: &Path, payload: &Payload) -> Result<String, Error> {
    let (file, _) = hartlock_files::open(path)?;
    let mut hash = H::new();
    let mut buffer = vec![0; PIECE];
    let mut done = 0;
    while done < payload.size {
        let len = (payload.size - done).min(PIECE as u64) as usize;
        file.read_exact_at(&mut buffer[..len], payload.offset + done)
            .map_err(|error| FileError::new("read", path, error))?;
        hash.update(&buffer[..len]);
        done += len as u64;
    }
    Ok(hex(&hash.finalize()))
}
