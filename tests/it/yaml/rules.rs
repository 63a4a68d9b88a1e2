//! The rules of Kubernetes' YAML and JSON, one by one, with the places of problems.

use ownerlint::text::{SourceFile, Span};
use ownerlint::yaml::{Content, Document, Dropped, Notation, ProblemKind, Quirk, Tree};
use serde_json::json;

use crate::yaml::support::{one, read_text, values};

fn tree(text: &str) -> (SourceFile, Tree) {
    let (file, documents) = read_text(text);
    match documents
        .into_iter()
        .next()
        .map(|document| document.content)
    {
        Some(Content::Value(tree)) => (file, tree),
        other => panic!("{text:?}: {other:?}"),
    }
}

/// Returns the text of the value at a path.
fn at(text: &str, path: &[&str]) -> String {
    let (file, tree) = tree(text);
    let value = tree
        .root()
        .at(path)
        .unwrap_or_else(|| panic!("{text:?} has no {path:?}"));
    file.slice(value.span()).to_owned()
}

/// Returns the problems and quirks of the first document, as `kind: text | related text`.
fn problems(text: &str) -> Vec<String> {
    let (file, documents) = read_text(text);
    let slice = |span: Span| file.slice(span).replace('\n', "⏎");
    let describe = |problem: &ownerlint::yaml::Problem| {
        let related = problem
            .related
            .map(|span| format!(" | {}@{}", slice(span), span.start))
            .unwrap_or_default();
        let kind = match &problem.kind {
            ProblemKind::DuplicateKey { key } => format!("duplicate {key} at {}", problem.path),
            ProblemKind::MergeOverride { key } => format!("merge over {key} at {}", problem.path),
            ProblemKind::DroppedContent { after } => format!("dropped {after:?}"),
            ProblemKind::NotUtf8 { count } => format!("{count} not UTF-8"),
        };
        format!(
            "{kind}: {}@{}{related}",
            slice(problem.span),
            problem.span.start
        )
    };
    let quirks = documents[0]
        .quirks
        .iter()
        .map(|(what, span)| format!("{what:?}: {}@{}", slice(*span), span.start));
    documents[0]
        .problems
        .iter()
        .map(describe)
        .chain(quirks)
        .collect()
}

fn error(text: &str) -> (String, Span) {
    let (_, documents) = read_text(text);
    match &documents[0].content {
        Content::Unreadable(error) => (error.message.to_string(), error.span),
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn scalar_spans_include_quotes_and_block_indicators() {
    let text = "a: plain text  # c\nb: 'it''s'\nc: \"x\\ny\"\nd: |-\n  one\n  two\n\ne: >\n  f\n";
    assert_eq!(at(text, &["a"]), "plain text");
    assert_eq!(at(text, &["b"]), "'it''s'");
    assert_eq!(at(text, &["c"]), "\"x\\ny\"");
    assert_eq!(at(text, &["d"]), "|-\n  one\n  two");
    assert_eq!(at(text, &["e"]), ">\n  f");
}

#[test]
fn anchors_and_tags_are_not_part_of_a_span() {
    let text = "a: &x !!str 5\nb: !!map &y\n  k: v\nc: *x\n";
    assert_eq!(at(text, &["a"]), "5");
    assert_eq!(at(text, &["b"]), "k: v");
    assert_eq!(at(text, &["c"]), "5", "an alias lies at its anchor");
}

#[test]
fn collections_span_from_their_first_key_or_dash_to_their_last_value() {
    let text = "m:\n  k: v\n  l:\n  - 1\n  - 2   # c\n\np:\n  - {a: b}\n  - [c]\n";
    assert_eq!(at(text, &["m"]), "k: v\n  l:\n  - 1\n  - 2");
    assert_eq!(at(text, &["m", "l"]), "- 1\n  - 2");
    assert_eq!(at(text, &["p"]), "- {a: b}\n  - [c]");
    assert_eq!(at(text, &[]), text.trim_end());
}

#[test]
fn missing_value_has_an_empty_span_after_its_key() {
    for (text, expected) in [
        ("a:\nb: 1\n", 2),
        ("a: # c\n", 2),
        ("{a: , b: 1}", 3),
        ("{a, b: 1}", 2),
        ("? a\n", 3),
    ] {
        let (_, tree) = tree(text);
        let span = tree.root().get("a").map(ownerlint::yaml::Value::span);
        assert_eq!(span, Some(Span::empty(expected)), "{text:?}");
    }
    let (_, tree) = tree("- \n- x\n");
    assert_eq!(
        tree.root().items().next().map(ownerlint::yaml::Value::span),
        Some(Span::empty(1))
    );
}

#[test]
fn key_spans_include_quotes() {
    let (file, tree) = tree("\"a\": 1\n'b c': 2\nyes: 3\n? d\n: 4\n");
    let keys: Vec<_> = tree
        .root()
        .entries()
        .map(|entry| (entry.key.to_owned(), file.slice(entry.key_span).to_owned()))
        .collect();
    let expected = [
        ("a", "\"a\""),
        ("b c", "'b c'"),
        ("true", "yes"),
        ("d", "d"),
    ];
    assert_eq!(
        keys,
        expected.map(|(key, written)| (key.to_owned(), written.to_owned()))
    );
}

#[test]
fn offsets_account_for_bom_crlf_and_multibyte_text() {
    let text = "\u{FEFF}a: é\r\nb:\r\n  c: '😀'\r\n---\r\nd: x";
    let (file, documents) = read_text(text);
    let spans: Vec<_> = documents
        .iter()
        .filter_map(|document| match &document.content {
            Content::Value(tree) => Some(tree.root().span()),
            _ => None,
        })
        .map(|span| file.slice(span).to_owned())
        .collect();
    assert_eq!(spans, ["a: é\r\nb:\r\n  c: '😀'", "d: x"]);
}

#[test]
fn plain_scalars_resolve_like_go_yaml_and_quoted_stay_strings() {
    let text = "[yes, On, n, ~, Null, 0777, 0o17, 0b101, 08, 1_000, 0x1F, -0x10, +5, 1e3, 1.50, .5, 5., 1:30, 2001-01-01, \
                'yes', \"1\", 1e400, 0x, _1, 18446744073709551615, 0xFFFFFFFFFFFFFFFFFF]";
    let expected = json!([
        true,
        true,
        false,
        null,
        null,
        511,
        15,
        5,
        8,
        1000,
        31,
        -16,
        5,
        1000,
        1.5,
        0.5,
        5,
        "1:30",
        "2001-01-01",
        "yes",
        "1",
        "1e400",
        "0x",
        "_1",
        18446744073709551615.0,
        4722366482869645213696.0
    ]);
    assert_eq!(one(text), Ok(expected));
}

#[test]
fn infinity_and_nan_values_are_rejected() {
    assert_eq!(
        error("a: .inf\n"),
        ("json: unsupported value: +Inf".to_owned(), Span::new(3, 4))
    );
    assert_eq!(
        one("a: [-.INF]"),
        Err("json: unsupported value: -Inf".to_owned())
    );
    assert_eq!(
        one("a: .NaN"),
        Err("json: unsupported value: NaN".to_owned())
    );
    assert_eq!(
        one(".inf: x"),
        Ok(json!({".inf": "x"})),
        "as a key it is text"
    );
}

#[test]
fn core_tags_are_applied_and_all_others_ignored() {
    let text = "[!!str yes, !!bool \"on\", !!float 1, !!int '7', !!binary aGk=, !x 5, !!timestamp 2001-1-1, ! 'yes', !!null '']";
    assert_eq!(
        one(text),
        Ok(json!([
            "yes", true, 1, 7, "hi", "5", "2001-1-1", "yes", null
        ]))
    );
    assert_eq!(
        one("!!int x"),
        Err("cannot decode !!str `x` as a !!int".to_owned())
    );
    assert_eq!(
        one("!!binary '*'"),
        Err("!!binary value contains invalid base64 data".to_owned())
    );
    assert_eq!(one("!a!b c"), Err("found undefined tag handle".to_owned()));
}

#[test]
fn lone_exclamation_mark_makes_a_string() {
    assert_eq!(
        one("[! 4318, ! no, ! ~, ! '', ! ]"),
        Ok(json!(["4318", "no", "~", "", ""]))
    );
}

#[test]
fn byte_order_mark_is_skipped_only_at_document_start() {
    assert_eq!(
        values("\u{FEFF}a: 1\n---\n\u{FEFF}b: 2\n"),
        [json!({"a": 1}), json!({"b": 2})]
    );
    assert_eq!(one("# c\n\u{FEFF}a: 1\n"), Ok(json!({"\u{FEFF}a": 1})));
}

#[test]
fn keys_become_json_keys_as_in_go() {
    let text = "{y: 1, 0x10: 2, 1.5: 3, 1e6: 4, 0.00001: 5, off: 6, 'null': 7, 1.0e1: 8}";
    let expected = json!({"true": 1, "16": 2, "1.5": 3, "1e+06": 4, "1e-05": 5, "false": 6, "null": 7, "10": 8});
    assert_eq!(one(text), Ok(expected));
    assert_eq!(
        error("a: 1\nnull: x\n"),
        ("unsupported map key: null".to_owned(), Span::new(5, 6))
    );
    assert!(one("[a]: x").is_err_and(|message| message.starts_with("invalid map key")));
    assert!(one("18446744073709551615: x").is_err());
    assert_eq!(
        one("a: &k yes\n*k : x"),
        Ok(json!({"a": true, "true": "x"}))
    );
}

#[test]
fn last_duplicate_key_wins_and_both_places_are_reported() {
    assert_eq!(one("a: 1\nb: 2\na: 3\n"), Ok(json!({"b": 2, "a": 3})));
    assert_eq!(
        problems("a: 1\nb: 2\na: 3\n"),
        ["duplicate a at a: a@10 | a@0"]
    );
    assert_eq!(
        problems("m:\n  l:\n  - x.y/z: 1\n    \"x.y/z\": 2\n"),
        ["duplicate x.y/z at m.l[0][x.y/z]: \"x.y/z\"@25 | x.y/z@12"]
    );
    assert_eq!(
        problems("m:\n- 1\n- l: [0, {}, {k: 1, k: 2}]\n"),
        ["duplicate k at m[1].l[2].k: k@27 | k@21"],
        "items are counted in each list"
    );
    assert_eq!(
        problems("y: 1\non: 2\n"),
        ["duplicate true at true: on@5 | y@0"]
    );
}

#[test]
fn merges_apply_in_written_order() {
    let base = "b: &b {x: 1, v: 2}\n";
    assert_eq!(
        one(&format!("{base}m:\n  <<: *b\n  v: 3\n")).map(|v| v["m"].clone()),
        Ok(json!({"x": 1, "v": 3}))
    );
    assert_eq!(
        problems(&format!("{base}m:\n  <<: *b\n  v: 3\n")),
        Vec::<String>::new()
    );
    let late = format!("{base}m:\n  v: 3\n  <<: *b\n");
    assert_eq!(
        one(&late).map(|v| v["m"].clone()),
        Ok(json!({"x": 1, "v": 2})),
        "go-yaml v2 lets the merge win"
    );
    assert_eq!(problems(&late), ["merge over v at m.v: v@24 | <<@31"]);
    let list = "c: &c {v: 9, z: 4}\nm: {<<: [*b, *c, {w: 5}]}\n";
    assert_eq!(
        one(&format!("{base}{list}")).map(|v| v["m"].clone()),
        Ok(json!({"w": 5, "v": 2, "z": 4, "x": 1})),
        "earlier mappings win"
    );
    assert_eq!(
        one("m: {'<<': 1}"),
        Ok(json!({"m": {"<<": 1}})),
        "quoted it is a key"
    );
}

#[test]
fn merging_an_equal_value_is_not_reported() {
    let silent = |written: &str, merged: &str| {
        let text = format!("b: &b {{v: {merged}}}\nm:\n  v: {written}\n  <<: *b\n");
        problems(&text).is_empty()
    };
    for same in ["1", "one", "~", "[a, {b: 1.5}]", "{a: [yes, no], b: {}}"] {
        assert!(silent(same, same), "{same}");
    }
    assert!(
        silent("{a: 1, b: 0x2}", "{b: 2, a: 1}"),
        "the order of keys and the spelling of numbers mean nothing"
    );
    for (written, merged) in [
        ("1", "'1'"),
        ("[a, b]", "[b, a]"),
        ("{a: 1}", "{a: 1, b: 2}"),
        ("{a: 1}", "{b: 1}"),
        ("[]", "{}"),
    ] {
        assert!(!silent(written, merged), "{written} is not {merged}");
    }
    assert_eq!(
        problems("a: &a {v: 1}\nm: {v: &v {x: 1}, w: 2, <<: [{v: *v}, *a]}\n").len(),
        1,
        "the merge of `a` came between"
    );
}

#[test]
fn comparison_of_merged_values_is_bounded() {
    // Each of 40 keys is an alias of a list of 40 items, and an equal list comes through the merge.
    let list = format!("[{}]", "x, ".repeat(40));
    let keys = |alias: &str| {
        (0..40)
            .map(|n| format!("  k{n}: *{alias}\n"))
            .collect::<String>()
    };
    let text = format!(
        "one: &one {list}\ntwo: &two {list}\nb: &b\n{}m:\n{}  <<: *b\n",
        keys("one"),
        keys("two")
    );
    let found = problems(&text).len();
    assert!(
        (30..40).contains(&found),
        "what is not compared counts as different: {found}"
    );
}

#[test]
fn invalid_merges_are_rejected() {
    for text in [
        "<<: 1",
        "<<: [1]",
        "a: &a [{x: 1}]\n<<: *a",
        "a: &a 1\n<<: *a",
        "<<: [[{x: 1}]]",
        "<<:\n",
    ] {
        assert_eq!(
            one(text),
            Err("map merge requires map or sequence of maps as the value".to_owned()),
            "{text:?}"
        );
    }
}

#[test]
fn alias_refers_to_last_earlier_anchor_in_its_document() {
    assert_eq!(one("[&a 1, *a, &a 2, *a]"), Ok(json!([1, 1, 2, 2])));
    assert_eq!(
        error("a: *b\nc: &b 1\n"),
        ("unknown anchor 'b' referenced".to_owned(), Span::new(3, 4))
    );
    assert_eq!(
        error("a: &a {b: *a}"),
        (
            "anchor 'a' value contains itself".to_owned(),
            Span::new(10, 11)
        )
    );
    let (_, documents) = read_text("a: &x 1\n---\nb: *x\n");
    assert!(matches!(documents[1].content, Content::Unreadable(_)));
}

#[test]
fn content_after_a_finished_value_is_reported_as_dropped() {
    let dropped = |text: &str, expected: &str| assert_eq!(problems(text), [expected], "{text:?}");
    dropped("a: 1\n...\nb: 2\n", "dropped DocumentEnd: b: 2@9");
    dropped("x: {a: 1}\n... c\nd\n\n", "dropped DocumentEnd: c⏎d@14");
    dropped("[a]\nb: 2\n", "dropped Root: b: 2@4");
    dropped("  a: 1\nb: 2\n", "dropped Root: b: 2@7");
    assert_eq!(
        problems("a: 1\n...\n# only a comment\n...\n"),
        Vec::<String>::new()
    );
    assert_eq!(one("a: 1\n...\n@ whatever"), Ok(json!({"a": 1})));
}

#[test]
fn nonstandard_yaml_is_read_and_reported() {
    let text = "spec:\n  a: \"foo\nmetadata: bar\"\nkind: X\n";
    assert_eq!(
        one(text),
        Ok(json!({"spec": {"a": "foo metadata: bar"}, "kind": "X"}))
    );
    assert_eq!(problems(text), ["LowContinuation: \"foo⏎@11"]);
    assert_eq!(one("a: 'x'#y\n"), Ok(json!({"a": "x"})));
    assert_eq!(problems("a: 'x'#y\n"), ["CommentWithoutBlank: #y@6"]);
    assert_eq!(one("a: \"x\u{85}y\"\n"), Ok(json!({"a": "x y"})));
    assert_eq!(
        problems("a: \"x\u{85}y\"\n"),
        ["UnicodeLineBreakInQuotes: \u{85}@5"]
    );
    assert_eq!(
        one("a: x\u{85}b: z\n"),
        Ok(json!({"a": "x", "b": "z"})),
        "two keys"
    );
    assert_eq!(problems("a: x\u{85}b: z\n"), ["UnicodeLineBreak: \u{85}@4"]);
    assert!(Quirk::LowContinuation.describe().contains("quoted"));
}

#[test]
fn separators_split_the_text_before_parsing() {
    assert_eq!(
        values("a: |\n  x\n---\n  z\n"),
        [json!({"a": "x\n"}), json!("z")]
    );
    assert_eq!(
        values("a: 1\n--- # c\nb: 2\n"),
        [json!({"a": 1}), json!({"b": 2})]
    );
    let (file, documents) = read_text("a: 1\n---foo\nb: 2\n");
    assert!(matches!(&documents[0].content, Content::Unreadable(error)
        if error.message == "invalid Yaml document separator: foo" && file.slice(error.span) == "---foo"));
    assert_eq!(documents[1].index, 1, "the next document is read");
    assert!(matches!(documents[1].content, Content::Value(_)));
}

#[test]
fn yaml_directives_are_rejected() {
    for text in [
        "%YAML 1.1\n---\na: 1\n",
        "%YAML 1.2\n---\na: 1\n",
        "%TAG ! tag:x,2000:\n---\na: 1\n",
    ] {
        let (_, documents) = read_text(text);
        assert!(
            matches!(documents[0].content, Content::Unreadable(_)),
            "{text:?}"
        );
        assert_eq!(documents.len(), 2);
    }
}

#[test]
fn documents_without_content_are_empty_and_counted() {
    let (_, documents) = read_text("---\n# c\n---\nnull\n---\na: 1\n---\n---\n");
    let empty = |document: &Document| matches!(document.content, Content::Empty);
    assert_eq!(
        documents.iter().map(empty).collect::<Vec<_>>(),
        [true, true, false, true]
    );
    assert_eq!(read_text("").1.len(), 0);
}

#[test]
fn unreadable_document_does_not_hide_the_next() {
    let (_, documents) = read_text("a: b: c\n---\nd: [\n---\ne: 1\n");
    let unreadable = documents
        .iter()
        .filter(|document| matches!(document.content, Content::Unreadable(_)))
        .count();
    assert_eq!((documents.len(), unreadable), (3, 2));
}

#[test]
fn errors_match_kubectl_and_have_exact_spans() {
    let expected = [
        (
            "a: @x\n",
            "found character that cannot start any token",
            Span::new(3, 4),
        ),
        (
            "a: b: c\n",
            "mapping values are not allowed in this context",
            Span::new(4, 5),
        ),
        (
            "a: 1\n b: 2\n",
            "mapping values are not allowed in this context",
            Span::new(7, 8),
        ),
        (
            "a:\n  b: 1\n c: 2\n",
            "did not find expected key",
            Span::new(11, 12),
        ),
        (
            "a: 1\nb\nc: 2\n",
            "could not find expected ':'",
            Span::new(5, 6),
        ),
        (
            "a: {b: c\n",
            "did not find expected ',' or '}'",
            Span::empty(9),
        ),
        (
            "a: \"b\n",
            "found unexpected end of stream in a quoted scalar",
            Span::new(3, 4),
        ),
        (
            "a: \"\\/\"\n",
            "found unknown escape character",
            Span::new(4, 5),
        ),
        (
            "a: \"\\ud83d\\ude00\"\n",
            "found invalid Unicode character escape code",
            Span::new(4, 5),
        ),
        (
            "a: |\n\tx\n",
            "found a tab character where an indentation space is expected",
            Span::new(5, 6),
        ),
        (
            "a: x\u{7F}\n",
            "control characters are not allowed: U+007F",
            Span::new(4, 5),
        ),
        (
            "a: - b\n",
            "block sequence entries are not allowed in this context",
            Span::new(3, 4),
        ),
    ];
    for (text, message, span) in expected {
        assert_eq!(error(text), (message.to_owned(), span), "{text:?}");
    }
}

#[test]
fn json_is_tried_first_and_may_be_a_stream() {
    let (file, documents) =
        read_text(" {\"a\": [1, 1.0, -2e1], \"b\": \"\\ud83d\\ude00\\/\"}{\"a\":null}\n[true]");
    assert!(
        documents
            .iter()
            .all(|document| document.format == Notation::Json)
    );
    let found: Vec<_> = documents
        .iter()
        .filter_map(crate::yaml::support::tree_json)
        .collect();
    assert_eq!(
        found,
        [
            json!({"a": [1, 1.0, -20.0], "b": "😀/"}),
            json!({"a": null}),
            json!([true])
        ]
    );
    assert_eq!(file.slice(documents[1].span), "{\"a\":null}");
    assert_eq!(at("{\"a\": {\"b\" : \"c\"}}", &["a"]), "{\"b\" : \"c\"}");
    assert_eq!(at("{\"a\": {\"b\" : \"c\"}}", &["a", "b"]), "\"c\"");
    assert_eq!(
        problems("{\"a\": 1, \"a\": 2}"),
        ["duplicate a at a: \"a\"@9 | \"a\"@1"]
    );
    assert_eq!(
        one("{\"<<\": 1, \"yes\": \"yes\"}"),
        Ok(json!({"<<": 1, "yes": "yes"})),
        "no YAML rules in JSON"
    );
}

#[test]
fn invalid_json_falls_back_to_yaml() {
    let (_, documents) = read_text("{\"a\": 1,}\n");
    assert_eq!((documents.len(), documents[0].format), (1, Notation::Yaml));
    let (_, documents) = read_text("{\"a\": 1}\n---\n{b: 2}\n");
    assert_eq!(
        documents
            .iter()
            .map(|document| document.format)
            .collect::<Vec<_>>(),
        [Notation::Json, Notation::Yaml]
    );
    assert_eq!(
        values("{\"a\": 1}\nb: 2\n"),
        [json!({"a": 1}), json!({"b": 2})]
    );
    let (message, span) = error("{\"a\": 1 \"b\": 2}");
    assert_eq!(
        (message.as_str(), span),
        (
            "json: invalid character '\"' after object key:value pair",
            Span::new(8, 9)
        )
    );
}

fn is_template(document: &Document) -> bool {
    matches!(&document.content, Content::Unreadable(error) if error.is_template())
}

#[test]
fn template_braces_are_recognised_where_they_break_the_document() {
    for text in [
        "a: {{ .x }}\n",
        "{{- if .y }}\na: 1\n{{- end }}\n",
        "a: \"{{ include \"x\" . }}\"\n",
        "{{ .k }}: v\n",
    ] {
        let (_, documents) = read_text(text);
        assert!(documents.iter().any(is_template), "{text:?}");
    }
    for text in [
        "a: '{{ .x }}'\n",
        "a: |\n  {{ .x }}\n",
        "a: |\n  {{ .x }}\nb: @\n",
        "a: x-{{ .x }}\n",
    ] {
        let (_, documents) = read_text(text);
        assert!(!documents.iter().any(is_template), "{text:?}");
    }
}

#[test]
fn comments_are_found_only_outside_scalars() {
    let text = "# top\na: 'x # no' # yes\nb: |  # header\n  # no\n  # own\nc: x#no\n  # last";
    let (file, documents) = read_text(text);
    let comments = documents[0].comments.iter();
    let found: Vec<_> = comments
        .map(|comment| (comment.text(file.text()), comment.own_line))
        .collect();
    let expected = [
        (" top", true),
        (" yes", false),
        (" header", false),
        (" last", true),
    ];
    assert_eq!(found, expected);
    let (file, documents) = read_text("a: 1\n---\n# second\nb: 2 # two\n");
    let spans: Vec<_> = documents[1]
        .comments
        .iter()
        .map(|comment| file.slice(comment.span))
        .collect();
    assert_eq!(spans, ["# second", "# two"]);
    let (file, documents) = read_text("# first\n---\nb: 2\n---\n# third\n");
    let comments = documents.iter().flat_map(|document| &document.comments);
    let spans: Vec<_> = comments.map(|comment| file.slice(comment.span)).collect();
    assert_eq!(spans, ["# first", "# third"]);
}

#[test]
fn dropped_content_records_its_cause() {
    let (_, documents) = read_text("a: 1\n...\nb: 2\n");
    let kind = documents[0]
        .problems
        .first()
        .map(|problem| problem.kind.clone());
    assert_eq!(
        kind,
        Some(ProblemKind::DroppedContent {
            after: Dropped::DocumentEnd
        })
    );
}
