//! Formats the events of a text as lines, to compare the parser with another one.

use super::characters::forbidden;
use super::event::{Events, Properties, ScalarEvent, StartEvent, Style};
use super::grammar;
use super::read::with_final_newline;
use crate::Span;

/// Returns the events that the parser reads from one chunk, one per line in the notation of the YAML test suite:
/// `+MAP`, `=VAL &a <tag> :text`, `=ALI *a`. Texts are escaped as in Rust. A block scalar is `|`, folded or not, and
/// flow collections are not marked. Without content there is no event.
///
/// # Errors
/// The error in the text, in go-yaml's words.
pub fn events(chunk: &str) -> Result<Vec<String>, String> {
    let chunk = with_final_newline(chunk);
    if let Some((_, found)) = forbidden(&chunk) {
        return Err(format!("control characters are not allowed: {found:?}"));
    }
    let mut trace = Trace::default();
    match grammar::parse(&chunk, 0, &mut trace) {
        Ok(_) => Ok(trace.lines),
        Err(failure) => Err(failure.error.problem.into_owned()),
    }
}

#[derive(Default)]
struct Trace {
    lines: Vec<String>,
    /// The ends of the open collections.
    ends: Vec<&'static str>,
}

impl Events for Trace {
    fn scalar(&mut self, scalar: ScalarEvent<'_>, properties: &Properties<'_>) {
        let style = match scalar.style {
            Style::Plain | Style::JsonWord => ':',
            Style::Single => '\'',
            Style::Double => '"',
            Style::Block => '|',
        };
        let (properties, text) = (shown(properties), scalar.text.escape_debug());
        self.lines.push(format!("=VAL{properties} {style}{text}"));
    }

    fn start(&mut self, start: StartEvent, properties: &Properties<'_>) {
        let (start, end) = if start.is_map {
            ("+MAP", "-MAP")
        } else {
            ("+SEQ", "-SEQ")
        };
        self.lines.push(format!("{start}{}", shown(properties)));
        self.ends.push(end);
    }

    fn end(&mut self, _: Span) {
        self.lines.extend(self.ends.pop().map(str::to_owned));
    }

    fn alias(&mut self, _: Span, name: &str) {
        self.lines.push(format!("=ALI *{name}"));
    }
}

fn shown(properties: &Properties<'_>) -> String {
    let anchor = properties.anchor.map(|name| format!(" &{name}"));
    let tag = properties.tag;
    let tag = tag.map(|tag| format!(" <{}>", tag.concat().escape_debug()));
    [anchor, tag].into_iter().flatten().collect()
}
