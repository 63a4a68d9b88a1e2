//! Hostile documents: reading each must end, in the small stack of a test thread.

use ownerlint::yaml::{Content, Document};

use crate::yaml::support::read_text;

fn refusal(text: &str) -> Option<String> {
    match read_text(text)
        .1
        .into_iter()
        .next()
        .map(|document| document.content)
    {
        Some(Content::Unreadable(error)) => Some(error.message.into_owned()),
        _ => None,
    }
}

fn nested_maps(depth: usize) -> String {
    (0..depth)
        .map(|level| format!("{}a:\n", " ".repeat(level)))
        .collect()
}

#[test]
fn billion_laughs_are_rejected() {
    let level = |name: char, before: char| {
        format!(
            "{name}: &{name} [{}]\n",
            vec![format!("*{before}"); 9].join(",")
        )
    };
    let names: Vec<char> = ('a'..='i').collect();
    let rest: String = names
        .windows(2)
        .map(|pair| level(pair[1], pair[0]))
        .collect();
    let text = format!("a: &a [x,x,x,x,x,x,x,x,x]\n{rest}");
    assert_eq!(
        refusal(&text).as_deref(),
        Some("document contains excessive aliasing")
    );
}

#[test]
fn nesting_is_limited_to_ten_thousand_levels() {
    let flow = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(refusal(&flow(10_000)), None);
    assert_eq!(
        refusal(&flow(10_001)).as_deref(),
        Some("exceeded max depth of 10000")
    );
    assert_eq!(
        refusal(&flow(100_000)).as_deref(),
        Some("exceeded max depth of 10000")
    );
    assert_eq!(
        refusal(&format!("a: {}", flow(10_000))).as_deref(),
        Some("exceeded max depth of 10000")
    );
    assert_eq!(
        refusal(&"- ".repeat(100_000)).as_deref(),
        Some("exceeded max depth of 10000")
    );
    assert_eq!(refusal(&nested_maps(5_000)), None);
    let json = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(refusal(&json(10_000)), None);
    assert!(refusal(&json(10_001)).is_some());
}

#[test]
fn aliases_count_towards_the_depth_limit() {
    let half = format!("{}x{}", "[".repeat(6_000), "]".repeat(6_000));
    let text = format!(
        "a: &a {half}\nb: {}*a{}\n",
        "[".repeat(6_000),
        "]".repeat(6_000)
    );
    assert_eq!(
        refusal(&text).as_deref(),
        Some("exceeded max depth of 10000")
    );
}

#[test]
fn long_scalars_many_keys_and_many_duplicates_are_read() {
    assert_eq!(refusal(&format!("a: {}\n", "x".repeat(20_000_000))), None);
    let keys: String = (0..300_000)
        .map(|number| format!("k{number}: v\n"))
        .collect();
    assert_eq!(refusal(&keys), None);
    let (_, documents) = read_text(&"a: 1\n".repeat(20_000));
    assert_eq!(
        documents
            .iter()
            .map(|document: &Document| document.problems.len())
            .sum::<usize>(),
        19_999
    );
}

#[test]
fn excessive_merging_is_rejected() {
    let keys: String = (0..1_000).map(|number| format!("k{number}: v, ")).collect();
    let merges = "- <<: *a\n".repeat(5_000);
    assert_eq!(
        refusal(&format!("a: &a {{{keys}}}\nb:\n{merges}")).as_deref(),
        Some("document contains excessive aliasing")
    );
}

#[test]
fn parsing_of_unclosed_structures_terminates() {
    for unit in [
        "{", "[", "\"", "'", "- ", "? ", ": ", "&a ", "!a ", "*a ", "|\n", "a: ", "{a: ", "[{",
        "---\n", "...\n", "%A\n",
    ] {
        read_text(&unit.repeat(20_000));
    }
}
