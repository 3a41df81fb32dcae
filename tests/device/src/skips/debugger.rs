//! Control of a machine through its debug stub: as much of the GDB remote protocol as it takes to
//! skip one instruction (Debugging with GDB, appendix E).

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// QEMU answers at once, or it hangs.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Number of the program counter, after 32 integer registers.
const PC: u32 = 32;

/// A connection to the stub of a machine, which is stopped by it.
pub struct Debugger {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Debugger {
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("cannot reach the debug stub")?;
        let mut debugger = Self { stream, received: Vec::new() };
        debugger.ask("qSupported")?;
        Ok(debugger)
    }

    /// Resets the machine, which stays stopped.
    pub fn reset(&mut self) -> Result<()> {
        let command: String = b"system_reset".iter().map(|byte| format!("{byte:02x}")).collect();
        self.send(&format!("qRcmd,{command}"))?;
        // Console output of the command may come first.
        while self.answer(ANSWER_TIME)?.context("no answer to a reset")? != "OK" {}
        Ok(())
    }

    pub fn pc(&mut self) -> Result<u64> {
        Ok(u64::from_str_radix(&self.ask(&format!("p{PC:x}"))?, 16)?.swap_bytes())
    }

    pub fn set_pc(&mut self, pc: u64) -> Result<()> {
        self.expect_ok(&format!("P{PC:x}={:016x}", pc.swap_bytes()))
    }

    /// Sets a breakpoint that changes no memory.
    pub fn stop_at(&mut self, pc: u64) -> Result<()> {
        self.expect_ok(&format!("Z1,{pc:x},2"))
    }

    pub fn forget(&mut self, pc: u64) -> Result<()> {
        self.expect_ok(&format!("z1,{pc:x},2"))
    }

    /// Lets the machine run to a breakpoint and returns where it is; `None` if it does not stop
    /// within `patience`, and then it is stopped.
    pub fn run(&mut self, patience: Duration) -> Result<Option<u64>> {
        self.send("c")?;
        if self.answer(patience)?.is_some() {
            return self.pc().map(Some);
        }
        self.stream.write_all(b"\x03")?;
        self.answer(ANSWER_TIME)?.context("the machine cannot be stopped")?;
        Ok(None)
    }

    fn expect_ok(&mut self, packet: &str) -> Result<()> {
        let answer = self.ask(packet)?;
        ensure!(answer == "OK", "the debug stub answers {answer:?} to {packet}");
        Ok(())
    }

    fn ask(&mut self, packet: &str) -> Result<String> {
        self.send(packet)?;
        self.answer(ANSWER_TIME)?.with_context(|| format!("no answer to {packet}"))
    }

    fn send(&mut self, packet: &str) -> Result<()> {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        Ok(write!(self.stream, "${packet}#{sum:02x}")?)
    }

    /// The next packet; `None` if there is none in time.
    fn answer(&mut self, patience: Duration) -> Result<Option<String>> {
        let until = Instant::now() + patience;
        loop {
            if let Some(start) = self.received.iter().position(|byte| *byte == b'$')
                && let Some(len) = self.received[start..].iter().position(|byte| *byte == b'#')
                && self.received.len() >= start + len + 3
            {
                let packet = self.received[start + 1..start + len].to_vec();
                self.received.drain(..start + len + 3);
                self.stream.write_all(b"+")?;
                return Ok(Some(String::from_utf8(packet)?));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => bail!("the debug stub has hung up"),
                Ok(len) => self.received.extend(&buffer[..len]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
