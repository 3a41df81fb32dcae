//! Selection of the kernels of a hart.

#[cfg(any(feature = "engine", test))]
use crate::dispatch::{Chosen, KernelFault, Tier};
use crate::dispatch::{Kernels, Probe};
#[cfg(any(feature = "engine", test))]
use crate::known::answers_one;
#[cfg(target_arch = "riscv64")]
use crate::rv64;
#[cfg(any(feature = "engine", test))]
use crate::sha2::Sha256;

impl Kernels {
    /// Returns the fastest kernels that work on this hart.
    #[cfg_attr(not(target_arch = "riscv64"), expect(unused_variables, reason = "nothing to try"))]
    pub fn detect(probe: &mut impl Probe) -> Self {
        #[cfg_attr(not(target_arch = "riscv64"), expect(unused_mut, reason = "nothing to try"))]
        let mut kernels = Self::PORTABLE;
        #[cfg(target_arch = "riscv64")]
        rv64::offer_all(&mut kernels, probe);
        kernels
    }

    /// Returns these kernels with an engine for SHA-256. `compress` updates a hash value with whole blocks (FIPS
    /// 180-4 §6.2.2). The known-answer tests run first, because a faulty engine would compute wrong digests.
    ///
    /// # Errors
    /// `WrongAnswer` if a known-answer test fails.
    #[cfg(any(feature = "engine", test))]
    pub fn with_sha256_engine(
        self,
        compress: fn(&mut [u32; 8], &[[u8; 64]]),
    ) -> Result<Self, KernelFault> {
        let changed = Self { sha256: Chosen::one_by_one(Tier::Engine, compress), ..self };
        if answers_one::<Sha256>(&changed, &Sha256::KAT) {
            Ok(changed)
        } else {
            Err(KernelFault::WrongAnswer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hash, HashFamily};

    #[test]
    fn an_engine_is_used_if_its_answers_are_right() {
        fn right(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
            (Kernels::PORTABLE.sha256.one.run)(state, blocks);
        }
        let kernels = Kernels::PORTABLE.with_sha256_engine(right).unwrap();
        assert_eq!(kernels.tier(HashFamily::Sha256), Tier::Engine);
        assert_eq!(kernels.tier(HashFamily::Sha512), Tier::Portable);
        let mut hash = Sha256::with(&kernels);
        hash.update(b"abc");
        assert_eq!(hash.finalize(), Sha256::KAT);
    }

    #[test]
    fn an_engine_that_does_nothing_or_forgets_a_block_is_refused() {
        fn nothing(_: &mut [u32; 8], _: &[[u8; 64]]) {}
        fn first_alone(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
            (Kernels::PORTABLE.sha256.one.run)(state, blocks.get(..1).unwrap_or_default());
        }
        for compress in [nothing, first_alone] {
            let refused = Kernels::PORTABLE.with_sha256_engine(compress);
            assert_eq!(refused.err(), Some(KernelFault::WrongAnswer));
        }
    }
}
