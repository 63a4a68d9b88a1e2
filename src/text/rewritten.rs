//! Writes texts that are too large for memory, in blocks of whole lines.

use std::borrow::Cow;
use std::io::{self, Write};

/// The minimum number of bytes that are rewritten at once.
const MANY: usize = 1 << 16;

/// Writes to `out` after applying `rewrite` to whole lines. `flush` also writes an unfinished line.
#[derive(Debug)]
pub(crate) struct RewrittenLines<W, F> {
    out: W,
    rewrite: F,
    /// The text that is not written yet.
    waiting: Vec<u8>,
}

impl<W: Write, F: Fn(&str) -> Cow<'_, str>> RewrittenLines<W, F> {
    pub(crate) fn new(out: W, rewrite: F) -> Self {
        Self {
            out,
            rewrite,
            waiting: Vec::new(),
        }
    }

    fn pass_on(&mut self, end: usize) -> io::Result<()> {
        let lines = String::from_utf8_lossy(&self.waiting[..end]);
        self.out.write_all((self.rewrite)(&lines).as_bytes())?;
        self.waiting.drain(..end);
        Ok(())
    }
}

impl<W: Write, F: Fn(&str) -> Cow<'_, str>> Write for RewrittenLines<W, F> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let before = self.waiting.len();
        self.waiting.extend_from_slice(text);
        if self.waiting.len() >= MANY
            && let Some(last) = memchr::memrchr(b'\n', text)
        {
            self.pass_on(before + last + 1)?;
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on(self.waiting.len())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewriting_never_splits_a_line() {
        let mut out = Vec::new();
        let mut lines = RewrittenLines::new(&mut out, |lines| Cow::Owned(format!("<{lines}>")));
        let long = "x".repeat(MANY - 3);
        for piece in [long.as_str(), "bä", "\nc", "\n", "d"] {
            lines
                .write_all(piece.as_bytes())
                .expect("a list takes everything");
        }
        lines.flush().expect("a list takes everything");
        assert_eq!(String::from_utf8(out), Ok(format!("<{long}bä\n><c\nd>")));
    }
}
