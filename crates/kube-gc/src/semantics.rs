//! The rules that a plan cites, one sentence each.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The rows of `data/deletion-semantics.csv`: rule and sentence.
const ROWS: &str = include_str!("../data/deletion-semantics.csv");

/// Returns the text of a rule of the deletion semantics, such as `GC-22`; `None` if no plan ever cites it.
pub fn semantics(rule: &str) -> Option<&'static str> {
    static TABLE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let rows = csv::Reader::from_reader(ROWS.as_bytes()).into_deserialize();
        // A row that does not parse is skipped, and the test that looks up every citation fails.
        rows.filter_map(Result::ok).collect()
    });
    TABLE.get(rule).map(String::as_str)
}
