// The page of a change: first the effects that its diff does not show, then all effects, then those that the diff shows.

const EFFECT_TITLES = [
  ["stuck", "Gets stuck in Terminating"], ["data-lost", "Deleted with data"], ["cascaded", "Deleted with another object"],
  ["generated-deleted", "Generated, and deleted by cascade"], ["recreated", "Deleted, then created again"],
  ["orphaned", "Left behind: not deleted"], ["kept", "Kept by the tool"], ["deleted", "Deleted by the tool"],
];

// Effects that depend on whether an unknown tool prunes.
const isSupposed = (effect) => effect.regime === "unknown";
const predicted = () => contract.effects.filter((effect) => !isSupposed(effect));

/** The id of a commit as people write it (`11dc211cd5^`); any other name as it is. */
const shortCommit = (ref) => ref?.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?=[\^~]|$)/, "$1");

const howOf = (effect) => effectWords({ ...effect, effect: "" });

const namesClusters = new Set((contract.effects ?? []).map((effect) => effect.cluster)).size > 1;

/** `common` is shown once above the items, because it applies to all of them. */
const effectItem = (common) => (effect) => {
  const chain = effect.because.filter((key) => key !== effect.key);
  const how = howOf(effect) !== common && howOf(effect);
  return el("li", {}, objectLink(effect.key),
    chain.length > 0 && el("span", { class: "because" }, " with ", chain.map((key, at) => [at > 0 && " \u2192 ", objectLink(key)])),
    namesClusters && effect.cluster && el("span", { class: "muted" }, ` in cluster ${effect.cluster}`),
    how && el("span", { class: "muted" }, `, ${how}`));
};

const effectsSection = () => {
  const parts = EFFECT_TITLES.map(([effect, title]) => {
    const list = predicted().filter((one) => one.effect === effect);
    const hows = new Set(list.map(howOf));
    const common = list.length > 1 && hows.size === 1 ? howOf(list[0]) : "";
    const counted = ` ${count(list.length, "object")}${common && `, ${common}`}`;
    return list.length && folded([el("strong", {}, title), el("span", { class: "muted" }, counted)],
      () => chunked(el("ul", {}), list, effectItem(common), 50), { "data-print": "", open: list.length <= 12 && effect !== "deleted" });
  });
  return optional("effects", "What merging does", parts.filter(Boolean));
};

const supposedSection = () => {
  const list = contract.effects.filter((effect) => isSupposed(effect) && effect.effect !== "kept");
  return optional("supposed", "Deleted if a tool prunes", list.length ? [chunked(el("ul", {}), list, effectItem(""), 50)] : []);
};

const unreadSection = () => {
  const item = (input) => el("li", {}, input.subject, " ", place(input.file, input.line, input.side === "base" ? "base" : "head"),
    el("span", { class: "muted" }, ` ${input.reason}`));
  return optional("unread", "Not read", contract.unread.length ? [chunked(el("ul", {}), contract.unread, item, 50)] : []);
};

// A build that fails in both states at one place for one reason is shown as one item.
const failedSection = () => {
  const places = new Map();
  for (const failed of contract.failed) {
    const at = JSON.stringify([failed.file, failed.line, failed.reason]);
    places.set(at, [...(places.get(at) || []), failed]);
  }
  const item = ([failed, ...others]) => {
    const oneSide = others.every((other) => other.side === failed.side);
    const when = oneSide ? `, ${failed.side === "base" ? "before" : "after"} the change` : "";
    return el("li", {}, place(failed.file, failed.line, failed.side), el("span", { class: "muted" }, ` ${failed.reason}${when}`));
  };
  return optional("failed", "Cannot be applied", places.size ? [chunked(el("ul", {}), [...places.values()], item, 50)] : []);
};

const changesSection = () => {
  const shown = contract.changes;
  if (!shown.length) return null;
  const where = (change) => [
    change.base && place(change.base.file, change.base.line, "base"), change.base && change.head && " \u2192 ",
    change.head && place(change.head.file, change.head.line, "head")];
  const one = (change) => el("li", {}, change.was && [objectName(change.was), " \u2192 "], objectName(change.key), " ",
    change.bundle && el("span", { class: "muted" }, `in ${change.bundle}: `), where(change));
  const sorts = { removed: "Removed", renamed: "Renamed", moved: "Moved", changed: "Changed", added: "Added" };
  return section("changes", "Changed objects", Object.entries(sorts).map(([sort, title]) => {
    const list = shown.filter((change) => change.change === sort);
    return list.length > 0 && folded([el("strong", {}, title), el("span", { class: "muted" }, ` ${count(list.length, "object")}`)], () => chunked(el("ul", {}), list, one, 50), { "data-print": "" });
  }));
};

const changePage = () => {
  const { deleted, stuck, orphaned, findings } = contract.summary;
  const of = (...effects) => predicted().filter((one) => effects.includes(one.effect));
  // Counted as in the title, which includes objects that are deleted with another one.
  const cascaded = new Set(of("cascaded").map((one) => one.key));
  const again = of("recreated").filter((one) => !cascaded.has(one.key)).length;
  const data = of("data-lost").length;
  const names = (state_) => (state_.path === "." ? "the work tree" : el("code", {}, shortCommit(state_.ref) || state_.path));
  return {
    summary: [
      el("p", {}, "From ", names(contract.base), " to ", names(contract.head)),
      el("ul", { class: "figures" }, figure(findings.error, "error", "deleted", true), figure(findings.warning, "warning", "stuck", true),
        figure(stuck, "stuck", "stuck"), figure(deleted, "deleted", "deleted"), figure(of("cascaded", "generated-deleted").length, "by cascade", "deleted"),
        data > 0 && figure(data, "with data", "deleted"), again > 0 && figure(again, "created again", "plain"), figure(orphaned, "left behind", "plain")),
    ],
    parts: [
      findingsSection("surprises", "Surprises"), effectsSection(), supposedSection(), unreadSection(), failedSection(), nodes.some(isTouched) ? explorer() : null,
      stuckSection(), varySection(), changesSection(), notesSection(),
    ],
  };
};
