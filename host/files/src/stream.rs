//! Files that have no name: standard input and output, written `-`, and pipes.
//!
//! Such an input can be read only once, but most callers read a file several times: they verify it, and then use it.
//! So its bytes are copied once into a file without a name, and every [`crate::open`] of this path reads that copy.
//! Nobody else can change the copy: what was verified is what is used.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::{FileError, linux};

/// The path that stands for standard input or output. A file of this name is `./-`.
const STANDARD: &str = "-";

/// Maximum number of bytes that are copied. Every payload and bundle that a board has room for is smaller.
const LIMIT: u64 = 4 << 30;

/// The copies that were made, with the paths of the inputs.
static COPIES: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());

/// Returns true if the path is `-`, which stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

/// Opens the copy of an input that can be read only once. Returns `None` if `path` is not such an input.
pub(crate) fn open(path: &Path) -> Result<Option<(File, u64)>, FileError> {
    let fail = |source| FileError::new("read", path, source);
    let is_pipe = || fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo());
    if !is_standard(path) && !is_pipe() {
        return Ok(None);
    }
    // A panic with this lock held leaves complete copies only.
    let mut copies = COPIES.lock().unwrap_or_else(|error| error.into_inner());
    if !copies.iter().any(|(known, _)| known == path) {
        let input = if is_standard(path) { standard_input() } else { File::open(path) };
        let copy = input.and_then(|input| copied(input, LIMIT)).map_err(fail)?;
        copies.push((path.to_path_buf(), copy));
    }
    let copy = copies.iter().find(|(known, _)| known == path).map(|(_, copy)| copy);
    let file = copy.map_or_else(|| Err(io::ErrorKind::NotFound.into()), linux::opened_again);
    let file = file.map_err(fail)?;
    let len = file.metadata().map_err(fail)?.len();
    Ok(Some((file, len)))
}

fn standard_input() -> io::Result<File> {
    let input = io::stdin();
    if input.is_terminal() {
        return Err(io::Error::other("standard input is a terminal"));
    }
    Ok(input.as_fd().try_clone_to_owned()?.into())
}

/// Copies at most `limit` bytes into a file without a name.
fn copied(input: impl Read, limit: u64) -> io::Result<File> {
    let mut copy = tempfile::tempfile()?;
    let len = io::copy(&mut input.take(limit.saturating_add(1)), &mut copy)?;
    if len > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(copy)
}

/// Makes the file that collects what will go to standard output.
pub(crate) fn begin_output() -> io::Result<File> {
    if io::stdout().is_terminal() {
        return Err(io::Error::other("standard output is a terminal"));
    }
    tempfile::tempfile()
}

/// Writes a collected file to standard output.
pub(crate) fn finish_output(mut file: File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    let mut output: File = io::stdout().as_fd().try_clone_to_owned()?.into();
    io::copy(&mut file, &mut output).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;
    use std::process::Command;
    use std::thread;

    use super::*;

    fn pipe_with(folder: &Path, bytes: &'static [u8]) -> PathBuf {
        let path = folder.join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let to = path.clone();
        thread::spawn(move || File::create(to).unwrap().write_all(bytes).unwrap());
        path
    }

    #[test]
    fn a_pipe_is_read_once_and_opened_as_often_as_needed() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe_with(folder.path(), b"what was written");
        for _ in 0..2 {
            let (mut file, len) = crate::open(&path).unwrap();
            assert_eq!(len, 16);
            let mut text = String::new();
            // The position is that of this handle alone.
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "what was written");
            let mut start = [0; 4];
            file.read_exact_at(&mut start, 5).unwrap();
            assert_eq!(&start, b"was ");
        }
    }

    #[test]
    fn an_endless_input_ends_at_the_limit() {
        assert!(copied(io::repeat(7).take(10), 10).is_ok());
        let error = copied(io::repeat(7), 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
