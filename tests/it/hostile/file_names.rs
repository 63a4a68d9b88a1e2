//! File names that collide or are not text: no manifest hides another one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::support::{CONFIG_MAP, files};
use crate::support::Repository;

#[test]
fn backslash_is_part_of_a_file_name() {
    let inside = Repository::new();
    inside.write("r\\web.yaml", &CONFIG_MAP.replace("settings", "a"));
    inside.write("r/web.yaml", &CONFIG_MAP.replace("settings", "b"));
    assert_eq!(files(&inside, &["."]), ["r/web.yaml", "r\\web.yaml"]);
    assert_eq!(files(&inside, &["r\\web.yaml"]), ["r\\web.yaml"]);
}

#[test]
fn non_utf8_file_names_are_distinct_and_shown_as_bytes() {
    let inside = Repository::new();
    for name in [b"\xFE.yaml", b"\xFF.yaml"] {
        std::fs::write(inside.path().join(OsStr::from_bytes(name)), CONFIG_MAP).expect("a file");
    }
    assert_eq!(files(&inside, &["."]), ["\\xFE.yaml", "\\xFF.yaml"]);
    // The name of a file may even be the displayed form of another name.
    inside.write("\\xFF.yaml", CONFIG_MAP);
    assert_eq!(
        files(&inside, &["."]),
        ["\\xFE.yaml", "\\xFF.yaml", "\\xFF.yaml"]
    );
}

#[test]
fn non_utf8_file_names_in_a_commit_stay_distinct() {
    let folder = crate::diff::Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("readme", "")
        .commit();
    for (name, object) in [(b"\xFE.yaml", "a"), (b"\xFF.yaml", "b")] {
        let text = CONFIG_MAP.replace("settings", object);
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), text).expect("a file");
    }
    let added = ["added ConfigMap/shop/a", "added ConfigMap/shop/b"];
    assert_eq!(folder.changes(&["--base-ref", "HEAD"]), added);
    folder.commit();
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        added
    );
}

#[test]
fn deeply_nested_glob_patterns_do_not_panic() {
    let inside = Repository::new();
    inside.write("a.yaml", CONFIG_MAP);
    for open in ["{a,", "[a", "(", "**/", "{a,b}"] {
        let pattern = format!("{}*", open.repeat(200));
        let (status, _, error) = inside.run(&[&pattern], "");
        assert!(
            matches!(status, 0 | 2) && !error.contains("panicked"),
            "{pattern}: {status} {error}"
        );
        inside.write(
            "ownerlint.yaml",
            &format!(
                "version: 1\nexclude: ['{pattern}']\nbundles: {{a: {{paths: ['{pattern}']}}}}\n"
            ),
        );
        let (status, _, error) = inside.run(&[], "");
        assert!(
            matches!(status, 0..=3) && !error.contains("panicked"),
            "{pattern}: {status} {error}"
        );
        std::fs::remove_file(inside.path().join("ownerlint.yaml")).expect("removed");
    }
    let nested = format!("{}{}", "{a,".repeat(200), "}".repeat(200));
    let (status, _, error) = inside.run(&[&nested], "");
    assert!(
        status == 2 && !error.contains("panicked"),
        "{status} {error}"
    );
}

#[test]
fn line_break_in_file_name_starts_no_line_of_junit() {
    let inside = Repository::new();
    let object = CONFIG_MAP.replace("namespace: shop", "namespace: shop, finalizers: [a]");
    inside.write("a\n::error::pwned.yaml", &object);
    let (_, out, _) = inside.run(&["-o", "junit", "--fail-on", "never"], "");
    assert!(out.contains("a␊::error::pwned.yaml"), "{out}");
    assert!(!out.contains("\n::error"), "{out}");
}
