//! Renders the charts of deliveries that differ between two states, and no others.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::charts::{CallId, Charts};
use crate::graph::delivery::Delivery;
use crate::graph::unread::{UnreadInput, What};
use crate::render::RenderError;

/// Renders the charts that only one of the states needs, those of the `kept` deliveries and of replaced releases, and those
/// in Namespaces that head no longer delivers. Returns whether the states have to be evaluated again.
///
/// # Errors
/// There are charts to render, and no `helm`.
pub(super) fn render_differing(
    charts: &Charts,
    states: [Vec<&Delivery>; 2],
    kept: &[Delivery],
) -> Result<bool, RenderError> {
    if !charts.are_rendered() {
        return Ok(false);
    }
    let [base, head] = states.each_ref().map(|all| calls(all));
    charts.trust_hosts_of(base.iter().map(|(_, call)| *call));
    let wanted = base.symmetric_difference(&head);
    let of_kept = kept.iter().flat_map(|one| &one.charts);
    let wanted = wanted.map(|(_, call)| *call).chain(of_kept);
    let wanted = wanted.chain(transformed(&states)).chain(emptied(&states));
    let wanted = wanted.chain(reinstalled(&states));
    let wanted: BTreeSet<CallId> = wanted.cloned().collect();
    if charts.render(&wanted)? {
        return Ok(true);
    }
    let one_sided = one_sided(charts, &states);
    charts.withdraw(&one_sided);
    Ok(!one_sided.is_empty())
}

/// Returns the calls of deliveries, with the ids of the deliveries.
fn calls<'d>(all: &[&'d Delivery]) -> BTreeSet<(&'d str, &'d CallId)> {
    let calls = all.iter().flat_map(|one| {
        let id = one.id.as_str();
        one.charts.iter().map(move |call| (id, call))
    });
    calls.collect()
}

/// Returns the calls of deliveries that rename or move the objects of their charts in head.
fn transformed<'d>(states: &[Vec<&'d Delivery>; 2]) -> Vec<&'d CallId> {
    let [base, head] = states;
    let before: BTreeMap<&str, &Delivery> =
        base.iter().map(|one| (one.id.as_str(), *one)).collect();
    let moved = head.iter().filter(|one| {
        let before = before.get(one.id.as_str());
        before.is_some_and(|before| !one.transformed_since(before).is_empty())
    });
    moved.flat_map(|one| &one.charts).collect()
}

/// Returns the calls of HelmReleases that install another release in the other state. The chart may render the same: the
/// namespace in which Helm stores a release decides nothing else.
fn reinstalled<'d>([base, head]: &[Vec<&'d Delivery>; 2]) -> Vec<&'d CallId> {
    let before: BTreeMap<&str, &Delivery> =
        base.iter().map(|one| (one.id.as_str(), *one)).collect();
    let replaced = head.iter().filter(|after| {
        let before = before.get(after.id.as_str());
        let releases = before.and_then(|before| {
            let before = before.settings.release.as_ref()?;
            Some((before, after.settings.release.as_ref()?))
        });
        releases.is_some_and(|(before, after)| before.is_replaced_by(after))
    });
    replaced.flat_map(|one| &one.charts).collect()
}

/// Returns the calls of base for Namespaces that head no longer delivers: their content is deleted.
fn emptied<'d>([base, head]: &[Vec<&'d Delivery>; 2]) -> Vec<&'d CallId> {
    let mut removed = namespaces(base);
    for namespace in namespaces(head) {
        removed.remove(&namespace);
    }
    let inside = base.iter().filter(|one| {
        let release = one.settings.release.as_ref();
        let namespace = release.map(|release| &release.namespace);
        let namespace = namespace.or(one.settings.destination_namespace.as_ref());
        namespace.is_some_and(|name| removed.contains(&(&*one.cluster, SmolStr::new(name))))
    });
    inside.flat_map(|one| &one.charts).collect()
}

/// Returns the clusters and names of the Namespaces that deliveries apply.
fn namespaces<'d>(all: &[&'d Delivery]) -> BTreeSet<(&'d str, SmolStr)> {
    let resources = all.iter().flat_map(|one| {
        let resources = one.resources.iter();
        resources.map(|resource| (&*one.cluster, resource))
    });
    let namespaces = resources.filter_map(|(cluster, resource)| {
        let is_namespace = resource.is_of("", "Namespace");
        is_namespace.then(|| (cluster, SmolStr::new(resource.id().name)))
    });
    namespaces.collect()
}

/// Returns the charts of deliveries in both states that only one state renders, with the reason.
fn one_sided(charts: &Charts, states: &[Vec<&Delivery>; 2]) -> BTreeMap<CallId, String> {
    let [base, head] = states.each_ref().map(|all| {
        let named = all.iter().map(|one| (one.id.as_str(), *one));
        named.collect::<BTreeMap<&str, &Delivery>>()
    });
    let mut found = BTreeMap::new();
    for (id, old) in &base {
        let Some(new) = head.get(id) else { continue };
        for (one, other, side) in [(old, new, "head"), (new, old, "base")] {
            let Some(UnreadInput { reason, .. }) = unread(other) else {
                continue;
            };
            let rendered = one.charts.iter();
            let rendered = rendered.filter(|call| charts.outcome(call) == Some(Ok(())));
            let reason = format!("{}{reason}", not_in(side));
            found.extend(rendered.map(|call| (call.clone(), reason.clone())));
        }
    }
    found
}

/// Returns the beginning of the reason why a rendering is unused: `side` has none.
fn not_in(side: &str) -> String {
    format!("it cannot be rendered in {side}: ")
}

/// Whether helm renders a chart in base (`before`) and rejects it in head (`after`).
pub(super) fn is_broken(before: &UnreadInput, after: &UnreadInput) -> bool {
    after.what == What::Chart
        && Charts::rejection_message(&after.reason).is_some()
        && before.reason.strip_prefix(&not_in("head")) == Some(&after.reason)
}

/// Returns the chart of a delivery whose rendering failed.
pub(super) fn unread(delivery: &Delivery) -> Option<&UnreadInput> {
    delivery.unread.iter().find(|input| {
        let is_tried = input.reason != Charts::UNCHANGED && input.reason != Charts::OFF;
        input.what == What::Chart && is_tried
    })
}

/// Returns titles of rendered charts by the ids of their deliveries, such as `chart web 1.0.0 → 2.0.0`.
pub(super) fn titles(
    charts: &Charts,
    base: &[&Delivery],
    head: &[&Delivery],
) -> BTreeMap<String, String> {
    let after: BTreeMap<&str, &Delivery> = head.iter().map(|one| (one.id.as_str(), *one)).collect();
    let titled = base.iter().filter_map(|one| {
        let new = after.get(one.id.as_str()).map(|one| versions(charts, one));
        let titles: Vec<String> = versions(charts, one)
            .into_iter()
            .map(|(name, was)| {
                let is = new.as_ref().and_then(|new| new.get(&name));
                let title = match is {
                    Some(is) if *is != was => format!("chart {name} {was} → {is}"),
                    _ => format!("chart {name} {was}"),
                };
                title.trim_end().to_owned()
            })
            .collect();
        (!titles.is_empty()).then(|| (one.id.clone(), titles.join(", ")))
    });
    titled.collect()
}

/// Returns the versions of the rendered charts of a delivery by their names.
fn versions(charts: &Charts, delivery: &Delivery) -> BTreeMap<String, String> {
    let rendered = delivery.charts.iter();
    let rendered = rendered.filter(|call| charts.outcome(call) == Some(Ok(())));
    let titles = rendered.filter_map(|call| {
        let call = charts.call(call)?;
        let (name, version) = call.title();
        Some((name.to_owned(), version.to_owned()))
    });
    titles.collect()
}
