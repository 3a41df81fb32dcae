//! Profiles: named sets of algorithms, hashes and modes (§2.2).

use crate::{Algorithm, HashId};

/// A named set of algorithms, hashes and modes that a verifier supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Profile {
    /// The minimum that a file verifier supports, and also a boot stage that is built without knowing its keys.
    Default = 1,
    /// The algorithms of CNSA 2.0 that the image format has.
    Cnsa2 = 2,
    /// All algorithms, hashes and modes of the image format.
    All = 3,
}

/// A row of the profile table (§2.2).
struct Row {
    /// Algorithm numbers, each with the one parameter number that is allowed, or `None` for all parameters. `None` in
    /// place of the list stands for all algorithms.
    algorithms: Option<&'static [(u32, Option<u32>)]>,
    hashes: &'static [HashId],
    /// Numbers of payload digest modes (§6.1).
    modes: &'static [u32],
}

const FLAT: u32 = 1;
const BLOCKS: u32 = 2;
const PARALLELHASH: u32 = 3;

impl Profile {
    /// All profiles in the order of the table.
    pub const ALL: [Profile; 3] = [Profile::Default, Profile::Cnsa2, Profile::All];

    /// Returns the name of the profile in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Default => "default",
            Profile::Cnsa2 => "cnsa2",
            Profile::All => "all",
        }
    }

    const fn row(self) -> Row {
        match self {
            Profile::Default => Row {
                algorithms: Some(&[(1, None), (4, None), (16, None), (19, None)]),
                hashes: &[HashId::Sha384, HashId::Sha3_256],
                modes: &[FLAT, BLOCKS],
            },
            Profile::Cnsa2 => Row {
                algorithms: Some(&[(16, None), (17, None), (19, Some(87))]),
                hashes: &[HashId::Sha384, HashId::Sha512],
                modes: &[FLAT, BLOCKS],
            },
            Profile::All => {
                Row { algorithms: None, hashes: &HashId::ALL, modes: &[FLAT, BLOCKS, PARALLELHASH] }
            }
        }
    }

    /// Returns true if a verifier of this profile supports the algorithm.
    pub fn has_algorithm(self, algorithm: Algorithm) -> bool {
        let (number, parameters) = algorithm.numbers();
        let is_meant = |(known, only): &(u32, Option<u32>)| {
            *known == number && only.is_none_or(|only| only == parameters)
        };
        self.row().algorithms.is_none_or(|listed| listed.iter().any(is_meant))
    }

    /// Returns true if a verifier of this profile supports the hash.
    pub fn has_hash(self, hash: HashId) -> bool {
        self.row().hashes.contains(&hash)
    }

    /// Returns true if a verifier of this profile supports the mode with this number.
    pub fn has_mode(self, mode: u32) -> bool {
        self.row().modes.contains(&mode)
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    const SPEC: &str = include_str!("../../../spec/image-format.md");

    /// Returns the two cells of the row of `profile` in the table of the specification.
    fn cells(profile: Profile) -> [&'static str; 2] {
        let start = std::format!("| `{}` |", profile.name());
        let row = SPEC.lines().find_map(|line| line.strip_prefix(&start)).expect("a row");
        let mut cells = row.split('|').map(str::trim);
        [cells.next().unwrap(), cells.next().unwrap()]
    }

    /// Parses a cell such as `1, 19 with parameters 87` into algorithm numbers, each with its parameter number if the
    /// cell states one.
    fn numbers(cell: &str) -> Vec<(u32, Option<u32>)> {
        let number = |text: &str| text.parse().expect("a number");
        let item = |text: &str| match text.split_once(" with parameters ") {
            Some((algorithm, parameters)) => (number(algorithm), Some(number(parameters))),
            None => (number(text), None),
        };
        cell.split(", ").map(item).collect()
    }

    #[test]
    fn the_sets_are_those_of_the_specification() {
        for profile in Profile::ALL {
            let [algorithms, rest] = cells(profile);
            let is_all = algorithms == "the table";
            assert_eq!(is_all, rest == "the tables of §2.3 and §6.1", "{}", profile.name());
            let listed = if is_all { Vec::new() } else { numbers(algorithms) };
            for algorithm in Algorithm::all() {
                let (number, parameters) = algorithm.numbers();
                let is_listed = |(known, only): &(u32, Option<u32>)| {
                    *known == number && only.is_none_or(|only| only == parameters)
                };
                let expected = is_all || listed.iter().any(is_listed);
                assert_eq!(profile.has_algorithm(algorithm), expected, "{profile:?} {algorithm}");
            }
            let (hashes, modes) = if is_all { ("", "") } else { rest.split_once(", ").unwrap() };
            let hashes: Vec<u32> = hashes.split(" and ").filter_map(|it| it.parse().ok()).collect();
            for hash in HashId::ALL {
                let expected = is_all || hashes.contains(&(hash as u32));
                assert_eq!(profile.has_hash(hash), expected, "{profile:?} {}", hash.name());
            }
            let modes: Vec<String> = modes.split(" and ").map(String::from).collect();
            for (number, name) in
                [(FLAT, "flat"), (BLOCKS, "blocks"), (PARALLELHASH, "parallelhash")]
            {
                let expected = is_all || modes.iter().any(|mode| mode == name);
                assert_eq!(profile.has_mode(number), expected, "{profile:?} {name}");
            }
            assert!(!profile.has_mode(0) && !profile.has_mode(4));
        }
    }
}
