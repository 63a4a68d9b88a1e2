// The details of one object: why it is affected, what it is deleted with, what holds it, which command releases it, where it is written.

const badge = (effect) =>
  effect && el("span", { class: `badge ${effect}` }, el("span", { "aria-hidden": "true" }, `${MARKS[effect]} `), effect);

/** Kind, namespace and name. */
const named = (node) => [
  el("span", { class: "kind" }, node.kind), " ",
  el("span", { class: "full" },
    node.namespace ? el("span", { class: "ns" }, `${node.namespace}/`) : null, el("span", { class: "name" }, node.name)),
];

const KEY = /^([\w-]+)(\.[\w.-]+)?\/([\w.-]*)\/([^/]+)$/;

/** The name of an object as text, not as a link. */
const objectName = (key) => {
  const [, kind, , namespace, name] = KEY.exec(key) || [];
  return kind ? el("span", { class: "key", title: key }, named({ kind, namespace, name })) : el("code", {}, key);
};

/** A link that selects an object. */
const objectLink = (key) => {
  const node = byKey.get(key);
  if (!node || !isTouched(node)) return objectName(key);
  return el("button", { type: "button", class: "object", click: () => select(node, true) }, named(node));
};

const stuckOf = new Map();
for (const [at, story] of beside.stories.entries()) for (const stuck of story.stuck) stuckOf.set(`${at} ${stuck.key}`, stuck);

/** The reasons why an object is held, and how to release it. */
const holds = (stuck) =>
  stuck.holds.map((hold) => [
    el("p", {}, `${capital(hold.what)}. `, cited(hold.cites)),
    hold.help && el("p", { class: "muted" }, hold.help),
    hold.commands.map(command),
  ]);

const fact = (term, ...content) => (content.flat(4).some(Boolean) ? [el("dt", {}, term), el("dd", {}, content)] : []);

const waveOf = (node) => {
  const last = most(nodes.filter((one) => one.story === node.story).map((one) => one.wave || 0));
  return node.wave ? `Wave ${node.wave} of ${last}` : null;
};

const effectsOf = (key) => (contract.effects || []).filter((effect) => effect.key === key);

const details = (node) => {
  const chain = chainOf(node).slice(0, -1);
  const stuck = stuckOf.get(`${node.story} ${node.key}`);
  const effects = effectsOf(node.key);
  return [
    el("h3", {}, badge(node.effect), " ", named(node)),
    el("dl", {},
      fact("Why", node.why && el("p", {}, node.why), cited(node.cites)),
      fact("With", chain.length > 0 && el("ol", { class: "chain" }, chain.map((one) => el("li", {}, objectLink(one.key))))),
      fact("When", waveOf(node)),
      fact("Implied", node.implied && el("p", {}, "No manifest contains it: a controller creates it. "),
        node.implied && (cited([node.implied]).length ? cited([node.implied]) : el("code", {}, node.implied))),
      fact("Data", node.data && `Deleting it deletes ${node.data}.`),
      fact("Held by", stuck && holds(stuck)),
      fact("May vary", node.race && "It is not stuck if its controller is quicker than the other deletions."),
      fact("Merge", effects.map((effect) => el("p", {}, effectWords(effect)))),
      fact("Written in", node.file && place(node.file, node.line, beside.command === "diff" ? "base" : "head")),
      fact("API group", node.group && el("code", {}, node.group))),
  ];
};

const SURE = { race: "unless a controller releases it first", possible: "possibly" };
const effectWords = ({ effect, certainty, regime }) =>
  [effect && effect.replace("-", " "), regime && `by ${regime}`, SURE[certainty]].filter(Boolean).join(", ");

/** The objects that the graph shows as one: what they have in common, and each of them. */
const stackDetails = (members) => {
  const [first] = members;
  const list = el("ul", { class: "bare" });
  return [
    el("h3", {}, badge(first.effect), ` ${number(members.length)} `, el("span", { class: "kind" }, first.kind)),
    el("dl", {},
      fact("With", first.parent?.key && objectLink(first.parent.key)),
      fact("Finalizers", first.finalizers && first.finalizers.map((name) => el("p", {}, el("code", {}, name)))),
      fact("Data", members.some((node) => node.data) && `${count(members.filter((node) => node.data).length, "object")} with data`),
      fact("Each of them", chunked(list, members, (node) => el("li", {}, objectLink(node.key)), 50))),
  ];
};

/** The panel beside the views. */
const detailsPanel = () => {
  const content = el("div", { class: "content" });
  const hint = "Select an object to see why this happens to it, who holds it, and what releases it.";
  const leave = () => change({ at: "", stack: "" });
  const close = el("button", { type: "button", class: "close", "aria-label": "Close the details", click: leave }, "\u00d7");
  const element = el("section", {
    class: "details", "aria-label": "Selected object", tabindex: "-1", keydown: (event) => event.key === "Escape" && leave(),
  }, close, content);
  const refresh = () => {
    const node = byKey.get(state.at);
    element.classList.toggle("empty", !node);
    close.hidden = !node;
    const members = node && state.stack ? stackOf(node) : [];
    const told = members.length > 1 ? stackDetails(members) : node ? details(node) : [el("p", { class: "muted" }, hint)];
    content.replaceChildren(...told);
    element.scrollTop = 0;
  };
  return { element, refresh };
};
