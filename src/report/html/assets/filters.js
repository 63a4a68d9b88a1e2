// Selects the objects of the forest that pass the filters, and counts them by each filter's values.

/** Whether an object passes all tests; `but` leaves one out, to count the objects that it would let through. */
const wants = (node, but) => {
  if (but !== "effect" && state.effect && !state.effect.split(",").includes(node.effect)) return false;
  if (but !== "kind" && state.kind && node.kind !== state.kind) return false;
  if (but !== "ns" && state.ns && (node.namespace || "-") !== state.ns) return false;
  if (but !== "in" && state.in && String(node.story + 1) !== state.in) return false;
  if (state.all === "data" && !node.data) return false;
  return words().every((word) => node.hay.includes(word));
};

const UNFILTERED = { q: "", effect: "", kind: "", ns: "", in: "", all: "" };
const words = () => state.q.toLowerCase().split(/\s+/).filter(Boolean);
const isFiltered = () => Boolean(state.q || state.effect || state.kind || state.ns || state.in || state.all);

/** The selected objects: `hits` by node, and `shown` with everything above them. */
let wanted = { hits: [], shown: [], number: 0, total: 0 };
const findWanted = () => {
  const hits = nodes.map((node) => isTouched(node) && wants(node));
  const shown = [...hits];
  let total = 0;
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    total += isTouched(nodes[at]) ? 1 : 0;
    if (shown[at] && nodes[at].parent) shown[nodes[at].parent.id] = true;
  }
  wanted = { hits, shown, total, number: hits.reduce((sum, hit) => sum + (hit ? 1 : 0), 0) };
};

const tally = (but, name) => {
  const counts = new Map();
  for (const node of nodes) {
    if (!isTouched(node) || !wants(node, but)) continue;
    const value = name(node);
    counts.set(value, (counts.get(value) || 0) + 1);
  }
  return counts;
};

/** A choice of one value, each with how many objects have it. */
const choice = (label, name, values, title) => {
  const select = el("select", { change: () => change({ [name]: select.value }) });
  const refresh = () => {
    const counts = values();
    if (state[name] && !counts.has(state[name])) counts.set(state[name], 0);
    const sorted = [...counts].sort(([a], [b]) => compare(title(a), title(b)));
    const options = sorted.map(([value, n]) => el("option", { value }, `${title(value)} (${number(n)})`));
    select.replaceChildren(el("option", { value: "" }, "all"), ...options);
    select.value = state[name];
  };
  return { element: el("label", { class: "field" }, el("span", {}, label), select), refresh };
};

/** A field to search in. */
const searchField = (label, name, hint) => {
  const input = el("input", { type: "search", placeholder: hint, autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", later(120, () => change({ [name]: input.value.trim() })));
  const refresh = () => {
    if (input.value.trim() !== state[name]) input.value = state[name];
  };
  return { element: el("label", { class: "field grow" }, el("span", {}, label), input), refresh };
};

/** Buttons that let values through, several at a time. */
const toggles = (label, name, values, counts, mark) => {
  const chosen = () => state[name].split(",").filter(Boolean);
  const press = (value) => {
    const others = chosen().filter((one) => one !== value);
    const now = others.length === chosen().length ? [...others, value] : others;
    change({ [name]: values.filter((one) => now.includes(one)).join(",") });
  };
  const buttons = values.map((value) =>
    el("button", { type: "button", class: `toggle ${value}`, click: () => press(value) }));
  const refresh = () => {
    const found = counts();
    buttons.forEach((button, at) => {
      const value = values[at];
      button.setAttribute("aria-pressed", String(chosen().includes(value)));
      button.replaceChildren(el("span", { "aria-hidden": "true" }, mark(value)), ` ${value} ${number(found.get(value) || 0)}`);
    });
  };
  return { element: el("div", { class: "toggles", role: "group", "aria-label": label }, buttons), refresh };
};

/** The bar above the tree, the graph and the timeline. */
const filterBar = () => {
  const parts = [
    searchField("Search", "q", "name, kind, reason, file…"),
    toggles("Effect", "effect", EFFECTS, () => tally("effect", (node) => node.effect), (value) => MARKS[value]),
    choice("Kind", "kind", () => tally("kind", (node) => node.kind), (value) => value),
    choice("Namespace", "ns", () => tally("ns", (node) => node.namespace || "-"), (value) => (value === "-" ? "none" : value)),
  ];
  if (beside.stories.length > 1) {
    const title = (value) => beside.stories[value - 1]?.title || value;
    const label = beside.command === "diff" ? "Bundle" : "Step";
    parts.push(choice(label, "in", () => tally("in", (node) => String(node.story + 1)), title));
  }
  const shown = el("p", { class: "shown", role: "status" });
  const reset = el("button", { type: "button", click: () => change(UNFILTERED) }, "Show all");
  const refresh = () => {
    for (const part of parts) part.refresh();
    const only = state.all === "data" ? " that hold data" : "";
    shown.replaceChildren(
      isFiltered() ? `${number(wanted.number)} of ${count(wanted.total, "object")}${only}` : count(wanted.total, "object"));
    reset.hidden = !isFiltered();
  };
  const element = el("div", { class: "filters", role: "search", "aria-label": "Objects" },
    parts.map((part) => part.element), el("div", { class: "count" }, shown, reset));
  return { element, refresh };
};
