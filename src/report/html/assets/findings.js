// Findings: grouped by rule, folder or object; each with its lines, why, and how to fix it. A link shows one alone.

const SEVERITIES = ["error", "warning", "info"];
const SEVERITY_MARKS = { error: "\u00d7", warning: "!", info: "i" };
/** The bundle of each object of a change, by key. */
const appliedWith = new Map();
for (const one of contract.changes || []) if (one.bundle) for (const key of [one.key, one.was]) appliedWith.set(key, one.bundle);
const FINDINGS = (contract.findings || []).map((finding, at) => {
  const { file } = finding.location;
  const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : ".";
  const hay = [finding.rule, finding.message, finding.object, file, finding.reason, finding.field].join(" ").toLowerCase();
  const bundles = beside.bundles[at] || [appliedWith.get(finding.object) || "none"];
  return { ...finding, at, folder, bundles, hay };
});
const BUNDLES = new Set(FINDINGS.flatMap((finding) => finding.bundles));

const fits = (finding, but) => {
  if (state.finding) return finding.fingerprint === state.finding;
  if (but !== "severity" && state.severity && !state.severity.split(",").includes(finding.severity)) return false;
  if (but !== "rule" && state.rule && finding.rule !== state.rule) return false;
  if (but !== "folder" && state.folder && finding.folder !== state.folder) return false;
  if (but !== "bundle" && state.bundle && !finding.bundles.includes(state.bundle)) return false;
  return state.find.toLowerCase().split(/\s+/).every((word) => finding.hay.includes(word));
};
/** The number of findings for each of the names that `names` returns for a finding. */
const tallyFindings = (but, names) => {
  const counts = new Map();
  for (const finding of FINDINGS) {
    if (!fits(finding, but)) continue;
    for (const name of [names(finding)].flat()) counts.set(name, (counts.get(name) || 0) + 1);
  }
  return counts;
};

const severityBadge = (severity) =>
  el("span", { class: `badge ${severity}` }, el("span", { "aria-hidden": "true" }, `${SEVERITY_MARKS[severity]} `), severity);

/** The line of the first place that is marked. */
const lineOf = (part) => part.lines.find((line) => line.pieces.some((piece) => piece.mark !== undefined))?.number;

/** Lines of a file. The caption names the place of the finding for its first lines, the first marked line for the others. */
const snippet = (finding) => (part, at) => el("figure", { class: "snippet" },
  el("figcaption", {}, place(part.file, at ? lineOf(part) : finding.location.line, part.side), beside.command === "diff" && part.side && el("span", { class: "muted" }, ` in ${part.side}`)),
  el("div", { class: "code", tabindex: "0", role: "group", "aria-label": `Lines of ${part.file}` },
    part.lines.map((line, at) => [
      at > 0 && line.number > part.lines[at - 1].number + 1 && el("div", { class: "gap", "aria-hidden": "true" }, "\u22ee"),
      el("div", { class: "line" }, el("span", { class: "no" }, String(line.number)),
        el("span", { class: "text" },
        line.pieces.map((piece) => (piece.mark === undefined ? piece.text : el("mark", {}, piece.text))), saidOf(line))),
    ])));

/** The labels of the marked pieces of a line, which follow it. */
const saidOf = (line) => {
  const said = [...new Set(line.pieces.map((piece) => piece.mark).filter(Boolean))];
  return said.length > 0 && el("span", { class: "said" }, `  \u2190 ${said.join("; ")}`);
};

const paragraphs = (text) => text.split("\n").map((line) => el("p", { class: line.startsWith(" ") ? "command-line" : "" }, prose(line)));

const rulePage = (rule, level) => beside.rules[rule] && folded(`About the rule ${rule}`, () => el("div", { class: "rule-page" }, markdown(beside.rules[rule].page, level)));

const findingCard = (level) => (finding) => el("li", {}, el("article", { class: `finding ${finding.severity}`, "aria-label": finding.message },
  el(`h${level}`, {}, severityBadge(finding.severity), " ", prose(capital(finding.message))),
  el("p", { class: "muted about" }, finding.object && objectName(finding.object),
    finding.location.template && el("span", {}, "from ", el("code", {}, finding.location.template)),
    el("a", { href: `#finding=${encodeURIComponent(finding.fingerprint)}` }, "link to this finding")),
  beside.snippets[finding.at].map(snippet(finding)),
  finding.reason && el("div", { class: "why" }, paragraphs(finding.reason)),
  finding.help && el("div", { class: "help" }, el("strong", {}, "How to fix it"), paragraphs(capital(finding.help))),
  finding.chain.length > 1 && el("p", { class: "muted" }, "Connected: ", finding.chain.map((key, at) => [at > 0 && " \u2192 ", objectName(key)])),
  state.by !== "rule" && rulePage(finding.rule, level + 1)));

const GROUPS = {
  rule: { title: "rule", of: (finding) => finding.rule },
  folder: { title: "folder", of: (finding) => finding.folder },
  object: { title: "object", of: (finding) => finding.object || finding.location.file },
};

const worst = (list) => SEVERITIES.findIndex((severity) => list.some((finding) => finding.severity === severity));

const findingsSection = (id, title) => {
  if (!FINDINGS.length) return id === "surprises" ? null : section(id, title, el("p", {}, "Nothing found."));
  const parts = [
    searchField("Search", "find", "message, object, file\u2026"),
    toggles("Severity", "severity", SEVERITIES, () => tallyFindings("severity", (one) => one.severity), (value) => SEVERITY_MARKS[value]),
    choice("Rule", "rule", () => tallyFindings("rule", (one) => one.rule), (value) => value),
    choice("Folder", "folder", () => tallyFindings("folder", (one) => one.folder), (value) => value),
    BUNDLES.size > 1 && choice("Bundle", "bundle", () => tallyFindings("bundle", (one) => one.bundles), (value) => value),
  ].filter(Boolean);
  const by = el("select", { change: () => change({ by: by.value }) }, Object.entries(GROUPS).map(([value, group]) => el("option", { value }, group.title)));
  const shown = el("p", { class: "shown", role: "status" });
  const reset = el("button", { type: "button", click: () => change({ find: "", severity: "", rule: "", folder: "", bundle: "", finding: "" }) }, "Show all");
  const list = el("div", { class: "groups" });
  const few = FINDINGS.length <= 5;
  const bar = el("div", { class: "filters", role: "search", "aria-label": "Findings" }, parts.map((part) => part.element),
    el("label", { class: "field" }, el("span", {}, "Group by"), by), el("div", { class: "count" }, shown, reset));
  const refresh = () => {
    const found = FINDINGS.filter((finding) => fits(finding));
    const groups = new Map();
    const group = GROUPS[state.by] || GROUPS.rule;
    for (const finding of found) {
      const name = group.of(finding);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(finding);
    }
    const sorted = [...groups].sort(([a, x], [b, y]) => worst(x) - worst(y) || y.length - x.length || compare(a, b));
    by.value = state.by;
    for (const part of parts) part.refresh();
    const all = found.length === FINDINGS.length;
    shown.textContent = all ? count(found.length, "finding") : `${number(found.length)} of ${count(FINDINGS.length, "finding")}`;
    reset.hidden = all;
    const one = ([name, members]) => {
      members.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.at - b.at);
      const summary = [severityBadge(SEVERITIES[worst(members)]), " ", el("strong", {}, name), ` ${count(members.length, "finding")}`,
        state.by === "rule" && el("span", { class: "muted" }, ` ${beside.rules[name]?.summary || ""}`)];
      const make = () => [state.by === "rule" && rulePage(name, 3), chunked(el("ul", { class: "cards" }), members, findingCard(3), 20)].filter(Boolean);
      return folded(summary, make, { class: "group", "data-print": "", open: few || sorted.length === 1 });
    };
    list.replaceChildren(chunked(el("ul", { class: "bare" }), sorted, (entry) => el("li", {}, one(entry)), 100));
  };
  const names = ["find", "severity", "rule", "folder", "bundle", "by", "finding"];
  watch((changed) => names.some((name) => changed.has(name)) && refresh());
  refresh();
  // A handful needs no filters.
  bar.hidden = few && !state.finding;
  return section(id, title, bar, list);
};

const findingsPage = () => {
  const { files, objects, error, warning, info, suppressed, baseline } = contract.summary;
  const rest = [[suppressed, "suppressed"], [baseline, "in the baseline"]].filter(([n]) => n).map(([n, word]) => `, ${number(n)} ${word}`);
  return {
    summary: [
      el("ul", { class: "figures" }, figure(error, "error", "deleted", true), figure(warning, "warning", "stuck", true), figure(info, "info", "plain", true)),
      el("p", { class: "muted" }, `${count(objects, "object")} in ${count(files, "file")}${rest.join("")}`),
    ],
    parts: [findingsSection("findings", "Findings"), notesSection()],
  };
};
