//! Guesses of a kind's plural.

/// Guesses the plural of a kind, the likeliest first and at least one. Only for kinds without a
/// CustomResourceDefinition at hand and without a row in the built-in table, both of which state the plural.
///
/// Code generators differ: for `Gateway`, apimachinery's `UnsafeGuessKindToResource` gives `gatewaies`, and
/// controller-gen, which uses github.com/gobuffalo/flect, does not.
pub fn guessed_plurals(kind: &str) -> Vec<String> {
    let mut guesses = vec![likeliest_plural(kind)];
    let singular = kind.to_lowercase();
    let ies = singular.strip_suffix('y').map(|stem| format!("{stem}ies"));
    for guess in ies
        .into_iter()
        .chain([format!("{singular}s"), format!("{singular}es"), singular])
    {
        if !guesses.contains(&guess) {
            guesses.push(guess);
        }
    }
    guesses
}

/// Returns the plural that most kinds with this ending have: the first of [`guessed_plurals`].
/// After `ch`, `sh` and `z`, it follows controller-gen.
pub fn likeliest_plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    match singular.as_bytes() {
        [.., b's' | b'x'] | [.., b'c' | b's', b'h'] | [.., b't' | b'z', b'z'] => {
            format!("{singular}es")
        }
        [.., b'e' | b'i', b'z'] => format!("{singular}zes"),
        [.., b'a' | b'e' | b'o' | b'u', b'y'] => format!("{singular}s"),
        [start @ .., b'y'] => format!("{}ies", String::from_utf8_lossy(start)),
        _ => format!("{singular}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_plural_comes_first() {
        for (kind, plural) in [
            ("Widget", "widgets"),
            ("Gateway", "gateways"),
            ("NetworkPolicy", "networkpolicies"),
            ("Ingress", "ingresses"),
            ("Mailbox", "mailboxes"),
            ("Mesh", "meshes"),
            ("EnvoyPatch", "envoypatches"),
            ("Epoch", "epoches"),
            ("Quartz", "quartzes"),
            ("Quiz", "quizzes"),
            ("Authz", "authzs"),
            ("Graph", "graphs"),
        ] {
            assert_eq!(guessed_plurals(kind)[0], plural);
        }
    }

    #[test]
    fn guesses_include_every_regular_ending() {
        assert_eq!(
            guessed_plurals("Policy"),
            ["policies", "policys", "policyes", "policy"]
        );
        assert_eq!(
            guessed_plurals("Gateway"),
            ["gateways", "gatewaies", "gatewayes", "gateway"]
        );
        assert_eq!(guessed_plurals("Mesh"), ["meshes", "meshs", "mesh"]);
    }
}
