//! Whom bindings mean among the workloads.

use foldhash::HashMap;

use crate::inventory::Inventory;
use crate::kube::Namespace;
use crate::ownership::workloads::Workload;
use crate::yaml::Value;

/// ServiceAccounts, as far as a binding tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Subject<'a> {
    /// `None`: every ServiceAccount.
    name: Option<&'a str>,
    place: SubjectPlace<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SubjectPlace<'a> {
    Anywhere,
    Named(&'a str),
    /// The input does not say where the workload will be.
    Open,
}

impl<'a> Subject<'a> {
    fn of(subject: Value<'a>) -> Option<Self> {
        let text = |key: &str| subject.get(key).and_then(Value::as_str);
        let (kind, name) = (text("kind")?, text("name")?);
        let (name, namespace) = match kind {
            "ServiceAccount" => (Some(name), text("namespace").filter(|namespace| !namespace.is_empty())),
            "User" => {
                let (namespace, name) = name.strip_prefix("system:serviceaccount:")?.split_once(':')?;
                (Some(name), Some(namespace))
            }
            "Group" if matches!(name, "system:serviceaccounts" | "system:authenticated") => (None, None),
            "Group" => (None, Some(name.strip_prefix("system:serviceaccounts:")?)),
            _ => return None,
        };
        Some(Self { name, place: namespace.map_or(SubjectPlace::Anywhere, SubjectPlace::Named) })
    }

    /// All that mean a workload with this ServiceAccount there.
    fn all_of(service_account: &'a str, namespace: &'a Namespace) -> [Self; 4] {
        let here = namespace.name().map_or(SubjectPlace::Open, SubjectPlace::Named);
        let of = |name, place| Self { name, place };
        let name = Some(service_account);
        [of(name, here), of(None, here), of(name, SubjectPlace::Anywhere), of(None, SubjectPlace::Anywhere)]
    }
}

/// Groups of workloads that bindings name: many bindings may name one, and a group may be large.
#[derive(Default)]
pub(super) struct Subjects<'a> {
    known: HashMap<Subject<'a>, usize>,
}

impl<'a> Subjects<'a> {
    /// The groups that a subject of a binding names.
    pub(super) fn named_by(&mut self, subject: Value<'a>) -> impl Iterator<Item = usize> {
        let subject = Subject::of(subject);
        // Where a workload will be, its manifest may leave open: then it may be there.
        let open = subject.filter(|subject| matches!(subject.place, SubjectPlace::Named(_)));
        let open = open.map(|subject| Subject { place: SubjectPlace::Open, ..subject });
        subject.into_iter().chain(open).map(|subject| {
            let next = self.known.len();
            *self.known.entry(subject).or_insert(next)
        })
    }

    /// Places among the workloads, in order, for each group.
    pub(super) fn members(&self, inventory: &Inventory, workloads: &[Workload]) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.known.len()];
        if members.is_empty() {
            return members;
        }
        for (at, workload) in workloads.iter().enumerate() {
            let namespace = &inventory.member(workload.id).key.namespace;
            for subject in Subject::all_of(&workload.service_account, namespace) {
                if let Some(group) = self.known.get(&subject) {
                    members[*group].push(at);
                }
            }
        }
        members
    }
}
