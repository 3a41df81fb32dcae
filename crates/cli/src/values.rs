//! Values of flags that are names of the format.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hartlock_bundle::spec::IdentitySpec;
use hartlock_image::{Algorithm, BundleType, HashId, Lifecycle, Name, Policy, Profile};
use hartlock_keys::Format;

use crate::failure::Failure;
use crate::units::grouped;

const BUNDLE_TYPES: [BundleType; 2] = [BundleType::Boot, BundleType::System];
const POLICIES: [Policy; 3] = [Policy::Any, Policy::All, Policy::Hybrid];

/// Accepts exactly the names of `all`, which `--help` then lists.
fn names<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|item| name_of(*item))).try_map(move |name| {
        all.iter().copied().find(|item| name_of(*item) == name).ok_or("not among the names")
    })
}

/// `boot`, `system`.
pub fn bundle_type() -> impl TypedValueParser<Value = BundleType> {
    names(&BUNDLE_TYPES, BundleType::name)
}

/// `development`, `production`, `returned`.
pub fn lifecycle() -> impl TypedValueParser<Value = Lifecycle> {
    names(&Lifecycle::ALL, Lifecycle::name)
}

/// `sha256` and so on.
pub fn hash() -> impl TypedValueParser<Value = HashId> {
    names(&HashId::ALL, HashId::name)
}

/// `default`, `cnsa2`, `all`.
pub fn profile() -> impl TypedValueParser<Value = Profile> {
    names(&Profile::ALL, Profile::name)
}

/// `any`, `all`, `hybrid`.
pub fn policy() -> impl TypedValueParser<Value = Policy> {
    names(&POLICIES, Policy::name)
}

/// `pem`, `der`.
pub fn format() -> impl TypedValueParser<Value = Format> {
    names(&[Format::Pem, Format::Der], |format| match format {
        Format::Pem => "pem",
        Format::Der => "der",
    })
}

/// Refuses algorithms that no key is used for: a named algorithm is meant to be used.
///
/// # Errors
/// Names the first of them.
pub fn check_algorithms(asked: &[Algorithm], used: &[Algorithm]) -> Result<(), Failure> {
    match asked.iter().find(|algorithm| !used.contains(algorithm)) {
        None => Ok(()),
        Some(algorithm) => Err(Failure::undecided(
            format!("no key here can be used for {algorithm}"),
            "`--algorithm` chooses padding and hash of RSA keys; all other keys say it themselves",
        )),
    }
}

/// Most algorithms that are offered for one that does not exist.
const MOST_ALGORITHMS: usize = 4;

/// A signature algorithm.
///
/// # Errors
/// Names the likeliest ones if there is none of that name.
pub fn algorithm(text: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(text).ok_or_else(|| {
        let wanted = text.to_lowercase();
        let mut all: Vec<_> = Algorithm::all()
            .map(|algorithm| algorithm.to_string())
            .map(|name| (likeness(&wanted, &name), name))
            .collect();
        // The order of the format decides between names that are equally likely.
        all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let names: Vec<_> =
            all.into_iter().take(MOST_ALGORITHMS).map(|(_, name)| format!("`{name}`")).collect();
        format!("there is no such algorithm; the likeliest are {}", names.join(", "))
    })
}

/// A name that begins with what was typed comes first, then one of nearly the same letters.
fn likeness(wanted: &str, name: &str) -> f64 {
    let begins = !wanted.is_empty() && name.starts_with(wanted);
    strsim::jaro_winkler(wanted, name) + if begins { 1.0 } else { 0.0 }
}

/// A whole number, in decimal or, after `0x`, in hexadecimal.
///
/// # Errors
/// If it is none, or the field has no room for it.
pub fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    let most = u64::MAX >> (u64::BITS - 8 * size_of::<T>() as u32);
    let number = parsed.ok().filter(|_| !text.contains('+')).and_then(|it| T::try_from(it).ok());
    number.ok_or_else(|| format!("a whole number from 0 to {} is wanted", grouped(most)))
}

/// A board or SoC name.
///
/// # Errors
/// If it does not fit the field.
pub fn name(text: &str) -> Result<Name, String> {
    Name::new(text).ok_or_else(|| "a name is 1 to 32 printable ASCII characters".to_string())
}

/// A device as `BOARD,SOC`.
///
/// # Errors
/// If there is no comma. The names are judged with the bundle.
pub fn device(text: &str) -> Result<IdentitySpec, String> {
    let (board, soc) = text.split_once(',').ok_or("a device is written as BOARD,SOC")?;
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
            ("mldsa65", "`ml-dsa-65`"),
            ("ML-DSA-87", "`ml-dsa-87`"),
            ("ecdsa", "`ecdsa-p256`, `ecdsa-p384`"),
            ("ed25518", "`ed25519`"),
            ("slh-dsa-sha2-128", "`slh-dsa-sha2-128s`, `slh-dsa-sha2-128f`"),
            ("xmss-sha2-10", "`xmss-sha2-10-256`"),
        ] {
            let message = algorithm(typed).unwrap_err();
            assert!(message.contains(meant), "{typed}: {message}");
        }
    }
}
