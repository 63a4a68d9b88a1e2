//! The output of `check` on the corpus of real manifests in each format, parsed by the readers of the samples.

use std::collections::BTreeMap;

use ownerlint::engine::{self, Check};
use ownerlint::inventory::{Inventory, Settings};
use ownerlint::report::{Format, Options, Roots, render};
use serde_json::Value;

use super::{readers, schemas::parsed};
use crate::conformance::corpus::files;
use crate::support::corpus;

/// The limit of GitHub, which is for compressed files.
const MAX_BYTES: usize = 10_000_000;

/// Collects every string under `key`, at any depth.
fn strings_under<'a>(key: &str, value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(key).and_then(Value::as_str));
            members
                .values()
                .for_each(|value| strings_under(key, value, found));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|value| strings_under(key, value, found)),
        _ => {}
    }
}

/// Counts empty objects and lists; a run without results has one empty list.
fn empty_members(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            usize::from(members.is_empty()) + members.values().map(empty_members).sum::<usize>()
        }
        Value::Array(items) => {
            usize::from(items.is_empty()) + items.iter().map(empty_members).sum::<usize>()
        }
        _ => 0,
    }
}

#[test]
fn corpus_report_is_valid_in_every_format() {
    let Some(corpus) = corpus() else { return };
    let root = Some(corpus.to_string_lossy().into_owned());
    let roots = Roots {
        repository_root: root.clone(),
        working_directory: root,
    };
    let options = Options {
        roots,
        ..Options::default()
    };
    let report = engine::check(
        Inventory::new(files(corpus).to_vec(), Settings::default()),
        &Check::default(),
    );
    let texts: BTreeMap<_, _> = Format::ALL
        .map(|format| (format, render(format, &report, &options)))
        .into();

    assert!(
        report.findings.len() > 500,
        "the corpus has something to say: {}",
        report.findings.len()
    );
    for (format, text) in &texts {
        readers::read(*format, text, &report, &options);
        println!("{format}: {} bytes", text.len());
    }

    let sarif = &texts[&Format::Sarif];
    assert!(sarif.len() < MAX_BYTES, "{}", sarif.len());
    let sarif = parsed(sarif);
    let (mut uris, mut pages) = (Vec::new(), Vec::new());
    strings_under("uri", &sarif, &mut uris);
    strings_under("markdown", &sarif, &mut pages);
    assert!(uris.len() > report.findings.len());
    // The first segment of a relative reference has no colon, which would mark a scheme.
    let relative = |uri: &&str| {
        !uri.starts_with('/') && !uri.contains(':') && !uri.split('/').any(|part| part == "..")
    };
    assert_eq!(uris.iter().find(|uri| !relative(uri)), None);
    assert!(
        uris.iter()
            .all(|uri| corpus.join(uri.replace("%20", " ")).exists()),
        "every reference leads to a file"
    );
    assert_eq!(pages.len(), report.rules.len());
    let links = pages.iter().flat_map(|page| page.split("](").skip(1));
    assert_eq!(
        links.into_iter().find(|link| !link.starts_with("https://")),
        None,
        "nothing is beside a page on GitHub"
    );
    assert_eq!(empty_members(&sarif), 0);
}
