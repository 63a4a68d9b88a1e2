//! Names of keys and variables that contain credentials.

/// Endings of the last word in keys of credentials.
const ENDS: [&str; 9] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credentials",
];

/// Last words in keys of credentials.
const WORDS: [&str; 6] = ["pwd", "pass", "authorization", "bearer", "dsn", "psk"];

/// Last two words in keys of credentials.
const PAIRS: [(&[&str], &str); 3] = [
    (
        &[
            "access",
            "account",
            "api",
            "auth",
            "encryption",
            "hmac",
            "license",
            "master",
            "private",
            "secret",
            "session",
            "shared",
            "signing",
            "ssh",
            "storage",
            "tls",
        ],
        "key",
    ),
    (&["connection", "conn"], "string"),
    (
        &[
            "api", "app", "client", "consumer", "cookie", "csrf", "hmac", "hook", "jwt", "master",
            "oauth", "oidc", "session", "shared", "signing", "webhook",
        ],
        "secret",
    ),
];

/// Words that may follow the words for a credential, and describe its encoding.
const SUFFIXES: [&str; 6] = ["base64", "b64", "encoded", "hash", "plain", "value"];

/// Whether a key or variable of this name usually contains a credential.
pub(super) fn is_credential(name: &str) -> bool {
    let words = words(name);
    let kept = words.iter().rposition(|word| {
        !SUFFIXES.contains(&word.as_str()) && !word.bytes().all(|b| b.is_ascii_digit())
    });
    let Some(last) = kept.map(|at| words[at].trim_end_matches(|c: char| c.is_ascii_digit())) else {
        return false;
    };
    let before = kept
        .and_then(|at| at.checked_sub(1))
        .map(|at| words[at].as_str());
    // `TLS_SECRET` is a variable with a secret, `tlsSecret` the name of a Secret.
    let is_variable = !name.contains(|c: char| c.is_ascii_lowercase());
    ENDS.iter().any(|end| last.ends_with(end))
        || WORDS.contains(&last)
        || PAIRS.iter().any(|(firsts, second)| {
            last == *second && before.is_some_and(|before| firsts.contains(&before))
        })
        || (last == "secret" && (is_variable || before.is_none()))
}

/// Splits a name into lower-case words: `dbPassword`, `DB_PASSWORD` and `db.password` have the same two.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<char> = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let is_after_letter = before.is_some_and(|c| c.is_ascii_alphanumeric());
        let is_beside_lower = before.is_some_and(|c| c.is_ascii_lowercase())
            || chars.peek().is_some_and(|c| c.is_ascii_lowercase());
        let begins = !is_after_letter || c.is_ascii_uppercase() && is_beside_lower;
        if c.is_ascii_alphanumeric() {
            let c = c.to_ascii_lowercase();
            match words.last_mut() {
                Some(word) if !begins => word.push(c),
                _ => words.push(c.to_string()),
            }
        }
        before = Some(c);
    }
    words
}
