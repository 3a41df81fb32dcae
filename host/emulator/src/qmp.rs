//! The control protocol of QEMU (QMP): one JSON object per line over a local socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

/// Maximum length of a message in bytes. Answers have a few kilobytes; a longer line is refused.
const LONGEST_MESSAGE: u64 = 1 << 20;

/// A message from QEMU.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// The greeting, after which QEMU waits for the handshake.
    Greeting,
    /// The result of the command with this number.
    Answer {
        /// The number of the command.
        id: u64,
        /// The value that it returned, or a description of the error.
        result: Result<Value, String>,
    },
    /// The guest is about to stop, by its own action or because the host ended it.
    Shutdown {
        /// The reason that QEMU reports: `guest-shutdown`, `guest-reset`, `host-qmp-quit`, …
        reason: String,
    },
    /// Any other message.
    Other,
}

impl Message {
    pub(crate) fn parse(line: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return Message::Other };
        if value.get("QMP").is_some() {
            return Message::Greeting;
        }
        if value["event"] == "SHUTDOWN" {
            let reason = value["data"]["reason"].as_str().unwrap_or("unknown").to_owned();
            return Message::Shutdown { reason };
        }
        let Some(id) = value["id"].as_u64() else { return Message::Other };
        let result = match (value.get("return"), value.get("error")) {
            (Some(result), _) => Ok(result.clone()),
            (None, Some(error)) => Err(error["desc"].as_str().unwrap_or("no reason").to_owned()),
            (None, None) => return Message::Other,
        };
        Message::Answer { id, result }
    }
}

/// The writing end of the socket; a separate thread reads the other end.
#[derive(Debug)]
pub(crate) struct Control {
    stream: UnixStream,
    last_id: u64,
}

impl Control {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self { stream, last_id: 0 }
    }

    /// Sends a command and returns its number.
    pub(crate) fn send(&mut self, command: &str, arguments: &Value) -> std::io::Result<u64> {
        self.last_id += 1;
        let mut message = json!({ "execute": command, "id": self.last_id });
        if !arguments.is_null() {
            message["arguments"] = arguments.clone();
        }
        self.stream.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.last_id)
    }
}

/// Reads messages until the socket closes or `deliver` returns false.
pub(crate) fn read_messages(stream: UnixStream, mut deliver: impl FnMut(Message) -> bool) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LONGEST_MESSAGE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if !deliver(Message::parse(&String::from_utf8_lossy(&line))) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let parse = Message::parse;
        assert_eq!(parse(r#"{"QMP": {"version": {}}}"#), Message::Greeting);
        let answer = Message::Answer { id: 3, result: Ok(json!({})) };
        assert_eq!(parse(r#"{"return": {}, "id": 3}"#), answer);
        let failure = Message::Answer { id: 4, result: Err("no".into()) };
        assert_eq!(parse(r#"{"error": {"class": "E", "desc": "no"}, "id": 4}"#), failure);
        let shutdown = Message::Shutdown { reason: "guest-reset".into() };
        let event = r#"{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-reset"}}"#;
        assert_eq!(parse(event), shutdown);
        for other in ["", "[]", "{", r#"{"event": "STOP"}"#, r#"{"id": 1}"#] {
            assert_eq!(parse(other), Message::Other, "{other}");
        }
    }

    #[test]
    fn commands_are_numbered_lines() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut control = Control::new(ours);
        assert_eq!(control.send("stop", &Value::Null).unwrap(), 1);
        assert_eq!(control.send("pmemsave", &json!({ "val": 1 })).unwrap(), 2);
        drop(control);
        let lines: Vec<Value> = BufReader::new(theirs)
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        assert_eq!(lines[0], json!({ "execute": "stop", "id": 1 }));
        assert_eq!(lines[1]["arguments"]["val"], 1);
    }
}
