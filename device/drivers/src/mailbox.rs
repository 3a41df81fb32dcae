//! Both sides of the mailbox between host and root of trust (`hw/ip/mailbox/doc/README.md`).
//!
//! The mailbox can be polled or used with interrupts; an interrupt handler makes the same two calls as polling. No
//! function of this module waits, so the caller sets the time limit.
//!
//! A request is copied out of the hardware once, as a whole ([`RootSide::take`]); the copy is checked and used. The
//! hardware prevents the host from changing the request in the meantime. [`request`] checks whether the addresses in a
//! request may be used.

pub mod request;

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::mailbox::MailboxState;
use hartlock_regs::mailbox::host::{
    MailboxHostCommand, MailboxHostInterrupt, MailboxHostOperation, MailboxHostRegisters,
};
use hartlock_regs::mailbox::rot::{
    MailboxRotCommand, MailboxRotControl, MailboxRotOutcome, MailboxRotRegisters,
};

/// Number of 32-bit words in a result.
pub const RESULT_WORDS: usize = 16;

/// A request of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Number of the operation.
    pub operation: u16,
    /// Flags of the operation.
    pub flags: u16,
    /// Number of the request, which the answer repeats.
    pub id: u32,
    /// Address of the input.
    pub source: u64,
    /// Address of the output.
    pub destination: u64,
    /// Length of the input in bytes.
    pub length: u32,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Status, which is 0 for success.
    pub status: u8,
    /// Number of the error if the request was refused.
    pub reason: u16,
    /// First words of the result; a longer result is in memory.
    pub result: [u32; RESULT_WORDS],
}

/// The reason why a call was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The root of trust does not accept requests.
    Closed,
    /// A request was not answered yet, or its answer was not read.
    Busy,
    /// The request was dropped and will not be answered. The host may send it again.
    Forgotten,
    /// The answer belongs to another request than the current one. It was dropped.
    Foreign,
    /// The hardware detected an illegal state and is stopped until reset.
    Fault,
}

/// The mailbox as the host uses it.
pub struct HostSide {
    registers: MailboxHostRegisters,
    /// Number of the request that is waiting for an answer.
    asked: Option<u32>,
}

impl HostSide {
    /// Creates the driver of the mailbox at this address, on the host's side.
    ///
    /// # Safety
    /// `base` is the address of the host's registers, and no other code uses them while this value exists.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> HostSide {
        // SAFETY: the caller guarantees what the register block requires: the registers exist, and only this driver
        // uses them.
        HostSide { registers: unsafe { MailboxHostRegisters::new(base) }, asked: None }
    }

    /// Selects whether an answer raises the interrupt.
    pub fn set_interrupt(&mut self, is_enabled: bool) {
        self.registers.interrupt().write(MailboxHostInterrupt::RESET.with_enable(is_enabled));
    }

    /// Sends a request. Its input must not be moved or changed until the answer arrives.
    ///
    /// # Errors
    /// An error if there is a request already, or if the root of trust does not accept any. Then nothing was sent.
    pub fn ask(&mut self, request: &Request) -> Result<(), Error> {
        match self.registers.status().read().state() {
            Some(MailboxState::Ready) => {}
            Some(MailboxState::Closed) => return Err(Error::Closed),
            Some(MailboxState::Busy | MailboxState::Answered) => return Err(Error::Busy),
            Some(MailboxState::Fault) | None => return Err(Error::Fault),
        }
        let registers = &self.registers;
        let operation = MailboxHostOperation::RESET.with_operation(request.operation);
        registers.operation().write(operation.with_flags(request.flags));
        registers.id().write(request.id);
        registers.source_low().write(low(request.source));
        registers.source_high().write(high(request.source));
        registers.destination_low().write(low(request.destination));
        registers.destination_high().write(high(request.destination));
        registers.length().write(request.length);
        // The fence orders writes to the input before the request, because the root of trust reads the input
        // afterwards.
        fence(Ordering::SeqCst);
        registers.command().write(MailboxHostCommand::RESET.with_ring(true));
        // The mailbox may have been closed in the meantime.
        if registers.status().read().refused() {
            return Err(Error::Closed);
        }
        self.asked = Some(request.id);
        Ok(())
    }

    /// Returns the answer if it has arrived. The answer is read once; then the mailbox is ready for the next request.
    ///
    /// # Errors
    /// An error if there will be no answer.
    pub fn poll(&mut self) -> Result<Option<Answer>, Error> {
        let status = self.registers.status().read();
        let state = status.state();
        if status.emptied() {
            return self.dismiss(Error::Forgotten);
        }
        match state {
            Some(MailboxState::Busy | MailboxState::Ready | MailboxState::Closed) => {
                return Ok(None);
            }
            Some(MailboxState::Answered) => {}
            Some(MailboxState::Fault) | None => return Err(Error::Fault),
        }
        let outcome = self.registers.outcome().read();
        let mut answer =
            Answer { status: outcome.status(), reason: outcome.reason(), ..Answer::default() };
        for (word, register) in answer.result.iter_mut().zip(self.registers.result().iter()) {
            *word = register.read();
        }
        let id = self.registers.answer_id().read();
        // If the mailbox is wiped during the reads, they return zeros, which are not a valid answer.
        if self.registers.status().read().state() != Some(MailboxState::Answered) {
            return self.dismiss(Error::Forgotten);
        }
        // The fence orders these reads before reads of the output in memory.
        fence(Ordering::SeqCst);
        if self.asked != Some(id) {
            return self.dismiss(Error::Foreign);
        }
        self.acknowledge();
        Ok(Some(answer))
    }

    fn dismiss(&mut self, error: Error) -> Result<Option<Answer>, Error> {
        self.acknowledge();
        Err(error)
    }

    fn acknowledge(&mut self) {
        self.asked = None;
        self.registers.command().write(MailboxHostCommand::RESET.with_acknowledge(true));
    }
}

/// The mailbox as the root of trust uses it.
pub struct RootSide {
    registers: MailboxRotRegisters,
}

impl RootSide {
    /// Creates the driver of the mailbox at this address, on the side of the root of trust.
    ///
    /// # Safety
    /// `base` is the address of the root of trust's registers, and no other code uses them while this value exists.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> RootSide {
        // SAFETY: the caller guarantees what the register block requires: the registers exist, and only this driver
        // uses them.
        RootSide { registers: unsafe { MailboxRotRegisters::new(base) } }
    }

    /// Accepts requests from now on. A wipe or a change of lifecycle closes the mailbox again.
    pub fn open(&mut self, with_interrupt: bool) {
        let control =
            MailboxRotControl::RESET.with_open(true).with_interrupt_enable(with_interrupt);
        self.registers.control().write(control);
    }

    /// Accepts no further requests. A pending request remains and can be answered.
    pub fn close(&mut self) {
        self.registers.control().write(MailboxRotControl::RESET);
    }

    /// Discards request and answer. The host is notified that there will be no answer.
    pub fn discard(&mut self) {
        self.registers.command().write(MailboxRotCommand::RESET.with_discard(true));
    }

    /// Returns a copy of the request, if there is one. The request remains until it is answered or discarded.
    ///
    /// # Errors
    /// An error if the hardware has stopped.
    pub fn take(&mut self) -> Result<Option<Request>, Error> {
        // The state is read before and after the copy: if a request arrives during the copy, its first words are read
        // as zeros.
        if !self.is_busy()? {
            return Ok(None);
        }
        let registers = &self.registers;
        let operation = registers.operation().read();
        let request = Request {
            operation: operation.operation(),
            flags: operation.flags(),
            id: registers.id().read(),
            source: join(registers.source_low().read(), registers.source_high().read()),
            destination: join(
                registers.destination_low().read(),
                registers.destination_high().read(),
            ),
            length: registers.length().read(),
        };
        // If the mailbox is wiped during the reads, the copy is incomplete and not valid.
        if !self.is_busy()? {
            return Ok(None);
        }
        fence(Ordering::SeqCst);
        Ok(Some(request))
    }

    /// Sends the answer. Output in memory has to be written before.
    ///
    /// # Errors
    /// An error if the request does not exist any more. A wipe closes the mailbox, so no other request can have
    /// replaced it.
    pub fn answer(&mut self, answer: &Answer) -> Result<(), Error> {
        if !self.is_busy()? {
            return Err(Error::Forgotten);
        }
        let registers = &self.registers;
        let outcome =
            MailboxRotOutcome::RESET.with_status(answer.status).with_reason(answer.reason);
        registers.outcome().write(outcome);
        for (register, word) in registers.result().iter().zip(answer.result) {
            register.write(word);
        }
        fence(Ordering::SeqCst);
        registers.command().write(MailboxRotCommand::RESET.with_respond(true));
        if registers.status().read().refused() {
            return Err(Error::Forgotten);
        }
        Ok(())
    }

    fn is_busy(&self) -> Result<bool, Error> {
        match self.registers.status().read().state() {
            Some(
                state @ (MailboxState::Closed
                | MailboxState::Ready
                | MailboxState::Busy
                | MailboxState::Answered),
            ) => Ok(state == MailboxState::Busy),
            Some(MailboxState::Fault) | None => Err(Error::Fault),
        }
    }
}

const fn low(address: u64) -> u32 {
    (address & 0xffff_ffff) as u32
}

const fn high(address: u64) -> u32 {
    (address >> 32) as u32
}

const fn join(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

#[cfg(test)]
mod tests;
