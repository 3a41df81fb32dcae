//! Saves the scratchpad of the root of trust in a run, each time when a given function of its program is called first.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use object::{Object, ObjectSymbol};

/// The functions before and after a program wipes its stack (`device/rot/src/start.S`).
pub const WIPE: [&str; 2] = ["rot_wipe_stack", "rot_stack_is_wiped"];

/// The options and files with which a run saves the scratchpads.
pub struct Scratchpads<const N: usize> {
    options: [String; N],
    files: [PathBuf; N],
    /// Bytes from the end of the variables to the top of the stack.
    stack_len: usize,
}

impl<const N: usize> Scratchpads<N> {
    /// Saves at these functions of a program, to files in this folder.
    ///
    /// # Errors
    /// If the program does not have one of the functions.
    pub fn at(functions: [&str; N], program: &[u8], folder: &Path) -> Result<Self> {
        let places = functions.map(|name| (folder.join(format!("{name}.bin")), name));
        let mut options = [const { String::new() }; N];
        for (option, (file, name)) in options.iter_mut().zip(&places) {
            let address = address(program, name)?;
            *option = format!("--save-scratchpad={}@{address:#x}", file.display());
        }
        let stack_len = address(program, "__stack_top")? - address(program, "__bss_end")?;
        let files = places.map(|(file, _)| file);
        Ok(Self { options, files, stack_len: usize::try_from(stack_len)? })
    }

    /// Returns the options of the machine.
    pub fn options(&self) -> [&str; N] {
        self.options.each_ref().map(String::as_str)
    }

    /// Reads the saved scratchpads.
    ///
    /// # Errors
    /// If the machine did not save one of them.
    pub fn read(&self) -> Result<[Vec<u8>; N]> {
        let mut memories = [const { Vec::new() }; N];
        for (memory, file) in memories.iter_mut().zip(&self.files) {
            *memory = fs::read(file).with_context(|| format!("no {}", file.display()))?;
        }
        Ok(memories)
    }

    /// Returns the number of bytes of the stack that are in use: from the lowest byte that is not zero, since a wipe
    /// writes zeros.
    pub fn depth(&self, memory: &[u8]) -> usize {
        let stack = &memory[memory.len().saturating_sub(self.stack_len)..];
        stack.iter().position(|byte| *byte != 0).map_or(0, |lowest| stack.len() - lowest)
    }
}

/// Returns the address of a function or of a symbol of the linker script.
fn address(program: &[u8], symbol: &str) -> Result<u64> {
    let file = object::File::parse(program).context("the program is no ELF file")?;
    let found = file.symbols().find(|found| found.name() == Ok(symbol));
    Ok(found.with_context(|| format!("the program has no {symbol}"))?.address())
}
