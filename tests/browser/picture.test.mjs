// The picture of the guide to pages: `UPDATE_DOCS=1 node --test picture.test.mjs` takes it again.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, open, page, settled, start, stop } from "./pages.mjs";
import { described, encoded } from "./png.mjs";

const FILE = join(ROOT, "docs/pictures/html.png");
const SIZE = { width: 1060, height: 700 };
const MOST = 60_000;

before(start);
after(stop);

/** The pixels of a screenshot, a number each: browsers read PNG. */
const pixels = (tab, png) =>
  tab.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    return [...new Uint32Array(canvas.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer)];
  }, png.toString("base64"));

test("the guide shows the page as it is", async () => {
  const one = page("picture", "plan", "delete", "ns/shop", "-f", "fixtures/plan/html.yaml");
  const fragment = "#view=graph&at=Bucket.storage.example.com%2Fshop%2Fuploads";
  const { tab, complaints } = await open(one, { ...SIZE, fragment });
  await tab.locator("#what").evaluate((what) => what.scrollIntoView());
  await settled(tab);
  // Letters look different on each machine: the picture is known by what it says.
  const shown = await tab.locator("#what").evaluate((what) => what.textContent.replace(/\s+/g, " "));
  const text = `ownerlint --output html, ${createHash("sha256").update(shown).digest("hex")}`;
  if (process.env.UPDATE_DOCS) writeFileSync(FILE, encoded(SIZE, await pixels(tab, await tab.screenshot()), text));
  const committed = readFileSync(FILE);
  assert.deepEqual(described(committed), { ...SIZE, hasPalette: true, text }, "UPDATE_DOCS=1 node --test picture.test.mjs takes it again");
  assert.ok(committed.length < MOST, `${committed.length} bytes`);
  assert.match(readFileSync(join(ROOT, "docs/guide/html.md"), "utf8"), /\(\.\.\/pictures\/html\.png\)/);
  assert.deepEqual(complaints, []);
  await tab.close();
});
