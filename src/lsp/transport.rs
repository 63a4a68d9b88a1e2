//! Messages over standard input and output. Unlike the transport of `lsp_server`, this one allocates no memory before
//! the bytes arrive, so a header with a wrong length cannot end the process.
//!
//! A malformed message is answered with an error. After a broken header or a wrong length, the text up to the next
//! `Content-Length` is skipped.

use std::io::{self, BufRead, Read, Write};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// The longest message in bytes: four times the largest readable file, because of escapes.
const LONGEST: u64 = 1 << 30;

/// The longest line of a header, in bytes.
const LONGEST_LINE: u64 = 4096;

/// The threads that read and write messages.
pub(super) struct Transport {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// Starts the threads, and returns the server's end of the connection.
pub(super) fn stdio() -> io::Result<(Connection, Transport)> {
    let (editor, server) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let reader = thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut messages = Messages::new(io::stdin().lock());
        while let Some(next) = messages.next()? {
            let message = match next {
                Ok(message) => message,
                Err(malformed) => {
                    malformed.answer(&mut io::stdout().lock())?;
                    continue;
                }
            };
            let is_last = matches!(&message, Message::Notification(notification) if notification.method == "exit");
            // After `exit`, or once the server has ended, no message is read.
            if sender.send(message).is_err() || is_last {
                break;
            }
        }
        Ok(())
    })?;
    let writer = thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || {
            // Locked for each message, because the reader also writes answers to malformed messages.
            receiver
                .into_iter()
                .try_for_each(|message| message.write(&mut io::stdout().lock()))
        })?;
    Ok((server, Transport { reader, writer }))
}

impl Transport {
    /// Waits until everything is written. The server's end of the connection must be dropped.
    pub(super) fn finish(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread of the connection panicked")))?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Malformed {
    code: ErrorCode,
    problem: String,
    /// The id of the request, or null if it has none.
    id: Value,
}

impl Malformed {
    fn new(problem: String) -> Self {
        Self {
            code: ErrorCode::ParseError,
            problem,
            id: Value::Null,
        }
    }

    /// Describes a body that is not a message.
    fn of_body(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Err(error) => Self::new(format!("a message is not JSON: {error}")),
            Ok(value) => {
                let id = value
                    .get("id")
                    .filter(|id| id.is_number() || id.is_string())
                    .cloned()
                    .unwrap_or_default();
                Self {
                    code: ErrorCode::InvalidRequest,
                    problem: "a message is not JSON-RPC".to_owned(),
                    id,
                }
            }
        }
    }

    /// Writes the error response itself, because `lsp_server` has no responses with a `null` id.
    fn answer(&self, output: &mut impl Write) -> io::Result<()> {
        let error = json!({"code": self.code as i32, "message": self.problem});
        let response = json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string();
        write!(
            output,
            "Content-Length: {}\r\n\r\n{response}",
            response.len()
        )?;
        output.flush()
    }
}

fn message(body: &[u8]) -> Result<Message, Malformed> {
    // serde would accept a list of the fields of a response.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(Malformed::of_body(body));
    }
    match serde_json::from_slice(body) {
        // A request whose method is not a text would parse as a response.
        Ok(Message::Response(_)) if memchr::memmem::find(body, b"\"method\"").is_some() => {
            Err(Malformed::of_body(body))
        }
        Ok(message) => Ok(message),
        Err(_) => Err(Malformed::of_body(body)),
    }
}

/// Reads the messages of an input.
struct Messages<R> {
    input: R,
    /// Whether the position of the next header is unknown.
    is_lost: bool,
}

impl<R: BufRead> Messages<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            is_lost: false,
        }
    }

    /// Reads the next message, or the error in its place; `None` at the end of the input.
    fn next(&mut self) -> io::Result<Option<Result<Message, Malformed>>> {
        let length = match self.header()? {
            None => return Ok(None),
            Some(Err(malformed)) => return Ok(Some(Err(malformed))),
            Some(Ok(length)) => length,
        };
        let mut body = Vec::new();
        if self.input.by_ref().take(length).read_to_end(&mut body)? as u64 != length {
            let problem = format!("a message of {length} bytes ends after {}", body.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let message = message(&body);
        // The length in the header may be wrong.
        self.is_lost = message.is_err();
        Ok(Some(message))
    }

    /// Reads the length from the next header. Consecutive malformed lines are one error.
    fn header(&mut self) -> io::Result<Option<Result<u64, Malformed>>> {
        let mut length = None;
        loop {
            let mut line = Vec::new();
            if self
                .input
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?
                == 0
            {
                return Ok(None);
            }
            let problem = match (HeaderLine::new(&line, self.is_lost), length) {
                (HeaderLine::Length(bytes), _) => {
                    length = Some(bytes);
                    self.is_lost = false;
                    continue;
                }
                (HeaderLine::End, Some(length)) => return Ok(Some(Ok(length))),
                (HeaderLine::End, None) => "a header has no Content-Length".to_owned(),
                (HeaderLine::Other, _) => continue,
                (HeaderLine::Malformed(problem), _) => problem,
            };
            length = None;
            if !std::mem::replace(&mut self.is_lost, true) {
                return Ok(Some(Err(Malformed::new(problem))));
            }
        }
    }
}

enum HeaderLine {
    /// The length of the message in bytes.
    Length(u64),
    /// The line that ends a header.
    End,
    /// A field that is ignored.
    Other,
    /// A line that does not belong in a header.
    Malformed(String),
}

impl HeaderLine {
    /// Parses a line. If the position `is_lost`, the rest of a body may precede the header.
    fn new(line: &[u8], is_lost: bool) -> Self {
        const NAME: &str = "content-length:";
        let text = String::from_utf8_lossy(line);
        let lower = text.to_ascii_lowercase();
        let named = if is_lost {
            lower.rfind(NAME)
        } else {
            lower.starts_with(NAME).then_some(0)
        };
        let Some(text) = text
            .strip_suffix('\n')
            .map(|text| text.strip_suffix('\r').unwrap_or(text))
        else {
            return Self::Malformed(format!("a header has the line {text:?}"));
        };
        if let Some(at) = named {
            let value = text[at + NAME.len()..].trim();
            return match value.parse() {
                Ok(length) if length <= LONGEST => Self::Length(length),
                Ok(length) => Self::Malformed(format!(
                    "a message of {length} bytes; the longest that is read has {LONGEST}"
                )),
                Err(_) => Self::Malformed(format!("a header has the Content-Length {value:?}")),
            };
        }
        match text {
            "" => Self::End,
            _ if text.contains(':') && !is_lost => Self::Other,
            _ => Self::Malformed(format!("a header has the line {text:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the methods and problems of an input in order; `Err` if reading stops before its end.
    fn methods(input: &[u8]) -> Result<Vec<String>, String> {
        let mut messages = Messages::new(input);
        let mut methods = Vec::new();
        while let Some(next) = messages.next().map_err(|error| error.to_string())? {
            match next {
                Ok(Message::Request(request)) => methods.push(request.method),
                Ok(Message::Notification(notification)) => methods.push(notification.method),
                Ok(Message::Response(_)) => {}
                Err(malformed) => methods.push(format!("{}: {}", malformed.id, malformed.problem)),
            }
        }
        Ok(methods)
    }

    fn framed(message: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{message}", message.len())
    }

    const EXIT: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

    #[test]
    fn consecutive_messages_are_read() {
        let request = framed(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
        let exit = framed(EXIT);
        let typed = exit.replace(
            "Content-Length",
            "Content-Type: x; charset=utf-8\r\ncontent-length",
        );
        assert_eq!(
            methods(format!("{request}{exit}{typed}").as_bytes()),
            Ok(["initialize", "exit", "exit"].map(String::from).to_vec())
        );
        assert_eq!(methods(b""), Ok(Vec::new()));
    }

    fn with_length(length: &str) -> Result<Vec<String>, String> {
        methods(format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes())
    }

    #[test]
    fn wrong_content_length_is_reported() {
        let longest =
            "null: a message of 99999999999999 bytes; the longest that is read has 1073741824";
        assert_eq!(with_length("99999999999999"), Ok(vec![longest.to_owned()]));
        assert_eq!(
            with_length("1073741824"),
            Err("a message of 1073741824 bytes ends after 2".to_owned())
        );
        assert_eq!(
            with_length("-1"),
            Ok(vec![
                "null: a header has the Content-Length \"-1\"".to_owned()
            ])
        );
        let larger = "null: a header has the Content-Length \"99999999999999999999\"";
        assert_eq!(
            with_length("99999999999999999999"),
            Ok(vec![larger.to_owned()])
        );
    }

    #[test]
    fn next_message_after_malformed_one_is_read() {
        let exit = framed(EXIT);
        for (malformed, problem) in [
            ("\r\n{}".to_owned(), "null: a header has no Content-Length"),
            (
                "hello\n".to_owned(),
                "null: a header has the line \"hello\"",
            ),
            (
                "hello\nand\n\n: more\n{}".to_owned(),
                "null: a header has the line \"hello\"",
            ),
            (
                "Content-Length: x\r\n\r\n{}".to_owned(),
                "null: a header has the Content-Length \"x\"",
            ),
            (
                framed("{\"a\":"),
                "null: a message is not JSON: EOF while parsing a value at line 1 column 5",
            ),
            (framed("[1]"), "null: a message is not JSON-RPC"),
            (
                framed(r#"{"id":"x","method":5}"#),
                "\"x\": a message is not JSON-RPC",
            ),
            (
                // Two bytes short, so the rest precedes the next header.
                framed(EXIT).replace("33", "31"),
                "null: a message is not JSON: EOF while parsing a string at line 1 column 31",
            ),
        ] {
            assert_eq!(
                methods(format!("{exit}{malformed}{exit}{exit}").as_bytes()),
                Ok(vec![
                    "exit".to_owned(),
                    problem.to_owned(),
                    "exit".to_owned(),
                    "exit".to_owned()
                ]),
                "{malformed}"
            );
        }
    }

    #[test]
    fn input_without_header_is_reported_once() {
        let endless = methods(&b"x".repeat(10_000)).expect("an end");
        assert!(
            matches!(&endless[..], [one] if one.len() < 5_000),
            "{endless:?}"
        );
        assert_eq!(
            methods(&b"\xff: \xfe\n\n".repeat(1000))
                .expect("an end")
                .len(),
            1
        );
    }

    fn answer(body: &str) -> (Value, Value) {
        let malformed = message(body.as_bytes()).expect_err("no message");
        let mut text = Vec::new();
        malformed.answer(&mut text).expect("it is written");
        let text = String::from_utf8(text).expect("text");
        let (header, body) = text.split_once("\r\n\r\n").expect("a header");
        assert_eq!(header, format!("Content-Length: {}", body.len()));
        let response: Value = serde_json::from_str(body).expect("JSON");
        (response["id"].clone(), response["error"]["code"].clone())
    }

    #[test]
    fn malformed_message_is_answered_with_its_id() {
        assert_eq!(answer("{"), (Value::Null, json!(-32700)));
        assert_eq!(
            answer(r#"{"id":7,"method":null}"#),
            (json!(7), json!(-32600))
        );
    }
}
