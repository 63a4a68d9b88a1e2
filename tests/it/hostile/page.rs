//! Creates the input of each row in `docs/guide/hostile-inputs.md`, and checks the message that a user sees.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::support::{CONFIG_MAP, repository};
use crate::limits::shell;
use crate::support::{Repository, page};

/// A row: the content of a repository, the command line after `ownerlint`, and a line of the output.
struct Row {
    input: &'static str,
    make: fn(&Repository),
    arguments: &'static str,
    says: &'static str,
}

/// Writes a manifest with hostile values.
fn manifest(repository: &Repository, rest: &str) {
    repository.write("rendered/a.yaml", &format!("{CONFIG_MAP}{rest}"));
}

fn link(repository: &Repository, target: &str) {
    symlink(target, repository.path().join("rendered/a.yaml")).expect("a link");
}

fn nothing(_: &Repository) {}

/// Writes an object of this name with an invalid finalizer.
fn named(repository: &Repository, name: &str) {
    let name = serde_json::Value::from(name);
    let object = CONFIG_MAP.replace(
        "settings",
        &format!("{}, finalizers: [bad]", crate::fuzz::targets::ascii(&name)),
    );
    repository.write("rendered/a.yaml", &object);
}

/// A shell generates the pattern, so that a row stays on one line.
const LEVELS_OF_BRACES: &str = "\"$(printf '{a,%.0s' $(seq 200))\"";

const ROWS: &[Row] = &[
    Row {
        input: "Aliases of aliases that stand for billions of values",
        make: |repository| {
            let levels = (0..9).map(|level| {
                format!(
                    "- &a{} [{}]\n",
                    level + 1,
                    vec![format!("*a{level}"); 9].join(", ")
                )
            });
            manifest(
                repository,
                &format!(
                    "data:\n- &a0 [x,x,x,x,x,x,x,x,x]\n{}",
                    levels.collect::<String>()
                ),
            );
        },
        arguments: "rendered",
        says: "error[unreadable-document] document contains excessive aliasing",
    },
    Row {
        input: "100,000 open brackets, braces or dashes",
        make: |repository| manifest(repository, &format!("data: {}\n", "[".repeat(100_000))),
        arguments: "rendered",
        says: "error[unreadable-document] exceeded max depth of 10000",
    },
    Row {
        input: "A file of a gigabyte, sparse or not",
        make: |repository| {
            let file =
                std::fs::File::create(repository.path().join("rendered/a.yaml")).expect("a file");
            file.set_len(1 << 30).expect("a sparse file");
        },
        arguments: "rendered",
        says: "error[unreadable-file] `rendered/a.yaml` is larger than 256 MiB",
    },
    Row {
        input: "A million documents with nothing in them",
        make: |repository| _ = repository.write("many.yaml", &"---\n".repeat(1_000_000)),
        arguments: "many.yaml",
        says: "no Kubernetes object found in 1 file",
    },
    Row {
        input: "One key, 12,001 times",
        make: |repository| manifest(repository, &format!("data:\n{}", "  k: v\n".repeat(12_001))),
        arguments: "rendered",
        says: "rule `duplicate-key` found 2000 more: at most 10000 findings are reported per rule",
    },
    Row {
        input: "A control character in the text",
        make: |repository| manifest(repository, "data: {a: \u{1b}[31m}\n"),
        arguments: "rendered",
        says: "error[unreadable-document] control characters are not allowed: U+001B",
    },
    Row {
        input: "A terminal escape in a name",
        make: |repository| named(repository, "web\u{1b}[31m"),
        arguments: "rendered",
        says: "finalizer `bad` of ConfigMap `web␛[31m` has no domain",
    },
    Row {
        input: "A mark in a name that turns the direction of the text",
        make: |repository| named(repository, "user\u{202e}nimda"),
        arguments: "rendered",
        says: "finalizer `bad` of ConfigMap `user\u{fffd}nimda` has no domain",
    },
    Row {
        input: "A name with a line break and a workflow command",
        make: |repository| named(repository, "web\n::error::pwned"),
        arguments: "rendered",
        says: "finalizer `bad` of ConfigMap `web ::error::pwned` has no domain",
    },
    Row {
        input: "A name that ends a quoted word of a shell",
        make: |repository| {
            let object = CONFIG_MAP.replace(
                "settings",
                "\"'; touch pwned #\", finalizers: [example.com/x]",
            );
            repository.write("rendered/a.yaml", &object);
        },
        arguments: "plan delete configmap/\"'; touch pwned #\" -n shop -f rendered",
        says: "kubectl patch configmap \"'; touch pwned #\" -n shop",
    },
    Row {
        input: "HTML or Markdown in a name",
        make: |repository| named(repository, "</script><b>*x*"),
        arguments: "-o markdown rendered",
        says: "<code>&#60;/script&#62;&#60;b&#62;&#42;x&#42;</code>",
    },
    Row {
        input: "A file name that is not UTF-8",
        make: |repository| {
            use std::os::unix::ffi::OsStrExt;
            let name = std::ffi::OsStr::from_bytes(b"\xFF.yaml");
            std::fs::write(
                repository.path().join("rendered").join(name),
                "kind: Pod\nmetadata: [\n",
            )
            .expect("a file");
        },
        arguments: "rendered",
        says: "rendered/\\xFF.yaml:3:1: error[unreadable-document]",
    },
    Row {
        input: "A link to a file outside the repository",
        make: |repository| link(repository, "/etc/passwd"),
        arguments: "rendered",
        says: "`rendered/a.yaml` is a symbolic link out of the tree: name the file that it leads to instead",
    },
    Row {
        input: "A link into `.git`",
        make: |repository| {
            repository.write(
                ".git/config",
                "[http]\n\textraheader = AUTHORIZATION: basic hunter2\n",
            );
            link(repository, "../.git/config");
        },
        arguments: "rendered",
        says: "`rendered/a.yaml` is a symbolic link into `.git`",
    },
    Row {
        input: "A link to a folder outside the repository",
        make: |repository| {
            symlink("/", repository.path().join("rendered/everything")).expect("a link");
        },
        arguments: "rendered",
        says: "rendered/everything: this symbolic link leads out of the tree and was not followed",
    },
    Row {
        input: "Links in a loop",
        make: |repository| link(repository, "a.yaml"),
        arguments: "rendered",
        says: "`rendered/a.yaml` is a broken symbolic link",
    },
    Row {
        input: "A FIFO or a device",
        make: |repository| {
            let fifo = repository.path().join("rendered/a.yaml");
            assert!(
                std::process::Command::new("mkfifo")
                    .arg(fifo)
                    .status()
                    .expect("mkfifo runs")
                    .success()
            );
        },
        arguments: "rendered",
        says: "`rendered/a.yaml` is not a regular file",
    },
    Row {
        input: "A configuration that names folders of the machine",
        make: |repository| {
            _ = repository.write(
                "ownerlint.yaml",
                "version: 1\nbundles: {all: {paths: [/etc]}}\n",
            );
        },
        arguments: "",
        says: "error: bundle `all`: `/etc` is outside the repository",
    },
    Row {
        input: "A thousand bundles of the same thousand files",
        make: |repository| {
            (0..1_000).for_each(|number| {
                _ = repository.write(&format!("all/{number}.yaml"), "kind: Pod\n");
            });
            let bundles: String = (0..1_000)
                .map(|number| format!("  b{number}: {{ paths: [all] }}\n"))
                .collect();
            repository.write(
                "ownerlint.yaml",
                &format!("version: 1\nbundles:\n{bundles}"),
            );
        },
        arguments: "",
        says: "the paths of all bundles lead to more than 500000 files together",
    },
    Row {
        input: "A pattern with 200 levels of braces",
        make: nothing,
        arguments: LEVELS_OF_BRACES,
        says: "is not a valid glob",
    },
    Row {
        input: "A hundred thousand threads",
        make: nothing,
        arguments: "--threads 100000 rendered",
        says: "error: `--threads 100000`: at most 1024 threads are started",
    },
    Row {
        input: "An output that cannot be written",
        make: |repository| {
            repository.write("out.json", "old\n");
            let out = repository.path().join("out.json");
            std::fs::set_permissions(out, std::fs::Permissions::from_mode(0o444))
                .expect("permissions");
        },
        arguments: "-o json:out.json rendered",
        says: "cannot write `out.json`: permission denied",
    },
    Row {
        input: "A full disk",
        make: nothing,
        arguments: "-o json:/dev/full rendered",
        says: "cannot write `/dev/full`: No space left on device",
    },
    Row {
        input: "A Secret beside what is wrong",
        make: |repository| {
            repository.write(
                "rendered/a.yaml",
                "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\nstringData: {a: hunter2, a: hunter3}\n",
            );
        },
        arguments: "-o human rendered",
        says: "stringData: *** ******** a: ********",
    },
];

/// Returns the output of the program on both streams, in a step of a workflow.
fn answer(row: &Row) -> String {
    let inside = repository();
    (row.make)(&inside);
    let format = if row.arguments.contains("-o ") || row.arguments.starts_with("plan") {
        ""
    } else {
        "-o concise"
    };
    let run = shell(
        &inside.path(),
        &format!("\"$OWNERLINT\" {} {format}", row.arguments),
    );
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

/// Formats a cell of a Markdown table.
fn cell(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    let blank = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}

#[test]
fn messages_of_hostile_inputs_guide_are_printed() {
    let page = page("docs/guide/hostile-inputs.md");
    let written: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'))
        .collect();
    let rows: Vec<String> = ROWS
        .iter()
        .map(|row| format!("| {} | {} |", row.input, cell(row.says)))
        .collect();
    for row in ROWS {
        let said = answer(row);
        assert!(said.contains(row.says), "{}: {said}", row.input);
    }
    let missing: Vec<_> = rows
        .iter()
        .filter(|row| !written.contains(&row.as_str()))
        .collect();
    assert!(missing.is_empty(), "the page lacks: {missing:#?}");
    let others: Vec<_> = written
        .iter()
        .filter(|line| !rows.iter().any(|row| row == *line))
        .collect();
    assert!(others.is_empty(), "nothing proves: {others:#?}");
}
