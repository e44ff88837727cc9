// Opens every part of the page for every kind of run: no error on the console, no request, nothing wider than the
// window.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, check, finish, open, picture, refined, run, settings } from "./harness.mjs";

const { effort, makeSnapshot, modules, work } = settings();
const chromium = await browser(modules);
// Source lines that are wider than any window.
const sources = join(work, "sources");
mkdirSync(sources, { recursive: true });
writeFileSync(join(sources, "long.c"), `EFFORT_BEGIN("solve"); ${"solve(); ".repeat(60)}EFFORT_END("solve");\n`);
// Paths of further snapshots, separated by colons, such as those of the examples or of recorded runs.
const others = (process.env.EFFORT_TEST_SNAPSHOTS ?? "").split(":").filter(Boolean);
const pages = ["empty", "one-rank", "one-step", "regions", "full", "exact"].map((kind) => {
  const snapshot = join(work, `${kind}.effort`),
    page = join(work, `${kind}.html`);
  run(makeSnapshot, [kind, snapshot]);
  run(effort, ["report", snapshot, "-o", page, "--source", sources]);
  return page;
});
others.forEach((snapshot, i) => {
  pages.push(join(work, `other-${i}.html`));
  run(effort, ["report", snapshot, "-o", pages[pages.length - 1]]);
});

for (const file of pages) {
  for (const [width, theme] of [
    [1440, "light"],
    [800, "dark"],
  ]) {
    const page = await open(chromium, file, { width, theme });
    const tabs = await page.$$eval("[role=tab]", (all) => all.map((tab) => tab.id));
    check(tabs.length >= 6, `${file}: parts ${tabs}`);
    for (const tab of tabs) {
      await page.click(`#${tab}`);
      const name = tab.slice(4);
      if (name === "load" && (await page.$(".heatmap"))) await refined(page);
      const { text, wide } = await page.evaluate(() => ({
        text: document.querySelector("main").innerText.trim().length,
        wide: document.documentElement.scrollWidth - innerWidth,
      }));
      check(text > 10, `${file} ${name}: blank`);
      check(wide <= 1, `${file} ${name} at ${width}: ${wide} pixels wider than the window`);
      await picture(page, join(work, `${file.split("/").pop()}-${name}-${width}-${theme}.png`));
    }
    await page.close();
  }
}

const printed = await open(chromium, pages[4]);
await printed.evaluate(() => dispatchEvent(new Event("beforeprint")));
const widest = await printed.evaluate(() =>
  Math.max(
    ...[...document.querySelectorAll("main canvas, main table, main p")].map(
      (e) => e.getBoundingClientRect().right - document.querySelector("main").getBoundingClientRect().left
    )
  )
);
check(widest > 300 && widest <= 700, `the printed page is ${widest} pixels wide`);
const blank = await printed.evaluate(() =>
  [...document.querySelectorAll("main canvas.map")].map((map) => {
    const { data } = map.getContext("2d").getImageData(map.width >> 2, map.height >> 2, map.width >> 1, 1);
    return new Set(new Uint32Array(data.buffer)).size;
  })
);
check(blank.length === 1 && blank[0] > 5, `colours across the printed heat map: ${blank}`);
await printed.evaluate(() => dispatchEvent(new Event("afterprint")));
const pdf = await printed.pdf({ format: "A4" });
check(pdf.length > 20000, `the printed report has ${pdf.length} bytes`);
await chromium.close();
finish();
