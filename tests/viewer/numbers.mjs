// Numbers in the page against those of the command.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { browser, check, finish, near, open, PATIENCE, refined, run, settings } from "./harness.mjs";

const { effort, makeSnapshot, modules, work } = settings();
const snapshot = join(work, "numbers.effort"), file = join(work, "numbers.html"), arrays = join(work, "numbers-npy");
run(makeSnapshot, ["full", snapshot]);
run(effort, ["report", snapshot, "-o", file]);
const info = JSON.parse(run(effort, ["info", snapshot, "--json"]));
run(effort, ["export", snapshot, "--format", "npy", "-o", arrays]);
const { names, values } = readCube(join(arrays, "time.npy"), join(arrays, "axes.json"));

function readCube(npy, axes) {
  const bytes = readFileSync(npy), length = bytes.readUInt16LE(8), body = bytes.subarray(10 + length);
  const values = new Float64Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
  const named = JSON.parse(readFileSync(axes, "utf8"));
  return { names: (named.regions ?? named.region).map((r) => r.name ?? r), values };
}
const cell = (region, rank, step) => values[(region * info.ranks + rank) * info.steps + step];

const chromium = await browser(modules);
const page = await open(chromium, file, { tab: "regions" });

// The browser lists every region with the command's numbers; sorting and searching reorder and reduce it.
const shown = await page.$$eval("tr[data-region]", (rows) => rows.map((row) => ({ region: Number(row.dataset.region), cells: [...row.cells].map((c) => c.innerText.trim()) })));
check(shown.length === info.regions.length, `${shown.length} regions shown, ${info.regions.length} in the run`);
const all = info.regions.reduce((sum, r) => sum + r.metrics.time.total, 0);
for (const { region, cells } of shown) {
  const numbers = info.regions[region].metrics.time;
  check(cells[3].includes(`${((100 * numbers.total) / all).toFixed(1)} %`), `share of region ${region}: ${cells[3]}`);
  check(Number(cells[6].replaceAll(",", "")) === numbers.max_rank, `worst rank of region ${region}: ${cells[6]}, not ${numbers.max_rank}`);
  check(cells[7] === `${(100 * numbers.imbalance).toFixed(1)} %`, `imbalance of region ${region}: ${cells[7]}`);
}
await page.click("button[data-key=imbalance]");
const order = await page.$$eval("tr.phase ~ tr[data-region]", (rows) => rows.map((row) => Number(row.dataset.region)));
const phase = (r) => info.regions[r].phase;
for (let i = 1; i < order.length; ++i) if (phase(order[i]) === phase(order[i - 1])) check(info.regions[order[i - 1]].metrics.time.imbalance >= info.regions[order[i]].metrics.time.imbalance, `sorted by imbalance: ${order}`);
await page.keyboard.press("/");
await page.keyboard.type("solve");
check((await page.$$("tr[data-region]")).length === info.regions.filter((r) => r.name.includes("solve")).length, "search for 'solve'");
await page.fill("#region-search", "");

// The sum of a selection: exact totals, and the largest rank from the histories.
for (const region of [0, 1]) await page.click(`tr[data-region="${region}"] input`);
const sum = info.regions[0].metrics.time.mean_over_ranks + info.regions[1].metrics.time.mean_over_ranks;
near(Number(await page.getAttribute("#sum-mean", "data-mean")), sum, 1e-12, "mean of the selection");
await page.waitForFunction(() => /imbalance/.test(document.querySelector("#sum-worst").textContent), null, { timeout: PATIENCE });

// Values under the cursor are those that the command exports, and the stated error covers the difference to the decoder's own rounding.
async function under(regions, rank, step) {
  const map = await page.waitForSelector("canvas.map"), box = await map.boundingBox();
  const w = box.width - 64 - 76 - 6, h = box.height - 34 - 54 - 6 - 4;
  await page.mouse.move(box.x + 64 + ((step + 0.5) / info.steps) * w, box.y + 4 + ((rank + 0.5) / info.ranks) * h);
  await page.waitForFunction(([r, s]) => document.querySelector(".readout").dataset.rank === String(r) && document.querySelector(".readout").dataset.step === String(s), [rank, step], { timeout: PATIENCE });
  const { value, error } = await page.$eval(".readout", (e) => ({ value: Number(e.dataset.value), error: Number(e.dataset.error) }));
  const wanted = regions.reduce((total, r) => total + cell(r, rank, step), 0);
  near(value, wanted, 1e-5, `rank ${rank}, step ${step} of ${regions.map((r) => names[r])}`);
  check(error >= 0 && error < wanted, `a stated error of ${error}`);
}
const computing = info.regions.flatMap((r, i) => (r.kind === "compute" ? [i] : []));
await page.click("#tab-load");
await refined(page);
for (const [rank, step] of [[0, 0], [13, 57], [47, 119], [24, 60]]) await under(computing, rank, step);
await page.selectOption("select[aria-label=region]", "1");
await refined(page);
await under([1], 30, 77);

// "Ideal balance": from the exported loads.
let critical = 0, mean = 0;
for (let t = 0; t < info.steps; ++t) {
  const loads = Array.from({ length: info.ranks }, (_, r) => computing.reduce((total, g) => total + cell(g, r, t), 0));
  critical += Math.max(...loads);
  mean += loads.reduce((a, b) => a + b, 0) / info.ranks;
}
await page.click("#tab-overview");
const ideal = await page.innerText("#ideal");
check(ideal === `Ideal balance would run this in ${((100 * (critical - mean)) / info.wall_seconds).toFixed(1)} % less time.`, `${ideal} (critical path ${critical}, mean ${mean})`);
await chromium.close();
finish();
