//! The output for the bundled examples.

use crate::support::ownerlint;

fn shown(arguments: &[&str]) -> String {
    let output = ownerlint().args(arguments).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_rook_case() {
    insta::assert_snapshot!(shown(&["fixtures/bundles/rook"]));
}

#[test]
fn an_owner_in_another_namespace() {
    insta::assert_snapshot!(shown(&["fixtures/bundles/cross-namespace"]));
}

#[test]
fn the_listing_of_the_rook_case() {
    insta::assert_snapshot!(shown(&["list", "fixtures/bundles/rook"]));
}
