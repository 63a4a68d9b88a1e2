//! The output for the bundled examples.

use crate::support::ownerlint;

fn shown(arguments: &[&str]) -> String {
    let output = ownerlint().args(arguments).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn check_of_rook_example() {
    insta::assert_snapshot!(shown(&["fixtures/bundles/rook"]));
}

#[test]
fn check_of_cross_namespace_example() {
    insta::assert_snapshot!(shown(&["fixtures/bundles/cross-namespace"]));
}

#[test]
fn list_of_rook_example() {
    insta::assert_snapshot!(shown(&["list", "fixtures/bundles/rook"]));
}
