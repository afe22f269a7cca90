// Opens reports of `juror eval --html` in headless Chromium: nothing in them runs, loads or overflows, axe finds nothing, the keyboard
// works, printing works, and a large one opens quickly.
//
//     npm install --no-save playwright-core axe-core
//     node scripts/check_report.mjs [--juror target/release/juror] [--chromium /usr/bin/chromium] [--samples 10000] [--screenshots FOLDER]
//
// `--modules FOLDER`: the folder whose node_modules has both packages, if it is another one.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
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

const check = (what, is) => {
  if (!is) throw new Error(`failed: ${what}`);
  console.log(`ok: ${what}`);
};

// A generator of numbers with a seed (mulberry32): the same samples each time.
let state = 7;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let value = Math.imul(state ^ (state >>> 15), 1 | state);
  value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
  return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
};
const pick = (all) => all[Math.floor(random() * all.length)];

const STEPS = [
  "We start from $f(x)=\\frac{a x^2+b}{c}$ and set $f'(x)=0$, so that $2ax=0$.",
  "By conservation of energy \\(\\frac12 m v^2 = m g h\\), hence \\(v=\\sqrt{2gh}\\).",
  "\\[\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}\\]",
  "Using $\\ln K = -\\frac{\\Delta G^\\circ}{RT}$ with $T=298\\ \\text{K}$ gives the equilibrium constant.",
  "$$\\begin{aligned} a &= b + c \\\\ &= d \\end{aligned}$$",
  "The dominant allele is expressed in both genotypes, so the ratio of phenotypes is 3 to 1.",
  "The matrix $\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}$ has determinant $-2$.",
];
const HOSTILE = [
  "<script>window.harm = 1</script>",
  "<img src=x onerror='window.harm = 2'>",
  "</style><style>body { display: none }</style>",
  "</script><script>window.harm = 3</script>",
  '<a href="javascript:window.harm = 4">x</a>',
  "$</math><script>window.harm = 5</script>$",
  "$\\operatorname{<img src=x onerror=window.harm=6>}$",
  "{{7*7}} {% for x in y %}",
  "\u202edesrever\u2066 \u0007 \u001b[31m",
  "<svg onload=window.harm=7>",
  "$\\href{javascript:window.harm=8}{x}$",
  "<!-- --> <iframe src=http://127.0.0.1:9/x></iframe>",
  "<link rel=stylesheet href=http://127.0.0.1:9/y.css><base href=http://127.0.0.1:9/>",
  "a" + "\u0301".repeat(300),
  "wide ".padEnd(4000, "W"),
  "$" + "x+".repeat(900) + "x$",
];

/// Samples with labels and the verdicts of two judges.
const write = (folder, count, hostile) => {
  const lines = { labels: [], small: [], large: [] };
  for (let number = 0; number < count; number += 1) {
    const outcome = random() < 0.62;
    const process = outcome && random() < 0.75;
    const evil = () => (hostile && random() < 0.5 ? `${pick(HOSTILE)} ` : "");
    const subject = hostile && random() < 0.1 ? pick(HOSTILE).slice(0, 60) : pick(["Math", "Physics", "Chemistry", "Biology"]);
    const id = `${evil().slice(0, 40)}sample-${String(number).padStart(5, "0")}`;
    const steps = Array.from({ length: 4 + Math.floor(random() * 14) }, () => evil() + pick(STEPS));
    lines.labels.push({
      id, subject, answer_type: pick(["number", "expression", "choice"]),
      question: `${evil()}A quantity satisfies $x_{${number % 9}}^2 + ${number % 7}x = ${number % 50}$. Find its larger value and justify every step.`,
      reference_answer: `$${Math.floor(random() * 100)}$`, response: `${steps.join(" ")}\n\nFinal answer: $\\boxed{${Math.floor(random() * 100)}}$`,
      outcome_label: outcome, process_label: process, overall_label: outcome && process,
    });
    for (const [judge, skill, tokens] of [["small", 0.8, 60], ["large", 0.9, 900]]) {
      const said = [process, outcome].map((label) => (random() < skill ? label : !label));
      const probability = (yes) => 0.5 + (yes ? 1 : -1) * (0.5 - 0.5 * random() ** 2);
      const read = random() > 0.02;
      lines[judge].push({
        id, index: number, trial: 0, status: read ? "ok" : "unparsed", process: read ? said[0] : null, outcome: read ? said[1] : null,
        overall: read ? said[0] && said[1] : null, rule_outcome: random() < 0.5 ? outcome : null,
        reason: read ? `${evil()}The derivation ${said[0] ? "holds" : "has a gap"}: $2ax=0$ is used in the second step.` : null,
        confidence: { process: read ? probability(said[0]) : null, outcome: read ? probability(said[1]) : null, perfect: null },
        usage: { prompt_tokens: 900, cached_tokens: 700, completion_tokens: 1 + Math.floor(-Math.log(1 - random()) * tokens) },
        ...(read ? {} : { raw: { completion: `${evil()}I think it is fine.` } }),
      });
    }
  }
  for (const [name, rows] of Object.entries(lines)) {
    writeFileSync(join(folder, `${name}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
};

const report = (folder, name) => {
  const from = performance.now();
  const eval_ = ["eval", "small.jsonl", "--labels", "labels.jsonl", "--compare", "large.jsonl", "--active-parameters", "4,30", "--reference", "prime"];
  execFileSync(resolve(options.juror), [...eval_, "--html", name], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return (performance.now() - from) / 1000;
};

const folder = mkdtempSync(join(tmpdir(), "juror-report-"));
const browser = await chromium.launch({
  executablePath: options.chromium,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});

/// A page in which requests and messages are counted.
const open = async (file, settings) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...settings });
  const page = await context.newPage();
  const seen = { requests: [], messages: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => seen.messages.push(message.text()));
  page.on("pageerror", (error) => seen.messages.push(String(error)));
  page.on("dialog", (dialog) => {
    seen.messages.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  const from = performance.now();
  await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
  return { context, page, seen, seconds: (performance.now() - from) / 1000 };
};
const shot = async (page, name, settings = {}) => {
  if (options.screenshots) await page.screenshot({ path: join(options.screenshots, `${name}.png`), ...settings });
};
const violations = async (page) => {
  await page.evaluate(axe);
  const results = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return results.violations.map((one) => `${one.id}: ${one.nodes.length}: ${one.nodes[0].html.slice(0, 200)} ${one.nodes[0].failureSummary}`);
};

try {
  write(folder, 300, true);
  report(folder, "hostile.html");
  const hostile = join(folder, "hostile.html");
  for (const colorScheme of ["light", "dark"]) {
    const { context, page, seen } = await open(hostile, { colorScheme, bypassCSP: false });
    await page.evaluate(() => document.querySelectorAll(".record details").forEach((one) => { one.open = true; }));
    await page.waitForTimeout(300);
    check(`${colorScheme}: nothing in the texts ran`, (await page.evaluate(() => window.harm)) === undefined);
    check(`${colorScheme}: one request, the page itself`, seen.requests.length === 1);
    check(`${colorScheme}: no messages (${seen.messages})`, seen.messages.length === 0);
    check(`${colorScheme}: the page is there`, (await page.locator("h1").innerText()) === "small.jsonl");
    const elements = await page.evaluate(() => document.querySelectorAll("img, iframe, link, base, object, embed, script").length);
    check(`${colorScheme}: one script, and nothing that loads`, elements === 1);
    await context.close();
    // axe itself is a script that the page's policy would refuse.
    const free = await open(hostile, { colorScheme, bypassCSP: true });
    await free.page.evaluate(() => [...document.querySelectorAll(".record details")].slice(0, 12).forEach((one) => { one.open = true; }));
    const found = await violations(free.page);
    check(`${colorScheme}: axe finds nothing\n${found.join("\n")}`, found.length === 0);
    await free.context.close();
  }

  write(folder, 600, false);
  report(folder, "usual.html");
  const usual = join(folder, "usual.html");
  for (const [name, file] of [["hostile", hostile], ["usual", usual]]) {
    const phone = await open(file, { viewport: { width: 375, height: 800 }, hasTouch: true, isMobile: true });
    await phone.page.evaluate(() => [...document.querySelectorAll(".record details")].slice(0, 60).forEach((one) => { one.open = true; }));
    const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    check(`${name}: a phone's page is as wide as the phone (${width})`, width <= 375);
    await shot(phone.page, `phone-${name}`);
    await phone.context.close();
  }
  {
    const { context, page, seen } = await open(usual, {});
    await shot(page, "light");
    const records = () => page.locator("#records > .record:visible");
    const all = await records().count();
    check(`records are shown (${all})`, all > 100);
    await page.locator('a[href="#only-missed_lucky_guess"]').click();
    const lucky = await records().count();
    const told = Number(await page.locator('a[href="#only-missed_lucky_guess"]').innerText());
    check(`a count leads to as many records (${lucky})`, lucky === told && lucky < all);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const opened = page.locator("#records > .record:has(details[open])");
    check("j opens one record after the other", (await opened.count()) === 1);
    const second = await opened.first().getAttribute("id");
    await shot(page, "record");
    await page.keyboard.press("k");
    check("k goes back", (await opened.first().getAttribute("id")) !== second && (await opened.count()) === 1);
    check("the focus is on the record", await page.evaluate(() => document.activeElement.matches(".record summary")));
    const id = await records().last().locator(".id").innerText();
    await page.keyboard.press("/");
    await page.keyboard.type(id);
    await page.waitForTimeout(400);
    const searched = await records().count();
    check(`the search finds one record (${searched})`, searched === 1);
    await page.keyboard.press("Escape");
    check("Escape leaves the search", await page.evaluate(() => document.activeElement === document.body));
    check(`no messages (${seen.messages})`, seen.messages.length === 0);
    await page.emulateMedia({ media: "print" });
    check("controls are not printed", !(await page.locator("#controls").isVisible()));
    const pdf = await page.pdf({ format: "A4" });
    check(`it prints (${pdf.length} bytes)`, pdf.length > 20000);
    await context.close();
    const dark = await open(usual, { colorScheme: "dark" });
    await shot(dark.page, "dark", { fullPage: true });
    await dark.context.close();
    const plain = await open(usual, { javaScriptEnabled: false });
    await plain.page.locator('a[href="#only-false_alarm"]').first().click();
    const shown = await plain.page.locator("#records > .record:visible").count();
    check(`without scripts a count leads to its records (${shown})`, shown > 0 && shown < all);
    await plain.page.locator("#records > .record:visible summary").first().click();
    check("without scripts a record opens", await plain.page.locator("#records > .record details[open]").isVisible());
    await plain.context.close();
  }

  write(folder, Number(options.samples), false);
  const times = [1, 2, 3].map(() => report(folder, "large.html")).sort((a, b) => a - b);
  const large = join(folder, "large.html");
  const bytes = statSync(large).size;
  console.log(`${options.samples} samples, two judges: median ${times[1].toFixed(2)} s (${times.map((time) => time.toFixed(2))}), ${(bytes / 1e6).toFixed(1)} MB`);
  check("less than 20 MB", bytes < 20e6);
  const { context, page, seconds } = await open(large, {});
  console.log(`opened in ${seconds.toFixed(2)} s`);
  const slow = await page.evaluate(async () => {
    // The longest time between two frames while the page is scrolled to its end.
    let longest = 0;
    let last = performance.now();
    for (let step = 1; step <= 60; step += 1) {
      scrollTo(0, (document.documentElement.scrollHeight * step) / 60);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  });
  console.log(`scrolled to its end in 60 steps: the longest frame took ${slow.toFixed(0)} ms`);
  await context.close();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
