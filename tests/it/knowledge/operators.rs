//! Operator files: each can be read, none contradicts another, and every fact is explained and used.

use std::fmt::Write;
use std::fs;
use std::sync::Arc;

use ownerlint::config;
use ownerlint::engine::{self, Check};
use ownerlint::gc;
use ownerlint::inventory::{Inventory, Member};
use ownerlint::knowledge::{
    Condition, DataFate, DefinedScope, FieldPath, KindPattern, NamedOperator, Owned, RowName,
    Tables, Test, Text, conflicts, operators,
};
use ownerlint::kube::finalizers;
use ownerlint::ownership::{TieKind, Ties, data_loss};
use ownerlint::text::SourceFile;
use predicates::str::contains;
use regex::Regex;

use crate::support::{Repository, inventory_of, ownerlint, root};

fn files() -> Vec<(String, String)> {
    let folder = root().join("rules/operators");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("our operators")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_operator_file_is_valid_and_compiled_in() {
    for (name, text) in files() {
        let path = format!("rules/operators/{name}.yaml");
        config::read_operator(&SourceFile::new(path.as_str(), text))
            .unwrap_or_else(|mistake| panic!("{mistake}"));
    }
    let compiled: Vec<String> = operators().into_iter().map(|known| known.name).collect();
    let written: Vec<String> = files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(compiled, written);
}

#[test]
fn bundled_operators_have_no_conflicting_facts() {
    assert_eq!(conflicts(&operators()), []);
    let mut twice = operators();
    let rook = twice
        .iter()
        .find(|known| known.name == "rook")
        .expect("Rook")
        .clone();
    twice.push(NamedOperator {
        name: "other".to_owned(),
        ..rook
    });
    let conflict = conflicts(&twice).into_iter().next().expect("a conflict");
    assert_eq!(
        (conflict.first.as_str(), conflict.second.as_str()),
        ("rook", "other")
    );
}

/// A manifest of a kind, with the fields that conditions require.
struct Made {
    group: String,
    kind: String,
    fields: serde_json::Value,
}

impl Made {
    fn of(kinds: &KindPattern) -> Self {
        let (group, kind) = match kinds {
            KindPattern::Any => ("example.com".to_owned(), "Example".to_owned()),
            KindPattern::Exact { kind, group } => (group.to_string(), kind.to_string()),
            KindPattern::Group(group) => (group.to_string(), "Example".to_owned()),
            KindPattern::GroupsBelow(group) => (format!("example.{group}"), "Example".to_owned()),
        };
        Self {
            group,
            kind,
            fields: serde_json::json!({"metadata": {"name": "made", "namespace": "shop"}}),
        }
    }

    fn set(&mut self, path: &FieldPath, value: serde_json::Value) {
        let text = path.as_str().replace("[\"", ".\"").replace("\"]", "\"");
        let mut at = &mut self.fields;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (key, after) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (key, after) = quoted.split_once('"').expect("a quote");
                    (key, after.trim_start_matches('.'))
                }
                None => rest.split_once('.').unwrap_or((rest, "")),
            };
            let (key, is_list) = match key.strip_suffix("[]") {
                Some(key) => (key, true),
                None => (key, false),
            };
            if !at.is_object() {
                *at = serde_json::json!({});
            }
            at = at
                .as_object_mut()
                .expect("a mapping")
                .entry(key)
                .or_insert(serde_json::Value::Null);
            if is_list {
                if !at.is_array() {
                    *at = serde_json::json!([{}]);
                }
                at = &mut at[0];
            }
            rest = after;
        }
        *at = value;
    }

    /// Sets a field so that a condition holds.
    fn fulfil(&mut self, condition: &Condition) {
        match &condition.test {
            Test::Is(values) => self.set(&condition.field, values[0].as_str().into()),
            Test::IsNot(_) if condition.default.is_none() => {
                self.set(&condition.field, "other".into());
            }
            Test::Set(true) => self.set(&condition.field, "set".into()),
            Test::IsNot(_) | Test::Set(false) => {}
        }
    }

    fn text(&self) -> String {
        let mut object = self.fields.clone();
        let version = if self.group.is_empty() {
            "v1".to_owned()
        } else {
            format!("{}/v1", self.group)
        };
        object["apiVersion"] = version.into();
        object["kind"] = self.kind.as_str().into();
        object.to_string()
    }

    fn inventory(&self) -> Inventory {
        inventory_of("made.json", &self.text())
    }
}

fn only(inventory: &Inventory) -> &Member {
    &inventory.members[0]
}

fn is_explained(tables: &Tables, word: &str, row: &RowName) {
    let rows = engine::rows_about(tables, word, None);
    let name = row.to_string();
    assert!(
        rows.iter().any(|told| told.row == name),
        "{word} is not explained by {name}"
    );
}

/// Returns the finalizers without a known controller in a check of some objects.
fn unknown_finalizers(text: &str, tables: Tables) -> Vec<String> {
    let check = Check {
        tables: Some(Arc::new(tables)),
        every: true,
        ..Check::default()
    };
    let report = engine::check(inventory_of("made.json", text), &check);
    let unknown = report
        .findings
        .iter()
        .map(|reported| &reported.finding)
        .filter(|finding| finding.rule == "finalizer-unknown");
    unknown.map(|finding| finding.message.clone()).collect()
}

#[test]
fn every_finalizer_is_explained_and_known_on_each_of_its_kinds() {
    let tables = Tables::bundled();
    let mut objects = Vec::new();
    for known in tables.finalizers.iter() {
        let name = known.finalizer.replace('*', "example");
        is_explained(&tables, &name, &RowName::of_finalizer(&known.finalizer));
        if finalizers::is_collectors(&name) {
            continue;
        }
        // The table has a row for a framework, but controllers written with it stay unknown.
        let rows = known.controllers.iter().filter(|row| row.is_identified());
        for kinds in rows.flat_map(|row| &row.kinds) {
            let mut made = Made::of(kinds);
            made.fields["metadata"]["name"] = format!("made-{}", objects.len()).into();
            made.fields["metadata"]["finalizers"] = serde_json::json!([name]);
            objects.push(made.text());
        }
    }
    assert!(objects.len() > 500, "{}", objects.len());
    let list = format!(
        r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#,
        objects.join(",\n")
    );
    assert_eq!(unknown_finalizers(&list, (*tables).clone()), [""; 0]);
    assert_eq!(
        unknown_finalizers(&list, Tables::default()).len(),
        objects.len()
    );
}

#[test]
fn every_owned_kind_is_explained_by_the_name_of_its_row() {
    let tables = Tables::bundled();
    assert!(!tables.owns.is_empty());
    for row in &tables.owns {
        let name = format!("owns/{}", row.kind);
        let rows = engine::rows_about(&tables, &name, None);
        assert!(rows.iter().any(|told| told.row == name), "{name}");
    }
}

#[test]
fn every_generator_row_ties_its_product_to_its_object() {
    let tables = Tables::bundled();
    let field = Regex::new(r"\{([^}|]+)[^}]*\}").expect("a pattern");
    for row in &tables.generators {
        let mut made = Made::of(&row.kinds);
        for name in &row.product.names {
            for found in field.captures_iter(name.as_str()) {
                let path = FieldPath::parse(&found[1]).expect("a field");
                made.set(&path, "made".into());
            }
        }
        if let Some(namespace) = &row.product.namespace {
            made.set(namespace, "elsewhere".into());
        }
        row.when.iter().for_each(|condition| made.fulfil(condition));
        if let Owned::When(condition) = &row.owned {
            made.fulfil(condition);
        }
        let inventory = made.inventory();
        let products = |tables: &Tables| -> Vec<(String, bool)> {
            let ties = Ties::of(&inventory, tables);
            let made = ties.all().iter().filter(|tie| tie.kind != TieKind::Uses);
            made.map(|tie| (tie.to.key.kind().to_owned(), tie.owns()))
                .collect()
        };
        let is_owned = !matches!(row.owned, Owned::Always(false));
        let wanted = (row.product.kind.kind.to_string(), is_owned);
        assert!(
            products(&tables).contains(&wanted),
            "{}: {}",
            row.kinds,
            made.text()
        );
        assert_eq!(products(&Tables::default()), []);
        is_explained(&tables, &row.kinds.to_string(), &row.name());
    }
}

#[test]
fn every_data_row_decides_whether_data_is_lost() {
    let tables = Tables::bundled();
    for row in &tables.data {
        let mut made = Made::of(&row.kinds);
        row.when.iter().for_each(|condition| made.fulfil(condition));
        let inventory = made.inventory();
        let loss = data_loss(&inventory, &tables, only(&inventory)).expect("data");
        let held_back = row.keep.iter().any(|condition| condition.default.is_some());
        assert!(held_back || loss.fate == row.default, "{}", row.kinds);
        assert_eq!(loss.row, row.name());
        assert_eq!(
            data_loss(&inventory, &Tables::default(), only(&inventory)),
            None
        );
        for condition in &row.keep {
            let mut keeping = Made::of(&row.kinds);
            row.when
                .iter()
                .for_each(|condition| keeping.fulfil(condition));
            keeping.fulfil(condition);
            let inventory = keeping.inventory();
            let loss = data_loss(&inventory, &tables, only(&inventory)).expect("data");
            assert_eq!(
                loss.fate,
                DataFate::Kept,
                "{}: {}",
                row.kinds,
                keeping.text()
            );
        }
        if !row.when.is_empty() {
            let inventory = Made::of(&row.kinds).inventory();
            let without = data_loss(&inventory, &tables, only(&inventory));
            let others = tables.data.iter().filter(|other| other.kinds == row.kinds);
            assert_eq!(
                without.is_some(),
                others.count() > 1,
                "{} without its conditions",
                row.kinds
            );
        }
        is_explained(&tables, &row.kinds.to_string(), &row.name());
    }
}

/// Two kinds of an operator, of which the second names the first as its owner, and their definitions.
const OWNED: &str = "\
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: vaults.acme.example.com}, spec: {group: acme.example.com, scope: Namespaced, names: {kind: Vault, plural: vaults}, versions: [{name: v1, served: true, storage: true}]}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: rooms.acme.example.com}, spec: {group: acme.example.com, scope: Namespaced, names: {kind: Room, plural: rooms}, versions: [{name: v1, served: true, storage: true}]}}
---
{apiVersion: acme.example.com/v1, kind: Vault, metadata: {name: main, namespace: shop}}
---
{apiVersion: acme.example.com/v1, kind: Room, metadata: {name: gold, namespace: shop}, spec: {vault: main}}
---
{apiVersion: acme.example.com/v1, kind: Room, metadata: {name: silver, namespace: shop}, spec: {vault: other}}
---
{apiVersion: acme.example.com/v1, kind: Room, metadata: {name: copper, namespace: mine}, spec: {vault: main}}
";

/// Returns the output of `plan delete`.
fn plan_of(repository: &Repository, words: &str) -> String {
    let arguments: Vec<_> = ["plan", "delete"]
        .into_iter()
        .chain(words.split(' '))
        .collect();
    let (status, out, error) = repository.run(&arguments, "");
    assert_eq!((status, error.as_str()), (0, ""), "{out}");
    out
}

#[test]
fn configured_owner_field_makes_child_follow_its_owner() {
    let repository = Repository::new();
    repository.write("objects.yaml", OWNED);
    let out = plan_of(&repository, "vault/main -n shop -f objects.yaml");
    assert!(!out.contains("owned by"), "{out}");
    assert!(out.contains("1 deleted, 0 stuck, 0 kept"), "{out}");
    repository
        .write("ownerlint.yaml", "version: 1\noperators: [acme.yaml]\n")
        .write(
            "acme.yaml",
            "project: acme/vaults\nowns:\n  - {kind: Vault.acme.example.com, child: Room.acme.example.com, owner-field: spec.vault, source: [a.go#L1]}\n  - {kind: Vault.acme.example.com, child: PersistentVolumeClaim, source: [a.go#L2]}\n",
        );
    let out = plan_of(&repository, "vault/main -n shop -f objects.yaml");
    assert!(
        out.contains("Room.acme.example.com/shop/gold: owned by it"),
        "{out}"
    );
    assert!(out.contains("2 deleted, 0 stuck, 0 kept"), "{out}");
    assert!(
        out.contains("PersistentVolumeClaim of Vault.acme.example.com"),
        "{out}"
    );
}

#[test]
fn plan_shows_documented_remedy_for_stuck_objects() {
    let repository = Repository::new();
    repository.write(
        "flux.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: app, namespace: shop, finalizers: [finalizers.fluxcd.io]}}\n",
    );
    let (_, out, _) = repository.run(&["plan", "delete", "ns/shop", "-f", "flux.yaml"], "");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        out.contains("Or run `flux uninstall`, which removes Flux with its objects"),
        "{out}"
    );
}

#[test]
fn explain_prints_an_operator_file_for_unknown_finalizer() {
    let repository = Repository::new();
    let (status, out, error) = repository.run(
        &[
            "explain",
            "acme.example.com/cleanup",
            "Vault.acme.example.com",
        ],
        "",
    );
    assert_eq!((status, error.as_str()), (0, ""));
    let (says, file) = out.split_once("\n\n").expect("a file");
    assert!(
        says.starts_with("Nothing is known about the finalizer acme.example.com/cleanup on Vault"),
        "{says}"
    );
    repository
        .write("acme.yaml", file)
        .write("ownerlint.yaml", "version: 1\noperators: [acme.yaml]\n");
    let (status, out, _) = repository.run(
        &[
            "explain",
            "acme.example.com/cleanup",
            "Vault.acme.example.com",
        ],
        "",
    );
    assert_eq!(status, 0);
    assert!(
        out.contains("is removed from Vault.acme.example.com by the NAME"),
        "{out}"
    );
    let (_, out, _) = repository.run(
        &[
            "explain",
            "acme.example.com/cleanup",
            "Room.acme.example.com",
        ],
        "",
    );
    assert!(out.starts_with("Nothing is known"), "{out}");
}

#[test]
fn citations_in_operator_notes_can_be_explained() {
    let files = fs::read_dir(root().join("rules/operators")).expect("files");
    let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"));
    let mut cited = 0;
    for text in texts {
        for rule in text
            .split('[')
            .skip(1)
            .filter_map(|after| after.split(']').next())
        {
            if rule.starts_with("FIN-") {
                cited += 1;
                assert!(gc::semantics(rule).is_some(), "{rule}");
            }
        }
    }
    assert!(cited > 3, "{cited}");
}

#[test]
fn plan_lists_generated_objects_owned_by_its_target() {
    let repository = Repository::new();
    repository.write(
        "secret.yaml",
        "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a, namespace: shop}, spec: {target: {name: token}}}\n",
    );
    let out = plan_of(&repository, "externalsecret/a -n shop -f secret.yaml");
    assert!(
        out.contains("Secret/shop/token (implied): owned by it"),
        "{out}"
    );
    assert!(out.contains("2 deleted (1 implied), 0 stuck"), "{out}");
}

#[test]
fn namespace_option_finds_object_of_unknown_scope() {
    let repository = Repository::new();
    repository.write(
        "vault.yaml",
        "{apiVersion: acme.example.com/v1, kind: Vault, metadata: {name: main}}\n",
    );
    let out = plan_of(&repository, "vault/main -n shop -f vault.yaml");
    assert!(out.contains("1 deleted"), "{out}");
}

#[test]
fn explain_accepts_operator_and_project_names() {
    for known in operators() {
        ownerlint()
            .args(["explain", &known.name])
            .assert()
            .success()
            .stdout(contains(format!("operators/{}", known.name)));
    }
    ownerlint()
        .args(["explain", "rook/rook"])
        .assert()
        .success()
        .stdout(contains("operators/rook"));
}

const OBJECT: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";

#[test]
fn operator_file_errors_have_location_and_help() {
    let fact = |line: &str| format!("project: a/b\n{line}\n");
    for (text, at, says) in [
        (fact("controlers: []"), "controlers", "unknown field `controlers`"),
        (fact("controllers: [{name: x, images: ['a:v1'], finalizers: []}]"), "'a:v1", "`a:v1`, which is not an image"),
        (fact("controllers: [{name: x, finalizers: [{name: a b, added: always, source: [x]}]}]"), "a b,", "`a b`, which is not a finalizer"),
        (fact("controllers: [{name: x, finalizers: [{name: a.b/c, added: always}]}]"), "{name: a.b", "missing field `source`"),
        (fact("controllers: [{name: x, finalizers: [{name: a.b/c, added: always, source: []}]}]"), "source: []", "expects where the fact comes from"),
        (fact("data: [{kind: a_b, lost: x, source: [x]}]"), "a_b", "`a_b`, which is not a kind"),
        (fact("data: [{kind: A.b, lost: x, keep: [{field: spec..x, is: [y]}], source: [x]}]"), "spec..x", "not a path to a field"),
        (fact("data: [{kind: A.b, lost: x, keep: [{field: spec.x}], source: [x]}]"), "{field", "expects one of `is`, `is-not` and `set`"),
        (fact("generates: [{kind: A.b, product: {kind: Secret, names: [spec.name]}, source: [x]}]"), "spec.name", "write `{spec.name}`"),
        (fact("{none: true, controllers: [{name: x, finalizers: [{name: a.b/c, added: always, source: [x]}]}]}").replace("project: a/b\n{", "{project: a/b, "), "project", "none: true"),
        (String::new(), "", "describes no operator"),
    ] {
        let repository = Repository::new();
        repository
            .write("ownerlint.yaml", "version: 1\noperators: [op.yaml]\n")
            .write("op.yaml", &text)
            .write("a.yaml", OBJECT);
        let (status, _, error) = repository.run(&["check", "a.yaml"], "");
        let joined = error.replace("\n  │ ", " ");
        assert_eq!(status, 2, "{error}");
        let before = &text[..text.find(at).expect("a part of the text")];
        let column = before.rsplit('\n').next().map_or(0, str::len) + 1;
        let place = format!("op.yaml:{}:{column}", before.matches('\n').count() + 1);
        assert!(joined.contains(&place) && joined.contains(says), "{place} {says}:\n{error}");
        assert!(joined.contains("help:"), "{error}");
    }
}

#[test]
fn conflicting_operator_files_are_rejected() {
    let fact = "project: a/b\ndata: [{kind: A.b, lost: x, source: [x]}]\n";
    let repository = Repository::new();
    repository
        .write(
            "ownerlint.yaml",
            "version: 1\noperators: [one.yaml, two.yaml]\n",
        )
        .write("one.yaml", fact)
        .write("two.yaml", fact)
        .write("a.yaml", OBJECT);
    let (status, _, error) = repository.run(&["check", "a.yaml"], "");
    assert_eq!(status, 2);
    assert!(
        error.contains("ownerlint.yaml:2:23") && error.contains("data of A.b"),
        "{error}"
    );
    let (status, _, error) = repository.run(&["check", "--config", "missing.yaml", "a.yaml"], "");
    assert_eq!((status, error.contains("missing.yaml")), (2, true));
}

/// Generates the page of known operators.
fn page() -> String {
    let mut out = "# Known operators\n\n\
        <!-- Generated from rules/operators: UPDATE_DOCS=1 cargo test --test it operators -->\n\n\
        The facts about each operator: the finalizers that it removes, what it creates for its objects, the kinds whose deletion \
        loses data, and its cluster-scoped kinds. `ownerlint explain` with an operator, a finalizer or a kind prints the facts and their sources. \
        To add an operator or a fact, write [a file of twenty lines](https://github.com/ownerlint/ownerlint/blob/main/CONTRIBUTING.md#a-new-operator).\n\n\
        *read at* is the commit or release whose source was read. The other columns count facts: `none` means that the operator adds no \
        finalizer, *not proven* how many facts the cited source does not prove.\n\n\
        | operator | read at | finalizers | creates | data | cluster-scoped | not proven |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for NamedOperator { name, operator } in operators() {
        let finalizers: Vec<_> = operator
            .controllers
            .iter()
            .flat_map(|one| &one.finalizers)
            .collect();
        let cluster = operator
            .crds
            .iter()
            .filter(|crd| crd.scope == DefinedScope::Cluster);
        let unproven = finalizers.iter().filter(|one| !one.proven).count()
            + operator.generates.iter().filter(|one| !one.proven).count()
            + operator.data.iter().filter(|one| !one.proven).count();
        let count = |count: usize| match count {
            0 => String::new(),
            _ => count.to_string(),
        };
        let finalizers = if operator.none {
            "none".to_owned()
        } else {
            count(finalizers.len())
        };
        writeln!(
            out,
            "| [{name}](https://github.com/ownerlint/ownerlint/blob/main/rules/operators/{name}.yaml) ({}) | {} | {finalizers} | {} | {} | {} | {} |",
            operator.project.as_str(),
            operator.read.as_ref().map_or("", Text::as_str),
            count(operator.generates.len()),
            count(operator.data.len()),
            count(cluster.count()),
            count(unproven),
        )
        .expect("a text takes it");
    }
    out
}

#[test]
fn operators_page_is_up_to_date() {
    let (path, page) = (root().join("docs/operators.md"), page());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("a page");
    }
    let written = fs::read_to_string(path).expect("the page");
    assert!(
        written == page,
        "docs/operators.md is stale: UPDATE_DOCS=1 cargo test --test it operators"
    );
}
