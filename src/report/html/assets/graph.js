// Which part of the forest is drawn as a graph, and where its nodes lie.

/** Objects that are drawn. */
const DRAWN = 2000;
/** Siblings of one kind with nothing below them that are drawn one by one, unless all are asked for. */
const ALIKE = 4;
const CHARACTER = 7.25;

/** Where the ties of each shown object come from; and which of them lead on. */
const tiedTo = (shown) => {
  const above = new Map(shown.map((node) => [node.id, []]));
  const leading = new Set();
  for (const { first, ties } of beside.stories) {
    for (const [from, to] of ties) {
      if (!above.has(first + to)) continue;
      above.get(first + to).push(first + from);
      leading.add(first + from);
    }
  }
  return { above, leading };
};

/** The vertices: objects, or stacks of objects that are alike. */
const vertices = (apart) => {
  const shown = nodes.filter((node) => isTouched(node) && wanted.shown[node.id]);
  const { above, leading } = tiedTo(shown);
  const stacks = new Map();
  for (const node of apart ? [] : shown) {
    if (leading.has(node.id)) continue;
    const owned = above.get(node.id).join(" ") || node.parent?.id;
    const name = [node.story, owned, node.group, node.kind, node.effect, (node.finalizers || []).join(",")].join("|");
    if (!stacks.has(name)) stacks.set(name, []);
    stacks.get(name).push(node);
  }
  const vertexOf = new Map();
  const all = [];
  for (const members of stacks.values()) {
    if (members.length <= ALIKE) continue;
    const vertex = { members, effect: members[0].effect, lines: [`${number(members.length)} ${members[0].kind}`, ...remarks(members[0], members)] };
    all.push(vertex);
    for (const node of members) vertexOf.set(node.id, vertex);
  }
  const single = (node) => {
    const name = node.namespace ? `${node.namespace}/${node.name}` : node.name;
    const vertex = { members: [node], effect: node.effect, lines: [node.kind, name, ...remarks(node, [node])] };
    all.push(vertex);
    vertexOf.set(node.id, vertex);
  };
  for (const node of shown) if (!vertexOf.has(node.id)) single(node);
  // Owners that the plan leaves alone, of what is drawn.
  for (const owner of owners) {
    const { first, ties } = beside.stories[owner.story];
    if (ties.some(([from, to]) => first + from === owner.id && vertexOf.has(first + to))) single(owner);
  }
  return { all, vertexOf };
};

/** What is special about objects. */
const remarks = (node, members) => {
  const lines = [];
  if (node.finalizers) lines.push(`finalizer ${node.finalizers.join(", ")}`);
  const data = members.filter((one) => one.data).length;
  if (data) lines.push(members.length > 1 ? `${number(data)} with data` : "holds data");
  if (members.every((one) => one.implied)) lines.push("implied");
  return lines;
};

const edges = (vertexOf) => {
  const found = new Map();
  const join = (from, to, tie) => {
    if (!from || !to || from === to) return;
    if (!found.has(from)) found.set(from, new Map());
    if (!found.get(from).has(to)) found.get(from).set(to, tie);
    to.joined = true;
  };
  for (const { first, ties } of beside.stories) {
    for (const [from, to, tie] of ties) join(vertexOf.get(first + from), vertexOf.get(first + to), tie);
  }
  // What its ties lead to by a way that is filtered out.
  for (const [id, vertex] of vertexOf) {
    const { parent } = nodes[id];
    if (!vertex.joined && parent) join(vertexOf.get(parent.id), vertex, "contains");
  }
  return [...found].flatMap(([from, ends]) => [...ends].map(([to, tie]) => ({ from, to, tie })));
};

/** The graph with places, or how many objects are too many. */
const layout = (apart) => {
  const { all, vertexOf } = vertices(apart);
  if (all.length > DRAWN) return { many: all.length };
  const arrows = edges(vertexOf);
  const graph = new dagre.graphlib.Graph();
  // The best ranks take long for many nodes.
  const ranker = all.length > 300 ? "longest-path" : "network-simplex";
  graph.setGraph({ rankdir: "LR", nodesep: 10, ranksep: 50, edgesep: 6, marginx: 12, marginy: 12, ranker });
  all.forEach((vertex, at) => {
    vertex.at = at;
    vertex.lines = vertex.lines.map((line) => cut(visible(line), 44));
    // Before the first line comes the mark of the effect.
    const width = Math.max(...vertex.lines.map((line, n) => line.length + (n ? 0 : 2))) * CHARACTER + 20;
    graph.setNode(String(at), { width, height: vertex.lines.length * 16 + 10 });
  });
  for (const { from, to } of arrows) graph.setEdge(String(from.at), String(to.at), {});
  dagre.layout(graph);
  for (const vertex of all) Object.assign(vertex, graph.node(String(vertex.at)));
  for (const arrow of arrows) arrow.points = graph.edge(String(arrow.from.at), String(arrow.to.at)).points;
  const { width, height } = graph.graph();
  return { all, arrows, vertexOf, width: Math.max(width, 1), height: Math.max(height, 1) };
};
