//! Packs signatures for the footprint program.

use anyhow::{Context, Result, ensure};
use hartlock_footprint::pack::{Case, Header, MAX_BODY_SIZE};
use hartlock_testkit::signed::SignatureCase;

/// Encodes cases as a pack.
pub fn pack(cases: &[SignatureCase]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for owned in cases {
        let case = Case {
            is_genuine: owned.is_genuine,
            key: &owned.key,
            message: &owned.message,
            signature: &owned.signature,
        };
        let mut bytes = vec![0; case.size()];
        case.encode(&mut bytes).context("a case that does not fit into its size")?;
        body.extend(bytes);
    }
    ensure!(body.len() <= MAX_BODY_SIZE, "{} bytes of cases are too many", body.len());
    let header = Header { body_size: body.len(), count: u32::try_from(cases.len())? };
    Ok([&header.encode()[..], &body].concat())
}

#[cfg(test)]
mod tests {
    use hartlock_testkit::signed::{genuine, of};

    use super::*;

    #[test]
    fn the_same_cases_are_made_again() {
        for algorithm in ["ed25519", "ecdsa-p256", "ml-dsa-44"] {
            let [one, other] = [(), ()].map(|()| pack(&of(algorithm).unwrap()).unwrap());
            assert!(one == other, "{algorithm}");
        }
        assert!(of("md5").is_err());
    }

    #[test]
    fn the_last_case_has_to_be_refused() {
        let cases = of("ed25519").unwrap();
        assert_eq!(cases.iter().filter(|case| case.is_genuine).count(), genuine("ed25519"));
        let [.., genuine, refused] = &cases[..] else { panic!() };
        assert!(!refused.is_genuine && refused.signature == genuine.signature);
        assert_ne!(refused.message, genuine.message);
    }

    #[test]
    fn a_case_is_read_as_it_was_written_and_never_in_part() {
        let case = Case { is_genuine: true, key: b"key", message: b"", signature: b"12345678" };
        let mut bytes = vec![0; case.size() + 1];
        assert_eq!(case.encode(&mut bytes), Some(case.size()));
        assert_eq!(Case::parse(&bytes), Some((case, &[0][..])));
        for len in 0..case.size() {
            assert_eq!(Case::parse(&bytes[..len]), None, "{len} bytes are enough");
        }
        bytes[0] = 2;
        assert_eq!(Case::parse(&bytes), None);
    }

    #[test]
    fn a_header_has_its_tag_and_a_bounded_body() {
        let header = Header { body_size: MAX_BODY_SIZE, count: 3 };
        assert_eq!(Header::parse(&header.encode()), Some(header));
        let too_long = Header { body_size: MAX_BODY_SIZE + 1, count: 3 };
        assert_eq!(Header::parse(&too_long.encode()), None);
        let mut other = header.encode();
        other[3] ^= 1;
        assert_eq!(Header::parse(&other), None);
        assert_eq!(Header::parse(&header.encode()[..23]), None);
    }
}
