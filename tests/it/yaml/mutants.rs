//! YAML constructs, real documents and mutants of them: the parser agrees with a port of libyaml, and every span is
//! within the text.

use ownerlint::text::decode;
use rayon::prelude::*;
use walkdir::WalkDir;

use crate::fuzz::targets;
use crate::support::root;
use crate::yaml::decode;

#[path = "../../../fuzz/mutation.rs"]
mod mutation;

const MUTANTS: u64 = 4_000;

/// One text for each construct that is usual in rendered manifests.
const USUAL: &[&str] = &[
    "text\n",
    "---\n~\n",
    "# comment\n- \n",
    "# comment\nsome text\n",
    // Empty or almost empty texts.
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

/// One text for each other construct, valid or invalid.
const UNUSUAL: &[&str] = &[
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

/// Runs the fuzz targets about reading YAML.
fn check(text: &str) {
    targets::run("documents", text.as_bytes());
    targets::run("libyaml", text.as_bytes());
}

fn documents(folder: &str) -> Vec<String> {
    let files = WalkDir::new(root().join(folder))
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok);
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "yaml"));
    files
        .filter_map(|file| std::fs::read_to_string(file.path()).ok())
        .collect()
}

fn constructs() -> impl Iterator<Item = &'static str> {
    USUAL.iter().chain(UNUSUAL).copied()
}

#[test]
fn constructs_parse_like_libyaml() {
    constructs().for_each(check);
}

#[test]
fn recorded_inputs_parse_like_libyaml() {
    let inputs = decode::inputs().into_iter();
    inputs
        .filter_map(|(_, input)| decode(input).ok())
        .for_each(|text| check(&text));
}

#[test]
fn seeds_parse_like_libyaml() {
    for seed in &documents("fuzz/seeds") {
        check(seed);
    }
}

#[test]
fn mutants_parse_like_libyaml() {
    let mut sources: Vec<String> = constructs().map(str::to_owned).collect();
    sources.extend(documents("fuzz/seeds"));
    sources.extend(documents("fixtures/rules"));
    let mutants = (0..MUTANTS).into_par_iter();
    mutants.for_each(|number| check(&mutation::mutant(&sources, number)));
}
