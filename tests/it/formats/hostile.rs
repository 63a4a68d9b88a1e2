//! Hostile text in every part of a report breaks no format.

use ownerlint::finding::{
    Applicability, Chain, Consequence, Edit, Finding, Fix, Label, Relation, Severity,
};
use ownerlint::kube::{Namespace, ObjectKey, kinds};
use ownerlint::report::{Format, HumanOptions, MarkdownOptions, Options, Report, render};
use ownerlint::text::{ColumnUnit, FileId, SourceFile, Sources, Span};
use proptest::prelude::*;

use super::{readers, sample};
use crate::properties::cases;

/// Generates texts that could break formats, mixed with ordinary text.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        4 => "[a-z ]{0,8}",
        1 => any::<String>(),
        3 => prop::sample::select(vec![
            "\n", "\r\n", "\r", "\t", "\0", "\u{1b}[31m", "\u{1b}]8;;x\u{7}", "\u{9b}2J", "\u{85}", "\u{2028}", "\u{202e}", "\u{feff}",
            "::", "::error::x", "##[error]", "%0A", "%", ",", "|", "`", "```", "](http://x)", "[", "<b>", "</failure>", "]]>", "&amp;",
            "@team", "\\", "'", "\"", "😀", "👨‍👩‍👧", "é", "漢字", "\u{ffff}", "---\n", "# x",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn span(limit: u32) -> impl Strategy<Value = Span> {
    (0..limit, 0..limit).prop_map(|(start, length)| Span::new(start, start + length))
}

/// Generates a finding in one of two files, with places inside, across lines, empty, or past the end.
fn finding() -> impl Strategy<Value = Finding> {
    let severity = prop::sample::select(vec![Severity::Info, Severity::Warning, Severity::Error]);
    let label = || {
        (0..2u32, span(80), text())
            .prop_map(|(file, span, message)| Label::new(FileId(file), span, message))
    };
    let key = || text().prop_map(|name| ObjectKey::new(kinds::SECRET, Namespace::None, name));
    let texts = (
        text(),
        text(),
        text(),
        prop::option::of(key()),
        prop::option::of(text()),
    );
    let places = (
        label(),
        prop::collection::vec(label(), 0..5),
        prop::collection::vec(key(), 0..4),
    );
    let edit = (0..2u32, span(80), text()).prop_map(|(file, span, replacement)| {
        let (file, within) = (FileId(file), span);
        Edit {
            file,
            span,
            replacement,
            within,
        }
    });
    let fix = (text(), prop::collection::vec(edit, 1..3)).prop_map(|(title, edits)| {
        let applicability = Applicability::Suggested;
        // A fix always has a title.
        Fix {
            title: format!("fix {title}"),
            applicability,
            edits,
        }
    });
    let places = (places, prop::option::of(fix));
    (severity, texts, places).prop_map(
        |(severity, (message, reason, help, object, field), ((primary, related, chain), fix))| {
            Finding {
                rule: "duplicate-object",
                severity,
                consequence: Consequence::Stuck,
                message,
                reason,
                help,
                object,
                alike: Vec::new(),
                field,
                target: None,
                primary,
                related,
                chain: Chain {
                    relation: Relation::Takes,
                    objects: chain,
                },
                tables: Vec::new(),
                fix,
            }
        },
    )
}

prop_compose! {
    fn report()(
        files in prop::array::uniform2((text(), text())),
        mut findings in prop::collection::vec(finding(), 0..5),
    ) -> Report {
        findings.sort_by_key(|finding| (finding.primary.file, finding.primary.span));
        let sources = files.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect();
        sample::with(Sources::new(sources), findings)
    }
}

fn options() -> impl Strategy<Value = Options> {
    let unit = prop::sample::select(vec![ColumnUnit::Utf8, ColumnUnit::Chars, ColumnUnit::Utf16]);
    (any::<bool>(), 0..200usize, unit, 0..4_000usize).prop_map(
        |(ascii, width, position_encoding, markdown_bytes)| {
            let sample = sample::options();
            Options {
                human: HumanOptions {
                    ascii,
                    width,
                    ..sample.human
                },
                position_encoding,
                markdown: MarkdownOptions {
                    bytes: markdown_bytes,
                    ..sample.markdown
                },
                ..sample
            }
        },
    )
}

/// Whether a terminal interprets a character, or it reorders text. Formats decide about line breaks and tabs.
fn obeyed(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || c == '\u{2028}'
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn arbitrary_reports_are_valid_in_every_format(report in report(), options in options()) {
        for format in Format::ALL {
            let text = render(format, &report, &options);
            prop_assert!(text.is_empty() || text.ends_with('\n'), "{format}");
            readers::read(format, &text, &report, &options);
        }
    }

    #[test]
    fn terminal_formats_escape_control_sequences(report in report(), options in options()) {
        for format in [Format::Human, Format::Concise] {
            let text = render(format, &report, &options);
            prop_assert!(!text.contains(obeyed), "{format}: {text:?}");
        }
    }

    #[test]
    fn rendering_is_deterministic(report in report(), options in options()) {
        for format in Format::ALL {
            prop_assert_eq!(render(format, &report, &options), render(format, &report.clone(), &options.clone()));
        }
    }
}

#[test]
fn long_line_gives_short_snippet() {
    let filler = "\"k\":\"😀é\",".repeat(20_000);
    let text = format!("{{{filler}\"kind\":\"List\",{filler}\"end\":0}}");
    let at = |needle: &str| sample::span(&text, needle, 0);
    let mut finding = sample::finding(
        "duplicate-object",
        Severity::Warning,
        Label::new(FileId(0), at("\"List\""), "this"),
    );
    finding.related = vec![Label::new(FileId(0), at("\"end\""), "far away")];
    let sources = Sources::new(vec![SourceFile::new("one.json", text.clone())]);
    let human = render(
        Format::Human,
        &sample::with(sources, vec![finding]),
        &sample::options(),
    );
    assert!(
        human.lines().all(|line| line.chars().count() <= 130),
        "{human}"
    );
    assert!(
        human.contains("\"kind\":\"List\"") && human.contains("- far away\n"),
        "{human}"
    );
}

#[test]
fn finding_in_empty_file_has_a_snippet() {
    let finding = sample::finding(
        "duplicate-object",
        Severity::Error,
        Label::new(FileId(0), Span::empty(0), "nothing here"),
    );
    let sources = Sources::new(vec![SourceFile::new("empty.yaml", "")]);
    let human = render(
        Format::Human,
        &sample::with(sources, vec![finding]),
        &sample::options(),
    );
    assert!(
        human.contains("--> empty.yaml:1:1\n") && human.contains("^ nothing here\n"),
        "{human}"
    );
}
