//! A Graphviz graph of the plan.

use crate::story::PlanView;
use crate::story::graph::{Extent, Graph, NODES, Tie, Tone, graph};
use crate::story::telling::stories;
use crate::story::words;

/// The graph, with its legend.
pub(super) fn render(view: &PlanView<'_>) -> String {
    let stories = stories(view);
    let Graph { nodes, arrows, collapsed } = graph(&stories, &Extent::all(&stories), NODES);
    let mut out = String::from(
        "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n",
    );
    if !collapsed.is_empty() {
        let note = format!("without a node of their own: {}", words::kinds(&collapsed));
        out.push_str(&format!("  label={};\n", quoted(&[note])));
    }
    for (at, node) in nodes.iter().enumerate() {
        out.push_str(&format!("  n{at} [label={}, {}];\n", quoted(&node.label), colours(node.tone)));
    }
    for arrow in &arrows {
        out.push_str(&format!("  n{} -> n{} [{}];\n", arrow.from, arrow.to, stroke(arrow.tie)));
    }
    legend(&mut out);
    out.push_str("}\n");
    out
}

fn legend(out: &mut String) {
    out.push_str("  subgraph cluster_legend {\n    label=\"legend\";\n");
    let tones = [
        (Tone::Gone, "goes"),
        (Tone::Hanging, "hangs (Terminating)"),
        (Tone::Kept, "stays"),
        (Tone::Context, "not touched"),
    ];
    for (at, (tone, word)) in tones.into_iter().enumerate() {
        out.push_str(&format!("    legend{at} [label=\"{word}\", {}];\n", colours(tone)));
    }
    let ties = [
        (Tie::Blocking, "owns, blocking"),
        (Tie::Owned, "owns"),
        (Tie::Implied, "owns, implied"),
        (Tie::Contains, "contains"),
        (Tie::Removed, "reference removed"),
    ];
    for (at, (tie, word)) in ties.into_iter().enumerate() {
        out.push_str(&format!(
            "    from{at} [label=\"\", shape=point];\n    to{at} [label=\"{word}\", shape=plaintext, style=\"\"];\n"
        ));
        out.push_str(&format!("    from{at} -> to{at} [{}];\n", stroke(tie)));
    }
    out.push_str("  }\n");
}

fn colours(tone: Tone) -> &'static str {
    match tone {
        Tone::Gone => "fillcolor=\"#f8d7da\", color=\"#b02a37\"",
        Tone::Hanging => "fillcolor=\"#fff3cd\", color=\"#997404\", penwidth=2",
        Tone::Kept => "fillcolor=\"#d1e7dd\", color=\"#146c43\"",
        Tone::Context => "fillcolor=\"#ffffff\", color=\"#6c757d\", style=\"rounded,dashed\"",
    }
}

fn stroke(tie: Tie) -> &'static str {
    match tie {
        Tie::Blocking => "penwidth=2",
        Tie::Owned => "penwidth=1",
        Tie::Implied => "style=dashed",
        Tie::Contains => "style=dotted",
        Tie::Removed => "style=dashed, color=\"#adb5bd\", arrowhead=tee",
    }
}

/// A quoted string of the language: a backslash begins an escape, so it is doubled; a quote would end it.
fn quoted(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}
