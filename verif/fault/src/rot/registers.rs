//! Addresses of the root of trust's registers, from the files that are generated from the descriptions of board and
//! engines.

mod places {
    #![allow(dead_code, reason = "the programs of the root of trust need all of it")]

    include!("../../../../device/boards/hartlock-soc/generated/root-of-trust.rs");
}

pub use places::{BOOT_SEQUENCER, DMA, HOST_MEMORY, MAILBOX, ROM, SCRATCHPAD, SHA2, SHA3};

const SHA2_HEADER: &str = include_str!("../../../../hw/ip/sha2/data/sha2.h");
const SEQUENCER_HEADER: &str =
    include_str!("../../../../hw/ip/boot_sequencer/data/boot_sequencer.h");
const SHA3_HEADER: &str = include_str!("../../../../hw/ip/sha3/data/sha3.h");
const DMA_HEADER: &str = include_str!("../../../../hw/ip/dma/data/dma.h");
const MAILBOX_HEADER: &str = include_str!("../../../../hw/ip/mailbox/data/mailbox.h");

/// Registers and fields of the SHA-3 engine.
pub mod sha3 {
    use super::{SHA3_HEADER as HEADER, constant};

    pub const ID: u32 = constant(HEADER, "SHA3_ID_OFFSET");
    pub const CONTROL: u32 = constant(HEADER, "SHA3_CONTROL_OFFSET");
    pub const MODE: u32 = constant(HEADER, "SHA3_CONTROL_MODE_MASK");
    pub const SHA3_256: u32 = constant(HEADER, "SHA3_MODE_SHA3_256");
    pub const SHA3_384: u32 = constant(HEADER, "SHA3_MODE_SHA3_384");
    pub const SHA3_512: u32 = constant(HEADER, "SHA3_MODE_SHA3_512");
    pub const COMMAND: u32 = constant(HEADER, "SHA3_COMMAND_OFFSET");
    pub const START: u32 = constant(HEADER, "SHA3_COMMAND_START_MASK");
    pub const STATUS: u32 = constant(HEADER, "SHA3_STATUS_OFFSET");
    pub const IDLE: u32 = constant(HEADER, "SHA3_STATUS_IDLE_MASK");
    pub const DIGEST_VALID: u32 = constant(HEADER, "SHA3_STATUS_DIGEST_VALID_MASK");
    pub const ERROR: u32 = constant(HEADER, "SHA3_ERROR_OFFSET");
    pub const INTERRUPT: u32 = constant(HEADER, "SHA3_INTERRUPT_OFFSET");
    pub const INTERRUPT_ENABLE: u32 = constant(HEADER, "SHA3_INTERRUPT_ENABLE_OFFSET");
    pub const FINAL_SIZE: u32 = constant(HEADER, "SHA3_FINAL_SIZE_OFFSET");
    pub const SIZE: u32 = constant(HEADER, "SHA3_FINAL_SIZE_SIZE_MASK");
    pub const LAST: u32 = constant(HEADER, "SHA3_FINAL_SIZE_LAST_MASK");
    pub const DATA: u32 = constant(HEADER, "SHA3_DATA_OFFSET");
    /// Register of the upper half of a word; writing it pushes both halves.
    pub const DATA_HIGH: u32 = DATA + 4;
    pub const DIGEST: u32 = constant(HEADER, "SHA3_DIGEST_OFFSET");
}

/// Registers and fields of the SHA-2 engine.
pub mod sha2 {
    use super::{SHA2_HEADER as HEADER, constant};

    pub const ID: u32 = constant(HEADER, "SHA2_ID_OFFSET");
    pub const CONTROL: u32 = constant(HEADER, "SHA2_CONTROL_OFFSET");
    pub const MODE: u32 = constant(HEADER, "SHA2_CONTROL_MODE_MASK");
    pub const MESSAGE_SWAP: u32 = constant(HEADER, "SHA2_CONTROL_MESSAGE_SWAP_MASK");
    pub const DIGEST_SWAP: u32 = constant(HEADER, "SHA2_CONTROL_DIGEST_SWAP_MASK");
    pub const STREAM: u32 = constant(HEADER, "SHA2_CONTROL_STREAM_MASK");
    pub const COMMAND: u32 = constant(HEADER, "SHA2_COMMAND_OFFSET");
    pub const START: u32 = constant(HEADER, "SHA2_COMMAND_START_MASK");
    pub const PROCESS: u32 = constant(HEADER, "SHA2_COMMAND_PROCESS_MASK");
    pub const STOP: u32 = constant(HEADER, "SHA2_COMMAND_STOP_MASK");
    pub const RESUME: u32 = constant(HEADER, "SHA2_COMMAND_RESUME_MASK");
    pub const ABORT: u32 = constant(HEADER, "SHA2_COMMAND_ABORT_MASK");
    pub const WIPE: u32 = constant(HEADER, "SHA2_COMMAND_WIPE_MASK");
    pub const STATUS: u32 = constant(HEADER, "SHA2_STATUS_OFFSET");
    pub const IDLE: u32 = constant(HEADER, "SHA2_STATUS_IDLE_MASK");
    pub const FIFO_EMPTY: u32 = constant(HEADER, "SHA2_STATUS_FIFO_EMPTY_MASK");
    pub const DIGEST_VALID: u32 = constant(HEADER, "SHA2_STATUS_DIGEST_VALID_MASK");
    pub const STATE_VALID: u32 = constant(HEADER, "SHA2_STATUS_STATE_VALID_MASK");
    pub const ERROR: u32 = constant(HEADER, "SHA2_ERROR_OFFSET");
    pub const BAD_COMMAND: u32 = constant(HEADER, "SHA2_ERROR_COMMAND_MASK");
    pub const BAD_STOP: u32 = constant(HEADER, "SHA2_ERROR_STOP_MASK");
    pub const BAD_PUSH: u32 = constant(HEADER, "SHA2_ERROR_PUSH_MASK");
    pub const BAD_WRITE: u32 = constant(HEADER, "SHA2_ERROR_WRITE_MASK");
    pub const INTERRUPT: u32 = constant(HEADER, "SHA2_INTERRUPT_OFFSET");
    pub const INTERRUPT_ENABLE: u32 = constant(HEADER, "SHA2_INTERRUPT_ENABLE_OFFSET");
    pub const LENGTH_LOW: u32 = constant(HEADER, "SHA2_MESSAGE_LENGTH_LOW_OFFSET");
    pub const LENGTH_HIGH: u32 = constant(HEADER, "SHA2_MESSAGE_LENGTH_HIGH_OFFSET");
    pub const KEY: u32 = constant(HEADER, "SHA2_KEY_OFFSET");
    pub const KEY_END: u32 = KEY + 4 * constant(HEADER, "SHA2_KEY_COUNT");
    pub const DIGEST: u32 = constant(HEADER, "SHA2_DIGEST_OFFSET");
    pub const DIGEST_END: u32 = DIGEST + 4 * constant(HEADER, "SHA2_DIGEST_COUNT");
    pub const FIFO: u32 = constant(HEADER, "SHA2_FIFO_OFFSET");
    pub const FIFO_END: u32 = FIFO + 4 * constant(HEADER, "SHA2_FIFO_COUNT");
}

/// Registers and fields of the DMA engine.
pub mod dma {
    use super::{DMA_HEADER as HEADER, constant};

    pub const ID: u32 = constant(HEADER, "DMA_ID_OFFSET");
    pub const PARAMETERS: u32 = constant(HEADER, "DMA_PARAMETERS_OFFSET");
    pub const CONTROL: u32 = constant(HEADER, "DMA_CONTROL_OFFSET");
    pub const SINKS: u32 = constant(HEADER, "DMA_CONTROL_SINKS_MASK");
    pub const WRITE: u32 = constant(HEADER, "DMA_CONTROL_WRITE_MASK");
    pub const LIST: u32 = constant(HEADER, "DMA_LIST_OFFSET");
    pub const LIST_OFFSET: u32 = constant(HEADER, "DMA_LIST_OFFSET_MASK");
    pub const COUNT: u32 = constant(HEADER, "DMA_COUNT_OFFSET");
    pub const DESCRIPTORS: u32 = constant(HEADER, "DMA_COUNT_DESCRIPTORS_MASK");
    pub const COMMAND: u32 = constant(HEADER, "DMA_COMMAND_OFFSET");
    pub const START: u32 = constant(HEADER, "DMA_COMMAND_START_MASK");
    pub const ABORT: u32 = constant(HEADER, "DMA_COMMAND_ABORT_MASK");
    pub const STATUS: u32 = constant(HEADER, "DMA_STATUS_OFFSET");
    pub const IDLE: u32 = constant(HEADER, "DMA_STATUS_IDLE_MASK");
    pub const ERROR: u32 = constant(HEADER, "DMA_ERROR_OFFSET");
    pub const INDEX_SHIFT: u32 = constant(HEADER, "DMA_ERROR_INDEX_SHIFT");
    pub const INTERRUPT: u32 = constant(HEADER, "DMA_INTERRUPT_OFFSET");
    pub const DONE: u32 = constant(HEADER, "DMA_INTERRUPT_DONE_MASK");
    pub const FAILED: u32 = constant(HEADER, "DMA_INTERRUPT_ERROR_MASK");
    pub const INTERRUPT_ENABLE: u32 = constant(HEADER, "DMA_INTERRUPT_ENABLE_OFFSET");
    pub const LOCK: u32 = constant(HEADER, "DMA_LOCK_OFFSET");
    pub const SOURCE_FIRST: u32 = constant(HEADER, "DMA_SOURCE_FIRST_OFFSET");
    pub const SOURCE_LAST: u32 = constant(HEADER, "DMA_SOURCE_LAST_OFFSET");
    pub const DESTINATION_FIRST: u32 = constant(HEADER, "DMA_DESTINATION_FIRST_OFFSET");
    pub const DESTINATION_LAST: u32 = constant(HEADER, "DMA_DESTINATION_LAST_OFFSET");
}

/// Registers of the boot sequencer.
pub mod boot_sequencer {
    use super::{SEQUENCER_HEADER as HEADER, constant};

    pub const DECISION: u32 = constant(HEADER, "BOOT_SEQUENCER_DECISION_OFFSET");
    pub const REASON: u32 = constant(HEADER, "BOOT_SEQUENCER_REASON_OFFSET");
    pub const STATUS: u32 = constant(HEADER, "BOOT_SEQUENCER_STATUS_OFFSET");
}

/// Registers of the mailbox on the side of the root of trust.
pub mod mailbox {
    use super::{MAILBOX_HEADER as HEADER, constant};

    pub const SIZE: u32 = constant(HEADER, "MAILBOX_ROT_SIZE");
    pub const STATUS: u32 = constant(HEADER, "MAILBOX_ROT_STATUS_OFFSET");
    pub const CONTROL: u32 = constant(HEADER, "MAILBOX_ROT_CONTROL_OFFSET");
    pub const OPEN: u32 = constant(HEADER, "MAILBOX_ROT_CONTROL_OPEN_MASK");
}

/// Returns the number that a C header defines by this name. A missing name is a compile error.
const fn constant(header: &str, name: &str) -> u32 {
    let (text, name) = (header.as_bytes(), name.as_bytes());
    let mut at = 0;
    while at + name.len() < text.len() {
        if text[at] == b' ' && text[at + 1 + name.len()] == b' ' && is_at(text, at + 1, name) {
            return number(text, at + 2 + name.len());
        }
        at += 1;
    }
    panic!("no such constant")
}

const fn is_at(text: &[u8], at: usize, name: &[u8]) -> bool {
    let mut index = 0;
    while index < name.len() {
        if text[at + index] != name[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Parses a decimal number, or a hexadecimal one after `0x`, up to the end of the line.
const fn number(text: &[u8], at: usize) -> u32 {
    let is_hexadecimal = text[at + 1] == b'x';
    let (mut at, base) = if is_hexadecimal { (at + 2, 16) } else { (at, 10) };
    let mut value = 0;
    while text[at] != b'\n' {
        let digit = match (text[at] as char).to_digit(base) {
            Some(digit) => digit,
            None => panic!("no number"),
        };
        value = value * base + digit;
        at += 1;
    }
    value
}
