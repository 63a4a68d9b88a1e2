// The data of the page: the contract, additional information, and the objects of all stories as one forest.

const contract = JSON.parse(byId("contract").textContent);
const beside = JSON.parse(byId("beside").textContent);

/** The key of an object, as the contract writes it. */
const keyOf = (object) =>
  `${object.kind}${object.group ? `.${object.group}` : ""}/${object.namespace || ""}/${object.name}`;

/** Objects of the forest: roots before the objects that are deleted with them. The top node of a story has no effect. */
const nodes = [];
const roots = [];
/** Per story: the nodes that are only owners. */
const owners = [];

const addStory = (story, at) => {
  const several = beside.stories.length > 1;
  let top = null;
  if (several) {
    top = { id: nodes.length, title: story.title, story: at, parent: null, children: [], effect: null, hay: "" };
    nodes.push(top);
    roots.push(top);
  }
  const first = nodes.length;
  for (const object of story.objects) {
    const parent = object.parent === undefined ? top : nodes[first + object.parent];
    const node = {
      ...object,
      id: nodes.length,
      story: at,
      key: keyOf(object),
      namespace: object.namespace || "",
      parent,
      children: [],
      below: 0,
      stuckBelow: object.effect === "stuck",
    };
    node.hay = `${node.key} ${node.why || ""} ${(node.finalizers || []).join(" ")} ${node.file || ""}`.toLowerCase();
    nodes.push(node);
    if (!isTouched(node)) owners.push(node);
    else if (parent) parent.children.push(node);
    else roots.push(node);
  }
  story.first = first;
  story.size = story.objects.length;
};

const EFFECTS = ["stuck", "later", "deleted", "kept"];
const MARKS = { deleted: "\u00d7", stuck: "\u2016", later: "\u2026", kept: "\u2713", untouched: "\u25cb", gone: "\u2013" };
const isTouched = (node) => EFFECTS.includes(node.effect);

beside.stories.forEach(addStory);

// Children come after their parents, so one walk backwards computes all sums.
for (let at = nodes.length - 1; at >= 0; at -= 1) {
  const { parent, below, stuckBelow } = nodes[at];
  if (!parent || (nodes[at].effect && !isTouched(nodes[at]))) continue;
  parent.below = (parent.below || 0) + (below || 0) + 1;
  parent.stuckBelow = parent.stuckBelow || stuckBelow;
}

// Stuck objects first, then those with dependents, then by kind and name.
const rank = (node) => [node.stuckBelow ? 0 : 1, node.children.length ? 0 : 1];
const inOrder = (a, b) => {
  const [x, y] = [rank(a), rank(b)];
  return x[0] - y[0] || x[1] - y[1] || compare(a.kind, b.kind) || compare(a.namespace, b.namespace) || compare(a.name, b.name);
};
const compare = (a, b) => (a === b ? 0 : a < b ? -1 : 1);
for (const node of nodes) if (node.children.length > 1) node.children.sort(inOrder);
if (beside.stories.length === 1) roots.sort(inOrder);

const byKey = new Map();
for (const node of nodes) if (node.key && !byKey.has(node.key)) byKey.set(node.key, node);

const chainOf = (node) => {
  const chain = [];
  for (let at = node; at && at.key; at = at.parent) chain.unshift(at);
  return chain;
};

/** A place in a file, as a link where it is published. */
const place = (file, line, side) => {
  const text = line ? `${file}:${line}` : file;
  const link = (side === "base" ? beside.baseLinks : beside.links)[file];
  if (!link) return el("code", { class: "place" }, text);
  return el("a", { class: "place", href: link.before + (line || 1) + link.after, rel: "noreferrer" }, text);
};

/** Citations, each of which opens its sentence. */
const cited = (rules) =>
  (rules || [])
    .filter((rule) => beside.citations[rule])
    .map((rule) => el("details", { class: "cite" }, el("summary", {}, rule), el("p", {}, beside.citations[rule])));
