//! Kubernetes' requirements for a label key, which is the form of finalizers ([VAL-18]).

/// The maximum length of the name part, in bytes.
const NAME_LIMIT: usize = 63;
/// The maximum length of the prefix, in bytes.
const PREFIX_LIMIT: usize = 253;

const NAME_ERROR: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                          alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                          validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const PREFIX_ERROR: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                            '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
                            used for validation is \
                            '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// Returns the errors of `content.IsLabelKey` (apimachinery, pkg/api/validate/content/kube.go),
/// with its wording and order; empty for a valid key.
pub fn label_key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let name = match key.split_once('/') {
        Some((_, name)) if name.contains('/') => {
            let whole = format!(
                "a valid label key {NAME_ERROR} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            );
            return vec![whole];
        }
        Some((prefix, name)) => {
            let in_prefix = prefix_errors(prefix).into_iter();
            errors.extend(in_prefix.map(|error| format!("prefix part {error}")));
            name
        }
        None => key,
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_LIMIT {
        errors.push(format!("name part must be no more than {NAME_LIMIT} bytes"));
    }
    if !is_name(name) {
        errors.push(format!("name part {NAME_ERROR}"));
    }
    errors
}

fn prefix_errors(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["must be non-empty".to_owned()];
    }
    let mut errors = Vec::new();
    if prefix.len() > PREFIX_LIMIT {
        errors.push(format!("must be no more than {PREFIX_LIMIT} bytes"));
    }
    if !prefix.split('.').all(is_dns_label) {
        errors.push(PREFIX_ERROR.to_owned());
    }
    errors
}

/// Whether a namespace can have this name: `ValidateNamespaceName` (apimachinery, pkg/api/validation/generic.go)
/// requires a DNS label.
pub fn is_namespace_name(name: &str) -> bool {
    name.len() <= NAME_LIMIT && is_dns_label(name)
}

fn is_name(name: &str) -> bool {
    has_form(name, |c| c.is_ascii_alphanumeric(), "-_.")
}

fn is_dns_label(label: &str) -> bool {
    has_form(label, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), "-")
}

/// Whether a text begins and ends with an allowed character, and has only these and `inner` ones in between.
fn has_form(text: &str, is_allowed: fn(char) -> bool, inner: &str) -> bool {
    text.starts_with(is_allowed)
        && text.ends_with(is_allowed)
        && text.chars().all(|c| is_allowed(c) || inner.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_key_may_have_a_domain_prefix() {
        let long = "a".repeat(63);
        let domain = format!("{}.example", "a".repeat(245));
        for good in [
            "a",
            "kubernetes",
            "foregroundDeletion",
            "example.com/Hold",
            "example/a_b.c",
            "1/2",
            &long,
        ] {
            assert_eq!(label_key_errors(good), [""; 0], "{good}");
        }
        assert_eq!(label_key_errors(&format!("{domain}/{long}")), [""; 0]);
    }

    fn assert_starts(key: &str, wanted: &[&str]) {
        let errors = label_key_errors(key);
        assert_eq!(errors.len(), wanted.len(), "{key}: {errors:?}");
        for (error, wanted) in errors.iter().zip(wanted) {
            assert!(error.starts_with(wanted), "{key}: {error}");
        }
    }

    #[test]
    fn invalid_label_keys_give_the_messages_of_kubernetes() {
        let rule = "name part must consist of";
        assert_starts("", &["name part must be non-empty", rule]);
        assert_starts(
            "/",
            &[
                "prefix part must be non-empty",
                "name part must be non-empty",
                rule,
            ],
        );
        assert_starts("a/b/c", &["a valid label key must consist of"]);
        assert_starts(
            &"a".repeat(64),
            &["name part must be no more than 63 bytes"],
        );
        assert_starts(
            &format!("{}/a", "a".repeat(254)),
            &["prefix part must be no more than 253 bytes"],
        );
        assert_starts("a..b/c", &["prefix part a lowercase RFC 1123 subdomain"]);
        assert_starts("-a", &[rule]);
        assert_starts("a.", &[rule]);
        assert_starts("ü", &[rule]);
        assert_starts("a\n", &[rule]);
    }

    #[test]
    fn namespace_name_must_be_a_dns_label() {
        for good in ["shop", "a-1", "1", &"a".repeat(63)] {
            assert!(is_namespace_name(good), "{good}");
        }
        for bad in [
            "",
            "Shop",
            "shop_x",
            "-shop",
            "shop-",
            "a.b",
            "a/b",
            &"a".repeat(64),
        ] {
            assert!(!is_namespace_name(bad), "{bad}");
        }
    }
}
