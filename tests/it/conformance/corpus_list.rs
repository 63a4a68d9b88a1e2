//! `list` on the corpus, compared with Kubernetes' own decoder, document by document.

use std::collections::BTreeMap;

use crate::support::{corpus, fixture, ownerlint, root};

/// Intended differences from the decoder, with the reason.
const DIFFERENCES: [(&str, u32, &str); 4] = [
    (
        "nasty/argo-cd__reposerver__repository__testdata__null-list__null-list.yaml",
        0,
        "the decoder alone takes a ConfigMapList with `items: null` for an object; kubectl finds no object in it, and so do we",
    ),
    (
        "nasty/argo-cd__reposerver__repository__testdata__utf-16__utf-16.yaml",
        1,
        "kubectl decodes UTF-16 before it splits, and so do we; the bare decoder of the recording sees no `---` in it",
    ),
    (
        "nasty/ingress-gce__cmd__echo__echo.yaml",
        1,
        "Kubernetes stops at document 0, which it refuses; we read on",
    ),
    (
        "nasty/kiali-operator__molecule__external-auth-rotation-test__external-auth-rotation-resources.yaml",
        0,
        "an unrendered template (Jinja braces break the YAML): skipped with a note instead of refused",
    ),
];

/// One reading of a document: its objects in order, and the number of other values by verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    objects: Vec<[String; 6]>,
    skipped: BTreeMap<String, usize>,
}

type Documents = BTreeMap<(String, u32), Said>;

/// Returns the rows of `tests/corpus-skipped.tsv`: documents that are skipped, with the reason and the evidence.
fn set_aside() -> BTreeMap<(String, u32), (String, String)> {
    let text = std::fs::read_to_string(root().join("tests/corpus-skipped.tsv"))
        .expect("the list of skipped documents");
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|row| {
        let [file, document, reason, detail] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {row}")
        };
        (
            (file.to_owned(), document.parse().expect("an index")),
            (reason.to_owned(), detail.to_owned()),
        )
    })
    .collect()
}

impl Said {
    fn skip(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }
}

fn recorded() -> Documents {
    let mut documents = Documents::new();
    for line in fixture("conformance/corpus-decode.tsv").lines().skip(1) {
        let cells: Vec<_> = line.split('\t').collect();
        let said = documents
            .entry((cells[0].to_owned(), cells[1].parse().expect("an index")))
            .or_default();
        match cells[2] {
            // Kustomize's own files are not manifests, but Kubernetes' decoder accepts them.
            "object"
                if cells[3].starts_with("kustomize.config.k8s.io/") || cells[3] == "builtin" =>
            {
                said.skip("not-a-manifest");
            }
            "object" => said
                .objects
                .push([3, 4, 5, 6, 7, 8].map(|at| cells[at].to_owned())),
            "list" => {}
            "no-kind" | "not-an-object" => said.skip("not-a-manifest"),
            "empty" => said.skip("empty"),
            "refused" | "metadata-does-not-decode" => said.skip("unreadable"),
            other => panic!("unknown verdict {other}"),
        }
    }
    documents
}

/// Returns our reading of every document, and the details of skipped ones.
fn listed(corpus: &str) -> (Documents, BTreeMap<(String, u32), String>) {
    let output = ownerlint()
        .args(["list", "--output", "json", corpus])
        .output()
        .expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let place = |entry: &serde_json::Value| {
        let file = text(&entry["file"])
            .strip_prefix(corpus)
            .expect("below the corpus")
            .trim_start_matches('/')
            .to_owned();
        (file, entry["document"].as_u64().expect("an index") as u32)
    };
    let count = |value: &serde_json::Value| value.as_array().expect("a list").len().to_string();
    let (mut documents, mut details) = (Documents::new(), BTreeMap::new());
    for object in json["objects"].as_array().expect("objects") {
        // To the decoder, a generated name is no name.
        let name = Some(text(&object["name"]))
            .filter(|name| !name.ends_with('*'))
            .unwrap_or_default();
        documents.entry(place(object)).or_default().objects.push([
            text(&object["apiVersion"]),
            text(&object["kind"]),
            text(&object["namespace"]),
            name,
            count(&object["ownerReferences"]),
            count(&object["finalizers"]),
        ]);
    }
    for skip in json["skipped"].as_array().expect("skipped") {
        documents
            .entry(place(skip))
            .or_default()
            .skip(&text(&skip["reason"]));
        details.insert(place(skip), text(&skip["detail"]));
    }
    (documents, details)
}

#[test]
fn corpus_documents_are_decoded_like_kubernetes() {
    let Some(corpus) = corpus() else { return };
    let (recorded, (listed, details), set_aside) =
        (recorded(), listed(&corpus.to_string_lossy()), set_aside());
    let nothing = Said::default();
    let places: std::collections::BTreeSet<_> = recorded.keys().chain(listed.keys()).collect();
    let mut agreed = 0;
    let mut differ = Vec::new();
    for place in places {
        let (theirs, ours) = (
            recorded.get(place).unwrap_or(&nothing),
            listed.get(place).unwrap_or(&nothing),
        );
        if let Some((reason, detail)) = set_aside.get(place) {
            assert!(
                ours.skipped.contains_key(reason) && details.get(place) == Some(detail),
                "{place:?}: {ours:?}"
            );
        } else if theirs == ours {
            agreed += 1;
        } else {
            differ.push((place.0.as_str(), place.1));
        }
    }
    let expected: Vec<_> = DIFFERENCES
        .iter()
        .map(|(file, document, _)| (*file, *document))
        .collect();
    assert_eq!(differ, expected, "documents that differ, {agreed} agree");
    let set_aside = set_aside.len();
    assert!(
        agreed + set_aside > 5_600,
        "only {agreed} documents were compared"
    );
}
