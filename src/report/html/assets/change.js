// The page of a change: what it does that it does not show, then everything that it does, then what it shows.

const EFFECT_TITLES = [
  ["stuck", "Gets stuck in Terminating"], ["data-lost", "Data is deleted with"], ["cascaded", "Deleted with another object"],
  ["generated-deleted", "Deleted with the object it was generated from"], ["recreated", "Deleted, then created again"],
  ["orphaned", "Left behind: nobody deletes it"], ["kept", "Kept by the tool"], ["deleted", "Deleted by the tool"],
];

const effectItem = (effect) => {
  const chain = effect.because.filter((key) => key !== effect.key);
  const sure = effectWords({ ...effect, effect: "" }).replace(/^ /, "");
  return el("li", {}, objectLink(effect.key), sure && el("span", { class: "muted" }, ` ${sure.replace(/^, /, "")}`),
    chain.length > 0 && el("span", { class: "because" }, " with ", chain.map((key, at) => [at > 0 && " \u2192 ", objectLink(key)])));
};

const effectsSection = () => {
  const parts = EFFECT_TITLES.map(([effect, title]) => {
    const list = contract.effects.filter((one) => one.effect === effect);
    return list.length && folded([el("strong", {}, title), ` ${number(list.length)}`],
      () => chunked(el("ul", {}), list, effectItem, 50), { "data-print": "", open: list.length <= 12 && effect !== "deleted" });
  });
  return optional("effects", "What merging does", parts.filter(Boolean));
};

const changesSection = () => {
  const shown = contract.changes;
  if (!shown.length) return null;
  const where = (change) => [
    change.base && place(change.base.file, change.base.line, "base"), change.base && change.head && " \u2192 ",
    change.head && place(change.head.file, change.head.line, "head")];
  const one = (change) => el("li", {}, change.was && [el("code", {}, change.was), " \u2192 "], el("code", {}, change.key), " ",
    change.bundle && el("span", { class: "muted" }, `${change.bundle} `), where(change));
  const words_ = ["removed", "renamed", "moved", "changed", "added"];
  return section("changes", "What the change shows", words_.map((word) => {
    const list = shown.filter((change) => change.change === word);
    return list.length > 0 && folded(`${word} ${number(list.length)}`, () => chunked(el("ul", {}), list, one, 50), { "data-print": "" });
  }));
};

const changePage = () => {
  const { deleted, cascaded, stuck, orphaned, findings } = contract.summary;
  const names = (state_) => state_.ref || state_.path;
  return {
    summary: [
      el("p", {}, "From ", el("code", {}, names(contract.base)), " to ", el("code", {}, names(contract.head))),
      el("ul", { class: "figures" }, figure(findings.error, "error", "deleted", true), figure(findings.warning, "warning", "stuck", true),
        figure(deleted, "deleted", "plain"), figure(cascaded, "by cascade", "plain"), figure(stuck, "stuck", "plain"), figure(orphaned, "left behind", "plain")),
    ],
    parts: [
      findingsSection("surprises", "Surprises"), effectsSection(), nodes.some(isTouched) ? explorer() : null,
      stuckSection(), varySection(), changesSection(), notesSection(),
    ],
  };
};
