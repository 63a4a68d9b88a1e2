//! The objects that Flux applies from a tree: from its entry points down to the last Kustomization, each read from the
//! build of its parent.

mod bash;
mod envsubst;
mod kustomization;
mod release;
mod scan;
mod set_value;
mod substitute;
mod written;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

pub use self::kustomization::COSMETIC;
use self::kustomization::{FluxKustomization, VariableSource, destination};
use self::release::{Applied, HelmRelease, Surroundings, is_source};
pub use self::substitute::names_in;
use self::written::{Written, fixed_revision};
use super::delivery::Delivery;
use super::kustomize::{Budget, BuildError, Builder, Builds, Built, Resource};
use super::reached::left_out;
use super::unread::{UnreadInput, What};
use crate::kustomize::{BeyondLimit, Limit, ancestors, folder_of, shown};
use crate::text::Limits;

/// Maximum number of rounds in which Kustomizations that wait for variables are tried again.
const MAX_ROUNDS: usize = 16;

/// Returns everything that Flux applies from a tree.
///
/// `before` contains the deliveries of the previous state of the tree. Objects of a Kustomization that can no longer be
/// built stay in the cluster, and the Kustomizations among them continue.
///
/// # Errors
/// Returns an error if there are more deliveries or copies of objects than the limits allow.
pub fn deliveries(
    builds: &Builds<'_>,
    limits: &Limits,
    before: &[Delivery],
) -> Result<Vec<Delivery>, BeyondLimit> {
    let files = builds.files();
    let mut written = Written::new(files);
    if let Some(earlier) = builds.files_before() {
        written.find_synced_before((earlier, files), before);
    }
    let budget = Budget::new(limits);
    let mut all = Vec::new();
    let orphans = Orphans::new(before);
    let entries = written.entries(files).into_iter();
    for entry in entries.filter(|entry| !orphans.have(entry)) {
        let id = entry.entry_id();
        // The folder of an entry point that was read before may have left the tree.
        let was = Delivery::find(before, &id);
        let was_read = was.is_some_and(|was| was.elsewhere.is_none());
        let is_here = was_read || files.has_folder(&entry.folder());
        let is_here = is_here && !written.is_foreign(&entry.source());
        let cluster = Cluster {
            builds,
            written: &written,
            own: if is_here {
                entry.source()
            } else {
                SourceName::default()
            },
            budget: &budget,
            before,
        };
        cluster.follow(entry, limits, &mut all)?;
    }
    Delivery::sort(&mut all);
    Ok(all)
}

/// Kustomizations that are not entry points, although no file in the tree delivers them, because nothing applies them:
///
/// - those of the previous state that their parents delete. If its parent does not delete it, a
///   Kustomization continues (recorded: flux-parent-removed-orphan-children).
/// - new ones that do not apply themselves, if every entry point of the previous state does.
struct Orphans<'d> {
    /// Kustomizations that their parents delete.
    deleted: HashSet<FileAndName<'d>>,
    /// All Kustomizations of the previous state.
    known: HashSet<FileAndName<'d>>,
    /// Whether there were entry points and each applied itself, so that none is applied by hand.
    entries_apply_themselves: bool,
}

type FileAndName<'d> = (&'d str, &'d str);

impl<'d> Orphans<'d> {
    fn new(before: &'d [Delivery]) -> Self {
        let entries = || before.iter().filter(|one| one.parent.is_none());
        let entries_apply_themselves =
            entries().next().is_some() && entries().all(|one| one.reached.contains(&*one.file));
        let entries: HashSet<_> = entries().filter_map(file_and_name).collect();
        let deleting = before.iter().filter(|one| {
            let settings = &one.settings;
            settings.prune == Some(true)
                && settings.suspend != Some(true)
                && settings.deletion_policy.as_deref() != Some("Orphan")
        });
        let deleting: HashSet<&str> = deleting.map(|one| one.id.as_str()).collect();
        let deleted = before.iter().filter(|one| {
            let parent = one.parent.as_deref();
            parent.is_some_and(|parent| deleting.contains(parent))
        });
        let delivered = deleted.filter_map(file_and_name);
        Self {
            deleted: delivered.filter(|one| !entries.contains(one)).collect(),
            known: before.iter().filter_map(file_and_name).collect(),
            entries_apply_themselves,
        }
    }

    fn have(&self, entry: &FluxKustomization) -> bool {
        let name = (&*entry.origin.file, entry.name.as_str());
        self.deleted.contains(&name)
            || self.entries_apply_themselves
                && !self.known.contains(&name)
                && !contains_itself(entry)
    }
}

/// Whether a Kustomization is written in the folder that it applies, or below it.
fn contains_itself(entry: &FluxKustomization) -> bool {
    let folder = entry.folder();
    ancestors(folder_of(&entry.origin.file)).any(|above| above == folder)
}

/// Returns the file and the name of a delivery object, without its namespace: the build that delivers it may set that.
fn file_and_name(delivery: &Delivery) -> Option<(&str, &str)> {
    Some((&delivery.file, &delivery.by.as_ref()?.name))
}

/// Returns the releases of HelmReleases that no Kustomization of Flux delivers: other tools deliver them, or they are
/// applied by hand. `delivered` contains all other deliveries, `before` those of the previous state: a HelmRelease that
/// was delivered there is not applied by hand.
///
/// # Errors
/// Returns the errors of [`deliveries`].
pub fn releases(
    builds: &Builds<'_>,
    limits: &Limits,
    delivered: &[Delivery],
    before: &[Delivery],
) -> Result<Vec<Delivery>, BeyondLimit> {
    let files = builds.files();
    let written = Written::new(files);
    let known: BTreeSet<&str> = delivered.iter().map(|one| one.id.as_str()).collect();
    let reached = delivered.iter().chain(before).flat_map(|one| {
        let read = one.reached.iter().map(String::as_str);
        let applied = one.resources.iter().map(|resource| &resource.origin);
        let applied = applied.filter(|origin| !origin.is_generated);
        read.chain(applied.map(|origin| &*origin.file))
    });
    let reached: BTreeSet<&str> = reached.collect();
    let mut found = Found::default();
    for one in delivered {
        found.take(one, &one.resources);
    }
    let left_out = left_out(files, written.releases.iter().map(|one| &*one.origin.file));
    let alone = written.releases.iter().filter(|release| {
        let file = &*release.origin.file;
        !reached.contains(file) && !left_out.contains(file)
    });
    for release in alone {
        found
            .releases
            .push_back((Arc::from(""), None, release.clone()));
    }
    let own = SourceName::default();
    let budget = Budget::new(limits);
    let mut all: Vec<Delivery> = Vec::new();
    while let Some((here, parent, release)) = found.releases.pop_front() {
        let around = Surroundings {
            files,
            written: &written,
            applied: found.applied.get(&here),
            own: &own,
            builder: Builder::within(builds, &budget),
        };
        let delivery = HelmRelease::from_resource(&release)
            .map(|release| release.delivery(&around, ("", &here), parent))
            .filter(|delivery| !known.contains(delivery.id.as_str()));
        if let Some(delivery) = delivery {
            within(&budget, limits, &delivery, delivered.len() + all.len())?;
            found.take(&delivery, &delivery.resources);
            all.push(delivery);
        }
    }
    Delivery::sort(&mut all);
    Ok(all)
}

/// Takes the objects of a release from `budget`; fails if this or `deliveries` reaches a limit.
fn within(
    budget: &Budget,
    limits: &Limits,
    delivery: &Delivery,
    deliveries: usize,
) -> Result<(), BeyondLimit> {
    let spent = budget.spend(delivery.resources.len(), &delivery.file);
    let too_many = (deliveries >= limits.deliveries).then_some(Limit::Deliveries);
    match spent.or(too_many) {
        Some(limit) => Err(BeyondLimit::new(limit, limits, &*delivery.file)),
        None => Ok(()),
    }
}

/// The kind, the namespace and the name of a source.
type SourceName = (String, String, String);

/// Objects of deliveries that are evaluated later.
#[derive(Default)]
struct Found {
    /// HelmReleases, each with its cluster and the delivery that applies it.
    releases: VecDeque<(Arc<str>, Option<Arc<str>>, Resource)>,
    /// Sources of manifests, charts, values and variables, by cluster.
    applied: BTreeMap<Arc<str>, Applied>,
}

impl Found {
    /// Adds the objects that a delivery applies, and returns the Kustomizations among them.
    fn take(&mut self, delivery: &Delivery, resources: &[Resource]) -> Vec<Pending> {
        let (cluster, id) = (&delivery.cluster, Arc::<str>::from(delivery.id.as_str()));
        let mut children = Vec::new();
        for resource in resources {
            if is_source(resource.group(), resource.kind()) {
                let applied = self.applied.entry(Arc::clone(cluster)).or_default();
                applied.add(resource);
            }
            if HelmRelease::from_resource(resource).is_some() {
                let by = Some(Arc::clone(&id));
                self.releases
                    .push_back((Arc::clone(cluster), by, resource.clone()));
            }
            let child = FluxKustomization::from_resource(resource);
            children.extend(child.map(|child| (Arc::clone(cluster), Some(Arc::clone(&id)), child)));
        }
        children
    }
}

/// A Kustomization in a cluster, and the delivery that applies it.
type Pending = (Arc<str>, Option<Arc<str>>, FluxKustomization);

/// The context of the deliveries of one entry point.
struct Cluster<'c> {
    builds: &'c Builds<'c>,
    written: &'c Written,
    /// The source of the entry point: it is this tree, whatever its name.
    own: SourceName,
    budget: &'c Budget,
    before: &'c [Delivery],
}

impl Cluster<'_> {
    fn follow(
        &self,
        entry: FluxKustomization,
        limits: &Limits,
        all: &mut Vec<Delivery>,
    ) -> Result<(), BeyondLimit> {
        let home = entry.home();
        let here = Arc::from(entry.folder());
        let mut pending = VecDeque::from([(here, None, entry)]);
        let mut seen = BTreeSet::new();
        let mut found = Found::default();
        let mut waiting: VecDeque<Pending> = VecDeque::new();
        let (mut rounds, mut built, mut forced) = (0, 0, 0_usize);
        loop {
            while let Some((here, parent, mut one)) = pending.pop_front() {
                one.set_root(&self.written.roots);
                let is_forced = forced > 0;
                forced = forced.saturating_sub(1);
                let applied = found.applied.get(&here);
                // A sibling that is built later may apply its variables.
                if !is_forced && self.awaits(&one, applied) {
                    waiting.push_back((here, parent, one));
                    continue;
                }
                let cluster = destination(&one.spec, &home, &here);
                if !seen.insert((Arc::clone(&cluster), one.key())) {
                    continue;
                }
                let folder = one.folder();
                if all.len() >= limits.deliveries {
                    let file = &*one.origin.file;
                    return Err(BeyondLimit::new(Limit::Deliveries, limits, file));
                }
                let delivery = self.deliver(&one, applied, one.delivery(&cluster, parent));
                if let Some(limit) = self.budget.spent() {
                    return Err(BeyondLimit::new(limit, limits, shown(&folder)));
                }
                let in_cluster = match &delivery.error {
                    Some(_) => self.applied_before(&delivery.id),
                    None => delivery.resources.as_slice(),
                };
                pending.extend(found.take(&delivery, in_cluster));
                all.push(delivery);
            }
            if !waiting.is_empty() {
                let has_progressed = all.len() > built && rounds < MAX_ROUNDS;
                forced = if has_progressed { 0 } else { waiting.len() };
                (built, rounds) = (all.len(), rounds + 1);
                pending.append(&mut waiting);
                continue;
            }
            // Sources and values may be anywhere in the cluster, so releases come after all Kustomizations.
            let Some((here, parent, release)) = found.releases.pop_front() else {
                return Ok(());
            };
            let around = Surroundings {
                files: self.builds.files(),
                written: self.written,
                applied: found.applied.get(&here),
                own: &self.own,
                builder: Builder::within(self.builds, self.budget),
            };
            let release = HelmRelease::from_resource(&release)
                .map(|release| release.delivery(&around, (&home, &here), parent));
            if let Some(delivery) = release {
                within(self.budget, limits, &delivery, all.len())?;
                pending.extend(found.take(&delivery, &delivery.resources));
                all.push(delivery);
            }
        }
    }

    /// Adds the revision and the build of a Kustomization to its `delivery`. `applied` contains the objects that are
    /// applied to its cluster.
    fn deliver(
        &self,
        one: &FluxKustomization,
        applied: Option<&Applied>,
        mut delivery: Delivery,
    ) -> Delivery {
        let source = one.source();
        delivery.settings.revision = match applied.and_then(|applied| applied.get(&source)) {
            Some(found) => fixed_revision(found),
            None => self.written.fixed.get(&source).cloned(),
        };
        match self.build(one, applied, &self.builder()) {
            Err(unread) => {
                delivery.unread.push(unread);
                let variables =
                    one.variables(|name| self.variables(&Applied::default(), applied, name));
                delivery.elsewhere = Some(one.deciding(&variables));
            }
            Ok(Err(error)) => {
                delivery.error = Some(error);
                let builder = self.builder().without_failures();
                let attempt = self.build(one, applied, &builder);
                delivery.attempt = attempt.ok().and_then(Result::ok).map(|built| {
                    delivery.reached = Arc::new(built.reached);
                    built.resources
                });
                delivery.built_first = self.built_first(one, applied, delivery.parent.as_deref());
            }
            Ok(Ok(built)) => {
                delivery.resources = built.resources;
                delivery.reached = Arc::new(built.reached);
                delivery.unread = built.unread;
                delivery.charts = built.charts;
            }
        }
        delivery
    }

    /// Builds the new sources with the previous version of a Kustomization, which is reconciled
    /// once before the parent changes it (recorded: flux-postbuild-variable-dropped). `None` if the
    /// parent did not apply it or it cannot be built.
    fn built_first(
        &self,
        one: &FluxKustomization,
        applied: Option<&Applied>,
        parent: Option<&str>,
    ) -> Option<Arc<Vec<Resource>>> {
        let there = self.applied_before(parent?).iter();
        let mut there = there.filter_map(FluxKustomization::from_resource);
        let mut before = there.find(|before| before.key() == one.key())?;
        before.set_root(&self.written.roots);
        let built = self.build(&before, applied, &self.builder()).ok()?;
        Some(built.ok()?.resources)
    }

    fn applied_before(&self, id: &str) -> &[Resource] {
        Delivery::find(self.before, id).map_or(&[], |before| &before.resources)
    }

    fn builder(&self) -> Builder<'_> {
        Builder::within(self.builds, self.budget)
    }

    /// Whether a Kustomization waits for a source of variables: the tree contains it, but it is not yet among the
    /// objects `applied` to the cluster.
    fn awaits(&self, one: &FluxKustomization, applied: Option<&Applied>) -> bool {
        one.variable_sources().any(|name| {
            let is_applied = applied.is_some_and(|applied| applied.get(&name).is_some());
            !is_applied && self.written.has_data(&name)
        })
    }

    /// Builds a Kustomization, or returns its source as an unread input if that is not this tree.
    /// `applied` contains the objects that are applied to its cluster.
    fn build(
        &self,
        one: &FluxKustomization,
        applied: Option<&Applied>,
        builder: &Builder<'_>,
    ) -> Result<Result<Built, BuildError>, UnreadInput> {
        let source = one.source();
        let (kind, _, name) = &source;
        let is_git = kind == "GitRepository" || kind.is_empty();
        let folder = one.folder();
        let is_own = self.own == source || self.written.own.contains(&source);
        let is_here = is_own
            || is_git
                && !folder.is_empty()
                && self.builds.files().has_folder(&folder)
                && !self.written.is_foreign(&source);
        if !is_here {
            let reason = "its source is not this tree";
            let subject = format!("{kind} {name}");
            return Err(one.origin.unread(What::OtherRepository, subject, reason));
        }
        let files = self.builds.files();
        let ignored = match applied.and_then(|applied| applied.get(&source)) {
            Some(found) => found.text_at(&["spec", "ignore"]),
            None => self.written.ignored.get(&source).cloned(),
        };
        let built_without = |ignored: Option<&str>| {
            let ignoring = self.written.files_of(files, ignored);
            one.build(files, builder, &ignoring, |own, name| {
                self.variables(own, applied, name)
            })
        };
        let mut built = built_without(ignored.as_deref());
        // An entry point may deliver its own source.
        if let Ok(first) = &built
            && applied.is_none()
            && let Some(own) = first.resources.iter().find(|own| is_named(own, &source))
        {
            let patched = own.node.text_at(&["spec", "ignore"]);
            if patched != ignored {
                built = built_without(patched.as_deref());
            }
        }
        Ok(built)
    }

    /// Finds a ConfigMap or a Secret among the objects `applied` to a cluster, among those that a Kustomization there
    /// delivers itself, and in the files of the tree.
    fn variables(
        &self,
        own: &Applied,
        applied: Option<&Applied>,
        name: &SourceName,
    ) -> Option<VariableSource> {
        let applied = applied.and_then(|applied| applied.get(name));
        if let Some(object) = applied.or_else(|| own.get(name)) {
            return Some(VariableSource::new(object, false));
        }
        Some(VariableSource::new(self.written.only_data(name)?, true))
    }
}

fn is_named(resource: &Resource, (kind, namespace, name): &SourceName) -> bool {
    let id = resource.id();
    (&*id.kind, &*id.namespace, &*id.name) == (kind, namespace, name)
        && is_source(&id.group, &id.kind)
}
