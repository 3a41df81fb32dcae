//! Passphrases: from a terminal, a file or the environment. Never from an argument, which every user can
//! see in the list of processes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hartlock_files::{FileError, read_small};
use hartlock_keys::Error;
use hartlock_keys::{KeyError, KeyErrorKind, Passphrase};
use hartlock_terminal as terminal;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use crate::failure::Failure;

/// More is a file that was meant for something else.
const MAX_SIZE: usize = 1 << 10;

/// Where a passphrase comes from, if not from the terminal.
#[derive(Debug, clap::Args)]
pub struct Source {
    /// File whose first line is the passphrase of encrypted keys
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_env")]
    passphrase_file: Option<PathBuf>,
    /// Environment variable with the passphrase of encrypted keys
    #[arg(long, value_name = "NAME")]
    passphrase_env: Option<String>,
}

impl Source {
    /// Whether it is there without a terminal.
    pub fn is_given(&self) -> bool {
        self.passphrase_file.is_some() || self.passphrase_env.is_some()
    }

    /// The file that it comes from, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        self.passphrase_file.as_ref()
    }

    /// The passphrase of a key that is there.
    pub fn ask(&self, path: &Path) -> Result<Passphrase, Error> {
        if let Some(passphrase) = self.given()? {
            return Ok(passphrase);
        }
        let prompt = format!("passphrase of {}: ", terminal::path(path));
        // Without a terminal the key is what it is: encrypted.
        let encrypted =
            |_| Error::Key(KeyError { path: path.to_path_buf(), kind: KeyErrorKind::Encrypted });
        Terminal::open().and_then(|mut terminal| terminal.ask(&prompt)).map_err(encrypted)
    }

    /// The passphrase of a new key. On a terminal it has to be typed twice.
    pub fn choose(&self) -> Result<Passphrase, Failure> {
        let no_terminal = |_| {
            Failure::undecided(
                "no passphrase is given, and there is no terminal to ask for it",
                "name a file with `--passphrase-file` or a variable with `--passphrase-env`",
            )
        };
        let passphrase = match self.given()? {
            Some(passphrase) => passphrase,
            None => {
                let mut terminal = Terminal::open().map_err(no_terminal)?;
                let first = terminal.ask("new passphrase: ").map_err(no_terminal)?;
                let second = terminal.ask("the same again: ").map_err(no_terminal)?;
                if first != second {
                    return Err(Failure::undecided(
                        "these are two passphrases",
                        "type the same one twice",
                    ));
                }
                first
            }
        };
        if passphrase.is_empty() {
            return Err(Failure::undecided(
                "the passphrase is empty",
                "choose one, or ask for none",
            ));
        }
        Ok(passphrase)
    }

    fn given(&self) -> Result<Option<Passphrase>, Error> {
        if let Some(path) = &self.passphrase_file {
            let content = read_small(path, MAX_SIZE)?;
            let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            return Ok(Some(Passphrase::new(line.to_vec())));
        }
        let Some(name) = &self.passphrase_env else { return Ok(None) };
        // An unset variable is a mistake, and not an empty passphrase.
        match std::env::var(name) {
            Ok(value) => Ok(Some(Passphrase::new(value.into_bytes()))),
            Err(_) => {
                let source = io::Error::other("it is not set, or is not text");
                Err(FileError::new(FileError::READ_VARIABLE, Path::new(name), source).into())
            }
        }
    }
}

/// The terminal of this process, whatever its standard input is. What is typed does not show; the modes
/// come back when this is dropped.
struct Terminal {
    file: File,
    modes: Termios,
}

impl Terminal {
    fn open() -> io::Result<Self> {
        let file = File::options().read(true).write(true).open("/dev/tty")?;
        let modes = rustix::termios::tcgetattr(&file)?;
        let mut silent = modes.clone();
        // Byte by byte and without signals: an interrupt would leave the terminal mute.
        silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        rustix::termios::tcsetattr(&file, OptionalActions::Flush, &silent)?;
        Ok(Self { file, modes })
    }

    fn ask(&mut self, prompt: &str) -> io::Result<Passphrase> {
        self.file.write_all(prompt.as_bytes())?;
        let line = read_line(&mut self.file);
        self.file.write_all(b"\n")?;
        line
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failure cannot be reported here.
        let _ = rustix::termios::tcsetattr(&self.file, OptionalActions::Flush, &self.modes);
    }
}

/// A line of a terminal that edits nothing itself.
fn read_line(from: &mut impl Read) -> io::Result<Passphrase> {
    // With room for all of it, so that nothing is copied about.
    let mut line = Passphrase::new(Vec::with_capacity(MAX_SIZE));
    loop {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        match byte[0] {
            b'\n' | b'\r' => return Ok(line),
            // Interrupt, and end of input on an empty line.
            3 => return Err(io::ErrorKind::Interrupted.into()),
            4 if line.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            // Backspace, with all bytes of a character.
            8 | 127 => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            // The whole line.
            21 => line.clear(),
            byte if line.len() < MAX_SIZE => line.push(byte),
            _ => return Err(io::ErrorKind::FileTooLarge.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(bytes: &[u8]) -> io::Result<Vec<u8>> {
        read_line(&mut &bytes[..]).map(|line| line.to_vec())
    }

    #[test]
    fn a_line_can_be_corrected() {
        assert_eq!(typed(b"secret\nmore").unwrap(), b"secret");
        assert_eq!(typed(b"sel\x7fcret\r").unwrap(), b"secret");
        assert_eq!(typed("sé\x7fecret\n".as_bytes()).unwrap(), b"secret");
        assert_eq!(typed(b"wrong\x15secret\n").unwrap(), b"secret");
        assert_eq!(typed(b"\x7f\x7f\n").unwrap(), b"");
        assert!(typed(b"sec\x03ret\n").is_err());
        assert!(typed(b"\x04").is_err());
        assert!(typed(b"no end").is_err());
        assert!(typed(&[b'a'; MAX_SIZE + 1]).is_err());
    }
}
