//! The build environment of an Application (argo-cd reposerver/repository/repository.go, newEnv;
//! pkg/apis/application/v1alpha1/types.go, Envsubst; Go's os.Expand).

use super::application::Application;
use crate::graph::node::Node;

/// The prefix of the variables whose values only Argo CD knows. They stay as they are written.
pub(super) const REVISION: &str = "ARGOCD_APP_REVISION";

/// The one-character names of the shell's special variables.
const SPECIAL: &str = "*#$@!?-0123456789";

/// The variables of one source of an Application.
pub(super) struct Environment {
    values: [(&'static str, String); 6],
}

impl Environment {
    /// Returns the variables for a source. `namespace` is that of the destination.
    pub(super) fn new(application: &Application, source: &Node, namespace: &str) -> Self {
        let project = application.node.text_at(&["spec", "project"]);
        let [url, path, revision] = ["repoURL", "path", "targetRevision"]
            .map(|key| source.text_at(&[key]).unwrap_or_default());
        Self {
            values: [
                ("ARGOCD_APP_NAME", application.name.clone()),
                ("ARGOCD_APP_NAMESPACE", namespace.to_owned()),
                (
                    "ARGOCD_APP_PROJECT_NAME",
                    project.unwrap_or_else(|| "default".to_owned()),
                ),
                ("ARGOCD_APP_SOURCE_REPO_URL", url),
                ("ARGOCD_APP_SOURCE_PATH", path),
                ("ARGOCD_APP_SOURCE_TARGET_REVISION", revision),
            ],
        }
    }

    /// Replaces `$NAME` and `${NAME}` by values, unknown names by nothing, and `$$` by `$`.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let (name, behind) = variable(after);
            let written = &after[..after.len() - behind.len()];
            let known = self.values.iter().find(|(known, _)| Some(*known) == name);
            match name {
                // A dollar sign before another one, or before anything but a name.
                Some("$") | None => out.push('$'),
                Some(name) if name.starts_with(REVISION) => out.extend(["$", written]),
                Some(_) => out.push_str(known.map_or("", |(_, value)| value)),
            }
            rest = behind;
        }
        out.push_str(rest);
        out
    }
}

/// Splits the name of a variable off the text after its dollar sign. An invalid `${` counts as an unknown name.
fn variable(text: &str) -> (Option<&str>, &str) {
    if let Some(braced) = text.strip_prefix('{') {
        return match braced.find('}') {
            Some(end) => (Some(&braced[..end]), &braced[end + 1..]),
            None => (Some(""), braced),
        };
    }
    let special = text.starts_with(|c| SPECIAL.contains(c)).then_some(1);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    match special.or(end).unwrap_or(text.len()) {
        0 => (None, text),
        end => (Some(&text[..end]), &text[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::files::parse_inline;
    use crate::graph::kustomize::Resource;

    /// Compares with `Env.Envsubst` of Argo CD 3.5.1.
    #[test]
    fn variables_are_replaced_as_in_argo_cd() {
        let parsed = parse_inline(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\n\
             metadata: {name: web, namespace: argocd}\n\
             spec: {source: {repoURL: 'https://a.b', path: apps/web}}\n",
        );
        let node = parsed.documents[0].clone();
        let source = node.at(&["spec", "source"]).expect("a source");
        let resource = Resource::written(node, &"a.yaml".into(), 1).expect("an object");
        let application = Application::from_resource(&resource).expect("an Application");
        let environment = Environment::new(&application, &source, "shop");
        for (text, expected) in [
            ("$ARGOCD_APP_NAME", "web"),
            ("a-${ARGOCD_APP_NAMESPACE}-b", "a-shop-b"),
            (
                "$ARGOCD_APP_PROJECT_NAME/$ARGOCD_APP_SOURCE_PATH",
                "default/apps/web",
            ),
            ("<$ARGOCD_APP_SOURCE_TARGET_REVISION>", "<>"),
            ("$ARGOCD_APP_NAMES", ""),
            ("$UNKNOWN-${OTHER}x", "-x"),
            ("$$ARGOCD_APP_NAME", "$ARGOCD_APP_NAME"),
            ("$", "$"),
            ("a$", "a$"),
            ("$-a", "a"),
            ("$1a", "a"),
            ("$.a", "$.a"),
            ("$ a", "$ a"),
            ("${", ""),
            ("${}a", "a"),
            ("${a", "a"),
            ("${-}b", "b"),
            ("${ab-c}d", "d"),
            ("${*}", ""),
            ("${$}", "$"),
            ("$${ARGOCD_APP_NAME}", "${ARGOCD_APP_NAME}"),
            ("${ARGOCD_APP_NAME", "ARGOCD_APP_NAME"),
            ("$é", "$é"),
            ("100$%", "100$%"),
            ("${1a}b", "b"),
            ("${ARGOCD_APP_NAME}}", "web}"),
            ("{$ARGOCD_APP_NAME}", "{web}"),
            // Only Argo CD knows the revision.
            (
                "$ARGOCD_APP_REVISION-${ARGOCD_APP_REVISION_SHORT}",
                "$ARGOCD_APP_REVISION-${ARGOCD_APP_REVISION_SHORT}",
            ),
        ] {
            assert_eq!(environment.expand(text), expected, "{text}");
        }
    }
}
