// Selects the part of the forest that is drawn as a graph, and places its nodes.

/** Maximum number of vertices that are drawn. */
const DRAWN = 2000;
/** Maximum number of siblings of one kind with nothing below them that are drawn one by one, unless the reader expands them. */
const ALIKE = 4;
const CHARACTER = 7.25;

/** The sources of the ties of each shown object, and all objects that are such a source. */
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

const drawnNodes = () => nodes.filter((node) => isTouched(node) && wanted.shown[node.id]);

/** Groups of more than `ALIKE` objects without dependents that have the same owners, kind, effect and finalizers. */
const stacksOf = (shown) => {
  const { above, leading } = tiedTo(shown);
  const stacks = new Map();
  for (const node of shown) {
    if (leading.has(node.id)) continue;
    const owned = above.get(node.id).join(" ") || node.parent?.id;
    const name = [node.story, owned, node.group, node.kind, node.effect, (node.finalizers || []).join(",")].join("|");
    if (!stacks.has(name)) stacks.set(name, []);
    stacks.get(name).push(node);
  }
  return [...stacks.values()].filter((members) => members.length > ALIKE);
};
/** The objects that share a vertex with `node`, including `node`. */
const stackOf = (node) => stacksOf(drawnNodes()).find((members) => members.includes(node)) || [node];

/** The vertices: objects, or stacks of objects that are alike. */
const vertices = (apart) => {
  const shown = drawnNodes();
  const vertexOf = new Map();
  const all = [];
  for (const members of apart ? [] : stacksOf(shown)) {
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
  // Owners of drawn objects that the plan does not touch.
  const { leading } = tiedTo(shown);
  for (const owner of owners) if (leading.has(owner.id)) single(owner);
  return { all, vertexOf };
};

/** Lines on the finalizers and the data of objects, and on whether they are implied. */
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
  // A vertex whose ties are all filtered out is joined to its parent.
  for (const [id, vertex] of vertexOf) {
    const { parent } = nodes[id];
    if (!vertex.joined && parent) join(vertexOf.get(parent.id), vertex, "contains");
  }
  return [...found].flatMap(([from, ends]) => [...ends].map(([to, tie]) => ({ from, to, tie })));
};

const MARGIN = 12;
const GAP = 10;

/** Places tied vertices in layers, and computes the points that arrows pass through. */
const inLayers = (tied, arrows) => {
  const graph = new dagre.graphlib.Graph();
  // Computing the best ranks takes long for many nodes.
  const ranker = tied.length > 300 ? "longest-path" : "network-simplex";
  graph.setGraph({ rankdir: "LR", nodesep: GAP, ranksep: 60, edgesep: 6, marginx: MARGIN, marginy: MARGIN, ranker });
  tied.forEach((vertex, at) => {
    vertex.at = String(at);
    graph.setNode(vertex.at, { width: vertex.width, height: vertex.height });
  });
  for (const { from, to } of arrows) graph.setEdge(from.at, to.at, {});
  dagre.layout(graph);
  // A layer is known by its middle, which everything in it shares.
  const layers = new Map();
  for (const vertex of tied) {
    const { x, y } = graph.node(vertex.at);
    const layer = layers.get(Math.round(x)) || { left: Infinity, right: -Infinity };
    layer.left = Math.min(layer.left, x - vertex.width / 2);
    layer.right = Math.max(layer.right, x + vertex.width / 2);
    layers.set(Math.round(x), layer);
    Object.assign(vertex, { y, layer });
  }
  for (const vertex of tied) vertex.x = vertex.layer.left + vertex.width / 2;
  for (const arrow of arrows) {
    const passed = graph.edge(arrow.from.at, arrow.to.at).points.slice(1, -1);
    arrow.through = passed.filter(({ x }) => layers.has(Math.round(x))).map(({ x, y }) => ({ layer: layers.get(Math.round(x)), y }));
  }
  const { width, height } = graph.graph();
  return { width, height };
};

/** Places vertices without ties in rows below the others. */
const inRows = (loose, { width, height }) => {
  const most = Math.max(width, 900);
  let [x, y, tallest, widest] = [MARGIN, height, 0, width];
  for (const vertex of loose) {
    if (x > MARGIN && x + vertex.width + MARGIN > most) [x, y, tallest] = [MARGIN, y + tallest + GAP, 0];
    Object.assign(vertex, { x: x + vertex.width / 2, y: y + vertex.height / 2 });
    tallest = Math.max(tallest, vertex.height);
    x += vertex.width + GAP;
    widest = Math.max(widest, x + MARGIN - GAP);
  }
  return { width: widest, height: y + tallest + MARGIN };
};

/** The graph with all places; or, if there are too many vertices, only their number. */
const layout = (apart) => {
  const { all, vertexOf } = vertices(apart);
  if (all.length > DRAWN) return { many: all.length };
  const arrows = edges(vertexOf);
  for (const vertex of all) {
    vertex.lines = vertex.lines.map((line) => cut(visible(line), 44));
    // Before the first line comes the mark of the effect.
    vertex.width = Math.max(...vertex.lines.map((line, n) => line.length + (n ? 0 : 2))) * CHARACTER + 20;
    vertex.height = vertex.lines.length * 16 + 10;
  }
  const ends = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  const tied = all.filter((vertex) => ends.has(vertex));
  const loose = all.filter((vertex) => !ends.has(vertex));
  let size = tied.length ? inLayers(tied, arrows) : { width: 0, height: MARGIN };
  if (loose.length) size = inRows(loose, size);
  return { all, arrows, vertexOf, ...size };
};
