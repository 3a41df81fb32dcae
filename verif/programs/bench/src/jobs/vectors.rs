//! Job 1 on the board. It prints one line for each vector, `vector <index> accepted` or `vector
//! <index> E<code>`.

use hartlock_jobs::vectors::Vector;
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::{console, memory};

/// Buffer for signed region and signature area, between program and pack.
const METADATA: Region = Region::new(map::RAM.start + (8 << 20), 512 << 10);

/// Verifies `count` vectors. Returns `false` if the pack ends too early.
pub fn run(count: u32, mut body: &[u8]) -> bool {
    // SAFETY: this is memory of this board outside the program and the pack, of which this is the
    // only user.
    let metadata = unsafe { memory::bytes_mut(METADATA) };
    for index in 0..count {
        let Some((vector, rest)) = Vector::parse(body) else { return false };
        body = rest;
        let index = console::Number::decimal(index.into());
        match vector.judge(metadata) {
            Ok(()) => console::line(&["vector ", index.as_str(), " accepted"]),
            Err(reason) => {
                let code = console::Number::decimal(reason as u64);
                // A code has four digits: E0301 is number 301.
                let zero = if reason as u16 >= 1000 { "" } else { "0" };
                console::line(&["vector ", index.as_str(), " E", zero, code.as_str()]);
            }
        }
    }
    body.is_empty()
}
