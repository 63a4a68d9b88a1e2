// Takes the picture of the README: `node picture.mjs ../../docs/guide/pictures/html.png`.

import { open, page, settled, start, stop } from "./pages.mjs";

const one = page("picture", "plan", "delete", "ns/shop", "-f", "fixtures/plan/html.yaml");
await start();
const { tab, complaints } = await open(one, { width: 1060, height: 700, fragment: "#view=graph&at=Bucket.storage.example.com%2Fshop%2Fuploads" });
await tab.locator("#what").evaluate((what) => what.scrollIntoView());
await settled(tab);
await tab.screenshot({ path: process.argv[2] });
await stop();
if (complaints.length) throw new Error(complaints.join("\n"));
