//! The command line.

use super::system::Stack;

/// What the user asked for.
pub struct Arguments {
    /// True if few samples of short messages are enough.
    pub is_quick: bool,
    /// The processor to run on.
    pub cpu: Option<usize>,
}

impl Arguments {
    /// Number of samples of a measurement.
    pub const fn samples(&self) -> usize {
        if self.is_quick { 3 } else { 15 }
    }

    /// Length of a message in bytes.
    pub const fn message_len(&self) -> usize {
        if self.is_quick { 4 << 10 } else { super::measure::MAX_LEN }
    }

    /// Minimum time of a sample in nanoseconds.
    pub const fn sample_time(&self) -> u64 {
        if self.is_quick { 0 } else { 2_000_000 }
    }

    /// Parses the command line; `None` if it asks for help.
    pub fn parse(stack: &Stack) -> Result<Option<Self>, &'static str> {
        let mut found = Self { is_quick: false, cpu: None };
        let mut words = stack.arguments().skip(1);
        while let Some(word) = words.next() {
            match word {
                b"--help" | b"-h" => return Ok(None),
                b"--quick" => found.is_quick = true,
                b"--cpu" => {
                    let number = words.next().and_then(|word| core::str::from_utf8(word).ok());
                    let number = number.and_then(|word| word.parse().ok());
                    found.cpu = Some(number.ok_or("error: --cpu needs the number of a processor")?);
                }
                _ => return Err("error: an unknown option"),
            }
        }
        Ok(Some(found))
    }
}
