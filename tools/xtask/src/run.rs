//! Runs other programs. They print nothing on success, and the end of their output is shown on
//! failure.

use std::io;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, anyhow, bail};

/// Runs a command and returns its output. An error contains the last lines.
pub fn quietly(command: &mut Command) -> Result<String> {
    let output = capture(command)?;
    if !output.status.success() {
        bail!("{} failed ({})\n{}", describe(command), output.status, tail(&output, 25));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command to its end and returns the output of both streams.
pub fn capture(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))
}

/// Returns an error that names a command that could not start, and says what to do about it.
pub fn not_started(command: &Command, error: &io::Error) -> anyhow::Error {
    let program = command.get_program().to_string_lossy();
    if error.kind() == io::ErrorKind::NotFound {
        return anyhow!("{program} is missing; run `tools/setup` to install it");
    }
    anyhow!("cannot start {program}: {error}")
}

/// Pipes the output of one command into another, as `left | right` does.
pub fn piped(left: &mut Command, right: &mut Command) -> Result<()> {
    let mut source = left
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| not_started(left, &error))?;
    let stream = source.stdout.take().context("the pipe was just made")?;
    let sink = right.stdin(stream).output().map_err(|error| not_started(right, &error))?;
    // The status of the sink is checked first: if it fails, the source only reports a broken pipe.
    if !sink.status.success() {
        bail!("{} failed ({})\n{}", describe(right), sink.status, tail(&sink, 25));
    }
    let status = source.wait()?;
    if !status.success() {
        bail!("{} failed ({status})", describe(left));
    }
    Ok(())
}

/// Returns the command as a user would type it. It is for messages only, so nothing is quoted.
pub fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the last lines of both streams, because the cause of a failure is at the end.
pub fn tail(output: &Output, lines: usize) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_carries_the_last_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo early; echo the cause >&2; exit 3"]);
        let message = format!("{:#}", quietly(&mut command).unwrap_err());
        assert!(message.contains("the cause") && message.contains("exit status: 3"), "{message}");
    }

    #[test]
    fn missing_program_is_named() {
        let message = format!("{:#}", quietly(&mut Command::new("no-such-tool")).unwrap_err());
        assert!(message.starts_with("no-such-tool is missing"), "{message}");
    }

    #[test]
    fn pipe_reports_either_end() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        piped(&mut shell("echo x"), &mut shell("cat >/dev/null")).unwrap();
        piped(&mut shell("exit 1"), &mut shell("cat >/dev/null")).unwrap_err();
        piped(&mut shell("echo x"), &mut shell("exit 1")).unwrap_err();
    }
}
