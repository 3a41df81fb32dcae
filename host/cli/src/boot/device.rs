//! Prepares the device that `hartlock boot` starts.

use std::path::Path;

use hartlock_emulator::images::{self, Device};
use hartlock_files::check_output;
use hartlock_image::{MAX_TRUSTED_KEYS, TrustList};
use hartlock_keys::PublicKey;
use hartlock_terminal as terminal;
use hartlock_verify::board::Board;

use super::args::BootArgs;
use crate::failure::Failure;
use crate::output::talk;
use crate::signer::class_keys;
use crate::style::WARNING;
use crate::values;

/// Opens or creates the device, and writes ROM, state and bundles into it.
pub(super) fn prepare(args: &BootArgs, rom: &Path, board: &Board) -> Result<Device, Failure> {
    let trust = trust(args)?;
    let device = match &args.state {
        Some(folder) => {
            // If the folder is not a device, files with these names belong to the user, and only `--force`
            // replaces them.
            let (images, is_device) = Device::images_in(folder);
            for image in images {
                check_output(&image, args.inputs(), is_device || args.force)?;
            }
            Device::open(folder)?
        }
        None => Device::temporary()?,
    };
    let root = images::root_of_trust(trust, board, device.secret()?);
    let root = root.ok_or_else(|| {
        Failure::undecided("a root key is given twice", "give each `--root-key` once")
    })?;
    device.program_rom(rom, &root)?;
    let asked = &args.provisioning;
    // A device without a valid state is not repaired here: it must refuse to boot, and the user must see
    // that.
    if device.is_new() || asked.is_asked_for() {
        let now = device.state()?.map_or_else(|_| images::Provisioning::default(), Into::into);
        device.provision(&images::Provisioning {
            boot_floor: asked.boot_floor.unwrap_or(now.boot_floor),
            system_floor: asked.system_floor.unwrap_or(now.system_floor),
            lifecycle: asked.lifecycle.unwrap_or(now.lifecycle),
            revoked_keys: now.revoked_keys | asked.revoked_keys(),
        })?;
    }
    if !asked.class_keys.is_empty() {
        device.provision_class_keys(&class_keys(&asked.class_keys)?)?;
    }
    device.install_boot_bundle(&args.boot_bundle)?;
    device.install_system_bundle(&args.system)?;
    Ok(device)
}

fn trust(args: &BootArgs) -> Result<TrustList, Failure> {
    if args.root_keys.len() > MAX_TRUSTED_KEYS {
        return Err(Failure::undecided(
            format!("{} root keys are given", args.root_keys.len()),
            format!("give at most {MAX_TRUSTED_KEYS}: the ROM has no room for more"),
        ));
    }
    let keys = args.root_keys.iter().map(|path| PublicKey::read_for(path, &args.algorithms));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    for (key, path) in keys.iter().zip(&args.root_keys) {
        if let Some(place) = key.published() {
            talk(&format!(
                "{WARNING}warning{WARNING:#}: everybody has the root key {}: its private half is printed in {place}",
                terminal::path(path)
            ));
        }
    }
    let used: Vec<_> = keys.iter().map(PublicKey::algorithm).collect();
    values::check_algorithms(&args.algorithms, &used)?;
    Ok(TrustList { policy: args.policy, keys: keys.iter().map(PublicKey::record).collect() })
}
