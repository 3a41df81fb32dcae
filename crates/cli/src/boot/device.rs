//! The device that `hartlock boot` starts.

use hartlock_emulator::images::{self, Device};
use hartlock_image::{MAX_TRUSTED_KEYS, TrustList};
use hartlock_keys::PublicKey;

use super::{Args, Failure, Lifecycle, values};

/// What is provisioned before the boot. What is not named stays as it is.
#[derive(Clone, Debug, clap::Args)]
pub struct Provisioning {
    /// Provision the lowest security version of a boot bundle [new device: 0]
    #[arg(long = "provision-boot-floor", value_name = "N")]
    boot_floor: Option<u64>,
    /// Provision the lowest security version of a system bundle [new device: 0]
    #[arg(long = "provision-system-floor", value_name = "N")]
    system_floor: Option<u64>,
    /// Provision the state of the device [new device: development]
    #[arg(long, value_name = "STATE", value_parser = values::lifecycle())]
    lifecycle: Option<Lifecycle>,
    /// Provision that a root key is revoked: its number, counting `--root-key` from 0; may be given
    /// several times, and no key is taken back [new device: none]
    #[arg(long = "provision-revoked", value_name = "N")]
    revoked: Vec<u32>,
}

impl Provisioning {
    fn is_asked_for(&self) -> bool {
        self.boot_floor.is_some()
            || self.system_floor.is_some()
            || self.lifecycle.is_some()
            || !self.revoked.is_empty()
    }

    /// Whether every key that is to be revoked is there. The ROM would take the bit of another one
    /// in silence, and the operator would take the wrong key for revoked.
    pub(super) fn check(&self, root_key_count: usize) -> Result<(), Failure> {
        let is_known = |place: &u32| usize::try_from(*place).is_ok_and(|at| at < root_key_count);
        match self.revoked.iter().find(|place| !is_known(place)) {
            None => Ok(()),
            Some(place) => Err(Failure::undecided(
                format!("there is no root key {place} to revoke, {root_key_count} are given"),
                "count the `--root-key` options from 0 on",
            )),
        }
    }

    /// One bit for each key (boot flow §3.2).
    fn revoked_keys(&self) -> u32 {
        self.revoked
            .iter()
            .filter_map(|place| 1u32.checked_shl(*place))
            .fold(0, |all, key| all | key)
    }
}

/// Opens or makes the device, and gives it its ROM, its state and its bundles.
pub(super) fn prepare(args: &Args) -> Result<Device, Failure> {
    let root = images::root_of_trust(trust(args)?).ok_or_else(|| {
        Failure::undecided("a root key is given twice", "give each `--root-key` once")
    })?;
    let device = match &args.state {
        Some(folder) => Device::open(folder)?,
        None => Device::temporary()?,
    };
    device.program_rom(&args.rom, &root)?;
    let asked = &args.provisioning;
    // A device that lost its state is not repaired in passing: it must refuse, and be seen to.
    if device.is_new() || asked.is_asked_for() {
        let now = device.state()?.map_or_else(|_| images::Provisioning::default(), Into::into);
        device.provision(&images::Provisioning {
            boot_floor: asked.boot_floor.unwrap_or(now.boot_floor),
            system_floor: asked.system_floor.unwrap_or(now.system_floor),
            lifecycle: asked.lifecycle.unwrap_or(now.lifecycle),
            revoked_keys: now.revoked_keys | asked.revoked_keys(),
        })?;
    }
    device.install_boot_bundle(&args.boot_bundle)?;
    device.install_system_bundle(&args.system)?;
    Ok(device)
}

fn trust(args: &Args) -> Result<TrustList, Failure> {
    if args.root_keys.len() > MAX_TRUSTED_KEYS {
        return Err(Failure::undecided(
            format!("{} root keys are given", args.root_keys.len()),
            format!("give at most {MAX_TRUSTED_KEYS}: the ROM has no room for more"),
        ));
    }
    let keys = args.root_keys.iter().map(|path| PublicKey::read_for(path, &args.algorithms));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let used: Vec<_> = keys.iter().map(PublicKey::algorithm).collect();
    values::check_algorithms(&args.algorithms, &used)?;
    Ok(TrustList { policy: args.policy, keys: keys.iter().map(PublicKey::record).collect() })
}
