// Puts the page together.

const PAGES = { plan: planPage, diff: changePage, check: findingsPage };
const { summary, parts } = PAGES[beside.command]();
const sections = parts.flat(2).filter(Boolean);
const words_ = { plan: "Plan: ", diff: "", check: "Check: " }[beside.command];
byId("title").replaceChildren(...prose(visible(words_ + beside.title)));
byId("summary").append(...summary.flat(2).filter(Boolean));
byId("main").replaceChildren(...sections);
byId("contents").append(el("ul", {}, sections.map((part) => el("li", {}, el("a", { href: `#${part.id}` }, part.firstChild.textContent)))));
const tool = contract.tool ? `${contract.tool.name} ${contract.tool.version}` : "ownerlint";
byId("foot").append(el("p", {}, `Made by ${tool}. This page is one file and loads nothing; its data is the JSON document ${contract.schema}.`));

// Folded parts are printed too.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("main details:not([open])")].filter((one) => one.matches("[data-print], .cite"));
  for (const one of unfolded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of unfolded) one.open = false;
});
