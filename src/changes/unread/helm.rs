//! Objects that install a chart: HelmReleases of Flux, and HelmCharts of Flux and of k3s.

use super::canonical::stable;
use super::holder::Holder;
use super::input::{CHART, Finder, FoundInput, HelmRelease, VALUES};
use super::report::UnreadWhat;
use super::state::{roots, shown_key, text_at};
use crate::graph::delivery::Release;
use crate::kustomize::{UNEVALUATED, UNEVALUATED_DELIVERIES, resolve};
use crate::yaml::Value;

pub(super) fn find(finder: &mut Finder<'_>) {
    for holder in Holder::all(finder.state) {
        let object = holder.object;
        // The group is not checked: Flux 1 had a HelmRelease in two other groups.
        if object.kind() == "HelmRelease" {
            release(finder, holder);
        } else if matches!(object.kind(), "HelmChart" | "HelmChartConfig") {
            helm_chart(finder, holder);
        } else if UNEVALUATED_DELIVERIES.contains(&object.group_kind()) {
            // Removing a scalar may remove objects, unless it is a version.
            let input = FoundInput::new(UnreadWhat::Generator, shown_key(object), UNEVALUATED)
                .with_identity(holder.key())
                .parts(stable(holder.spec).unwrap_or_default())
                .with_text(holder.text(Some(holder.spec)));
            holder.add(finder, object.name_span(), input);
        }
    }
}

fn release(finder: &mut Finder<'_>, holder: Holder<'_>) {
    let Holder { object, spec, .. } = holder;
    let key = holder.key();
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
    let reference = references.map(|reference| holder.text(reference)).concat();
    let source = references.into_iter().flatten().next();
    let referenced = source.map(|source| text_at(source, &["name"]));
    let shown = [of_chart, name, path]
        .into_iter()
        .find(|text| !text.is_empty());
    let shown = shown.or(referenced).unwrap_or_default();
    let [written, into, storage] =
        ["releaseName", "targetNamespace", "storageNamespace"].map(|key| text_at(spec, &[key]));
    let installed = [written, into, storage].join("/");
    let is_in_git = source.is_some_and(|source| text_at(source, &["kind"]) == "GitRepository");
    // In Git, the chart itself has its name (source-controller
    // internal/helm/chart/builder_local.go).
    let in_file = chart_file(finder, of_chart).and_then(|root| root.str_at(&["name"]));
    let own_name = object.name().unwrap_or_default();
    let own = object.namespace().unwrap_or_default();
    // The build may place the HelmRelease into another namespace than its file.
    let built = finder.state.release(holder.place, &own_name).cloned();
    let release = built.unwrap_or_else(|| {
        let mut release = written_release(spec, (own, &own_name));
        if is_in_git {
            release.chart = in_file.map(str::to_owned);
        }
        release
    });
    let chart_name = release.chart.clone().unwrap_or_default();
    let release = HelmRelease {
        key: key.clone(),
        installed: release,
    };
    let span = chart
        .and_then(|chart| chart.get("chart"))
        .or(spec.get("chartRef"))
        .unwrap_or(spec)
        .span();
    let identity = format!("chart of {key}");
    let version = if version.is_empty() { git_ref } else { version };
    let written_source = [of_chart, name, path, repository, git].join(" ");
    let input = FoundInput::new(UnreadWhat::Chart, format!("chart {shown}"), CHART)
        .with_identity(&identity)
        .in_version(version)
        .part(format!("{written_source} {reference}"))
        .part(format!("release {installed}"))
        .parts(is_in_git.then(|| format!("name {chart_name}")))
        .releasing(release)
        .part(holder.text(spec.get("kubeConfig")));
    holder.add(finder, span, input);
    let values = ["values", "valuesFrom", "postRenderers"];
    let Some(first) = values.iter().find_map(|key| spec.entry(key)) else {
        return;
    };
    let mut text = holder.fields(&values);
    for entry in spec.items_at("valuesFrom") {
        text.push_str(
            &finder
                .state
                .data_digest((holder.place, object), text_at(entry, &["name"])),
        );
    }
    let files = chart
        .into_iter()
        .flat_map(|chart| chart.items_at("valuesFiles"));
    for written in files.filter_map(Value::as_str) {
        text.push_str(written);
        text.push_str(&finder.state.digest(&resolve("", written)));
    }
    let input = holder
        .input(UnreadWhat::Values, "values", VALUES)
        .with_text(text)
        .within(identity);
    holder.add(finder, first.key_span, input);
}

/// Returns the release that a HelmRelease installs, given its spec as written, its namespace `own`
/// and its `name`. The chart name is unknown if the chart is in a GitRepository or Bucket.
pub fn written_release(spec: Value<'_>, (own, name): (&str, &str)) -> Release {
    let chart = spec.at(&["chart", "spec"]).or(spec.get("chart"));
    let [kind, named] = [&["sourceRef", "kind"][..], &["chart"]]
        .map(|path| chart.map_or("", |chart| text_at(chart, path)));
    let is_by_name = !["GitRepository", "Bucket"].contains(&kind);
    let chart = named.rsplit('/').next();
    let chart = chart.filter(|name| is_by_name && !name.is_empty());
    Release::of((own, name), chart.map(str::to_owned), |path| {
        spec.text_at(path)
    })
}

/// Returns the `Chart.yaml` in a folder of the tree.
fn chart_file<'s>(finder: &Finder<'s>, folder: &str) -> Option<Value<'s>> {
    let place = resolve(&resolve("", folder), "Chart.yaml");
    roots(finder.state.file(&place)?).next()
}

fn helm_chart(finder: &mut Finder<'_>, holder: Holder<'_>) {
    let [chart, version] = ["chart", "version"].map(|key| text_at(holder.spec, &[key]));
    let input = FoundInput::new(UnreadWhat::Chart, format!("chart {chart}"), CHART)
        .with_identity(format!("chart of {}", holder.key()))
        .in_version(version)
        .with_text(holder.fields(&[
            "valuesContent",
            "set",
            "valuesFiles",
            "valuesFile",
            "version",
        ]))
        .part(holder.fields(&[
            "sourceRef",
            "repo",
            "targetNamespace",
            "chart",
            "helmVersion",
        ]));
    holder.add(finder, holder.object.name_span(), input);
}
