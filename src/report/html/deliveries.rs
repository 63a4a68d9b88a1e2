//! The page of a listing: a tree that opens and closes, with every object, the inputs that were not read, and the files
//! that nothing delivers. It contains no script.

use super::document::{still, text};
use crate::report::deliveries::{DeliveryListing, ListedDelivery, ListedUnread, RowKind};
use crate::text::plain;

/// Deliveries up to this depth of the tree are open.
const OPEN: usize = 1;

/// Closes the elements of a delivery or a cluster.
const END: &str = "</ul>\n</details></li>\n";

impl DeliveryListing {
    /// Renders the listing as an HTML page.
    pub fn html(&self) -> String {
        let mut body = format!(
            "<main>\n<h1>Who applies what</h1>\n<p>{}</p>\n<ul>\n",
            escaped(&self.counted())
        );
        let mut open = 0;
        for row in self.rows() {
            while open > row.depth {
                body.push_str(END);
                open -= 1;
            }
            match row.about {
                RowKind::Delivery(one) => {
                    body.push_str(&delivery(one, row.depth));
                    open += 1;
                }
                ref about @ RowKind::Cluster(_) => {
                    let name = escaped(&about.label().unwrap_or_default());
                    body.push_str(&format!(
                        "<li><details open><summary><b>{name}</b></summary>\n<ul>\n"
                    ));
                    open += 1;
                }
                ref about @ RowKind::More { .. } => {
                    body.push_str(&format!(
                        "<p>{}</p>\n",
                        escaped(&about.label().unwrap_or_default())
                    ));
                }
            }
        }
        body.push_str(&END.repeat(open));
        body.push_str("</ul>\n");
        if !self.unreached.is_empty() {
            let files = self.unreached.iter().map(|file| {
                let objects = plain::count(file.objects, "object");
                format!("<li><code>{}</code> {objects}</li>\n", escaped(&file.file))
            });
            body.push_str(&format!(
                "<details><summary><b>Not delivered</b> {}</summary>\n<ul>\n{}</ul>\n</details>\n",
                plain::count(self.unreached.len(), "file"),
                files.collect::<String>()
            ));
        }
        body.push_str("</main>\n");
        still("Who applies what", &body)
    }
}

/// Renders a delivery without [`END`], since the deliveries that it applies are inside it.
fn delivery(one: &ListedDelivery, depth: usize) -> String {
    let marks = one.marks().into_iter().map(|mark| format!(" [{mark}]"));
    let possible = (one.certainty == "possible").then(|| " [possible]".to_owned());
    let marks: String = marks.chain(possible).collect();
    let is_open = depth <= OPEN || one.error.is_some();
    let mut html = format!(
        "<li><details{}><summary>{} <small>{}{marks}</small></summary>\n",
        if is_open { " open" } else { "" },
        escaped(&one.called()),
        escaped(&one.contents()),
    );
    let path = one.path.iter().filter(|_| one.key.is_some());
    let place = one.location.iter();
    let lines = path.map(|path| format!("builds ./{path}"));
    let lines = lines.chain(place.map(|place| format!("written in {}:{}", place.file, place.line)));
    let lines = lines.chain(one.failure());
    let lines = lines.chain(one.unread.iter().map(ListedUnread::line));
    html.extend(lines.map(|line| format!("<p>{}</p>\n", escaped(&line))));
    if !one.instances.is_empty() {
        let rows = one.instances.iter().map(|instance| {
            format!(
                "<tr><td><code>{}</code></td><td><code>{}:{}</code></td></tr>\n",
                escaped(&instance.key),
                escaped(&instance.file),
                instance.line
            )
        });
        html.push_str(&format!(
            "<details><summary>{}</summary>\n<table>\n{}</table>\n</details>\n",
            plain::count(one.instances.len(), "object"),
            rows.collect::<String>()
        ));
    }
    html.push_str("<ul>\n");
    html
}

fn escaped(line: &str) -> String {
    text(&plain::one_line(line))
}
