// The cascade as a tree, after the ARIA pattern. Only what is open is in the page, and long lists in parts.

const PART = 100;
/** Rows that open by themselves. */
const ROWS = 150;

const tree = (show) => {
  /** What the reader opened and closed. */
  const opened = new Map();
  let auto = new Set();
  const element = el("ul", { role: "tree", class: "tree", "aria-label": "What is deleted with what" });
  const items = new Map();

  const childrenOf = (node) => node.children.filter((child) => wanted.shown[child.id]);
  const topmost = () => roots.filter((root) => wanted.shown[root.id]);
  const isOpen = (node) => opened.get(node.id) ?? auto.has(node.id);

  /** Opens from the top what fits; of what is filtered only what leads to a hit. */
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
    const row = el("div", { class: "row" },
      el("span", { class: "twisty", "aria-hidden": "true" }), badge(node.effect),
      node.key ? el("span", { class: "key" }, named(node)) : el("strong", {}, node.title),
      node.implied && el("span", { class: "tag" }, "implied"), node.data && el("span", { class: "tag data" }, "data"),
      node.finalizers && el("span", { class: "tag stuck" }, `finalizer ${node.finalizers.join(", ")}`),
      node.why && el("span", { class: "why" }, node.why, heldBy(node)),
      children.length > 0 && el("span", { class: "below" }, `${number(node.below)} below`));
    const li = el("li", {
      role: "treeitem", class: wanted.hits[node.id] || !node.key ? "" : "context", "aria-level": String(level),
      "aria-posinset": String(at + 1), "aria-setsize": String(size), "aria-selected": "false", tabindex: "-1",
      "aria-expanded": children.length ? "false" : null,
    }, row);
    // Its name is its row, not everything below it.
    row.id = `row-${node.id}`;
    li.setAttribute("aria-labelledby", row.id);
    li.node = node;
    items.set(node.id, li);
    if (children.length && isOpen(node)) open(li);
    return li;
  };

  /** What it waits for, where its finalizers do not say. */
  const heldBy = (node) => {
    const stuck = node.finalizers ? null : stuckOf.get(`${node.story} ${node.key}`);
    return stuck && `; ${cut(stuck.holds.map((hold) => hold.what).join("; "), 160)}`;
  };

  const fillGroup = (group, children, level) => {
    let shown = 0;
    const next = () => {
      const part = children.slice(shown, shown + PART).map((child, at) => item(child, level, shown + at, children.length));
      shown += part.length;
      group.querySelector(":scope > .more")?.remove();
      group.append(...part);
      const left = children.length - shown;
      if (left > 0) {
        const label = `Show ${number(Math.min(PART, left))} more of ${number(left)}`;
        const more = el("li", {
          role: "treeitem", class: "more", tabindex: "-1", "aria-level": String(level), "aria-selected": "false",
          "aria-posinset": String(shown + 1), "aria-setsize": String(children.length + 1),
        }, el("div", { class: "row" }, label));
        more.next = next;
        group.append(more);
      }
      return part[0];
    };
    group.next = () => (shown < children.length ? next() : null);
    next();
  };

  const open = (li) => {
    li.setAttribute("aria-expanded", "true");
    let group = li.querySelector(":scope > ul");
    if (!group) {
      group = el("ul", { role: "group" });
      li.append(group);
      fillGroup(group, childrenOf(li.node), Number(li.getAttribute("aria-level")) + 1);
    }
    group.hidden = false;
  };
  const close = (li) => {
    li.setAttribute("aria-expanded", "false");
    const group = li.querySelector(":scope > ul");
    if (group) group.hidden = true;
  };
  const toggle = (li, wish) => {
    if (!li.hasAttribute("aria-expanded")) return;
    const now = wish ?? li.getAttribute("aria-expanded") !== "true";
    opened.set(li.node.id, now);
    if (now) open(li);
    else close(li);
  };

  const focus = (li) => {
    if (!li) return;
    element.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    li.setAttribute("tabindex", "0");
    li.focus({ preventScroll: true });
    li.firstElementChild.scrollIntoView({ block: "nearest" });
    if (li.node?.key) show(li.node);
  };
  const isSeen = (li) => !li.closest("ul[hidden]");
  const seen = () => [...element.querySelectorAll("[role='treeitem']")].filter(isSeen);
  const above = (li) => li.parentElement.closest("[role='treeitem']");

  const keys = {
    ArrowDown: (li, all) => focus(all[all.indexOf(li) + 1]),
    ArrowUp: (li, all) => focus(all[all.indexOf(li) - 1]),
    Home: (li, all) => focus(all[0]),
    End: (li, all) => focus(all[all.length - 1]),
    ArrowRight: (li) => {
      if (li.getAttribute("aria-expanded") === "true") focus(li.querySelector("[role='treeitem']"));
      else toggle(li, true);
    },
    ArrowLeft: (li) => (li.getAttribute("aria-expanded") === "true" ? toggle(li, false) : focus(above(li))),
    Enter: (li) => activate(li),
    " ": (li) => activate(li),
    "*": (li) => [...li.parentElement.children].forEach((one) => toggle(one, true)),
  };
  const activate = (li) => {
    if (li.next) focus(li.next());
    else toggle(li);
  };
  element.addEventListener("keydown", (event) => {
    const li = event.target.closest("[role='treeitem']");
    const key = keys[event.key];
    if (!li || !key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    key(li, seen());
  });
  element.addEventListener("click", (event) => {
    const li = event.target.closest("[role='treeitem']");
    if (!li) return;
    if (li.next) focus(li.next());
    else {
      if (event.target.closest(".twisty") || !li.node.key) toggle(li);
      focus(li);
    }
  });

  const refresh = () => {
    items.clear();
    openSome();
    const top = topmost();
    element.replaceChildren();
    fillGroup(element, top, 1);
    element.firstElementChild?.setAttribute("tabindex", "0");
    element.hidden = top.length === 0;
    mark();
  };
  const mark = () => {
    element.querySelector("[aria-selected='true']")?.setAttribute("aria-selected", "false");
    items.get(byKey.get(state.at)?.id)?.setAttribute("aria-selected", "true");
  };
  /** Brings an object into view, whatever has to be opened for it. */
  const reveal = (node) => {
    const path = chainOf(node);
    if (!wanted.shown[node.id]) change({ q: "", effect: "", kind: "", ns: "", in: "", all: "" });
    if (beside.stories.length > 1) path.unshift(roots[node.story]);
    for (const one of path) {
      let li = items.get(one.id);
      const group = items.get(one.parent?.id)?.querySelector(":scope > ul") || element;
      while (!li && group.next?.()) li = items.get(one.id);
      if (!li) return;
      if (one !== node) toggle(li, true);
      else focus(li);
    }
  };
  const openAll = (most) => {
    let left = most;
    for (const queue = [...element.children]; queue.length && left > 0; ) {
      const li = queue.shift();
      left -= 1;
      if (li.next) {
        li.next();
        continue;
      }
      if (li.hasAttribute("aria-expanded")) {
        toggle(li, true);
        const group = li.querySelector(":scope > ul");
        while (group.children.length < left && group.next()) continue;
        queue.push(...group.children);
      }
    }
  };
  const closeAll = () => {
    opened.clear();
    [...element.querySelectorAll("[aria-expanded='true']")].forEach((li) => toggle(li, false));
  };
  return { element, refresh, mark, reveal, openAll, closeAll };
};
