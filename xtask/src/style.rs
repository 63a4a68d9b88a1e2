//! Counts style habits in the Rust sources: a report, not a gate.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use regex::Regex;
use walkdir::WalkDir;

/// Matches a comment line; `text` is the line without its slashes.
const COMMENT: &str = r"^//[/!]*\s*(?<text>.*)$";

/// Habits of comments, each with the pattern of the comment lines that have it.
const HABITS: [(&str, &str); 5] = [
    ("sentence begins with \"What\"", r"(^|\. )What "),
    (
        "somebody, nobody, anybody, whoever",
        r"(?i)\b(some|no|any|every)body\b|\bwhoever\b",
    ),
    (
        "fronted \"of what\", \"in what\", \"by what\"",
        r"(?i)\b(of|in|by)\W+what\b",
    ),
    ("told, tells", r"(?i)\b(told|tells)\b"),
    ("a whole comment is \"The same …\"", r"^The same"),
];

const FUNCTION: &str = r"^((pub(\([a-z: ]+\))?|const|async|unsafe) )*fn ";

/// Constructs of code, each with the pattern of the lines that have it.
const CONSTRUCTS: [(&str, &str); 2] = [
    ("`match` on a bool", r"^true =>"),
    ("named closures", r"^let [^=]* = (move )?\|"),
];

/// Prints the table for the sources below `folders` of `root`.
///
/// # Errors
///
/// A file that cannot be read, or standard output that is closed.
pub(crate) fn report(root: &Path, folders: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    for entry in folders
        .iter()
        .flat_map(|folder| WalkDir::new(root.join(folder)))
    {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(path)?;
            lines.extend(text.lines().map(|line| line.trim_start().to_owned()));
        }
    }
    io::stdout().lock().write_all(table(&lines)?.as_bytes())?;
    Ok(())
}

/// Returns the counts of habits and constructs in `lines`, which have no indentation, each with its share per thousand.
fn table(lines: &[String]) -> Result<String, regex::Error> {
    let comment = Regex::new(COMMENT)?;
    let (comments, code): (Vec<&str>, Vec<&str>) = lines
        .iter()
        .map(String::as_str)
        .partition(|line| comment.is_match(line));
    let texts: Vec<&str> = comments
        .iter()
        .filter_map(|line| Some(comment.captures(line)?.name("text")?.as_str()))
        .collect();
    let functions = count(&code, FUNCTION)?;
    let mut table = format!("{} comment lines\n", texts.len());
    for (habit, pattern) in HABITS {
        table += &row(habit, count(&texts, pattern)?, texts.len());
    }
    table += &format!("\n{functions} functions\n");
    for (construct, pattern) in CONSTRUCTS {
        table += &row(construct, count(&code, pattern)?, functions);
    }
    Ok(table)
}

/// Returns the number of lines that match `pattern`.
fn count(lines: &[&str], pattern: &str) -> Result<usize, regex::Error> {
    let pattern = Regex::new(pattern)?;
    Ok(lines.iter().filter(|line| pattern.is_match(line)).count())
}

fn row(name: &str, count: usize, of: usize) -> String {
    let share = count as f64 * 1000.0 / of.max(1) as f64;
    format!("{count:>6}  {share:>6.1} per 1,000  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_habit() {
        let lines = [
            "/// What it is. The rest.",
            "// Told by nobody, of what it holds.",
            "/// The same for lists.",
            "pub(crate) const fn a() {",
            "let f = |x| x;",
            "true => 1,",
        ];
        let table = table(&lines.map(str::to_owned)).expect("patterns");
        let counts: Vec<&str> = table
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        // The comment lines, each habit, the functions, each construct.
        assert_eq!(counts, ["3", "1", "1", "1", "1", "1", "1", "1", "1"]);
    }
}
