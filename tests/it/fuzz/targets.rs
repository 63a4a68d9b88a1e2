//! What is fuzzed: each function takes any bytes and panics if something does not hold. `fuzz/` runs them under libFuzzer, and
//! `mod.rs` a few hundred fixed inputs as part of the tests.

use std::path::PathBuf;
use std::sync::LazyLock;

use ownerlint::config::Config;
use ownerlint::engine::{
    self, Check, CompareRequest, Comparison, ConfigChoice, Question, Request, Session, StateChoice, Steps, TeardownBy,
    TeardownRequest,
};
use ownerlint::inventory::{Inventory, Overlay, Settings};
use ownerlint::manifest::ParsedFile;
use ownerlint::report::plan::PlanFormat;
use ownerlint::report::{Format, Options};
use ownerlint::text::{SourceFile, Span};
use ownerlint::yaml::{self, Content};

/// A target: its name, and what it does with some bytes.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets. Each has a file in `fuzz/fuzz_targets/`.
pub(crate) const TARGETS: [Target; 10] = [
    ("documents", documents),
    ("parsers", parsers),
    ("objects", objects),
    ("suppressions", suppressions),
    ("config", config),
    ("steps", steps),
    ("simulation", simulation),
    ("teardown", teardown),
    ("diff", diff),
    ("formats", formats),
];

/// A folder that stays empty but for what a target writes.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

fn within(span: Span, text: &str) -> bool {
    let (start, end) = (span.start as usize, span.end as usize);
    start <= end && end <= text.len() && text.is_char_boundary(start) && text.is_char_boundary(end)
}

/// The split and the exact parser: every place is a place of the text.
pub(crate) fn documents(data: &[u8]) {
    let text = text(data);
    let mut end = 0;
    for document in yaml::read(&SourceFile::new("f", text.clone())) {
        assert!(within(document.span, &text) && document.span.start >= end, "documents are in order");
        end = document.span.start;
        assert!(document.comments.iter().all(|comment| within(comment.span, &text)));
        for problem in &document.problems {
            assert!(within(problem.span, &text) && problem.related.is_none_or(|span| within(span, &text)));
        }
        match document.content {
            Content::Empty => {}
            Content::Unreadable(error) => assert!(within(error.span, &text) && !error.message.is_empty()),
            Content::Value(tree) => assert!(within(tree.root().span(), &text)),
        }
    }
}

/// The fast parser reads what the exact one reads.
pub(crate) fn parsers(data: &[u8]) {
    let verified = yaml::verify(&SourceFile::new("f", text(data)));
    assert!(verified.differences.is_empty(), "{:?}", verified.differences);
}

/// Objects, templates and definitions, and what is hidden of Secrets.
pub(crate) fn objects(data: &[u8]) {
    let text = text(data);
    let file = ParsedFile::parse(SourceFile::new("f.yaml", text.clone()));
    for object in file.documents().iter().flat_map(|document| &document.objects) {
        assert!(within(object.name_span(), &text));
        assert!(object.name().is_none_or(|name| name.len() < 1100), "a name is bounded");
        object.templates();
        object.definition();
    }
    for line in 1..=file.source().line_count().min(1000) {
        let written = file.source().line_span(line).map_or(0, |span| span.end - span.start);
        assert_eq!(file.source().shown_line(line).len(), written as usize, "what is hidden moves nothing");
    }
    Inventory::new(vec![file], Settings::default());
}

/// Comments and annotations that suppress, before an object with findings: a suppression suppresses or is reported.
pub(crate) fn suppressions(data: &[u8]) {
    let object = "kind: Deploymentt\nmetadata: {name: a, finalizers: [bad]}\n";
    let comments: String = text(data).lines().map(|line| format!("# ownerlint: {line}\n")).collect();
    check(&format!("{comments}apiVersion: apps/v1\n{object}"));
    check(&format!("apiVersion: apps/v1 # ownerlint: {}\n{object}", text(data).replace(['\n', '\r'], " ")));
}

fn check(manifest: &str) -> ownerlint::Report {
    let file = ParsedFile::parse(SourceFile::new("f.yaml", manifest));
    let report = engine::check(Inventory::new(vec![file], Settings::default()), &Check::default());
    assert!(!report.notes.iter().any(|note| note.message.contains("failed on this input")), "{:?}", report.notes);
    report
}

/// A configuration is read, or its first mistake is shown at its place.
pub(crate) fn config(data: &[u8]) {
    let text = text(data);
    for text in [format!("version: 1\n{text}"), text] {
        if let Err(mistake) = Config::read(SourceFile::new("ownerlint.yaml", text)) {
            shown(&mistake);
        }
    }
}

/// Steps are read, or their first mistake is shown at its place.
pub(crate) fn steps(data: &[u8]) {
    if let Err(mistake) = Steps::read(SourceFile::new("steps.yaml", text(data))) {
        shown(&mistake);
    }
}

fn shown(mistake: &dyn miette::Diagnostic) {
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    let mut shown = String::new();
    handler.render_report(&mut shown, mistake).expect("a mistake can be shown");
}

/// A few objects of several kinds, tied to each other as the bytes say, as a manifest.
fn graph(data: &[u8]) -> String {
    const KINDS: [(&str, &str); 10] = [
        ("v1", "ConfigMap"),
        ("v1", "Pod"),
        ("v1", "Namespace"),
        ("v1", "Service"),
        ("apps/v1", "Deployment"),
        ("batch/v1", "Job"),
        ("example.com/v1", "Widget"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
        ("v1", "PersistentVolumeClaim"),
    ];
    const FINALIZERS: [&str; 6] = [
        "",
        "foregroundDeletion",
        "orphan",
        "example.com/x",
        "kubernetes.io/pvc-protection",
        "foregroundDeletion, example.com/x",
    ];
    let key = |at: usize| (KINDS[at % KINDS.len()], at);
    let mut manifest = String::new();
    for (at, bytes) in data.chunks(3).take(12).enumerate() {
        let byte = |index: usize| usize::from(bytes.get(index).copied().unwrap_or_default());
        let ((api_version, kind), _) = key(byte(0));
        let ((owner_version, owner), owner_at) = key(byte(1));
        let finalizers = FINALIZERS[byte(2) % FINALIZERS.len()];
        let (uid, blocking) = (owner_at % 12, byte(2) >= 128);
        let namespace = if byte(2) & 64 == 0 { "a" } else { "b" };
        let references = match byte(1) {
            0..=60 => String::new(),
            _ => format!(
                "ownerReferences: [{{apiVersion: {owner_version}, kind: {owner}, name: n{uid}, uid: u{uid}, blockOwnerDeletion: {blocking}}}], "
            ),
        };
        manifest.push_str(&format!(
            "---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: n{at}, namespace: {namespace}, uid: u{at}, {references}finalizers: [{finalizers}]}}\n\
             spec: {{replicas: 2, group: example.com, names: {{kind: Widget, plural: widgets}}, scope: Namespaced, versions: [{{name: v1, served: true, storage: true}}], selector: {{a: b}}}}\n\
             webhooks: [{{name: w.x.y, clientConfig: {{service: {{name: n0, namespace: a}}}}, rules: [{{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*']}}]}}]\n"
        ));
    }
    manifest
}

/// A session on a text, without a file.
fn session(manifest: &str) -> Option<Session> {
    let mut request = Request::new([FOLDER.path().display().to_string()]);
    request.config = ConfigChoice::Without;
    request.overlays =
        vec![Overlay { path: FOLDER.path().join("unsaved.yaml").display().to_string(), text: manifest.into() }];
    Session::open(&request).ok()
}

/// Steps over arbitrary graphs: the simulation ends, and every format tells what it found.
pub(crate) fn simulation(data: &[u8]) {
    let (steps, objects) = data.split_at(data.len().min(8));
    let Some(session) = session(&graph(objects)) else { return };
    let listed: Vec<String> = session.list().objects.into_iter().map(|object| object.key).collect();
    if listed.is_empty() {
        return;
    }
    const OPERATIONS: [&str; 5] = ["delete", "settle", "remove-all-finalizers", "force-delete", "delete"];
    const POLICIES: [&str; 4] = ["null", "Foreground", "Background", "Orphan"];
    let step = |bytes: &[u8]| {
        let (operation, target) = (usize::from(bytes[0]), usize::from(bytes[bytes.len() - 1]));
        format!(
            "- {{op: {}, target: \"{}\", policy: {}}}\n",
            OPERATIONS[operation % 5],
            listed[target % listed.len()],
            POLICIES[operation / 5 % 4]
        )
    };
    let text: String = steps.chunks(2).take(3).map(step).collect();
    let Ok(steps) = Steps::read(SourceFile::new("steps.yaml", text)) else { return };
    let Ok(planner) = session.plan(&Question::Steps { steps, namespace: None }, true) else { return };
    let plan = planner.simulate();
    let view = planner.view(&plan);
    for format in PlanFormat::ALL {
        ownerlint::report::plan::render(format, &view, &Options::default());
    }
}

/// Ties of arbitrary objects, and their removal by each tool.
pub(crate) fn teardown(data: &[u8]) {
    let manifest = graph(data);
    check(&manifest);
    let Some(session) = session(&manifest) else { return };
    let by = [TeardownBy::Helm, TeardownBy::Kubectl, TeardownBy::ArgoCd, TeardownBy::Flux, TeardownBy::Namespace];
    let by = by[data.len() % by.len()];
    let request = TeardownRequest {
        by,
        cascade: None,
        helm_version: ownerlint::delivery::helm::HelmVersion::default(),
        release_namespace: Some("a".to_owned()),
        kubelet: true,
    };
    let Ok(teardown) = session.teardown(&request) else { return };
    let plan = teardown.simulate();
    let view = teardown.view(&plan);
    for format in PlanFormat::ALL {
        ownerlint::report::plan::render(format, &view, &Options::default());
    }
}

/// Two trees: the bytes before and after the middle, as graphs and as they are.
pub(crate) fn diff(data: &[u8]) {
    let (base, head) = data.split_at(data.len() / 2);
    let state = |name: &str, manifest: &str, data: &[u8]| {
        let folder: PathBuf = FOLDER.path().join("states").join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("graph.yaml"), manifest).expect("a file");
        std::fs::write(folder.join("kustomization.yaml"), data).expect("a file");
        StateChoice::Path(folder.display().to_string())
    };
    let mut request = CompareRequest::new(state("base", &graph(base), base), state("head", &graph(head), head));
    request.config = ConfigChoice::Without;
    let Ok(comparison) = Comparison::open(&request) else { return };
    let Ok(report) = comparison.report() else { return };
    for format in ownerlint::report::Format::ALL {
        inert(&report.render(format), &format.to_string());
    }
}

/// Every format with names of strangers: nothing that is obeyed, and documents that can be read.
pub(crate) fn formats(data: &[u8]) {
    let name = text(data);
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": name, "finalizers": [name, "example.com/x"], "labels": {name.clone(): name},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": name, "name": name, "uid": name}]},
    });
    let report = check(&format!("{object}\n"));
    for format in Format::ALL {
        inert(&report.render(format), &format.to_string());
    }
    for reported in &report.findings {
        for command in reported.finding.help.split('`').filter(|part| part.starts_with("kubectl ")) {
            assert!(!command.contains(['\n', '\r']), "{command}");
        }
    }
}

/// No line that a terminal, a runner or a browser would obey.
fn inert(text: &str, format: &str) {
    let obeyed = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(obeyed), "{format}: {text:?}");
    match format {
        "json" | "sarif" | "gitlab" | "rdjson" | "lsp" => {
            serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        }
        "github" => assert!(text.lines().all(|line| line.starts_with("::") || line.ends_with("them all")), "{text}"),
        "markdown" => {
            assert!(!text.lines().any(|line| line.contains("<script") && !line.starts_with("    ")), "{text}")
        }
        _ => {}
    }
}
