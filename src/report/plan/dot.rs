//! A Graphviz graph of the plan.

use crate::story::PlanView;
use crate::story::extent::Extent;
use crate::story::graph::{Detail, Graph, Tone, graph};
use crate::story::telling::stories;
use crate::story::ties::Stroke;

/// Renders the graph with its legend.
pub(super) fn render(view: &PlanView<'_>) -> String {
    let stories = stories(view);
    let graph = graph(&stories, &Extent::all(&stories), Detail::FULL);
    let mut out = String::from(
        "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n",
    );
    out.push_str(&format!(
        "  label={}; labelloc=b; fontname=\"sans-serif\"; fontsize=10;\n",
        quoted(&caption(&graph))
    ));
    for (at, node) in graph.nodes.iter().enumerate() {
        out.push_str(&format!(
            "  n{at} [label={}, {}];\n",
            quoted(&node.label),
            colours(node.tone)
        ));
    }
    for arrow in &graph.arrows {
        out.push_str(&format!(
            "  n{} -> n{} [{}];\n",
            arrow.from,
            arrow.to,
            stroke(arrow.tie)
        ));
    }
    out.push_str("}\n");
    out
}

/// Returns the legend as the caption of the graph: sample nodes would be laid out among the nodes of the plan.
fn caption(graph: &Graph) -> Vec<String> {
    let tones = graph.tones().into_iter().map(Tone::meaning);
    let ties = graph.ties().into_iter().map(|tie| match tie {
        Stroke::Blocking => "thick arrow: owns, with blockOwnerDeletion",
        Stroke::Owned => "thin arrow: owns",
        Stroke::Implied => "dashed arrow: owns, implied",
        Stroke::Contains => "dotted arrow: contains",
        Stroke::Removed => "grey bar: reference removed",
    });
    let lines = [
        tones.collect::<Vec<_>>().join("; "),
        ties.collect::<Vec<_>>().join("; "),
    ];
    let not_drawn = graph.not_drawn().into_iter();
    not_drawn
        .chain(lines)
        .filter(|line| !line.is_empty())
        .collect()
}

fn colours(tone: Tone) -> &'static str {
    match tone {
        Tone::Deleted => "fillcolor=\"#f8d7da\", color=\"#b02a37\"",
        Tone::Stuck => "fillcolor=\"#fff3cd\", color=\"#997404\", penwidth=2",
        Tone::Kept => "fillcolor=\"#d1e7dd\", color=\"#146c43\"",
        Tone::Untouched => "fillcolor=\"#ffffff\", color=\"#6c757d\", style=\"rounded,dashed\"",
    }
}

fn stroke(tie: Stroke) -> &'static str {
    match tie {
        Stroke::Blocking => "penwidth=2",
        Stroke::Owned => "penwidth=1",
        Stroke::Implied => "style=dashed",
        Stroke::Contains => "style=dotted",
        Stroke::Removed => "style=dashed, color=\"#adb5bd\", arrowhead=tee",
    }
}

/// Joins `lines` into one quoted string, in which backslashes and quotes are escaped.
pub(in crate::report) fn quoted(lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    format!("\"{}\"", lines.join("\\n"))
}
