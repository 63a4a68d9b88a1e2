//! A Mermaid flowchart of the plan, as GitHub draws it in Markdown.
//!
//! A label is text, whatever its characters mean to Mermaid, Markdown or HTML: all but letters, digits and a few harmless
//! marks are written as entities, and so is a first character that could begin a list.

use std::collections::BTreeSet;

use crate::story::PlanView;
use crate::story::extent::Extent;
use crate::story::graph::{Detail, Graph, Tone, graph};
use crate::story::telling::{Story, stories};
use crate::story::ties::Stroke;
use crate::story::words;

/// Mermaid draws nothing beyond 50,000 characters of text.
const MOST_TEXT: usize = 45_000;
/// Most links from the legend: Mermaid rejects more than 500 arrows of all sorts.
const LINKED: usize = 60;

/// The flowchart of a view, with its legend: it stands alone.
pub(super) fn render(view: &PlanView<'_>) -> String {
    let stories = stories(view);
    let graph = fitting(&stories, &Extent::all(&stories), Detail::FULL, MOST_TEXT);
    draw(&graph, &(rest(&graph) + &legend(&graph)))
}

/// The objects without a node of their own.
fn rest(graph: &Graph) -> String {
    if graph.collapsed.is_empty() {
        String::new()
    } else {
        let note = format!(
            "without a node of their own: {}",
            words::kinds(&graph.collapsed)
        );
        format!("  rest[\"{}\"]:::untouched\n", escaped(&note))
    }
}

/// The flowchart of everything that the stories tell, as a part of a Markdown document.
pub(super) fn block(stories: &[Story<'_>]) -> String {
    fenced(&fitting(
        stories,
        &Extent::all(stories),
        Detail::FULL,
        MOST_TEXT,
    ))
}

/// A graph as a part of a Markdown document: what it uses is explained in a line below it, where it takes no room from it.
pub(super) fn fenced(graph: &Graph) -> String {
    let tones = graph.tones().into_iter().map(|tone| match tone {
        Tone::Deleted => "red: deleted",
        Tone::Stuck => "yellow: stuck (Terminating)",
        Tone::Kept => "green: kept",
        Tone::Untouched => "dashed border: untouched",
    });
    let caption: Vec<&str> = tones.chain(ties(graph)).collect();
    format!(
        "```mermaid\n{}```\n\n<sub>{}</sub>\n",
        draw(graph, ""),
        caption.join(" · ")
    )
}

/// The graph with as many nodes, up to those of `detail`, as fit into `most` bytes of text.
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

/// The text of a graph, with more statements after its own.
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

/// The legend of the picture, with only the entries that it uses: without arrows of its own a legend is one narrow
/// column. Invisible links keep it beside the next row, out of the way of the arrows.
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

/// The meanings of the arrows of a graph, by their strokes.
fn ties(graph: &Graph) -> Vec<&'static str> {
    let mut ties = graph.ties();
    if ties.contains(&Stroke::Implied) && ties.remove(&Stroke::Contains) {
        return ties
            .into_iter()
            .map(|one| {
                if one == Stroke::Implied {
                    EITHER
                } else {
                    tie(one)
                }
            })
            .collect();
    }
    ties.into_iter().map(tie).collect()
}

/// Mermaid has one sort of dotted arrow.
const EITHER: &str = "dotted: owns, implied, or contains";

/// The meaning of an arrow.
fn tie(tie: Stroke) -> &'static str {
    match tie {
        Stroke::Blocking => "thick: owns, with blockOwnerDeletion",
        Stroke::Owned => "thin: owns",
        Stroke::Implied => "dotted: owns, implied",
        Stroke::Contains => "dotted: contains",
        Stroke::Removed => "crossed: reference removed",
    }
}

const CLASSES: &str = "  classDef deleted fill:#f8d7da,stroke:#b02a37,color:#000
  classDef stuck fill:#fff3cd,stroke:#997404,color:#000,stroke-width:3px
  classDef kept fill:#d1e7dd,stroke:#146c43,color:#000
  classDef untouched fill:#fff,stroke:#6c757d,color:#000,stroke-dasharray:4 3
";

/// The class of a node, and its word in the legend.
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

/// `#45;` and the like: Mermaid's own entities, which it turns into HTML's after everything else was read.
pub(in crate::report) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        let harmless =
            c.is_alphanumeric() || (at > 0 && matches!(c, ' ' | '/' | '.' | ',' | ':' | '-'));
        // "1. x" would be a list.
        let begins_list = at == 0 && c.is_ascii_digit();
        if harmless && !begins_list {
            out.push(c);
        } else {
            out.push_str(&format!("#{};", c as u32));
        }
    }
    out
}
