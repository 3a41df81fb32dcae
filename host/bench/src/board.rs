//! The program for a board: probes, known answers, measurements and the file.

mod arguments;
mod kernels;
mod measure;
mod peer;
mod probes;
mod report;
mod system;

use hartlock_bench::SCHEMA;

use arguments::Arguments;
use report::Report;
use system::{Output, Stack};

const HELP: &str = "\
Measures the hash and cipher kernels of Hartlock on this board, and OpenSSL's where it is installed.

Usage: hartlock-bench [--quick] [--cpu NUMBER] > BOARD.json

  --quick       few samples of short messages, to see whether it works
  --cpu NUMBER  the processor to run on; without it, the one on which it was started
  --help        this text

A table goes to the standard error output, and one line of JSON to the standard output. No privileges are needed.
Exit codes: 0 if all that the processor executes was right, 1 if a kernel gave a wrong answer, 2 if nothing was measured or written.
";

/// Runs the program with what Linux has put onto the stack, and returns its exit code.
fn run(stack: Stack) -> i32 {
    let arguments = match Arguments::parse(&stack) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            return if Output::STANDARD.text(HELP) { 0 } else { 2 };
        }
        Err(why) => {
            Output::ERROR.text(why);
            Output::ERROR.text("\nhint: `hartlock-bench --help` has all options\n");
            return 2;
        }
    };
    let Some(cpu) = system::stay_on(arguments.cpu) else {
        Output::ERROR.text("error: Linux does not let this program run on that processor\n");
        return 2;
    };
    let result = Report::new(SCHEMA, &arguments, cpu).and_then(|mut report| {
        report.probes(&probes::all());
        let is_right = measure::all(&mut report, &arguments)?;
        let has_peer = peer::all(&mut report, &arguments, &stack);
        report.end(has_peer).then_some(is_right)
    });
    match result {
        Some(true) => 0,
        Some(false) => {
            Output::ERROR.text("error: a kernel gave a wrong answer or did not end\n");
            1
        }
        None => {
            Output::ERROR.text("error: nothing was written\n");
            2
        }
    }
}
