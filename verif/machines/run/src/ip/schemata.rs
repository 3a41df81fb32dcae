//! Puts all mutants of an engine into one copy of its sources (*mutant schemata*). Each mutated expression becomes a
//! choice between the original and the mutants, and a plusarg of the run selects a mutant by its number.
//!
//! The parameters that switch protections off for a test (`without` in `data/ip.toml`) become such choices, too. The
//! sources of the engine itself contain neither.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::engine::Ip;
use super::mutant::Mutant;
use crate::machines::ibex::MUTANT_PACKAGE;

/// The package that is read before all other sources. The choice is made at the start of a run and never changes.
const CHOICE: &str = "package mutant_pkg;
  function automatic int unsigned choose();
    int unsigned number;
    if ($value$plusargs(\"mutant=%d\", number) != 0) return number;
    return 0;
  endfunction
  int unsigned chosen = choose();
";

/// The mutants that a model contains. Mutants that are not run are left out, because they would only cost time to
/// compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutants {
    /// The mutants that `cargo xtask test` runs.
    Daily,
    All,
    /// No mutants: for campaigns of upsets, which choose protections only.
    None,
}

/// Returns the option of a run in which a parameter is 0.
pub fn option_without(parameter: &str) -> String {
    format!("+{parameter}=0")
}

/// Writes the sources of an engine with the choices in them, and returns their paths.
pub fn write(ip: &Ip, mutants: Mutants, tree: &Path) -> Result<Vec<PathBuf>> {
    let put = |(name, text)| -> Result<PathBuf> {
        let path = tree.join::<String>(name);
        fs::write(&path, text)?;
        Ok(path)
    };
    sources(ip, mutants)?.into_iter().map(put).collect()
}

/// Returns the names and texts of the package and of the sources.
pub fn sources(ip: &Ip, mutants: Mutants) -> Result<Vec<(String, String)>> {
    let numbered = (1..).zip(&ip.mutants).filter(|(_, mutant)| match mutants {
        Mutants::Daily => mutant.is_daily,
        Mutants::All => true,
        Mutants::None => false,
    });
    with_choices(&ip.sources, &numbered.collect::<Vec<_>>(), &ip.protections())
        .with_context(|| format!("mutants of {}", ip.name))
}

/// Returns the names and texts of the package and of the sources with these mutants in them.
pub fn with_mutants(sources: &[PathBuf], mutants: &[Mutant]) -> Result<Vec<(String, String)>> {
    with_choices(sources, &(1..).zip(mutants).collect::<Vec<_>>(), &BTreeSet::new())
}

/// Does the same as [`with_mutants`], and adds choices that switch protections off.
fn with_choices(
    sources: &[PathBuf],
    mutants: &[(usize, &Mutant)],
    protections: &BTreeSet<&str>,
) -> Result<Vec<(String, String)>> {
    let mut package = CHOICE.to_owned();
    for name in protections {
        package.push_str(&format!("  bit without_{name} = $test$plusargs(\"{name}=0\") != 0;\n"));
    }
    package.push_str("endpackage\n");
    let mut all = vec![(MUTANT_PACKAGE.to_owned(), package)];
    for source in sources {
        let text = fs::read_to_string(source)?;
        let name = source.file_name().context("a source has a name")?;
        let own = mutants.iter().filter(|(_, mutant)| source.ends_with(&mutant.file)).copied();
        let mut changed = mutated(&text, &own.collect::<Vec<_>>())
            .with_context(|| format!("cannot put mutants into {}", source.display()))?;
        for name in protections {
            changed = switched(&changed, name);
        }
        all.push((name.to_string_lossy().into_owned(), changed));
    }
    for (_, mutant) in mutants {
        let is_there = all.iter().any(|(name, _)| *name == mutant.file);
        ensure!(is_there, "there is no source {}", mutant.file);
    }
    Ok(all)
}

/// Makes a parameter of one bit a choice of the run in every expression that uses it. It stays the parameter where it
/// is declared, is passed to an instance or is the condition of a generate block. So the protection is still built, but
/// it is not used.
fn switched(text: &str, name: &str) -> String {
    let is_of_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let choice = format!("({name} && !mutant_pkg::without_{name})");
    let mut changed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_constant =
            ["parameter", "localparam"].iter().any(|it| line.trim_start().starts_with(it));
        let mut at = 0;
        for (start, _) in line.match_indices(name) {
            let (before, after) = (&line[..start], &line[start + name.len()..]);
            let is_part = before.ends_with(is_of_word) || after.starts_with(is_of_word);
            let opened = before.trim_end().strip_suffix('(').map(str::trim_end);
            let word = opened.map(|text| text.trim_end_matches(is_of_word));
            let closes = after.trim_start().strip_prefix(')').map(str::trim_start);
            let is_passed = closes.is_some() && word.is_some_and(|text| text.ends_with('.'));
            let is_built = closes.is_some_and(|text| text.starts_with("begin :"))
                && opened.is_some_and(|text| text.ends_with("if"));
            if is_constant || is_part || before.ends_with('.') || is_passed || is_built {
                continue;
            }
            changed.push_str(&line[at..start]);
            changed.push_str(&choice);
            at = start + name.len();
        }
        changed.push_str(&line[at..]);
    }
    changed
}

/// Replaces expressions by choices. Several mutants may change the same expression, but none may change only a part of
/// an expression that another one changes.
fn mutated(text: &str, mutants: &[(usize, &Mutant)]) -> Result<String> {
    let mut places: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for (number, mutant) in mutants {
        let (start, end) = place_of(text, &mutant.text)?;
        let choice = format!("(mutant_pkg::chosen == {number}) ? ({}) : ", mutant.instead);
        let place = places.entry(start).or_insert((end, String::new()));
        ensure!(place.0 == end, "`{}` is part of another", mutant.text);
        place.1.push_str(&choice);
    }
    let (mut result, mut at) = (String::new(), 0);
    for (start, (end, choices)) in places {
        if start < at {
            bail!("`{}` is part of another", &text[start..end]);
        }
        result.push_str(&text[at..start]);
        result.push_str(&format!("({choices}({}))", &text[start..end]));
        at = end;
    }
    result.push_str(&text[at..]);
    Ok(result)
}

/// Returns the start and the end of the expression.
fn place_of(text: &str, wanted: &str) -> Result<(usize, usize)> {
    let whole = wanted.replace(['«', '»'], "");
    let mut found = text.match_indices(&whole);
    let (start, _) = found.next().with_context(|| format!("`{whole}` is not there"))?;
    ensure!(found.next().is_none(), "`{whole}` is there more than once");
    let (before, rest) = wanted.split_once('«').unwrap_or(("", wanted));
    let inner = rest.split_once('»').map_or(rest, |(inner, _)| inner);
    Ok((start + before.len(), start + before.len() + inner.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(text: &str, instead: &str) -> Mutant {
        Mutant {
            file: "a.sv".into(),
            text: text.into(),
            instead: instead.into(),
            assertion: "a.B_A".into(),
            bench: None,
            tests: Vec::new(),
            is_daily: false,
        }
    }

    #[test]
    fn expressions_become_choices() {
        let (one, two) = (mutant("x & y", "x"), mutant("z", "1'b0"));
        let text = mutated("assign a = x & y;\nassign b = z;\n", &[(4, &one), (7, &two)]).unwrap();
        assert_eq!(
            text,
            "assign a = ((mutant_pkg::chosen == 4) ? (x) : (x & y));\n\
             assign b = ((mutant_pkg::chosen == 7) ? (1'b0) : (z));\n"
        );
        let both = mutated("= z;", &[(1, &two), (2, &two)]).unwrap();
        let choice = |number| format!("(mutant_pkg::chosen == {number}) ? (1'b0) : ");
        assert_eq!(both, format!("= ({}{}(z));", choice(1), choice(2)));
        let placed = mutant("b = «x»;", "y");
        let choice = "((mutant_pkg::chosen == 3) ? (y) : (x))";
        assert_eq!(
            mutated("a = x; b = x;", &[(3, &placed)]).unwrap(),
            format!("a = x; b = {choice};")
        );
    }

    #[test]
    fn a_protection_is_a_choice_wherever_an_expression_uses_it() {
        let choice = "(Held && !mutant_pkg::without_Held)";
        for (text, expected) in [
            ("assign a = ~Held & b;\n", format!("assign a = ~{choice} & b;\n")),
            (
                "if (x && Held) y = Held ? a : b;",
                format!("if (x && {choice}) y = {choice} ? a : b;"),
            ),
            ("if (Held) y = 1'b1;", format!("if ({choice}) y = 1'b1;")),
            ("f(Held)", format!("f({choice})")),
        ] {
            assert_eq!(switched(text, "Held"), expected);
        }
        for text in [
            "  parameter bit Held = 1'b1,\n",
            "  localparam int N = Held ? 2 : 1;",
            "core #(.Held(Held), .Other (Held)) u_core (",
            "  if (Held) begin : gen_held",
            "  if (!Helds || IsHeld || Held_q) x = 1;",
        ] {
            assert_eq!(switched(text, "Held"), text);
        }
    }

    #[test]
    fn an_expression_has_to_be_there_once() {
        let (one, part) = (mutant("x & y", "x"), mutant("x", "1'b0"));
        assert!(mutated("= y;", &[(1, &one)]).is_err());
        assert!(mutated("= x & y; = x & y;", &[(1, &one)]).is_err());
        assert!(mutated("= x & y;", &[(1, &one), (2, &part)]).is_err());
    }
}
