// The cascade as a tree, after the ARIA pattern. The page contains only open rows, and long lists in parts.

const PART = 100;
/** Maximum number of rows that are opened automatically. */
const ROWS = 150;

const tree = (show) => {
  /** The rows that the reader opened or closed. */
  const opened = new Map();
  let auto = new Set();
  const element = el("ul", { role: "tree", class: "tree", "aria-label": "What is deleted with what" });
  const rows = new Map();

  const childrenOf = (node) => node.children.filter((child) => wanted.shown[child.id]);
  const topmost = () => roots.filter((root) => wanted.shown[root.id]);
  const isOpen = (node) => opened.get(node.id) ?? auto.has(node.id);

  /** Opens as many rows from the top as fit; with a filter, only rows that lead to a hit. */
  const openSome = () => {
    auto = new Set();
    const top = topmost();
    let left = ROWS - Math.min(top.length, PART);
    const queue = top.slice(0, PART);
    for (const node of queue) {
      const children = childrenOf(node);
      if (!children.length || (isFiltered() && !leads(node))) continue;
      const rows = Math.min(children.length, PART);
      if (rows > left && !(top.length === 1 && node === top[0])) continue;
      auto.add(node.id);
      left -= rows;
      queue.push(...children.slice(0, PART));
    }
  };
  /** Whether a hit is below. */
  const leads = (node) => node.children.some((child) => wanted.shown[child.id]);

  const item = (node, level, at, size) => {
    const children = childrenOf(node);
    const row = el("div", {
      role: "treeitem", class: `row ${wanted.hits[node.id] || !node.key ? "" : "context"}`, "aria-level": String(level),
      "aria-posinset": String(at + 1), "aria-setsize": String(size), "aria-selected": "false", tabindex: "-1",
      "aria-expanded": children.length ? "false" : null,
    },
    el("span", { class: "twisty", "aria-hidden": "true" }), badge(node.effect), " ",
    node.key ? el("span", { class: "key" }, named(node)) : el("strong", {}, node.title), " ",
    node.implied && el("span", { class: "tag" }, "implied"), node.data && el("span", { class: "tag data" }, "data"),
    node.finalizers && el("span", { class: "tag stuck" }, `finalizer ${node.finalizers.join(", ")}`),
    node.why && el("span", { class: "why" }, ` ${node.why}`, heldBy(node)),
    children.length > 0 && el("span", { class: "below" }, ` ${number(node.below)} below`));
    row.node = node;
    rows.set(node.id, row);
    const li = el("li", { role: "none" }, row);
    if (children.length && isOpen(node)) open(row);
    return li;
  };

  /** The holds of a stuck object, if its row shows no finalizers. */
  const heldBy = (node) => {
    const stuck = node.finalizers ? null : stuckOf.get(`${node.story} ${node.key}`);
    return stuck && `; ${clipped(stuck.holds.map((hold) => hold.what).join("; "), 180)}`;
  };

  /** The list below a row. In the page, the list is a sibling of the row's text, so that the accessible name is only that text. */
  const below = (row) => row.nextElementSibling;

  const fillGroup = (group, children, level) => {
    let shown = 0;
    group.next = () => {
      if (shown >= children.length) return null;
      const part = children.slice(shown, shown + PART).map((child, at) => item(child, level, shown + at, children.length));
      shown += part.length;
      group.more?.remove();
      group.append(...part);
      const left = children.length - shown;
      if (left > 0) {
        const more = el("div", {
          role: "treeitem", class: "row more", tabindex: "-1", "aria-level": String(level), "aria-selected": "false",
          "aria-posinset": String(shown + 1), "aria-setsize": String(children.length + 1),
        }, `Show ${number(Math.min(PART, left))} more of ${number(left)}`);
        more.next = group.next;
        group.more = el("li", { role: "none" }, more);
        group.append(group.more);
      }
      return part[0].firstChild;
    };
    group.next();
  };

  const open = (row) => {
    row.setAttribute("aria-expanded", "true");
    if (!below(row)) {
      const group = el("ul", { role: "group" });
      row.after(group);
      fillGroup(group, childrenOf(row.node), Number(row.getAttribute("aria-level")) + 1);
    }
    below(row).hidden = false;
  };
  const close = (row) => {
    row.setAttribute("aria-expanded", "false");
    if (below(row)) below(row).hidden = true;
  };
  const toggle = (row, wish) => {
    if (!row.hasAttribute("aria-expanded")) return;
    const now = wish ?? row.getAttribute("aria-expanded") !== "true";
    opened.set(row.node.id, now);
    if (now) open(row);
    else close(row);
  };

  const focus = (row) => {
    if (!row) return;
    element.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    row.setAttribute("tabindex", "0");
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    if (row.node) show(row.node);
  };
  const seen = () => [...element.querySelectorAll(".row")].filter((row) => !row.closest("ul[hidden]"));
  const above = (row) => row.closest("ul").previousElementSibling;
  const activate = (row) => (row.next ? focus(row.next()) : toggle(row));

  const keys = {
    ArrowDown: (row, all) => focus(all[all.indexOf(row) + 1]),
    ArrowUp: (row, all) => focus(all[all.indexOf(row) - 1]),
    Home: (row, all) => focus(all[0]),
    End: (row, all) => focus(all[all.length - 1]),
    ArrowRight: (row) => (row.getAttribute("aria-expanded") === "true" ? focus(below(row).querySelector(".row")) : toggle(row, true)),
    ArrowLeft: (row) => {
      if (row.getAttribute("aria-expanded") === "true") toggle(row, false);
      else if (row.closest("ul") !== element) focus(above(row));
    },
    Enter: activate,
    " ": activate,
    "*": (row) => [...row.closest("ul").children].forEach((li) => toggle(li.firstChild, true)),
  };
  element.addEventListener("keydown", (event) => {
    const row = event.target.closest(".row");
    const key = keys[event.key];
    if (!row || !key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    key(row, seen());
  });
  element.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    if (row.next) return focus(row.next());
    if (event.target.closest(".twisty") || !row.node.key) toggle(row);
    focus(row);
  });

  const refresh = () => {
    rows.clear();
    openSome();
    const top = topmost();
    element.replaceChildren();
    fillGroup(element, top, 1);
    element.querySelector(".row")?.setAttribute("tabindex", "0");
    element.hidden = top.length === 0;
    mark();
  };
  const mark = () => {
    element.querySelector("[aria-selected='true']")?.setAttribute("aria-selected", "false");
    rows.get(byKey.get(state.at)?.id)?.setAttribute("aria-selected", "true");
  };
  /** Brings an object into view, and opens every row above it. */
  const reveal = (node) => {
    if (!wanted.shown[node.id]) change(UNFILTERED);
    const way = chainOf(node);
    if (beside.stories.length > 1) way.unshift(roots[node.story]);
    for (const one of way) {
      const parent = rows.get(one.parent?.id);
      const group = parent ? below(parent) : element;
      while (!rows.has(one.id) && group.next?.()) continue;
      const row = rows.get(one.id);
      if (!row) return;
      if (one === node) focus(row);
      else toggle(row, true);
    }
  };
  /** Opens rows from the top until there are `most`. */
  const openAll = (most) => {
    let left = most;
    const lists = [element];
    for (const list of lists) {
      while (list.children.length < left && list.next()) continue;
      left -= list.children.length;
      for (const { firstChild: row } of [...list.children]) {
        if (left <= 0) return;
        toggle(row, true);
        if (row.hasAttribute("aria-expanded")) lists.push(below(row));
      }
    }
  };
  const closeAll = () => {
    element.querySelectorAll("[aria-expanded='true']").forEach((row) => toggle(row, false));
    opened.clear();
  };
  return { element, refresh, mark, reveal, openAll, closeAll };
};
