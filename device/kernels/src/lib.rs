//! Hash, signature and cipher implementations of Hartlock: portable Rust code, and assembly for RISC-V.
//!
//! The portable implementations run in the ROM, in the loader and on the host, and are the reference for every faster
//! kernel. They allocate no memory, contain no unsafe code, and have no panic path in a linked image: buffers are
//! fixed arrays, elements are accessed through checked functions, and all arithmetic on machine words wraps on
//! purpose. A hart selects its [`Kernels`] by testing them. Machines other than RISC-V have only the portable ones.
//!
//! | module | algorithms | standard |
//! |---|---|---|
//! | [`sha2`] | SHA-256, SHA-384, SHA-512 | FIPS 180-4 |
//! | [`sha3`] | SHA3-256, SHA3-384, SHA3-512, SHAKE128, SHAKE256 | FIPS 202 |
//! | [`xof`] | SHAKE, cSHAKE with outputs of any length | FIPS 202, SP 800-185 §3 |
//! | [`parallelhash`] | ParallelHash128, ParallelHash256 | SP 800-185 §6 |
//! | [`kt128`] | KT128 | RFC 9861 §3 |
//! | `ed25519` | Ed25519 signature verification with the strict rule | RFC 8032 §5.1, FIPS 186-5 §7.7 |
//! | `ml_dsa` | ML-DSA-44, ML-DSA-65, ML-DSA-87: signature verification | FIPS 204 |
//! | `ed25519_keystone` | Ed25519 signature verification with SHA3-512, a legacy variant | – |
//! | `ed25519_signer` | Ed25519 key pairs and signatures, in constant time | RFC 8032 §5.1.5, §5.1.6 |
//! | `ed25519_contexts` | Ed25519ctx and Ed25519ph signature verification | RFC 8032 §5.1 |
//! | `slh_dsa` | SLH-DSA signature verification, twelve parameter sets | FIPS 205 |
//! | `ecdsa` | ECDSA signature verification on P-256 and P-384 | FIPS 186-5 §6.4.2 |
//! | `rsa` | RSA signature verification with PKCS #1 v1.5 and PSS | RFC 8017 §8.1.2, §8.2.2 |
//! | `lms` | LMS and HSS signature verification | RFC 8554, SP 800-208 |
//! | `xmss` | XMSS and XMSS^MT signature verification | RFC 8391, SP 800-208 |
//! | `aes` | AES in the modes CBC, CTR and GCM, in constant time | FIPS 197, SP 800-38A, SP 800-38D |
//! | `walnut` | WalnutDSA signature verification, broken, for measurements | submission to NIST of 2017 |
//! | [`secret`] | overwriting of secrets in memory | – |
//! | [`signature`] | types and functions that all signature algorithms share | – |
//! | `hash_based` | LMS, XMSS and SLH-DSA signature verification with a hardware engine | – |
//! | `numbers` | RSA and ECDSA signature verification with a hardware engine | – |
//!
//! All code except `ed25519_signer` and `aes` handles only public data: images, public keys and signatures. The other functions
//! do not run in constant time, so they must not be called with secrets.

#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

#[cfg(any(feature = "aes-ctr", test))]
pub mod aes;
#[cfg(any(feature = "rsa", feature = "ecdsa"))]
mod bignum;
mod block;
#[cfg(any(feature = "lms", feature = "xmss"))]
mod chains;
mod comparison;
#[cfg(any(feature = "rsa", feature = "ecdsa"))]
mod der;
mod detect;
#[allow(unsafe_code, reason = "says what a probe has to promise")]
mod dispatch;
#[cfg(feature = "ecdsa")]
pub mod ecdsa;
#[cfg(feature = "ed25519")]
pub mod ed25519;
pub mod engines;
mod hash;
#[cfg(any(feature = "engine", test))]
pub mod hash_based;
#[cfg(any(feature = "engine", test))]
mod joined;
mod keccak;
#[cfg(any(target_arch = "riscv64", feature = "engine", test))]
mod known;
#[cfg(any(all(feature = "engine", feature = "ed25519-signer"), test))]
mod known_ed25519;
#[cfg(all(any(feature = "rsa", feature = "ecdsa"), any(feature = "engine", test)))]
mod known_numbers;
pub mod kt128;
#[cfg(feature = "lms")]
pub mod lms;
mod many;
#[cfg(feature = "ml-dsa")]
pub mod ml_dsa;
pub mod parallelhash;
#[cfg(any(feature = "aes-ctr", feature = "lms", feature = "xmss", feature = "engine", test))]
mod pattern;
#[cfg(feature = "rsa")]
pub mod rsa;
#[cfg(target_arch = "riscv64")]
#[allow(unsafe_code, reason = "calls assembly")]
mod rv64;
#[allow(unsafe_code, reason = "makes stores that the compiler must not leave out")]
pub mod secret;
pub mod sha2;
pub mod sha3;
#[cfg(any(feature = "lms", feature = "xmss"))]
mod short;
pub mod signature;
#[cfg(feature = "slh-dsa")]
pub mod slh_dsa;
#[cfg(any(feature = "research", test))]
pub mod walnut;
#[cfg(feature = "xmss")]
pub mod xmss;
pub mod xof;

#[cfg(any(feature = "aes-ctr", test))]
pub use aes::kernels::{CipherMode, CipherTier};
pub use dispatch::{HashFamily, KernelFault, Kernels, MAX_LANES, Probe, Tier, fills_lanes};
#[cfg(feature = "ed25519-contexts")]
pub use ed25519::contexts as ed25519_contexts;
#[cfg(feature = "ed25519-keystone")]
pub use ed25519::keystone as ed25519_keystone;
#[cfg(any(feature = "ed25519-signer", test))]
pub use ed25519::signer as ed25519_signer;
pub use hash::Hash;
#[cfg(any(feature = "engine", test))]
pub use joined::EngineUse;
pub use many::HashMany;
#[cfg(any(feature = "research", test))]
pub use walnut::kernels::WalnutTier;
