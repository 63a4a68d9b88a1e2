//! Runs the user's `helm`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use regex::bytes::Regex;
use walkdir::WalkDir;

use super::call::{ChartCall, RemoteChart, Values};
use crate::render::{RenderCommand, RenderError, on_path};

/// The default time limit for fetching a chart.
const PULL_TIMEOUT: Duration = Duration::from_secs(120);

/// Matches a template action with a function whose result differs between renderings (Masterminds/sprig functions.go).
static RANDOM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let functions = "rand(Alpha|AlphaNum|Numeric|Ascii|Int|Bytes)|shuffle|uuidv4|now|getHostByName|htpasswd|bcrypt|encryptAES\
                     |genPrivateKey|genCA|genCAWithKey|genSelfSignedCert|genSelfSignedCertWithKey|genSignedCert|genSignedCertWithKey";
    let pattern = format!(r"(?-u)\{{\{{(?:[^}}]*[^A-Za-z0-9_.$}}])?({functions})[^A-Za-z0-9_]");
    Regex::new(&pattern).ok()
});

#[derive(Clone, Debug)]
pub(super) struct Helm {
    program: String,
    /// The identity of the program: its path, size and modification time.
    pub(super) identity: String,
    timeout: Option<Duration>,
}

impl Helm {
    /// Finds `helm` on the PATH; fails if there is none.
    pub(super) fn find(timeout: Option<Duration>) -> Result<Self, RenderError> {
        let program = on_path("helm").ok_or(RenderError::NoHelm)?;
        let program = program.canonicalize().unwrap_or(program);
        let about = program.metadata().map_err(|error| RenderError::NotRun {
            command: program.display().to_string(),
            reason: error.to_string(),
        })?;
        let modified = about.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            identity: format!("{} {} {modified:?}", program.display(), about.len()),
            program: program.display().to_string(),
            timeout,
        })
    }

    /// Renders the chart in the folder `chart`; `home` is empty. Fails with helm's message.
    pub(super) fn template(
        &self,
        call: &ChartCall,
        chart: &Path,
        home: &Path,
        kubernetes: &str,
    ) -> Result<String, String> {
        if call.release.is_empty() || call.release.starts_with('-') {
            return Err(format!("`{}` is not a valid release name", call.release));
        }
        let mut arguments = vec![
            self.program.clone(),
            "template".to_owned(),
            call.release.clone(),
            chart.display().to_string(),
        ];
        if !call.namespace.is_empty() {
            arguments.push(format!("--namespace={}", call.namespace));
        }
        for (at, values) in call.base_values.iter().chain(&call.values).enumerate() {
            let file = match values {
                Values::Text(text) => {
                    let file = home.join(format!("values-{at}.yaml"));
                    std::fs::write(&file, &**text).map_err(|error| error.to_string())?;
                    file
                }
                Values::InChart(path) => inside(chart, path)?,
            };
            arguments.push(format!("--values={}", file.display()));
        }
        for (at, text) in call.files.iter().enumerate() {
            std::fs::write(home.join(format!("file-{at}")), &**text)
                .map_err(|error| error.to_string())?;
        }
        // helm uses the last one of a repeated option, so an option of the call overrides this one.
        arguments.push(format!("--kube-version={kubernetes}"));
        arguments.extend(call.options.iter().cloned());
        let command = RenderCommand {
            arguments,
            timeout: self.timeout.unwrap_or(RenderCommand::TIMEOUT),
        };
        let printed = command.output(home, home).map_err(message)?;
        String::from_utf8(printed).map_err(|_| "the output of helm is not UTF-8".to_owned())
    }

    /// Fetches a chart into the folder `into`, and unpacks it. The folder `without_plugins` has no
    /// plugins of helm. Fails with helm's message.
    pub(super) fn pull(
        &self,
        chart: &RemoteChart,
        into: &Path,
        without_plugins: &Path,
    ) -> Result<(), String> {
        let RemoteChart {
            url,
            name,
            version,
            is_plain,
        } = chart;
        let mut arguments = vec![self.program.clone(), "pull".to_owned()];
        let (is_oci, is_digest) = (url.starts_with("oci://"), version.starts_with("sha256:"));
        match (is_oci, is_digest) {
            (true, true) => arguments.push(format!("{url}@{version}")),
            (true, false) => arguments.push(url.clone()),
            (false, _)
                if name.is_empty() || name.starts_with('-') || name.contains(['/', '\\']) =>
            {
                return Err(format!("`{name}` is not a valid chart name"));
            }
            (false, _) => arguments.extend([name.clone(), format!("--repo={url}")]),
        }
        if !version.is_empty() && !is_digest {
            arguments.push(format!("--version={version}"));
        }
        arguments.extend(is_plain.then(|| "--plain-http".to_owned()));
        arguments.extend([
            "--untar".to_owned(),
            format!("--untardir={}", into.display()),
        ]);
        let command = RenderCommand {
            arguments,
            timeout: self.timeout.unwrap_or(PULL_TIMEOUT),
        };
        let plugins = without_plugins.join("plugins");
        let printed = command.output_as_user(into, &[("HELM_PLUGINS", &plugins)]);
        printed.map(drop).map_err(pull_message)
    }
}

/// Returns the path of a file of a chart; an error if it is missing or outside of the chart.
fn inside(chart: &Path, path: &str) -> Result<PathBuf, String> {
    let chart = chart.canonicalize().map_err(|error| error.to_string())?;
    let file = chart.join(path).canonicalize();
    let file = file.map_err(|_| format!("the chart has no file {path}"))?;
    if file.starts_with(&chart) {
        Ok(file)
    } else {
        Err(format!("{path} is outside of the chart"))
    }
}

/// The prefix of the message with which helm itself rejects a chart.
pub(super) const REJECTION_PREFIX: &str = "helm: ";

/// The advice at the end of some messages of helm, which is removed: users cannot add the option.
const USE_DEBUG: &str = "Use --debug flag to render out invalid YAML";

/// Returns the message of helm, in one line.
fn message(error: RenderError) -> String {
    match error {
        RenderError::Failed { outcome, said, .. } => {
            let said = said.trim_start_matches([':', ' ']);
            let said = said.strip_prefix("Error: ").unwrap_or(said);
            let (said, _) = said.split_once(USE_DEBUG).unwrap_or((said, ""));
            let said = said.trim_end_matches([';', ' ']);
            if said.is_empty() {
                format!("helm {outcome}")
            } else {
                format!("{REJECTION_PREFIX}{said}")
            }
        }
        RenderError::TimedOut { seconds, .. } => {
            format!("helm did not finish within {seconds} s")
        }
        RenderError::TooLong { mebibytes, .. } => format!("helm prints more than {mebibytes} MiB"),
        other => other.to_string(),
    }
}

/// Returns the message of `helm pull`, without [`REJECTION_PREFIX`]: helm does not reject the chart.
fn pull_message(error: RenderError) -> String {
    message(error).replacen(REJECTION_PREFIX, "helm pull: ", 1)
}

/// Whether two renderings of a chart may differ: it has a random function, or an archive.
pub(super) fn may_be_random(chart: &Path) -> bool {
    let entries = WalkDir::new(chart).into_iter().filter_map(Result::ok);
    let mut files = entries.filter(|entry| entry.file_type().is_file());
    files.any(|entry| {
        let path = entry.path();
        // Archives are not opened.
        if path.extension().is_some_and(|ending| ending == "tgz") {
            return true;
        }
        let mut parts = path.components();
        parts.any(|part| part.as_os_str() == "templates")
            && is_random(&std::fs::read(path).unwrap_or_default())
    })
}

fn is_random(template: &[u8]) -> bool {
    RANDOM
        .as_ref()
        .is_none_or(|random| random.is_match(template))
}

/// Copies the files of a folder; links are left out.
pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let Ok(below) = entry.path().strip_prefix(from) else {
            continue;
        };
        let place = to.join(below);
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&place)?;
        } else if entry.file_type().is_file() {
            std::fs::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_random;

    #[test]
    fn random_functions_are_detected_only_in_template_actions() {
        for random in [
            "password: {{ randAlphaNum 10 | b64enc }}",
            "{{- $ca := genCA \"web\" 365 -}}",
            "at: {{now | date \"2006\"}}",
            "{{ printf \"%s-%s\" .Release.Name (uuidv4 ) }}",
        ] {
            assert!(is_random(random.as_bytes()), "{random}");
        }
        for steady in [
            "# now it is random: randAlphaNum",
            "name: {{ .Values.now }}",
            "{{ include \"brand\" . }} now {{ .x }}",
        ] {
            assert!(!is_random(steady.as_bytes()), "{steady}");
        }
    }
}
