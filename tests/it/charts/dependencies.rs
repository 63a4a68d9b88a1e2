//! HelmReleases that depend on others.

use super::fake::{bump, flux, release};
use super::surroundings::effects;

#[test]
fn dependency_that_nothing_applies_makes_deletions_of_upgrade_possible() {
    let tree = flux();
    bump(&tree);
    let deleted = "deleted Service/shop/web";
    assert_eq!(effects(&tree.diff(&["--render"])), [deleted]);
    let waits = release("web", "1.0.0", "  dependsOn: [{name: operator}]\n");
    tree.write(&[("apps/web.yaml", &release("web", "1.0.0", ""))]);
    tree.folder.commit();
    tree.write(&[("apps/web.yaml", &waits.replace("1.0.0", "2.0.0"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), [format!("possible {deleted}")]);
    let said = "the HelmRelease shop/web waits for HelmRelease.helm.toolkit.fluxcd.io/shop/operator, which nothing here applies";
    assert!(document["notes"].to_string().contains(said), "{document}");
    // The release was installed, so its dependency is in the cluster.
    tree.write(&[("apps/web.yaml", &waits)]);
    tree.folder.commit();
    tree.write(&[("apps/web.yaml", &waits.replace("1.0.0", "2.0.0"))]);
    tree.folder.commit();
    assert_eq!(effects(&tree.diff(&["--render"])), [deleted]);
}
