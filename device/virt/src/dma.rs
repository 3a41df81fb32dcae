//! The memory that devices can access by DMA, as M-mode configures it.

#[cfg_attr(dma = "iommu", path = "dma/iommu.rs")]
#[cfg_attr(dma = "open", path = "dma/open.rs")]
mod form;

pub use form::{close, guard, open_system};
