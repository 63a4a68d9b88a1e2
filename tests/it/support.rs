//! Common helpers of tests: the binary, the fixtures, the corpus, and checks of a text.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;
use ownerlint::engine::{self, Check};
use ownerlint::inventory::{Files, Inventory, Settings, walk};
use ownerlint::manifest::ParsedFile;
use ownerlint::report::Report;
use ownerlint::text::SourceFile;

/// Returns the program in an empty environment, so that its output is reproducible.
pub(crate) fn ownerlint() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ownerlint"));
    command
        .env_clear()
        .env("COLUMNS", "100")
        .current_dir(root());
    command
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file by its path in the repository.
pub(crate) fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the YAML blocks in a page that claim to be `file`.
pub(crate) fn blocks_of(page: &str, file: &str) -> Vec<serde_yaml::Value> {
    let blocks = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|block| block.split("\n```").next());
    let named = blocks.filter(|block| {
        block
            .lines()
            .next()
            .is_some_and(|line| line == format!("# {file}"))
    });
    named
        .map(|block| serde_yaml::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}")))
        .collect()
}

/// Reads a file of `fixtures/`.
pub(crate) fn fixture(path: &str) -> String {
    let path = root().join("fixtures").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Prints that the running test is skipped, and why. It writes to standard error directly, because the test harness
/// shows captured output only for failures, and a skipped test must not look like a passed one.
pub(crate) fn skip(why: &str) {
    let thread = std::thread::current();
    let test = thread
        .name()
        .filter(|name| *name != "main")
        .unwrap_or("a test");
    writeln!(std::io::stderr(), "skipped: {test}: {why}").expect("standard error");
}

/// Returns the corpus of real manifests, which is not part of the repository; `None` skips the test. A corpus that
/// `OWNERLINT_CORPUS` names must exist.
pub(crate) fn corpus() -> Option<&'static Path> {
    static CORPUS: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| match std::env::var_os("OWNERLINT_CORPUS") {
            Some(none) if none.is_empty() => None,
            Some(path) => Some(
                Path::new(&path)
                    .canonicalize()
                    .expect("OWNERLINT_CORPUS names a folder"),
            ),
            None => root().join("../shared/corpus").canonicalize().ok(),
        });
    if CORPUS.is_none() {
        skip("no corpus of manifests: set OWNERLINT_CORPUS to its folder");
    }
    CORPUS.as_deref()
}

/// Returns an inventory of one text, reported as `name`.
pub(crate) fn inventory_of(name: &str, text: &str) -> Inventory {
    Inventory::new(
        vec![ParsedFile::parse(SourceFile::new(name, text))],
        Settings::default(),
    )
}

pub(crate) fn check_text(name: &str, text: &str, check: &Check) -> Report {
    let report = engine::check(inventory_of(name, text), check);
    assert_no_rule_failed(name, &report);
    report
}

/// Asserts that no rule panicked: such a rule finds nothing, and the others still run.
pub(crate) fn assert_no_rule_failed(place: &str, report: &Report) {
    let notes = report.notes.iter().map(|note| note.message.as_str());
    let failed: Vec<&str> = notes
        .filter(|message| message.contains("failed on this input"))
        .collect();
    assert!(failed.is_empty(), "{place}: {failed:?}");
}

/// Returns the inventory of files on disk.
pub(crate) fn inventory_at(paths: &[&str]) -> Inventory {
    let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
    let walk = walk(&paths, &[]).expect("the input can be read");
    Inventory::new(Files::default().read(&walk), Settings::default())
}

/// Returns the 1-based lines of `text` with the mark `# expect: <rule>`; commas separate several rules.
pub(crate) fn marked_lines(text: &str, rule: &str) -> Vec<usize> {
    let marked = |line: &str| {
        let rules = line.split_once("# expect:").map_or("", |(_, rules)| rules);
        rules.split(',').any(|marked| marked.trim() == rule)
    };
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| marked(line))
        .map(|(number, _)| number)
        .collect()
}

/// A temporary folder that counts as a repository for Git and for the search for a configuration.
pub(crate) struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".git")).expect("a marker");
        Self { folder }
    }

    /// Returns its folder with links resolved.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        self
    }

    /// Creates a repository with copies of files and folders of this one, under the same paths. A check there does not
    /// read the other fixtures as context.
    pub(crate) fn of_copies(paths: &[&str]) -> Self {
        let repository = Self::new();
        for path in paths {
            repository.copy_below(root(), &root().join(path));
        }
        repository
    }

    /// Copies the files of a folder into it.
    pub(crate) fn copy(&self, from: &Path) {
        self.copy_below(from, from);
    }

    /// Copies a file, or the files of a folder, under their paths below `top`.
    fn copy_below(&self, top: &Path, from: &Path) {
        for entry in walkdir::WalkDir::new(from).sort_by_file_name() {
            let entry = entry.expect("an entry");
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(top).expect("below it");
                let path = self.folder.path().join(path);
                std::fs::create_dir_all(path.parent().expect("a file has a folder"))
                    .expect("a folder");
                std::fs::copy(entry.path(), path).expect("a file");
            }
        }
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).expect("a file")
    }

    /// Runs the program in it. Returns the status, standard output and standard error.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> (i32, String, String) {
        self.run_in(".", arguments, stdin)
    }

    /// Runs the program in one of its folders.
    pub(crate) fn run_in(
        &self,
        folder: &str,
        arguments: &[&str],
        stdin: &str,
    ) -> (i32, String, String) {
        let mut command = ownerlint();
        command
            .current_dir(self.folder.path().join(folder))
            .args(arguments)
            .write_stdin(stdin);
        let output = command.output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (
            output.status.code().expect("a status"),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

/// Returns the text outside Markdown code.
pub(crate) fn outside_code(markdown: &str) -> String {
    let mut fence: Option<String> = None;
    let mut out = String::new();
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        let ticks: String = trimmed.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if trimmed.trim_end() == open.as_str() => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    assert_eq!(fence, None, "the last block is closed");
    out
}

/// Writes a program from another process. If this process had the file open for writing, a child that another test
/// forks at that moment would keep it open, and running it would fail ("text file busy").
#[cfg(unix)]
pub(crate) fn write_program(path: &Path, content: &[u8]) {
    let mut shell = std::process::Command::new("sh");
    shell
        .args([
            "-c",
            "mkdir -p \"${0%/*}\" && cat > \"$0\" && chmod 755 \"$0\"",
        ])
        .arg(path)
        .stdin(std::process::Stdio::piped());
    let mut child = shell.spawn().expect("a shell");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(content).expect("it reads");
    drop(input);
    assert!(child.wait().expect("it ends").success());
}
