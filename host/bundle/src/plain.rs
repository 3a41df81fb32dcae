//! Digests of payloads as other tools print them: of all bytes, in one piece.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::Error;
use crate::describe::{Description, Payload, Plain, hex};
use hartlock_files::FileError;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// Reads the payloads of a bundle once more, and adds their plain digests: by the hash of the payload if it is of
/// SHA-2, else by SHA-384. Only what a verifier said about these bytes says that they are genuine.
///
/// # Errors
/// If the file cannot be read, or is shorter than the description.
pub fn add_digests(path: &Path, description: &mut Description) -> Result<(), Error> {
    thread::scope(|scope| {
        let threads: Vec<_> = description
            .payloads
            .iter_mut()
            .map(|payload| {
                scope.spawn(|| {
                    payload.plain = Some(of(path, payload)?);
                    Ok(())
                })
            })
            .collect();
        // A thread that panics is a bug, and the whole is one then.
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

fn of(path: &Path, payload: &Payload) -> Result<Plain, Error> {
    let (tool, digest) = match payload.hash {
        "sha256" => ("sha256sum", digest::<Sha256>(path, payload)?),
        "sha512" => ("sha512sum", digest::<Sha512>(path, payload)?),
        _ => ("sha384sum", digest::<Sha384>(path, payload)?),
    };
    Ok(Plain { tool, digest })
}

fn digest<H: Digest>(path: &Path, payload: &Payload) -> Result<String, Error> {
    let (file, _) = hartlock_files::open(path)?;
    let mut hash = H::new();
    let mut room = vec![0; PIECE];
    let mut done = 0;
    while done < payload.size {
        let len = (payload.size - done).min(PIECE as u64) as usize;
        file.read_exact_at(&mut room[..len], payload.offset + done)
            .map_err(|error| FileError::new("read", path, error))?;
        hash.update(&room[..len]);
        done += len as u64;
    }
    Ok(hex(&hash.finalize()))
}
