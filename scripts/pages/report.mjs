// Reports of `juror eval --html`: hostile texts, keys, filters, printing, no scripts, and how quickly a large one opens.

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { write } from "./samples.mjs";

export default async function report({ options, juror, folder, check, open, PHONE, fits, shot, accessible }) {
  const make = (name) => {
    const from = performance.now();
    const eval_ = ["eval", "small.jsonl", "--labels", "labels.jsonl", "--compare", "large.jsonl", "--active-parameters", "4,30", "--reference", "prime"];
    execFileSync(juror, [...eval_, "--html", name], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    return { file: pathToFileURL(join(folder, name)).href, seconds: (performance.now() - from) / 1000 };
  };
  const openAll = (page, most) => page.evaluate((most) => {
    [...document.querySelectorAll(".record details")].slice(0, most).forEach((one) => { one.open = true; });
  }, most);

  write(folder, 300, true);
  const hostile = make("hostile.html").file;
  for (const colorScheme of ["light", "dark"]) {
    const { page, seen, close } = await open(hostile, { colorScheme });
    await openAll(page, Infinity);
    await page.waitForTimeout(300);
    check(`${colorScheme}: one request, the page itself`, seen.requests.length === 1);
    check(`${colorScheme}: the page is there`, (await page.locator("h1").innerText()) === "small.jsonl");
    const elements = await page.evaluate(() => document.querySelectorAll("img, iframe, link, base, object, embed, script").length);
    check(`${colorScheme}: one script, and nothing that loads`, elements === 1);
    await close(`${colorScheme} report`);
  }
  // All rules on a page of 300 records take a minute.
  write(folder, 40, true);
  const short = make("short.html").file;
  for (const colorScheme of ["light", "dark"]) {
    const { page, context } = await open(short, { colorScheme, bypassCSP: true });
    await openAll(page, 4);
    await accessible(page, `${colorScheme} report`);
    await context.close();
  }

  write(folder, 600, false);
  const usual = make("usual.html").file;
  for (const [name, file] of [["hostile", hostile], ["usual", usual]]) {
    const phone = await open(file, PHONE);
    await openAll(phone.page, 60);
    await fits(phone.page, `${name} report`);
    await shot(phone.page, `report-phone-${name}`);
    await phone.close(`${name} report at a phone`);
  }
  const { page, close } = await open(usual);
  await shot(page, "report-light");
  const records = () => page.locator("#records > .record:visible");
  const all = await records().count();
  check(`records are shown (${all})`, all > 100);
  await page.locator('a[href="#only-missed_lucky_guess"]').click();
  const lucky = await records().count();
  const told = Number(await page.locator('a[href="#only-missed_lucky_guess"]').innerText());
  check(`a count leads to as many records (${lucky})`, lucky === told && lucky < all);
  check("the choice says so", (await page.locator("#only").inputValue()) === "missed_lucky_guess");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const opened = page.locator("#records > .record:has(details[open])");
  check("j opens one record after the other", (await opened.count()) === 1);
  const second = await opened.first().getAttribute("id");
  await shot(page, "report-record");
  await page.keyboard.press("k");
  check("k goes back", (await opened.first().getAttribute("id")) !== second && (await opened.count()) === 1);
  check("the focus is on the record", await page.evaluate(() => document.activeElement.matches(".record summary")));
  await opened.locator("summary").click();
  check("a click folds a record", (await opened.count()) === 0);
  const id = await records().last().locator(".id").innerText();
  await page.keyboard.press("/");
  await page.keyboard.type(id);
  await page.waitForFunction(() => document.getElementById("count").textContent.startsWith("1 of"));
  check("the search finds one record", (await records().count()) === 1);
  await page.keyboard.press("Escape");
  check("Escape leaves the search", await page.evaluate(() => document.activeElement === document.body));
  await page.locator("#search").fill("");
  await page.locator("#only").selectOption("");
  await page.waitForFunction(() => !document.getElementById("count").textContent.includes(" of "));
  check("all records are there again", (await records().count()) === all);
  await page.emulateMedia({ media: "print" });
  check("controls are not printed", !(await page.locator("#controls").isVisible()));
  const pdf = await page.pdf({ format: "A4" });
  check(`it prints (${pdf.length} bytes)`, pdf.length > 20000);
  await close("report");
  const dark = await open(usual, { colorScheme: "dark" });
  await shot(dark.page, "report-dark", { fullPage: true });
  await dark.context.close();
  const plain = await open(usual, { javaScriptEnabled: false });
  await plain.page.locator('a[href="#only-false_alarm"]').first().click();
  const shown = await plain.page.locator("#records > .record:visible").count();
  check(`without scripts a count leads to its records (${shown})`, shown > 0 && shown < all);
  await plain.page.locator("#records > .record:visible summary").first().click();
  check("without scripts a record opens", await plain.page.locator("#records > .record details[open]").isVisible());
  await plain.context.close();

  if (options.samples === "0") return;
  write(folder, Number(options.samples), false);
  const made = [1, 2, 3].map(() => make("large.html")).sort((a, b) => a.seconds - b.seconds);
  const bytes = statSync(join(folder, "large.html")).size;
  const times = made.map((one) => one.seconds.toFixed(2));
  console.log(`${options.samples} samples, two judges: median ${times[1]} s (${times}), ${(bytes / 1e6).toFixed(1)} MB`);
  check("less than 20 MB", bytes < 20e6);
  const large = await open(made[0].file);
  console.log(`opened in ${large.seconds.toFixed(2)} s`);
  const slow = await large.page.evaluate(async () => {
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
  await large.context.close();
}
