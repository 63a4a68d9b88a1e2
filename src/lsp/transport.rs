//! Messages over standard input and output. `lsp_server` frames them too, and makes room for a message as long as its header says
//! before any of it came: one wrong header would end the process.

use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, Message};

/// The longest message, in bytes: the longest file that is read, with every character escaped.
const LONGEST: u64 = 1 << 30;

/// The longest line of a header, in bytes.
const LONGEST_LINE: u64 = 4096;

/// What reads and writes while the server works.
pub(super) struct Transport {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// The end of the connection for the server, and the threads at the other end.
pub(super) fn stdio() -> io::Result<(Connection, Transport)> {
    let (editor, server) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let reader = thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input)? {
            let is_last = matches!(&message, Message::Notification(notification) if notification.method == "exit");
            // Nobody listens any more: the server ended.
            if sender.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    })?;
    let writer = thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let mut output = io::stdout().lock();
        receiver.into_iter().try_for_each(|message| message.write(&mut output))
    })?;
    Ok((server, Transport { reader, writer }))
}

impl Transport {
    /// Waits until everything is written. The server's end of the connection must be dropped.
    pub(super) fn finish(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the connection panicked")))?;
        }
        Ok(())
    }
}

/// The next message; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let Some(length) = length(input)? else { return Ok(None) };
    if length > LONGEST {
        return Err(invalid(format!("a message of {length} bytes; the longest that is read has {LONGEST}")));
    }
    let mut text = Vec::new();
    if input.take(length).read_to_end(&mut text)? as u64 != length {
        return Err(invalid(format!("a message of {length} bytes ends after {}", text.len())));
    }
    let message = serde_json::from_slice(&text);
    message.map(Some).map_err(|error| invalid(format!("a message is not JSON-RPC: {error}")))
}

/// What the header of the next message says of its length; `None` at the end of the input.
fn length(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.take(LONGEST_LINE).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.strip_suffix("\r\n").ok_or_else(|| invalid(format!("a header has the line {line:?}")))?;
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| invalid("a header has no Content-Length".to_owned()));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid(format!("a header has the line {line:?}")))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim();
            let said = value.parse().map_err(|_| invalid(format!("a header has the Content-Length {value:?}")))?;
            length = Some(said);
        }
    }
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method of each message of an input, or why one cannot be read.
    fn methods(mut input: &[u8]) -> Result<Vec<String>, String> {
        let mut methods = Vec::new();
        while let Some(message) = read(&mut input).map_err(|error| error.to_string())? {
            match message {
                Message::Request(request) => methods.push(request.method),
                Message::Notification(notification) => methods.push(notification.method),
                Message::Response(_) => {}
            }
        }
        Ok(methods)
    }

    fn framed(message: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{message}", message.len())
    }

    #[test]
    fn messages_follow_each_other() {
        let request = framed(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
        let exit = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        let typed = exit.replace("Content-Length", "Content-Type: x; charset=utf-8\r\ncontent-length");
        assert_eq!(
            methods(format!("{request}{exit}{typed}").as_bytes()),
            Ok(["initialize", "exit", "exit"].map(String::from).to_vec())
        );
        assert_eq!(methods(b""), Ok(Vec::new()));
    }

    #[test]
    fn a_header_that_lies_about_the_length_reserves_nothing() {
        let said = |length: &str| methods(format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes());
        let longest = "a message of 99999999999999 bytes; the longest that is read has 1073741824";
        assert_eq!(said("99999999999999"), Err(longest.to_owned()));
        assert_eq!(said("1073741824"), Err("a message of 1073741824 bytes ends after 2".to_owned()));
        assert_eq!(said("-1"), Err("a header has the Content-Length \"-1\"".to_owned()));
        assert_eq!(
            said("99999999999999999999"),
            Err("a header has the Content-Length \"99999999999999999999\"".to_owned())
        );
    }

    #[test]
    fn what_is_no_header_is_named() {
        assert_eq!(methods(b"\r\n{}"), Err("a header has no Content-Length".to_owned()));
        assert_eq!(methods(b"hello\n"), Err("a header has the line \"hello\\n\"".to_owned()));
        let endless = methods(&b"x".repeat(10_000)).expect_err("no message");
        assert!(endless.len() < 5_000, "{} bytes", endless.len());
        assert!(methods(framed("{}").as_bytes()).expect_err("no message").starts_with("a message is not JSON-RPC"));
    }
}
