// `juror view`: filters, search, pages, records, keys, and a file that grows.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { write } from "./samples.mjs";

export default async function view({ folder, check, open, PHONE, fits, shot, accessible, serve }) {
  write(folder, 130, true);
  const lines = readFileSync(join(folder, "small.jsonl"), "utf8").split("\n").slice(0, -1);
  const verdicts = lines.map((line) => JSON.parse(line));
  const begun = 101;
  writeFileSync(join(folder, "growing.jsonl"), lines.slice(0, begun).map((line) => `${line}\n`).join(""));
  const server = await serve(folder, "view", "growing.jsonl", "--labels", "labels.jsonl");
  const { page, close } = await open(server.address);
  const shown = () => page.locator("main .item .own").allInnerTexts();
  const follow = async (link) => {
    await Promise.all([page.waitForEvent("load"), link.click()]);
  };
  // Links stand above and below.
  const link = (name) => page.locator("nav.pages a", { hasText: new RegExp(`^${name}$`) }).last();
  const choose = async (field, value) => {
    await page.locator(`[name=${field}]`).selectOption(value);
    await follow(page.locator("button[type=submit]"));
  };
  const until = (what, holds) => page.waitForFunction(holds, null, { timeout: 15_000 }).then(() => check(what, true));
  await until("all is read", () => document.getElementById("summary").innerText.startsWith("101 verdicts"));
  await page.reload();
  await shot(page, "view");
  check("each row shows its verdict", (await page.locator("main .item .brief").count()) === 20);
  check("filters are open", await page.locator("[name=status]").isVisible());
  check("twenty are shown", (await shown()).join() === Array.from({ length: 20 }, (_, at) => at + 1).join());
  await follow(link("next"));
  check("and twenty more", (await shown())[0] === "21" && new URL(page.url()).search === "?page=2");
  await follow(link("last"));
  check("the last page has the rest", (await shown()).join() === "101" && (await link("next").count()) === 0);
  await page.goBack();
  check("back leads back", (await shown())[0] === "21");

  await choose("overall", "true");
  const passed = verdicts.flatMap((one, at) => (one.overall && at < begun ? [String(at + 1)] : []));
  check("a filter shows what it says", (await shown()).join() === passed.slice(0, 20).join());
  check("and is in the address and in the form", page.url().includes("overall=true") && (await page.locator("[name=overall]").inputValue()) === "true");
  await choose("kind", "false_pass");
  await shot(page, "view-filter");
  check("two filters hold both", (await shown()).length > 0 && (await shown()).every((line) => passed.includes(line)));
  await follow(page.locator("a", { hasText: /^all$/ }));
  check("all takes them back", (await shown()).length === 20 && page.url() === server.address);

  await page.keyboard.press("/");
  check("/ goes to the search", await page.evaluate(() => document.activeElement.id === "q"));
  await page.keyboard.type("sample-00042");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  check("the search finds one", (await shown()).join() === "43");
  await page.locator("article summary").click();
  check("a click opens the record", await page.locator("article h3", { hasText: "Question" }).isVisible());
  await page.locator("article summary").click();
  check("and folds it", !(await page.locator("article h3", { hasText: "Question" }).isVisible()));
  await shot(page, "view-search");
  await follow(page.locator(".item .own"));
  check("a record has a page of its own", page.url().endsWith("/verdict?line=43") && (await page.locator(".line pre").textContent()).includes("sample-00042"));
  await shot(page, "view-verdict", { fullPage: true });
  await follow(link("next"));
  check("with the way to the next", page.url().endsWith("/verdict?line=44"));
  await follow(link("all verdicts"));

  const focused = () => page.evaluate(() => [...document.querySelectorAll("article summary")].indexOf(document.activeElement));
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  check("j goes to the next", (await focused()) === 1);
  await page.keyboard.press("k");
  check("k goes back", (await focused()) === 0);
  await page.keyboard.press("Enter");
  check("Enter opens", (await page.locator("article details[open]").count()) === 1);

  const grow = (from, to) => appendFileSync(join(folder, "growing.jsonl"), lines.slice(from, to).map((line) => `${line}\n`).join(""));
  grow(begun, 110);
  await until("the counts grow", () => document.getElementById("summary").innerText.startsWith("110 verdicts"));
  await until("a page that is read says so", () => document.getElementById("news").innerText === "9 more since this page was made: show them");
  check("and stays open", (await page.locator("article details[open]").count()) === 1);
  await shot(page, "view-news");
  await follow(page.locator("#news a"));
  await choose("sort", "newest");
  check("the newest come first", (await shown())[0] === "110");
  grow(110, 130);
  await until("and follow the run", () => document.querySelector(".item .own").innerText === "130");
  await close("view");

  for (const path of ["", "?sort=newest&kind=any", "?q=a&page=1", "verdict?line=7", "verdict?line=500", "?trial=x", "none"]) {
    const phone = await open(server.address, PHONE);
    await phone.page.goto(server.address + path);
    await phone.page.evaluate(() => document.querySelectorAll("article details").forEach((one) => { one.open = true; }));
    await fits(phone.page, `/${path}`);
    if (path === "") check("filters are folded on a phone", !(await phone.page.locator("[name=status]").isVisible()));
    if (path.includes("kind=any")) check("which says how many are in use", (await phone.page.locator(".more summary").innerText()).includes("2 chosen"));
    await shot(phone.page, `view-phone-${path.replace(/\W+/g, "-")}`);
    if (!["verdict?line=500", "?trial=x", "none"].includes(path)) await phone.close(`/${path} at a phone`);
    else await phone.context.close();
  }
  for (const colorScheme of ["light", "dark"]) {
    const free = await open(server.address, { bypassCSP: true, colorScheme });
    await free.page.evaluate(() => [...document.querySelectorAll("article details")].slice(0, 4).forEach((one) => { one.open = true; }));
    await accessible(free.page, `${colorScheme} view`);
    await free.context.close();
  }
  const plain = await open(server.address, { javaScriptEnabled: false });
  await plain.page.locator("[name=status]").selectOption("unparsed");
  await plain.page.locator("button[type=submit]").click();
  await plain.page.waitForURL(/status=unparsed/);
  check("without scripts a filter works", (await plain.page.locator("article .status").count()) > 0);
  await plain.context.close();
  const { code } = await server.end();
  check(`the server ends (${code})`, code === 0);
}
