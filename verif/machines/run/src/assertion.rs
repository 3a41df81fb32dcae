//! Failed assertions of the RTL, as a simulation reports them.

use std::fmt;

/// The error that an assertion failed in a simulation; it is the first one, because it ends the
/// simulation.
#[derive(Debug)]
pub struct Failed {
    /// The assertion as `module.Name_A`.
    pub name: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an assertion of the RTL failed: {}", self.name)
    }
}

impl std::error::Error for Failed {}

/// Returns `module.Name_A` of the first failed assertion in a log. The module is the name of the
/// file.
pub fn first_failure(log: &str) -> Option<String> {
    let line = log.lines().find(|line| line.contains("Assertion failed in "))?;
    let (place, rest) = line.split_once("Assertion failed in ")?;
    let name = rest.split([':', ' ']).next()?.rsplit('.').next()?;
    let file = place.split_once(".sv:")?.0.rsplit(['/', ' ']).next()?;
    Some(format!("{file}.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_found_in_the_log() {
        let log = "0 ns INFO x\n[130000] %Error: /t/sha2_fifo.sv:166: Assertion failed in \
                   sha2.u_fifo.NeverTooFull_A: sha2.u_fifo.NeverTooFull_A does not hold\n\
                   [2] %Error: b.sv:1: Assertion failed in top.B_A: x";
        assert_eq!(first_failure(log).unwrap(), "sha2_fifo.NeverTooFull_A");
        assert!(first_failure("0 ns INFO x").is_none());
    }
}
