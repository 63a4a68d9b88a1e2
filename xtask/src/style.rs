//! Counts habits of style in the Rust sources: a report, not a gate.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A habit of comments, and how a line of a comment shows it.
type Habit = (&'static str, fn(&str) -> bool);

const HABITS: [Habit; 5] = [
    ("sentence begins with \"What\"", begins_with_what),
    ("somebody, nobody, anybody, whoever", names_no_actor),
    ("fronted \"of what\", \"in what\", \"by what\"", is_fronted),
    ("told, tells", |comment| {
        has_word(comment, &["told", "tells"])
    }),
    ("a whole comment is \"The same …\"", |comment| {
        comment.starts_with("The same")
    }),
];

/// What was counted in some files.
#[derive(Debug, Default)]
struct Counts {
    comment_lines: usize,
    habits: [usize; HABITS.len()],
    functions: usize,
    bool_arms: usize,
    closures: usize,
}

/// Prints the table for the sources below `folders` of `root`.
///
/// # Errors
///
/// A file that cannot be read, or standard output that is closed.
pub(crate) fn report(root: &Path, folders: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut counts = Counts::default();
    for folder in folders {
        counts.add_folder(&root.join(folder))?;
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{} comment lines", counts.comment_lines)?;
    for ((habit, _), count) in HABITS.iter().zip(counts.habits) {
        write_row(&mut out, habit, count, counts.comment_lines)?;
    }
    writeln!(out, "\n{} functions", counts.functions)?;
    write_row(
        &mut out,
        "`match` on a bool",
        counts.bool_arms,
        counts.functions,
    )?;
    write_row(
        &mut out,
        "named closures",
        counts.closures,
        counts.functions,
    )?;
    Ok(())
}

/// Writes a count and its share, per thousand.
fn write_row(out: &mut impl Write, name: &str, count: usize, of: usize) -> io::Result<()> {
    let share = count as f64 * 1000.0 / of.max(1) as f64;
    writeln!(out, "{count:>6}  {share:>6.1} per 1,000  {name}")
}

impl Counts {
    fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.add_folder(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.add(&fs::read_to_string(&path)?);
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        for line in text.lines().map(str::trim_start) {
            if let Some(comment) = line.strip_prefix("//") {
                let comment = comment.trim_start_matches(['/', '!']).trim();
                self.comment_lines += 1;
                for ((_, shows), count) in HABITS.iter().zip(&mut self.habits) {
                    *count += usize::from(shows(comment));
                }
                continue;
            }
            self.functions += usize::from(declares_function(line));
            self.bool_arms += usize::from(line.starts_with("true =>"));
            self.closures += usize::from(is_named_closure(line));
        }
    }
}

fn begins_with_what(comment: &str) -> bool {
    comment
        .split(". ")
        .any(|sentence| sentence.starts_with("What "))
}

fn names_no_actor(comment: &str) -> bool {
    has_word(
        comment,
        &["somebody", "nobody", "anybody", "whoever", "everybody"],
    )
}

/// Recognises a preposition before "what": "of what it holds".
fn is_fronted(comment: &str) -> bool {
    let words: Vec<String> = words(comment).collect();
    words
        .windows(2)
        .any(|pair| pair[1] == "what" && ["of", "in", "by"].contains(&&*pair[0]))
}

fn has_word(comment: &str, wanted: &[&str]) -> bool {
    words(comment).any(|word| wanted.contains(&&*word))
}

fn words(comment: &str) -> impl Iterator<Item = String> {
    comment
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn declares_function(line: &str) -> bool {
    let start = line.split("fn ").next().unwrap_or_default();
    start.len() < line.len()
        && start.split_whitespace().all(|word| {
            matches!(
                word,
                "pub" | "const" | "async" | "unsafe" | "extern" | "\"C\""
            ) || word.starts_with("pub(")
                || word.ends_with(')')
        })
}

/// Recognises `let name = |…|` and `let name = move |…|`.
fn is_named_closure(line: &str) -> bool {
    let Some((_, value)) = line
        .strip_prefix("let ")
        .and_then(|line| line.split_once(" = "))
    else {
        return false;
    };
    value.trim_start_matches("move ").starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_habit() {
        let mut counts = Counts::default();
        counts.add(
            "/// What it is. The rest.\n\
             // Told by nobody, of what it holds.\n\
             /// The same for lists.\n\
             pub(crate) const fn a() {\n\
             let f = |x| x;\n\
             true => 1,\n",
        );
        assert_eq!(counts.comment_lines, 3);
        assert_eq!(counts.habits, [1, 1, 1, 1, 1]);
        let Counts {
            functions,
            bool_arms,
            closures,
            ..
        } = counts;
        assert_eq!((functions, bool_arms, closures), (1, 1, 1));
    }
}
