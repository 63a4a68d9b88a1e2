//! Targets for printed text: untrusted names in every format of every command are never interpreted.

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock, PoisonError};

use ownerlint::engine::Question;
use ownerlint::kube::kubectl::{self, Target};
use ownerlint::kube::{Namespace, shell};
use ownerlint::report::plan::{self, PlanFormat};
use ownerlint::report::{Format, Options};
use ownerlint::text::runner::{Syntax, without_commands};

use super::graphs::session;
use super::{check, text};

/// Every format with untrusted names can be parsed, and contains nothing that a reader interprets.
pub(crate) fn formats(data: &[u8]) {
    let name = text(data);
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": name, "finalizers": [name, "example.com/x"], "labels": {name.clone(): name},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": name, "name": name, "uid": name}]},
    });
    let manifest = format!("{}\n", super::ascii(&object));
    let report = check(&manifest);
    for format in Format::ALL {
        inert(&report.render(format), &format.to_string());
    }
    let Some(session) = session(&manifest) else {
        return;
    };
    let listing = session.list();
    inert(&listing.human(), "human");
    inert(&listing.json(), "json");
    let Some(object) = listing.objects.first() else {
        return;
    };
    let Some(steps) = super::steps_of(&[("delete", object.key.as_str())]) else {
        return;
    };
    let Ok(planner) = session.plan(
        &Question::Steps {
            steps,
            namespace: None,
        },
        None,
        true,
    ) else {
        return;
    };
    let plan = planner.simulate();
    for format in PlanFormat::ALL {
        inert(
            &plan::render(format, &planner.view(&plan), &Options::default()),
            &format.to_string(),
        );
    }
}

/// Whether a terminal interprets a character, or it reorders text.
pub(crate) fn is_obeyed(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Asserts that no line is interpreted by a terminal, a runner or a browser.
pub(super) fn inert(text: &str, format: &str) {
    if format == "html" {
        return page_is_inert(text);
    }
    for line in text.split('\n') {
        assert!(!line.contains(is_obeyed), "{format}: {line:?}");
    }
    match format {
        "json" | "sarif" | "gitlab" | "rdjson" | "lsp" => {
            let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
            let printed = without_commands(text, Syntax::Json);
            assert!(!starts_command(&printed), "{format}: {text}");
            if let Cow::Owned(printed) = printed {
                assert_eq!(
                    serde_json::from_str::<serde_json::Value>(&printed).expect("still JSON"),
                    value
                );
            }
        }
        "github" => assert!(
            text.lines()
                .all(|line| line.starts_with("::") || line.ends_with("them all")),
            "{text}"
        ),
        "markdown" | "mermaid" => {
            // Indented lines are code, which is shown verbatim.
            let markup = text.lines().filter(|line| !line.starts_with("    "));
            assert!(
                !markup
                    .clone()
                    .any(|line| line.to_ascii_lowercase().contains("<script")),
                "{text}"
            );
        }
        _ => assert!(
            !starts_command(&without_commands(text, Syntax::Text)),
            "{format}: {text}"
        ),
    }
}

/// Asserts that untrusted text is only in the title and in two data elements, one line each, and that everything else
/// is equal on every page.
fn page_is_inert(page: &str) {
    static STYLE: OnceLock<String> = OnceLock::new();
    static SCRIPTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let (head, rest) = page.split_once("<title>").expect("a title");
    let (title, rest) = rest.split_once('\n').expect("a line");
    let style = STYLE.get_or_init(|| rest.split_once("<script type").expect("data").0.to_owned());
    let rest = rest
        .strip_prefix(style.as_str())
        .expect("the style of every page");
    let (contract, rest) = rest.split_once('\n').expect("a line");
    let (beside, scripts) = rest.split_once('\n').expect("a line");
    let title = title
        .strip_suffix("</title>")
        .expect("the end of the title");
    for (line, start) in [
        (
            contract,
            "<script type=\"application/json\" id=\"contract\">",
        ),
        (beside, "<script type=\"application/json\" id=\"beside\">"),
    ] {
        let data = line
            .strip_prefix(start)
            .and_then(|line| line.strip_suffix("</script>"))
            .expect("an element of data");
        assert!(
            !data.contains(|c| is_obeyed(c) || "<>&\n".contains(c)) && !starts_command(data),
            "{data}"
        );
        serde_json::from_str::<serde_json::Value>(data).expect("JSON");
    }
    assert!(
        !head.contains(is_obeyed) && !title.contains(|c| is_obeyed(c) || "<>".contains(c)),
        "{head}{title}"
    );
    // There are scripts with and without the graph.
    let mut known = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|known| known == scripts) {
        known.push(scripts.to_owned());
    }
    assert!(known.len() <= 2, "{scripts}");
}

/// Whether a runner would interpret a line as a command: `::name` at its start, `##[name]` and `##vso[name]` anywhere.
pub(crate) fn starts_command(text: &str) -> bool {
    text.lines().any(|line| {
        line.trim_start().starts_with("::") || line.contains("##[") || line.contains("##vso[")
    })
}

/// A shell splits command lines with untrusted names into the intended words and executes nothing.
pub(crate) fn commands(data: &[u8]) {
    let text = text(data);
    let (kind, rest) = text
        .split_once('\n')
        .unwrap_or(("Widget.example.com", &text));
    let (name, namespace) = rest.split_once('\n').unwrap_or((rest, rest));
    let target = Target::new(kind, name, &Namespace::Named(namespace.into()));
    let stored = ["example.com/a".to_owned(), name.to_owned()];
    let mut words = vec!["kubectl", "delete"];
    words.extend([kind, name, namespace]);
    let lines = [
        (shell::line(words.iter().copied()), Some(words.len())),
        (kubectl::delete(&target, &["--cascade=orphan"]), None),
        (
            kubectl::delete_several(&[target.clone(), target.clone()], &[]),
            None,
        ),
        (
            kubectl::delete_every(std::slice::from_ref(&target), &[]),
            None,
        ),
        (
            kubectl::annotate(
                std::slice::from_ref(&target),
                &format!("{name}={namespace}"),
            ),
            None,
        ),
        (
            kubectl::delete_files(&[name.to_owned(), kind.to_owned()], &[]),
            Some(6),
        ),
        (kubectl::remove_finalizers(&target, &stored, &stored), None),
        (kubectl::remove_spec_finalizer(namespace, name), None),
    ];
    for (line, count) in lines {
        assert!(
            !line.contains(|c| is_obeyed(c) || c == '\n' || c == '\t'),
            "{line:?}"
        );
        let split = shlex::split(&line).unwrap_or_else(|| panic!("a quote is left open: {line}"));
        assert!(
            count.is_none_or(|count| split.len() == count),
            "{line}: {split:?}"
        );
        let outside = outside_quotes(&line).replace(" | ", " ");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-./:@]_=, ".contains(c);
        assert!(outside.chars().all(is_plain), "{line}: {outside}");
    }
}

/// Returns the parts of a line outside quotes. Double quotes must not contain anything that a shell still interprets.
fn outside_quotes(line: &str) -> String {
    let mut outside = String::new();
    let (mut quote, mut characters) = (None, line.chars());
    while let Some(c) = characters.next() {
        match quote {
            Some('"') if c == '\\' => drop(characters.next()),
            Some(open) => {
                assert!(open == '\'' || !matches!(c, '$' | '`'), "{line}");
                quote = quote.filter(|open| *open != c);
            }
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => outside.push(c),
        }
    }
    outside
}
