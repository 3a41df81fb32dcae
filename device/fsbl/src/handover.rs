//! What the monitor finds in memory: the form of its endorsement.

use crate::endorse::Endorsement;

/// Bytes of the record.
pub const HANDOVER_SIZE: usize = 264;
/// What it begins with.
const TAG: [u8; 8] = *b"HLKtee_0";

/// Fields in their order, after the tag: measurement (64), public key (32), signature (64), public key of the device (32),
/// secret key (64).
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

    /// Reads one. None if it is something else.
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
