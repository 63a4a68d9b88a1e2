//! The listing on a terminal.

use super::rows::RowKind;
use super::{DeliveryListing, DeliverySummary, ListedDelivery, ListedUnread, UnreachedFile};
use crate::text::plain;

impl DeliveryListing {
    /// Returns the listing as a tree: clusters, deliveries below those that apply them, and the problems of each.
    pub fn human(&self) -> String {
        let mut text = String::new();
        for row in self.rows() {
            if row.depth == 0 {
                text.push_str(gap(&text));
            }
            let indent = "  ".repeat(row.depth);
            match row.about {
                RowKind::Delivery(one) => text.push_str(&one.human(&indent)),
                other => {
                    let label = other.label().into_iter();
                    text.extend(label.map(|label| line(&format!("{indent}{label}"))));
                }
            }
        }
        if !self.unreached.is_empty() {
            text.push_str(&format!("{}not delivered\n", gap(&text)));
            for UnreachedFile { file, objects } in &self.unreached {
                let objects = plain::count(*objects, "object");
                text.push_str(&line(&format!("  {file}  {objects}")));
            }
        }
        text.push_str(&format!("{}{}\n", gap(&text), self.counted()));
        text
    }

    /// Counts the deliveries, objects, unread inputs and undelivered files in one line.
    pub(in crate::report) fn counted(&self) -> String {
        let DeliverySummary {
            deliveries,
            instances,
            unread,
            unreached,
        } = self.summary();
        let is_one = deliveries == 1;
        let word = if is_one { "delivery" } else { "deliveries" };
        format!(
            "{deliveries} {word}, {}, {} not read, {} that nothing delivers",
            plain::count(instances, "object"),
            plain::count(unread, "input"),
            plain::count(unreached, "file"),
        )
    }
}

impl ListedDelivery {
    fn human(&self, indent: &str) -> String {
        let marks = self.marks().into_iter();
        let marks: String = marks.map(|mark| format!("  [{mark}]")).collect();
        let name = self.called();
        // A delivery of a single unread input, such as the chart of a release, takes one line.
        if let ([], [input], None) = (&*self.instances, &*self.unread, &self.error) {
            let subject = &input.subject;
            return line(&format!("{indent}{name}{marks}  not read: {subject}"));
        }
        let path = self.path.as_deref().filter(|_| self.key.is_some());
        let path = path.map(|path| format!("  ./{path}")).unwrap_or_default();
        let contents = match self.contents() {
            nothing if nothing.is_empty() => nothing,
            contents => format!("  {contents}"),
        };
        let mut text = line(&format!("{indent}{name}{path}{marks}{contents}"));
        let wrong = self.failure().into_iter();
        let wrong = wrong.chain(self.unread.iter().map(ListedUnread::line));
        text.extend(wrong.map(|wrong| line(&format!("{indent}  {wrong}"))));
        text
    }
}

/// Returns a line in which nothing is interpreted by a terminal or a runner.
fn line(text: &str) -> String {
    format!("{}\n", plain::visible(text))
}

fn gap(text: &str) -> &'static str {
    if text.is_empty() { "" } else { "\n" }
}
