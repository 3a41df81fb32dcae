//! The area of the core beside the engines: a tile of Rocket, hart and caches, in the flow of the engines.

use anyhow::{Context, Result};

use super::engine::Tools;
use super::netlist::{self, Count};
use crate::machines::model::{self, Core};

/// In the sources of the package, for every configuration.
const TOP: &str = "RocketTile";

/// Cells of the tile of a core. They are counted in minutes, once.
///
/// # Errors
/// If the package of the core is missing, or Yosys fails.
pub fn tile(core: Core) -> Result<Count> {
    let tools = Tools::locate()?;
    let sources = model::rocket_sources(core, &tools.machine);
    netlist::count_outside(&tools, &tools.machine.rocket(), &sources, TOP)
        .with_context(|| format!("the tile of {}", core.name))
}
