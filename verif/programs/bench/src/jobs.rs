//! One module a job.

pub mod kat;
pub mod kernels;
pub mod vectors;
