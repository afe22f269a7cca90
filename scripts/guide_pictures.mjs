// Makes the pictures of the guide, docs/guide/images: the report, a record of it, and `juror view`, of made-up verdicts.
//
//     npm install --no-save playwright-core
//     node scripts/guide_pictures.mjs [--juror target/release/juror] [--chromium /usr/bin/chromium] [--modules FOLDER] [--out docs/guide/images]
//
// `--looks FOLDER` writes each page instead as it looks on a desktop and on a phone, light and dark: to be looked at before and after a change.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { write } from "./pages/samples.mjs";

const { values: options } = parseArgs({
  options: {
    juror: { type: "string", default: "target/release/juror" },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    modules: { type: "string", default: "." },
    out: { type: "string", default: "docs/guide/images" },
    looks: { type: "string" },
  },
});
const { chromium } = createRequire(resolve(options.modules, "package.json"))("playwright-core");
const juror = resolve(options.juror);
const folder = mkdtempSync(join(tmpdir(), "juror-pictures-"));
const browser = await chromium.launch({ executablePath: options.chromium, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const children = [];

/// A command that serves pages; gives its address.
const serve = async (...command) => {
  const child = spawn(juror, command, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return String((await once(createInterface(child.stdout), "line"))[0]);
};
/// A picture of a page.
const shot = async (address, file, settings, act = async () => {}, picture = {}) => {
  const context = await browser.newContext(settings);
  const page = await context.newPage();
  await page.goto(address, { waitUntil: "load" });
  await act(page);
  await page.waitForTimeout(300);
  await page.screenshot({ path: file, ...picture });
  await context.close();
};

try {
  write(folder, 600, false);
  // What journals say of the runs.
  for (const [name, model, protocol] of [["small", "tiny", "prime"], ["large", "Qwen/Qwen3-8B", "prime"]]) {
    const manifest = { format: 1, juror: "0.1.0", model: { name: model, hash: "" }, protocol: { name: protocol, hash: "" },
      sampling: { temperature: 0, top_k: null, top_p: null, min_p: null, max_new_tokens: 512 }, seed: 0, trials: 1, rules: "fallback (strict)",
      reward: "process-outcome", reason: true, raw: false, input: { fingerprint: "", samples: 600 }, shard: null };
    writeFileSync(join(folder, `${name}.jsonl.journal`), `${JSON.stringify({ manifest })}\n`);
    // The output is the newer one.
    writeFileSync(join(folder, `${name}.jsonl`), readFileSync(join(folder, `${name}.jsonl`)));
  }
  execFileSync(juror, ["eval", "small.jsonl", "--labels", "labels.jsonl", "--compare", "large.jsonl", "--active-parameters", "4,30", "--reference", "prime",
    "--html", "report.html"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const report = pathToFileURL(join(folder, "report.html")).href;
  const view = await serve("view", "small.jsonl", "--labels", "labels.jsonl");
  const doubtful = `${view}?kind=any&sort=least_sure`;
  /// Opens a record with a disagreement.
  const openOne = async (page) => {
    await page.locator('a[href="#only-missed_lucky_guess"]').click();
    await page.keyboard.press("j");
  };
  if (options.looks === undefined) {
    const desk = { viewport: { width: 1180, height: 760 } };
    await shot(report, join(options.out, "report.png"), desk);
    await shot(report, join(options.out, "record.png"), { viewport: { width: 1180, height: 840 } }, openOne);
    await shot(doubtful, join(options.out, "view.png"), { viewport: { width: 1200, height: 1000 } });
  } else {
    // Verdicts without texts, some of which failed.
    const verdicts = readFileSync(join(folder, "small.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const failed = verdicts.map((one, at) => (at % 3 ? one : { ...one, status: "failed", process: null, outcome: null, overall: null, error: "the prompt does not fit the context" }));
    writeFileSync(join(folder, "bare.jsonl"), failed.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const long = readFileSync(join(folder, "labels.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
    long[0].question = `${long[0].question} `.repeat(30);
    writeFileSync(join(folder, "long.jsonl"), long.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const bare = await serve("view", "bare.jsonl");
    const label = await serve("label", "long.jsonl", "--all", "-o", "by-ada.jsonl", "--annotator", "ada", "--page");
    const openTwo = (page) => page.evaluate(() => [...document.querySelectorAll("article > details")].slice(0, 2).forEach((one) => { one.open = true; }));
    for (const colorScheme of ["light", "dark"]) {
      for (const [place, settings] of [["desk", { viewport: { width: 1280, height: 900 } }], ["phone", { viewport: { width: 375, height: 800 }, hasTouch: true, isMobile: true }]]) {
        const look = (name, address, act, picture) => shot(address, join(options.looks, `${name}-${place}-${colorScheme}.png`), { ...settings, colorScheme }, act, picture);
        await look("view", doubtful);
        await look("view-open", doubtful, openTwo, { fullPage: place === "desk" });
        await look("verdict", `${view}verdict?line=7`);
        await look("bare", bare, openTwo);
        await look("report", report);
        await look("report-whole", report, (page) => page.evaluate(() => document.getElementById("records").remove()), { fullPage: true });
        await look("record", report, openOne);
        await look("label", label);
      }
    }
  }
} finally {
  for (const child of children) child.kill("SIGKILL");
  await browser.close();
  rmSync(folder, { recursive: true });
}
