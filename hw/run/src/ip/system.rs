//! Mutants of modules that contain a core (`hw/soc/top`): a bench of such a module would be a machine, so they run in
//! the machine `rot`, with its smoke program.

use anyhow::Result;

use super::engine::{files, folder_of};
use super::mutant::{self, Mutant};
use super::schemata;
use crate::assertion::Failed;
use crate::machines::rot::{self, ROTS};
use xtask::firmware;

/// Modules of the system on a chip, in one of whose folders they are.
pub const SOC: &str = "soc";
pub const MACHINE: rot::Rot = ROTS[0];

/// The table, whose mutants name no bench.
pub fn mutants() -> Result<Vec<Mutant>> {
    mutant::read(&folder_of(SOC).join("data/machine_mutants.toml"))
}

/// Sources with all mutants in them, by name.
fn sources(mutants: &[Mutant]) -> Result<Vec<(String, String)>> {
    schemata::with_mutants(&files(&folder_of(SOC).join("top"), "sv")?, mutants)
}

/// Runs all mutants, and returns what is wrong: an assertion that stays silent. One model has all of them, and a
/// run takes less than a second.
pub fn run() -> Result<Vec<String>> {
    let mutants = mutants()?;
    let machine = rot::machine_of(MACHINE, &sources(&mutants)?)?;
    let program = firmware::rot_program("rot-smoke", &[])?;
    let mut faults = Vec::new();
    // Number 0 is no mutant: what the assertions notice is the fault, and not the model.
    let whole = (0, None);
    let each = (1..).zip(&mutants).map(|(number, mutant)| (number, Some(mutant)));
    for (number, mutant) in std::iter::once(whole).chain(each) {
        let folder = rot::folder(MACHINE).join(format!("mutant-{number}"));
        let choice = number.to_string();
        let run = rot::run_program(&machine, &program, &folder, &["--mutant", &choice]);
        let seen = match run {
            Ok(_) => None,
            Err(error) => Some(error.downcast::<Failed>()?.name),
        };
        let wanted = mutant.map(|mutant| mutant.assertion.as_str());
        if seen.as_deref() != wanted {
            let name = |name: Option<&str>| name.unwrap_or("no assertion").to_owned();
            faults.push(format!(
                "{}, mutant {number}: {} has to fail first, and {} did",
                MACHINE.name,
                name(wanted),
                name(seen.as_deref())
            ));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_assertion_of_a_machine_has_a_mutant() {
        let mutants = mutants().unwrap();
        sources(&mutants).unwrap();
        let mut missing = Vec::new();
        for source in files(&folder_of(SOC).join("top"), "sv").unwrap() {
            let module = source.file_stem().unwrap().to_string_lossy();
            let text = fs::read_to_string(&source).unwrap();
            // The other macro is off in machines, so that nothing would ever evaluate it here.
            assert!(!text.contains("`ASSERT("), "{module}");
            for part in text.split("`MACHINE_ASSERT(").skip(1) {
                let wanted = format!("{module}.{}", part.split(',').next().unwrap());
                if !mutants.iter().any(|mutant| mutant.assertion == wanted) {
                    missing.push(wanted);
                }
            }
        }
        assert!(missing.is_empty(), "no mutant for {missing:?}");
        assert!(mutants.iter().all(|mutant| mutant.bench.is_none() && mutant.tests.is_empty()));
    }
}
