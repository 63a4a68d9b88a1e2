//! A HelmRelease: its chart, its values, and the objects that it installs (fluxcd/helm-controller internal/controller/
//! helmrelease_controller.go, internal/chartutil/values.go; fluxcd/source-controller internal/helm/chart).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::SourceName;
use super::kustomization::{destination, named};
use super::set_value;
use super::written::Written;
use crate::charts::{ChartCall, ChartSource, RemoteChart, Values, in_crds_folder};
use crate::graph::chart::{place, rendered, values_file, values_of};
use crate::graph::delivery::{Delivery, Release, Settings};
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{BuildError, Builder, KustomizationDoc, Origin, Resource};
use crate::graph::node::Node;
use crate::graph::reached::normalized;
use crate::graph::unread::What;
use crate::kustomize::{Deliverer, SourceTool, folder_of, resolve};

/// Sources of manifests, charts, values and variables, by kind, namespace and name.
#[derive(Default)]
pub(super) struct Applied(BTreeMap<SourceName, (Node, Origin)>);

impl Applied {
    pub(super) fn get(&self, name: &SourceName) -> Option<&Node> {
        self.0.get(name).map(|(node, _)| node)
    }

    /// Adds an object under its name and its original name: not all references to it are updated when its name changes.
    pub(super) fn add(&mut self, resource: &Resource) {
        let (id, first) = (resource.id(), resource.original());
        let found = (resource.node.clone(), resource.origin.clone());
        let [first, now] = [&first.name, &id.name].map(|name| {
            let (kind, namespace) = (id.kind.as_str(), id.namespace.as_str());
            (kind.to_owned(), namespace.to_owned(), (**name).to_owned())
        });
        self.0.entry(first).or_insert_with(|| found.clone());
        self.0.insert(now, found);
    }
}

/// The context of a release: the sources and values in its cluster, or else in the tree.
pub(super) struct Surroundings<'s> {
    pub(super) files: &'s TreeFiles<'s>,
    pub(super) written: &'s Written,
    /// The objects applied to the cluster.
    pub(super) applied: Option<&'s Applied>,
    /// The source of the entry point of the cluster.
    pub(super) own: &'s SourceName,
    pub(super) builder: Builder<'s>,
}

/// Returns the normalized address of a source.
pub(super) fn address(source: &Node) -> Option<String> {
    Some(normalized(&source.text_at(&["spec", "url"])?))
}

impl Surroundings<'_> {
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<&(Node, Origin)> {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let applied = self.applied.and_then(|applied| applied.0.get(&key));
        applied.or_else(|| self.written.charts.0.get(&key))
    }

    fn is_own(&self, source: &SourceName) -> bool {
        self.own == source || self.written.own.contains(source)
    }

    /// Whether a GitRepository with a chart in `folder` is this tree.
    fn is_here(&self, source: &SourceName, folder: &str) -> bool {
        self.is_own(source) || !self.is_another(source) && self.files.has_folder(folder)
    }

    /// Whether a source is known to be another repository: it is in the tree, and its address is
    /// not that of a source that is this tree.
    fn is_another(&self, source: &SourceName) -> bool {
        let Some(address) = self.address(source).filter(|_| !self.is_own(source)) else {
            return false;
        };
        match self.address(self.own) {
            Some(own) if own == address => false,
            None if self.written.own_addresses.is_empty() => false,
            _ => !self.written.own_addresses.contains(&address),
        }
    }

    fn address(&self, (kind, namespace, name): &SourceName) -> Option<String> {
        let (source, _) = self.find(kind, namespace, name)?;
        address(source)
    }

    /// Returns the name of a chart: that in the `Chart.yaml` of a GitRepository or Bucket, which
    /// must be this tree, or the last part of the OCI address or of the written name. `namespace`
    /// is that of a `sourceRef` without one.
    fn chart_name(&self, chart: &Node, namespace: &str) -> Option<String> {
        let [kind, name, written] =
            ["kind", "name", "namespace"].map(|key| chart.text_at(&["sourceRef", key]));
        let kind = kind.unwrap_or_default();
        let namespace = written.unwrap_or_else(|| namespace.to_owned());
        let source = (kind, namespace, name.unwrap_or_default());
        let (kind, namespace, name) = &source;
        let named = match kind.as_str() {
            "GitRepository" | "Bucket" if self.is_another(&source) => return None,
            "GitRepository" | "Bucket" => {
                let folder = resolve("", &chart.text_at(&["chart"])?);
                let file = self.files.parsed(&resolve(&folder, "Chart.yaml"));
                return file.documents.first()?.text_at(&["name"]);
            }
            "OCIRepository" => {
                let (found, _) = self.find(kind, namespace, name)?;
                found.text_at(&["spec", "url"])?
            }
            _ => chart.text_at(&["chart"])?,
        };
        let last = named.trim_end_matches('/').rsplit('/').next();
        last.filter(|name| !name.is_empty()).map(str::to_owned)
    }

    /// Returns the files that determine the content of a ConfigMap.
    fn files_of(&self, name: &str, origin: &Origin) -> Vec<String> {
        let mut all = vec![origin.file.to_string()];
        if origin.is_generated {
            let parsed = self.files.parsed(&origin.file);
            let generators = parsed.documents.iter();
            let generators = generators.flat_map(|doc| doc.items_at("configMapGenerator"));
            let own = generators.filter(|entry| {
                let written = entry.text_at(&["name"]).unwrap_or_default();
                name.starts_with(&written)
            });
            for file in own.flat_map(|entry| entry.texts_at("files")) {
                let path = file.split_once('=').map_or(file.as_str(), |(_, path)| path);
                all.push(resolve(folder_of(&origin.file), path));
            }
        }
        all
    }
}

/// Whether objects of a kind are sources of manifests, charts, values or variables.
pub(super) fn is_source(group: &str, kind: &str) -> bool {
    match group {
        "source.toolkit.fluxcd.io" => {
            matches!(
                kind,
                "HelmRepository" | "OCIRepository" | "HelmChart" | "GitRepository" | "Bucket"
            )
        }
        "" => matches!(kind, "ConfigMap" | "Secret"),
        _ => false,
    }
}

/// A HelmRelease as its parent applies it.
pub(super) struct HelmRelease<'r> {
    resource: &'r Resource,
    namespace: String,
    name: String,
    spec: Node,
}

impl<'r> HelmRelease<'r> {
    /// Reads an object, if it is a HelmRelease.
    pub(super) fn from_resource(resource: &'r Resource) -> Option<Self> {
        if !resource.is_of("helm.toolkit.fluxcd.io", "HelmRelease") {
            return None;
        }
        let id = resource.id();
        let spec = resource.node.get("spec").unwrap_or(Node::Null);
        Some(Self {
            resource,
            namespace: id.namespace.into(),
            name: id.name.into(),
            spec,
        })
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        self.spec.text_at(path)
    }

    /// Returns the release that it installs from a chart.
    fn release(&self, chart: Option<String>) -> Release {
        Release::of((&self.namespace, &self.name), chart, |path| self.text(path))
    }

    /// Returns the release that it installs.
    fn installed(&self, around: &Surroundings<'_>) -> Release {
        let chart = self.chart(around).ok();
        self.release(chart.and_then(|(chart, namespace)| around.chart_name(&chart, &namespace)))
    }

    /// Returns the name of its chart in reports.
    fn subject(&self) -> String {
        let chart = self
            .text(&["chart", "spec", "chart"])
            .or_else(|| self.text(&["chartRef", "name"]));
        let version = self.text(&["chart", "spec", "version"]);
        let (chart, version) = (chart.unwrap_or_default(), version.unwrap_or_default());
        format!("chart {chart} {version}").trim_end().to_owned()
    }

    /// Returns its delivery. `home` is the folder of the entry points, `here` the cluster that the HelmRelease is in.
    pub(super) fn delivery(
        &self,
        around: &Surroundings<'_>,
        (home, here): (&str, &Arc<str>),
        parent: Option<Arc<str>>,
    ) -> Delivery {
        let key = around.files.scopes().key(&self.resource.id());
        let cluster = destination(&self.spec, home, here);
        let origin = &self.resource.origin;
        let subject = self.subject();
        let mut made = rendered(
            around.builder.charts(),
            || self.call(around),
            &subject,
            origin,
        );
        let is_read = made.unread.is_empty();
        let mut error = None;
        if is_read {
            match self.post_rendered(around, std::mem::take(&mut made.resources)) {
                Ok(resources) => made.resources = resources,
                Err(failed) => error = Some(failed),
            }
            let scopes = around.files.scopes();
            place(&mut made.resources, &self.release(None).namespace, scopes);
            for secret in self.secrets() {
                let reason = "values in Secrets are not read";
                let unread = origin.unread(What::Variable, format!("Secret {secret}"), reason);
                made.unread.push(unread);
                for resource in &mut made.resources {
                    resource.is_possible = true;
                }
            }
        }
        let tool = SourceTool::FluxRelease;
        let by = Deliverer::new(&cluster, tool, &self.namespace, &self.name);
        Delivery {
            id: format!("{here}|{key}"),
            cluster,
            parent,
            by: is_read.then_some(by),
            key,
            file: Arc::clone(&origin.file),
            line: origin.line,
            settings: Settings {
                release: Some(self.installed(around)),
                suspend: self.spec.bool_at(&["suspend"]),
                depends_on: named(&self.spec.items_at("dependsOn"), &self.namespace),
                ..Settings::default()
            },
            error,
            resources: Arc::new(made.resources),
            reached: Arc::new(self.chart_folder().into_iter().collect()),
            unread: made.unread,
            charts: made.call.into_iter().collect(),
            ..Delivery::default()
        }
    }

    /// Applies its post-renderers. Helm passes them neither hooks nor the folder `crds` of a chart.
    fn post_rendered(
        &self,
        around: &Surroundings<'_>,
        resources: Vec<Resource>,
    ) -> Result<Vec<Resource>, BuildError> {
        let renderers = self.spec.items_at("postRenderers").into_iter();
        let mut kustomizations = renderers.filter_map(|one| one.get("kustomize")).peekable();
        if kustomizations.peek().is_none() {
            return Ok(resources);
        }
        let (mut given, others): (Vec<Resource>, Vec<Resource>) =
            resources.into_iter().partition(|resource| {
                let template = resource.origin.template.as_deref().unwrap_or_default();
                resource.meta("annotations", "helm.sh/hook").is_none() && !in_crds_folder(template)
            });
        for node in kustomizations {
            let doc = KustomizationDoc {
                folder: String::new(),
                file: self.resource.origin.file.to_string(),
                node,
            };
            given = around.builder.transformed(&doc, given)?;
        }
        given.extend(others);
        Ok(given)
    }

    /// Returns the folder of its chart, if the chart is in a GitRepository.
    fn chart_folder(&self) -> Option<String> {
        let chart = self.spec.at(&["chart", "spec"])?;
        let is_git = chart.str_at(&["sourceRef", "kind"]) == Some("GitRepository");
        let folder = chart.text_at(&["chart"]).filter(|_| is_git)?;
        Some(resolve("", &folder))
    }

    /// Returns the Secrets that it takes values from.
    fn secrets(&self) -> Vec<String> {
        let from = self.spec.items_at("valuesFrom").into_iter();
        let secrets = from.filter(|from| from.str_at(&["kind"]) == Some("Secret"));
        secrets.filter_map(|from| from.text_at(&["name"])).collect()
    }

    fn call(&self, around: &Surroundings<'_>) -> Result<ChartCall, String> {
        let (chart, namespace) = self.chart(around)?;
        let mut inputs = BTreeSet::from([self.resource.origin.file.to_string()]);
        let kind = chart.text_at(&["sourceRef", "kind"]).unwrap_or_default();
        let source = self.source(around, &chart, &namespace, &mut inputs)?;
        let Release {
            name, namespace, ..
        } = self.release(None);
        let mut call = ChartCall::new(source, name, namespace);
        call.inputs = inputs;
        call.options.push("--include-crds".to_owned());
        let single = chart.text_at(&["valuesFile"]).into_iter();
        for path in chart.texts_at("valuesFiles").into_iter().chain(single) {
            let values = if kind == "GitRepository" {
                // The path starts at the root of the repository, not at the chart.
                let place = resolve("", &path);
                values_file(&mut call, &place, around.files.bytes(&place))?
            } else {
                Values::InChart(path)
            };
            call.base_values.push(values);
        }
        for from in self.spec.items_at("valuesFrom") {
            self.values_from(around, &from, &mut call)?;
        }
        call.values.extend(values_of(self.spec.get("values")));
        Ok(call)
    }

    /// Returns the specification of the chart, and the namespace of names in it that state none.
    fn chart(&self, around: &Surroundings<'_>) -> Result<(Node, String), String> {
        if let Some(chart) = self.spec.at(&["chart", "spec"]) {
            return Ok((chart, self.namespace.clone()));
        }
        let reference = self.spec.get("chartRef").ok_or("it names no chart")?;
        let kind = reference.str_at(&["kind"]).unwrap_or_default();
        let name = reference.str_at(&["name"]).unwrap_or_default();
        let namespace = reference.text_at(&["namespace"]);
        let namespace = namespace.unwrap_or_else(|| self.namespace.clone());
        if kind != "HelmChart" {
            let mut chart = Node::empty_map();
            chart.set("sourceRef", reference);
            return Ok((chart, namespace));
        }
        let found = around.find(kind, &namespace, name);
        let chart = found.and_then(|(chart, _)| chart.get("spec"));
        let chart = chart.ok_or_else(|| not_found(kind, &namespace, name))?;
        Ok((chart, namespace))
    }

    fn source(
        &self,
        around: &Surroundings<'_>,
        chart: &Node,
        namespace: &str,
        inputs: &mut BTreeSet<String>,
    ) -> Result<ChartSource, String> {
        let kind = chart.text_at(&["sourceRef", "kind"]).unwrap_or_default();
        let name = chart.text_at(&["sourceRef", "name"]).unwrap_or_default();
        let written = chart.text_at(&["sourceRef", "namespace"]);
        let namespace = written.unwrap_or_else(|| namespace.to_owned());
        let named = chart.text_at(&["chart"]).unwrap_or_default();
        let version = chart.text_at(&["version"]).unwrap_or_default();
        if kind == "GitRepository" {
            let folder = resolve("", &named);
            let source = (kind.clone(), namespace.clone(), name.clone());
            if !around.is_here(&source, &folder) {
                return Err(format!("{kind} {name} is not this tree"));
            }
            if !around.files.has_folder(&folder) {
                return Err(format!("{folder} does not exist"));
            }
            return Ok(ChartSource::Folder(around.files.chart(&folder)?));
        }
        if kind != "HelmRepository" && kind != "OCIRepository" {
            return Err(format!("charts of a {kind} are not fetched"));
        }
        let found = around
            .find(&kind, &namespace, &name)
            .and_then(|(found, origin)| Some((found.text_at(&["spec", "url"])?, found, origin)));
        let (url, found, origin) = found.ok_or_else(|| not_found(&kind, &namespace, &name))?;
        inputs.insert(origin.file.to_string());
        let url = url.trim_end_matches('/').to_owned();
        let is_plain = found.is_true_at(&["spec", "insecure"]);
        let remote = if kind == "OCIRepository" {
            let version = ["digest", "semver", "tag"]
                .into_iter()
                .find_map(|key| found.text_at(&["spec", "ref", key]));
            RemoteChart {
                url,
                version: version.unwrap_or_default(),
                is_plain,
                ..RemoteChart::default()
            }
        } else {
            let is_plain = is_plain && url.starts_with("oci://");
            RemoteChart {
                is_plain,
                ..RemoteChart::new(url, named, version)
            }
        };
        Ok(ChartSource::Remote(remote))
    }

    /// Adds the values of an entry of `valuesFrom`; those of a Secret are unknown.
    fn values_from(
        &self,
        around: &Surroundings<'_>,
        from: &Node,
        call: &mut ChartCall,
    ) -> Result<(), String> {
        if from.str_at(&["kind"]) != Some("ConfigMap") {
            return Ok(());
        }
        let name = from.str_at(&["name"]).unwrap_or_default();
        let key = from
            .text_at(&["valuesKey"])
            .unwrap_or_else(|| "values.yaml".to_owned());
        let found = around.find("ConfigMap", &self.namespace, name);
        let found = found.or_else(|| around.find("ConfigMap", "", name));
        let values = found.and_then(|(data, origin)| {
            let values = data.at(&["data"])?.get(&key)?.scalar()?;
            Some((values, origin))
        });
        let Some((values, origin)) = values else {
            if from.is_true_at(&["optional"]) {
                return Ok(());
            }
            let reason = format!("no ConfigMap {name} of the tree has the values `{key}`");
            return Err(reason);
        };
        call.inputs.extend(around.files_of(name, origin));
        match from.text_at(&["targetPath"]) {
            None => call.values.push(Values::Text(values.into())),
            Some(path) => {
                let is_literal = from.is_true_at(&["literal"]);
                let value = set_value::at_path(&path, &values, is_literal)
                    .ok_or_else(|| format!("its `targetPath: {path}` is not evaluated"))?;
                call.values.push(Values::Text(value.to_string().into()));
            }
        }
        Ok(())
    }
}

fn not_found(kind: &str, namespace: &str, name: &str) -> String {
    format!("the tree has no {kind} {namespace}/{name}")
}
