//! Control of a machine through its debug stub. It implements the parts of the GDB remote protocol
//! that the campaigns need (Debugging with GDB, appendix E).

pub mod pmp;
pub mod stepper;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Time limit for an answer. QEMU answers at once unless it hangs.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Register number of the program counter, after 32 integer registers.
const PC: u32 = 32;
/// Number of CSR 0 in QEMU's numbering, after the integer and floating-point registers.
const FIRST_CSR: u32 = 66;

/// Returns QEMU options for a debug stub that listens on the Unix socket `socket`.
pub fn options(socket: &Path) -> [String; 4] {
    let listener = format!("socket,path={},server=on,wait=off,id=gdb", socket.display());
    ["-chardev".to_owned(), listener, "-gdb".to_owned(), "chardev:gdb".to_owned()]
}

/// Same as [`options`], for a machine that continues after a reset.
pub fn options_with_reset(socket: &Path) -> Vec<String> {
    let stays = ["-action", "reboot=reset"].map(str::to_owned);
    options(socket).into_iter().chain(stays).collect()
}

/// A connection to the debug stub of a machine. Connecting stops the machine.
pub struct Debugger {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Debugger {
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("cannot reach the debug stub")?;
        let mut debugger = Self { stream, received: Vec::new() };
        // Connecting stops the machine; the query selects the basic protocol without extensions.
        debugger.ask("qSupported")?;
        Ok(debugger)
    }

    /// Resets the machine, which stays stopped.
    pub fn reset(&mut self) -> Result<()> {
        let command: String = b"system_reset".iter().map(|byte| format!("{byte:02x}")).collect();
        self.send(&format!("qRcmd,{command}"))?;
        // Console output of the command may precede the answer.
        while self.answer(ANSWER_TIME)?.context("no answer to a reset")? != "OK" {}
        Ok(())
    }

    pub fn pc(&mut self) -> Result<u64> {
        self.register(PC)
    }

    /// Reads a control and status register of the selected hart.
    pub fn csr(&mut self, number: u32) -> Result<u64> {
        self.register(FIRST_CSR + number)
    }

    fn register(&mut self, number: u32) -> Result<u64> {
        let answer = self.ask(&format!("p{number:x}"))?;
        ensure!(answer.len() == 16, "register {number:#x} cannot be read: {answer}");
        // The stub sends the bytes in target order.
        Ok(u64::from_str_radix(&answer, 16)?.swap_bytes())
    }

    /// Returns x0 to x31 and the program counter.
    pub fn registers(&mut self) -> Result<[u64; 33]> {
        let answer = self.ask("g")?;
        let mut registers = [0; 33];
        for (register, digits) in registers.iter_mut().zip(answer.as_bytes().chunks(16)) {
            let digits = std::str::from_utf8(digits)?;
            *register = u64::from_str_radix(digits, 16)?.swap_bytes();
        }
        Ok(registers)
    }

    /// Lets the selected hart execute one instruction.
    pub fn step(&mut self, patience: Duration) -> Result<()> {
        self.send("s")?;
        self.answer(patience)?.context("the machine does not stop after an instruction")?;
        Ok(())
    }

    pub fn set_pc(&mut self, pc: u64) -> Result<()> {
        self.expect_ok(&format!("P{PC:x}={:016x}", pc.swap_bytes()))
    }

    /// Sets a hardware breakpoint, which changes no memory.
    pub fn stop_at(&mut self, pc: u64) -> Result<()> {
        self.expect_ok(&format!("Z1,{pc:x},2"))
    }

    pub fn forget(&mut self, pc: u64) -> Result<()> {
        self.expect_ok(&format!("z1,{pc:x},2"))
    }

    /// Lets the machine run to a breakpoint and returns its address. If no breakpoint is reached
    /// within `patience`, stops the machine and returns `None`.
    pub fn run(&mut self, patience: Duration) -> Result<Option<u64>> {
        self.send("c")?;
        if self.answer(patience)?.is_some() {
            return self.pc().map(Some);
        }
        self.stream.write_all(b"\x03")?;
        self.answer(ANSWER_TIME)?.context("the machine cannot be stopped")?;
        Ok(None)
    }

    /// Lets the machine run until a hart is about to execute the instruction at `pc`, and returns
    /// the address where the machine stopped, which can be that of another breakpoint. Returns
    /// `None` if it does not stop within `patience`.
    pub fn run_to(&mut self, pc: u64, patience: Duration) -> Result<Option<u64>> {
        self.stop_at(pc)?;
        let reached = self.run(patience)?;
        self.forget(pc)?;
        Ok(reached)
    }

    /// Reads memory as the stopped hart sees it, without the restrictions of its PMP.
    pub fn read(&mut self, address: u64, len: usize) -> Result<Vec<u8>> {
        let answer = self.ask(&format!("m{address:x},{len:x}"))?;
        let digits = answer.as_bytes().chunks(2);
        let bytes = digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?));
        bytes.collect()
    }

    /// Writes memory in the same way as [`Debugger::read`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.expect_ok(&format!("M{address:x},{:x}:{digits}", bytes.len()))
    }

    /// Lets the machine continue without a debugger.
    pub fn detach(mut self) -> Result<()> {
        self.expect_ok("D")
    }

    /// Returns the names that the stub gives to the harts, in the order of hart numbers.
    pub fn harts(&mut self) -> Result<Vec<String>> {
        let mut harts = Vec::new();
        let mut answer = self.ask("qfThreadInfo")?;
        while let Some(list) = answer.strip_prefix('m') {
            harts.extend(list.split(',').map(str::to_owned));
            answer = self.ask("qsThreadInfo")?;
        }
        Ok(harts)
    }

    /// Selects the hart whose registers are read and written until the machine runs again.
    pub fn choose(&mut self, hart: &str) -> Result<()> {
        self.expect_ok(&format!("Hg{hart}"))
    }

    fn expect_ok(&mut self, packet: &str) -> Result<()> {
        let answer = self.ask(packet)?;
        ensure!(answer == "OK", "the debug stub answers {answer:?} to {packet}");
        Ok(())
    }

    /// Sends a packet and returns the answer.
    fn ask(&mut self, packet: &str) -> Result<String> {
        self.send(packet)?;
        let answer = self.answer(ANSWER_TIME)?.with_context(|| format!("no answer to {packet}"))?;
        if answer.starts_with('E') && answer.len() == 3 {
            bail!("the debug stub answers {answer} to {packet}");
        }
        Ok(answer)
    }

    fn send(&mut self, packet: &str) -> Result<()> {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        Ok(write!(self.stream, "${packet}#{sum:02x}")?)
    }

    /// Returns the next packet; `None` if none arrives in time.
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
