//! The parsed files of a state, and everything that tools build from them.

mod arrange;
mod disputed;
mod elsewhere;
mod gone;
mod homes;
mod one_state;
mod unpruned;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) use self::gone::InputsOfDelivery;
pub(super) use self::homes::Homes;
pub(in crate::engine) use self::one_state::{RenderedChart, parts_of};
use super::built::BuildRoot;
use super::charted::is_broken;
use super::configured::Configured;
use super::definitions::Definitions;
use super::delivered::{Delivered, evaluated};
use super::state::{Bytes, FileReader, StateText, TreeState};
use super::unlisted::UnlistedFiles;
use foldhash::HashSet;
use globset::GlobSet;

use crate::changes::{Builds, Destination, OtherFile, SourceState, Unread, UnreadSide, UnreadWhat};
use crate::charts::Charts;
use crate::engine::SessionError;
use crate::engine::input::BundleInput;
use crate::graph::argo::Terms;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{BuildError, Origin};
use crate::graph::unread::What;
use crate::inventory::{RequestedPaths, Texts, UnparsedFile, globs, walk_listed};
use crate::kustomize::{BeyondLimit, Limit, ancestors, folder_of, resolve, shown};
use crate::manifest::{ParsedFile, is_kustomization};
use crate::report::diff::FailedBuild;
use crate::text::{Limits, Side, SourceFile};

/// The files of a state, parsed, with their paths from its root.
#[derive(Default)]
pub(super) struct Parsed {
    places: Vec<Arc<str>>,
    files: Vec<ParsedFile>,
    /// Files that are not manifests by their names, but may be inputs of a build.
    others: BTreeMap<String, StateText>,
    /// Files that globs exclude.
    left_out: BTreeSet<String>,
    /// The requested paths, from the root of the state.
    requested: RequestedPaths,
    contents: BTreeMap<String, String>,
    folders: BTreeSet<String>,
    submodules: BTreeSet<String>,
    roots: Vec<BuildRoot>,
    /// The rendered manifests, which replace their sources.
    pub(super) rendered: Rendered,
    side: Side,
    /// The files that tools build from, until the deliveries are evaluated.
    pub(super) tree_files: StateFiles,
    pub(super) delivered: Delivered,
    /// The clusters of either state that get a part of their own, besides those of the configuration.
    pub(super) clusters: BTreeSet<Arc<str>>,
}

/// All files of a state, by path.
#[derive(Default)]
pub(super) struct StateFiles {
    files: BTreeMap<String, Option<Bytes>>,
    links: BTreeSet<String>,
    /// Reads the files that are not read yet.
    reader: Option<FileReader>,
}

/// The rendered manifests of one state.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// The manifests of bundles, by the bundle's name.
    pub(super) bundles: BTreeMap<String, ParsedFile>,
    /// The manifests of roots, by folder.
    pub(super) roots: BTreeMap<String, ParsedFile>,
}

impl Parsed {
    /// Parses the files of two states, except those that `exclude` matches, and evaluates their deliveries. Files that
    /// both share are parsed once.
    pub(super) fn both(
        states: [(TreeState, Side); 2],
        exclude: &[String],
        terms: Terms<'_>,
        charts: &Charts,
        texts: &mut Texts,
    ) -> Result<[Self; 2], SessionError> {
        let limits = terms.limits;
        let exclude = globs(exclude)?;
        let states = states.map(|state| Self::unbuilt(state, &exclude, texts));
        let ([base, head], clusters) = evaluated(states, terms, charts)?;
        within_limits(&clusters, limits)?;
        Ok([base, head].map(|parsed| Self {
            clusters: clusters.clone(),
            ..parsed
        }))
    }

    /// Builds the tree of the files that tools build from. Files that are parsed already are not parsed again.
    pub(super) fn tree(&self, files: StateFiles) -> TreeFiles<'_> {
        files.tree().with_parsed(self.located())
    }

    /// Whether globs or the requested paths leave out an object of a chart: its template is excluded, or neither its
    /// template nor the file that names the chart is in these paths.
    pub(super) fn leaves_out(&self, origin: &Origin) -> bool {
        let Some(template) = origin.template_file.as_deref() else {
            return false;
        };
        self.left_out.contains(template)
            || (!self.requested.has(template) && !self.requested.has(&origin.file))
    }

    /// Returns the reported paths of the files that are missing in `other` or have a different text there.
    pub(super) fn edited_in(&self, other: &Self) -> BTreeSet<String> {
        let there = other.located().map(|(place, file)| (place, file.source()));
        let there: BTreeMap<&str, &SourceFile> = there.collect();
        let here = self.located().map(|(place, file)| (place, file.source()));
        let edited = here.filter(|(place, file)| {
            let other = there.get(place);
            other.is_none_or(|other| other.text() != file.text())
        });
        edited.map(|(_, file)| file.path().to_owned()).collect()
    }

    /// Adds the builds that tools or people run.
    pub(super) fn delivered(mut self, mut delivered: Delivered) -> Self {
        self.roots = delivered.built(self.located(), self.side);
        self.delivered = delivered;
        self
    }

    /// Parses the files of a state; builds are added later.
    fn unbuilt((state, side): (TreeState, Side), exclude: &GlobSet, texts: &mut Texts) -> Self {
        let tree_files = StateFiles::of(&state);
        let is_kept = |place: &String, file: &StateText| {
            !exclude.is_match(place) && !exclude.is_match(&file.path)
        };
        let [(kept, excluded), (others, excluded_others)] = [state.files, state.others].map(
            |files| -> (BTreeMap<String, StateText>, BTreeMap<String, StateText>) {
                let files = files.into_iter();
                files.partition(|(place, file)| is_kept(place, file))
            },
        );
        let left_out = excluded.into_keys().chain(excluded_others.into_keys());
        let kept = kept.into_iter();
        let (places, files): (Vec<Arc<str>>, Vec<UnparsedFile>) = kept
            .map(|(place, file)| (Arc::from(place), (file.path, file.bytes)))
            .unzip();
        Self {
            left_out: left_out.collect(),
            requested: state.requested,
            places,
            files: texts.parse(files, side),
            others,
            contents: state.contents,
            folders: state.folders,
            submodules: state.submodules,
            side,
            tree_files,
            ..Self::default()
        }
    }

    /// Returns the index of the file at `place`. Requires files in the order of their paths.
    fn index_of(&self, place: &str) -> Option<usize> {
        let at = self.places.binary_search_by(|one| (**one).cmp(place));
        at.ok()
    }

    fn file_at(&self, place: &str) -> Option<&ParsedFile> {
        Some(&self.files[self.index_of(place)?])
    }

    /// Returns the files with their paths from the root.
    fn located(&self) -> impl Iterator<Item = (&str, &ParsedFile)> {
        self.places.iter().map(|place| &**place).zip(&self.files)
    }

    /// Returns the inputs that decide what is applied. `builds` knows which of them were evaluated.
    pub(super) fn source_state<'s>(&'s self, builds: Builds<'s>) -> SourceState<'s> {
        let others = self.others.iter().map(|(place, file)| {
            let text = match &file.bytes {
                Ok(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Err(reason) => reason.clone(),
            };
            (
                place.as_str(),
                OtherFile {
                    path: &file.path,
                    text,
                },
            )
        });
        let roots = self.roots.iter();
        let unfollowed = roots.filter_map(|root| root.unfollowed.as_deref());
        SourceState::new(
            self.located(),
            others,
            &self.contents,
            &self.folders,
            &self.submodules,
            unfollowed.collect(),
            builds,
        )
    }

    /// Whether a renderer evaluated the file at `place`: a kustomization of a root, or any source of a bundle.
    pub(super) fn is_rendered(&self, place: &str, configured: &Configured) -> bool {
        let Rendered { bundles, roots } = &self.rendered;
        let folder = folder_of(place);
        (!roots.is_empty()
            && is_kustomization(place)
            && self
                .roots
                .iter()
                .any(|root| roots.contains_key(&root.folder) && root.reached.contains(folder)))
            || (!bundles.is_empty()
                && configured.bundles().any(|bundle| {
                    let is_rendered = bundle
                        .name
                        .as_ref()
                        .is_some_and(|name| bundles.contains_key(name));
                    let mut sources = bundle.input.paths.iter().chain([&bundle.rendering.folder]);
                    is_rendered
                        && sources.any(|path| {
                            let path = resolve("", path);
                            ancestors(place).any(|folder| folder == path)
                        })
                }))
    }

    /// Returns the charts that could not be rendered, except those that are unchanged in `other`, the other state.
    /// `alone` is the side of deliveries that `other` does not have.
    pub(super) fn unrendered(&self, other: &Self, alone: UnreadSide) -> Vec<Unread> {
        let found = self.delivered.unrendered().filter_map(|(delivery, input)| {
            let there = other.delivered.delivery_or_root(&delivery.id);
            let is_in_both = there.is_some();
            if there.is_some_and(|one| one.charts == delivery.charts && one.unread.contains(input))
            {
                return None;
            }
            Some(Unread {
                what: UnreadWhat::Chart,
                subject: input.subject.clone(),
                file: self.shown(&input.file).to_owned(),
                line: input.line,
                was: None,
                side: if is_in_both { UnreadSide::Both } else { alone },
                reason: input.reason.clone(),
                delivery: Some(delivery.id.clone()),
                is_harmless: is_in_both || alone == UnreadSide::Head,
            })
        });
        found.collect()
    }

    /// Returns the deliveries whose charts helm renders in `base` and rejects here: their tools reject them, too.
    pub(super) fn broken_charts(&self, base: &Self) -> Vec<FailedBuild> {
        let broken = self.delivered.unrendered().filter(|(delivery, input)| {
            let before = base.delivered.delivery_or_root(&delivery.id);
            let mut before = before.into_iter().flat_map(|one| &one.unread);
            // helm may miss values that only the cluster knows.
            let are_values_known = delivery.unread.iter().all(|one| one.what != What::Variable);
            are_values_known && before.any(|before| is_broken(before, input))
        });
        let failed = broken.map(|(delivery, input)| FailedBuild {
            delivery: Some(delivery.id.clone()),
            folder: shown(&delivery.path).to_owned(),
            side: UnreadSide::Head,
            file: self.shown(&input.file).to_owned(),
            line: input.line,
            reason: input.reason.clone(),
            is_chart: true,
        });
        failed.collect()
    }

    /// Returns the path under which the file at `place` is reported.
    fn shown<'s>(&'s self, place: &'s str) -> &'s str {
        let file = self.file_at(place);
        file.map_or(place, |file| file.source().path())
    }

    /// Returns the builds that fail, each with its place.
    pub(super) fn failed(&self, side: UnreadSide) -> Vec<FailedBuild> {
        let roots = self.unrendered_roots();
        let mut failed: Vec<FailedBuild> = roots
            .filter_map(|root| {
                let BuildError { reason, file, line } = root.error.as_ref()?;
                Some(FailedBuild {
                    delivery: root.by.as_ref().map(|by| by.id(&root.folder)),
                    folder: shown(&root.folder).to_owned(),
                    side,
                    file: self.shown(file).to_owned(),
                    line: *line,
                    reason: reason.clone(),
                    is_chart: false,
                })
            })
            .collect();
        failed.sort();
        failed.dedup();
        failed
    }

    /// Returns the folders of the roots that kustomize builds.
    pub(super) fn kustomized(&self) -> BTreeSet<String> {
        let places: HashSet<&str> = self.places.iter().map(|place| &**place).collect();
        // Flux and Argo CD add to the kustomizations that they build, and kustomize alone would leave that out.
        let with_charts = self.delivered.with_charts();
        let roots = self.roots.iter();
        let roots =
            roots.filter(|root| root.by.is_none() && !with_charts.contains(root.folder.as_str()));
        roots
            .map(|root| root.folder.clone())
            .filter(|folder| {
                TreeFiles::kustomization_names(folder).any(|place| places.contains(place.as_str()))
            })
            .collect()
    }

    /// Returns the indices of the files that the paths of a bundle lead to.
    pub(super) fn named(&self, bundle: &BundleInput) -> Result<BTreeSet<usize>, SessionError> {
        let places: Vec<&str> = self.places.iter().map(|place| &**place).collect();
        let paths: Vec<String> = bundle
            .input
            .paths
            .iter()
            .map(|path| resolve("", path))
            .collect();
        let listed = walk_listed(&places, &paths)?.found;
        let exclude = globs(&bundle.input.exclude)?;
        Ok(listed
            .into_iter()
            .filter(|at| !exclude.is_match(places[*at]))
            .collect())
    }

    /// Returns the files that no kustomization governs and no root reaches.
    pub(super) fn free(&self) -> BTreeSet<Arc<str>> {
        let reached: BTreeSet<usize> = self
            .roots
            .iter()
            .flat_map(|root| &root.files)
            .map(|(file, _)| *file)
            .collect();
        let elsewhere = self.delivered.files_of_unchanged();
        let free = self.places.iter().enumerate().filter(|(at, place)| {
            let is_reached = reached.contains(at) || elsewhere.contains(&***place);
            !is_reached && !self.delivered.governs(place) && !self.delivered.may_fail(place)
        });
        free.map(|(_, place)| Arc::clone(place)).collect()
    }

    /// Returns the roots that no program rendered.
    fn unrendered_roots(&self) -> impl Iterator<Item = &BuildRoot> {
        let roots = self.roots.iter();
        roots.filter(|root| !self.rendered.roots.contains_key(&root.folder))
    }

    /// Returns the roots that cannot be built, each with the reason.
    fn unbuildable(&self) -> impl Iterator<Item = (Destination, String)> {
        let failing = self
            .unrendered_roots()
            .filter_map(|root| Some((root, root.error.as_ref()?)));
        failing.map(|(root, error)| (destination_of(root), error.reason.clone()))
    }

    /// Returns the kinds that CRDs of the state define, in its files and in its rendered manifests.
    pub(super) fn definitions(&self) -> Definitions {
        let Rendered { bundles, roots } = &self.rendered;
        let rendered = bundles.values().chain(roots.values());
        Definitions::of(self.files.iter().chain(rendered))
    }
}

/// Fails if there are more clusters than the limit allows.
fn within_limits(clusters: &BTreeSet<Arc<str>>, limits: &Limits) -> Result<(), BeyondLimit> {
    match clusters.iter().nth(limits.bundles) {
        Some(beyond) => Err(BeyondLimit::new(Limit::Clusters, limits, &**beyond)),
        None => Ok(()),
    }
}

impl StateFiles {
    pub(super) fn of(state: &TreeState) -> Self {
        let unread = state.contents.keys().map(|path| (path.clone(), None));
        let mut files: BTreeMap<String, Option<Bytes>> = unread.collect();
        for (path, file) in state.files.iter().chain(&state.others) {
            files.insert(path.clone(), Some(file.bytes.clone()));
        }
        Self {
            files,
            links: state.links.clone(),
            reader: state.reader.clone(),
        }
    }

    /// Creates the files of a state from those that are parsed, at `places`, and the `others`.
    fn on_disk<'p>(places: impl Iterator<Item = &'p str>, others: UnlistedFiles) -> Self {
        let paths = others.paths().map(str::to_owned);
        let paths = paths.chain(places.map(str::to_owned));
        Self {
            files: paths.map(|path| (path, None)).collect(),
            links: BTreeSet::new(),
            reader: Some(FileReader::new(move |path| others.read(path))),
        }
    }

    pub(super) fn tree<'r>(self) -> TreeFiles<'r> {
        let read = Box::new(move |path: &str| match &self.reader {
            Some(reader) => reader.read(path),
            None => Err("was not read".to_owned()),
        });
        TreeFiles::new(self.files, read).with_links(self.links)
    }
}

/// Returns the destination of the objects that a root builds.
fn destination_of(root: &BuildRoot) -> Destination {
    if root.is_chart {
        return Destination::Folder(Arc::from(root.folder.as_str()));
    }
    Destination::Root {
        folder: Arc::from(root.folder.as_str()),
        by: root.by.clone(),
    }
}
