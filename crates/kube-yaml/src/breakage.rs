//! Explains to users why Kubernetes rejects a document.

const REFUSED: &str = "Kubernetes rejects this document, and kubectl stops reading the file here.";

const UNSENDABLE: &str = "The API server takes at most 3 MiB in one request, and this object's JSON does not fit into that, so it was not read.";

/// The reason why a document is broken. The text is computed on request: of many unreadable
/// documents, few are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breakage {
    /// The text is not YAML as Kubernetes reads it.
    Syntax,
    /// The object is too large.
    TooLarge,
    /// An unresolved merge conflict.
    Conflict,
    /// Braces of an unrendered template.
    Braces,
    /// Text after a `---`.
    Separator,
    /// A character that YAML does not allow.
    Character,
}

impl Breakage {
    /// Returns the consequence for the document.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => UNSENDABLE,
            Self::Syntax | Self::Conflict | Self::Braces | Self::Character => REFUSED,
            Self::Separator => {
                "Kubernetes treats every line that starts with --- as a separator, rejects text after it, and loses what \
                 comes before it in the same document."
            }
        }
    }

    /// Returns how to fix a problem.
    pub(super) fn help(self, problem: &str) -> &'static str {
        match self {
            Self::Syntax | Self::TooLarge => {
                let known = HELP.iter().find(|(part, _)| problem.contains(part));
                known.map_or("correct the syntax at this place", |(_, help)| help)
            }
            Self::Conflict => {
                "keep one of the two sides, or merge them by hand, and remove the lines with <<<<<<<, ======= and >>>>>>>"
            }
            Self::Braces => "render the chart or template first, and check the output",
            Self::Separator => "write the separator alone on its line, or with a comment",
            Self::Character => "remove the character, or write it as an escape in double quotes",
        }
    }
}

/// Parts of messages, each with the fix.
const HELP: [(&str, &str); 16] = [
    (
        "cannot start any token",
        "quote the value: @, ` and % cannot begin an unquoted one, and tabs cannot indent",
    ),
    (
        "mapping values are not allowed",
        "quote the value that contains a colon and a space, or correct the indentation",
    ),
    (
        "could not find expected ':'",
        "complete the key with a colon, or indent the line if it belongs to the value above",
    ),
    (
        "did not find expected key",
        "correct the indentation: keys of one mapping start in the same column",
    ),
    ("tab character", "indent with spaces"),
    (
        "unknown anchor",
        "define the anchor in the same document, above the alias",
    ),
    (
        "contains itself",
        "do not use an anchor inside its own value",
    ),
    (
        "excessive aliasing",
        "write the values out, or use fewer aliases of aliases",
    ),
    (
        "API server",
        "split the object: a request holds at most 3 MiB of JSON, and etcd keeps half of that",
    ),
    (
        "max depth",
        "nest less: Kubernetes reads at most 10,000 levels",
    ),
    (
        "map key",
        "quote the key: keys must be text, numbers or booleans",
    ),
    (
        "map merge requires",
        "give << a mapping, an alias of one, or a list of these",
    ),
    (
        "unsupported value",
        "quote the value if it is text: JSON has no infinity and no NaN",
    ),
    (
        "escape",
        "use single quotes or the character itself: YAML's double quotes have no \\/ and no surrogate pairs",
    ),
    (
        "<document start>",
        "remove the directive line: Kubernetes splits the file before it can apply",
    ),
    ("end of stream", "close the quote"),
];
