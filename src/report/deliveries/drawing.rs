//! The listing as a graph: arrows lead from clusters to deliveries, and from deliveries to those that they apply.

use super::rows::{Row, RowKind};
use super::{DeliveryListing, ListedDelivery};
use crate::report::plan::{dot_text, mermaid_text};
use crate::text::plain;

/// Limits of the graph: Mermaid draws at most 500 edges and 50,000 characters.
const MAX_NODES: usize = 300;
const MAX_TEXT: usize = 45_000;

impl DeliveryListing {
    /// Returns the graph as a Mermaid flowchart. Rows beyond Mermaid's limits are counted in one node.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        let rows = self.rows();
        let mut drawn = 0;
        for (at, row) in rows.iter().enumerate() {
            let class = row.about.class();
            let label = row.label();
            let label: Vec<String> = label.iter().map(|line| mermaid_text(line)).collect();
            let label = label.join("<br>");
            let mut node = format!("  n{at}[\"{label}\"]:::{class}\n");
            if let Some(parent) = row.parent {
                node.push_str(&format!("  n{parent} --> n{at}\n"));
            }
            if drawn == MAX_NODES || text.len() + node.len() > MAX_TEXT {
                break;
            }
            text.push_str(&node);
            drawn += 1;
        }
        if drawn < rows.len() {
            let more = mermaid_text(&format!("and {} more", rows.len() - drawn));
            text.push_str(&format!("  more[\"{more}\"]:::plain\n"));
        }
        text.push_str(
            "  classDef cluster font-weight:bold\n  classDef plain fill:none\n  classDef open stroke-dasharray:4\n  classDef failed stroke:#c00,stroke-width:2px\n",
        );
        text
    }

    /// Returns the graph in Graphviz' language.
    pub fn dot(&self) -> String {
        let mut text = String::from(
            "digraph deliveries {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
        );
        for (at, row) in self.rows().iter().enumerate() {
            let style = match row.about.class() {
                "cluster" => ", style=\"rounded,bold\"",
                "open" => ", style=\"rounded,dashed\"",
                "failed" => ", color=red",
                _ => "",
            };
            let label = dot_text(&row.label());
            text.push_str(&format!("  n{at} [label={label}{style}];\n"));
            if let Some(parent) = row.parent {
                text.push_str(&format!("  n{parent} -> n{at};\n"));
            }
        }
        text.push_str("}\n");
        text
    }
}

impl Row<'_> {
    /// Returns the lines of text in its node.
    fn label(&self) -> Vec<String> {
        let lines = match self.about {
            RowKind::Delivery(one) => vec![one.called(), one.below()],
            ref other => other.label().into_iter().collect(),
        };
        let lines = lines.iter().filter(|line| !line.is_empty());
        lines.map(|line| plain::one_line(line)).collect()
    }
}

impl RowKind<'_> {
    /// Returns the style of its node.
    fn class(&self) -> &'static str {
        match self {
            Self::Cluster(_) => "cluster",
            Self::Delivery(one) if one.error.is_some() => "failed",
            Self::Delivery(one) if one.certainty == "possible" => "open",
            Self::Delivery(_) => "plain",
            Self::More { .. } => "open",
        }
    }
}

impl ListedDelivery {
    /// Returns the text below its name: why it fails, else its objects, unread inputs and settings.
    fn below(&self) -> String {
        if let Some(failure) = self.failure() {
            return failure;
        }
        let unread = match self.unread.len() {
            0 => String::new(),
            count => format!("{} not read", plain::count(count, "input")),
        };
        let parts = [self.contents(), unread, self.marks().join(", ")];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("; ")
    }
}
