//! Documents that are not manifests to apply are not checked, manifests always are, and both are counted.

use ownerlint::engine::{Check, check};
use ownerlint::finding::Severity;

use crate::support::{Repository, check_text, inventory_at, inventory_of, ownerlint};

/// Returns the objects in a folder of `fixtures/recognition/` according to `list`, and the skipped documents, as lines.
fn listed(folder: &str) -> (Vec<String>, Vec<String>) {
    let path = format!("fixtures/recognition/{folder}");
    let output = ownerlint()
        .args(["list", "--output", "json", "--allow-empty", &path])
        .output()
        .expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let file = |entry: &serde_json::Value| text(&entry["file"]).replace(&format!("{path}/"), "");
    let objects = json["objects"].as_array().expect("objects").iter();
    let skipped = json["skipped"].as_array().expect("skipped").iter();
    (
        objects
            .map(|object| format!("{}: {}", file(object), text(&object["name"])))
            .collect(),
        skipped
            .map(|skip| {
                format!(
                    "{}#{}: {} ({})",
                    file(skip),
                    skip["document"],
                    text(&skip["reason"]),
                    text(&skip["detail"])
                )
            })
            .collect(),
    )
}

/// Returns the severities of a rule's findings in a text.
fn severities(rule: &str, text: &str) -> Vec<Severity> {
    let report = check_text("manifest.yaml", text, &Check::default());
    let findings = report.findings.iter().map(|reported| &reported.finding);
    findings
        .filter(|finding| finding.rule == rule)
        .map(|finding| finding.severity)
        .collect()
}

#[test]
fn kuttl_assertions_are_skipped_and_applied_files_are_read() {
    let (objects, skipped) = listed("kuttl");
    assert_eq!(
        objects,
        ["00-install.yaml: installed", "files/applied.yaml: applied"]
    );
    assert_eq!(
        skipped,
        [
            "00-assert.yaml#0: not-a-manifest (kuttl assertion)",
            "01-assert.yaml#0: not-a-manifest (configures kuttl)",
            "01-assert.yaml#1: not-a-manifest (kuttl assertion)",
            "02-step.yaml#0: not-a-manifest (configures kuttl)",
            "03-errors.yaml#0: not-a-manifest (kuttl assertion)",
            "files/checks.yaml#0: not-a-manifest (kuttl assertion)",
        ]
    );
    assert_eq!(
        listed("partial"),
        (
            vec![],
            vec!["07-assert.yaml#0: not-a-manifest (kuttl assertion)".to_owned()]
        )
    );
}

#[test]
fn numbered_files_and_tests_folder_do_not_imply_kuttl() {
    let (objects, skipped) = listed("numbered");
    assert_eq!(
        objects,
        [
            "00-namespace.yaml: shop",
            "01-errors.yaml: errors",
            "tests/01-web.yaml: web"
        ]
    );
    assert_eq!(skipped, [""; 0]);
}

#[test]
fn chainsaw_assertions_are_skipped_unless_also_created() {
    let (objects, skipped) = listed("chainsaw");
    assert_eq!(objects, ["app.yaml: app", "secret.yaml: secret"]);
    assert_eq!(
        skipped,
        [
            "bigger.yaml#0: not-a-manifest (chainsaw patch)",
            "chainsaw-test.yaml#0: not-a-manifest (configures chainsaw)",
            "expressions.yaml#0: not-a-manifest (chainsaw assertion)",
            "expressions.yaml#1: not-a-manifest (chainsaw assertion)",
            "failed.yaml#0: not-a-manifest (chainsaw assertion)",
            "ready.yaml#0: not-a-manifest (chainsaw assertion)",
        ]
    );
}

#[test]
fn manifests_resembling_templates_or_assertions_are_read() {
    let (objects, skipped) = listed("own");
    assert_eq!(
        objects,
        [
            "data.yaml: templates",
            "definition.yaml: shops.example.com",
            "dumped.yaml: team:{core}",
            "flux.yaml: apps",
            "kyverno.yaml: no-latest",
            "release.yaml: web",
            "rendered.yaml: web-<reader>",
            "rendered.yaml: web-<nil>",
        ]
    );
    assert_eq!(skipped, [""; 0]);
}

#[test]
fn kustomization_inputs_are_skipped_unless_they_are_resources() {
    let (objects, skipped) = listed("kustomize");
    assert_eq!(
        objects,
        ["base/both.yaml: both", "base/patches/unnamed.yaml: unnamed"]
    );
    assert_eq!(
        skipped,
        [
            "base/files/settings.yaml#0: not-a-manifest (kustomize input)",
            "base/kustomization.yaml#0: not-a-manifest (no apiVersion)",
            "base/patches/replicas.yaml#0: not-a-manifest (kustomize patch)",
            "base/web.yaml#0: unreadable (ConfigMap/shop/web does not decode: metadata.annotations.example.com/keep-hours is not a \
             string)",
            "prod/delete.yaml#0: not-a-manifest (kustomize patch)",
            "prod/directive.yaml#0: not-a-manifest (kustomize patch)",
            "prod/kustomization.yaml#0: not-a-manifest (configures kustomize)",
            "transformers/kustomization.yaml#0: not-a-manifest (configures kustomize)",
            "transformers/prefix.yaml#0: not-a-manifest (configures kustomize)",
        ]
    );
}

#[test]
fn templates_are_skipped_with_one_note_per_language() {
    let (objects, skipped) = listed("templates");
    assert_eq!(objects, ["variables.yaml: settings"]);
    let reasons: Vec<_> = skipped
        .iter()
        .map(|line| line.split(" (").next().unwrap_or_default())
        .collect();
    let expected = [
        "braces.yaml#0",
        "jinja.yaml#0",
        "placeholders.yaml#0",
        "placeholders.yaml#1",
        "placeholders.yaml#2",
        "placeholders.yaml#3",
        "placeholders.yaml#4",
        "placeholders.yaml#5",
        "variables.yaml#0",
        "variables.yaml#1",
        "variables.yaml#3",
        "variables.yaml#4",
    ];
    assert_eq!(reasons, expected.map(|place| format!("{place}: template")));
    let report = check(
        inventory_at(&["fixtures/recognition/templates"]),
        &Check::default(),
    );
    let notes: Vec<_> = report
        .notes
        .iter()
        .map(|note| note.message.as_str())
        .collect();
    let run = "not checked: render";
    assert_eq!(
        notes,
        [
            format!("this folder has 1 unrendered template, {run} it first, and check the output"),
            format!(
                "this folder has 1 unrendered Jinja template, {run} it first, and check the output"
            ),
            format!(
                "this folder has 4 templates with unset variables, {run} them first, and check the output"
            ),
            format!(
                "this folder has 6 templates with placeholders, {run} them first, and check the output"
            ),
        ]
    );
}

#[test]
fn render_option_is_suggested_only_inside_a_chart() {
    let repository = Repository::new();
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n  namespace: {{ .x }}\n";
    repository
        .write("web/Chart.yaml", "apiVersion: v2\nname: web\n")
        .write("web/templates/deep/a.yaml", template);
    repository.write("other/templates/b.yaml", template);
    let (_, _, stderr) = repository.run(&["--allow-empty"], "");
    let (_, stdout, _) = repository.run(&["--allow-empty"], "");
    let said = stdout + &stderr;
    assert!(
        said.contains("web: this chart has 1 unrendered template, not checked: `--render` renders"),
        "{said}"
    );
    let unwrapped = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        unwrapped.contains("charts with helm, or check the output of `helm template NAME CHART`"),
        "{said}"
    );
    assert!(
        said.contains(
            "other/templates: this folder has 1 unrendered template, not checked: render it"
        ),
        "{said}"
    );
}

#[test]
fn unreadable_non_manifests_are_skipped_but_not_reported() {
    let (objects, skipped) = listed("text");
    assert_eq!(objects, ["beside-a-manifest.yaml: first"]);
    let kept: Vec<_> = skipped
        .iter()
        .filter(|line| !line.contains("(not about manifests: "))
        .collect();
    assert_eq!(kept.len(), 2, "{skipped:#?}");
    assert!(
        skipped.iter().all(|line| line.contains(": unreadable (")),
        "{skipped:#?}"
    );
    let report = check(
        inventory_at(&["fixtures/recognition/text"]),
        &Check::default(),
    );
    let files: Vec<_> = report
        .findings
        .iter()
        .filter(|reported| reported.finding.rule == "unreadable-document")
        .map(|reported| report.sources.file(reported.finding.primary.file).path())
        .collect();
    assert_eq!(
        files,
        [
            "fixtures/recognition/text/beside-a-manifest.yaml",
            "fixtures/recognition/text/broken.yaml"
        ],
        "a manifest that is broken, and what stops kubectl behind a manifest"
    );
}

#[test]
fn number_annotations_are_warnings_in_kustomize_and_errors_elsewhere() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop, annotations: {hours: 1440}}\n";
    assert_eq!(severities("unreadable-document", text), [Severity::Error]);
    let report = check(
        inventory_at(&["fixtures/recognition/kustomize"]),
        &Check::default(),
    );
    let found: Vec<_> = report
        .findings
        .iter()
        .map(|reported| &reported.finding)
        .collect();
    assert_eq!(
        found.iter().map(|finding| finding.rule).collect::<Vec<_>>(),
        ["unreadable-document"]
    );
    assert_eq!(found[0].severity, Severity::Warning);
    let notes: Vec<_> = report
        .notes
        .iter()
        .map(|note| (note.path.as_deref(), note.message.as_str()))
        .collect();
    assert_eq!(
        notes,
        [(
            Some("fixtures/recognition/kustomize/base"),
            "this folder and 2 more have a kustomization, which changes the objects that are \
             applied: run `kustomize build` and check its output"
        )]
    );
}

#[test]
fn missing_file_of_kustomization_is_noted_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    };
    let object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}";
    write("app/a.yaml", object);
    write(
        "app/kustomization.yaml",
        "resources:\n- a.yaml\n- b.yaml\n- ../base\n- https://example.org/c.yaml\n- github.com/example/d?ref=v1\n- ${E}.yaml\n",
    );
    write("base/a.yaml", object);
    write("base/kustomization.yaml", "resources: [a.yaml]\n");
    let notes = || {
        let output = ownerlint()
            .current_dir(folder.path())
            .args(["check", "app", "-v"])
            .env("COLUMNS", "1000")
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    let said = notes();
    let note = "note: app/kustomization.yaml:3: `b.yaml` does not exist, so kustomize cannot build \
                this folder\n";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    assert_eq!(said.matches("does not exist").count(), 1, "{said}");
    write("app/b.yaml", object);
    assert!(!notes().contains("does not exist"));
}

#[test]
fn invalid_utf8_is_a_warning_and_the_rest_is_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes =
        b"# caf\xE9\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n"
            .to_vec();
    bytes.extend(b"  labels: {who: 'n\xFF', x: 1}\n");
    std::fs::write(folder.path().join("latin.yaml"), bytes).expect("written");
    let output = ownerlint()
        .current_dir(folder.path())
        .args(["-o", "concise"])
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains(
            "latin.yaml:1:6: warning[nonstandard-yaml] bytes that are not UTF-8, in 2 places"
        ),
        "{text}"
    );
    // Columns count the decoded text, in which the value of the label is one U+FFFD of three bytes.
    assert!(
        text.contains("latin.yaml:7:28: error[unreadable-document]"),
        "{text}"
    );
}

#[test]
fn unknown_core_kind_is_info_and_misspelt_kind_is_suggested() {
    let kind = |api_version: &str, kind: &str| {
        let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n");
        let report = check_text("manifest.yaml", &text, &Check::default());
        let found = report.findings.into_iter().map(|reported| reported.finding);
        found
            .filter(|finding| finding.rule == "kind-not-served")
            .map(|f| (f.severity, f.help))
            .next()
    };
    for (api_version, own) in [
        ("v1beta1", "AgentConfig"),
        ("v1", "EncryptionConfig"),
        ("v1", "APIResourceList"),
    ] {
        assert_eq!(
            kind(api_version, own).map(|(severity, _)| severity),
            Some(Severity::Info),
            "{own}"
        );
    }
    for (api_version, body) in [
        ("policy/v1", "Eviction"),
        ("autoscaling/v1", "Scale"),
        ("extensions/v1beta1", "DeploymentRollback"),
    ] {
        assert_eq!(
            kind(api_version, body).map(|(severity, _)| severity),
            Some(Severity::Info),
            "{body}"
        );
    }
    for (api_version, written, meant) in [
        (
            "apps/v1",
            "deployment",
            "did you mean `Deployment` in `apps/v1`?",
        ),
        ("v1", "pod", "did you mean `Pod` in `v1`?"),
        (
            "v1",
            "deployments",
            "did you mean `Deployment` in `apps/v1`?",
        ),
        ("v1", "Deployment", "Deployment is served as `apps/v1`"),
    ] {
        assert_eq!(
            kind(api_version, written),
            Some((Severity::Error, meant.to_owned())),
            "{written}"
        );
    }
    assert_eq!(
        kind("apps/v1", "Website").map(|(severity, _)| severity),
        Some(Severity::Error),
        "a group of Kubernetes' own"
    );
}

#[test]
fn empty_custom_resource_name_is_a_warning() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.com}\n\
               spec: {group: example.com, scope: Namespaced, names: {kind: Shop, plural: shops}, \
               versions: [{name: v1, served: true, storage: true}]}\n---\n";
    let shop = |metadata: &str| {
        format!("{crd}apiVersion: example.com/v1\nkind: Shop\nmetadata:\n  {metadata}\n")
    };
    assert_eq!(
        severities("object-without-name", &shop("name:")),
        [Severity::Warning]
    );
    assert_eq!(
        severities("object-without-name", &shop("name: ''")),
        [Severity::Warning]
    );
    assert_eq!(
        severities("object-without-name", &shop("namespace: a")),
        [Severity::Error]
    );
    assert_eq!(
        severities(
            "object-without-name",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: }\n"
        ),
        [Severity::Error]
    );
}

#[test]
fn missing_owner_uid_in_a_live_object_is_a_warning() {
    let job = |reference: &str, rest: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n  namespace: b\n  ownerReferences:\n    - {{{reference}}}\n{rest}"
        )
    };
    let no_uid = "apiVersion: batch/v1, kind: CronJob, name: c";
    assert_eq!(
        severities("owner-missing-field", &job(no_uid, "")),
        [Severity::Error]
    );
    assert_eq!(
        severities("owner-missing-field", &job(no_uid, "status: {}")),
        [Severity::Error],
        "generators write that"
    );
    assert_eq!(
        severities(
            "owner-missing-field",
            &job(no_uid, "status: {succeeded: 1}")
        ),
        [Severity::Warning]
    );
    assert_eq!(
        severities("owner-missing-field", &job(no_uid, "  generation: 3")),
        [Severity::Warning]
    );
    assert_eq!(
        severities(
            "owner-missing-field",
            &job("kind: CronJob, name: c", "  generation: 3")
        ),
        [Severity::Error]
    );
}

#[test]
fn finding_about_unknown_finalizer_mentions_unread_documents() {
    let held = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b, finalizers: [example.com/hold]}\n";
    let reason = |text: &str| {
        let report = check_text("manifest.yaml", text, &Check::default());
        let found = report.findings.into_iter().map(|reported| reported.finding);
        found
            .filter(|finding| finding.rule == "finalizer-unknown")
            .map(|finding| finding.reason)
            .next()
            .expect("found")
    };
    assert!(!reason(held).contains("not read"));
    let said = reason(&format!(
        "{held}---\napiVersion: apps/v1\nkind: ${{KIND}}\nmetadata: {{name: operator}}\n"
    ));
    assert!(
        said.contains("1 document in the input was not read"),
        "{said}"
    );
}

#[test]
fn owner_references_of_wrong_type_give_one_finding() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\n  ownerReferences: {kind: Pod}\n";
    let report = check_text("manifest.yaml", text, &Check::default());
    let rules: Vec<_> = report
        .findings
        .iter()
        .map(|reported| reported.finding.rule)
        .collect();
    assert_eq!(rules, ["owner-wrong-type"]);
}

#[test]
fn merge_conflict_is_reported_as_such() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n<<<<<<< HEAD\n  name: a\n=======\n  name: b\n>>>>>>> theirs\n";
    let report = check_text("manifest.yaml", text, &Check::default());
    let finding = &report.findings[0].finding;
    assert_eq!(
        (finding.rule, finding.message.as_str()),
        ("unreadable-document", "unresolved merge conflict")
    );
    assert_eq!(
        report
            .sources
            .file(finding.primary.file)
            .slice(finding.primary.span),
        "<<<<<<< HEAD"
    );
}

#[test]
fn key_read_as_a_boolean_is_explained() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  n: b\n";
    let report = check_text("manifest.yaml", text, &Check::default());
    let finding = &report.findings[0].finding;
    assert_eq!(finding.rule, "metadata-unknown-field");
    assert_eq!(
        finding.primary.message,
        "YAML 1.1 reads `n` as the boolean `false`"
    );
}

#[test]
fn ytt_statements_make_a_template_but_other_comments_do_not() {
    let objects = |text: &str| inventory_of("a.yaml", text).members.len();
    let named =
        |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {value}\n");
    for template in [
        named("#@ data.values.name"),
        format!("#@ load(\"@ytt:data\", \"data\")\n{}", named("a")),
        format!(
            "{}  #@overlay/match missing_ok=True\n  labels: {{a: b}}\n",
            named("a")
        ),
        format!("{}#@ if/end data.values.on:\ndata: {{}}\n", named("a")),
    ] {
        assert_eq!(objects(&template), 0, "{template}");
    }
    for manifest in [
        format!("#@ maintainer: the shop\n#@todo\n{}", named("a")),
        format!(
            "{}data:\n  script: |\n    #@ load(\"x\")\n    #@overlay/match\n",
            named("a")
        ),
        format!("{}  annotations: {{a: \"b #@ c\"}} # @param\n", named("a")),
    ] {
        assert_eq!(objects(&manifest), 1, "{manifest}");
    }
}

#[test]
fn placeholders_in_lists_and_under_dotted_keys_are_recognised() {
    for (field, objects) in [
        ("labels: {app: {name}}", 0),
        ("labels: {app.kubernetes.io/name: {name}}", 0),
        ("annotations: {example.com/team: [TEAM]}", 0),
        ("finalizers: [{name}]", 0),
        ("ownerReferences: [$OWNER]", 0),
        (
            "ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: {uid}}]",
            0,
        ),
        ("labels: {app.kubernetes.io/name: {name: a}}", 1),
        ("finalizers: [[name]]", 1),
        ("ownerReferences: [owner]", 1),
    ] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  {field}\n");
        let inventory = inventory_of("a.yaml", &text);
        assert_eq!(inventory.members.len(), objects, "{field}");
    }
}

#[test]
fn only_first_100_unreadable_documents_are_reported_singly() {
    // Texts above 256 kB are read in parts.
    for (documents, padding) in [(150, 0), (1_500, 400)] {
        let filler = format!("# {}\n", "x".repeat(padding));
        let text = format!("---\n{filler}apiVersion: [\n").repeat(documents);
        let report = check_text(
            "manifest.yaml",
            &text,
            &Check {
                every: true,
                ..Check::default()
            },
        );
        let messages: Vec<_> = report
            .findings
            .iter()
            .map(|reported| reported.finding.message.as_str())
            .collect();
        let (last, others) = messages.split_last().expect("findings");
        assert_eq!(
            *last,
            format!(
                "{} more documents of this file cannot be read",
                documents - 100
            )
        );
        assert_eq!(others.len(), 100);
        let place = report.findings[100].finding.primary.span.start as usize;
        assert_eq!(
            text[..place].matches("apiVersion").count(),
            101,
            "at the first of the others"
        );
    }
}

#[test]
fn secret_after_many_unreadable_documents_stays_hidden() {
    let text = format!(
        "{}---\nkind: Secret\ndata: [\n",
        "---\napiVersion: [\n".repeat(150)
    );
    let file = ownerlint::manifest::ParsedFile::parse(ownerlint::text::SourceFile::new(
        "a.yaml",
        text.as_str(),
    ));
    let secret = file.documents().last().expect("it is kept");
    assert!(file.source().slice(secret.span).contains("Secret"));
    let line = text.lines().count();
    assert_eq!(file.source().shown_line(line), "data: *");
}

/// A chart with one template that needs no rendering.
fn chart_with_plain_template() -> Repository {
    let repository = Repository::new();
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    repository
        .write("charts/one/Chart.yaml", "apiVersion: v2\nname: web\n")
        .write("charts/one/templates/plain.yaml", plain)
        .write("charts/one/crds/a.yaml", &plain.replace("plain", "first"));
    repository
}

#[test]
fn template_is_skipped_if_its_rendering_is_in_the_input() {
    let repository = chart_with_plain_template();
    let listed = || repository.run(&["list", "."], "").1;
    assert!(listed().starts_with("ConfigMap/?/first"), "{}", listed());
    let rendering = "---\n# Source: web/crds/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n---\n# Source: web/templates/plain.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n";
    repository.write("rendered/all.yaml", rendering);
    let said = listed();
    assert!(!said.contains("charts/"), "{said}");
    assert!(
        said.contains("2 objects; skipped: 1 not-a-manifest, 2 template"),
        "{said}"
    );
    let (_, said, _) = repository.run(&["check", "--show", "info", "."], "");
    assert!(!said.contains("duplicate-object"), "{said}");
    // Another object of the template is not in the rendering.
    let both = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n";
    repository.write("charts/one/templates/plain.yaml", both);
    let said = listed();
    assert!(said.contains("ConfigMap/?/more"), "{said}");
    assert!(said.contains("3 objects"), "{said}");
}

#[test]
fn template_is_read_if_only_another_chart_is_rendered() {
    let repository = chart_with_plain_template();
    repository.write(
        "rendered/all.yaml",
        "---\n# Source: db/templates/plain.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n",
    );
    let (_, said, _) = repository.run(&["list", "."], "");
    assert!(said.contains("charts/one/templates/plain.yaml"), "{said}");
}

#[test]
fn template_that_a_kustomization_applies_is_read_beside_its_rendering() {
    let repository = chart_with_plain_template();
    repository
        .write(
            "rendered/all.yaml",
            "---\n# Source: web/templates/plain.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n",
        )
        .write(
            "charts/one/templates/kustomization.yaml",
            "resources: [plain.yaml]\n",
        );
    let (_, said, _) = repository.run(&["list", "."], "");
    assert!(said.contains("charts/one/templates/plain.yaml"), "{said}");
}
