//! The fast parser: what it takes, what it leaves to the exact one, and that nobody can tell which of them read a document.

use ownerlint::text::{SourceFile, decode};
use ownerlint::yaml::{Verified, verify};
use rayon::prelude::*;
use walkdir::WalkDir;

use crate::support::{Repository, corpus, root};
use crate::yaml_decode;

/// One text for each construct of the subset.
const TAKEN: &[&str] = &[
    "text\n",
    "---\n~\n",
    "# comment\n- \n",
    "# comment\nsome text\n",
    // Nothing, and next to nothing.
    "",
    "# only a comment\n",
    "---\n",
    "--- # rendered\n# Source: chart/templates/empty.yaml\n",
    // Mappings and sequences.
    "a: b\nc:\n  d: e\n  f:\nlast:\n",
    "  a: b\n  c: d\n",
    "- a\n- b\n",
    "a:\n- b\n-\n- c: d\n  e: f\n-   g: h\n    i: j\nk: l\n",
    "a:\n  - - b\n    - c\n  -\n    - d\n  - - - e\n",
    "a:\n  b:\n  - c:\n    - d\n    e: f\ng: h\n",
    "key with spaces : value with spaces\nhttp://a:b: c:d\n-x: -y\n?z: ?w\n::v: ::u\n",
    "a:\tb\nc: \td\n",
    "<<: {a: b}\na: 1\na: 2\n",
    // Comments.
    "# a\na: b # c\n  # d\nc: # e\n      # f\n  d: e#f\n# g\nlist: # h\n# i\n- # j\n  x\n#\n",
    // Unquoted text.
    "a: one\n  two\n\n\n  three # c\nb: c\n",
    "a:\n  one\n  - two\n   ? three\n\n  \"four\nb: c\n",
    "- a\n  b\n-\n  c\n d\n",
    "a: b  \nc: d\t\ne: f \t # g\n",
    // Quoted text.
    "a: 'it''s'\nb: \"x\"\n'c': \"\"\n\"d\" : ''\n\"e f\":\n  - 'g'\n",
    "a: 'one\n  two\n\n  three'\nb: \"one\n\n    two\\n  \\\n    three \\\n\n   four\\t\n   five\"\n",
    "a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\'\\\\\\N\\_\\L\\P\\x41\\u00e9\\U0001f600\"\n",
    "- \"a\" # b\n- 'c'   \n",
    // Block scalars.
    "a: |\n  one\n   two\n\n  three\n\nb: >\n  one\n  two\n\n  three\n   four\n  five\n\n\nc: d\n",
    "a: |-\n  one\n\nb: |+\n  one\n\nc: >-\n  one\n\nd: >+\n  one\n\n",
    "a: |2\n   one\n  two\nb: |1-\n one\nc: >-3\n    one\n   two\nd:\n  - |2\n      one\n",
    "a: | # comment\n  # no comment\n  x: y\n# comment\nb: |\nc: |\n\nd: |+\n\n",
    "- |\n one\n- - >\n   two\n  - |-\n   three\n",
    "a: |\n\n  one\n  \n",
    "a: |\n  one\n    \n  \ttwo\n",
    // Flow collections.
    "a: []\nb: {}\nc: [ ]\nd: { }\ne: [a, \"b\", 'c', 1.5, a b, -1, -, x:y]\n",
    "a: {b: c, \"d\": e, 'f':g, \"h\" : [i, {j: k}], l: {}, m: , n: }\n",
    "a: [b, c,] # d\n",
    "- {a: b,}\n- [[], [[a]]]\n",
    "a: [\n  b, # c\n\n  \"d\",\n# e\n{f: g,\nh: [i]}\n]\nj: k\n",
    // Anchors of values, and aliases as values.
    "a: &a b\nc: *a\nd: &d\n  e: f\ng:\n  <<: *d\nh: &h\n- *a\n- &i [*a, *d]\n- &j\n- &k\n  l: m\nn: &n\no: &o # p\n",
    // Line ends.
    "a: b\r\nc:\r\n- |\r\n  one\r\n\r\n  two\r\n- \"one\r\n  two\"\r\n- one\r\n  two\r\n# d\r\ne: [f,\r\n  g]\r\n",
    "a: b",
    "a: |\n  b",
    // The end of the document.
    "a: b\n...\n",
    "a: b\n... # c\n\n# d\n",
    // A flow collection alone.
    "[a]\n",
    "{a: b}\n",
    "---\n{}\n",
    "# a\n[b,\nc] # d\n# e\n",
    "  {a: [b, {c: d}]}\n...\n",
    // Characters of several bytes.
    "é: ü # ö\n😀: \"😀\"\na: |\n  ß\n",
];

/// One text for each construct outside of it: of those that are right, and of those that go-yaml refuses.
const REFUSED: &[&str] = &[
    "text # comment\n",
    "two\nlines\n",
    "text\n# comment\n",
    "&a text\n",
    "%YAML 1.1\n---\na: b\n",
    "a: b\n...\nc: d\n",
    "a: b\n...\n...\n",
    "...\n",
    "'text'\n",
    "| \n  text\n",
    "{a: b}\nc: d\n",
    "[a]: b\n",
    "{a: b} c\n",
    "&a [b]\n",
    "&a b\n",
    "&a\nb: c\n",
    "a: !!str b\n",
    "!a b: c\n",
    "&a b: c\n",
    "- &a b: c\n",
    "*a : b\n",
    "a: &a *b\n",
    "a: &a &b c\n",
    "a: &a\n  &b c\n",
    "a: &a # c\n  *b\n",
    "a: [&a b]\n",
    "? a\n: b\n",
    ": b\n",
    "a: b: c\n",
    "a: - b\n",
    "a: b\n  c: d\n",
    "a: b\n# c\n  d\n",
    "a:\n  b: c\n d: e\n",
    "a:\n    b: c\n  d: e\n",
    "a: b\n- c\n",
    "- a\nb: c\n",
    "  a: b\nc: d\n",
    "a\nb: c\n",
    "a:\n\tb: c\n",
    "a: b\n\t\nc: d\n",
    "-\ta\n",
    "a: 'b'c\n",
    "a: 'b'#c\n",
    "'a':b\n",
    "a: 'b\nc'\n",
    "'a\n b': c\n",
    "a: \"b\\/\"\n",
    "a: \"b\\ud83d\"\n",
    "a: \"b\n",
    "a: 'b\n...\n'\n",
    "a: |0\n  b\n",
    "a: |22\n  b\n",
    "a: |#c\n  b\n",
    "a: | b\n",
    "a: |\n    \n  b\n",
    "a: |\n\tb\n",
    "a: |\n   b\n  c\n",
    "a: [b\n",
    "a: [b\n---\n]\n",
    "a: [b}\n",
    "a: [,]\n",
    "a: [b,,c]\n",
    "a: [b c\n  d]\n",
    "a: [b: c]\n",
    "a: [b?]\n",
    "a: [#b\n]\n",
    "a: {b}\n",
    "a: {b:c}\n",
    "a: {? b : c}\n",
    "a: {[b]: c}\n",
    "a: {{ b }}\n",
    "a: [b]: c\n",
    "a: {b: |\n c}\n",
    "a: %b\n",
    "a: @b\n",
    "a: `b\n",
    "a: b\rc: d\n",
    "a: b\r\r\n",
    "a: b\u{85}c: d\n",
    "a: b\u{2028}\n",
    "a: \u{FEFF}b\n",
    "a: \u{7F}\n",
    "a: \u{FFFE}\n",
];

fn verified(text: &str) -> Verified {
    verify(&SourceFile::new("f.yaml", text))
}

#[test]
fn what_rendered_manifests_are_written_in_is_taken_and_read_as_the_exact_parser_reads_it() {
    for text in TAKEN {
        let Verified {
            refused,
            differences,
            ..
        } = verified(text);
        assert!(
            refused.is_empty() && differences.is_empty(),
            "{text:?}: {refused:?} {differences:?}"
        );
    }
}

#[test]
fn everything_else_is_left_to_the_exact_parser() {
    for text in REFUSED {
        assert!(!verified(text).refused.is_empty(), "{text:?}");
    }
}

#[test]
fn depth_and_long_keys_are_left_to_the_exact_parser() {
    let nested = |depth: usize| {
        (0..depth)
            .map(|level| format!("{}a:\n", " ".repeat(level)))
            .collect::<String>()
    };
    let flow = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    for (text, taken) in [
        (nested(200), true),
        (nested(201), false),
        (flow(200), true),
        (flow(201), false),
        ("- ".repeat(100_000), false),
        (format!("{}: b\n", "a".repeat(1024)), true),
        (format!("{}: b\n", "a".repeat(1025)), false),
        (format!("a: {{{}: b}}\n", "a".repeat(1025)), false),
    ] {
        let Verified {
            refused,
            differences,
            ..
        } = verified(&text);
        assert_eq!(
            (refused.is_empty(), differences.is_empty()),
            (taken, true),
            "{} bytes",
            text.len()
        );
    }
}

#[test]
fn no_input_that_kubectl_refuses_is_read_differently() {
    for (name, input) in yaml_decode::inputs() {
        if let Ok(text) = decode(input) {
            assert_eq!(verified(&text).differences, [], "{name}");
        }
    }
}

/// What the two parsers make of all YAML below a folder. JSON is not their business.
fn verified_below(folder: &std::path::Path) -> Verified {
    let files = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    let files: Vec<_> = files
        .filter(|file| {
            file.path()
                .extension()
                .is_some_and(|end| end == "yaml" || end == "yml")
        })
        .collect();
    let verified = files.par_iter().filter_map(|file| {
        let text = decode(std::fs::read(file.path()).ok()?).ok()?;
        let source = SourceFile::new(file.path().to_string_lossy(), text);
        let verified = (!source.text().trim_start().starts_with('{')).then(|| verify(&source))?;
        assert_eq!(verified.differences, [], "{}", source.path());
        Some(verified)
    });
    verified.reduce(Verified::default, |mut all, one| {
        all.documents += one.documents;
        all.refused.extend(one.refused);
        all
    })
}

/// Runs `check` on a file with a parser: its status and what it says.
fn checked(parser: &str, text: &str) -> (i32, String) {
    let repository = Repository::new();
    repository.write("a.yaml", text);
    let (status, printed, said) =
        repository.run(&["--parser", parser, "--output", "json", "a.yaml"], "");
    (status, printed + &said)
}

#[test]
fn either_parser_can_be_asked_for_and_both_be_compared() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  finalizers: [x]\n";
    let fast = checked("fast", text);
    assert!(fast.1.contains("finalizers[0]"), "{}", fast.1);
    assert_eq!(checked("exact", text), fast);
    assert_eq!(checked("verify", text), fast);
    assert_eq!(checked("another", text).0, 2);
}

#[test]
fn no_help_mentions_the_parsers() {
    let (_, help, _) = Repository::new().run(&["check", "--help"], "");
    assert!(!help.contains("--parser"), "{help}");
}

#[test]
fn the_fixtures_are_read_alike_and_most_of_them_by_the_fast_parser() {
    let Verified {
        documents, refused, ..
    } = verified_below(&root().join("fixtures"));
    assert!(documents > 500, "{documents}");
    assert!(
        refused.len() * 100 <= documents as usize * 2,
        "{} of {documents}: {refused:?}",
        refused.len()
    );
}

#[test]
fn of_a_corpus_of_real_manifests_the_fast_parser_takes_99_of_100() {
    let Some(corpus) = corpus() else { return };
    let Verified {
        documents, refused, ..
    } = verified_below(corpus);
    assert!(
        refused.len() * 100 <= documents as usize,
        "{} of {documents}: {refused:?}",
        refused.len()
    );
}
