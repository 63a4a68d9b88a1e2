//! Fields that name another object: `rules/tables/references.csv`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::knowledge::FieldPath;
use crate::kube::{GroupKind, KindMap, Scope};
use crate::yaml::Value;

const ROWS: &str = include_str!(concat!(env!("OUT_DIR"), "/rules/references.json"));

#[derive(Clone, Debug, Deserialize)]
struct ReferenceRow {
    from: String,
    #[serde(default)]
    holder: String,
    key: String,
    #[serde(default)]
    when: String,
    to: String,
    scope: String,
}

/// A field of a kind that names an object.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The kind that has the field. `Pod` is the spec of every Pod, wherever one occurs.
    from: GroupKind,
    /// The path to the mapping with the name, from the object or the spec of the Pod; `None` if the name is at its top
    /// level.
    pub(super) holder: Option<FieldPath>,
    /// The key of the name.
    pub(super) key: String,
    /// The kind of the named object.
    pub(super) to: GroupKind,
    /// Whether the named object is in the namespace of this one, or cluster-scoped.
    pub(super) scope: Scope,
    /// Whether the mapping may name another namespace.
    pub(super) names_namespace: bool,
    /// The required value of `kind` in the mapping, and whether it may be left out.
    kind: Option<(String, bool)>,
}

/// Reads the table.
///
/// # Errors
/// Names the row or cell that does not have the form that `rules/tables/README.md` describes.
fn read(text: &str) -> Result<Vec<Reference>, String> {
    let rows: Vec<ReferenceRow> =
        serde_json::from_str(text).map_err(|error| format!("references: {error}"))?;
    rows.into_iter().map(reference).collect()
}

fn reference(row: ReferenceRow) -> Result<Reference, String> {
    let holder = match row.holder.as_str() {
        "" => None,
        path => Some(FieldPath::parse(path).map_err(|_| wrong(path))?),
    };
    let kind = match row.when.as_str() {
        "" => None,
        when => {
            let said = when.strip_prefix("kind=").ok_or_else(|| wrong(when))?;
            Some((said.trim_end_matches('?').to_owned(), said.ends_with('?')))
        }
    };
    let (scope, names_namespace) = match row.scope.as_str() {
        "Namespaced" => (Scope::Namespaced, false),
        "Named" => (Scope::Namespaced, true),
        "Cluster" => (Scope::Cluster, false),
        other => return Err(wrong(other)),
    };
    Ok(Reference {
        from: GroupKind::parse(&row.from).to_owned(),
        holder,
        key: row.key,
        to: GroupKind::parse(&row.to).to_owned(),
        scope,
        names_namespace,
        kind,
    })
}

fn wrong(cell: &str) -> String {
    format!(
        "references: `{cell}` is neither a path to a field, `kind=NAME`, `Namespaced`, `Named` nor `Cluster`"
    )
}

/// The rows of the table by the kind that has the field. The tests read every row.
static BY_KIND: LazyLock<KindMap<Vec<Reference>>> = LazyLock::new(|| {
    let mut rows: BTreeMap<GroupKind, Vec<Reference>> = BTreeMap::new();
    for row in read(ROWS).unwrap_or_default() {
        rows.entry(row.from.clone()).or_default().push(row);
    }
    let mut by_kind = KindMap::default();
    for (kind, rows) in rows {
        by_kind.insert(kind.as_ref(), rows);
    }
    by_kind
});

/// Returns the fields of a kind that name other objects.
pub(super) fn references_of(kind: GroupKind<&str>) -> &'static [Reference] {
    BY_KIND.get(kind).map_or(&[], Vec::as_slice)
}

impl Reference {
    pub(super) fn is_of_flux(&self) -> bool {
        self.from.group.ends_with(".toolkit.fluxcd.io")
    }

    /// Returns the mappings that may contain the name, below the object or the spec of a Pod.
    pub(super) fn holders<'v>(&self, start: Value<'v>) -> Vec<Value<'v>> {
        let all = match &self.holder {
            None => vec![start],
            Some(path) => path.nodes(start),
        };
        all.into_iter()
            .filter(|holder| match &self.kind {
                None => true,
                Some((kind, is_default)) => holder
                    .str_at(&["kind"])
                    .map_or(*is_default, |said| said == kind),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_row_names_two_kinds() {
        let all = read(ROWS).expect("the table");
        let table = include_str!("../../rules/tables/references.csv");
        assert_eq!(all.len(), table.lines().count() - 1);
        assert!(
            all.iter()
                .all(|row| !row.to.kind.is_empty() && !row.from.kind.is_empty())
        );
    }

    fn error(holder: &str, when: &str, scope: &str) -> Option<String> {
        read(&format!(
            r#"[{{"from":"A","holder":"{holder}","key":"b","when":"{when}","to":"C","scope":"{scope}"}}]"#
        ))
        .err()
    }

    #[test]
    fn malformed_reference_rows_are_rejected() {
        assert_eq!(error("spec", "kind=C", "Cluster"), None);
        for (holder, when, scope, cell) in [
            ("spec[", "", "Cluster", "spec["),
            ("", "kin=C", "Cluster", "kin=C"),
            ("", "", "Global", "Global"),
        ] {
            assert_eq!(error(holder, when, scope), Some(wrong(cell)));
        }
        let error = read(r#"[{"from":"A","holder":"b"}]"#).expect_err("a row without a key");
        assert!(error.contains("missing field `key` at line 1"), "{error}");
    }
}
