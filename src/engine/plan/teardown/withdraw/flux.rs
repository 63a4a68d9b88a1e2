//! The removal by Flux: the Kustomizations and HelmReleases that are deleted, and what Flux deletes with them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Tooling, Withdrawn};
use crate::changes::KnownDelivery;
use crate::delivery::flux::{HelmReleaseSettings, KustomizationSettings};
use crate::delivery::{Leaving, ToolRequest, Withdrawal, flux, flux_operator, marks};
use crate::engine::plan::followed::unknown;
use crate::engine::plan::notes::named;
use crate::inventory::Member;
use crate::kube::kubectl::{self, Target};
use crate::kube::{GroupKind, Namespace, ObjectKey, Policy, kinds, shell};
use crate::kustomize::{Deliverer, SourceTool};
use crate::merge::{DeletedDelivery, DeliveryChoice, delivering, excluding_unpruned};
use crate::ownership::DeliveryKind;

/// Reason why an object stays if other objects of the input have a known deliverer.
const UNDELIVERED: &str =
    "nothing in the input shows which Kustomization or HelmRelease delivers it";

/// The identity of a Kustomization or HelmRelease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FluxName<'b> {
    tool: SourceTool,
    namespace: Option<&'b str>,
    /// `None`: nothing in the input names it.
    name: Option<&'b str>,
}

/// The objects that a Kustomization or HelmRelease delivers, without itself.
#[derive(Debug, Default)]
struct Delivered<'b> {
    /// The delivery object, if the input contains it.
    object: Option<&'b Member>,
    /// Its delivery in the delivery graph, if it is there.
    known: Option<&'b KnownDelivery>,
    members: Vec<&'b Member>,
}

/// The removed objects by deliverer.
#[derive(Debug, Default)]
struct Deliveries<'b> {
    all: BTreeMap<FluxName<'b>, Delivered<'b>>,
    /// Objects that stay, because their deliverer is unknown.
    undelivered: Vec<&'b Member>,
}

impl<'b> FluxName<'b> {
    fn unknown(tool: SourceTool) -> Self {
        Self {
            tool,
            namespace: None,
            name: None,
        }
    }

    fn of(object: &'b Member) -> Self {
        Self {
            tool: tool(object.key.is(kinds::HELM_RELEASE)),
            namespace: object.key.namespace.name(),
            name: Some(&object.key.name),
        }
    }

    /// Returns its name in sentences: `Kustomization flux-system/apps`.
    fn spoken(self) -> String {
        let kind = self.tool.kind().kind;
        match (self.namespace, self.name) {
            (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
            (None, Some(name)) => format!("{kind} {name}"),
            (_, None) => format!("the {kind}"),
        }
    }
}

impl Delivered<'_> {
    /// Whether its settings are not in the input.
    fn is_assumed(&self) -> bool {
        self.object.is_none() && self.known.is_none()
    }
}

impl<'b> Deliveries<'b> {
    /// Adds objects without evidence of their deliverer. They stay if the input contains a delivery object, or names
    /// more than one. Otherwise the only one that labels name, or an unknown one, is assumed to deliver all of them.
    fn add_unnamed(&mut self, unnamed: Vec<(SourceTool, &'b Member)>) {
        let objects = self.all.values().filter_map(|one| one.object);
        let objects: BTreeSet<&ObjectKey> = objects.map(|object| &object.key).collect();
        let unnamed = unnamed.into_iter();
        let unnamed: Vec<_> = unnamed
            .filter(|(_, one)| !objects.contains(&one.key))
            .collect();
        let is_alone = self.all.len() <= 1 && self.all.values().all(Delivered::is_assumed);
        if !is_alone {
            let unnamed = unnamed.into_iter();
            self.undelivered.extend(unnamed.map(|(_, member)| member));
            return;
        }
        let only = self.all.keys().next().copied();
        for (tool, member) in unnamed {
            let by = only.filter(|only| only.tool == tool);
            let by = by.unwrap_or_else(|| FluxName::unknown(tool));
            self.all.entry(by).or_default().members.push(member);
        }
    }

    /// Returns the delivery objects that no other one of the removal delivers: their deletion starts all others.
    fn tops(&self) -> Vec<FluxName<'b>> {
        let members = self.all.values().flat_map(|one| &one.members);
        let delivered: BTreeSet<&ObjectKey> = members.map(|member| &member.key).collect();
        let tops = self.all.iter().filter(|(_, one)| {
            one.object
                .is_none_or(|object| !delivered.contains(&object.key))
        });
        let tops: Vec<FluxName<'b>> = tops.map(|(name, _)| *name).collect();
        // Kustomizations that deliver each other have no top.
        match self.all.keys().next() {
            Some(first) if tops.is_empty() => vec![*first],
            _ => tops,
        }
    }

    /// Returns the deleted HelmReleases whose charts were not read.
    fn unread_releases(&self, withdrawal: &Withdrawal<'_>) -> Vec<ObjectKey> {
        let read = self.all.values().filter(|one| !one.members.is_empty());
        let read: BTreeSet<&ObjectKey> = read.filter_map(|one| Some(&one.object?.key)).collect();
        let deleted = withdrawal.requests.iter().map(|request| &request.key);
        let releases = deleted.filter(|key| key.is(kinds::HELM_RELEASE) && !read.contains(key));
        releases.cloned().collect()
    }

    /// Returns notes on unknown facts about the deliveries.
    fn notes(&self, tops: &[FluxName<'_>]) -> Vec<String> {
        let mut notes = Vec::new();
        if let several @ 2.. = tops.len() {
            notes.push(format!(
                "No other delivery object delivers these {several}, so the command deletes all of them. `ownerlint plan \
                 delete ks/NAME` plans the deletion of one."
            ));
        }
        let mut all = self.all.iter();
        if all.any(|(by, one)| by.tool == SourceTool::Flux && one.is_assumed()) {
            let who = if tops.len() > 1 {
                "Kustomizations that are not in the input are"
            } else {
                "The Kustomization is"
            };
            notes.push(format!("{who} assumed to prune and not to be suspended."));
        }
        if self.all.len() > 1
            && self
                .all
                .contains_key(&FluxName::unknown(SourceTool::FluxRelease))
        {
            notes.push("Objects with the marks of a chart are deleted as the HelmRelease would, all others as the \
                Kustomization would.".to_owned());
        }
        notes
    }
}

impl<'b> Tooling<'b, '_> {
    /// Returns the removal by Flux: the deletion of the Kustomizations that no other one delivers, and what Flux deletes
    /// then. Objects with the label of a HelmRelease or the marks of a chart are removed as the objects of a
    /// HelmRelease.
    pub(super) fn flux(self) -> Withdrawn<'b> {
        if let Some(withdrawn) = self.instances() {
            return withdrawn;
        }
        let deliveries = self.flux_deliveries();
        let tops = deliveries.tops();
        let members = self.leaving.members.iter();
        let asked: BTreeSet<&ObjectKey> = members.map(|member| &member.key).collect();
        let (withdrawal, stays) = self.deleted_in_turn(&deliveries, &tops, &asked);
        let deleted = tops.iter().copied().filter(|top| top.name.is_some());
        let deleted: Vec<FluxName<'_>> = deleted.collect();
        let command = match (deleted.as_slice(), tops.first()) {
            ([], first) => delete(*first.unwrap_or(&FluxName::unknown(SourceTool::Flux))),
            ([one], _) => delete(*one),
            (several, _) => delete_several(several),
        };
        let mut notes = deliveries.notes(&deleted);
        let elsewhere = deleted.iter().filter(|top| {
            let one = &deliveries.all[*top];
            let is_asked = one.object.is_some_and(|object| asked.contains(&object.key));
            !is_asked && !one.is_assumed()
        });
        let elsewhere: Vec<String> = elsewhere.map(|top| top.spoken()).collect();
        if !elsewhere.is_empty() {
            notes.push(format!(
                "Not part of this plan, although the command deletes it: {}.",
                named(&elsewhere)
            ));
        }
        let unread = deliveries.unread_releases(&withdrawal);
        let of_releases = unread.iter().cloned();
        notes.extend(unknown(
            of_releases
                .map(|key| (DeliveryKind::HelmRelease, key))
                .collect(),
        ));
        Withdrawn {
            stays,
            unread,
            ..Withdrawn::new(withdrawal, command, Policy::Background, notes)
        }
    }

    /// Returns the removal of FluxInstances, if the input has nothing else: the Flux Operator uninstalls Flux.
    fn instances(&self) -> Option<Withdrawn<'b>> {
        let members = &self.leaving.members;
        if members.is_empty() || !members.iter().all(|one| one.key.is(kinds::FLUX_INSTANCE)) {
            return None;
        }
        let withdrawal = Withdrawal {
            requests: members
                .iter()
                .map(|one| ToolRequest::delete(&one.key, Policy::Background))
                .collect(),
            ..Withdrawal::default()
        };
        let commands = members.iter().map(|one| {
            let resource = resource_of(one.key.group_kind());
            let target = Target::new(resource, &one.key.name, &one.key.namespace);
            kubectl::delete(&target, &[])
        });
        let commands: Vec<String> = commands.collect();
        let uninstalling = members.iter().filter(|one| flux_operator::uninstalls(one));
        let keys: Vec<String> = uninstalling.map(|one| one.key.to_string()).collect();
        let note = (!keys.is_empty()).then(|| {
            format!(
                "The Flux Operator uninstalls Flux once {} is deleted, and prunes nothing: what Flux applied stays in the \
                 cluster, and nothing applies it any more.",
                named(&keys)
            )
        });
        let (command, notes) = (commands.join(" && "), note.into_iter().collect());
        Some(Withdrawn::new(
            withdrawal,
            command,
            Policy::Background,
            notes,
        ))
    }

    /// Returns the requests that delete `tops` and those that follow, the requests of an object
    /// after those of its deliverer. Also returns the objects that stay.
    fn deleted_in_turn(
        &self,
        deliveries: &Deliveries<'b>,
        tops: &[FluxName<'b>],
        asked: &BTreeSet<&ObjectKey>,
    ) -> (Withdrawal<'b>, Vec<(ObjectKey, String)>) {
        let objects = deliveries.all.iter();
        let objects = objects.filter_map(|(name, one)| Some((&one.object?.key, *name)));
        let objects: BTreeMap<&ObjectKey, FluxName<'b>> = objects.collect();
        let own = tops.iter().filter_map(|top| deliveries.all[top].object);
        let own = own.filter(|own| asked.contains(&own.key));
        let mut all = Withdrawal {
            requests: own
                .map(|own| ToolRequest::delete(&own.key, Policy::Background))
                .collect(),
            ..Withdrawal::default()
        };
        let mut stays = stay(&deliveries.undelivered, UNDELIVERED);
        let mut seen: BTreeSet<FluxName<'b>> = tops.iter().copied().collect();
        let mut pending: VecDeque<FluxName<'b>> = tops.iter().copied().collect();
        while let Some(by) = pending.pop_front() {
            let one = &deliveries.all[&by];
            let withdrawal = self.deleted_with(by, one);
            let gone = withdrawal.requests.iter();
            let gone = gone.filter_map(|request| objects.get(&request.key).copied());
            pending.extend(gone.filter(|next| seen.insert(*next)));
            if let Some(reason) = withdrawal.nothing {
                stays.extend(stay(&one.members, &format!("{} {reason}", by.spoken())));
            }
            all.requests.extend(withdrawal.requests);
            all.spared.extend(withdrawal.spared);
            all.possible.extend(withdrawal.possible);
        }
        for (by, one) in &deliveries.all {
            if !seen.contains(by) {
                stays.extend(stay(&one.members, &format!("{} stays", by.spoken())));
            }
        }
        // An object may have several deliverers, of which one deletes it.
        let requests = all.requests.iter();
        let gone: BTreeSet<&ObjectKey> = requests.map(|request| &request.key).collect();
        stays.retain(|(key, _)| !gone.contains(key));
        (all, stays)
    }

    /// Returns the requests that follow the deletion of a delivery object.
    fn deleted_with(&self, by: FluxName<'b>, one: &Delivered<'b>) -> Withdrawal<'b> {
        let leaving = Leaving {
            inventory: self.leaving.inventory,
            deliveries: self.leaving.deliveries,
            members: one.members.clone(),
        };
        if by.tool == SourceTool::FluxRelease {
            let settings = one
                .object
                .map(|member| HelmReleaseSettings::of(&member.object));
            let mut settings = settings.unwrap_or_default();
            settings.propagation = self.policy(settings.propagation);
            return flux::helm_release_deleted(&leaving, self.request.helm_version, settings);
        }
        let Some(object) = one.object else {
            let settings = one.known.map(|known| &known.settings);
            let settings = settings.map(KustomizationSettings::applied);
            return excluding_unpruned(&leaving, one.known, |leaving| {
                flux::kustomization_deleted(leaving, settings.unwrap_or_default())
            });
        };
        DeletedDelivery {
            leaving: &leaving,
            tool: by.tool,
            object,
            known: one.known,
            choice: &DeliveryChoice::default(),
        }
        .withdrawal()
    }

    /// Returns the removed objects by the deliverer in their labels, else in the delivery graph.
    fn flux_deliveries(&self) -> Deliveries<'b> {
        let mut found = Deliveries::default();
        let mut unnamed = Vec::new();
        for member in self.leaving.members.iter().copied() {
            let tool = tool(self.leaving.deliveries.regime(member).regime.is_release());
            let labelled = self.labelled(member, tool);
            let graphed = self.graphed(member);
            let Some(by) = labelled.or_else(|| graphed.map(|(by, _)| by)) else {
                if member.key.is(kinds::FLUX_KUSTOMIZATION) {
                    let own = found.all.entry(FluxName::of(member)).or_default();
                    own.object = Some(member);
                } else {
                    unnamed.push((tool, member));
                }
                continue;
            };
            let name = by.name.unwrap_or_default();
            let object = self
                .delivering(by.tool.kind(), name, by.namespace)
                .or_else(|| {
                    // It may be in a file that nothing applies.
                    let (_, deliverer) = graphed?;
                    delivering(&self.cluster.bundle.inventory, deliverer)
                });
            let one = found.all.entry(object.map_or(by, FluxName::of));
            let one = one.or_default();
            one.object = object;
            one.known = one.known.or_else(|| {
                let (_, deliverer) = graphed.filter(|(graphed, _)| {
                    // A label may leave the namespace out.
                    (graphed.tool, graphed.name) == (by.tool, by.name)
                })?;
                self.cluster.part()?.delivery(deliverer)
            });
            if object.is_none_or(|object| object.key != member.key) {
                one.members.push(member);
            }
        }
        let is_of_releases = unnamed
            .iter()
            .all(|(_, one)| one.key.is(kinds::HELM_RELEASE));
        if found.all.is_empty() && is_of_releases {
            for (_, member) in unnamed.drain(..) {
                let own = found.all.entry(FluxName::of(member)).or_default();
                own.object = Some(member);
            }
        }
        found.add_unnamed(unnamed);
        found
    }

    /// Returns the Kustomization or HelmRelease that the labels of an object name.
    fn labelled(&self, member: &'b Member, tool: SourceTool) -> Option<FluxName<'b>> {
        let [name, namespace] = if tool == SourceTool::FluxRelease {
            [
                marks::FLUX_HELM_RELEASE_NAME,
                marks::FLUX_HELM_RELEASE_NAMESPACE,
            ]
        } else {
            [
                marks::FLUX_KUSTOMIZATION_NAME,
                marks::FLUX_KUSTOMIZATION_NAMESPACE,
            ]
        };
        self.as_applied(member).find_map(|member| {
            let metadata = member.object.metadata();
            let namespace = metadata.label(namespace);
            Some(FluxName {
                tool,
                namespace: namespace.map(|namespace| namespace.value),
                name: Some(metadata.label(name)?.value),
            })
        })
    }

    /// Returns the Kustomization or HelmRelease that delivers an object in the delivery graph.
    fn graphed(&self, member: &Member) -> Option<(FluxName<'b>, &'b Deliverer)> {
        let part = self.cluster.part()?;
        let by = part.destination(member.file).deliverer()?;
        let namespace = Some(by.namespace.as_str()).filter(|namespace| !namespace.is_empty());
        let name = FluxName {
            tool: by.tool,
            namespace,
            name: Some(&by.name),
        };
        by.tool.is_flux().then_some((name, by))
    }
}

/// Returns the tool that delivers the objects of a release, or all others.
fn tool(is_release: bool) -> SourceTool {
    if is_release {
        SourceTool::FluxRelease
    } else {
        SourceTool::Flux
    }
}

fn stay(members: &[&Member], why: &str) -> Vec<(ObjectKey, String)> {
    let keys = members.iter().map(|member| member.key.clone());
    keys.map(|key| (key, why.to_owned())).collect()
}

/// Returns the command that deletes one delivery object.
fn delete(by: FluxName<'_>) -> String {
    let word = by.tool.kind().kind.to_lowercase();
    let name = shell::operand(by.name, "NAME");
    let namespace = shell::operand(by.namespace, "NAMESPACE");
    shell::line(["flux", "delete", &word, name, "-n", namespace])
}

/// Returns a kind as an argument of kubectl.
fn resource_of(kind: GroupKind<&str>) -> String {
    format!("{}.{}", kind.kind.to_lowercase(), kind.group)
}

/// Returns the command that deletes several delivery objects, which `flux delete` cannot.
fn delete_several(all: &[FluxName<'_>]) -> String {
    let mut alike: BTreeMap<(SourceTool, Option<&str>), Vec<Target>> = BTreeMap::new();
    for by in all {
        let resource = resource_of(by.tool.kind());
        let namespace = by.namespace.map_or(Namespace::Unwritten, |namespace| {
            Namespace::Named(namespace.into())
        });
        let target = Target::new(resource, by.name.unwrap_or_default(), &namespace);
        let targets = alike.entry((by.tool, by.namespace)).or_default();
        targets.push(target);
    }
    let commands = alike.values();
    let commands: Vec<String> = commands
        .map(|targets| kubectl::delete_several(targets, &["--ignore-not-found"]))
        .collect();
    commands.join(" && ")
}
