// The pages of rules, which are part of ownerlint: headings, paragraphs, lists, tables, examples.

const INLINE = /`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)|\*\*([^*]+)\*\*|\*([^*]+)\*/;

const inline = (text) => {
  const parts = [];
  for (let rest = text, found; ; ) {
    found = INLINE.exec(rest);
    if (!found) return [...parts, rest];
    parts.push(rest.slice(0, found.index));
    const [whole, code, label, target, strong, emphasis] = found;
    if (code) parts.push(el("code", {}, code));
    else if (label && /^https:\/\//.test(target)) parts.push(el("a", { href: target, rel: "noreferrer" }, inline(label)));
    else if (label) parts.push(...inline(label));
    else if (strong) parts.push(el("strong", {}, strong));
    else parts.push(el("em", {}, emphasis));
    rest = rest.slice(found.index + whole.length);
  }
};

/** The elements of a page; its headings have the level `level`. */
const markdown = (page, level) => {
  const blocks = [];
  let paragraph = [];
  let list = null;
  let table = null;
  let example = null;
  const end = () => {
    if (paragraph.length) blocks.push(el("p", {}, inline(paragraph.join(" "))));
    paragraph = [];
    list = null;
    table = null;
  };
  const row = (line, tag) => {
    const cells = line.replace(/^\||\|$/g, "").split("|");
    return el("tr", {}, cells.map((cell) => el(tag, {}, inline(cell.trim()))));
  };
  for (const line of page.split("\n")) {
    if (line.startsWith("```")) {
      end();
      if (example) {
        blocks.push(el("pre", { tabindex: "0", role: "group", "aria-label": example.title }, example.lines.join("\n")));
        example = null;
      } else {
        const title = line.endsWith("good") ? "Right" : line.endsWith("bad") ? "Wrong" : "Example";
        blocks.push(el("p", { class: "muted" }, `${title}:`));
        example = { title, lines: [] };
      }
    } else if (example) {
      example.lines.push(line.split("# expect:")[0].trimEnd());
    } else if (line.startsWith("# ")) {
      end();
    } else if (/^#{2,} /.test(line)) {
      end();
      blocks.push(el(`h${level}`, {}, line.replace(/^#+ /, "")));
    } else if (line.startsWith("|")) {
      if (table) /^[|\s:-]+$/.test(line) || table.append(row(line, "td"));
      else {
        end();
        table = el("tbody", {});
        blocks.push(el("div", { class: "scroll" }, el("table", {}, el("thead", {}, row(line, "th")), table)));
      }
    } else if (/^([-*]|\d+\.) /.test(line)) {
      if (!list) {
        end();
        list = el(/^\d/.test(line) ? "ol" : "ul", {});
        blocks.push(list);
      }
      list.append(el("li", {}, inline(line.replace(/^([-*]|\d+\.) /, ""))));
    } else if (list && /^\s+\S/.test(line)) {
      list.lastChild.append(" ", ...inline(line.trim()).map((part) => (part instanceof Node ? part : visible(part))));
    } else if (line.trim() === "") {
      end();
    } else {
      paragraph.push(line);
    }
  }
  end();
  return blocks;
};
