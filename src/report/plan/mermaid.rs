//! A Mermaid flowchart of the plan, as GitHub draws it in Markdown.
//!
//! Labels are plain text: all but letters, digits and a few others are escaped, as they may mean
//! something to Mermaid, Markdown or HTML. So is a first character that could begin a list.

use std::collections::BTreeSet;

use crate::story::PlanView;
use crate::story::extent::Extent;
use crate::story::graph::{Detail, Graph, Tone, graph};
use crate::story::telling::{Story, stories};
use crate::story::ties::Stroke;

/// The maximum number of bytes of a flowchart: Mermaid draws nothing beyond 50,000 characters.
const MAX_TEXT: usize = 45_000;
/// The maximum number of links from the legend: Mermaid rejects more than 500 edges of all sorts.
const LINKED: usize = 60;

/// Renders the flowchart of a view with its legend, as a document of its own.
pub(super) fn render(view: &PlanView<'_>) -> String {
    let stories = stories(view);
    let graph = fitting(&stories, &Extent::all(&stories), Detail::FULL, MAX_TEXT);
    let rest = graph.not_drawn();
    let rest = rest.map(|note| format!("  rest[\"{}\"]:::untouched\n", escaped(&note)));
    draw(&graph, &(rest.unwrap_or_default() + &legend(&graph)))
}

/// Renders the flowchart of all stories as a part of a Markdown document.
pub(super) fn block(stories: &[Story<'_>]) -> String {
    let scope = Extent::all(stories);
    fenced(&fitting(stories, &scope, Detail::FULL, MAX_TEXT))
}

/// Renders a graph as a part of a Markdown document, with the legend as a line of text below it.
pub(super) fn fenced(graph: &Graph) -> String {
    let tones = graph.tones().into_iter().map(Tone::meaning);
    let caption: Vec<&str> = tones.chain(ties(graph)).collect();
    format!(
        "```mermaid\n{}```\n\n<sub>{}</sub>\n",
        draw(graph, ""),
        caption.join(" · ")
    )
}

/// Builds the graph with up to `detail.nodes` nodes, and halves this number until the text fits
/// into `most` bytes or the number is at most 8.
pub(super) fn fitting(
    stories: &[Story<'_>],
    scope: &Extent,
    mut detail: Detail,
    most: usize,
) -> Graph {
    loop {
        let graph = graph(stories, scope, detail);
        if draw(&graph, "").len() <= most || detail.nodes <= 8 {
            return graph;
        }
        detail.nodes /= 2;
    }
}

/// Writes a graph in Mermaid's syntax, with the statements `more` after its own.
fn draw(graph: &Graph, more: &str) -> String {
    let mut out = String::from("flowchart LR\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let label: Vec<String> = node.label.iter().map(|line| escaped(line)).collect();
        out.push_str(&format!(
            "  n{at}[\"{}\"]:::{}\n",
            label.join("<br/>"),
            class(node.tone)
        ));
    }
    for arrow in &graph.arrows {
        out.push_str(&format!(
            "  n{} {} n{}\n",
            arrow.from,
            line(arrow.tie),
            arrow.to
        ));
    }
    out + more + CLASSES
}

/// Writes the legend: the entries that the graph uses, without edges, which would make it a narrow
/// column. Invisible links to the roots of the graph place it before them.
fn legend(graph: &Graph) -> String {
    let mut out = String::from("  subgraph legend\n    direction LR\n");
    for tone in graph.tones() {
        out.push_str(&format!("    {0}:::{0}\n", class(tone)));
    }
    let ties = ties(graph);
    if !ties.is_empty() {
        out.push_str(&format!(
            "    arrows[\"{}\"]:::untouched\n",
            ties.join("<br/>")
        ));
    }
    out.push_str("  end\n");
    let ends: BTreeSet<usize> = graph.arrows.iter().map(|arrow| arrow.to).collect();
    let starts: BTreeSet<usize> = graph.arrows.iter().map(|arrow| arrow.from).collect();
    let roots: Vec<String> = starts
        .difference(&ends)
        .take(LINKED)
        .map(|at| format!("n{at}"))
        .collect();
    if !roots.is_empty() {
        out.push_str(&format!("  legend ~~~ {}\n", roots.join(" & ")));
    }
    out
}

/// Returns the meanings of the edges of a graph.
fn ties(graph: &Graph) -> Vec<&'static str> {
    let mut ties = graph.ties();
    // Mermaid has only one dotted stroke.
    let are_both_dotted = ties.contains(&Stroke::Implied) && ties.remove(&Stroke::Contains);
    let ties = ties.into_iter().map(|tie| match tie {
        Stroke::Blocking => "thick: owns, with blockOwnerDeletion",
        Stroke::Owned => "thin: owns",
        Stroke::Implied if are_both_dotted => "dotted: owns, implied, or contains",
        Stroke::Implied => "dotted: owns, implied",
        Stroke::Contains => "dotted: contains",
        Stroke::Removed => "crossed: reference removed",
    });
    ties.collect()
}

const CLASSES: &str = "  classDef deleted fill:#f8d7da,stroke:#b02a37,color:#000
  classDef stuck fill:#fff3cd,stroke:#997404,color:#000,stroke-width:3px
  classDef kept fill:#d1e7dd,stroke:#146c43,color:#000
  classDef untouched fill:#fff,stroke:#6c757d,color:#000,stroke-dasharray:4 3
";

/// Returns the class of a node, which is also its text in the legend.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Deleted => "deleted",
        Tone::Stuck => "stuck",
        Tone::Kept => "kept",
        Tone::Untouched => "untouched",
    }
}

fn line(tie: Stroke) -> &'static str {
    match tie {
        Stroke::Blocking => "==>",
        Stroke::Owned => "-->",
        Stroke::Implied | Stroke::Contains => "-.->",
        Stroke::Removed => "-.-x",
    }
}

/// Escapes characters as Mermaid's own entities, such as `#45;`, which it turns into HTML's after parsing.
pub(in crate::report) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        let harmless =
            c.is_alphanumeric() || (at > 0 && matches!(c, ' ' | '/' | '.' | ',' | ':' | '-'));
        // A label that begins with "1. " would be a list.
        let begins_list = at == 0 && c.is_ascii_digit();
        if harmless && !begins_list {
            out.push(c);
        } else {
            out.push_str(&format!("#{};", c as u32));
        }
    }
    out
}
