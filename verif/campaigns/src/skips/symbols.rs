//! The functions of a linked stage, by address.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// Returns the code of a stage, from its start address.
pub fn code(elf: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(elf)?;
    let file = object::File::parse(&*bytes)?;
    let text = file.section_by_name(".text").context("no code")?;
    ensure!(text.address() == file.entry(), "the stage does not start with its code");
    Ok(text.data()?.to_vec())
}

/// Names of functions by address. Code without a symbol belongs to the function before it.
pub struct Symbols(BTreeMap<u64, String>);

impl Symbols {
    pub fn read(elf: &Path) -> Result<Self> {
        Self::parse(&fs::read(elf)?)
    }

    /// Reads the symbols of an ELF file in memory.
    pub fn parse(elf: &[u8]) -> Result<Self> {
        let file = object::File::parse(elf)?;
        let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
        let named = functions.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?)));
        Ok(Self(named.map(|(address, name)| (address, name.to_owned())).collect()))
    }

    /// Returns the address of the function whose mangled name contains all these parts.
    pub fn address(&self, parts: &[&str]) -> Result<u64> {
        let has_all = |name: &str| parts.iter().all(|part| name.contains(part));
        let found = self.0.iter().find(|(_, name)| has_all(name));
        Ok(*found.with_context(|| format!("no function {parts:?}"))?.0)
    }

    /// Returns the addresses of all functions whose mangled names contain all these parts.
    pub fn addresses(&self, parts: &[&str]) -> Vec<u64> {
        let has_all = |name: &str| parts.iter().all(|part| name.contains(part));
        self.0.iter().filter(|(_, name)| has_all(name)).map(|(address, _)| *address).collect()
    }

    /// Returns the name of the function that contains an address.
    pub fn name(&self, address: u64) -> &str {
        self.0.range(..=address).next_back().map_or("?", |(_, name)| name)
    }

    /// Returns true if a decision may be taken at this address. Hash kernels and copy loops take
    /// none: their results enter the verdict as differences, so a wrong result is a refusal.
    pub fn may_decide(&self, address: u64) -> bool {
        let name = self.name(address);
        !["hartlock_kernels", "compiler_builtins", "memcpy", "memset", "memcmp"]
            .iter()
            .any(|part| name.contains(part))
    }
}
