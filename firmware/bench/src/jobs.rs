//! One module a job.

pub mod kernels;
pub mod vectors;
