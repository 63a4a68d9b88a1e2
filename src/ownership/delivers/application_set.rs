//! ApplicationSets of Argo CD: the Applications that their list generators make.
//!
//! Other generators look at clusters, repositories and pull requests; what they make is not in the manifest.

use super::application;
use super::object::{DeliveryKind, DeliveryObject};
use crate::graph::argo::RESOURCES_FINALIZER;
use crate::inventory::Member;
use crate::yaml::{Kind, Value};

/// Applications that one set is known to generate.
const MOST_GENERATED: usize = 1_000;

pub(super) fn read(member: &Member) -> Vec<DeliveryObject> {
    let Some(spec) = member.object.at(&["spec"]) else {
        return Vec::new();
    };
    elements(spec)
        .take(MOST_GENERATED)
        .filter_map(|element| generated(member, spec, element))
        .collect()
}

/// The elements of the list generators of a set for which no Application is looked at.
pub(super) fn left_out(member: &Member) -> usize {
    member
        .object
        .at(&["spec"])
        .map_or(0, |spec| elements(spec).skip(MOST_GENERATED).count())
}

fn elements(spec: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let generators = spec.get("generators").into_iter().flat_map(Value::items);
    let lists = generators.filter_map(|generator| generator.get("list"));
    lists.flat_map(|list| list.get("elements").into_iter().flat_map(Value::items))
}

/// The Application of one element; `None` where its name has unknown parameters.
fn generated(member: &Member, spec: Value<'_>, element: Value<'_>) -> Option<DeliveryObject> {
    let filled = |text: &str| fill(text, element);
    let template = spec.get("template")?;
    let name = filled(template.at(&["metadata", "name"])?.as_str()?)?;
    let application = template.get("spec")?;
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::Generated,
        name,
        sources: application::sources(application, &filled),
        destination: application::destination(application, &filled),
        prunes: application::prunes(application),
        cascades: cascades(spec, template, application),
        suspended: false,
    })
}

/// Every generated Application gets the resources finalizer, unless the set preserves resources (argo-cd
/// docs/operator-manual/applicationset/Application-Deletion.md).
fn cascades(spec: Value<'_>, template: Value<'_>, application: Value<'_>) -> bool {
    let preserves = spec
        .at(&["syncPolicy", "preserveResourcesOnDeletion"])
        .and_then(Value::as_bool);
    let written = template
        .at(&["metadata", "finalizers"])
        .into_iter()
        .flat_map(Value::items);
    let written: Vec<&str> = written.filter_map(Value::as_str).collect();
    match (preserves, written.is_empty()) {
        (Some(true), true) => false,
        (_, true) => application::cascades(application, std::iter::once(RESOURCES_FINALIZER)),
        (_, false) => application::cascades(application, written.into_iter()),
    }
}

/// A text with the parameters of an element filled in: `{{name}}`, `{{.name}}`, `{{ .values.name }}`. `None` for a
/// parameter that the element does not give, and for anything that computes.
fn fill(text: &str, element: Value<'_>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (parameter, after) = after.split_once("}}")?;
        filled.push_str(before);
        filled.push_str(&parameter_of(
            parameter.trim().trim_matches('-').trim(),
            element,
        )?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn parameter_of(parameter: &str, element: Value<'_>) -> Option<String> {
    let path: Vec<&str> = parameter
        .strip_prefix('.')
        .unwrap_or(parameter)
        .split('.')
        .collect();
    match element.at(&path)?.kind() {
        Kind::String(text) => Some(text.to_string()),
        Kind::Int(number) => Some(number.to_string()),
        Kind::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
