//! As much of the GDB remote protocol as it takes to read the PMP registers of every hart, and to
//! change memory between two stages (Debugging with GDB, appendix E).

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// QEMU numbers CSRs behind the integer and floating-point registers.
const FIRST_CSR: u32 = 66;
const PMPCFG0: u32 = 0x3a0;
const PMPCFG2: u32 = 0x3a2;
const PMPADDR0: u32 = 0x3b0;
const ENTRIES: u32 = 16;

/// The stub answers at once, or it hangs.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Longer than any stage takes to a breakpoint on a busy machine.
const BREAKPOINT_TIME: Duration = Duration::from_secs(60);

/// A connection to the debug stub of a machine.
pub struct Stub(UnixStream);

/// The PMP of one hart: configuration and address registers.
#[derive(Debug)]
pub struct PmpTable(Vec<(u8, u64)>);

impl PmpTable {
    /// Permissions of S- and U-mode at an address, as bits 0 read, 1 write, 2 execute: those of
    /// the first entry that matches (Privileged Architecture §3.7.1).
    pub fn permissions(&self, address: u64) -> u8 {
        let mut below = 0;
        for (config, register) in &self.0 {
            let top = register << 2;
            let is_match = match config >> 3 & 3 {
                0 => false,
                1 => (below..top).contains(&address),
                2 => address >> 2 == *register,
                _ => {
                    // A naturally aligned power of two: trailing ones give its size.
                    let order = register.trailing_ones() + 3;
                    order >= 64 || address >> order == top >> order
                }
            };
            if is_match {
                return config & 0b111;
            }
            below = top;
        }
        0
    }
}

/// Options of QEMU for a debug stub that listens at `socket`.
pub fn options(socket: &Path) -> [String; 4] {
    let listener = format!("socket,path={},server=on,wait=off,id=gdb", socket.display());
    ["-chardev".to_owned(), listener, "-gdb".to_owned(), "chardev:gdb".to_owned()]
}

impl Stub {
    pub fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("cannot reach the debug stub")?;
        stream.set_read_timeout(Some(ANSWER_TIME))?;
        let mut stub = Self(stream);
        // Connecting stops the machine; this asks for a plain protocol.
        stub.ask("qSupported")?;
        Ok(stub)
    }

    /// Lets the machine run until a hart is about to execute the instruction at `address`.
    pub fn run_to(&mut self, address: u64) -> Result<()> {
        // A breakpoint of the hardware changes no memory that a stage might hash.
        let breakpoint = format!("1,{address:x},4");
        ensure!(self.ask(&format!("Z{breakpoint}"))? == "OK", "no breakpoint");
        self.0.set_read_timeout(Some(BREAKPOINT_TIME))?;
        let stop = self.ask("c").with_context(|| format!("{address:#x} was not reached"))?;
        self.0.set_read_timeout(Some(ANSWER_TIME))?;
        ensure!(stop.starts_with("T05"), "stopped for another reason: {stop}");
        ensure!(self.ask(&format!("z{breakpoint}"))? == "OK", "the breakpoint stays");
        Ok(())
    }

    /// Reads memory as the stopped hart sees it, without its PMP.
    pub fn read(&mut self, address: u64, len: usize) -> Result<Vec<u8>> {
        let answer = self.ask(&format!("m{address:x},{len:x}"))?;
        let digits = answer.as_bytes().chunks(2);
        let bytes = digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?));
        bytes.collect()
    }

    /// Writes memory in the same way.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let answer = self.ask(&format!("M{address:x},{:x}:{digits}", bytes.len()))?;
        ensure!(answer == "OK", "memory at {address:#x} cannot be written: {answer}");
        Ok(())
    }

    /// Lets the machine run on, with nobody watching.
    pub fn detach(mut self) -> Result<()> {
        ensure!(self.ask("D")? == "OK", "the debug stub holds on to the machine");
        Ok(())
    }

    /// The table of every hart, in the order of their numbers.
    pub fn pmp_tables(&mut self) -> Result<Vec<PmpTable>> {
        let mut tables = Vec::new();
        for thread in self.threads()? {
            ensure!(self.ask(&format!("Hg{thread}"))? == "OK", "no thread {thread}");
            let mut configs = Vec::new();
            for csr in [PMPCFG0, PMPCFG2] {
                configs.extend(self.csr(csr)?.to_le_bytes());
            }
            let mut table = Vec::new();
            for (index, config) in (0..ENTRIES).zip(configs) {
                table.push((config, self.csr(PMPADDR0 + index)?));
            }
            tables.push(PmpTable(table));
        }
        Ok(tables)
    }

    fn threads(&mut self) -> Result<Vec<String>> {
        let mut threads = Vec::new();
        let mut answer = self.ask("qfThreadInfo")?;
        while let Some(list) = answer.strip_prefix('m') {
            threads.extend(list.split(',').map(str::to_owned));
            answer = self.ask("qsThreadInfo")?;
        }
        Ok(threads)
    }

    fn csr(&mut self, number: u32) -> Result<u64> {
        let answer = self.ask(&format!("p{:x}", FIRST_CSR + number))?;
        ensure!(answer.len() == 16, "CSR {number:#x} cannot be read: {answer}");
        // Target byte order.
        Ok(u64::from_str_radix(&answer, 16)?.swap_bytes())
    }

    /// Sends a packet and returns the answer to it.
    fn ask(&mut self, packet: &str) -> Result<String> {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        write!(self.0, "${packet}#{sum:02x}")?;
        let mut answer = Vec::new();
        while self.byte()? != b'$' {}
        loop {
            match self.byte()? {
                b'#' => break,
                byte => answer.push(byte),
            }
        }
        for _ in 0..2 {
            self.byte()?;
        }
        self.0.write_all(b"+")?;
        let answer = String::from_utf8(answer)?;
        if answer.starts_with('E') && answer.len() == 3 {
            bail!("the debug stub answers {answer} to {packet}");
        }
        Ok(answer)
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte).context("the debug stub is silent")?;
        Ok(byte[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_entry_decides() {
        let table = PmpTable(vec![
            (0b0001_1000, 0x8010_0000 >> 2 | 0x1fff), // NAPOT, 64 KiB, nothing
            (0b0001_1001, 0x8011_0000 >> 2 | 0x1ff),  // NAPOT, 4 KiB, read
            (0b0001_1111, u64::MAX >> 10),            // everything else
        ]);
        assert_eq!(table.permissions(0x8010_0000), 0);
        assert_eq!(table.permissions(0x8010_ffff), 0);
        assert_eq!(table.permissions(0x8011_0000), 1);
        assert_eq!(table.permissions(0x8011_1000), 0b111);
        assert_eq!(PmpTable(vec![]).permissions(0), 0);
    }

    #[test]
    fn a_top_of_range_entry_begins_at_the_entry_before() {
        let table = PmpTable(vec![(0, 0x1000 >> 2), (0b0000_1011, 0x2000 >> 2)]);
        assert_eq!(table.permissions(0xfff), 0);
        assert_eq!(table.permissions(0x1000), 0b011);
        assert_eq!(table.permissions(0x2000), 0);
    }
}
