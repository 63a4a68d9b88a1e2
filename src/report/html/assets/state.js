// The state of the view, kept in the fragment: a link shows another reader the same view.

const state = {
  q: "", effect: "", kind: "", ns: "", in: "", view: "tree", at: "", stack: "", all: "",
  find: "", severity: "", rule: "", folder: "", bundle: "", by: "rule", finding: "",
};
const DEFAULTS = { ...state };
const watchers = [];

/** Calls `run` with the names of what has changed. */
const watch = (run) => watchers.push(run);

const readFragment = () => {
  const text = location.hash.slice(1);
  // The fragments of links within the page are the names of elements.
  if (text && !text.includes("=")) return null;
  const found = new URLSearchParams(text);
  return Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, found.get(name) ?? DEFAULTS[name]]));
};

const writeFragment = later(150, () => {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== DEFAULTS[name]) parts.set(name, value);
  const text = parts.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
});

const change = (values) => {
  const changed = Object.keys(values).filter((name) => state[name] !== values[name]);
  if (!changed.length) return;
  Object.assign(state, values);
  writeFragment();
  for (const run of watchers) run(new Set(changed));
};

Object.assign(state, readFragment() || {});
addEventListener("hashchange", () => {
  const found = readFragment();
  if (found) change(found);
});
