//! One-time-programmable storage (`hw/ip/otp/doc/README.md`): fields, burns, latches, and keys that are sent to
//! engines.
//!
//! The hardware reads the array at reset and gives a verdict, which this driver reads. The hardware refuses an access
//! with a bus error, so the driver checks beforehand whether an access would be refused.

use hartlock_regs::otp::{
    OtpBurn, OtpHide, OtpLatch, OtpLifecycle, OtpOutcome, OtpReason, OtpRegisters, OtpSend,
    OtpVerdict,
};

/// Length in bytes of a digest, of the board name, of the device secret and of a key.
pub const FIELD_BYTES: usize = 32;
/// Number of steps of the floor.
pub const MAX_FLOOR: u8 = 64;
/// Word that unlocks a burn (`burn.key`).
const BURN_KEY: u16 = 0xb1a5;
/// Maximum number of reads of the progress of a burn. A burn of 44 cells takes far less.
const PATIENCE: u32 = 1_000_000;

// These are row numbers (../doc/README.md).
const ROW_LIFECYCLE: u8 = 0;
const ROW_REVOKED: u8 = 1;
const ROW_LOCKS: u8 = 2;
const ROW_FLOOR: u8 = 4;
const ROW_TYPES: u8 = 16;
const ROW_BOARD: u8 = 24;
const ROW_DIGESTS: u8 = 32;
const ROW_SECRET: u8 = 64;
const ROW_KEYS: u8 = 72;

/// The number of one of four slots, for root keys and for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OtpSlot {
    /// First slot.
    Zero = 0,
    /// Second slot.
    One = 1,
    /// Third slot.
    Two = 2,
    /// Fourth slot.
    Three = 3,
}

/// A field that consists of words. Its number is the number of its bit in locks and latches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Type and digest of a root key.
    RootKey(OtpSlot),
    /// Name of the board.
    Board,
    /// Secret of the device.
    Secret,
    /// A key for an engine.
    Key(OtpSlot),
}

impl Field {
    fn number(self) -> u8 {
        match self {
            Field::RootKey(slot) => slot as u8,
            Field::Board => 4,
            Field::Secret => 5,
            Field::Key(slot) => 6 + slot as u8,
        }
    }

    fn first_row(self) -> u8 {
        match self {
            Field::RootKey(slot) => ROW_DIGESTS + 8 * slot as u8,
            Field::Board => ROW_BOARD,
            Field::Secret => ROW_SECRET,
            Field::Key(slot) => ROW_KEYS + 8 * slot as u8,
        }
    }
}

/// A group of flags, with the number of its lock bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flags {
    /// The lifecycle.
    Lifecycle = 10,
    /// Revocation of root keys.
    Revocation = 11,
    /// The floor of security versions.
    Floor = 12,
    /// The locks themselves.
    Locks = 13,
}

/// The reason why an operation was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The field is blank, refused, hidden, or closed in this lifecycle.
    Closed,
    /// The hardware refused the burn, or the cells do not read as they were burned.
    Burn(OtpOutcome),
    /// The hardware did not complete an operation, or has failed.
    Fault,
}

/// A step of the lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LifecycleStep {
    /// From blank to test.
    Test = 0,
    /// From test to development.
    Development = 1,
    /// From development to production.
    Production = 2,
    /// From production to returned.
    Returned = 3,
    /// From any state to scrapped.
    Scrapped = 4,
}

/// The driver of the storage.
pub struct Otp {
    registers: OtpRegisters,
}

impl Otp {
    /// Creates the driver of the storage at this address.
    ///
    /// # Safety
    /// `base` is the address of the storage's registers, and no other code uses them while this value exists.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> Otp {
        // SAFETY: the caller guarantees what the register block requires: the registers exist, and only this driver
        // uses them.
        Otp { registers: unsafe { OtpRegisters::new(base) } }
    }

    /// Returns true if all provisioned values are good. An undefined number counts as a failure.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.registers.status().read().verdict() == Some(OtpVerdict::Ready)
    }

    /// Returns the reason why the storage is not ready, and the row that the reason refers to, if any.
    #[must_use]
    pub fn reason(&self) -> (OtpReason, u32) {
        let status = self.registers.status().read();
        (status.reason().unwrap_or(OtpReason::Upset), u32::from(status.row()))
    }

    /// Returns the lifecycle state as of the last reset.
    #[must_use]
    pub fn lifecycle(&self) -> OtpLifecycle {
        self.registers.status().read().lifecycle().unwrap_or(OtpLifecycle::Invalid)
    }

    /// Returns the floor of security versions.
    #[must_use]
    pub fn floor(&self) -> u8 {
        self.registers.status().read().floor()
    }

    /// Returns true if a root key was revoked.
    #[must_use]
    pub fn is_revoked(&self, slot: OtpSlot) -> bool {
        self.registers.locks().read().revoked() >> slot as u32 & 1 != 0
    }

    /// Returns the number of faults in cells and in the shadow that were corrected since reset, up to 255.
    #[must_use]
    pub fn corrected(&self) -> u32 {
        u32::from(self.registers.corrected().read().count())
    }

    /// Reads the 32 bytes of a field; for a root key these are its digest.
    ///
    /// # Errors
    /// An error if the field cannot be read.
    pub fn read(&self, field: Field) -> Result<[u8; FIELD_BYTES], Error> {
        self.check_open(field)?;
        let mut bytes = [0; FIELD_BYTES];
        for (chunk, row) in bytes.chunks_exact_mut(4).zip(field.first_row()..) {
            chunk.copy_from_slice(&self.word(row)?.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Reads the type of a root key: the algorithm in bits 31 to 24, and its parameters in the lower bits.
    ///
    /// # Errors
    /// An error if the field cannot be read.
    pub fn key_type(&self, slot: OtpSlot) -> Result<u32, Error> {
        self.check_open(Field::RootKey(slot))?;
        self.word(ROW_TYPES + slot as u8)
    }

    /// Hides a field from every reader until reset.
    pub fn hide(&mut self, field: Field) {
        self.registers.hide().write(OtpHide::RESET.with_hidden(1 << field.number()));
    }

    /// Closes a field to burns until reset.
    pub fn close(&mut self, field: Field) {
        self.registers.latch().write(OtpLatch::RESET.with_closed(1 << field.number()));
    }

    /// Closes a group of flags to burns until reset.
    pub fn close_flags(&mut self, flags: Flags) {
        self.registers.latch().write(OtpLatch::RESET.with_closed(1 << flags as u8));
    }

    /// Sends the device secret or a key to an engine, and waits until the engine has taken it.
    ///
    /// # Errors
    /// An error if the field is closed or is not a key.
    pub fn send(&mut self, field: Field, engine: u8) -> Result<(), Error> {
        let key = match field {
            Field::Secret => 0,
            Field::Key(slot) => 1 + slot as u8,
            Field::RootKey(_) | Field::Board => return Err(Error::Closed),
        };
        self.check_open(field)?;
        self.registers.send().write(OtpSend::RESET.with_key(key).with_to(engine));
        for _ in 0..PATIENCE {
            if !self.registers.progress().read().sending() {
                return Ok(());
            }
        }
        Err(Error::Fault)
    }

    /// Burns a field; for a root key this is its digest.
    ///
    /// # Errors
    /// An error if the hardware refuses a word. The words before it are burned, and the same value may be burned again.
    pub fn burn(&mut self, field: Field, bytes: &[u8; FIELD_BYTES]) -> Result<(), Error> {
        for (chunk, row) in bytes.as_chunks::<4>().0.iter().zip(field.first_row()..) {
            self.burn_row(field.number(), row, u32::from_le_bytes(*chunk))?;
        }
        Ok(())
    }

    /// Burns the type of a root key.
    ///
    /// # Errors
    /// An error if the hardware refuses the burn.
    pub fn burn_key_type(&mut self, slot: OtpSlot, key_type: u32) -> Result<(), Error> {
        self.burn_row(slot as u8, ROW_TYPES + slot as u8, key_type)
    }

    /// Advances the lifecycle by one step, which takes effect at the next reset.
    ///
    /// # Errors
    /// An error if the step is not the next one or is locked.
    pub fn step(&mut self, step: LifecycleStep) -> Result<(), Error> {
        self.burn_row(Flags::Lifecycle as u8, ROW_LIFECYCLE, step as u32)
    }

    /// Raises the floor to a security version, one step at a time. A power cut leaves an intermediate floor.
    ///
    /// # Errors
    /// An error if the hardware refuses a step, or if the version exceeds the maximum floor.
    pub fn raise_floor(&mut self, version: u8) -> Result<(), Error> {
        if version > MAX_FLOOR {
            return Err(Error::Burn(OtpOutcome::Order));
        }
        // The number of iterations is limited to the number of steps, whatever the hardware returns.
        for _ in 0..MAX_FLOOR {
            let step = self.floor();
            if step >= version {
                return Ok(());
            }
            self.burn_row(Flags::Floor as u8, ROW_FLOOR + step / 8, u32::from(step % 8))?;
        }
        if self.floor() >= version { Ok(()) } else { Err(Error::Fault) }
    }

    /// Revokes a root key.
    ///
    /// # Errors
    /// An error if the hardware refuses the burn.
    pub fn revoke(&mut self, slot: OtpSlot) -> Result<(), Error> {
        self.burn_row(Flags::Revocation as u8, ROW_REVOKED, slot as u32)
    }

    /// Locks a field permanently.
    ///
    /// # Errors
    /// An error if the hardware refuses the burn.
    pub fn lock(&mut self, field: Field) -> Result<(), Error> {
        self.lock_number(field.number())
    }

    /// Locks a group of flags permanently.
    ///
    /// # Errors
    /// An error if the hardware refuses the burn.
    pub fn lock_flags(&mut self, flags: Flags) -> Result<(), Error> {
        self.lock_number(flags as u8)
    }

    fn lock_number(&mut self, number: u8) -> Result<(), Error> {
        self.burn_row(Flags::Locks as u8, ROW_LOCKS + number / 8, u32::from(number % 8))
    }

    /// Checks that a field is open, because a read of a closed field would cause a bus error.
    fn check_open(&self, field: Field) -> Result<(), Error> {
        let fields = self.registers.fields().read();
        let bit = 1 << field.number();
        let is_secret = matches!(field, Field::Secret | Field::Key(_));
        let is_open =
            !is_secret || (self.is_ready() && self.lifecycle() == OtpLifecycle::Production);
        if fields.good() & bit == 0 || fields.hidden() & bit != 0 || !is_open {
            return Err(Error::Closed);
        }
        Ok(())
    }

    fn word(&self, row: u8) -> Result<u32, Error> {
        let at = usize::from(row);
        Ok(self.registers.rows().get(at).ok_or(Error::Fault)?.read())
    }

    /// Burns a row, and waits until it was read back.
    fn burn_row(&mut self, number: u8, row: u8, data: u32) -> Result<(), Error> {
        if self.reason().0 == OtpReason::Upset || !self.registers.progress().read().idle() {
            return Err(Error::Fault);
        }
        // The hardware refuses these cases with a bus error, so they are checked before. It reports all others in
        // `progress`.
        let is_locked = self.registers.locks().read().locked() >> number & 1 != 0;
        if is_locked || self.registers.fields().read().hidden() >> number & 1 != 0 {
            return Err(Error::Burn(OtpOutcome::Locked));
        }
        let is_secret = (Field::Secret.number()..Flags::Lifecycle as u8).contains(&number);
        let may = match self.lifecycle() {
            OtpLifecycle::Test | OtpLifecycle::Development => true,
            OtpLifecycle::Production => !is_secret,
            _ => false,
        };
        if !may && number != Flags::Lifecycle as u8 {
            return Err(Error::Burn(OtpOutcome::Lifecycle));
        }
        self.registers.data().write(data);
        self.registers.burn().write(OtpBurn::RESET.with_row(row).with_key(BURN_KEY));
        for _ in 0..PATIENCE {
            let progress = self.registers.progress().read();
            if progress.idle() {
                return match progress.code() {
                    Some(OtpOutcome::Done) => Ok(()),
                    Some(outcome) => Err(Error::Burn(outcome)),
                    None => Err(Error::Fault),
                };
            }
        }
        Err(Error::Fault)
    }
}

#[cfg(test)]
mod tests;
