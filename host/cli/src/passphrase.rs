//! Reads passphrases from a terminal, a file or the environment, but never from an argument: every user can
//! see arguments in the list of processes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hartlock_files::FileError;
use hartlock_keys::Error;
use hartlock_keys::{
    KeyError, KeyErrorKind, MAX_PASSPHRASE as MAX_SIZE, Passphrase, is_token, passphrase_in_file,
};
use hartlock_terminal as terminal;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use crate::failure::Failure;
use crate::signer::warn_if_others_can_read;

/// Where a passphrase comes from, if not from the terminal.
#[derive(Debug, clap::Args)]
pub struct Source {
    /// Read the passphrase of encrypted keys, or the PIN of a token, from the first line of this file
    #[arg(
        long,
        value_name = "FILE",
        visible_alias = "pin-file",
        conflicts_with = "passphrase_env"
    )]
    passphrase_file: Option<PathBuf>,
    /// Read the passphrase of encrypted keys, or the PIN of a token, from this environment variable
    #[arg(long, value_name = "NAME", visible_alias = "pin-env")]
    passphrase_env: Option<String>,
}

impl Source {
    /// Returns true if an option names the source of the passphrase, so that no terminal is needed.
    pub fn is_given(&self) -> bool {
        self.passphrase_file.is_some() || self.passphrase_env.is_some()
    }

    /// Returns the path of the passphrase file, if an option names one.
    pub fn file(&self) -> Option<&PathBuf> {
        self.passphrase_file.as_ref()
    }

    /// Reads the passphrase of an existing key.
    pub fn ask(&self, path: &Path) -> Result<Passphrase, Error> {
        if let Some(passphrase) = self.given()? {
            return Ok(passphrase);
        }
        let what = if is_token(path) { "PIN" } else { "passphrase" };
        let prompt = format!("{what} of {}: ", terminal::path(path));
        // Without a terminal the error is that the key is encrypted.
        let encrypted =
            |_| Error::Key(KeyError { path: path.to_path_buf(), kind: KeyErrorKind::Encrypted });
        Terminal::open().and_then(|mut terminal| terminal.ask(&prompt)).map_err(encrypted)
    }

    /// Reads the passphrase of a new key. On a terminal it must be typed twice.
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
                let second = terminal.ask("repeat the new passphrase: ").map_err(no_terminal)?;
                if first != second {
                    return Err(Failure::undecided(
                        "the two passphrases differ",
                        "type the same passphrase twice",
                    ));
                }
                first
            }
        };
        if passphrase.is_empty() {
            return Err(Failure::undecided(
                "the passphrase is empty",
                "choose a passphrase, or leave the passphrase options out",
            ));
        }
        Ok(passphrase)
    }

    fn given(&self) -> Result<Option<Passphrase>, Error> {
        if let Some(path) = &self.passphrase_file {
            let passphrase = passphrase_in_file(path)?;
            warn_if_others_can_read("passphrase", path);
            return Ok(Some(passphrase));
        }
        let Some(name) = &self.passphrase_env else { return Ok(None) };
        // An unset variable is an error, not an empty passphrase.
        match std::env::var_os(name) {
            Some(value) => Ok(Some(Passphrase::new(value.into_encoded_bytes()))),
            None => {
                let source = io::Error::other("it is not set");
                Err(FileError::new(FileError::READ_VARIABLE, Path::new(name), source).into())
            }
        }
    }
}

/// The controlling terminal of this process, whatever the standard input is. Typed characters are not shown.
/// The terminal modes are restored when this value is dropped.
struct Terminal {
    file: File,
    modes: Termios,
}

impl Terminal {
    fn open() -> io::Result<Self> {
        let file = File::options().read(true).write(true).open("/dev/tty")?;
        let modes = rustix::termios::tcgetattr(&file)?;
        let mut silent = modes.clone();
        // Input is read byte by byte and without signals, because an interrupt would leave the terminal
        // without echo.
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
        // An error cannot be reported from here.
        let _ = rustix::termios::tcsetattr(&self.file, OptionalActions::Flush, &self.modes);
    }
}

/// Reads a line of a terminal whose own line editing is switched off.
fn read_line(from: &mut impl Read) -> io::Result<Passphrase> {
    // The capacity is that of the longest passphrase, so that the buffer is never copied.
    let mut line = Passphrase::new(Vec::with_capacity(MAX_SIZE));
    loop {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        match byte[0] {
            b'\n' | b'\r' => return Ok(line),
            // The codes are interrupt, and end of input on an empty line.
            3 => return Err(io::ErrorKind::Interrupted.into()),
            4 if line.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            // A backspace removes all bytes of a UTF-8 character.
            8 | 127 => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            // This code removes the whole line.
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
