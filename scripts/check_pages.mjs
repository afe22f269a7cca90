// Opens juror's three kinds of pages in headless Chromium: reports of `eval --html`, `label --page` and `view`. Nothing in them runs, loads
// or overflows a phone, keys and clicks do what they say, and what is labelled is on disk.
//
//     npm install --no-save playwright-core axe-core
//     node scripts/check_pages.mjs [--juror target/release/juror] [--chromium /usr/bin/chromium] [--samples 10000] [--screenshots FOLDER] [report|label|view]
//
// `--modules FOLDER`: the folder whose node_modules has both packages, if it is another one. `--samples`: how many the large report has.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import label from "./pages/label.mjs";
import report from "./pages/report.mjs";
import view from "./pages/view.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    juror: { type: "string", default: "target/release/juror" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    samples: { type: "string", default: "10000" },
    screenshots: { type: "string" },
    modules: { type: "string", default: "." },
  },
});
const require = createRequire(resolve(options.modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const juror = resolve(options.juror);

const check = (what, is) => {
  if (!is) throw new Error(`failed: ${what}`);
  console.log(`ok: ${what}`);
};

const browser = await chromium.launch({
  executablePath: options.chromium,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    // Another site's name that leads to this machine.
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP rebound.test 127.0.0.1"],
});

/// A page whose requests and messages are counted; `close` checks that it asked nobody else and complained of nothing.
const open = async (address, settings = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...settings });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const seen = { requests: [], messages: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  // A browser asks for an icon by itself.
  const isOfIcon = (message) => message.location().url.endsWith("/favicon.ico");
  page.on("console", (message) => { if (!isOfIcon(message)) seen.messages.push(`${message.text()} ${message.location().url}`); });
  page.on("pageerror", (error) => seen.messages.push(String(error)));
  page.on("dialog", (dialog) => {
    seen.messages.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  const from = performance.now();
  await page.goto(address, { waitUntil: "load" });
  const close = async (what) => {
    check(`${what}: nothing in the texts ran`, (await page.evaluate(() => window.harm)) === undefined);
    check(`${what}: no messages (${seen.messages})`, seen.messages.length === 0);
    const elsewhere = seen.requests.filter((one) => !one.startsWith(address));
    check(`${what}: no requests elsewhere (${elsewhere})`, elsewhere.length === 0);
    await context.close();
  };
  return { context, page, seen, close, seconds: (performance.now() - from) / 1000 };
};
const PHONE = { viewport: { width: 375, height: 800 }, hasTouch: true, isMobile: true };
const fits = async (page, what) => {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  check(`${what}: a phone's page is as wide as the phone (${width})`, width <= 375);
};
const shot = async (page, name, settings = {}) => {
  if (options.screenshots) await page.screenshot({ path: join(options.screenshots, `${name}.png`), ...settings });
};
/// What axe finds in a page that was opened with `bypassCSP`: axe itself is a script that the page's policy would refuse.
const accessible = async (page, what) => {
  await page.evaluate(axe);
  const results = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
  const found = results.violations.map((one) => `${one.id}: ${one.nodes.length}: ${one.nodes[0].html.slice(0, 200)} ${one.nodes[0].failureSummary}`);
  check(`${what}: axe finds nothing\n${found.join("\n")}`, found.length === 0);
};

const servers = new Set();
/// A command that serves pages: its address, and `end`, which gives its exit code and what it said.
const serve = async (folder, ...command) => {
  const child = spawn(juror, command, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  servers.add(child);
  const ended = once(child, "close");
  let said = "";
  child.stderr.on("data", (text) => { said += text; });
  const line = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  check(`${command[0]} serves (${said.trim()})`, String(line[0]).startsWith("http://127.0.0.1:"));
  const end = async () => {
    child.kill("SIGTERM");
    const [code] = await ended;
    servers.delete(child);
    return { code, said };
  };
  return { address: line[0], end };
};

const folder = mkdtempSync(join(tmpdir(), "juror-pages-"));
const tools = { options, juror, folder, check, open, PHONE, fits, shot, accessible, serve };
try {
  for (const part of [report, label, view]) {
    if (!positionals.length || positionals.includes(part.name)) await part(tools);
  }
} finally {
  for (const child of servers) child.kill("SIGKILL");
  await browser.close();
  rmSync(folder, { recursive: true });
}
