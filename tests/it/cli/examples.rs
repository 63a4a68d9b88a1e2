//! The output for the bundled examples.

use crate::support::{Repository, ownerlint};

fn shown(arguments: &[&str]) -> String {
    let output = ownerlint().args(arguments).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}

/// Returns what a check of a bundle prints in a repository without other fixtures.
fn checked(bundle: &str) -> String {
    let repository = Repository::of_copies(&[bundle]);
    let (_, out, error) = repository.run(&[bundle], "");
    assert_eq!(error, "");
    out
}

#[test]
fn check_of_rook_example() {
    insta::assert_snapshot!(checked("fixtures/bundles/rook"));
}

#[test]
fn check_of_cross_namespace_example() {
    insta::assert_snapshot!(checked("fixtures/bundles/cross-namespace"));
}

#[test]
fn list_of_rook_example() {
    insta::assert_snapshot!(shown(&["list", "fixtures/bundles/rook"]));
}
