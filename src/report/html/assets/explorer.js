// The tree, the graph and the timeline of the same objects, below one bar of filters and beside the details of one object.

let select = () => {};

const explorer = () => {
  const bar = filterBar();
  const panel = detailsPanel();
  const show = (node) => change({ at: node.key, stack: "" });
  const tree_ = tree(show);
  const tools = el("div", { class: "tools" },
    el("button", { type: "button", click: () => tree_.openAll(3000) }, "Expand all"),
    el("button", { type: "button", click: () => tree_.closeAll() }, "Collapse all"));
  const empty = el("p", { class: "muted" }, "No object fits the filter.");
  const views = [
    { name: "tree", title: "Tree", part: tree_, element: el("div", {}, tools, empty, tree_.element) },
    { name: "time", title: "Timeline", part: timeline() },
  ];
  if (typeof dagre !== "undefined") {
    const graph = drawing((members) => change({ at: members[0].key, stack: members.length > 1 ? "1" : "" }));
    views.splice(1, 0, { name: "graph", title: "Graph", part: graph });
  }
  const tabs = views.map((view) => el("button", {
    type: "button", role: "tab", id: `tab-${view.name}`, "aria-controls": `view-${view.name}`,
    click: () => change({ view: view.name }),
    keydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (views.indexOf(view) + step + views.length) % views.length;
      change({ view: views[next].name });
      tabs[next].focus();
    },
  }, view.title));
  const panels = views.map((view) => el("div", {
    role: "tabpanel", id: `view-${view.name}`, "aria-labelledby": `tab-${view.name}`, class: "view",
  }, view.element || view.part.element));
  const element = section("what", "What happens, and why",
    bar.element,
    el("div", { role: "tablist", "aria-label": "View", class: "tabs" }, tabs),
    el("div", { class: "split" }, el("div", { class: "panels" }, panels), panel.element));

  const showView = () => {
    const current = views.find((view) => view.name === state.view) || views[0];
    views.forEach((view, at) => {
      const chosen = view === current;
      tabs[at].setAttribute("aria-selected", String(chosen));
      tabs[at].setAttribute("tabindex", chosen ? "0" : "-1");
      panels[at].hidden = !chosen;
    });
    current.part.appear?.();
  };
  const refilter = () => {
    findWanted();
    bar.refresh();
    for (const { part } of views) (part.invalidate || part.refresh)();
    empty.hidden = wanted.number > 0;
  };
  const filters = ["q", "effect", "kind", "ns", "in", "all"];
  watch((changed) => {
    if (filters.some((name) => changed.has(name))) refilter();
    if (changed.has("at") || changed.has("stack")) {
      panel.refresh();
      for (const { part } of views) part.mark?.();
    }
    if (changed.has("view") || filters.some((name) => changed.has(name))) showView();
  });
  select = (node, reveal) => {
    show(node);
    if (!reveal) return;
    if (state.view !== "graph") {
      change({ view: "tree" });
      tree_.reveal(node);
    }
    element.scrollIntoView({ block: "start" });
  };
  addEventListener("beforeprint", () => tree_.openAll(PRINTED));
  refilter();
  panel.refresh();
  // The graph measures its container, so it is drawn after the page is laid out.
  requestAnimationFrame(() => {
    showView();
    const node = byKey.get(state.at);
    if (node && state.view === "tree") tree_.reveal(node);
  });
  return element;
};
