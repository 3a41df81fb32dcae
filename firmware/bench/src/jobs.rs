//! One module a job.

pub mod vectors;
