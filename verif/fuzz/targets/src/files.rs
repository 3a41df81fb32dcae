//! Unnamed temporary files, for interfaces that take only files.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::sync::Mutex;

/// An open temporary file that is deleted when the program ends. All uses share one file, which
/// each use overwrites.
pub struct Temporary {
    pub file: File,
    pub len: u64,
}

impl Temporary {
    pub fn of(bytes: &[u8]) -> Self {
        static FILE: Mutex<Option<File>> = Mutex::new(None);
        let mut slot = FILE.lock().expect("one thread");
        let file = slot.get_or_insert_with(nameless);
        let filled = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| file.rewind())
            .and_then(|()| file.try_clone());
        Self { file: filled.expect("a temporary file"), len: bytes.len() as u64 }
    }

    /// Returns a path to the file, which is valid while the file is open.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.file.as_raw_fd())
    }
}

fn nameless() -> File {
    let path = std::env::temp_dir().join(format!("hartlock-fuzz-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path);
    // The name is not needed any more. If it cannot be removed, only an empty file remains.
    let _ = std::fs::remove_file(path);
    file.expect("a temporary file")
}
