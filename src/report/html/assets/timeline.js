// The order of the deletions: objects with the same number are deleted together.

/** The kinds of objects, those with most of them first. */
const kindsOf = (list) => {
  const kinds = new Map();
  for (const node of list) kinds.set(node.kind, (kinds.get(node.kind) || 0) + 1);
  const sorted = [...kinds].sort((a, b) => b[1] - a[1] || compare(a[0], b[0]));
  const told = sorted.slice(0, 4).map(([kind, n]) => (n > 1 ? `${kind} (${number(n)})` : kind));
  if (sorted.length > 4) told.push(`and ${count(sorted.length - 4, "more kind")}`);
  return told.join(", ");
};

const timeline = () => {
  const element = el("div", { class: "timeline" });
  const lane = (title, list, effect, longest) => {
    const bar = el("span", { class: `bar ${effect}`, "aria-hidden": "true" });
    bar.style.width = `${Math.max(1, Math.round((100 * list.length) / longest))}%`;
    const objects = () => chunked(el("ul", {}), list, (node) => el("li", {}, objectLink(node.key)), PART);
    return el("li", {}, folded(
      [el("strong", {}, title), " ",
        list.length === 1 ? el("span", { class: "key" }, named(list[0]))
          : [count(list.length, "object"), el("span", { class: "muted" }, `: ${kindsOf(list)}`)], bar], objects));
  };
  const refresh = () => {
    const parts = beside.stories.map((story, at) => {
      const list = nodes.filter((node) => node.story === at && wanted.hits[node.id]);
      if (!list.length) return null;
      const waves = new Map();
      for (const node of list) {
        const wave = node.effect === "deleted" ? node.wave || 0 : node.effect;
        if (!waves.has(wave)) waves.set(wave, []);
        waves.get(wave).push(node);
      }
      const longest = most([...waves.values()].map((wave) => wave.length));
      const order = [...waves.keys()].filter((wave) => typeof wave === "number").sort((a, b) => a - b);
      const racing = list.filter((node) => node.race);
      return [
        beside.stories.length > 1 && el("h3", {}, story.title),
        el("ol", { class: "waves" },
          order.map((wave) => lane(wave ? `Wave ${wave}:` : "Before:", waves.get(wave), "deleted", longest)),
          waves.has("later") && lane("In a later step:", waves.get("later"), "stuck", longest),
          waves.has("stuck") && lane("Never, unless released:", waves.get("stuck"), "stuck", longest),
          waves.has("kept") && lane("Kept:", waves.get("kept"), "kept", longest)),
        racing.length > 0 && el("p", {}, "May race: ", racing.slice(0, 10).map((node) => [objectLink(node.key), " "]),
          racing.length > 10 && `and ${number(racing.length - 10)} more`),
      ];
    });
    element.replaceChildren(
      el("p", { class: "muted" }, "Objects of one wave are deleted together, and in no certain order among each other."),
      ...parts.flat().filter(Boolean));
  };
  return { element, refresh };
};
