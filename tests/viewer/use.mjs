// Uses the page: zoom, brush, linked views, keys, surface, source.  Opens damaged pages and damaged snapshots.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE, browser, check, finish, open, picture, refined, run, settings } from "./harness.mjs";

const { effort, makeSnapshot, modules, work } = settings();
const snapshot = join(work, "use.effort"),
  other = join(work, "use-other.effort"),
  file = join(work, "use.html"),
  sources = join(work, "sources");
mkdirSync(join(sources, "deep"), { recursive: true });
writeFileSync(
  join(sources, "deep", "solver.c"),
  [
    "/* a solver */",
    "void f(void) {",
    '  EFFORT_BEGIN("solve");',
    "  solve();",
    '  EFFORT_END("solve");',
    "}",
    "",
  ].join("\n")
);
writeFileSync(
  join(sources, "main.f90"),
  [
    "call effort_region('assemble', EFFORT_COMPUTE, id)",
    "call effort_begin(id)",
    "call assemble()",
    "call effort_end(id)",
    "",
  ].join("\n")
);
writeFileSync(join(work, "order.txt"), Array.from({ length: 48 }, (_, i) => 47 - i).join("\n"));
run(makeSnapshot, ["full", snapshot]);
run(makeSnapshot, ["one-step", other]);
run(effort, [
  "report",
  snapshot,
  other,
  "-o",
  file,
  "--source",
  sources,
  "--order",
  `torus=${join(work, "order.txt")}`,
]);

const chromium = await browser(modules);
const page = await open(chromium, file, { tab: "load" });
await refined(page);
const ticks = () => page.evaluate(() => document.querySelector(".maptitle .status").textContent);

// A brush and keys change the viewport.
const box = await (await page.$("canvas.map")).boundingBox();
const pixels = () => page.evaluate(() => document.querySelector("canvas.map").toDataURL());
const whole = await pixels();
await page.mouse.move(box.x + 200, box.y + 60);
await page.mouse.down();
await page.mouse.move(box.x + 500, box.y + 200, { steps: 4 });
await page.mouse.up();
await refined(page);
await page.mouse.move(5, 5);
check((await pixels()) !== whole, "the brush did not zoom");
await page.focus("canvas.map");
await page.keyboard.press("0");
await refined(page);
await page
  .waitForFunction((wanted) => document.querySelector("canvas.map").toDataURL() === wanted, whole, {
    timeout: PATIENCE,
  })
  .catch(() => check(false, "0 does not show the whole run"));
await page.keyboard.press("+");
await refined(page);
await page.keyboard.press("ArrowRight");
await page.waitForFunction(() => document.querySelector(".readout").dataset.value, null, { timeout: PATIENCE });
check((await ticks()) === "a cell: one rank in one step", `status: ${await ticks()}`);
await page.keyboard.press("0");

// Orders of ranks, the largest rank of a cell, palettes, several panels, metrics.
for (const order of ["node", "stratum", "load", "given:torus"]) {
  await page.selectOption("select[aria-label=ranks]", order);
  await refined(page);
}
await page.selectOption("select[aria-label=cell]", "max");
await page.selectOption("select[aria-label=colours]", "grey");
await refined(page);
await page.click("text=add a panel");
await refined(page);
check((await page.$$(".heatmap")).length === 2, "a second panel");
await page.locator("select[aria-label=run]").last().selectOption("0");
await refined(page);
await page.locator("select[aria-label=metric]").last().selectOption("1");
await refined(page);
await page.selectOption("select[aria-label=show]", "both");
await refined(page);
check((await page.$$(".surface[data-kind=webgl] canvas")).length === 2, "two surfaces");
await page.waitForTimeout(400);
await picture(page, join(work, "use-both.png"), true);

// Keys open parts and change the theme; several runs are compared.
await page.keyboard.press("1");
check((await page.getAttribute("#tab-overview", "aria-selected")) === "true", "key 1");
await page.keyboard.press("t");
check((await page.evaluate(() => document.documentElement.dataset.theme)) === "dark", "key t");
await page.click("#tab-compare");
check((await page.innerText("main")).includes("Only before"), "regions compared");
await page.selectOption("select[aria-label=before]", "1");
check(
  (await page.inputValue("select[aria-label=after]")) === "0" && (await page.innerText("main")).includes("Only after"),
  "the other way round"
);
await picture(page, join(work, "use-compare.png"), true);

// A region leads to its source lines, and text that looks like markup stays text.
await page.click("#tab-regions");
await page.click('tr[data-region="0"] >> text=source');
check((await page.$$eval("tr.here", (rows) => rows.map((r) => r.dataset.line))).join() === "3,4,5", "lines of 'solve'");
await page.selectOption("#source-region", { label: "assemble" });
check(
  (await page.$$eval("tr.here", (rows) => rows.map((r) => r.dataset.line))).join() === "1,2,3,4",
  "lines of 'assemble'"
);
await picture(page, join(work, "use-source.png"), true);
await page.click("#tab-overview");
check((await page.innerText("main")).includes("<b>markup</b>"), "a note with markup");
await page.click("#tab-regions");
await page.click("button.expand[aria-label^='call path of app+0x1234']");
check((await page.innerText("tr.detail")).includes("libsolver.so+0x88"), "frames of a call path");
await page.close();
await chromium.close();

// Without WebGL the surface is drawn as lines.
const flat = await browser(modules, ["--disable-3d-apis"]);
const plain = await open(flat, file, { tab: "load", quiet: true });
await plain.selectOption("select[aria-label=show]", "surface");
await plain.waitForSelector(".surface[data-kind=flat] canvas");

// Pages that were cut or changed say so.
const text = readFileSync(file, "utf8"),
  data = text.indexOf("effort-data-0-0"),
  head = text.indexOf('id="effort-head"');
const damaged = {
  "cut in a history": text.slice(0, data + 200),
  "cut in the description": text.slice(0, head + 300),
  "cut before the data": text.slice(0, head - 40),
  "changed history": text.slice(0, data + 40) + (text[data + 40] === "A" ? "B" : "A") + text.slice(data + 41),
};
for (const [what, content] of Object.entries(damaged)) {
  const bad = join(work, "damaged.html");
  writeFileSync(bad, content);
  const broken = await open(flat, bad, { tab: "load", quiet: true });
  await broken
    .waitForFunction(() => /cut short|changed|cannot be/.test(document.body.innerText), null, { timeout: PATIENCE })
    .catch(() => check(false, `${what}: no sentence in the page`));
  await broken.close();
}
await flat.close();

// For snapshots that were cut or changed, the command writes a sentence to stderr and no page.
const bytes = readFileSync(snapshot);
const flipped = Buffer.from(bytes),
  header = Buffer.from(bytes);
flipped[bytes.length >> 1] ^= 1;
header[8] = 9;
for (const [what, content] of Object.entries({
  cut: bytes.subarray(0, bytes.length >> 1),
  flipped,
  header,
  nothing: Buffer.alloc(0),
})) {
  const bad = join(work, "damaged.effort");
  writeFileSync(bad, content);
  const result = spawnSync(effort, ["report", bad, "-o", join(work, "never.html")], { encoding: "utf8" });
  check(
    result.status === 1 && /damaged\.effort/.test(result.stderr) && result.stderr.length > 40,
    `${what}: ${result.status} ${result.stderr}`
  );
}
finish();
