//! Parsers for the values of options.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hartlock_bundle::spec::IdentitySpec;
use hartlock_image::{
    Algorithm, BundleType, HashId, Lifecycle, Name, PayloadType, Policy, Profile,
};
use hartlock_keys::Format;

use crate::failure::Failure;
use crate::form::Form;
use crate::units::grouped;

const BUNDLE_TYPES: [BundleType; 2] = [BundleType::Boot, BundleType::System];
const POLICIES: [Policy; 3] = [Policy::Any, Policy::All, Policy::Hybrid];

/// Makes a parser that accepts exactly the names of `all`. `--help` lists these names.
fn names<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|item| name_of(*item))).try_map(move |name| {
        all.iter().copied().find(|item| name_of(*item) == name).ok_or("not among the names")
    })
}

/// Returns a parser of bundle types: `boot`, `system`.
pub fn bundle_type() -> impl TypedValueParser<Value = BundleType> {
    names(&BUNDLE_TYPES, BundleType::name)
}

/// Returns a parser of forms: `bundle`, `first-stage`.
pub fn form() -> impl TypedValueParser<Value = Form> {
    names(&Form::ALL, Form::name)
}

/// Returns a parser of lifecycle states: `development`, `production`, `returned`.
pub fn lifecycle() -> impl TypedValueParser<Value = Lifecycle> {
    names(&Lifecycle::ALL, Lifecycle::name)
}

/// Returns a parser of hash names such as `sha256`.
pub fn hash() -> impl TypedValueParser<Value = HashId> {
    names(&HashId::ALL, HashId::name)
}

/// Returns a parser of profiles: `default`, `cnsa2`, `all`.
pub fn profile() -> impl TypedValueParser<Value = Profile> {
    names(&Profile::ALL, Profile::name)
}

/// Returns a parser of policies: `any`, `all`, `hybrid`.
pub fn policy() -> impl TypedValueParser<Value = Policy> {
    names(&POLICIES, Policy::name)
}

/// Returns a parser of payload types such as `kernel`.
pub fn payload_type() -> impl TypedValueParser<Value = PayloadType> {
    names(&PayloadType::ALL, PayloadType::name)
}

/// Returns a parser of key file formats: `pem`, `der`.
pub fn format() -> impl TypedValueParser<Value = Format> {
    names(&[Format::Pem, Format::Der], |format| match format {
        Format::Pem => "pem",
        Format::Der => "der",
    })
}

/// Refuses algorithms that were named on the command line and that no key is used with.
///
/// # Errors
/// Returns a failure that names the first of them.
pub fn check_algorithms(asked: &[Algorithm], used: &[Algorithm]) -> Result<(), Failure> {
    match asked.iter().find(|algorithm| !used.contains(algorithm)) {
        None => Ok(()),
        Some(algorithm) => Err(Failure::undecided(
            format!("none of the given keys can be used with {algorithm}"),
            "use `--algorithm` only for RSA keys, to choose padding and hash; the algorithm of other keys is known",
        )),
    }
}

/// Other names of algorithms, in lower case and without dashes.
const ALIASES: [(&str, &str); 16] = [
    ("eddsa", "ed25519"),
    ("p256", "ecdsa-p256"),
    ("p384", "ecdsa-p384"),
    ("prime256v1", "ecdsa-p256"),
    ("secp256r1", "ecdsa-p256"),
    ("secp384r1", "ecdsa-p384"),
    ("nistp256", "ecdsa-p256"),
    ("nistp384", "ecdsa-p384"),
    ("es256", "ecdsa-p256"),
    ("es384", "ecdsa-p384"),
    ("rsa2048", "rsa-pss-2048-sha256"),
    ("rsa3072", "rsa-pss-3072-sha384"),
    ("rsa4096", "rsa-pss-4096-sha384"),
    ("dilithium2", "ml-dsa-44"),
    ("dilithium3", "ml-dsa-65"),
    ("dilithium5", "ml-dsa-87"),
];

/// Words that people use for an algorithm, and the corresponding word in the names of this project.
const MEANINGS: [(&str, &str); 6] = [
    ("ec", "ecdsa"),
    ("ecc", "ecdsa"),
    ("eddsa", "ed25519"),
    ("dilithium", "ml"),
    ("sphincs", "slh"),
    ("secp", "ecdsa"),
];

/// Suggestions if nothing that was typed is similar to a name: one algorithm of each kind.
const KINDS: [&str; MOST_ALGORITHMS] =
    ["ed25519", "ecdsa-p256", "rsa-pss-3072-sha384", "ml-dsa-65"];

/// Maximum number of algorithms that are suggested for an unknown name.
const MOST_ALGORITHMS: usize = 4;

/// Parses a signature algorithm. Case and dashes are ignored, and well-known other names are accepted.
///
/// # Errors
/// Returns a message with the most similar names if there is no algorithm of that name.
pub fn algorithm(text: &str) -> Result<Algorithm, String> {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let typed = plain(text);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == typed).map(|(_, name)| *name);
    if let Some(found) = alias.and_then(Algorithm::from_name) {
        return Ok(found);
    }
    Algorithm::all().find(|algorithm| plain(&algorithm.to_string()) == typed).ok_or_else(|| {
        let words = words(text);
        let mut all: Vec<_> = Algorithm::all()
            .map(|algorithm| algorithm.to_string())
            .map(|name| (likeness(&words, &typed, &name), name))
            .filter(|(likeness, _)| *likeness >= 1.0)
            .collect();
        // Names of equal likeness keep the order of the format.
        all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut names: Vec<_> =
            all.into_iter().take(MOST_ALGORITHMS).map(|(_, name)| name).collect();
        if names.is_empty() {
            names = KINDS.map(str::to_string).into();
        }
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("there is no such algorithm; use for instance {}", names.join(", "))
    })
}

/// Same as [`algorithm`], as a parser that lists the names for shell completions.
pub fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    WithNames { parse: algorithm, names: || Algorithm::all().map(|it| it.to_string()).collect() }
}

/// A parser that accepts more values than those that it lists for shell completions.
#[derive(Clone)]
pub struct WithNames<T> {
    /// Function that parses a value.
    pub parse: fn(&str) -> Result<T, String>,
    /// Function that returns the values for shell completions.
    pub names: fn() -> Vec<String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for WithNames<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let parse = self.parse;
        TypedValueParser::parse_ref(&move |text: &str| parse(text), command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// Splits a name into words of letters and numbers, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.to_lowercase().chars() {
        if c.is_alphanumeric() {
            let continues = last.is_alphanumeric() && last.is_ascii_digit() == c.is_ascii_digit();
            match words.last_mut() {
                Some(word) if continues => word.push(c),
                _ => words.push(c.to_string()),
            }
        }
        last = c;
    }
    words
}

/// Returns the likeness of a name to the typed text: the number of typed words that the name contains, as they
/// are or in another form of the same meaning, plus 1 if only one or two letters differ, plus up to one half for
/// letters in common.
fn likeness(typed: &[String], text: &str, name: &str) -> f64 {
    let own = words(name);
    let meaning =
        |word: &str| MEANINGS.iter().find(|(known, _)| *known == word).map(|(_, own)| *own);
    let shared = typed.iter().filter(|word| {
        let meant = meaning(word);
        let is_like = |own: &String| {
            own == word.as_str()
                || word.len() > 1 && own.starts_with(word.as_str())
                || meant.is_some_and(|it| it.starts_with(own.as_str()))
        };
        own.iter().any(is_like)
    });
    // The name counts as near if one or two letters are missing, added, replaced or exchanged.
    let is_near = strsim::damerau_levenshtein(text, &name.replace('-', "")) <= 2;
    shared.count() as f64 + f64::from(u8::from(is_near)) + strsim::jaro_winkler(text, name) / 2.0
}

/// Parses a whole number in decimal or, after `0x`, in hexadecimal.
///
/// # Errors
/// Returns a message if the text is not a number or the number does not fit into `T`.
pub fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let most = u64::MAX >> (u64::BITS - 8 * size_of::<T>() as u32);
    let number = parsed.ok().filter(|_| !text.contains('+')).and_then(|it| T::try_from(it).ok());
    number.ok_or_else(|| format!("expected a whole number from 0 to {}", grouped(most)))
}

/// Parses the name of a board or SoC.
///
/// # Errors
/// Returns a message if the name does not fit into the field of the format.
pub fn name(text: &str) -> Result<Name, String> {
    Name::new(text).ok_or_else(|| "a name has 1 to 32 printable ASCII characters".to_string())
}

/// Parses a device of the form `BOARD,SOC`.
///
/// # Errors
/// Returns a message if the text has no comma. The names are checked when the bundle is built.
pub fn device(text: &str) -> Result<IdentitySpec, String> {
    let (board, soc) = text.split_once(',').ok_or("expected BOARD,SOC")?;
    Ok(IdentitySpec { board: board.to_string(), soc: soc.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithm_that_was_meant_is_named() {
        for name in ["ed25519", "rsa-pss-3072-sha384", "hss-l8-sha256-192-h25-w8", "ml-dsa-65"] {
            assert_eq!(algorithm(name).unwrap().to_string(), name);
        }
        for (typed, meant) in [
            ("mldsa65", "ml-dsa-65"),
            ("ML-DSA-87", "ml-dsa-87"),
            ("P256", "ecdsa-p256"),
            ("RSA-3072", "rsa-pss-3072-sha384"),
            ("Dilithium3", "ml-dsa-65"),
            ("SLH_DSA_SHA2_128s", "slh-dsa-sha2-128s"),
        ] {
            assert_eq!(algorithm(typed).unwrap().to_string(), meant);
        }
        for (_, name) in ALIASES {
            assert!(Algorithm::from_name(name).is_some(), "{name}");
        }
        for (typed, meant) in [
            ("ecdsa", "instance `ecdsa-p256`, `ecdsa-p384`"),
            ("ed25518", "instance `ed25519`"),
            ("slh-dsa-sha2-128", "`slh-dsa-sha2-128s`, `slh-dsa-sha2-128f`"),
            ("xmss-sha2-10", "`xmss-sha2-10-256`"),
            ("rsa-3072-sha512", "instance `rsa-pss-3072-sha512`, `rsa-pkcs1-3072-sha512`"),
            ("sphincs+", "instance `slh-dsa-sha2-128s`"),
            ("dilithium", "instance `ml-dsa-44`"),
            ("p521", "instance `ecdsa-p256`"),
            ("rot13", "instance `ed25519`, `ecdsa-p256`, `rsa-pss-3072-sha384`, `ml-dsa-65`"),
            ("", "instance `ed25519`"),
        ] {
            let message = algorithm(typed).unwrap_err();
            assert!(message.contains(meant), "{typed}: {message}");
        }
    }
}
