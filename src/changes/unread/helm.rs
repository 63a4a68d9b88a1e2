//! Objects that install a chart: HelmReleases of Flux, and HelmCharts of Flux and of k3s.

use super::canonical::{is_version, leaves, scalar};
use super::input::{Finder, FoundInput, HelmRelease, UnreadWhat};
use super::state::{canonical_text, shown_key, text_at, written_key};
use crate::kustomize::resolve;
use crate::manifest::{Object, ParsedFile};
use crate::yaml::Value;

const CHART: &str = "the chart is not rendered";
const VALUES: &str = "values decide which objects a chart contains, and the chart is not rendered";

/// Delivery objects of other tools.
const OTHERS: [(&str, &str); 8] = [
    ("fluxcd.controlplane.io", "ResourceSet"),
    ("fluxcd.controlplane.io", "ResourceSetInputProvider"),
    ("fleet.cattle.io", "GitRepo"),
    ("fleet.cattle.io", "HelmOp"),
    ("kappctrl.k14s.io", "App"),
    ("packaging.carvel.dev", "PackageInstall"),
    ("addons.cluster.x-k8s.io", "HelmChartProxy"),
    ("source.extensions.fluxcd.io", "ArtifactGenerator"),
];

pub(super) fn find(finder: &mut Finder<'_>) {
    let state = finder.state;
    for (place, file, object) in state
        .objects()
        .filter(|(place, ..)| state.chart_of(place).is_none())
    {
        let Some(spec) = object.at(&["spec"]) else {
            continue;
        };
        // The group is not checked: Flux 1 had a HelmRelease in two other groups.
        if object.kind() == "HelmRelease" {
            release(finder, place, file, object, spec);
        } else if matches!(object.kind(), "HelmChart" | "HelmChartConfig") {
            helm_chart(finder, place, file, object, spec);
        } else if OTHERS.contains(&(object.group(), object.kind())) {
            other(finder, place, file, object, spec);
        }
    }
}

/// Adds a delivery object of another tool, with all of its scalars except versions.
fn other(
    finder: &mut Finder<'_>,
    place: &str,
    file: &ParsedFile,
    object: &Object,
    spec: Value<'_>,
) {
    let reason = "ownerlint does not know which objects the tool makes of it";
    let input = FoundInput::new(UnreadWhat::Generator, shown_key(object), reason)
        .identified(written_key(object));
    let input = match leaves(spec) {
        Some(leaves) => {
            let steady = leaves.into_iter().filter(|(path, _)| !is_version(path));
            input.parts(steady.map(|(path, value)| format!("{path}={}", scalar(value))))
        }
        None => input,
    };
    finder.add(
        place,
        file,
        object.name_span(),
        input.saying(canonical_text(file, Some(spec))),
    );
}

fn release(
    finder: &mut Finder<'_>,
    place: &str,
    file: &ParsedFile,
    object: &Object,
    spec: Value<'_>,
) {
    let key = written_key(object);
    let chart = spec.at(&["chart", "spec"]).or(spec.get("chart"));
    let keys = [
        "chart",
        "name",
        "path",
        "version",
        "ref",
        "repository",
        "git",
    ];
    let [of_chart, name, path, version, git_ref, repository, git] =
        keys.map(|key| chart.map_or("", |chart| text_at(chart, &[key])));
    let references = [
        chart.and_then(|chart| chart.get("sourceRef")),
        spec.get("chartRef"),
    ];
    let reference = references
        .map(|reference| canonical_text(file, reference))
        .concat();
    let referenced = references
        .into_iter()
        .flatten()
        .map(|reference| text_at(reference, &["name"]))
        .next();
    let shown = [of_chart, name, path]
        .into_iter()
        .find(|text| !text.is_empty());
    let shown = shown.or(referenced).unwrap_or_default();
    let [written, into, storage] =
        ["releaseName", "targetNamespace", "storageNamespace"].map(|key| text_at(spec, &[key]));
    let installed = [written, into, storage].join("/");
    let own = object.namespace().unwrap_or_default();
    let [stored_in, installed_in] =
        [storage, into].map(|namespace| if namespace.is_empty() { own } else { namespace });
    // helm-controller api/v2/helmrelease_types.go, GetReleaseName.
    let release_name = match (written, into, object.name().unwrap_or_default()) {
        ("", "", name) => name.into_owned(),
        ("", into, name) => format!("{into}-{name}"),
        (written, ..) => written.to_owned(),
    };
    let keeps_release = text_at(spec, &["upgrade", "chartNameChangeStrategy"]) == "InPlaceUpdate";
    let is_in_git = references.into_iter().flatten().next();
    let is_in_git = is_in_git.is_some_and(|source| text_at(source, &["kind"]) == "GitRepository");
    // In a repository, the chart itself contains its name (source-controller internal/helm/chart/builder_local.go).
    let chart_name = chart_file(finder, of_chart)
        .filter(|_| is_in_git)
        .map_or_else(
            || of_chart.rsplit('/').next(),
            |root| root.str_at(&["name"]),
        );
    let chart_name = chart_name.filter(|_| !keeps_release).unwrap_or_default();
    let release = HelmRelease {
        key: key.clone(),
        installed: [
            release_name,
            stored_in.to_owned(),
            installed_in.to_owned(),
            chart_name.to_owned(),
        ],
    };
    let span = chart
        .and_then(|chart| chart.get("chart"))
        .or(spec.get("chartRef"))
        .unwrap_or(spec)
        .span();
    let identity = format!("chart of {key}");
    let version = if version.is_empty() { git_ref } else { version };
    let source = [of_chart, name, path, repository, git].join(" ");
    let input = FoundInput::new(UnreadWhat::Chart, format!("chart {shown}"), CHART)
        .identified(&identity)
        .in_version(version)
        .part(format!("{source} {reference}"))
        .part(format!("release {installed}"))
        .parts(is_in_git.then(|| format!("name {chart_name}")))
        .releasing(release)
        .part(canonical_text(file, spec.get("kubeConfig")));
    finder.add(place, file, span, input);
    let values = ["values", "valuesFrom", "postRenderers"];
    let Some(first) = values.iter().find_map(|key| spec.entry(key)) else {
        return;
    };
    let mut text = values
        .map(|key| canonical_text(file, spec.get(key)))
        .join("\n");
    let from = spec.get("valuesFrom").into_iter().flat_map(Value::items);
    for name in from.map(|entry| text_at(entry, &["name"])) {
        text.push_str(&finder.state.data_digest(name));
    }
    let files = chart
        .and_then(|chart| chart.get("valuesFiles"))
        .into_iter()
        .flat_map(Value::items);
    for written in files.filter_map(Value::as_str) {
        text.push_str(written);
        text.push_str(&finder.state.digest(&resolve("", written)));
    }
    let input = FoundInput::new(
        UnreadWhat::Values,
        format!("values of {}", shown_key(object)),
        VALUES,
    )
    .identified(format!("values of {key}"))
    .saying(text)
    .within(identity);
    finder.add(place, file, first.key_span, input);
}

/// Returns the `Chart.yaml` in a folder of the tree.
fn chart_file<'s>(finder: &Finder<'s>, folder: &str) -> Option<Value<'s>> {
    let place = resolve(&resolve("", folder), "Chart.yaml");
    let documents = finder.state.file(&place)?.documents().iter();
    let tree = documents.filter_map(|document| document.tree()).next()?;
    Some(tree.root())
}

fn helm_chart(
    finder: &mut Finder<'_>,
    place: &str,
    file: &ParsedFile,
    object: &Object,
    spec: Value<'_>,
) {
    let key = written_key(object);
    let rest = [
        "sourceRef",
        "repo",
        "targetNamespace",
        "chart",
        "helmVersion",
    ]
    .map(|key| canonical_text(file, spec.get(key)));
    let values = [
        "valuesContent",
        "set",
        "valuesFiles",
        "valuesFile",
        "version",
    ]
    .map(|key| canonical_text(file, spec.get(key)));
    let input = FoundInput::new(
        UnreadWhat::Chart,
        format!("chart {}", text_at(spec, &["chart"])),
        CHART,
    )
    .identified(format!("chart of {key}"))
    .in_version(text_at(spec, &["version"]))
    .saying(values.join("\n"))
    .part(rest.join("\n"));
    finder.add(place, file, object.name_span(), input);
}
