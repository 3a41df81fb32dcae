//! Both sides of the mailbox between host and root of trust (`hw/ip/mailbox/doc/README.md`).
//!
//! It is polled or used with interrupts: an interrupt handler would make the same two calls that poll. No
//! function here waits, so the caller sets the deadline.
//!
//! A request is copied out of the hardware once, as a whole ([`RootSide::take`]), and is checked and used in
//! that copy. The hardware keeps the host from changing it meanwhile; [`request`] checks whether its
//! addresses may be used.

pub mod key_engines;
pub mod keys;
pub mod request;

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::mailbox::State;
use hartlock_regs::mailbox::host::{Command as HostCommand, Host, Interrupt, Operation};
use hartlock_regs::mailbox::rot::{Command as RootCommand, Control, Outcome, Rot};

/// Words of a result.
pub const RESULT_WORDS: usize = 16;

/// What a host requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Number of the operation.
    pub operation: u16,
    /// Its flags.
    pub flags: u16,
    /// Number of the request: the answer comes with it.
    pub id: u32,
    /// Address of the input.
    pub source: u64,
    /// Where the output goes.
    pub destination: u64,
    /// Bytes of the input.
    pub length: u32,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// 0 is success.
    pub status: u8,
    /// Number of the error of a refusal.
    pub reason: u16,
    /// The result, as far as it fits.
    pub result: [u32; RESULT_WORDS],
}

/// Why the mailbox did not carry out a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The root of trust takes no requests.
    Closed,
    /// A request is not answered yet, or its answer not read.
    Busy,
    /// The request was dropped: there will be no answer. The host may send it again.
    Forgotten,
    /// The answer is to another request than ours. It was dropped.
    Foreign,
    /// The hardware detected an illegal state and is stopped until reset.
    Fault,
}

/// The host's side.
pub struct HostSide {
    registers: Host,
    /// Number of the request that is under way.
    asked: Option<u32>,
}

impl HostSide {
    /// The mailbox at this address, as the host sees it.
    ///
    /// # Safety
    /// `base` is the address of the host's registers, and no other code uses them while this value lives.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> HostSide {
        // SAFETY: the caller's promise is that of a block: registers are there, and are ours.
        HostSide { registers: unsafe { Host::new(base) }, asked: None }
    }

    /// Chooses whether answers raise the interrupt.
    pub fn set_interrupt(&mut self, is_enabled: bool) {
        self.registers.interrupt().write(Interrupt::RESET.with_enable(is_enabled));
    }

    /// Hands a request over. Its input has to stay where it is until the answer comes.
    ///
    /// # Errors
    /// If there is one already, or the root of trust takes none. Nothing was handed over then.
    pub fn ask(&mut self, request: &Request) -> Result<(), Error> {
        match self.registers.status().read().state() {
            Some(State::Ready) => {}
            Some(State::Closed) => return Err(Error::Closed),
            Some(State::Busy | State::Answered) => return Err(Error::Busy),
            Some(State::Fault) | None => return Err(Error::Fault),
        }
        let registers = &self.registers;
        let operation = Operation::RESET.with_operation(request.operation);
        registers.operation().write(operation.with_flags(request.flags));
        registers.id().write(request.id);
        registers.source_low().write(low(request.source));
        registers.source_high().write(high(request.source));
        registers.destination_low().write(low(request.destination));
        registers.destination_high().write(high(request.destination));
        registers.length().write(request.length);
        // Orders writes to the input before the request: the root of trust reads it afterwards.
        fence(Ordering::SeqCst);
        registers.command().write(HostCommand::RESET.with_ring(true));
        // It may have been closed in the meantime.
        if registers.status().read().refused() {
            return Err(Error::Closed);
        }
        self.asked = Some(request.id);
        Ok(())
    }

    /// The answer, once it is there. It is read once, and the mailbox is ready for the next request.
    ///
    /// # Errors
    /// If there will be none.
    pub fn poll(&mut self) -> Result<Option<Answer>, Error> {
        let status = self.registers.status().read();
        let state = status.state();
        if status.emptied() {
            return self.dismiss(Error::Forgotten);
        }
        match state {
            Some(State::Busy | State::Ready | State::Closed) => return Ok(None),
            Some(State::Answered) => {}
            Some(State::Fault) | None => return Err(Error::Fault),
        }
        let outcome = self.registers.outcome().read();
        let mut answer =
            Answer { status: outcome.status(), reason: outcome.reason(), ..Answer::default() };
        for (word, register) in answer.result.iter_mut().zip(self.registers.result().iter()) {
            *word = register.read();
        }
        let id = self.registers.answer_id().read();
        // A wipe in the middle of it leaves zeros, which are not a valid answer.
        if self.registers.status().read().state() != Some(State::Answered) {
            return self.dismiss(Error::Forgotten);
        }
        // Whatever the root of trust wrote to memory is read after this.
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
        self.registers.command().write(HostCommand::RESET.with_acknowledge(true));
    }
}

/// The side of the root of trust.
pub struct RootSide {
    registers: Rot,
}

impl RootSide {
    /// The mailbox at this address, as the root of trust sees it.
    ///
    /// # Safety
    /// `base` is the address of the root of trust's registers; no other code uses them while this value lives.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> RootSide {
        // SAFETY: the caller's promise is that of a block: registers are there, and are ours.
        RootSide { registers: unsafe { Rot::new(base) } }
    }

    /// Accepts requests from now on. A wipe and a change of lifecycle close the mailbox again.
    pub fn open(&mut self, with_interrupt: bool) {
        let control = Control::RESET.with_open(true).with_interrupt_enable(with_interrupt);
        self.registers.control().write(control);
    }

    /// Accepts no more requests. A pending one stays and can be answered.
    pub fn close(&mut self) {
        self.registers.control().write(Control::RESET);
    }

    /// Discards request and answer. The host learns that there will be no answer.
    pub fn discard(&mut self) {
        self.registers.command().write(RootCommand::RESET.with_discard(true));
    }

    /// A copy of the request, if there is one. It stays until it is answered or discarded.
    ///
    /// # Errors
    /// If the hardware stopped.
    pub fn take(&mut self) -> Result<Option<Request>, Error> {
        // Read before and after: if a request arrives during the copy, its first words are read as zeros.
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
        // A wipe in the middle of it leaves half of a request, which is not valid.
        if !self.is_busy()? {
            return Ok(None);
        }
        fence(Ordering::SeqCst);
        Ok(Some(request))
    }

    /// Hands the answer over. Output in memory has to be written before.
    ///
    /// # Errors
    /// If the request is not there any more. A wipe closes the mailbox, so no other one can have
    /// taken its place.
    pub fn answer(&mut self, answer: &Answer) -> Result<(), Error> {
        if !self.is_busy()? {
            return Err(Error::Forgotten);
        }
        let registers = &self.registers;
        let outcome = Outcome::RESET.with_status(answer.status).with_reason(answer.reason);
        registers.outcome().write(outcome);
        for (register, word) in registers.result().iter().zip(answer.result) {
            register.write(word);
        }
        fence(Ordering::SeqCst);
        registers.command().write(RootCommand::RESET.with_respond(true));
        if registers.status().read().refused() {
            return Err(Error::Forgotten);
        }
        Ok(())
    }

    fn is_busy(&self) -> Result<bool, Error> {
        match self.registers.status().read().state() {
            Some(state @ (State::Closed | State::Ready | State::Busy | State::Answered)) => {
                Ok(state == State::Busy)
            }
            Some(State::Fault) | None => Err(Error::Fault),
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
