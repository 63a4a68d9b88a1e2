//! Reading of two states, up to their comparison.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::cluster::ClusterInput;
use super::super::configured::{Configured, configured};
use super::super::definitions::Definitions;
use super::super::describe;
use super::super::parsed::{Homes, Parsed};
use super::super::rendered::{rendered, unrendered};
use super::super::request::{CompareRequest, StateChoice};
use super::super::resumed::unread_of_resumed;
use super::super::start::Start;
use super::super::state::StateReader;
use super::{Comparison, UNRENDERED};
use crate::changes::{
    BothSides, Builds, SourceState, TreePart, UnreadChanges, UnreadSide, compare, unread,
};
use crate::charts::Charts;
use crate::engine::input::BundleInput;
use crate::engine::programs::installed_by_hand;
use crate::engine::{ConfigChoice, SessionError};
use crate::graph::argo::Terms;
use crate::inventory::{self, Texts, read_bytes};
use crate::manifest::ParsedFile;
use crate::text::Side;

impl Comparison {
    /// Reads both states and compares their objects. A text that both share is parsed once.
    ///
    /// # Errors
    /// A path that neither state has, a commit that does not exist, a repository that git cannot read, or a mistake in
    /// the configuration.
    pub fn open(request: &CompareRequest) -> Result<Self, SessionError> {
        let mut reader = StateReader::default();
        let start = Start::of(request, &mut reader)?;
        let choices = [&start.choice, &request.head];
        let ([base, mut head], left_out) = if request.render {
            // Programs render whole states.
            (reader.each(choices, &request.paths)?, 0)
        } else {
            reader.both(choices, &request.paths)?
        };
        if let (StateChoice::Path(_), StateChoice::Path(_)) = (&start.choice, &request.head) {
            head.distinguish(&base);
        }
        if let Some(path) = base.missing.iter().find(|path| head.missing.contains(path)) {
            return Err(SessionError::InNeitherState { path: path.clone() });
        }
        let mut notes = describe::notes(&base, &head);
        notes.splice(0..0, start.note);
        notes.extend(describe::left_out(left_out));
        let mut configured = configured(request, &mut reader, &base, &head)?;
        notes.append(&mut configured.notes);
        let unconfigured = configured.is_new.then(|| {
            let without = CompareRequest {
                config: ConfigChoice::Without,
                ..request.clone()
            };
            Self::open(&without).map(Box::new)
        });
        let mut texts = std::mem::take(&mut reader.texts);
        let beside = beside(&request.beside, &mut texts)?;
        let input = &configured.rest.input;
        let charts = charts(request, &configured);
        let [old, new] = Parsed::both(
            [(base, Side::Base), (head, Side::Head)],
            &input.exclude,
            Terms {
                limits: &input.settings.limits,
                clusters: configured.argo_clusters.as_deref(),
            },
            &charts,
            &mut texts,
        )?;
        let edited = old.edited_in(&new);
        let states = [(start.choice, old), (request.head.clone(), new)];
        let [old, new] = if request.render {
            rendered(
                states,
                (&configured, &charts),
                &mut reader,
                &mut texts,
                &mut notes,
            )?
        } else {
            notes.extend(unrendered(&configured));
            states.map(|(_, parsed)| parsed)
        };
        let unread = unread_between(&old, &new, &configured);
        if !request.render && unread.are_of_charts() {
            notes.push(UNRENDERED.to_owned());
        }
        let unrendered = new.unrendered(&old, UnreadSide::Head).into_iter();
        let unrendered = unrendered.chain(old.unrendered(&new, UnreadSide::Base));
        let unread = unread
            .with_unrendered(unrendered)
            .with_elsewhere(std::mem::take(&mut configured.unread))
            .with_elsewhere(new.edited_elsewhere(&old))
            .with_elsewhere(new.unpruned(&old))
            .with_elsewhere(new.disputed(&old));
        let elsewhere = old.deleted_elsewhere();
        let (inputs, dropped) = (old.unread_of_deliveries(), new.unread_dropped(&old));
        let failed = [
            old.failed(UnreadSide::Base),
            new.failed(UnreadSide::Head),
            new.broken_charts(&old),
        ]
        .concat();
        let delivered = old.clusters.clone();
        let [old, new] = arranged(old, new, &configured, &beside)?;
        let changes = compare(&old, &new);
        let sides = BothSides {
            base: &old,
            head: &new,
        };
        let unread = unread.with_elsewhere(unread_of_resumed(sides, &changes));
        let Configured {
            mut clusters,
            rest,
            judging,
            ..
        } = configured;
        clusters.push(ClusterInput::alone(rest.clone()));
        // The clusters into which the tree delivers files of no bundle.
        clusters.extend(delivered.iter().map(|name| {
            ClusterInput::alone(BundleInput {
                cluster: Some(name.to_string()),
                ..rest.clone()
            })
        }));
        Ok(Self {
            base: start.name,
            head: describe::name(&request.head),
            old,
            new,
            changes,
            edited,
            unread,
            elsewhere,
            inputs,
            dropped,
            failed,
            notes,
            clusters,
            delivery: request.delivery,
            renders: request.render,
            judging,
            unconfigured: unconfigured.transpose()?,
        })
    }
}

/// Returns the charts to render, by the settings of the request and the configuration.
fn charts(request: &CompareRequest, configured: &Configured) -> Charts {
    if !request.render {
        return Charts::unrendered();
    }
    Charts::rendering(
        &request.rendering.and(&configured.charts),
        configured.rest.input.settings.release.to_string(),
    )
    .installed_by_hand(installed_by_hand(
        &configured.rest,
        configured
            .bundles()
            .map(|bundle| (bundle, bundle.input.paths.clone())),
    ))
}

/// Compares the inputs that the builds of both states do not evaluate.
fn unread_between(base: &Parsed, head: &Parsed, configured: &Configured) -> UnreadChanges {
    let unread = with_sources(base, configured, |base| {
        with_sources(head, configured, |head| unread(base, head))
    });
    unread.with_transformed(head.transformed(base, |place| head.is_rendered(place, configured)))
}

/// Passes the sources of a state to `take`.
fn with_sources<T>(
    state: &Parsed,
    configured: &Configured,
    take: impl FnOnce(&SourceState<'_>) -> T,
) -> T {
    let homes = Homes::of(state);
    take(&state.source_state(Builds {
        rendered: &|place| state.is_rendered(place, configured),
        evaluated: &|place| state.delivered.evaluated(place),
        charted: &|place| state.delivered.charted(place),
        homes: &|place, written| homes.find(place, written),
        releases: &state.delivered.releases(),
    }))
}

/// Divides both states into parts, with the files `beside` in each cluster.
fn arranged(
    base: Parsed,
    head: Parsed,
    configured: &Configured,
    beside: &[ParsedFile],
) -> Result<[Vec<TreePart>; 2], SessionError> {
    let (before, after) = (base.definitions(), head.definitions());
    let always = Definitions::of(beside);
    let free = base.free();
    let bundles_of_base = base.bundles(&configured.clusters)?;
    let bundles_of_head = head.bundles(&configured.clusters)?;
    let are_apart =
        !base.shares_deliveries(&bundles_of_base) && !head.shares_deliveries(&bundles_of_head);
    let rest = &configured.rest.input.settings;
    let base = base.settled(&head).arrange(
        (&bundles_of_base, rest, are_apart),
        beside,
        &before.or(&after).or(&always),
        &BTreeSet::new(),
    );
    let head = head.arrange(
        (&bundles_of_head, rest, are_apart),
        beside,
        &after.or(&before).or(&always),
        &free,
    );
    Ok([base, head])
}

fn beside(paths: &[String], texts: &mut Texts) -> Result<Vec<ParsedFile>, SessionError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let walk = inventory::walk(paths, &[])?;
    let read = walk
        .files
        .into_iter()
        .map(|file| (file.path, read_bytes(&file.origin).map(Arc::from)));
    let unreadable = walk
        .unreadable
        .into_iter()
        .map(|file| (file.path, Err(file.reason)));
    Ok(texts.parse(read.chain(unreadable).collect(), Side::Head))
}
