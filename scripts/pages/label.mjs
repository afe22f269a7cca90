// `juror label --page`: what is pressed is on disk before the next sample is shown, and other sites press nothing.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { write } from "./samples.mjs";

/// Milliseconds after which a page of another site is taken to have asked nothing.
const ASKED_WITHIN = 5000;

/// Ids that a form's field would not give back as they are.
const IDS = ["lines\r\nof\nan id", "nothing\u0000", " spaces ", "\u202eturned\u2066", "<b>\"'&amp;{{id}}"];

export default async function label({ juror, folder, check, open, PHONE, fits, shot, accessible, serve }) {
  write(folder, 12, true);
  const rows = readFileSync(join(folder, "labels.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const renamed = new Map(IDS.map((id, at) => [rows[at + 4].id, id]));
  for (const name of ["labels", "small", "large"]) {
    const lines = readFileSync(join(folder, `${name}.jsonl`), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    writeFileSync(join(folder, `${name}.jsonl`), lines.map((line) => `${JSON.stringify({ ...line, id: renamed.get(line.id) ?? line.id })}\n`).join(""));
  }
  const ids = rows.map((row) => renamed.get(row.id) ?? row.id);
  const begin = (annotator) => serve(folder, "label", "small.jsonl", "large.jsonl", "--rows", "labels.jsonl", "--all", "-o", `by-${annotator}.jsonl`,
    "--annotator", annotator, "--page");
  /// What the file says, as keys.
  const keys = (annotator) => {
    const file = join(folder, `by-${annotator}.jsonl`);
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line)) : [];
    if (!lines.every((line, at) => line.id === ids[at] && line.annotator === annotator)) throw new Error(`labels of ${annotator} are of other rows`);
    return lines.map((line) => (line.outcome ? (line.process ? "t" : "p") : line.process ? "d" : "f") + (line.note ? ` ${line.note}` : ""));
  };
  /// Does something, and waits for the page that follows; what the file said when the browser asked for that page.
  const after = async (annotator, page, act) => {
    let before;
    const asked = (request) => { if (request.isNavigationRequest() && request.method() === "GET") before = keys(annotator); };
    page.on("request", asked);
    await Promise.all([page.waitForEvent("load"), act()]);
    page.off("request", asked);
    return before?.join(", ");
  };

  // With keys.
  const ada = await begin("ada");
  const desk = await open(ada.address);
  const press = (key) => after("ada", desk.page, () => desk.page.keyboard.press(key));
  await shot(desk.page, "label");
  check("nothing is there to be undone", (await desk.page.locator("button[value=u]").count()) === 0);
  check("nothing that a judge says is shown before", !(await desk.page.locator("body").innerText()).includes("derivation "));
  check("t is on disk", (await press("t")) === "t");
  const verdicts = desk.page.locator("section .record .verdicts");
  const said = await verdicts.innerText();
  check("what each judge says is in sight after", ["label", "small.jsonl", "large.jsonl"].every((name) => said.includes(name)));
  const apart = async (page) => page.evaluate(() => document.querySelector(".above").getBoundingClientRect().bottom <= document.querySelector("form.keys").getBoundingClientRect().top + 0.5);
  check("the keys cover no text", await apart(desk.page));
  await desk.page.keyboard.press("PageDown");
  check("nor after scrolling", await apart(desk.page));
  await shot(desk.page, "label-second");
  check("f is on disk", (await press("f")) === "t, f");
  await desk.page.keyboard.press("x");
  await desk.page.keyboard.press("Enter");
  await desk.page.keyboard.press("Control+p");
  await desk.page.keyboard.press("n");
  await desk.page.keyboard.type("stop, u+f=p & <b>");
  await desk.page.keyboard.press("Enter");
  check("keys of no button, and those in a note, press nothing", keys("ada").join(", ") === "t, f");
  check("a note goes with its label", (await press("p")) === "t, f, p stop, u+f=p & <b>");
  check("undo takes one off", (await press("u")) === "t, f");
  check("a skip is no label", (await press("s")) === "t, f");
  check("undo of a skip", (await press("u")) === "t, f");
  check("a label instead", (await press("T")) === "t, f, t");
  const held = await after("ada", desk.page, async () => {
    await desk.page.keyboard.down("t");
    await desk.page.keyboard.down("t");
  });
  await desk.page.keyboard.down("t");
  check("a key that is held says one thing", held === "t, f, t, t" && keys("ada").length === 4);
  await desk.page.keyboard.up("t");
  for (let at = 4; at < ids.length; at += 1) await press("t");
  check("all are labelled, whatever their ids", keys("ada").length === ids.length);
  check("and it says so", (await desk.page.locator("main").innerText()) === "All are labelled.");
  await shot(desk.page, "label-done");
  await press("u");
  check("the last can be undone", keys("ada").length === ids.length - 1);
  await press("f");
  await desk.page.goBack();
  await desk.page.reload();
  check("going back and loading again says nothing", keys("ada").length === ids.length);
  await desk.close("label page");

  // With clicks, by another person, at a phone.
  const ben = await begin("ben");
  const phone = await open(ben.address, PHONE);
  const tap = (key) => after("ben", phone.page, () => phone.page.locator(`button[value=${key}]`).tap());
  await fits(phone.page, "label");
  await shot(phone.page, "label-phone");
  await phone.page.locator("input[name=note]").fill("a note");
  check("a tap is on disk", (await tap("f")) === "f a note");
  await fits(phone.page, "label after one");
  await phone.page.locator("section summary").tap();
  await fits(phone.page, "label with the last one open");
  await shot(phone.page, "label-phone-open");
  check("undo by a tap", (await tap("u")) === "");
  check("and again", (await tap("p")) === "p");
  await after("ben", phone.page, () => phone.page.locator("button[value=t]").dblclick());
  await phone.page.waitForLoadState("networkidle");
  check("a double click says one thing", keys("ben").join(", ") === "p, t");
  for (let at = 2; at < ids.length; at += 1) {
    await tap("tfpd"[at % 4]);
    await fits(phone.page, `label ${at + 1}`);
  }
  check("all are labelled", (await phone.page.locator("main").innerText()) === "All are labelled.");
  await phone.close("label page at a phone");
  const free = await open(ben.address, { bypassCSP: true });
  await free.page.locator("button[value=u]").click();
  await accessible(free.page, "label");
  await free.context.close();
  const plain = await open(ben.address, { javaScriptEnabled: false });
  await after("ben", plain.page, () => plain.page.locator("button[value=p]").click());
  check("without scripts a click is on disk", keys("ben").at(-1) === "p");
  await plain.context.close();

  // Other sites, even one that knows what the form holds.
  const cleo = await begin("cleo");
  const { host, port } = new URL(cleo.address);
  const own = await open(cleo.address);
  const fields = await own.page.evaluate(() => [...document.querySelectorAll("form input[type=hidden]")].map((one) => [one.name, one.value]));
  await own.context.close();
  const inputs = [...fields, ["key", "t"]].map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
  const form = (target) => `<form method=post action="${cleo.address}" target="${target}">${inputs}</form><script>document.forms[0].submit()</script>`;
  const evil = createServer((request, answer) => {
    const pages = {
      "/form": form("_self"),
      "/sandbox": `<iframe sandbox="allow-forms allow-scripts" srcdoc='${form("_self")}'></iframe>`,
      "/quiet": `<meta name=referrer content=no-referrer>${form("_self")}`,
      "/fetch": `<script>fetch("${cleo.address}", { method: "POST", mode: "no-cors", body: new URLSearchParams(${JSON.stringify([...fields, ["key", "t"]])}) })</script>`,
      "/frame": `<iframe src="${cleo.address}"></iframe>`,
    };
    answer.setHeader("content-type", "text/html");
    answer.end(pages[request.url] ?? "");
  }).listen(0, "127.0.0.1");
  await once(evil, "listening");
  for (const site of ["127.0.0.1", "localhost", "rebound.test"]) {
    // Within a page of a site that is no name of this machine Chromium asks nothing of it by itself.
    for (const way of site === "rebound.test" ? ["form", "quiet"] : ["form", "sandbox", "quiet", "fetch", "frame"]) {
      const { page, context } = await open("about:blank");
      const isOurs = (request) => request.url() === cleo.address;
      const [request] = await Promise.all([
        // What a script of another site may not see counts as failed; a browser may not even ask.
        new Promise((resolve) => {
          setTimeout(resolve, ASKED_WITHIN, null);
          for (const event of ["requestfinished", "requestfailed"]) page.on(event, (request) => { if (isOurs(request)) resolve(request); });
        }),
        page.goto(`http://${site}:${evil.address().port}/${way}`).catch(() => {}),
      ]);
      const status = request === null ? "not asked" : (request.failure()?.errorText ?? (await request.response()).status());
      const isRefused = request === null || request.failure() !== null || status === 403;
      check(`${way} of http://${site} is refused (${status})`, isRefused && keys("cleo").length === 0);
      await context.close();
    }
  }
  const rebound = await open(`http://rebound.test:${port}/`);
  check("a name that leads to this machine is refused", (await rebound.page.locator("body").innerText()).includes("this server answers to"));
  await rebound.context.close();
  const linked = await open("about:blank");
  await linked.page.goto(`http://localhost:${evil.address().port}/`);
  await linked.page.setContent(`<a href="http://${host}/">label</a>`);
  await linked.page.locator("a").click();
  await linked.page.waitForURL(cleo.address);
  await after("cleo", linked.page, () => linked.page.keyboard.press("p"));
  check("a link leads here, and the page works then", keys("cleo").join() === "p");
  await linked.context.close();
  evil.close();
  evil.closeAllConnections();

  for (const [name, server] of Object.entries({ ada, ben, cleo })) {
    const { code, said } = await server.end();
    check(`the server of ${name} ends (${code})`, code === 0 && said.includes(`${keys(name).length} of ${ids.length} are labelled`));
  }
  const agreement = execFileSync(juror, ["label", "--agreement", "by-ada.jsonl", "by-ben.jsonl"], { cwd: folder, encoding: "utf8" });
  check("both agree as far as they do", agreement.startsWith(`ada and ben: ${ids.length} samples labelled by both`));
}
