//! Keys whose private halves are printed in public, so that anyone can sign with them.

use std::path::Path;

use hartlock_image::KeyRecord;

use super::{Error, KeyError, KeyErrorKind, PublicKey};

/// One key in each line: its key id in hexadecimal, and where it is printed. An RSA key has a line for each padding and
/// hash. The tests make the lines again for keys that follow from a standard or are in `spec/vectors`; of the keys of other
/// projects only the ids are here, as `hartlock key show` prints them.
const LIST: &str = include_str!("published.txt");

/// Returns where the private key of this record is printed; `None` if that is not known.
pub fn published(record: &KeyRecord) -> Option<&'static str> {
    let id: String = record.key_id.iter().map(|byte| format!("{byte:02x}")).collect();
    LIST.lines().find_map(|line| line.strip_prefix(&id)).map(str::trim_ascii)
}

/// Refuses a key that everybody has.
///
/// # Errors
/// `Published` if the private key of this record is printed in public. `path` is the file that the error names.
pub fn refuse_published(path: &Path, record: &KeyRecord) -> Result<(), Error> {
    match published(record) {
        None => Ok(()),
        Some(place) => {
            let kind = KeyErrorKind::Published(place);
            Err(Error::Key(KeyError { path: path.to_path_buf(), kind }))
        }
    }
}

impl PublicKey {
    /// Returns where the private key of this key is printed; `None` if that is not known.
    pub fn published(&self) -> Option<&'static str> {
        published(&self.record())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hartlock_image::{Algorithm, HashId, RsaPadding};
    use pkcs8::der::Encode;
    use pkcs8::der::asn1::OctetStringRef;
    use pkcs8::spki::AlgorithmIdentifierRef;

    use super::*;
    use crate::{PrivateKey, oids};

    /// Seeds of Ed25519 in RFC 8032 §7.1 and RFC 8410 §10.3.
    const ED25519: [(&str, &str); 6] = [
        ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "RFC 8032 §7.1"),
        ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "RFC 8032 §7.1"),
        ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "RFC 8032 §7.1"),
        ("f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5", "RFC 8032 §7.1"),
        ("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42", "RFC 8032 §7.1"),
        ("d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842", "RFC 8410 §10.3"),
    ];
    /// Private numbers of RFC 6979 appendix A.2.5 and A.2.6.
    const ECDSA: [(&str, &str); 2] = [
        ("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", "RFC 6979 A.2.5"),
        (
            "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5",
            "RFC 6979 A.2.6",
        ),
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    }

    fn of_seed(oid: pkcs8::ObjectIdentifier, encoded: &[u8]) -> PublicKey {
        let identifier = AlgorithmIdentifierRef { oid, parameters: None };
        let key = OctetStringRef::new(encoded).unwrap();
        let der = pkcs8::PrivateKeyInfoRef::new(identifier, key).to_der().unwrap();
        PrivateKey::decode(&der, &[], None).unwrap().public()
    }

    fn ed25519(seed: &[u8]) -> PublicKey {
        of_seed(oids::ED25519, &[&[4, 32], seed].concat())
    }

    fn ecdsa(number: &[u8]) -> PublicKey {
        let curve = if number.len() == 32 { oids::P256 } else { oids::P384 };
        let key = sec1::EcPrivateKey {
            private_key: number,
            parameters: Some(curve.into()),
            public_key: None,
        };
        PrivateKey::decode(&key.to_der().unwrap(), &[], None).unwrap().public()
    }

    /// Returns the keys of `spec/vectors`, which are also those of this project's own tests.
    fn of_vectors() -> Vec<PublicKey> {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors");
        let folders =
            ["keys", "image"].map(|folder| std::fs::read_dir(vectors.join(folder)).unwrap());
        let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.to_string_lossy().ends_with(".pub.pem"));
        let schemes = [2048, 3072, 4096].map(|modulus_bits| Algorithm::Rsa {
            modulus_bits,
            padding: RsaPadding::Pss,
            hash: HashId::Sha256,
        });
        files.map(|path| PublicKey::read_for(&path, &schemes).unwrap()).collect()
    }

    fn lines_of(key: &PublicKey, place: &str) -> Vec<String> {
        let line = |key: &PublicKey| {
            let id: String = key.key_id().iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{id} {place}")
        };
        let Algorithm::Rsa { modulus_bits, .. } = key.algorithm() else { return vec![line(key)] };
        let paddings = [RsaPadding::Pss, RsaPadding::Pkcs1].into_iter();
        let schemes = paddings.flat_map(|padding| {
            [HashId::Sha256, HashId::Sha384, HashId::Sha512].map(|hash| Algorithm::Rsa {
                padding,
                modulus_bits,
                hash,
            })
        });
        schemes.map(|it| line(&PublicKey::from_bytes(it, key.as_bytes()).unwrap())).collect()
    }

    #[test]
    fn every_key_that_can_be_made_again_is_in_the_list() {
        let mut wanted = BTreeSet::new();
        let mut add = |key: &PublicKey, place: &str| wanted.extend(lines_of(key, place));
        for (seed, place) in ED25519 {
            add(&ed25519(&bytes(seed)), place);
        }
        for (number, place) in ECDSA {
            add(&ecdsa(&bytes(number)), place);
        }
        // Seeds that need no document: one byte repeated, and bytes that count.
        let counting = |first: u8| (first..first + 32).collect::<Vec<_>>();
        for (seed, place) in [
            (vec![0; 32], "a seed of zeros"),
            (vec![0xff; 32], "a seed of ones"),
            (counting(0), "a seed that counts from 0"),
            (counting(1), "a seed that counts from 1"),
        ] {
            add(&ed25519(&seed), place);
            for set in hartlock_image::MlDsaSet::ALL {
                let of_set =
                    of_seed(oids::of(Algorithm::MlDsa(set)), &[&[0x80, 32], &seed[..]].concat());
                add(&of_set, place);
            }
        }
        for size in [32, 48] {
            let mut one = vec![0; size];
            one[size - 1] = 1;
            add(&ecdsa(&one), "the private number 1");
        }
        for key in of_vectors() {
            add(&key, "the test vectors of Hartlock");
        }
        let listed: BTreeSet<_> = LIST.lines().map(str::to_owned).collect();
        let missing: Vec<_> = wanted.difference(&listed).map(String::as_str).collect();
        assert!(missing.is_empty(), "missing in published.txt:\n{}", missing.join("\n"));
        assert!(listed.len() > wanted.len(), "keys of other projects are missing");
        assert!(LIST.lines().is_sorted(), "the lines are sorted, and each is there once");
    }

    #[test]
    fn a_key_is_known_in_every_scheme_and_others_are_not() {
        for key in of_vectors() {
            assert!(key.published().is_some(), "{key:?}");
        }
        assert_eq!(PrivateKey::generate().unwrap().public().published(), None);
    }
}
