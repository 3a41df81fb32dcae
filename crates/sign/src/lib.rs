//! Keys and bundle signing on the host.

#![forbid(unsafe_code)]
