//! Targets for graphs of objects with all kinds of ties: plans, removals and comparisons.

use ownerlint::engine::{
    CompareRequest, Comparison, ConfigChoice, Question, Request, Session, StateChoice, Steps,
    TeardownBy, TeardownRequest,
};
use ownerlint::inventory::Overlay;
use ownerlint::report::plan::{self, PlanFormat};
use ownerlint::report::{Format, Options};
use ownerlint::text::SourceFile;

use super::output::inert;
use super::{check, chosen, folder};

/// Returns a manifest with a few objects of several kinds, whose ties depend on the bytes.
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
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
        ),
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

/// Opens a session for a text without a file.
pub(super) fn session(manifest: &str) -> Option<Session> {
    let folder = folder("unsaved").display().to_string();
    let mut request = Request::new([folder.clone()]);
    request.config = ConfigChoice::Without;
    request.overlays = vec![Overlay {
        path: format!("{folder}/unsaved.yaml"),
        text: manifest.into(),
    }];
    Session::open(&request).ok()
}

/// Steps on arbitrary graphs: the simulation ends, and each format shows its result.
pub(crate) fn simulation(data: &[u8]) {
    let (steps, objects) = data.split_at(data.len().min(8));
    let Some(session) = session(&graph(objects)) else {
        return;
    };
    let listed: Vec<String> = session
        .list()
        .objects
        .into_iter()
        .map(|object| object.key)
        .collect();
    if listed.is_empty() {
        return;
    }
    const OPERATIONS: [&str; 5] = [
        "delete",
        "settle",
        "remove-all-finalizers",
        "force-delete",
        "delete",
    ];
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
    let Ok(steps) = Steps::read(SourceFile::new("steps.yaml", text)) else {
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
    plan::render(
        chosen(&PlanFormat::ALL, data),
        &planner.view(&plan),
        &Options::default(),
    );
}

/// Ties of arbitrary objects, and their removal by each tool.
pub(crate) fn teardown(data: &[u8]) {
    let manifest = graph(data);
    check(&manifest);
    let Some(session) = session(&manifest) else {
        return;
    };
    let by = [
        TeardownBy::Helm,
        TeardownBy::Kubectl,
        TeardownBy::ArgoCd,
        TeardownBy::Flux,
        TeardownBy::Namespace,
    ];
    let request = TeardownRequest {
        by: Some(by[data.len() % by.len()]),
        cascade: None,
        helm_version: ownerlint::delivery::helm::HelmVersion::default(),
        release_namespace: Some("a".to_owned()),
        cluster: None,
        kubelet: true,
    };
    let Ok(teardown) = session.teardown(&request) else {
        return;
    };
    let plan = teardown.simulate();
    plan::render(
        chosen(&PlanFormat::ALL, data),
        &teardown.view(&plan),
        &Options::default(),
    );
}

/// Comparison of two trees from the first and second half of the bytes, as graphs and as files.
pub(crate) fn diff(data: &[u8]) {
    let (base, head) = data.split_at(data.len() / 2);
    let state = |name: &str, manifest: &str, data: &[u8]| {
        let folder = folder(name);
        std::fs::write(folder.join("graph.yaml"), manifest).expect("a file");
        std::fs::write(folder.join("kustomization.yaml"), data).expect("a file");
        StateChoice::Path(folder.display().to_string())
    };
    let mut request = CompareRequest::new(
        state("base", &graph(base), base),
        state("head", &graph(head), head),
    );
    request.config = ConfigChoice::Without;
    let Ok(comparison) = Comparison::open(&request) else {
        return;
    };
    let Ok(report) = comparison.report() else {
        return;
    };
    let format = chosen(&Format::ALL, data);
    inert(&report.render(format), &format.to_string());
}
