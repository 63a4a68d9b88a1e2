// The parts of a plan besides its tree: surprises first, then stuck objects and how to release them, a safe order, and assumptions.

const bullet = (...content) => el("li", {}, content);

/** The number of objects by effect. */
const tallies = (story) => {
  const { deleted, implied, stuck, stillStuck, kept, untouched } = story.counts;
  return el("ul", { class: "figures" },
    figure(deleted, `deleted${implied ? ` (${number(implied)} implied)` : ""}`, "deleted"),
    figure(stuck, `stuck${stillStuck ? ` (${number(stillStuck)} before)` : ""}`, "stuck"),
    figure(kept, "kept", "kept"), figure(untouched, "untouched", "plain"));
};

const REJECTED = {
  403: "Rejected (403), because the API server never deletes it", 404: "Not found (404)",
  500: "Rejected (500), because a webhook has no backend",
};

/** Effects that the request does not show: stuck objects, deleted data, rejected requests, races. */
const surprises = (story, at) => {
  const mine = nodes.filter((node) => node.story === at);
  const stuck = mine.filter((node) => node.effect === "stuck");
  const data = mine.filter((node) => node.effect === "deleted" && node.data);
  const held = stuck.filter((node) => !stuckOf.get(`${at} ${node.key}`)?.waits);
  const holding = (node) => stuckOf.get(`${at} ${node.key}`)?.holds.map((hold) => ` ${hold.what}`).join(";");
  const waiting = held.length > 0 ? stuck.length - held.length : 0;
  const some = (list, why, rest) => el("ul", {},
    list.slice(0, 5).map((node) => bullet(objectLink(node.key), el("span", { class: "muted" }, clipped(why(node) || "", 200)))),
    list.length > 5 && bullet(`and ${number(list.length - 5)} more`), rest && bullet(rest));
  const look = (values, label) => el("button", { type: "button", class: "link", click: () => {
    change({ ...UNFILTERED, in: beside.stories.length > 1 ? String(at + 1) : "", view: "tree", ...values });
    byId("what").scrollIntoView();
  } }, label);
  return [
    stuck.length > 0 && bullet(
      look({ effect: "stuck" }, `${count(stuck.length, "object")} ${stuck.length === 1 ? "gets" : "get"} stuck in Terminating`), ". ",
      el("a", { href: "#stuck" }, `How to release ${stuck.length === 1 ? "it" : "them"}`),
      some(held.length ? held : stuck, holding, waiting > 0 && `${count(waiting, "object")} only ${waiting === 1 ? "waits" : "wait"} for others`)),
    data.length > 0 && bullet(
      look({ effect: "deleted", all: "data" }, `Data of ${count(data.length, "object")} is deleted`), some(data, (node) => `, with ${node.data}`)),
    story.rejected.slice(0, 10).map(([key, code]) => bullet(`${REJECTED[code] || `Rejected (${code})`}: `, objectName(key))),
    story.rejected.length > 10 && bullet(`${number(story.rejected.length - 10)} more rejections`),
    story.unanswered.length > 0 && bullet(el("a", { href: "#unanswered" }, `${count(story.unanswered.length, "webhook or API")} without a backend`)),
    story.variations.length > 0 && bullet(el("a", { href: "#vary" }, "Other outcomes are possible"), ": controllers race."),
  ].flat().filter(Boolean);
};

const perStory = (make) => beside.stories.flatMap((story, at) => {
  const found = make(story, at);
  if (!found || !found.length) return [];
  return beside.stories.length > 1 ? [el("h3", {}, story.title), ...found] : found;
});
const optional = (id, title, content) => (content.length ? section(id, title, content) : null);

const stuckSection = () => optional("stuck", "Stuck in Terminating, and how to release it", perStory((story) => {
  if (!story.stuck.length) return null;
  const one = (stuck) => el("li", {}, el("p", {}, objectLink(stuck.key), stuck.before && " (was Terminating before)"), holds(stuck));
  const [first, rest] = [story.stuck.filter((stuck) => !stuck.waits), story.stuck.filter((stuck) => stuck.waits)];
  const list = (items) => chunked(el("ul", { class: "stuck-list" }), items, one, 20);
  return [
    first.length > 0 && list(first),
    rest.length > 0 && folded(`${count(rest.length, "object")} only ${rest.length === 1 ? "waits" : "wait"} for others`, () => list(rest), { "data-print": "" }),
  ].filter(Boolean);
}));

const unansweredSection = () => optional("unanswered", "Without a backend", perStory((story) => story.unanswered.length > 0 && [
  el("ul", {}, story.unanswered.map((one) => bullet(el("p", {}, `${one.what}. `, cited(one.cites)), el("p", { class: "muted" }, one.help), command(one.command)))),
]));

const varySection = () => optional("vary", "What may vary", perStory((story) => {
  const list = story.variations.map((variation) => bullet(`${variation.title}:`, el("ul", {},
    variation.outcomes.map((outcome) => bullet(`${outcome.text} `, cited(outcome.cites))),
    variation.more && bullet(`and ${variation.more}`))));
  if (story.incomplete) list.push(bullet(`Note: ${story.incomplete}.`));
  return list.length > 0 && [el("p", {}, "Kubernetes\u2019 controllers race here. The tree shows one outcome; also possible:"), el("ul", {}, list)];
}));

/** The objects that stay on purpose, and the order in which a removal is safe. */
const removalSections = () => {
  if (!beside.removal) return [];
  const { safeOrder, kept } = contract;
  const reasons = new Map();
  for (const { key, why } of kept) reasons.set(why, [...(reasons.get(why) || []), key]);
  const steps = safeOrder.map((step) => bullet(el("p", {}, step.why), command(step.command)));
  const order = !beside.removal.orderKnown
    ? [el("p", {}, "None was found: whatever is deleted first, something gets stuck. Release it by hand, as above.")]
    : steps.length > 0 && [el("p", {}, "After these commands nothing gets stuck:"), el("ol", {}, steps, bullet(el("p", {}, "The removal itself:"), command(beside.removal.command)))];
  return [
    optional("order", "Safe order", order || []),
    optional("stays", "Stays, and why", [...reasons].map(([why, keys]) => el("div", {},
      el("p", {}, `${capital(why)}:`), chunked(el("ul", {}), keys, (key) => el("li", {}, objectName(key)), 50)))),
  ];
};

const eventsSection = () => {
  const { events } = (contract.steps || []).at(-1) || {};
  if (!events?.length) return null;
  const one = (event) => el("li", {}, `${event.reason} on `, el("code", {}, event.object), `: ${event.message}${event.certain ? "" : " (not in every order of events)"}`);
  return section("events", "Events that the garbage collector records", chunked(el("ul", {}), events, one, 20));
};

const notesSection = () => {
  const all = (contract.notes || []).map((note) => (typeof note === "string" ? note : `${note.file ? `${note.file}: ` : ""}${note.message}`));
  return all.length ? section("assumed", beside.command === "plan" ? "Assumed" : "Notes", chunked(el("ul", {}), all, (note) => el("li", {}, prose(note)), 50)) : null;
};

const planPage = () => {
  const told = perStory((story, at) => {
    const list = surprises(story, at);
    return list.length > 0 && [el("ul", {}, list)];
  });
  return {
    summary: beside.stories.map((story) => [beside.stories.length > 1 && el("p", {}, story.title), tallies(story)]),
    parts: [
      optional("surprises", "Surprises", told),
      nodes.some(isTouched) ? explorer() : section("what", "What happens", el("p", {}, "Nothing is deleted.")),
      stuckSection(), ...removalSections(), unansweredSection(), varySection(), eventsSection(), notesSection(),
    ],
  };
};
