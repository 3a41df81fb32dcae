//! These tests compare hashes and signatures with public vectors and with second implementations.
//!
//! All files are one program, because linking each of them separately takes more time than running
//! it.

mod ecdsa_differential;
mod ecdsa_vectors;
mod ed25519_differential;
mod ed25519_variants;
mod hash_based_differential;
mod hash_based_vectors;
mod hash_differential;
mod hash_many;
mod hash_published;
mod ml_dsa_differential;
mod ml_dsa_vectors;
mod public_vectors;
mod rsa_differential;
mod rsa_vectors;
mod slh_dsa_differential;
mod slh_dsa_vectors;
mod vectors;
mod xof;
