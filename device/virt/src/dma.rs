//! Which memory devices reach by themselves, for M-mode.

#[cfg_attr(dma = "iommu", path = "dma/iommu.rs")]
#[cfg_attr(dma = "open", path = "dma/open.rs")]
mod form;

pub use form::{close, guard};
