//! Stored runs (`spec/lab-run.md`): the form that programs write and read, the sources that a run was made from, what
//! papers publish, and the plots, pages and words that show a run. Nothing here measures.

#![forbid(unsafe_code)]
#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]

pub mod boards;
pub mod fuzz;
pub mod inputs;
pub mod paper;
pub mod plot;
pub mod report;
pub mod run;
pub mod sensitivity;
pub mod stored;
