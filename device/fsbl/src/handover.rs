//! The record in memory by which the monitor receives its endorsement.

use crate::endorse::Endorsement;

/// Size of the record in bytes.
pub const HANDOVER_SIZE: usize = 264;
/// Tag at the start of the record.
const TAG: [u8; 8] = *b"HLKtee_0";

/// The encoding of the record. The fields after the tag are: measurement (64 bytes), public key (32), signature (64),
/// public key of the device (32) and secret key (64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover;

impl Handover {
    /// Writes the record.
    pub fn encode(endorsement: &Endorsement, to: &mut [u8; HANDOVER_SIZE]) {
        let Endorsement { measurement, public_key, signature, device_public_key, secret_key } =
            endorsement;
        let fields: [&[u8]; 6] =
            [&TAG, measurement, public_key, signature, device_public_key, secret_key];
        let mut rest = to.as_mut_slice();
        for field in fields {
            let Some((to, after)) = rest.split_at_mut_checked(field.len()) else { return };
            to.copy_from_slice(field);
            rest = after;
        }
    }

    /// Reads a record. Returns `None` if the tag differs.
    pub fn parse(bytes: &[u8; HANDOVER_SIZE]) -> Option<Endorsement> {
        let (tag, rest) = bytes.split_first_chunk()?;
        let (measurement, rest) = rest.split_first_chunk()?;
        let (public_key, rest) = rest.split_first_chunk()?;
        let (signature, rest) = rest.split_first_chunk()?;
        let (device_public_key, rest) = rest.split_first_chunk()?;
        (*tag == TAG).then_some(Endorsement {
            measurement: *measurement,
            public_key: *public_key,
            signature: *signature,
            device_public_key: *device_public_key,
            secret_key: *rest.first_chunk()?,
        })
    }
}
