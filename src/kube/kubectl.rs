//! Builds `kubectl` command lines.
//!
//! Names come from untrusted manifests, and readers paste the commands: every word is quoted (see [`shell`]), and none
//! can become an option.
//!
//! A finalizer in metadata is removed by a JSON patch that first tests that it is still at its
//! index: if the list has changed in the meantime, the patch fails instead of removing another one.
//! Only a long list is emptied without this test.

use foldhash::HashSet;

use super::{Namespace, ObjectKey, kinds, shell};

/// The object of a command.
#[derive(Clone, Debug)]
pub struct Target {
    resource: String,
    name: String,
    /// The argument of `-n`.
    namespace: Option<String>,
}

impl Target {
    /// Creates a target from a resource type such as `Widget.example.com`, `deployments.apps` or `pod`. A value that
    /// only the cluster knows (a generated name such as `web-<hash>`, a variable such as `${NAME}`, an unwritten
    /// namespace) becomes a placeholder in capitals.
    pub fn new(resource: impl Into<String>, name: &str, namespace: &Namespace) -> Self {
        let resource = resource.into();
        // No valid type begins with a dash; one that does would be read as an option.
        let resource = resource.trim_start_matches('-').to_owned();
        let name = if name.is_empty() || name.ends_with('*') || has_placeholder(name) {
            "NAME"
        } else {
            name
        };
        let namespace = match namespace {
            Namespace::None => None,
            Namespace::Named(namespace) if !has_placeholder(namespace) => {
                Some(namespace.to_string())
            }
            Namespace::Named(_) | Namespace::Unwritten => Some("NAMESPACE".to_owned()),
        };
        Self {
            resource,
            name: name.to_owned(),
            namespace,
        }
    }
}

/// Whether part of a name is unknown, as in `web-<hash>` and `${NAME}`.
fn has_placeholder(name: &str) -> bool {
    name.contains("-<") || name.contains("${")
}

/// Returns the arguments for objects of one namespace: `TYPE NAME NAME -n NAMESPACE`, or `TYPE/NAME` if types differ or
/// a name would be read as an option.
fn words(targets: &[Target]) -> Vec<String> {
    let Some(first) = targets.first() else {
        return Vec::new();
    };
    let alike = targets
        .iter()
        .all(|target| target.resource == first.resource && !target.name.starts_with('-'));
    let mut words = Vec::new();
    if alike {
        words.push(first.resource.clone());
        words.extend(targets.iter().map(|target| target.name.clone()));
    } else {
        let each = targets.iter();
        words.extend(each.map(|target| format!("{}/{}", target.resource, target.name)));
    }
    if let Some(namespace) = targets.iter().find_map(|target| target.namespace.clone()) {
        words.extend(["-n".to_owned(), namespace]);
    }
    words
}

/// Creates the target for a key.
impl From<&ObjectKey> for Target {
    fn from(key: &ObjectKey) -> Self {
        Self::new(key.group_kind().to_string(), &key.name, &key.namespace)
    }
}

/// Returns `kubectl delete …`, with further options.
pub fn delete(target: &Target, options: &[&str]) -> String {
    command("delete", target, options)
}

/// Returns `kubectl delete …` for objects of one namespace.
pub fn delete_several(targets: &[Target], options: &[&str]) -> String {
    on_several("delete", targets, options)
}

/// Returns `kubectl delete … --all` for every object of the kinds of `targets` in their namespace.
pub fn delete_every(targets: &[Target], options: &[&str]) -> String {
    let mut resources: Vec<&str> = targets
        .iter()
        .map(|target| target.resource.as_str())
        .collect();
    resources.sort_unstable();
    resources.dedup();
    let resources = resources.join(",");
    let mut words = vec!["kubectl", "delete", &resources, "--all"];
    let mut namespaces = targets
        .iter()
        .filter_map(|target| target.namespace.as_deref());
    if let Some(namespace) = namespaces.next() {
        words.extend(["-n", namespace]);
    }
    words.extend(options);
    shell::line(words)
}

/// Returns `kubectl annotate …` for objects of one namespace; `annotation` is `key=value`.
pub fn annotate(targets: &[Target], annotation: &str) -> String {
    on_several("annotate", targets, &[annotation, "--overwrite"])
}

/// Returns `kubectl delete -f …`.
pub fn delete_files(paths: &[String], options: &[&str]) -> String {
    let mut words = vec!["kubectl", "delete"];
    words.extend(paths.iter().flat_map(|path| ["-f", path.as_str()]));
    words.extend(options);
    shell::line(words)
}

/// From this many finalizers on, a patch that removes all of them clears the list without naming them.
const MANY_FINALIZERS: usize = 20;

/// Returns a command that removes the finalizers `remove` of an object whose list is `stored`.
pub fn remove_finalizers<S: AsRef<str>>(
    target: &Target,
    stored: &[S],
    remove: &[String],
) -> String {
    let remove: HashSet<&str> = remove.iter().map(String::as_str).collect();
    let doomed = stored
        .iter()
        .map(S::as_ref)
        .enumerate()
        .filter(|(_, name)| remove.contains(name));
    if stored.len() >= MANY_FINALIZERS && doomed.clone().count() == stored.len() {
        return command(
            "patch",
            target,
            &["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#],
        );
    }
    // From the end, because a removal shifts the later indexes.
    remove_entries(target, doomed.rev())
}

/// Returns a command that removes the finalizer at `index` of the list.
pub fn remove_finalizer(target: &Target, index: usize, finalizer: &str) -> String {
    remove_entries(target, [(index, finalizer)].into_iter())
}

fn remove_entries<'a>(target: &Target, doomed: impl Iterator<Item = (usize, &'a str)>) -> String {
    let operations = doomed.map(|(at, name)| {
        let path = format!("/metadata/finalizers/{at}");
        let value = json(name);
        format!(
            r#"{{"op":"test","path":"{path}","value":{value}}},{{"op":"remove","path":"{path}"}}"#
        )
    });
    let patch = format!("[{}]", operations.collect::<Vec<_>>().join(","));
    command("patch", target, &["--type=json", "-p", &patch])
}

/// Returns a command that removes a token from the `spec.finalizers` of a Namespace. Only the subresource `finalize`
/// accepts that.
pub fn remove_spec_finalizer(namespace: &str, token: &str) -> String {
    let target = Target::new(
        kinds::NAMESPACE.kind.to_lowercase(),
        namespace,
        &Namespace::None,
    );
    let get = command("get", &target, &["-o", "json"]);
    let filter = format!("del(.spec.finalizers[] | select(. == {}))", json(token));
    let filter = shell::line(["jq", &filter]);
    let path = format!("/api/v1/namespaces/{}/finalize", target.name);
    let replace = shell::line(["kubectl", "replace", "--raw", &path, "-f", "-"]);
    format!("{get} | {filter} | {replace}")
}

fn command(verb: &str, target: &Target, options: &[&str]) -> String {
    on_several(verb, std::slice::from_ref(target), options)
}

fn on_several(verb: &str, targets: &[Target], options: &[&str]) -> String {
    let on = words(targets);
    let mut words = vec!["kubectl", verb];
    words.extend(on.iter().map(String::as_str));
    words.extend(options);
    shell::line(words)
}

/// Returns a JSON string in plain ASCII, so that any content is one visible line.
fn json(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            ' '..='~' => json.push(c),
            _ => json.extend(
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .map(|unit| format!("\\u{unit:04x}")),
            ),
        }
    }
    json.push('"');
    json
}
