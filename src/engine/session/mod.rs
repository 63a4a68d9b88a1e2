//! The entry point of most commands: request → read → analyse → judge → report.

mod checking;
mod known;

use std::collections::BTreeSet;
use std::io::{self, Write};

pub use self::checking::CheckOptions;
pub use self::known::read_baseline;
use super::coverage::ReadExtent;
use super::error::SessionError;
use super::input::{Bundle, BundleError, Surroundings, read_bundles, read_paths};
use super::list::{list_bundles, write_list};
use super::notes::note_on_unlisted;
use super::plan::{
    Clusters, DeletionPlan, DeletionRequest, PlanError, Planner, Question, Teardown, TeardownBy,
    TeardownRequest, choose, choose_removed,
};
use super::request::Request;
use super::resolve::{Resolved, configuration, folder, release, resolve};
use crate::config::Config;
use crate::finding::Severity;
use crate::graph::argo::Terms;
use crate::inventory::{
    Files, OnDisk, Overlay, Past, Release, WalkBudget, locate, walk, walk_past,
};
use crate::manifest::SkipReason;
use crate::report::{Listing, Note};
use crate::text::Side;

/// The files of a request, read once; any number of questions can be asked about them.
#[derive(Debug)]
pub struct Session {
    request: Request,
    config: Option<Config>,
    bundles: Vec<Bundle>,
    /// The parsed files, for sessions that are opened after this one.
    files: Files,
    extent: ReadExtent,
    /// The Kubernetes release of the request, else of the configuration.
    release: Option<Release>,
}

impl Session {
    /// Reads the configuration, and the files that it and the request name.
    ///
    /// # Errors
    /// A mistake in the configuration, a path that cannot be read, and an unsaved text outside of all paths.
    pub fn open(request: &Request) -> Result<Self, SessionError> {
        Self::open_after(None, OnDisk::MayDiffer, request)
    }

    /// Opens a session after an `earlier` one: every file that may have changed since is read
    /// again, and parsed again only if its text differs.
    ///
    /// # Errors
    /// See [`Session::open`].
    #[doc(hidden)]
    pub fn open_after(
        earlier: Option<&Self>,
        on_disk: OnDisk,
        request: &Request,
    ) -> Result<Self, SessionError> {
        let read_before = earlier.map(|earlier| earlier.files.for_next_run(on_disk));
        Self::open_among(request, read_before.unwrap_or_default())
    }

    /// Reopens this session with `text` as the unsaved text of the file at `path`.
    pub(super) fn with_text(&self, path: &str, text: &str) -> Result<Self, SessionError> {
        let mut request = self.request.clone();
        request.overlays.retain(|overlay| overlay.path != path);
        request.overlays.push(Overlay {
            path: path.to_owned(),
            text: text.into(),
        });
        Self::open_after(Some(self), OnDisk::Unchanged, &request)
    }

    /// Opens a session. Files that `files` already contains are not read again.
    pub(super) fn open_among(request: &Request, mut files: Files) -> Result<Self, SessionError> {
        let config = configuration(request)?;
        let resolved = resolve(request, config.as_ref())?;
        let bundles = read(request, resolved, None, &mut files)?;
        // Rendered charts may be outside of the bundles.
        let mut unsaved = request.overlays.iter();
        if let Some(overlay) = unsaved.find(|overlay| {
            !request.rendered.contains_key(&overlay.path)
                && !bundles.iter().any(|bundle| holds(bundle, overlay))
        }) {
            return Err(SessionError::OutsideOfBundles {
                path: overlay.path.clone(),
            });
        }
        Ok(Self {
            request: request.clone(),
            extent: extent(request, config.as_ref()),
            release: release(request.release, config.as_ref()),
            config,
            bundles,
            files,
        })
    }

    /// Whether unsaved texts replace files.
    pub(super) fn has_unsaved_texts(&self) -> bool {
        let mut overlays = self.request.overlays.iter();
        overlays.any(|overlay| !self.is_rendered(&overlay.path))
    }

    /// Whether the text at `path` is a rendered chart, which no file contains.
    pub(crate) fn is_rendered(&self, path: &str) -> bool {
        self.request.rendered.contains_key(path)
    }

    /// Returns the request and the parsed files, to open another session without reading them again.
    pub(super) fn into_files(self) -> (Request, Files) {
        (self.request, self.files)
    }

    /// Returns the bundles, in the order of their names; the files of no bundle come last.
    #[doc(hidden)]
    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    /// Counts the objects of the input, without those of files that are read as context.
    pub fn objects(&self) -> usize {
        self.bundles
            .iter()
            .map(|bundle| bundle.asked_for().count())
            .sum()
    }

    /// Counts the files that were read; a file in two bundles counts once.
    pub fn files(&self) -> usize {
        let bundles = self.bundles.iter();
        let files = bundles.flat_map(Bundle::files);
        let files = files.map(|(_, file)| file.source());
        let names: BTreeSet<_> = files.map(|file| (file.path(), file.side())).collect();
        names.len()
    }

    /// Counts the documents that are templates and were not rendered.
    pub fn templates(&self) -> usize {
        let skipped = self.bundles.iter().flat_map(Bundle::skipped);
        skipped
            .filter(|skip| matches!(skip.what.reason, SkipReason::Template(..)))
            .count()
    }

    /// Returns the requested Kubernetes release if it is newer than all known ones; the newest
    /// known one is then used.
    pub fn unknown_release(&self) -> Option<Release> {
        self.release.filter(|release| *release > Release::NEWEST)
    }

    /// Lists the content of the input.
    pub fn list(&self) -> Listing {
        list_bundles(&self.bundles)
    }

    /// Writes [`Session::list`] as JSON, which may be many times as long as the input.
    ///
    /// # Errors
    /// `out` cannot be written.
    #[doc(hidden)]
    pub fn write_list(&self, out: impl Write) -> io::Result<()> {
        write_list(&self.bundles, out)
    }

    /// Counts the objects that a Kubernetes client can decode; an object in two bundles counts twice.
    #[doc(hidden)]
    pub fn readable_objects(&self) -> usize {
        let bundles = self.bundles.iter();
        let members = bundles.flat_map(|bundle| &bundle.inventory.members);
        members.filter(|member| member.decodes()).count()
    }

    /// Returns notes on entries that the listing leaves out because there are too many.
    #[doc(hidden)]
    pub fn notes_on_list(&self) -> impl Iterator<Item = Note> {
        self.bundles.iter().filter_map(note_on_unlisted)
    }

    /// Returns `paths` if a report can be limited to each of them.
    ///
    /// # Errors
    /// A path that does not exist and contains no file that was read: most likely a typo, and the report would be
    /// empty.
    #[doc(hidden)]
    pub fn known_scope<'p>(&self, paths: &'p [String]) -> Result<&'p [String], SessionError> {
        for path in paths {
            let place = locate(path);
            let bundles = self.bundles.iter();
            let mut read = bundles.flat_map(|bundle| bundle.inventory.sources.iter());
            if !place.exists() && !read.any(|(_, file)| locate(file.path()).starts_with(&place)) {
                return Err(SessionError::NothingInScope { path: path.clone() });
            }
        }
        Ok(paths)
    }

    /// Plans a deletion, or a list of steps, in the cluster named `cluster`, else in the only one that contains the
    /// targets. With `kubelet`, Pods run on nodes and finish when they are deleted.
    ///
    /// # Errors
    /// A target that matches no object or several, targets that several clusters contain, and more deliveries than the
    /// limits allow.
    #[doc(hidden)]
    pub fn plan(
        &self,
        question: &Question,
        cluster: Option<&str>,
        kubelet: bool,
    ) -> Result<Planner, PlanError> {
        let read = self.all_clusters()?;
        Planner::new(&choose(&read, question, cluster)?, question, kubelet)
    }

    fn all_clusters(&self) -> Result<Vec<Clusters<'_>>, PlanError> {
        let read = self.bundles.iter().map(|bundle| self.clusters(bundle));
        read.collect()
    }

    /// Evaluates which clusters a bundle is applied to.
    pub(super) fn clusters<'b>(&self, bundle: &'b Bundle) -> Result<Clusters<'b>, PlanError> {
        let config = self.config.as_ref();
        let terms = Terms {
            limits: &bundle.inventory.limits,
            clusters: config.and_then(|config| config.clusters.as_deref()),
        };
        Clusters::of(bundle, &self.request.rendered, terms)
    }

    /// Plans a request to delete objects.
    ///
    /// # Errors
    /// A target that matches no object or several, and targets that several clusters or bundles contain.
    pub fn plan_deletion(&self, request: &DeletionRequest) -> Result<DeletionPlan, PlanError> {
        let cluster = request.cluster.as_deref();
        let planner = self.plan(&request.question(), cluster, request.kubelet)?;
        Ok(DeletionPlan::new(planner))
    }

    /// Plans a tool's removal of all selected objects.
    ///
    /// # Errors
    /// Objects in several clusters or bundles, a tool that is not clear, and a Namespace whose name is not known.
    #[doc(hidden)]
    pub fn teardown(&self, request: &TeardownRequest) -> Result<Teardown, PlanError> {
        let read = match request.by {
            // kubectl reads the files as they are, and does not build them.
            Some(TeardownBy::Kubectl) => self.bundles.iter().map(Clusters::as_written).collect(),
            _ => self.all_clusters()?,
        };
        Teardown::new(choose_removed(&read, request.cluster.as_deref())?, request)
    }

    /// Returns the lowest severity that fails a run: `given`, else as configured, else `error`; `None` means never.
    #[doc(hidden)]
    pub fn fail_on(&self, given: Option<Option<Severity>>) -> Option<Severity> {
        given
            .or_else(|| self.config.as_ref().and_then(|config| config.fail_on))
            .unwrap_or(Some(Severity::Error))
    }
}

/// Reads the bundles of a request, as they are now or, with `past`, before a change.
fn read(
    request: &Request,
    resolved: Resolved,
    past: Option<&Past>,
    files: &mut Files,
) -> Result<Vec<Bundle>, SessionError> {
    let Resolved {
        bundles,
        paths,
        repositories,
    } = resolved;
    let beside = match past {
        Some(past) => walk_past(
            &request.beside,
            &request.exclude,
            past,
            &WalkBudget::default(),
        ),
        None => walk(&request.beside, &request.exclude),
    };
    let around = Surroundings {
        overlays: &request.overlays,
        past,
        beside: beside.map_err(BundleError::from)?,
    };
    let repositories = repositories.as_ref();
    Ok(match paths {
        None => read_bundles(bundles, &around, files)?,
        Some(paths) => read_paths(bundles, paths, repositories, &around, files)?,
    })
}

/// Returns how much is read. Without bundles, only a run on the current folder is known to read everything.
fn extent(request: &Request, config: Option<&Config>) -> ReadExtent {
    let bundles = config.map_or(0, |config| config.bundles.len());
    let here = folder(config).is_empty();
    let all = request.exclude.is_empty() && request.bundle.is_none();
    let mut paths = request.paths.iter().map(|path| path.trim_end_matches('/'));
    match bundles {
        0 if all && here && paths.all(|path| path == ".") => ReadExtent::Whole,
        1.. if all && request.paths.is_empty() => ReadExtent::Whole,
        0 | 1 => ReadExtent::Part,
        _ => ReadExtent::PartOfBundles,
    }
}

fn holds(bundle: &Bundle, overlay: &Overlay) -> bool {
    let wanted = locate(&overlay.path);
    let mut files = bundle.files().map(|(_, file)| file.source());
    files.any(|file| file.side() == Side::Unsaved && locate(file.path()) == wanted)
}
