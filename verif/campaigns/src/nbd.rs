//! A disk for an emulated board whose contents a test controls: a server of network block devices (NBD, fixed
//! newstyle negotiation with simple replies), on a Unix socket, for one client, read-only.
//!
//! The protocol is described at <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>. All
//! integers are big-endian.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, bail, ensure};

const GREETING: &[u8; 8] = b"NBDMAGIC";
const OPTION: &[u8; 8] = b"IHAVEOPT";
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;

/// Handshake flags, which have the same values for server and client.
const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

const OPTION_ABORT: u32 = 2;
const OPTION_INFO: u32 = 6;
const OPTION_GO: u32 = 7;
const ACKNOWLEDGED: u32 = 1;
const INFORMATION: u32 = 3;
const UNSUPPORTED: u32 = 0x8000_0001;
/// Type of the information reply with size and flags of the export.
const EXPORT: u16 = 0;
/// Transmission flags: the flags field is valid, and the export is read-only.
const READ_ONLY_EXPORT: u16 = 1 | 2;

const READ: u16 = 0;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const NOT_SUPPORTED: u32 = 95;

/// Maximum length of an option and of a read, in bytes. The emulator sends no longer ones.
const MAX_LEN: u32 = 32 << 20;

/// The contents of a disk, which may change between reads.
pub trait Contents: Send + 'static {
    fn size(&self) -> u64;

    /// Fills `into` with the bytes from `offset` on. The range is inside the disk.
    fn read(&mut self, offset: u64, into: &mut [u8]);
}

/// A server that runs until its client disconnects, or until it is dropped.
pub struct Server<C> {
    socket: PathBuf,
    thread: Option<JoinHandle<Result<C>>>,
}

impl<C: Contents> Server<C> {
    /// Listens at the path `socket`, which must not exist yet.
    pub fn start(socket: &Path, contents: C) -> Result<Self> {
        let listener = UnixListener::bind(socket).context("cannot listen for a client")?;
        let thread = thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            serve(stream, contents)
        });
        Ok(Self { socket: socket.to_owned(), thread: Some(thread) })
    }

    /// Waits for the client to disconnect, and returns the contents.
    pub fn finish(mut self) -> Result<C> {
        self.join().context("there is a thread")?
    }

    fn join(&mut self) -> Option<Result<C>> {
        let thread = self.thread.take()?;
        // If no client ever connected, this connection ends the server.
        drop(UnixStream::connect(&self.socket));
        Some(thread.join().unwrap_or_else(|_| bail!("the server panicked")))
    }
}

impl<C> Drop for Server<C> {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            drop(UnixStream::connect(&self.socket));
            // The result is ignored: the test has already failed for another reason.
            let _ = thread.join();
        }
    }
}

fn serve<C: Contents>(mut stream: UnixStream, mut contents: C) -> Result<C> {
    let end = negotiate(&mut stream, contents.size()).and_then(|goes_on| match goes_on {
        true => transmit(&mut stream, &mut contents),
        false => Ok(()),
    });
    match end {
        Ok(()) => Ok(contents),
        // The emulator exits without a disconnect request.
        Err(error) if has_left(&error) => Ok(contents),
        Err(error) => Err(error),
    }
}

fn has_left(error: &anyhow::Error) -> bool {
    let kinds =
        [io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
    error.downcast_ref::<io::Error>().is_some_and(|error| kinds.contains(&error.kind()))
}

/// Negotiates the export. Returns true if the client enters the transmission phase.
fn negotiate(stream: &mut UnixStream, size: u64) -> Result<bool> {
    let flags = (FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes();
    stream.write_all(&[&GREETING[..], OPTION, &flags].concat())?;
    let _client_flags: [u8; 4] = take(stream)?;
    loop {
        let magic: [u8; 8] = take(stream)?;
        ensure!(magic == *OPTION, "an option begins with {magic:02x?}");
        let option = u32::from_be_bytes(take(stream)?);
        let len = u32::from_be_bytes(take(stream)?);
        ensure!(len <= MAX_LEN, "an option of {len} bytes");
        stream.read_exact(&mut vec![0; len as usize])?;
        let mut reply = |kind: u32, data: &[u8]| -> Result<()> {
            let len = (data.len() as u32).to_be_bytes();
            let parts = [
                &OPTION_REPLY.to_be_bytes()[..],
                &option.to_be_bytes(),
                &kind.to_be_bytes(),
                &len,
                data,
            ];
            Ok(stream.write_all(&parts.concat())?)
        };
        match option {
            OPTION_INFO | OPTION_GO => {
                let export = [
                    &EXPORT.to_be_bytes()[..],
                    &size.to_be_bytes(),
                    &READ_ONLY_EXPORT.to_be_bytes(),
                ];
                reply(INFORMATION, &export.concat())?;
                reply(ACKNOWLEDGED, &[])?;
                if option == OPTION_GO {
                    return Ok(true);
                }
            }
            OPTION_ABORT => {
                reply(ACKNOWLEDGED, &[])?;
                return Ok(false);
            }
            _ => reply(UNSUPPORTED, &[])?,
        }
    }
}

fn transmit(stream: &mut UnixStream, contents: &mut impl Contents) -> Result<()> {
    loop {
        let magic = u32::from_be_bytes(take(stream)?);
        ensure!(magic == REQUEST, "a request begins with {magic:#x}");
        let _flags: [u8; 2] = take(stream)?;
        let kind = u16::from_be_bytes(take(stream)?);
        let cookie: [u8; 8] = take(stream)?;
        let offset = u64::from_be_bytes(take(stream)?);
        let len = u32::from_be_bytes(take(stream)?);
        let mut data = Vec::new();
        let error = match kind {
            READ => {
                let is_inside =
                    offset.checked_add(len.into()).is_some_and(|end| end <= contents.size());
                ensure!(is_inside && len <= MAX_LEN, "a read of {len} bytes at {offset}");
                data.resize(len as usize, 0);
                contents.read(offset, &mut data);
                0
            }
            DISCONNECT => return Ok(()),
            FLUSH => 0,
            _ => NOT_SUPPORTED,
        };
        let head = [&SIMPLE_REPLY.to_be_bytes()[..], &error.to_be_bytes(), &cookie];
        stream.write_all(&head.concat())?;
        stream.write_all(&data)?;
    }
}

fn take<const N: usize>(stream: &mut UnixStream) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counter(u8);

    impl Contents for Counter {
        fn size(&self) -> u64 {
            1024
        }

        fn read(&mut self, offset: u64, into: &mut [u8]) {
            self.0 += 1;
            into.fill(self.0);
            into[0] = offset as u8;
        }
    }

    fn option(stream: &mut UnixStream, option: u32) -> Vec<(u32, Vec<u8>)> {
        stream
            .write_all(&[&OPTION[..], &option.to_be_bytes(), &2u32.to_be_bytes(), b"ab"].concat())
            .unwrap();
        let mut replies = Vec::new();
        loop {
            assert_eq!(take(stream).unwrap(), OPTION_REPLY.to_be_bytes());
            assert_eq!(take(stream).unwrap(), option.to_be_bytes());
            let kind = u32::from_be_bytes(take(stream).unwrap());
            let mut data = vec![0; u32::from_be_bytes(take(stream).unwrap()) as usize];
            stream.read_exact(&mut data).unwrap();
            replies.push((kind, data));
            if kind != INFORMATION {
                return replies;
            }
        }
    }

    #[test]
    fn a_client_negotiates_reads_and_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("disk");
        let server = Server::start(&socket, Counter(0)).unwrap();
        let mut stream = UnixStream::connect(&socket).unwrap();
        let greeting: [u8; 18] = take(&mut stream).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stream.write_all(&3u32.to_be_bytes()).unwrap();
        assert_eq!(option(&mut stream, 8), [(UNSUPPORTED, Vec::new())]);
        let export = [&[0; 8][..], &[4, 0, 0, 3]].concat();
        let information = [(INFORMATION, export), (ACKNOWLEDGED, Vec::new())];
        assert_eq!(option(&mut stream, OPTION_INFO), information);
        assert_eq!(option(&mut stream, OPTION_GO), information);
        let request = |stream: &mut UnixStream, kind: u16, offset: u64, len: u32| {
            let parts = [
                &REQUEST.to_be_bytes()[..],
                &[0; 2],
                &kind.to_be_bytes(),
                b"cookie!!",
                &offset.to_be_bytes(),
            ];
            stream.write_all(&[&parts.concat()[..], &len.to_be_bytes()].concat()).unwrap();
        };
        for (kind, offset, len, error, data) in [
            (READ, 512, 3, 0, vec![0, 1, 1]),
            (READ, 1, 2, 0, vec![1, 2]),
            (FLUSH, 0, 0, 0, vec![]),
            (1, 0, 0, NOT_SUPPORTED, vec![]),
        ] {
            request(&mut stream, kind, offset, len);
            assert_eq!(take(&mut stream).unwrap(), SIMPLE_REPLY.to_be_bytes());
            assert_eq!(take(&mut stream).unwrap(), u32::to_be_bytes(error));
            assert_eq!(take::<8>(&mut stream).unwrap(), *b"cookie!!");
            let mut answer = vec![0; data.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, data);
        }
        request(&mut stream, READ, 1023, 2);
        assert!(server.finish().is_err(), "a read past the end was answered");
    }

    #[test]
    fn a_server_ends_without_a_client_and_when_its_client_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("disk");
        drop(Server::start(&socket, Counter(0)).unwrap());
        let other = folder.path().join("other");
        let server = Server::start(&other, Counter(7)).unwrap();
        drop(UnixStream::connect(&other).unwrap());
        assert_eq!(server.finish().unwrap().0, 7);
    }
}
