// Usage: links.mjs FOLDER. Lists links of the built site that lead to no page, no heading or no picture of it.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

const site = path.resolve(process.argv[2]);
const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
// What mdBook makes itself: all chapters on one page, whose links it does not move, and pages that are no chapters.
const generated = new Set(["print.html", "toc.html", "404.html"]);

const read = new Map();
function page(file) {
  if (!read.has(file)) read.set(file, readFileSync(file, "utf8"));
  return read.get(file);
}

const ids = new Map();
function has(file, id) {
  if (!ids.has(file)) ids.set(file, new Set([...page(file).matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)));
  return ids.get(file).has(id);
}

let dead = 0;
let links = 0;
for (const name of pages.filter((name) => !generated.has(name))) {
  const file = path.join(site, name);
  for (const [, link] of page(file).matchAll(/\s(?:href|src)="([^"]*)"/g)) {
    if (/^[a-z][a-z+.-]*:/i.test(link)) continue;
    links += 1;
    const [target, id] = link.replaceAll("&amp;", "&").split("#");
    const found = target === "" ? file : path.resolve(path.dirname(file), decodeURIComponent(target));
    const exists = existsSync(found) && (statSync(found).isFile() || existsSync(path.join(found, "index.html")));
    if (!exists || (id && found.endsWith(".html") && !has(found, decodeURIComponent(id)))) {
      console.error(`${name}: ${link} leads nowhere`);
      dead += 1;
    }
  }
}
console.log(`${pages.length} pages, ${links} links, ${dead} dead`);
process.exit(dead > 0 || links === 0 ? 1 : 0);
