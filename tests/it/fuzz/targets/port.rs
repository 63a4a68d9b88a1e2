//! Compares the parser with a port of libyaml, event by event.
//!
//! Kubernetes uses go-yaml v2, derived from libyaml 0.1; the port is of 0.2. Our parser follows go-yaml. Differences:
//!
//! * In a flow, go-yaml ends a plain scalar at every `?`; libyaml has read `{a?b: c}` since 0.2.3.
//! * Kubernetes' line reader removes the CR of each CR LF before go-yaml reads, so CR CR LF is CR LF, a single break. The
//!   port gets the text after that. A CR at the end of a text is removed too, although Kubernetes' reader keeps it: this
//!   affects at most a blank line.
//! * go-yaml takes `[` and `]` for characters of a tag; libyaml 0.2 does not.
//! * libyaml skips a byte order mark at the start of a line. go-yaml means to, but looks at the start of its buffer: one within a
//!   document is text.
//! * In a flow, go-yaml takes a colon before `,`, `[`, `]`, `{` or `}` for text; libyaml rejects it.
//! * libyaml has read JSON's `\/` since 0.1.5, which go-yaml v2 does not know; and no longer reads `\'`, which go-yaml does.
//! * A number of a `%YAML` directive has at most two digits for go-yaml, nine for libyaml.
//! * go-yaml reads at most 10,000 levels; libyaml has no limit.
//!
//! The port itself has these defects: it rejects a text that begins with the first byte of a byte order mark, panics at
//! a tag that ends at a comma, decodes the escapes of a tag byte by byte, and counts the bytes of a key where libyaml
//! counts characters.

use libyaml_safer::{EventData, Parser, ScalarStyle};
use ownerlint::yaml::events;

/// Returns the first difference between our events and those of the port, up to the end of the first document.
pub(super) fn difference(text: &str) -> Option<String> {
    if is_beyond_port(text) {
        return None;
    }
    let (ours, theirs) = (events(text), port(text));
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) if ours == theirs => None,
        (Err(_), Err(_)) => None,
        (Ok(_), Err(problem)) if problem.contains("found unexpected ':'") => None,
        (Err(problem), Ok(_)) if problem.contains("found extremely long version number") => None,
        (Err(problem), Ok(_)) if problem.contains("exceeded max depth") => None,
        (Err(problem), Ok(_))
            if problem.contains("found unknown escape character") && text.contains(r"\/") =>
        {
            None
        }
        (Ok(_), Err(problem))
            if problem.contains("found unknown escape character") && text.contains(r"\'") =>
        {
            None
        }
        _ => Some(format!("ours: {ours:?}\nport: {theirs:?}")),
    }
}

/// Whether the parsers differ by design, or the port fails.
fn is_beyond_port(text: &str) -> bool {
    let is_questioned = text
        .find(['{', '['])
        .is_some_and(|flow| text[flow..].contains('?'));
    let mut tags = text
        .split_whitespace()
        .filter_map(|word| word.split_once('!'));
    // A key ends within 1024 characters.
    let may_be_cut = text
        .lines()
        .any(|line| line.len() > 1024 && !line.is_ascii());
    is_questioned
        || may_be_cut
        || text.contains('\u{FEFF}')
        || text.as_bytes().first() == Some(&0xEF)
        || tags.any(|(_, tag)| tag.contains([',', '%', '[', ']']))
}

/// Returns the port's events of the first document, in the notation of [`events`].
fn port(text: &str) -> Result<Vec<String>, String> {
    let ended = if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    };
    let text = ended.replace("\r\n", "\n");
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input(&mut bytes);
    let mut events = Vec::new();
    loop {
        match parser.parse().map_err(|error| error.to_string())?.data {
            EventData::StreamStart { .. } | EventData::DocumentStart { .. } => {}
            EventData::DocumentEnd { .. } | EventData::StreamEnd => return Ok(events),
            event => events.push(shown(event)),
        }
    }
}

fn shown(event: EventData) -> String {
    let properties = |anchor: Option<String>, tag: Option<String>| {
        let anchor = anchor.map_or_else(String::new, |anchor| format!(" &{anchor}"));
        anchor + &tag.map_or_else(String::new, |tag| format!(" <{}>", tag.escape_debug()))
    };
    match event {
        EventData::Alias { anchor } => format!("=ALI *{anchor}"),
        EventData::Scalar {
            anchor,
            tag,
            value,
            style,
            ..
        } => {
            let style = match style {
                ScalarStyle::SingleQuoted => '\'',
                ScalarStyle::DoubleQuoted => '"',
                ScalarStyle::Literal | ScalarStyle::Folded => '|',
                _ => ':',
            };
            format!(
                "=VAL{} {style}{}",
                properties(anchor, tag),
                value.escape_debug()
            )
        }
        EventData::SequenceStart { anchor, tag, .. } => format!("+SEQ{}", properties(anchor, tag)),
        EventData::MappingStart { anchor, tag, .. } => format!("+MAP{}", properties(anchor, tag)),
        EventData::SequenceEnd => "-SEQ".to_owned(),
        EventData::MappingEnd => "-MAP".to_owned(),
        other => format!("{other:?}"),
    }
}
