//! Charts that Applications name (argo-cd reposerver/repository/repository.go, helmTemplate; util/helm).

use super::application::Application;
use super::environment::{Environment, REVISION};
use super::sources::Sources;
use crate::charts::{ChartCall, ChartSource, RemoteChart, Values};
use crate::graph::chart::{place, rendered, values_file, values_of, version_options};
use crate::graph::kustomize::Built;
use crate::graph::node::Node;
use crate::graph::unread::What;
use crate::kustomize::{resolve, shown};
use crate::text::glob::glob;

/// A source that is a chart.
#[derive(Clone, Copy)]
pub(super) struct HelmSource<'h> {
    pub(super) sources: &'h Sources<'h>,
    pub(super) application: &'h Application,
    /// The node `spec.source`, or an entry of `spec.sources`.
    pub(super) node: &'h Node,
    /// The namespace of the Application's destination.
    pub(super) namespace: &'h str,
    /// The folder of the chart, if it is in the tree.
    pub(super) folder: Option<&'h str>,
}

impl HelmSource<'_> {
    pub(super) fn build(&self) -> Built {
        let subject = self.subject();
        let origin = &self.application.origin;
        let mut made = rendered(
            self.sources.builder.charts(),
            || self.call(),
            &subject,
            origin,
        );
        let scopes = self.sources.files.scopes();
        place(&mut made.resources, &self.namespace(), scopes);
        let mut names = made.resources.iter().map(|one| one.id().name);
        if let Some(name) = names.find(|name| name.contains(REVISION)) {
            let reason = format!("only Argo CD knows the revision in the name {name}");
            let unread = origin.unread(What::Chart, &subject, &reason);
            made.unread.push(unread);
        }
        Built {
            resources: made.resources.into(),
            unread: made.unread,
            charts: made.call.into_iter().collect(),
            ..Built::default()
        }
    }

    fn subject(&self) -> String {
        if let Some(folder) = self.folder {
            return format!("chart {}", shown(folder));
        }
        let chart = self.node.str_at(&["chart"]).unwrap_or_default();
        let version = self.node.str_at(&["targetRevision"]).unwrap_or_default();
        format!("chart {chart} {version}").trim_end().to_owned()
    }

    fn helm(&self) -> Node {
        self.node.get("helm").unwrap_or(Node::Null)
    }

    fn namespace(&self) -> String {
        let written = self.helm().text_at(&["namespace"]);
        written.unwrap_or_else(|| self.namespace.to_owned())
    }

    fn call(&self) -> Result<ChartCall, String> {
        let helm = self.helm();
        let release = helm.text_at(&["releaseName"]);
        let release = release.unwrap_or_else(|| self.application.name.clone());
        let environment = Environment::new(self.application, self.node, self.namespace);
        let mut call = ChartCall::new(self.source()?, release, self.namespace());
        call.inputs.insert(self.application.origin.file.to_string());
        for written in helm.texts_at("valueFiles") {
            let found = self.values(&mut call, &written, &environment);
            match found {
                Ok(values) => call.values.extend(values),
                Err(_) if helm.is_true_at(&["ignoreMissingValueFiles"]) => {}
                Err(reason) => return Err(reason),
            }
        }
        let inline = values_of(helm.get("valuesObject"));
        call.values
            .extend(inline.or_else(|| Some(Values::Text(helm.text_at(&["values"])?.into()))));
        for parameter in helm.items_at("parameters") {
            let name = parameter
                .text_at(&["name"])
                .ok_or("a parameter has no name")?;
            let value = parameter.get("value").and_then(|value| value.scalar());
            let value = escaped(&environment.expand(&value.unwrap_or_default()));
            let option = if parameter.is_true_at(&["forceString"]) {
                "--set-string"
            } else {
                "--set"
            };
            call.options.push(format!("{option}={name}={value}"));
        }
        for parameter in helm.items_at("fileParameters") {
            let path = environment.expand(parameter.str_at(&["path"]).unwrap_or_default());
            let folder = self
                .folder
                .ok_or("a chart that is not in the tree has file parameters")?;
            let found = resolve(folder, &path);
            let bytes = self.sources.files.bytes(&found);
            let bytes = bytes.map_err(|reason| format!("{found} {reason}"))?;
            let content = String::from_utf8_lossy(&bytes).into_owned();
            call.inputs.insert(found);
            let name = parameter.str_at(&["name"]).unwrap_or_default();
            // In `--set-file`, Helm could read a part of the name as the path of another file.
            if name.contains([',', '=', '{']) {
                return Err(format!("`{name}` is not a valid name of a file parameter"));
            }
            call.set_file(name, content.into());
        }
        if !helm.is_true_at(&["skipCrds"]) {
            call.options.push("--include-crds".to_owned());
        }
        if helm.is_true_at(&["skipTests"]) {
            call.options.push("--skip-tests".to_owned());
        }
        if helm.is_true_at(&["skipSchemaValidation"]) {
            call.options.push("--skip-schema-validation".to_owned());
        }
        call.options.extend(version_options(&helm));
        Ok(call)
    }

    fn source(&self) -> Result<ChartSource, String> {
        if let Some(folder) = self.folder {
            return Ok(ChartSource::Folder(self.sources.files.chart(folder)?));
        }
        let [url, chart, version] = ["repoURL", "chart", "targetRevision"]
            .map(|key| self.node.text_at(&[key]).unwrap_or_default());
        let url = url.trim_end_matches('/');
        // A repository without a scheme is a registry.
        let registry = match url.split_once("://") {
            None => Some(url),
            Some(("oci", rest)) => Some(rest),
            Some(_) => None,
        };
        Ok(ChartSource::Remote(match registry {
            Some(registry) => RemoteChart {
                url: format!("oci://{registry}/{chart}"),
                version,
                ..RemoteChart::default()
            },
            None => RemoteChart::new(url.to_owned(), chart, version),
        }))
    }

    /// Returns the values of an entry of `valueFiles`, several for a pattern.
    fn values(
        &self,
        call: &mut ChartCall,
        written: &str,
        environment: &Environment,
    ) -> Result<Vec<Values>, String> {
        let files = self.sources.files;
        let reference = written.strip_prefix('$');
        let reference = reference.map(|rest| rest.split_once('/').unwrap_or((rest, "")));
        let source = reference.and_then(|(name, _)| self.referenced(name));
        let place = if let (Some((_, path)), Some(source)) = (reference, source) {
            let repository = source.text_at(&["repoURL"]).unwrap_or_default();
            if !self.sources.repositories.are_own(&repository) {
                return Err(format!("{written} is in another repository"));
            }
            resolve("", &environment.expand(path))
        } else {
            let path = environment.expand(written);
            if path.contains("://") {
                return Err(format!("{path} is not fetched"));
            }
            match self.folder {
                Some(_) if path.starts_with('/') => resolve("", path.trim_start_matches('/')),
                Some(folder) => resolve(folder, &path),
                None => return Ok(vec![Values::InChart(path)]),
            }
        };
        if !place.contains(['*', '?', '[', '{']) {
            return Ok(vec![values_file(call, &place, files.bytes(&place))?]);
        }
        let glob =
            glob(&place).map_err(|reason| format!("{written} cannot be matched: {reason}"))?;
        let found = files.paths().filter(|path| glob.is_match(path));
        found
            .map(|path| values_file(call, path, files.bytes(path)))
            .collect()
    }

    /// Returns the source with a `ref`, from which others take values.
    fn referenced(&self, reference: &str) -> Option<Node> {
        let sources = self.application.node.get("spec")?.items_at("sources");
        let mut sources = sources.into_iter();
        sources.find(|source| source.str_at(&["ref"]) == Some(reference))
    }
}

/// Escapes the commas of a value, so that they separate nothing (argo-cd util/helm/cmd.go, cleanSetParameters).
fn escaped(value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return value.to_owned();
    }
    let mut escaped = String::new();
    let mut before = ' ';
    for c in value.chars() {
        if c == ',' && before != '\\' {
            escaped.push('\\');
        }
        escaped.push(c);
        before = c;
    }
    escaped
}
