//! The entry point of every command: request → read → analyse → judge → report.

use std::io::{self, Write};
use std::path::Path;

use super::check::Check;
use super::coverage::{Coverage, ReadExtent};
use super::edits::note_on_edits;
use super::error::SessionError;
use super::input::{Bundle, BundleError, Surroundings, read_bundles, read_paths};
use super::list::{list_bundles, write_list};
use super::notes::note_on_unlisted;
use super::plan::{
    Clusters, DeletionPlan, DeletionRequest, PlanError, Planner, Question, Teardown, TeardownBy,
    TeardownRequest, choose, choose_removed,
};
use super::request::{BaselineChoice, ConfigChoice, Request};
use super::resolve::{Resolved, configuration, joined, read_text, release, resolve};
use super::run::{check_analysed, check_bundles};
use super::scope::ReportScope;
use super::selection::Selection;
use crate::baseline::{self, Baseline, Renewal};
use crate::cluster::Analysis;
use crate::config::{self, Config};
use crate::finding::{Fixes, Severity};
use crate::graph::argo::Terms;
use crate::inventory::{
    Escape, Files, OnDisk, Overlay, Past, Release, WalkBudget, admit_own_file,
    admit_own_file_for_writing, locate, walk, walk_past,
};
use crate::manifest::SkipReason;
use crate::report::{Graphs, Listing, Note, Report};
use crate::suppression::Date;
use crate::text::{Side, SourceFile};

/// The files of a request, read once; any number of questions can be asked of it.
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

/// Options of a check, besides those of its configuration.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Ids, subjects or prefixes of the rules to run; all rules if empty.
    pub select: Vec<String>,
    /// Ids, subjects or prefixes of rules that do not run.
    pub ignore: Vec<String>,
    /// The known findings, which are not reported.
    pub baseline: BaselineChoice,
    /// The files to which the report is limited; `None` means all.
    pub only: Option<ReportScope>,
    /// The earlier contents of changed files: findings that they already had are counted and not reported.
    #[doc(hidden)]
    pub since: Option<Past>,
    /// Whether repeated findings are all reported, as baselines count them, instead of combined.
    pub every: bool,
    /// Whether every file is treated as applied, as editors need it for the open file.
    pub as_applied: bool,
    /// Whether findings come with their fixes.
    pub fixes: Fixes,
    /// Whether the report gets the simulated deletions behind its findings.
    pub graphs: Graphs,
    /// Whether findings are counted by rule.
    pub statistics: bool,
    /// The current date, for ignores that expire; if it is `None`, none expires.
    pub today: Option<Date>,
}

impl Session {
    /// Reads the configuration, and the files that it and the request name.
    ///
    /// # Errors
    /// A mistake in the configuration, a path that cannot be read, and an unsaved text outside of all paths.
    pub fn open(request: &Request) -> Result<Self, SessionError> {
        Self::open_after(None, OnDisk::MayDiffer, request)
    }

    /// Reopens after an `earlier` session: every file that may have changed since is read again, and parsed again only
    /// if its text differs.
    ///
    /// # Errors
    /// See [`Session::open`].
    #[doc(hidden)]
    pub fn open_after(
        earlier: Option<&Self>,
        on_disk: OnDisk,
        request: &Request,
    ) -> Result<Self, SessionError> {
        let read_before = earlier.map(|earlier| earlier.files.to_be_read_again(on_disk));
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
        let Resolved { bundles, paths } = resolve(request, config.as_ref())?;
        let bundles = read(request, Resolved { bundles, paths }, None, &mut files)?;
        if let Some(overlay) = request
            .overlays
            .iter()
            .find(|overlay| !bundles.iter().any(|bundle| holds(bundle, overlay)))
        {
            return Err(SessionError::OutsideOfBundles {
                path: overlay.path.clone(),
            });
        }
        let extent = extent(request, config.as_ref());
        let release = release(request.release, config.as_ref());
        Ok(Self {
            request: request.clone(),
            config,
            bundles,
            files,
            extent,
            release,
        })
    }

    /// Whether unsaved texts replace files.
    pub(super) fn has_unsaved_texts(&self) -> bool {
        !self.request.overlays.is_empty()
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

    /// Counts the objects of the input, without those that `Request::beside` adds.
    pub fn objects(&self) -> usize {
        self.bundles
            .iter()
            .map(|bundle| bundle.asked_for().count())
            .sum()
    }

    /// Counts the files that were read; a file in two bundles counts once.
    pub fn files(&self) -> usize {
        let files = self
            .bundles
            .iter()
            .flat_map(|bundle| bundle.inventory.sources.iter());
        files
            .map(|(_, file)| (file.path(), file.side()))
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    }

    /// Counts the documents that are templates and were not rendered.
    pub fn templates(&self) -> usize {
        let skipped = self
            .bundles
            .iter()
            .flat_map(|bundle| bundle.inventory.skipped());
        skipped
            .filter(|skip| matches!(skip.what.reason, SkipReason::Template(..)))
            .count()
    }

    /// Returns the requested Kubernetes release if it is newer than all known ones; the newest known one is then used.
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
        let members = self
            .bundles
            .iter()
            .flat_map(|bundle| &bundle.inventory.members);
        members.filter(|member| member.decodes()).count()
    }

    /// Returns notes on entries that the listing leaves out because there are too many.
    #[doc(hidden)]
    pub fn notes_on_list(&self) -> impl Iterator<Item = Note> {
        self.bundles
            .iter()
            .filter_map(|bundle| note_on_unlisted(&bundle.inventory))
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

    /// Checks the input.
    ///
    /// # Errors
    /// An unknown rule, a selection without rules, and a baseline that cannot be read.
    pub fn check(&self, options: CheckOptions) -> Result<Report, SessionError> {
        Ok(check_bundles(&self.bundles, &self.how_to_check(options)?))
    }

    /// Runs [`Session::check`] with existing analyses, one for each bundle.
    pub(super) fn check_analysed(
        &self,
        analyses: &[&Analysis<'_>],
        options: CheckOptions,
    ) -> Result<Report, SessionError> {
        Ok(check_analysed(
            &self.bundles,
            analyses,
            &self.how_to_check(options)?,
        ))
    }

    fn how_to_check(&self, options: CheckOptions) -> Result<Check, SessionError> {
        let CheckOptions {
            select,
            ignore,
            baseline,
            only,
            since,
            every,
            as_applied,
            fixes,
            graphs,
            statistics,
            today,
        } = options;
        let off = self
            .config
            .iter()
            .flat_map(|config| &config.off)
            .map(|id| (*id).to_owned());
        // A rule that is selected by its id runs even if the configuration turns it off.
        let off = off.filter(|id| !select.contains(id));
        let ignore: Vec<_> = ignore.iter().cloned().chain(off).collect();
        let ignores = self
            .config
            .as_ref()
            .filter(|config| !config.ignores.is_empty());
        let selection = Selection::new(&select, &ignore)?;
        if selection.rules().is_empty() {
            return Err(selection
                .first_by_name()
                .map_or(SessionError::NoRuleLeft, |rule| {
                    SessionError::OfAnotherCommand {
                        id: rule.id,
                        what: "changes",
                        command: "diff",
                    }
                }));
        }
        let mut check = Check {
            selection,
            severities: self
                .config
                .as_ref()
                .map(|config| config.severities.clone())
                .unwrap_or_default(),
            ignores: ignores.map(|config| (config.source.clone(), config.ignores.clone())),
            configuration: self
                .config
                .as_ref()
                .map(|config| config.source.path().to_owned()),
            extent: self.extent,
            baseline: self.known(&baseline)?,
            only,
            every,
            as_applied,
            fixes,
            graphs,
            statistics,
            today,
            ..Check::default()
        };
        if let Some(past) = since {
            let (before, note) = self.found_before(&past, &check)?;
            check.before = Some(before);
            check.notes.extend(note);
        }
        Ok(check)
    }

    /// Runs `check` on the files before a change with the current configuration. Returns its findings, and a note if
    /// the change edits the configuration, the baseline or suppressions.
    fn found_before(
        &self,
        past: &Past,
        check: &Check,
    ) -> Result<(Baseline, Option<Note>), SessionError> {
        let resolved = resolve(&self.request, self.config.as_ref())?;
        let mut files = self.files.clone();
        let bundles = read(&self.request, resolved, Some(past), &mut files)?;
        let everything = Check {
            only: None,
            every: true,
            // Only identities are compared, and they do not depend on this.
            as_applied: true,
            fixes: Fixes::LeftOut,
            graphs: Graphs::LeftOut,
            ..check.clone()
        };
        let report = check_bundles(&bundles, &everything);
        let own = check.configuration.iter().map(String::as_str);
        let own: Vec<&str> = own
            .chain(check.baseline.iter().map(|(file, _)| file.path()))
            .collect();
        let [before, now] =
            [&bundles, &self.bundles].map(|bundles| bundles.iter().map(|bundle| &bundle.inventory));
        let note = note_on_edits(past, &own, before, now);
        Ok((
            Baseline::of(report.findings.iter().map(|reported| &reported.finding)),
            note,
        ))
    }

    /// Updates the baseline `known` after a check of this session without a baseline. Entries that the check could not
    /// have found are kept. New findings are added if `learn` is set.
    #[doc(hidden)]
    pub fn renew(&self, known: &Baseline, report: &Report, learn: bool) -> Renewal {
        let coverage = Coverage::of(
            &self.bundles,
            report.rules.iter().map(|rule| rule.id),
            self.extent,
        );
        let findings = report.findings.iter().map(|reported| &reported.finding);
        known.after(
            findings,
            |entry, found| coverage.judges(entry, found),
            learn,
        )
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
        self.plan(
            &request.question(),
            request.cluster.as_deref(),
            request.kubelet,
        )
        .map(DeletionPlan::new)
    }

    /// Plans a tool's removal of all selected objects.
    ///
    /// # Errors
    /// Objects in several clusters or bundles, and a Namespace whose name is not known.
    #[doc(hidden)]
    pub fn teardown(&self, request: &TeardownRequest) -> Result<Teardown, PlanError> {
        let read = match request.by {
            // kubectl reads the files as they are, and does not build them.
            TeardownBy::Kubectl => self.bundles.iter().map(Clusters::as_written).collect(),
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

    /// Returns the path of the baseline: `given`, else as configured, else the default beside the configuration.
    #[doc(hidden)]
    pub fn baseline_path(&self, given: Option<&str>) -> String {
        let config = self.config.as_ref();
        let folder = config.map_or("", |config| config::folder_of(config.source.path()));
        let named = config.and_then(|config| config.baseline.as_deref());
        given.map_or_else(
            || joined(folder, named.unwrap_or(baseline::FILE_NAME)),
            str::to_owned,
        )
    }

    /// Returns [`Self::baseline_path`], if it may be written.
    ///
    /// # Errors
    /// A path in `.git`, or, from a discovered configuration, one outside its repository or through a symbolic link.
    #[doc(hidden)]
    pub fn baseline_path_to_write(&self, given: Option<&str>) -> Result<String, SessionError> {
        let path = self.baseline_path(given);
        match given {
            Some(_) => Ok(path),
            None => self
                .admit_baseline(&path, admit_own_file_for_writing)
                .map(|()| path),
        }
    }

    /// Reads the baseline. It has to exist only if an option or the configuration names it.
    fn known(
        &self,
        choice: &BaselineChoice,
    ) -> Result<Option<(SourceFile, Baseline)>, SessionError> {
        let given = match choice {
            BaselineChoice::Discover => None,
            BaselineChoice::File(path) => Some(path.as_str()),
            BaselineChoice::Without => return Ok(None),
        };
        let path = self.baseline_path(given);
        let named = given.is_some()
            || self
                .config
                .as_ref()
                .is_some_and(|config| config.baseline.is_some());
        if !named && !Path::new(&path).exists() {
            return Ok(None);
        }
        if given.is_none() {
            self.admit_baseline(&path, admit_own_file)?;
        }
        read_baseline(&path).map(Some)
    }

    /// Checks where the configured baseline is. A discovered configuration comes from the author of the repository, so
    /// it may only name a file in the repository. No configuration may name a file in `.git`.
    ///
    /// # Errors
    /// The baseline is elsewhere. Messages would show its lines, or it would be overwritten.
    fn admit_baseline(
        &self,
        path: &str,
        admit: fn(&str, &str) -> Result<(), Escape>,
    ) -> Result<(), SessionError> {
        let Some(config) = &self.config else {
            return Ok(());
        };
        match admit(config.source.path(), path) {
            Err(escape)
                if self.request.config == ConfigChoice::Discover || escape == Escape::Git =>
            {
                let reason = escape.of_configured_path();
                Err(SessionError::ConfiguredBaseline {
                    path: path.to_owned(),
                    reason,
                })
            }
            _ => Ok(()),
        }
    }
}

/// Reads the bundles of a request, now or, if `past` is given, before a change.
fn read(
    request: &Request,
    resolved: Resolved,
    past: Option<&Past>,
    files: &mut Files,
) -> Result<Vec<Bundle>, SessionError> {
    let Resolved { bundles, paths } = resolved;
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
    Ok(match paths {
        None => read_bundles(bundles, &around, files)?,
        Some(paths) => read_paths(bundles, paths, &around, files)?,
    })
}

/// Reads a baseline.
///
/// # Errors
/// A file that cannot be read, or that is not a baseline.
pub fn read_baseline(path: &str) -> Result<(SourceFile, Baseline), SessionError> {
    let file = read_text(path).map_err(|reason| SessionError::Baseline {
        path: path.to_owned(),
        reason,
    })?;
    let baseline = Baseline::read(&file)?;
    Ok((file, baseline))
}

/// Returns how much is read. Without bundles, only a run on the current folder is known to read everything.
fn extent(request: &Request, config: Option<&Config>) -> ReadExtent {
    let bundles = config.map_or(0, |config| config.bundles.len());
    let here = config.is_none_or(|config| config::folder_of(config.source.path()).is_empty());
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
    let unsaved = bundle
        .inventory
        .sources
        .iter()
        .filter(|(_, file)| file.side() == Side::Unsaved);
    unsaved
        .into_iter()
        .any(|(_, file)| locate(file.path()) == wanted)
}
