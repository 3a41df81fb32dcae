//! The root-of-trust block (boot flow §3.1).

use hartlock_image::{Identity, Name, Reason, TrustList, Writer, bytes_at, is_zero};

use hartlock_kernels::secret::Secret;

use crate::block;
use crate::secret::{DeviceSecret, KEY_SIZE, Purpose};

/// Length of the block in bytes.
pub const ROOT_OF_TRUST_SIZE: usize = 704;
const TAG: &[u8; 16] = b"HARTLOCK-ROOT-v1";
const DIGEST_AT: usize = 640;

/// The trust anchor of a device, which the ROM reads at every boot.
#[derive(Clone, Debug, PartialEq)]
pub struct RootOfTrust {
    /// Root keys and the policy for the boot bundle.
    pub trust: TrustList,
    /// Name of this board.
    pub board: Name,
    /// Name of this SoC.
    pub soc: Name,
    /// Secret from which the keys of this device are derived.
    pub secret: DeviceSecret,
}

impl RootOfTrust {
    /// Parses the block and checks its digest.
    ///
    /// # Errors
    /// `RootOfTrustInvalid` if the block is not well formed.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        Self::read(bytes).ok_or(Reason::RootOfTrustInvalid)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut block = Secret::<ROOT_OF_TRUST_SIZE>::ZERO;
        *block = bytes_at(bytes, 0)?;
        if !block::is_intact(&*block, TAG, DIGEST_AT) || !is_zero(block.get(24..32)?) {
            return None;
        }
        let (trust, identity) = Self::requirements(&*block)?;
        let secret = DeviceSecret::new(bytes_at(&*block, 96)?)?;
        Some(Self { trust, board: identity.board, soc: identity.soc, secret })
    }

    /// Reads keys, policy and names of a block that [`RootOfTrust::parse`] has accepted. Redundant checks use this
    /// second reading.
    #[inline(never)]
    pub fn requirements(block: &[u8]) -> Option<(TrustList, Identity)> {
        let trust = block::read_trust(block, 16, 20, 128)?;
        let (board, soc) = (block::read_name(block, 32)?, block::read_name(block, 64)?);
        Some((trust, Identity { board, soc }))
    }

    /// Derives the key that unwraps the class keys of this device.
    pub fn payload_key(&self) -> Secret<KEY_SIZE> {
        self.secret.derive(Purpose::Payloads, &self.board, &self.soc)
    }

    /// Derives the key that authenticates the state records of this device.
    pub fn state_key(&self) -> Secret<KEY_SIZE> {
        self.secret.derive(Purpose::State, &self.board, &self.soc)
    }

    /// Encodes the block.
    pub fn encode(&self) -> [u8; ROOT_OF_TRUST_SIZE] {
        let mut bytes = [0; ROOT_OF_TRUST_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put(TAG);
        out.put_u32(self.trust.policy.number());
        out.put_u32(self.trust.keys.len() as u32);
        out.put_u64(0);
        out.put(self.board.field());
        out.put(self.soc.field());
        out.put(self.secret.bytes());
        block::put_keys(&mut out, &self.trust);
        block::seal(&mut bytes, DIGEST_AT);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_image::{KeyRecord, Policy};

    fn example() -> RootOfTrust {
        let key = |byte| KeyRecord { algorithm: 1, parameters: 0, key_id: [byte; 48] };
        RootOfTrust {
            trust: TrustList { policy: Policy::Any, keys: [key(1), key(2)].into_iter().collect() },
            board: Name::new("qemu-virt").unwrap(),
            soc: Name::new("virt").unwrap(),
            secret: DeviceSecret::new([7; 32]).unwrap(),
        }
    }

    #[test]
    fn refuses_a_block_without_a_secret() {
        for blank in [0, 0xff] {
            let mut bytes = example().encode();
            bytes[96..128].fill(blank);
            block::seal(&mut bytes, DIGEST_AT);
            assert_eq!(RootOfTrust::parse(&bytes), Err(Reason::RootOfTrustInvalid));
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(RootOfTrust::parse(&example().encode()), Ok(example()));
    }

    #[test]
    fn refuses_every_flipped_bit_and_every_cut() {
        let good = example().encode();
        for bit in 0..good.len() * 8 {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(RootOfTrust::parse(&bad), Err(Reason::RootOfTrustInvalid), "bit {bit}");
        }
        for len in 0..good.len() {
            assert_eq!(RootOfTrust::parse(&good[..len]), Err(Reason::RootOfTrustInvalid));
        }
    }

    #[test]
    fn refuses_erased_flash_and_a_block_without_keys() {
        for byte in [0x00, 0xff] {
            let erased = [byte; ROOT_OF_TRUST_SIZE];
            assert_eq!(RootOfTrust::parse(&erased), Err(Reason::RootOfTrustInvalid));
        }
        let mut empty = example();
        empty.trust.keys = [].into_iter().collect();
        assert_eq!(RootOfTrust::parse(&empty.encode()), Err(Reason::RootOfTrustInvalid));
    }

    #[test]
    fn refuses_the_same_key_twice() {
        let mut twice = example();
        let key = *twice.trust.keys.get(0).unwrap();
        twice.trust.keys = [key, key].into_iter().collect();
        assert_eq!(RootOfTrust::parse(&twice.encode()), Err(Reason::RootOfTrustInvalid));
    }
}
