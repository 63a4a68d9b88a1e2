//! The input of a rendering.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::digest::Digest;
use super::folder::ChartFolder;
use crate::text::{SourceFile, TemplateMark};

/// The id of a call: calls with the same id have the same output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Returns the id as hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A chart that is not in the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteChart {
    /// The URL of a repository (`https://charts.example.org`), or of an artifact
    /// (`oci://registry.example.org/charts/web`).
    pub url: String,
    /// Its name in the repository; empty for an artifact.
    pub name: String,
    /// A version, a range or a digest; empty for the newest version.
    pub version: String,
    /// Whether its OCI registry is contacted without TLS (`--plain-http`).
    pub is_plain: bool,
}

impl RemoteChart {
    /// Creates a chart of a repository. If `url` is that of an OCI registry, the chart is the artifact `url/name`.
    pub fn new(url: String, name: String, version: String) -> Self {
        let (url, name) = if url.starts_with("oci://") {
            let artifact = format!("{}/{name}", url.trim_end_matches('/'));
            (artifact, String::new())
        } else {
            (url, name)
        };
        Self {
            url,
            name,
            version,
            is_plain: false,
        }
    }

    /// Returns the host that is contacted for it, with its port.
    pub fn host(&self) -> Option<&str> {
        let (scheme, rest) = self.url.split_once("://")?;
        if !["http", "https", "oci"].contains(&scheme) {
            return None;
        }
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        (!host.is_empty()).then_some(host)
    }

    /// Returns the texts that identify it.
    pub(super) fn words(&self) -> [&str; 3] {
        [&self.url, &self.name, &self.version]
    }

    /// Whether its version always means the same chart.
    pub fn is_fixed(&self) -> bool {
        self.version.starts_with("sha256:")
            || numbers_in(self.version.trim_start_matches('v')) == Some(3)
    }
}

/// Returns the count of the numbers before the suffix of a version, such as 3 for `v1.2.3-rc.1`;
/// `None` if there is anything else.
pub fn numbers_in(version: &str) -> Option<usize> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let numbers = version.split(['-', '+']).next()?.split('.');
    let are_numbers = numbers
        .clone()
        .all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()));
    are_numbers.then(|| numbers.count())
}

/// The location of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartSource {
    /// A chart in the tree.
    Folder(Arc<ChartFolder>),
    /// A chart that is not in the tree.
    Remote(RemoteChart),
}

/// Values of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// YAML or JSON.
    Text(Arc<str>),
    /// A file of the chart, relative to its folder.
    InChart(String),
}

/// The input of a rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartCall {
    /// The location of the chart.
    pub source: ChartSource,
    /// The name of the release.
    pub release: String,
    /// The namespace of the release; empty where none is given.
    pub namespace: String,
    /// Values that replace the chart's own; if empty, the chart's own are used.
    pub base_values: Vec<Values>,
    /// Further values; later ones override earlier ones.
    pub values: Vec<Values>,
    /// Further options of `helm template`.
    pub options: Vec<String>,
    /// Files that options name: index 0 is written as `file-0` to the folder in which helm runs.
    pub files: Vec<Arc<str>>,
    /// The files of the tree that determine the output, besides those of the chart folder.
    pub inputs: BTreeSet<String>,
}

impl ChartCall {
    /// Creates a call with the chart's own values.
    pub fn new(
        source: ChartSource,
        release: impl Into<String>,
        namespace: impl Into<String>,
    ) -> Self {
        Self {
            source,
            release: release.into(),
            namespace: namespace.into(),
            base_values: Vec::new(),
            values: Vec::new(),
            options: Vec::new(),
            files: Vec::new(),
            inputs: BTreeSet::new(),
        }
    }

    /// Adds the option `--set-file=KEY=FILE`, where FILE contains `text`.
    pub fn set_file(&mut self, key: &str, text: Arc<str>) {
        let place = self.files.len();
        self.options.push(format!("--set-file={key}=file-{place}"));
        self.files.push(text);
    }

    /// Returns its id: a digest of the chart and of everything that is passed to `helm template`.
    pub fn id(&self) -> CallId {
        let digest = match &self.source {
            ChartSource::Folder(folder) => Digest::new().and("folder").and(&folder.digest),
            ChartSource::Remote(chart) => Digest::new().and("remote").and_all(chart.words()),
        };
        let mut digest = digest.and(&self.release).and(&self.namespace);
        for list in [&self.base_values, &self.values] {
            digest = digest.and("values");
            for values in list {
                digest = match values {
                    Values::Text(text) => digest.and(&**text),
                    Values::InChart(path) => digest.and("in the chart").and(path),
                };
            }
        }
        let digest = digest.and("options").and_all(&self.options);
        let files = self.files.iter().map(|text| text.as_bytes());
        CallId(Arc::from(digest.and("files").and_all(files).finish()))
    }

    /// Returns the name of the chart and its version.
    pub fn title(&self) -> (&str, &str) {
        match &self.source {
            ChartSource::Folder(folder) => folder.title(),
            ChartSource::Remote(chart) if chart.name.is_empty() => {
                let name = chart.url.rsplit('/').next();
                (name.unwrap_or_default(), &chart.version)
            }
            ChartSource::Remote(chart) => (&chart.name, &chart.version),
        }
    }

    /// Returns the folder of the chart, if it is in the tree.
    pub fn folder(&self) -> Option<&str> {
        match &self.source {
            ChartSource::Folder(folder) => folder.folders.first().map(String::as_str),
            ChartSource::Remote(_) => None,
        }
    }

    /// Returns the files and folders of the tree that determine the output.
    pub fn places(&self) -> BTreeSet<String> {
        let mut all = self.inputs.clone();
        if let ChartSource::Folder(folder) = &self.source {
            all.extend(folder.folders.iter().cloned());
        }
        all
    }
}

/// Whether a template's path leads into the `crds/` folder of a chart, or of one of its subcharts.
pub fn in_crds_folder(template: &str) -> bool {
    let mut folders = template.split('/').rev().skip(1);
    // `templates/crds/` is rendered like every other template.
    folders.clone().any(|folder| folder == "crds") && folders.all(|folder| folder != "templates")
}

/// Returns the template of each document of a file, with the document's start. Helm names the template before every
/// document; a file of `crds/` is copied after one such comment, even if it has several documents.
pub fn templates_of(file: &SourceFile) -> Vec<TemplateMark> {
    let mut documents = file.template_marks().to_vec();
    let mut copied = None;
    for (_, template) in &mut documents {
        if let Some(named) = *template {
            copied = Some(named).filter(|named| in_crds_folder(file.slice(*named)));
        }
        *template = template.or(copied);
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::RemoteChart;

    fn at(url: &str, version: &str) -> RemoteChart {
        RemoteChart {
            url: url.to_owned(),
            version: version.to_owned(),
            ..RemoteChart::default()
        }
    }

    #[test]
    fn host_is_read_from_https_and_oci_urls() {
        for (url, host) in [
            ("https://charts.example.org/stable", "charts.example.org"),
            ("oci://user:word@localhost:5000/web", "localhost:5000"),
        ] {
            assert_eq!(at(url, "").host(), Some(host));
        }
        for url in ["file:///etc", "s3://bucket/web", "https://"] {
            assert_eq!(at(url, "").host(), None, "{url}");
        }
    }

    #[test]
    fn version_ranges_are_not_fixed() {
        for fixed in ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+build", "sha256:aa"] {
            assert!(at("", fixed).is_fixed(), "{fixed}");
        }
        for floating in ["", "*", "1.2", "1.x.x", "~1.2.3", ">=1.2.3", "1.2.3 - 2"] {
            assert!(!at("", floating).is_fixed(), "{floating}");
        }
    }
}
