//! Runs mutants of modules that contain a core (`top/` of a system on a chip). A bench of such a module would be a
//! simulated machine, so they run in one: `rot` with its smoke program, and `svu-1` with a first stage.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::engine::{SVU, files, folder_of};
use super::mutant::{self, Mutant};
use super::schemata;
use crate::assertion::Failed;
use crate::machines::rot::{self, ROTS};
use crate::machines::svu_boot::Device;
use crate::machines::{svu, svu_cases};
use xtask::firmware;

/// A system on a chip whose top-level modules have mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// The root of trust.
    Rot,
    /// A signature verification unit with its host.
    Svu,
}

impl System {
    pub const ALL: [System; 2] = [System::Rot, System::Svu];

    /// Returns the name under which the blocks of this system are tested.
    pub const fn ip(self) -> &'static str {
        match self {
            System::Rot => "soc",
            System::Svu => SVU,
        }
    }

    /// Returns the name of the machine in which the mutants run.
    pub const fn machine(self) -> &'static str {
        match self {
            System::Rot => ROTS[0].name,
            System::Svu => svu::SVUS[0].name,
        }
    }

    /// Reads the table of mutants, which name no bench.
    pub fn mutants(self) -> Result<Vec<Mutant>> {
        mutant::read(&folder_of(self.ip()).join("data/machine_mutants.toml"))
    }

    /// Returns the sources with all mutants in them, by name.
    fn sources(self, mutants: &[Mutant]) -> Result<Vec<(String, String)>> {
        schemata::with_mutants(&files(&folder_of(self.ip()).join("top"), "sv")?, mutants)
    }

    /// Runs all mutants, and returns a fault for each whose assertion does not fail. One model contains all of them,
    /// and a run takes less than a second.
    pub fn run(self) -> Result<Vec<String>> {
        let mutants = self.mutants()?;
        let program = Program::new(self, &self.sources(&mutants)?)?;
        let mut faults = Vec::new();
        // Number 0 selects no mutant. If an assertion fails then, the model is wrong.
        let whole = (0, None);
        let each = (1..).zip(&mutants).map(|(number, mutant)| (number, Some(mutant)));
        for (number, mutant) in std::iter::once(whole).chain(each) {
            let seen = match program.run(number) {
                Ok(()) => None,
                Err(error) => Some(error.downcast::<Failed>()?.name),
            };
            let wanted = mutant.map(|mutant| mutant.assertion.as_str());
            if seen.as_deref() != wanted {
                let name = |name: Option<&str>| name.unwrap_or("no assertion").to_owned();
                faults.push(format!(
                    "{}, mutant {number}: {} has to fail first, and {} did",
                    self.machine(),
                    name(wanted),
                    name(seen.as_deref())
                ));
            }
        }
        Ok(faults)
    }
}

/// A machine with mutants, and the program or device that runs on it.
enum Program {
    Smoke { machine: PathBuf, program: PathBuf, folder: PathBuf },
    Boot { machine: PathBuf, device: Box<Device>, folder: PathBuf },
}

impl Program {
    fn new(system: System, sources: &[(String, String)]) -> Result<Program> {
        Ok(match system {
            System::Rot => Program::Smoke {
                machine: rot::machine_of(ROTS[0], sources)?,
                program: firmware::rot_program("rot-smoke", &[])?,
                folder: rot::folder(ROTS[0]),
            },
            System::Svu => {
                let device = svu_cases::upset_after_the_release(svu_cases::of_fake_key(&[])?);
                Program::Boot {
                    machine: svu::machine_of(svu::SVUS[0], sources)?,
                    device: Box::new(device.with(&["--after-refusal", "1000"])),
                    folder: svu::folder(svu::SVUS[0]),
                }
            }
        })
    }

    fn run(&self, number: usize) -> Result<()> {
        let choice = number.to_string();
        let own = |folder: &Path| folder.join(format!("mutant-{number}"));
        match self {
            Program::Smoke { machine, program, folder } => {
                let options = ["--mutant", choice.as_str()];
                rot::run_program(machine, program, &own(folder), &options).map(drop)
            }
            Program::Boot { machine, device, folder } => {
                let device = Device::clone(device).with(&["--mutant", &choice]);
                device.boot_on(machine, &own(folder)).map(drop)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_assertion_of_a_machine_has_a_mutant() {
        for system in System::ALL {
            let mutants = system.mutants().unwrap();
            system.sources(&mutants).unwrap();
            let mut missing = Vec::new();
            for source in files(&folder_of(system.ip()).join("top"), "sv").unwrap() {
                let module = source.file_stem().unwrap().to_string_lossy();
                let text = fs::read_to_string(&source).unwrap();
                // This macro is off in machines, so its assertion would never be evaluated here.
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
}
