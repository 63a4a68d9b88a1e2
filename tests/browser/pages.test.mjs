// What a reader can do with the pages of `--output html`, in a real browser.

import assert from "node:assert/strict";
import { after as afterAll, before as beforeAll, describe, test } from "node:test";
import { HOSTILE, after, before, faulty, hostile, kustomization, many, owned } from "./inputs.mjs";
import { CORPUS, folder, manifests, open, page, settled, start, stop, violations } from "./pages.mjs";

beforeAll(start);
afterAll(stop);

const rook = page("rook", "plan", "delete", "ns/rook-ceph", "-f", "fixtures/bundles/rook");
const teardown = page("teardown", "plan", "teardown", "--by", "helm", "fixtures/bundles/rook");
const objects = page("objects", "plan", "delete", "ns/shop", "-f", manifests("objects", many(2000)));
const chains = page("chains", "plan", "delete", "ns/shop", "-f", manifests("chains", owned(1200)));
const strange = page("strange", "plan", "delete", "ns/shop", "-f", manifests("strange", hostile()));
const merge = page("merge", "diff", "--by", "flux", "--base", manifests("base", before()), "--head", manifests("head", after()));
const failingTree = (name, files) => {
  folder(`${name}/apps`, { "kustomization.yaml": "resources: [shop.yaml]\n", ...files });
  return folder(name, { "flux.yaml": kustomization() });
};
const failing = page("failing", "diff", "--base", failingTree("builds", { "shop.yaml": before() }), "--head", failingTree("fails", {}));
const clusters = (name, shop) => {
  for (const cluster of ["east", "west"]) folder(`${name}/clusters/${cluster}`, { "flux.yaml": `${kustomization()}\n---\n${kustomization("flux-system", `./clusters/${cluster}`)}` });
  folder(`${name}/apps`, { "shop.yaml": shop });
  return folder(name, {});
};
const inClusters = page("clusters", "diff", "--base", clusters("deployed", before()), "--head", clusters("reduced", after()));
// The corpus gives 800 findings and less with each better rule: a thousand are made.
const findings = page("findings", "check", "--no-config", manifests("findings", faulty(1200)));
const several = folder("bundles", {
  "ownerlint.yaml": "version: 1\nbundles: {shop: {paths: [shop.yaml]}, payments: {paths: [payments.yaml]}}",
  "shop.yaml": faulty(8), "payments.yaml": faulty(7), "others.yaml": faulty(1),
});
const bundles = page("bundles", "check", "--config", `${several}/ownerlint.yaml`, several);
const strangeFindings = page("strange-findings", "check", "--no-config", manifests("strange", hostile()));
const pages = [rook, teardown, objects, strange, merge, findings, strangeFindings];
if (CORPUS) {
  pages.push(page("monitoring", "plan", "teardown", "--by", "namespace", "--release-namespace", "monitoring", `${CORPUS}/kube-prometheus`));
  pages.push(page("corpus", "check", "--no-config", CORPUS));
} else {
  console.log("skipped: the pages of a corpus; OWNERLINT_CORPUS names none");
}

const shown = (tab, section) => tab.locator(`#${section} .shown`).textContent();
const rows = (tab) => tab.locator("[role=treeitem]:visible").count();

describe("every page", () => {
  for (const one of pages) {
    for (const width of [1440, 390]) {
      test(`${one.name}, ${width} pixels: complains of nothing, asks for nothing, fits, and axe agrees, light and dark`, async () => {
        const { tab, complaints } = await open(one, { width });
        for (const view of ["Tree", "Graph", "Timeline"]) {
          const button = tab.getByRole("tab", { name: view });
          if (await button.count()) await button.click();
          else await tab.locator("details.group > summary").first().click();
          await settled(tab);
          for (const colorScheme of ["light", "dark"]) {
            await tab.emulateMedia({ colorScheme });
            assert.deepEqual(await violations(tab), [], `${view}, ${colorScheme}`);
          }
          if (!(await button.count())) break;
        }
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wide, 0, "nothing is wider than the window");
        assert.deepEqual(complaints, []);
        await tab.close();
      });
    }
  }
});

describe("the tree", () => {
  test("opens and closes by keys, and tells of the object that has the focus", async () => {
    const { tab } = await open(rook);
    const all = await rows(tab);
    await tab.locator("[role=treeitem]").first().focus();
    await tab.keyboard.press("ArrowLeft");
    assert.equal(await rows(tab), 1);
    await tab.keyboard.press("ArrowRight");
    assert.equal(await rows(tab), all);
    await tab.keyboard.press("ArrowDown");
    assert.match(await tab.locator(".details").textContent(), /rook-ceph-operator/);
    await tab.locator(".details .cite summary").first().click();
    assert.match(await tab.locator(".details .cite p").first().textContent(), /\w+ \w+/);
    await tab.close();
  });

  test("shows long lists in parts, and ends where they end", async () => {
    const { tab, complaints } = await open(objects);
    assert.ok((await rows(tab)) < 200);
    await tab.locator("[role=treeitem].more").click();
    assert.ok((await rows(tab)) > 190);
    await tab.getByRole("button", { name: "Expand all" }).click();
    assert.ok((await rows(tab)) >= 2000);
    assert.deepEqual(complaints, []);
    await tab.close();
  });

  test("names what holds a stuck object, and how to release it", async () => {
    const { tab } = await open(objects);
    await tab.getByLabel("Search", { exact: true }).fill("object-1007 hold");
    await settled(tab);
    const row = tab.getByRole("treeitem", { name: /Service shop\/object-1007/ });
    assert.match(await row.textContent(), /stuck.*finalizer example.com\/hold-2/);
    await row.click();
    assert.match(await tab.locator(".details .command code").first().textContent(), /^kubectl patch .*object-1007/);
    await tab.close();
  });
});

describe("filters", () => {
  test("count what they let through, together", async () => {
    const { tab } = await open(objects);
    const total = Number((await shown(tab, "what")).replace(/\D/g, ""));
    assert.ok(total >= 2000, String(total));
    await tab.getByRole("button", { name: /stuck/ }).first().click();
    await tab.getByLabel("Kind").selectOption("Service");
    await settled(tab);
    const [some] = (await shown(tab, "what")).split(" of ");
    assert.equal(await tab.getByLabel("Kind").locator("option:checked").textContent(), `Service (${some})`);
    await tab.getByRole("button", { name: "Show all" }).click();
    assert.equal(Number((await shown(tab, "what")).replace(/\D/g, "")), total);
    await tab.close();
  });

  test("are in the address, so that a link shows another reader the same", async () => {
    const { tab } = await open(objects);
    await tab.getByLabel("Search", { exact: true }).fill("object-17");
    await tab.getByRole("tab", { name: "Timeline" }).click();
    await settled(tab);
    await settled(tab);
    const fragment = new URL(tab.url()).hash;
    const said = await shown(tab, "what");
    const other = await open(objects, { fragment });
    assert.equal(await shown(other.tab, "what"), said);
    assert.equal(await other.tab.getByRole("tab", { name: "Timeline" }).getAttribute("aria-selected"), "true");
    await tab.close();
    await other.tab.close();
  });

  test("let nothing through that is not there, and say so", async () => {
    const { tab } = await open(rook);
    await tab.getByLabel("Search", { exact: true }).fill("no such object");
    await settled(tab);
    assert.match(await shown(tab, "what"), /^0 of/);
    assert.ok(await tab.getByText("No object fits the filter.").first().isVisible());
    await tab.close();
  });
});

describe("the graph", () => {
  test("draws a thousand objects, and lights up what one hangs on", async () => {
    const { tab, complaints } = await open(chains, { fragment: "#view=graph" });
    await tab.getByLabel("every object by itself").check();
    await settled(tab);
    assert.ok((await tab.locator("g.vertex").count()) > 1000);
    const box = await tab.locator(".picture").getAttribute("viewBox");
    await tab.getByRole("button", { name: "Zoom in" }).click();
    assert.notEqual(await tab.locator(".picture").getAttribute("viewBox"), box);
    await tab.locator("g.vertex").first().focus();
    assert.ok((await tab.locator("g.vertex.on").count()) > 1);
    await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("Enter");
    assert.match(await tab.locator(".details h3").textContent(), /ConfigMap/);
    assert.deepEqual(complaints, []);
    await tab.close();
  });

  test("stacks what is alike, and names the finalizer and the data of a node", async () => {
    const { tab } = await open(objects, { fragment: "#view=graph" });
    const text = await tab.locator(".picture").textContent();
    assert.match(text, /finalizer example\.com\/hold-0/);
    assert.match(text, /with data/);
    assert.ok((await tab.locator("g.vertex").count()) < 60);
    await tab.close();
  });

  test("lists every object of a stack, and leads to each", async () => {
    const { tab, complaints } = await open(objects, { fragment: "#view=graph" });
    await tab.locator("g.vertex.data").click();
    const panel = tab.locator(".details");
    assert.match(await panel.textContent(), /399 PersistentVolumeClaim/);
    assert.equal(await panel.locator("button.object").filter({ hasText: "PersistentVolumeClaim" }).count(), 50);
    await panel.getByRole("button", { name: /^Show 50 more of 349/ }).click();
    await panel.getByRole("button", { name: "PersistentVolumeClaim shop/object-1019", exact: true }).click();
    assert.match(await panel.textContent(), /Deleting it deletes the volume/);
    await settled(tab);
    assert.match(new URL(tab.url()).hash, /object-1019/);
    await tab.keyboard.press("Escape");
    assert.deepEqual(complaints, []);
    await tab.close();
  });
});

describe("a change", () => {
  test("has its surprises on top, and links each to a page of its own", async () => {
    const { tab, complaints } = await open(merge);
    const first = await tab.locator("main section").first().getAttribute("id");
    assert.equal(first, "surprises");
    const link = tab.locator("#surprises article a", { hasText: "link to this finding" }).first();
    const fragment = new URL(await link.evaluate((a) => a.href)).hash;
    const alone = await open(merge, { fragment });
    assert.equal(await alone.tab.locator("#surprises article").count(), 1);
    assert.match(await tab.locator("#effects").textContent(), /Gets stuck in Terminating/);
    assert.deepEqual(complaints, []);
    await tab.close();
    await alone.tab.close();
  });
});

test("an effect in several clusters is shown with each cluster", async () => {
  const { tab, complaints } = await open(inClusters);
  const text = await tab.locator("#effects").evaluate((section) => section.textContent);
  assert.match(text, /in cluster clusters\/east.*in cluster clusters\/west/s);
  assert.deepEqual(complaints, []);
  await tab.close();
});

test("a build that fails after the change is named, with its place and reason", async () => {
  const { tab, complaints } = await open(failing);
  assert.match(
    await tab.locator("#failed li").textContent(),
    /apps\/kustomization\.yaml:1 shop\.yaml does not exist, after the change$/,
  );
  assert.deepEqual(complaints, []);
  await tab.close();
});

describe("findings", () => {
  test("are grouped, searched and counted", async () => {
    const { tab, complaints } = await open(findings);
    assert.match(await shown(tab, "findings"), /^1,200 findings/);
    await tab.getByLabel("Group by").selectOption("object");
    await tab.getByLabel("Search", { exact: true }).fill("faulty-119");
    await settled(tab);
    assert.match(await shown(tab, "findings"), /^11 of 1,200/);
    await tab.locator("#findings details.group summary").first().click();
    await settled(tab);
    assert.match(await tab.locator("#findings mark").first().textContent(), /not a name/);
    assert.deepEqual(complaints, []);
    await tab.close();
  });

  test("are filtered by the bundles that read their file", async () => {
    const { tab, complaints } = await open(bundles);
    assert.match(await shown(tab, "findings"), /^16 findings/);
    const bundle = tab.getByRole("combobox", { name: "Bundle", exact: true });
    assert.deepEqual(await bundle.locator("option").allTextContents(), ["all", "outside any bundle (1)", "payments (7)", "shop (8)"]);
    await bundle.selectOption("payments");
    await settled(tab);
    assert.match(await shown(tab, "findings"), /^7 of 16/);
    assert.deepEqual(complaints, []);
    await tab.close();
  });

  test("have the page of their rule beside them", async () => {
    const { tab } = await open(findings);
    await tab.getByText("About the rule finalizer-invalid-name").first().click();
    await settled(tab);
    assert.match(await tab.locator(".rule-page").first().textContent(), /How to fix it/);
    await tab.close();
  });

  test("have an address of their own", async () => {
    const { tab } = await open(findings);
    const fragment = new URL(await tab.locator("#findings article a", { hasText: "link to this finding" }).first().evaluate((a) => a.href)).hash;
    const alone = await open(findings, { fragment });
    assert.match(await shown(alone.tab, "findings"), /^1 of/);
    await tab.close();
    await alone.tab.close();
  });
});

describe("without a mouse", () => {
  test("the whole way: past the header, to a filter, a view, an object, and what releases it", async () => {
    const { tab, complaints } = await open(objects);
    const focused = () => tab.evaluate(() => document.activeElement.textContent || document.activeElement.placeholder);
    const tabTo = async (wanted) => {
      for (let step = 0; step < 40 && !wanted.test(await focused()); step += 1) await tab.keyboard.press("Tab");
      assert.match(await focused(), wanted);
    };
    await tab.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the content");
    await tab.keyboard.press("Enter");
    await tabTo(/^name, kind/);
    await tab.keyboard.type("object-1007");
    await settled(tab);
    await tabTo(/^Tree$/);
    await tab.keyboard.press("ArrowRight");
    assert.equal(await focused(), "Graph");
    await tab.keyboard.press("ArrowLeft");
    await tabTo(/Namespace shop/);
    await tab.keyboard.press("ArrowDown");
    assert.match(await focused(), /object-1007/);
    await tabTo(/^kubectl patch/);
    await tabTo(/^Copy$/);
    assert.deepEqual(complaints, []);
    await tab.close();
  });
});

describe("names of strangers", () => {
  for (const one of [strange, strangeFindings]) {
    test(`${one.name}: are text, wherever they are shown`, async () => {
      const { tab, complaints } = await open(one);
      for (const summary of await tab.locator("details.group > summary").all()) await summary.click();
      await settled(tab);
      const elements = await tab.evaluate(() => document.querySelectorAll("main img, main b, main script, [onclick], [onerror], a[href^='javascript']").length);
      assert.equal(elements, 0);
      const text = await tab.locator("main").textContent();
      for (const name of HOSTILE.slice(0, 4)) assert.ok(text.includes(name), name);
      assert.doesNotMatch(text, /[\u0000-\u0008\u001b\u202e]/);
      assert.deepEqual(complaints, []);
      await tab.close();
    });
  }
});

test("paper has the whole tree, and nothing to press", async () => {
  const { tab } = await open(objects);
  await tab.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await tab.emulateMedia({ media: "print" });
  assert.ok((await tab.locator("[role=treeitem]:visible").count()) >= 2000);
  assert.equal(await tab.locator("main button:visible").evaluateAll((all) => all.filter((one) => !one.classList.contains("object") && !one.classList.contains("link")).length), 0);
  await tab.close();
});
