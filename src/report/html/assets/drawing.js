// The graph as SVG: zoomed and moved by mouse, fingers and keys. The vertex under the pointer highlights its owners and dependents.

const TIES = {
  owns: "owns", blocking: "owns, and its deletion waits for it", implied: "owns, created by a controller",
  contains: "contains, or defines", removed: "the reference is removed",
};

/** The line of an arrow: straight through layers, where it has a place of its own, and in a curve between them. */
const path = ({ from, to, through }) => {
  const onwards = from.x < to.x;
  const [entry, exit] = onwards ? ["left", "right"] : ["right", "left"];
  const side = (vertex, name) => (name === "left" ? vertex.x - vertex.width / 2 : vertex.x + vertex.width / 2);
  const stops = [...through, { layer: { left: side(to, "left"), right: side(to, "right") }, y: to.y }];
  let [x, y] = [from.layer[exit], from.y];
  let line = `M${side(from, exit).toFixed(1)},${y.toFixed(1)}H${x.toFixed(1)}`;
  stops.forEach((stop, at) => {
    const end = stop.layer[entry];
    const middle = (x + end) / 2;
    line += `C${[middle, y, middle, stop.y, end, stop.y].map((value) => value.toFixed(1)).join(" ")}`;
    [x, y] = [stop.layer[exit], stop.y];
    if (at < stops.length - 1) line += `H${x.toFixed(1)}`;
  });
  return line;
};

/** The minimum scale of the first view: letters are readable at it. */
const READABLE = 0.8;

/** The view; `show` is called with the members of the chosen vertex. */
const drawing = (show) => {
  const note = el("p", { class: "muted" });
  const picture = svg("svg", { class: "picture", role: "group", "aria-label": "Graph of owners and dependents", tabindex: "-1" });
  const buttons = [["Zoom in", "+", () => zoom(1.25)], ["Zoom out", "\u2212", () => zoom(0.8)], ["Fit all", "fit all", () => fit()]].map(
    ([label, text, press]) => el("button", { type: "button", "aria-label": label, title: label, click: press }, text));
  const apart = el("input", { type: "checkbox", change: () => refresh() });
  const tools = el("div", { class: "tools" }, buttons, el("label", {}, apart, " every object by itself"));
  const legend = el("ul", { class: "legend" });
  const hint = el("p", { class: "muted hint" },
    "Drag to move. Ctrl and wheel, + and \u2212 zoom, 0 fits all. Arrow keys follow the arrows, Enter shows the object.");
  const element = el("div", { class: "graph" }, tools, note, el("div", { class: "frame" }, picture), legend, hint);
  let drawn = null;
  let box = null;
  let stale = true;

  const view = () => picture.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  const size = () => picture.getBoundingClientRect();
  /** The start of a section of `length` out of `all` that has `at` in the middle and does not go beyond the ends. */
  const start = (all, length, at) => (all < length ? (all - length) / 2 : Math.min(Math.max(at - length / 2, 0), all - length));
  /** Shows the whole graph, never magnified; if its scale would be below `least`, only the part around `around`, at that scale. */
  const fit = (least = 0, around = { x: 0, y: 0 }) => {
    if (!drawn) return;
    const { width, height } = size();
    const scale = Math.max(Math.min(width / drawn.width, height / drawn.height, 1), least);
    const [w, h] = [width / scale, height / scale];
    box = { x: start(drawn.width, w, around.x), y: start(drawn.height, h, around.y), w, h };
    view();
  };
  const zoom = (by, cx = box.x + box.w / 2, cy = box.y + box.h / 2) => {
    const w = Math.min(Math.max(box.w / by, 60), drawn.width * 8 + 2000);
    const ratio = w / box.w;
    box = { x: cx - (cx - box.x) * ratio, y: cy - (cy - box.y) * ratio, w, h: box.h * ratio };
    view();
  };
  const toGraph = (event) => {
    const { left, top, width } = size();
    const scale = box.w / width;
    return [box.x + (event.clientX - left) * scale, box.y + (event.clientY - top) * scale];
  };

  picture.addEventListener("wheel", (event) => {
    if (!drawn || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.15 : 0.87, ...toGraph(event));
  }, { passive: false });
  const pointers = new Map();
  picture.addEventListener("pointerdown", (event) => pointers.set(event.pointerId, event));
  picture.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before || !drawn) return;
    const scale = box.w / size().width;
    const other = [...pointers.values()].find((one) => one.pointerId !== event.pointerId);
    if (other) {
      const apartBy = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
      zoom(apartBy(event) / apartBy(before), ...toGraph(other));
    } else {
      box.x -= (event.clientX - before.clientX) * scale;
      box.y -= (event.clientY - before.clientY) * scale;
      view();
    }
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    picture.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }

  /** Everything above and below a vertex. */
  const chain = (vertex) => {
    const found = new Set();
    const follow = (start, from, to) => {
      const seen = new Set([start]);
      for (const one of seen) {
        for (const arrow of one[from]) {
          found.add(arrow);
          seen.add(arrow[to]);
        }
      }
      return seen;
    };
    const all = new Set([...follow(vertex, "into", "from"), ...follow(vertex, "out", "to")]);
    return { all, found };
  };
  const highlight = (vertex) => {
    if (!drawn) return;
    const lit = vertex && chain(vertex);
    picture.classList.toggle("lit", Boolean(lit));
    for (const one of drawn.all) one.element.classList.toggle("on", Boolean(lit?.all.has(one)));
    for (const one of drawn.arrows) one.element.classList.toggle("on", Boolean(lit?.found.has(one)));
  };

  const focus = (vertex) => {
    if (!vertex) return;
    picture.querySelector("g[tabindex='0']")?.setAttribute("tabindex", "-1");
    vertex.element.setAttribute("tabindex", "0");
    vertex.element.focus({ preventScroll: true });
    const inside = vertex.x > box.x && vertex.x < box.x + box.w && vertex.y > box.y && vertex.y < box.y + box.h;
    if (!inside) {
      Object.assign(box, { x: vertex.x - box.w / 2, y: vertex.y - box.h / 2 });
      view();
    }
  };
  /** The nearest vertex in a direction along one axis that is not far from that axis. */
  const nextTo = (vertex, axis, across, direction) => {
    const aside = (one) => Math.abs(one[across] - vertex[across]);
    const way = (one) => direction * (one[axis] - vertex[axis]);
    const ahead = drawn.all.filter((one) => way(one) > 1 && aside(one) < (across === "x" ? 150 : 20));
    return ahead.reduce((best, one) => (!best || way(one) < way(best) ? one : best), null);
  };
  const keys = {
    ArrowLeft: (vertex) => vertex && focus(vertex.into[0]?.from || (!vertex.layer && nextTo(vertex, "x", "y", -1))),
    ArrowRight: (vertex) => vertex && focus(vertex.out[0]?.to || (!vertex.layer && nextTo(vertex, "x", "y", 1))),
    ArrowUp: (vertex) => vertex && focus(nextTo(vertex, "y", "x", -1)),
    ArrowDown: (vertex) => vertex && focus(nextTo(vertex, "y", "x", 1)),
    Enter: (vertex) => vertex && show(vertex.members),
    " ": (vertex) => vertex && show(vertex.members),
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: () => fit(),
  };
  picture.addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (!key || !drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    key(event.target.closest("g")?.vertex);
  });

  const vertexElement = (vertex) => {
    const { x, y, width, height, lines, effect, members } = vertex;
    const [left, top] = [x - width / 2, y - height / 2];
    const shown = lines.map((line, at) => `${at ? "" : `${MARKS[effect]} `}${line}${at < lines.length - 1 ? " " : ""}`);
    // The accessible name begins with the visible text.
    const name = `${shown.join("")}, ${effect}`;
    const g = svg("g", {
      class: `vertex ${effect}${members.some((one) => one.data) ? " data" : ""}`, role: "button", tabindex: "-1", "aria-label": name,
      click: () => {
        focus(vertex);
        show(members);
      },
      focus: () => highlight(vertex), blur: () => highlight(null),
      pointerenter: () => highlight(vertex), pointerleave: () => highlight(null),
    },
    svg("rect", { x: left, y: top, width, height, rx: 6 }),
    members.length > 1 && svg("rect", { class: "stack", x: left + 4, y: top + 4, width, height, rx: 6 }),
    shown.map((line, at) => svg("text", {
      x: left + 10, y: top + 18 + at * 16, class: at === 0 ? "first" : at === 1 && members.length === 1 ? "strong" : "mark",
    }, line)));
    // The stack lies below its first card.
    const stack = g.querySelector(".stack");
    if (stack) g.insertBefore(stack, g.querySelector("rect"));
    g.vertex = vertex;
    vertex.element = g;
    return g;
  };

  const refresh = () => {
    stale = false;
    picture.replaceChildren();
    legend.replaceChildren();
    drawn = null;
    if (!wanted.number) {
      note.textContent = "No object fits the filter.";
      return;
    }
    const laid = layout(apart.checked);
    if (laid.many) {
      note.textContent = `The graph draws up to ${number(DRAWN)} nodes; these would be ${number(laid.many)}. Filter by kind, namespace or name.`;
      return;
    }
    drawn = laid;
    note.textContent = "";
    for (const vertex of drawn.all) Object.assign(vertex, { into: [], out: [] });
    for (const arrow of drawn.arrows) {
      arrow.from.out.push(arrow);
      arrow.to.into.push(arrow);
      arrow.element = svg("path", { class: `arrow ${arrow.tie}`, d: path(arrow), "marker-end": "url(#head)" });
    }
    const head = svg("marker", { id: "head", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0,0L8,4L0,8z" }));
    picture.append(svg("defs", {}, head), ...drawn.arrows.map((arrow) => arrow.element), ...drawn.all.map(vertexElement));
    drawn.all[0].element.setAttribute("tabindex", "0");
    const effects = [...new Set(drawn.all.map((vertex) => vertex.effect))];
    const ties = [...new Set(drawn.arrows.map((arrow) => arrow.tie))];
    const sample = (tie) => svg("svg", { viewBox: "0 0 34 8", width: 34, height: 8, "aria-hidden": "true" }, svg("path", { class: `arrow ${tie}`, d: "M0,4L34,4" }));
    legend.append(
      ...effects.map((effect) => el("li", {}, badge(effect))),
      ...ties.map((tie) => el("li", {}, sample(tie), " ", TIES[tie])),
      ...(drawn.all.some((vertex) => vertex.members.some((one) => one.data)) ? [el("li", {}, el("span", { class: "tag data" }, "thick border"), " holds data")] : []));
    const root = drawn.all.find((vertex) => vertex.out.length && !vertex.into.length);
    fit(READABLE, chosen() || { x: 0, y: root?.y || 0 });
    mark();
  };
  const chosen = () => drawn.vertexOf.get(byKey.get(state.at)?.id);
  const mark = () => {
    if (!drawn) return;
    const one = chosen();
    for (const vertex of drawn.all) vertex.element.setAttribute("aria-pressed", String(vertex === one));
  };
  const invalidate = () => (stale = true);
  const appear = () => (stale ? refresh() : null);
  return { element, invalidate, appear, mark };
};
