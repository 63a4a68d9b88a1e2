// The one way to make elements: text is text, never markup.

/** A control or direction character as a picture of itself, as on a terminal. */
const picture = (c) => {
  const code = c.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
};
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text without characters that reverse its direction or are invisible. */
const visible = (text) => String(text).replace(OBEYED, picture);

const SVG = "http://www.w3.org/2000/svg";

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
};

/** An element: functions among the attributes are listeners; strings among the children are text. */
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const byId = (id) => document.getElementById(id);
const number = (n) => n.toLocaleString("en");
const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

/** A text with its first letter in upper case, if it begins with an English word; names stay as they are. */
const capital = (text) => (/^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);

/** A number in the summary, with its word. */
const figure = (n, word, look, isNoun) =>
  el("li", { class: `figure ${n ? look : "none"}` }, el("strong", {}, number(n)), ` ${word}${isNoun && n !== 1 ? "s" : ""}`);

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
/** Prose, cut between words. */
const clipped = (text, most) => (text.length > most ? `${text.slice(0, most).replace(/[\s,;:]+\S*$/, "")} \u2026` : text);

/** The greatest number of a list of any length. */
const most = (numbers) => numbers.reduce((a, b) => Math.max(a, b), 0);

/** Runs only the last of several calls in quick succession. */
const later = (delay, run) => {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  };
};

/** A list that shows more of its items on request: `make` makes the element of an item. */
const chunked = (list, items, make, size) => {
  let shown = 0;
  const more = el("li", { class: "more" });
  const next = () => {
    more.remove();
    const first = shown;
    for (const item of items.slice(shown, shown + size)) list.append(make(item));
    shown = Math.min(items.length, shown + size);
    const left = items.length - shown;
    if (left > 0) {
      const label = `Show ${number(Math.min(size, left))} more of ${number(left)}`;
      more.replaceChildren(el("button", { type: "button", click: () => next() }, label));
      list.append(more);
    }
    return list.children[first];
  };
  next();
  addEventListener("beforeprint", () => {
    while (list.isConnected && shown < Math.min(items.length, PRINTED)) next();
  });
  return list;
};

/** Maximum number of items of one list that are printed. */
const PRINTED = 2000;

/** A folded part whose content is made when it is first opened. */
const folded = (summary, make, attributes) => {
  const details = el("details", attributes, el("summary", {}, summary));
  let made = false;
  const open = () => {
    if (made) return;
    made = true;
    details.append(...[make()].flat());
  };
  details.addEventListener("toggle", () => details.open && open());
  addEventListener("beforeprint", () => details.isConnected && details.closest("[data-print]") && open());
  if (details.open) open();
  return details;
};

/** A command to copy. */
const command = (line) => {
  const button = el("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => {
    const done = () => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    };
    const select = () => getSelection().selectAllChildren(button.previousSibling);
    if (navigator.clipboard) navigator.clipboard.writeText(line).then(done, select);
    else select();
  });
  return el("div", { class: "command" }, el("code", { tabindex: "0", role: "group", "aria-label": "Command" }, line), button);
};

/** Prose, with `names` between backticks as code. */
const prose = (text) => {
  const parts = String(text).split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, at) => (at % 2 ? el("code", {}, part) : part));
};

const section = (id, title, ...children) =>
  el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children);
