//! Finds credentials in plain text: in the environment of a container, values of a chart, parameters of Argo CD, files
//! inside a ConfigMap.
//!
//! A line is searched when it is shown, together with the lines around it: a value is hidden if its key or the `name`
//! beside it denotes a credential. A reference to a Secret (`secretName`, `passwordKey`) is shown.

mod addresses;
mod names;
mod pairs;

use std::ops::Range;

use self::addresses::in_addresses;
pub(crate) use self::addresses::without_credentials;
use self::names::is_credential;
use self::pairs::{Pair, Pairs};
use super::floor;

/// The number of lines above and below a line that are searched for its context.
const REACH: isize = 100;

/// The longest part of a neighbouring line that is searched, in bytes.
pub(super) const LONGEST: u32 = 1000;

/// The number of bytes of a line that are searched for the name beside a value.
const WINDOW: usize = 1000;

/// Returns the parts of a line that are likely credentials; they may overlap. `line(n)` returns the line `n` lines
/// below it (above: negative); neighbouring lines may be truncated.
pub(super) fn credentials<'t>(line: &impl Fn(isize) -> Option<&'t str>) -> Vec<Range<usize>> {
    let Some(text) = line(0).filter(|text| !text.trim().is_empty()) else {
        return Vec::new();
    };
    if is_in_private_key(text, line) || continues_credential(text, line) {
        let whole = indentation(text)..text.trim_end().len();
        return Vec::from_iter([whole]);
    }
    let mut found = Vec::new();
    let mut pairs = Pairs::new(text);
    while let Some(pair) = pairs.next() {
        // Text inside a mapping or a list has keys of its own.
        if text[pair.value_start..].starts_with(['{', '[']) || !pair.has_credential(text, line) {
            continue;
        }
        let value = pair.value(text);
        pairs.at = pairs.at.max(value.end);
        if is_written_out(&text[value.clone()]) {
            found.push(value);
        }
    }
    found.extend(in_addresses(text));
    found.extend(in_private_key(text));
    found
}

impl Pair<'_> {
    /// Whether the key denotes a credential or, for the key `value`, the `name` beside it.
    fn has_credential<'l>(&self, text: &str, line: &impl Fn(isize) -> Option<&'l str>) -> bool {
        // `val` also covers misspelt keys such as `valu`, which excerpts show.
        if !self.key.starts_with("val") || self.key == "valueFrom" {
            // In an ExternalSecret, `secretKey` contains the name of a key, not a credential.
            return is_credential(self.key)
                && (self.key != "secretKey"
                    || !(-2..=2)
                        .filter_map(line)
                        .any(|near| near.contains("remoteRef") || near.contains("sourceRef")));
        }
        if self.in_flow {
            let before = &text[floor(text, self.key_start.saturating_sub(WINDOW))..self.key_start];
            let after = &text[self.value_start..floor(text, self.value_start + WINDOW)];
            let before = before.rsplit('{').next().and_then(name_in);
            return before
                .or_else(|| after.split('}').next().and_then(name_in))
                .is_some_and(is_credential);
        }
        // A key that is not the first of its line is not a key of a block mapping.
        self.key_start == first_column(text)
            && name_beside(self.key_start, text, line).is_some_and(is_credential)
    }
}

/// Whether a value is literal text, and not a reference, a placeholder or the start of a block.
fn is_written_out(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'', '\\', ' ', ',']);
    let is_word = [
        "true", "false", "null", "~", "", "|", ">", "|-", ">-", "|+", ">+",
    ]
    .contains(&value);
    let is_filled_in = ["${", "$(", "{{"]
        .iter()
        .any(|start| value.starts_with(start));
    let is_placeholder = value.starts_with('<') && value.ends_with('>');
    // After an anchor alone, the value is on the next lines.
    let is_anchor = value.starts_with('&') && !value.contains(' ');
    !is_word && !is_filled_in && !is_placeholder && !is_anchor
}

/// Returns the value of `name` or `key` in a mapping on one line.
fn name_in(text: &str) -> Option<&str> {
    let pair = Pairs::new(text).find(|pair| matches!(pair.key, "name" | "key"))?;
    let value = text[pair.value(text)].split(['}', ',']).next()?;
    Some(value.trim_matches(['"', '\'', ' ']))
}

/// Returns the name in the block mapping whose keys begin at `column`; `text` is one of its lines.
fn name_beside<'t>(
    column: usize,
    text: &str,
    line: &impl Fn(isize) -> Option<&'t str>,
) -> Option<&'t str> {
    // Lines above the first one of a list item belong to another item.
    if !begins_item(text) {
        for above in (-REACH..0).rev().map_while(line) {
            if !above.trim().is_empty() && first_column(above) < column {
                break;
            }
            if let Some(name) = name_at(column, above) {
                return Some(name);
            }
            if begins_item(above) && first_column(above) == column {
                break;
            }
        }
    }
    // The dash of the next item is left of the column.
    let mut item = (1..=REACH).map_while(line).take_while(|below| {
        below.trim().is_empty() || indentation(below) >= column.saturating_sub(1)
    });
    item.find_map(|below| name_at(column, below))
}

fn name_at(column: usize, text: &str) -> Option<&str> {
    if first_column(text) == column {
        name_in(text)
    } else {
        None
    }
}

fn begins_item(text: &str) -> bool {
    text.trim_start().starts_with("- ")
}

fn indentation(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Returns the column of a line's first key: after its blanks, dashes and opening quote.
fn first_column(text: &str) -> usize {
    let mut rest = text.trim_start_matches(' ');
    while let Some(after) = rest.strip_prefix("- ") {
        rest = after.trim_start_matches(' ');
    }
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    text.len() - rest.len()
}

/// Whether a line continues a credential that began above it, in a block scalar or a scalar of several lines.
fn continues_credential<'t>(text: &str, line: &impl Fn(isize) -> Option<&'t str>) -> bool {
    let is_entry = begins_item(text) || first_pair(text).is_some();
    let (mut column, mut is_parent) = (indentation(text), true);
    for at in (-REACH..0).rev() {
        let Some(above) = line(at).filter(|_| column > 0) else {
            return false;
        };
        if above.trim().is_empty() || indentation(above) >= column {
            continue;
        }
        column = indentation(above);
        if let Some(pair) = first_pair(above) {
            let value = above[pair.value_start..].trim();
            let is_block = value.starts_with(['|', '>']);
            let goes_on =
                is_parent && !value.starts_with(['{', '[']) && !(value.is_empty() && is_entry);
            if (is_block || goes_on) && pair.has_credential(above, &|below: isize| line(at + below))
            {
                return true;
            }
        }
        is_parent = false;
    }
    false
}

/// Returns the pair whose key a line begins with, after the dash of a list item.
fn first_pair(text: &str) -> Option<Pair<'_>> {
    let first = Pairs::new(text).next();
    first.filter(|pair| pair.key_start == first_column(text))
}

/// Whether a line belongs to the body of a private key.
fn is_in_private_key<'t>(text: &str, line: &impl Fn(isize) -> Option<&'t str>) -> bool {
    let body = text.trim();
    if !body
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
    {
        return false;
    }
    let mut above = (-REACH..0).rev().map_while(line);
    let mark = above.find(|above| above.contains("-----"));
    mark.is_some_and(|mark| mark.contains("-----BEGIN") && mark.contains("PRIVATE KEY"))
}

/// Returns the body of a private key that is on one line.
fn in_private_key(text: &str) -> Option<Range<usize>> {
    let begin = text
        .find("-----BEGIN ")
        .filter(|at| text[*at..].contains("PRIVATE KEY-----"))?;
    let body = begin + text[begin..].find("KEY-----")? + "KEY-----".len();
    let end = text[body..]
        .find("-----END")
        .map_or(text.len(), |end| body + end);
    Some(body..end)
}

#[cfg(test)]
mod tests {
    use super::{credentials, without_credentials};

    /// Returns the text with an asterisk for each byte of a credential.
    fn shown(text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let shown = (0..lines.len()).map(|at| {
            let mut shown = lines[at].to_owned();
            let found = credentials(&|below| lines.get(at.checked_add_signed(below)?).copied());
            for range in found {
                let stars: String = shown[range.clone()]
                    .chars()
                    .map(|c| if c == ' ' { c } else { '*' })
                    .collect();
                shown.replace_range(range, &stars);
            }
            shown + "\n"
        });
        shown.collect()
    }

    #[test]
    fn users_and_passwords_are_removed_from_urls() {
        for (text, shown) in [
            ("https://bob:a@b@example.com/x", "https://example.com/x"),
            (
                "https://token@example.com:443?ref=a@b",
                "https://example.com:443?ref=a@b",
            ),
            ("ssh://git@example.com/x", "ssh://git@example.com/x"),
            (
                "cannot reach \"https://a:b@c/\", see https://d:e@f.",
                "cannot reach \"https://c/\", see https://f.",
            ),
            ("git@example.com:x", "git@example.com:x"),
            ("https://example.com/a@b", "https://example.com/a@b"),
            (
                "https://x/a//b?access_token=c&ref=v1, d",
                "https://x/a//b?access_token=…&ref=v1, d",
            ),
            (
                "https://x/a?ref=v1&X-Amz-Signature=b#c",
                "https://x/a?ref=v1&X-Amz-Signature=…#c",
            ),
            ("a?token=b", "a?token=b"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }

    #[test]
    fn credentials_are_hidden() {
        for text in [
            "password: MARK\n",
            "  adminPassword: \"MARK\"\n",
            "DB_PASSWORD: 'MARK MARK'\n",
            "DB_PASSWORD: 'it''s MARK'\n",
            "\"apiKey\": \"MARK\",\n",
            "{\"db\": {\"host\": \"x\", \"passwd\": \"MARK\"}, \"a\": 1}\n",
            "client_secret: MARK # MARK\n",
            "aws.secretAccessKey: MARK\n",
            "token: MARK\n",
            "- PASSWORD=MARK\n",
            "args: [--db-password=MARK, --user=web]\n",
            "command: sh -c 'PGPASSWORD=MARK psql'\n",
            "db.password = MARK\n",
            "url: postgres://web:MARK@db:5432/web\n",
            "ConnectionString: Server=db;Password=MARK;User=web\n",
            "env: [{name: DB_PASSWORD, value: MARK}]\n",
            "env: [{value: MARK, name: DB_PASSWORD}]\n",
            "- name: DB_PASSWORD\n  value: MARK\n",
            "- value: MARK\n  name: DB_PASSWORD\n",
            "- name: auth.rootPassword\n  forceString: true\n\n  value: \"MARK\"\n",
            "- {\n    \"name\": \"API_TOKEN\",\n    \"value\": \"MARK\"\n  }\n",
            "- name: TOKEN\n  value: |\n    MARK\n      MARK\n",
            "password: |-\n  MARK\n\n  MARK\n",
            "password:\n  MARK\n",
            "password: \"MARK\n  MARK\"\n",
            "tls.key: |\n  -----BEGIN RSA PRIVATE KEY-----\n  MARK\n  -----END RSA PRIVATE KEY-----\n",
            "server.pem: |\n  -----BEGIN PRIVATE KEY-----\n  MARKMARK+/=\n  -----END PRIVATE KEY-----\n",
            "pem: \"-----BEGIN PRIVATE KEY-----\\nMARK\\n-----END PRIVATE KEY-----\"\n",
            "values: |\n  db:\n    password: MARK\n",
            "config.json: '{\"token\": \"MARK\"}'\n",
            "config.json: \"{\\\"token\\\": \\\"MARK\\\"}\"\n",
            "# password: MARK\n",
            "password: &pw MARK\n",
            "Authorization: Bearer MARK\n",
        ] {
            let shown = shown(text);
            assert!(!shown.contains("MARK"), "{text}{shown}");
            assert_eq!(shown.len(), text.len(), "places stay right");
        }
    }

    #[test]
    fn references_and_other_values_are_shown() {
        for text in [
            "secretName: web-tls\n",
            "existingSecret: web\npasswordSecret: web\n",
            "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password\n",
            "passwordSecretRef: {name: db, key: password}\n",
            "password:\n  secretKeyRef: {name: db}\n",
            "adminPasswordKey: admin\n",
            "automountServiceAccountToken: false\n",
            "tokenExpirationSeconds: 3600\n",
            "password: ${DB_PASSWORD}\n",
            "password: '{{ .Values.password }}'\n",
            "password: \"\"\n",
            "- name: DB_PASSWORD_FILE\n  value: /etc/db/password\n",
            "- name: HOST\n  value: db\n- name: DB_PASSWORD\n  valueFrom: {}\n",
            "- name: HOST\n  value: db\n- name: TOKEN\n  value: ${TOKEN}\n",
            "- name: DB_PASSWORD\n  valueFrom: {}\n- value: db\n  name: HOST\n",
            "image: registry.example.com/web@sha256:0123\n",
            "url: https://example.com/a?b=c\n",
            "publicKey: MIIB\nkeyName: web\n",
            "- secretKey: password\n  remoteRef: {key: shop/db}\n",
            "verbs: [get, list]\nresources: [secrets, tokenreviews]\n",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn text_beside_credentials_is_shown() {
        assert_eq!(
            shown("{password: abc, name: db}\n"),
            "{password: ***, name: db}\n"
        );
        assert_eq!(
            shown("- --password=abc --user=web\n"),
            "- --password=*** --user=web\n"
        );
        assert_eq!(
            shown("url: redis://:abc@cache:6379\n"),
            "url: redis://:***@cache:6379\n"
        );
    }
}
