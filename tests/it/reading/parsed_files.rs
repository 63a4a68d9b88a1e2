//! Every file of a run is read and parsed once, and the result is shared.

use std::path::Path;

use ownerlint::engine::{ConfigChoice, Request, Session};
use ownerlint::inventory::{Files, Inventory, Overlay, Settings, WalkBudget, walk};
use ownerlint::manifest::ParsedFile;
use ownerlint::text::{Side, SourceFile};

use crate::support::{Repository, root};

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn inside(repository: &Repository, path: &str) -> String {
    repository.path().join(path).to_string_lossy().into_owned()
}

#[test]
fn file_in_two_walks_is_parsed_once() {
    let repository = Repository::new();
    repository
        .write("shared/a.yaml", CONFIG_MAP)
        .write("own/b.yaml", CONFIG_MAP);
    let walked = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| inside(&repository, path)).collect();
        walk(&paths, &[]).expect("the folders are there")
    };
    let mut files = Files::default();
    let first = files.read(&walked(&["shared"]));
    let second = files.read(&walked(&["shared", "own"]));
    assert_eq!(files.parsed(), 2);
    assert!(
        second
            .iter()
            .any(|file| file.shares_content_with(&first[0]))
    );
}

#[test]
fn session_shares_files_between_bundles() {
    let repository = Repository::new();
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {dev: {paths: [shared]}, prod: {paths: [shared, prod]}}\n",
    );
    repository
        .write("shared/a.yaml", CONFIG_MAP)
        .write("prod/b.yaml", CONFIG_MAP);
    let config = ConfigChoice::File(inside(&repository, "ownerlint.yaml"));
    let mut request = Request::default();
    request.config = config;
    let session = Session::open(&request).expect("it reads");
    let file = |bundle: usize| {
        let mut files = session.bundles()[bundle].inventory.files();
        files
            .find(|(_, file)| file.source().path().ends_with("a.yaml"))
            .expect("both read it")
            .1
    };
    assert!(file(0).shares_content_with(file(1)));
    assert_eq!((session.files(), session.objects()), (2, 3));
}

#[test]
fn file_under_two_names_is_parsed_once_and_keeps_both_names() {
    let repository = Repository::new();
    repository
        .write("a.yaml", CONFIG_MAP)
        .write("b/other.yaml", CONFIG_MAP);
    let walked = |path: &str| walk(&[inside(&repository, path)], &[]).expect("the file is there");
    let mut files = Files::default();
    let (plain, detour) = (
        files.read(&walked("a.yaml")),
        files.read(&walked("b/../a.yaml")),
    );
    assert_eq!(files.parsed(), 1);
    assert_eq!(plain[0].source().path(), inside(&repository, "a.yaml"));
    assert_eq!(
        detour[0].source().path(),
        inside(&repository, "b/../a.yaml")
    );
    assert!(plain[0].shares_content_with(&detour[0]));
}

#[test]
fn inventories_share_the_objects_of_a_file() {
    let file = ParsedFile::parse(SourceFile::new("a.yaml", CONFIG_MAP));
    let of = |namespace: &str| {
        let settings = Settings {
            namespace: Some(namespace.to_owned()),
            ..Settings::default()
        };
        Inventory::new(vec![file.clone()], settings)
    };
    let (dev, prod) = (of("dev"), of("prod"));
    assert!(std::sync::Arc::ptr_eq(
        &dev.members[0].object,
        &prod.members[0].object
    ));
    assert_eq!(dev.members[0].key.to_string(), "ConfigMap/dev/a");
    assert_eq!(prod.members[0].key.to_string(), "ConfigMap/prod/a");
}

#[test]
fn base_and_head_share_unchanged_files() {
    let head = ParsedFile::parse(SourceFile::new("a.yaml", CONFIG_MAP));
    let base = head.seen_as("a.yaml", Side::Base);
    assert_eq!(
        (head.source().side(), base.source().side()),
        (Side::Head, Side::Base)
    );
    assert!(base.shares_content_with(&head));
}

#[test]
fn unsaved_texts_replace_and_add_files() {
    let repository = Repository::new();
    repository
        .write("old.yaml", CONFIG_MAP)
        .write("untouched.yaml", CONFIG_MAP);
    let unsaved = |path: &str| Overlay {
        path: inside(&repository, path),
        text: CONFIG_MAP.replace("{name: a}", "{name: b}").into(),
    };
    let folder = inside(&repository, "");
    let overlays = [
        unsaved("old.yaml"),
        unsaved("new.yaml"),
        unsaved("no-manifest.txt"),
    ];
    let found = Files::default()
        .walk(&[folder], &[], &overlays, &WalkBudget::default())
        .expect("the folder is there");
    let read: Vec<_> = Files::default().read(&found);
    let seen = |file: &ParsedFile| {
        let name = Path::new(file.source().path())
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let object = &file.documents()[0].objects()[0];
        (
            name.unwrap_or_default(),
            file.source().side(),
            object.name().unwrap_or_default().into_owned(),
        )
    };
    let expected = [
        ("new.yaml", Side::Unsaved, "b"),
        ("old.yaml", Side::Unsaved, "b"),
        ("untouched.yaml", Side::Head, "a"),
    ];
    let expected = expected.map(|(file, side, name)| (file.to_owned(), side, name.to_owned()));
    assert_eq!(read.iter().map(seen).collect::<Vec<_>>(), expected);
}

/// All code gets documents, comments and objects of a file from its [`ParsedFile`]. Configurations and baselines are
/// not manifests.
#[test]
fn manifests_are_parsed_in_one_place() {
    let mut parsers = Vec::new();
    for entry in walkdir::WalkDir::new(root().join("src")).sort_by_file_name() {
        let entry = entry.expect("the source can be walked");
        if entry.file_type().is_file() {
            let text = std::fs::read_to_string(entry.path()).expect("source is text");
            if text.contains("yaml::read") {
                let path = entry.path().strip_prefix(root()).expect("below the root");
                parsers.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    assert_eq!(
        parsers,
        [
            "src/baseline/document.rs",
            // Chart.yaml lists the dependencies of a chart.
            "src/charts/folder.rs",
            "src/config/value.rs",
            // Builds need every document, even of files without manifests.
            "src/graph/files.rs",
            "src/manifest/file.rs"
        ]
    );
}
