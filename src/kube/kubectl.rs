//! `kubectl` command lines, the only place that writes them.
//!
//! Names come from the manifests of strangers, and readers paste what they read: every word is quoted for a POSIX shell,
//! none can become an option, and none can end the line. No name that the API server accepts contains a character that
//! would do that, or control a terminal; such characters are replaced by pictures, and the command finds nothing.
//!
//! A finalizer is removed by a JSON patch that first tests that it is still at its index, so a list that has changed in the
//! meantime never loses another one.

use super::{Namespace, ObjectKey, kinds};
use crate::text::plain;

/// Which object a command is about.
#[derive(Clone, Debug)]
pub struct Target {
    /// `TYPE NAME`, or `TYPE/NAME`.
    words: Vec<String>,
}

impl Target {
    /// The object of a resource type such as `Widget.example.com`, `deployments.apps` or `pod`. What only the cluster knows,
    /// a generated name or an unwritten namespace, is a placeholder in capitals.
    pub fn new(resource: impl Into<String>, name: &str, namespace: &Namespace) -> Self {
        let resource = resource.into();
        // No type begins with a dash; one that does would be read as an option.
        let resource = resource.trim_start_matches('-').to_owned();
        let name = if name.is_empty() || name.ends_with('*') { "NAME" } else { name };
        let mut words = match name.starts_with('-') {
            true => vec![format!("{resource}/{name}")],
            false => vec![resource, name.to_owned()],
        };
        match namespace {
            Namespace::None => {}
            Namespace::Unwritten => words.extend(["-n", "NAMESPACE"].map(str::to_owned)),
            Namespace::Named(namespace) => words.extend(["-n".to_owned(), namespace.clone()]),
        }
        Self { words }
    }
}

/// The object of a key.
impl From<&ObjectKey> for Target {
    fn from(key: &ObjectKey) -> Self {
        Self::new(key.group_kind().to_string(), &key.name, &key.namespace)
    }
}

/// `kubectl delete …`, with further options.
pub fn delete(target: &Target, options: &[&str]) -> String {
    command("delete", target, options)
}

/// Removes the finalizers `remove` of an object whose list is `stored`.
pub fn remove_finalizers<S: AsRef<str>>(target: &Target, stored: &[S], remove: &[String]) -> String {
    let doomed = stored.iter().map(S::as_ref).enumerate().filter(|(_, name)| remove.iter().any(|one| one == name));
    // From the end: removing one moves those after it.
    remove_entries(target, doomed.rev())
}

/// Removes the one finalizer at an index of the list.
pub fn remove_finalizer(target: &Target, index: usize, finalizer: &str) -> String {
    remove_entries(target, [(index, finalizer)].into_iter())
}

fn remove_entries<'a>(target: &Target, doomed: impl Iterator<Item = (usize, &'a str)>) -> String {
    let operations = doomed.map(|(at, name)| {
        let path = format!("/metadata/finalizers/{at}");
        let value = json(name);
        format!(r#"{{"op":"test","path":"{path}","value":{value}}},{{"op":"remove","path":"{path}"}}"#)
    });
    let patch = format!("[{}]", operations.collect::<Vec<_>>().join(","));
    command("patch", target, &["--type=json", "-p", &patch])
}

/// Removes a token from the `spec.finalizers` of a Namespace; only its subresource accepts that.
pub fn remove_spec_finalizer(namespace: &str, token: &str) -> String {
    let target = Target::new(kinds::NAMESPACE.kind.to_lowercase(), namespace, &Namespace::None);
    let name = if namespace.is_empty() { "NAME" } else { namespace };
    format!(
        "{} | {} | {}",
        command("get", &target, &["-o", "json"]),
        line(["jq", &format!("del(.spec.finalizers[] | select(. == {}))", json(token))]),
        line(["kubectl", "replace", "--raw", &format!("/api/v1/namespaces/{name}/finalize"), "-f", "-"]),
    )
}

fn command(verb: &str, target: &Target, options: &[&str]) -> String {
    let words = target.words.iter().map(String::as_str);
    line(["kubectl", verb].into_iter().chain(words).chain(options.iter().copied()))
}

/// Words as a line of shell.
fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    // An option like `--type=json` is our own text; shlex would quote its equals sign.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '=');
    let quoted = words.into_iter().map(|word| {
        if word.starts_with("--") && word.chars().all(is_plain) {
            return word.to_owned();
        }
        let word = plain::visible(word).replace('\t', "␉");
        // Fails for NUL only, which is a picture by now.
        shlex::try_quote(&word).map(|word| word.into_owned()).unwrap_or_default()
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A JSON string in plain ASCII: whatever it contains, it is one visible line.
fn json(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            ' '..='~' => json.push(c),
            _ => json.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
        }
    }
    json.push('"');
    json
}
