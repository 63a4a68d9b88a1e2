//! Each fact about a bundle is computed once and cached.

use std::sync::Arc;

use ownerlint::cluster::{Analysis, PlanCache};
use ownerlint::gc::Step;

use crate::support::inventory_of;

const DANGLING: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  namespace: shop
  uid: u1
  resourceVersion: '1'
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: u2}]
";

#[test]
fn analysis_builds_the_cluster_once() {
    let inventory = inventory_of("a.yaml", DANGLING);
    let analysis = Analysis::of(&inventory);
    let (first, second) = (
        analysis.cluster().expect("a cluster"),
        analysis.cluster().expect("a cluster"),
    );
    assert!(std::ptr::eq(first, second));
}

#[test]
fn analysis_computes_ownership_once() {
    let inventory = inventory_of("a.yaml", DANGLING);
    let analysis = Analysis::of(&inventory);
    assert!(std::ptr::eq(analysis.ownership(), analysis.ownership()));
}

#[test]
fn object_templates_are_read_once() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {metadata: {finalizers: [a.b/c]}}}\n";
    let inventory = inventory_of("web.yaml", text);
    let object = &inventory.members[0].object;
    assert_eq!(object.templates().count(), 1);
    let finalizers = || {
        object
            .templates()
            .next()
            .map(|template| template.metadata.finalizers().as_ptr())
    };
    assert_eq!(finalizers(), finalizers());
}

#[test]
fn kept_verdict_is_returned_for_the_graph() {
    let inventory = inventory_of("a.yaml", DANGLING);
    let analysis = Analysis::of(&inventory);
    let plans = PlanCache::new(&analysis);
    let plan = plans.plan(&Step::Settle).expect("a verdict");
    plans.keep(Step::Settle, Arc::clone(&plan));
    assert!(Arc::ptr_eq(
        &plan,
        &plans.plan(&Step::Settle).expect("a verdict")
    ));
}
