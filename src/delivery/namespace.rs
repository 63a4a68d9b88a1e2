//! A Namespace is deleted, and Kubernetes deletes what is in it; cluster-scoped objects stay.

use super::request::{Request, Withdrawal};
use crate::kube::{Namespace, ObjectKey, Policy, Wait, kinds};

/// `kubectl delete namespace`, which waits until it is gone.
pub fn delete(name: &str) -> Withdrawal<'static> {
    let key = ObjectKey::new(kinds::NAMESPACE, Namespace::None, name);
    let requests = vec![Request::delete(&key, Policy::Background)];
    Withdrawal { requests, ..Withdrawal::default() }.then_wait(Wait::Gone)
}
