//! Tests of what others rely on and no crate of their own has.

mod fsbl;
mod monitor;
