//! Writes an object in the various forms of people and programs.

use serde_json::Value;

/// A form in which an object is written.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The indentation of each level of mappings.
    pub(crate) indent: usize,
    /// The indentation of dashes relative to the key of their list.
    pub(crate) dash: usize,
    /// The depth from which everything is in flow style.
    pub(crate) flow_from: usize,
    /// Quotes around keys.
    pub(crate) quotes: &'static str,
    /// Whether lines end with comments.
    pub(crate) trailing: bool,
    /// Whether there are comments above the fields of the object and of its metadata.
    pub(crate) above: bool,
}

/// Writes the object as one YAML document.
pub(crate) fn block(value: &Value, form: &Form) -> String {
    let mut writer = Writer {
        form,
        out: String::new(),
        line: 0,
    };
    writer.map(value, 0, 0, false);
    writer.out
}

/// Indents lines as an item of a list, with a dash before the first one.
pub(crate) fn as_item(text: &str, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    let lines: Vec<String> = text
        .lines()
        .map(|line| format!("{blanks}  {line}\n"))
        .collect();
    // The dash is before the first key, after any comments.
    let first = lines
        .iter()
        .position(|line| !line.trim_start().starts_with('#'))
        .expect("a key");
    let item = |(at, line): (usize, &String)| {
        if at == first {
            format!("{blanks}- {}", &line[indent + 2..])
        } else {
            line.clone()
        }
    };
    lines.iter().enumerate().map(item).collect()
}

struct Writer<'a> {
    form: &'a Form,
    out: String,
    line: usize,
}

impl Writer<'_> {
    fn end_line(&mut self) {
        self.line += 1;
        if self.form.trailing {
            self.out.push_str(&format!(" # t{}", self.line));
        }
        self.out.push('\n');
    }

    /// Writes the entries of a mapping; if `begun`, the first one continues the current line.
    fn map(&mut self, value: &Value, column: usize, depth: usize, begun: bool) {
        for (at, (key, value)) in value.as_object().expect("a mapping").iter().enumerate() {
            if at > 0 || !begun {
                if self.form.above && depth < 2 {
                    self.line += 1;
                    self.out
                        .push_str(&format!("{}# a{}\n", " ".repeat(column), self.line));
                }
                self.out.push_str(&" ".repeat(column));
            }
            self.out
                .push_str(&format!("{0}{key}{0}:", self.form.quotes));
            self.value(value, column, depth + 1);
        }
    }

    fn value(&mut self, value: &Value, column: usize, depth: usize) {
        match value {
            Value::Object(entries) if !entries.is_empty() && depth < self.form.flow_from => {
                self.end_line();
                self.map(value, column + self.form.indent, depth, false);
            }
            Value::Array(items) if !items.is_empty() && depth < self.form.flow_from => {
                self.end_line();
                let column = column + self.form.dash;
                for item in items {
                    self.out.push_str(&format!("{}-", " ".repeat(column)));
                    match item {
                        Value::Object(entries)
                            if !entries.is_empty() && depth + 1 < self.form.flow_from =>
                        {
                            self.out.push(' ');
                            self.map(item, column + 2, depth + 1, true);
                        }
                        _ => self.value(item, column, usize::MAX),
                    }
                }
            }
            _ => {
                self.out.push(' ');
                self.out.push_str(&flow(value, self.form.quotes));
                self.end_line();
            }
        }
    }
}

fn flow(value: &Value, quotes: &str) -> String {
    match value {
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{quotes}{key}{quotes}: {}", flow(value, quotes)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items
                    .iter()
                    .map(|item| flow(item, quotes))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        Value::String(text) if quotes.is_empty() && is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "./-".contains(c))
}
