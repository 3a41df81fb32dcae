//! Job 3 on the board: known-answer cases. The format of the console lines is that of `hartlock_kat::pack`.

use hartlock_kat::pack::{parse_plan, words};
use hartlock_kat::{Engine, Request, answer};
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{PrivilegeMode, choose, choose_only};

/// Answers every case. Returns `false` if the pack is malformed.
pub fn run(count: u32, body: &[u8]) -> bool {
    let Some((forced, mut rest)) = parse_plan(body) else { return false };
    let choice = match forced {
        None => choose(PrivilegeMode::Machine),
        Some(tier) => choose_only(PrivilegeMode::Machine, tier),
    };
    let engine = Engine { forced, ..Engine::with(choice.kernels) };
    for index in 0..count {
        let Some((request, after)) = Request::parse(rest) else { return false };
        rest = after;
        let answer = answer(&engine, &request, &mut print_output);
        let (word, reason) = words(answer);
        let space = if reason.is_empty() { "" } else { " " };
        let index = Number::decimal(index.into());
        console::line(&["kat ", index.as_str(), " ", word, space, reason]);
    }
    rest.is_empty()
}

fn print_output(bytes: &[u8]) {
    console::print("out ");
    for byte in bytes {
        console::print(if *byte < 16 { "0" } else { "" });
        console::print(Number::hex((*byte).into()).as_str());
    }
    console::print("\n");
}
