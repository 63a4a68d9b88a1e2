//! Charts that kustomize renders (kustomize api/types/helmchartargs.go, plugin/builtin/helmchartinflationgenerator).

use std::path::Path;

use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use crate::charts::{ChartCall, ChartSource, RemoteChart, Values};
use crate::graph::chart::{rendered, values_file, values_of, version_options};
use crate::graph::node::Node;
use crate::kustomize::{is_remote, resolve};

/// The name of an unnamed release: `helm template --generate-name` always takes this one.
const UNNAMED: &str = "release-name";

impl KustomizationDoc {
    /// Returns the folders of the charts that it renders, if these are in the tree.
    pub fn chart_folders(&self) -> Vec<String> {
        let folders = self.charts().into_iter().filter_map(|entry| {
            let name = entry.text_at(&["name"])?;
            Some(resolve(&self.chart_home(&entry), &name))
        });
        folders.collect()
    }

    /// Returns the entries of the charts that it renders.
    pub(in crate::graph) fn charts(&self) -> Vec<Node> {
        let charts = self.node.items_at("helmCharts").into_iter();
        charts
            .chain(self.node.get("helmChartInflationGenerator"))
            .collect()
    }

    /// Returns the folder that contains a chart, or will contain it once it is fetched.
    fn chart_home(&self, entry: &Node) -> String {
        let home = self.node.text_at(&["helmGlobals", "chartHome"]);
        let home = resolve(&self.folder, home.as_deref().unwrap_or("charts"));
        let [repo, name, version] = ["repo", "name", "version"].map(|key| entry.text_at(&[key]));
        match (repo, name, version) {
            (Some(_), Some(name), Some(version)) => resolve(&home, &format!("{name}-{version}")),
            _ => home,
        }
    }
}

impl Build<'_> {
    /// Adds the objects of the charts that a kustomization renders.
    pub(super) fn inflate(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for entry in doc.charts() {
            let name = entry.str_at(&["name"]).unwrap_or_default();
            let version = entry.str_at(&["version"]).unwrap_or_default();
            let subject = format!("{name} {version}");
            let subject = subject.trim_end();
            self.tolerated(self.values_exist(doc, &entry))?;
            let origin = self.origin(doc, Some(&entry));
            let made = rendered(
                self.builds.charts(),
                || self.call(doc, &entry),
                subject,
                &origin,
            );
            built.charts.extend(made.call);
            built.unread.extend(made.unread);
            self.take(doc, &entry, made.resources.len())?;
            self.append(doc, &entry, built, made.resources)?;
        }
        Ok(())
    }

    /// Fails if the tree lacks a values file of a chart, unless it may be part of the chart.
    fn values_exist(&self, doc: &KustomizationDoc, entry: &Node) -> Outcome {
        let home = doc.chart_home(entry);
        let paths = entry.text_at(&["valuesFile"]).into_iter();
        for path in paths.chain(entry.texts_at("additionalValuesFiles")) {
            let place = resolve(&doc.folder, &path);
            let is_present = Path::new(&place).starts_with(&home)
                || is_remote(&path)
                || self.files.has_file(&place)
                || self.files.lacks(&place);
            if !is_present {
                return Err(self.failed(doc, Some(entry), format!("{path} does not exist")));
            }
        }
        Ok(())
    }

    fn call(&self, doc: &KustomizationDoc, entry: &Node) -> Result<ChartCall, String> {
        let name = entry.text_at(&["name"]).ok_or("it names no chart")?;
        if entry.text_at(&["nameTemplate"]).is_some() {
            return Err("its `nameTemplate` is not evaluated".to_owned());
        }
        let version = entry.text_at(&["version"]).unwrap_or_default();
        let folder = resolve(&doc.chart_home(entry), &name);
        let source = match entry.text_at(&["repo"]) {
            _ if self.files.has_folder(&folder) => ChartSource::Folder(self.files.chart(&folder)?),
            None => return Err(format!("{folder} does not exist")),
            Some(url) => ChartSource::Remote(RemoteChart::new(url, name, version)),
        };
        let release = entry.text_at(&["releaseName"]);
        let release = release.unwrap_or_else(|| UNNAMED.to_owned());
        let namespace = entry.text_at(&["namespace"]).unwrap_or_default();
        let mut call = ChartCall::new(source, release, namespace);
        call.inputs.insert(doc.file.clone());
        let written = entry
            .text_at(&["valuesFile"])
            .map(|path| self.values(doc, &path, &mut call))
            .transpose()?;
        let inline = values_of(entry.get("valuesInline"));
        call.values = match entry.str_at(&["valuesMerge"]) {
            Some("replace") if inline.is_some() => inline.into_iter().collect(),
            Some("merge") => {
                let last = written.unwrap_or_else(|| Values::InChart("values.yaml".to_owned()));
                inline.into_iter().chain([last]).collect()
            }
            _ => written.into_iter().chain(inline).collect(),
        };
        for path in entry.texts_at("additionalValuesFiles") {
            let values = self.values(doc, &path, &mut call)?;
            call.values.push(values);
        }
        let flags = [
            ("includeCRDs", "--include-crds"),
            ("skipHooks", "--no-hooks"),
            ("skipTests", "--skip-tests"),
            ("devel", "--devel"),
        ];
        let flags = flags
            .into_iter()
            .filter(|(key, _)| entry.is_true_at(&[key]));
        call.options.extend(flags.map(|(_, flag)| flag.to_owned()));
        call.options.extend(version_options(entry));
        Ok(call)
    }

    /// Reads the values in a file, and adds it to the inputs of `call`.
    fn values(
        &self,
        doc: &KustomizationDoc,
        path: &str,
        call: &mut ChartCall,
    ) -> Result<Values, String> {
        let place = resolve(&doc.folder, path);
        values_file(call, &place, self.files.bytes(&place))
    }
}
