// Compares the numbers in the page with those of the command.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { browser, check, finish, near, open, PATIENCE, point, readCube, refined, run, settings } from "./harness.mjs";

const { effort, makeSnapshot, modules, source, work } = settings();
const snapshot = join(work, "numbers.effort"),
  file = join(work, "numbers.html"),
  arrays = join(work, "numbers-npy");
const exactSnapshot = join(work, "exact.effort"),
  exactFile = join(work, "exact.html"),
  exactArrays = join(work, "exact-npy");
run(makeSnapshot, ["full", snapshot]);
run(makeSnapshot, ["exact", exactSnapshot]);
run(effort, ["report", snapshot, exactSnapshot, "-o", file]);
run(effort, ["report", exactSnapshot, "-o", exactFile]);
const info = JSON.parse(run(effort, ["info", snapshot, "--json"]));
run(effort, ["export", snapshot, "--format", "npy", "-o", arrays]);
const { names, cell } = readCube(arrays, "time");

const chromium = await browser(modules);
const page = await open(chromium, file, { tab: "regions" });

// The table lists every region with the command's numbers; sorting and searching reorder and filter it.
const shown = await page.$$eval("tr[data-region]", (rows) =>
  rows.map((row) => ({ region: Number(row.dataset.region), cells: [...row.cells].map((c) => c.innerText.trim()) }))
);
check(shown.length === info.regions.length, `${shown.length} regions shown, ${info.regions.length} in the run`);
const all = info.regions.reduce((sum, r) => sum + r.metrics.time.total, 0);
for (const { region, cells } of shown) {
  const numbers = info.regions[region].metrics.time;
  check(cells[3].includes(`${((100 * numbers.total) / all).toFixed(1)} %`), `share of region ${region}: ${cells[3]}`);
  check(
    Number(cells[6].replaceAll(",", "")) === numbers.max_rank,
    `worst rank of region ${region}: ${cells[6]}, not ${numbers.max_rank}`
  );
  check(cells[7] === `${(100 * numbers.imbalance).toFixed(1)} %`, `imbalance of region ${region}: ${cells[7]}`);
}
await page.click("button[data-key=imbalance]");
const order = await page.$$eval("tr.phase ~ tr[data-region]", (rows) => rows.map((row) => Number(row.dataset.region)));
const phase = (r) => info.regions[r].phase;
for (let i = 1; i < order.length; ++i)
  if (phase(order[i]) === phase(order[i - 1]))
    check(
      info.regions[order[i - 1]].metrics.time.imbalance >= info.regions[order[i]].metrics.time.imbalance,
      `sorted by imbalance: ${order}`
    );
await page.keyboard.press("/");
await page.keyboard.type("solve");
check(
  (await page.$$("tr[data-region]")).length === info.regions.filter((r) => r.name.includes("solve")).length,
  "search for 'solve'"
);
await page.fill("#region-search", "");

// The sum of a selection shows exact totals, and the largest rank from the histories.
for (const region of [0, 1]) await page.click(`tr[data-region="${region}"] input`);
const sum = info.regions[0].metrics.time.mean_over_ranks + info.regions[1].metrics.time.mean_over_ranks;
near(Number(await page.getAttribute("#sum-mean", "data-mean")), sum, 1e-12, "mean of the selection");
await page.waitForFunction(() => /imbalance/.test(document.querySelector("#sum-worst").textContent), null, {
  timeout: PATIENCE,
});

// Values under the cursor are those that the command exports, up to rounding, and come with an error.
async function under(regions, rank, step) {
  const { value, error, exact, text } = await point(page, info, rank, step);
  const wanted = regions.reduce((total, r) => total + cell(r, rank, step), 0);
  near(value, wanted, 1e-5, `rank ${rank}, step ${step} of ${regions.map((r) => names[r])}`);
  check(error >= 0 && error < wanted, `a stated error of ${error}`);
  check(exact === "" && text.includes("decoded"), `a decoded value says so: ${text}`);
}
const computing = info.regions.flatMap((r, i) => (r.kind === "compute" ? [i] : []));
await page.click("#tab-load");
await refined(page);
for (const [rank, step] of [
  [0, 0],
  [13, 57],
  [47, 119],
  [24, 60],
])
  await under(computing, rank, step);
await page.selectOption("select[aria-label=region]", "1");
await refined(page);
await under([1], 30, 77);

// The gain from ideal balance is the command's, and exact.  The decoded loads, whose peaks are lower, nearly agree.
let critical = 0,
  mean = 0;
for (let t = 0; t < info.steps; ++t) {
  const loads = Array.from({ length: info.ranks }, (_, r) => computing.reduce((total, g) => total + cell(g, r, t), 0));
  critical += Math.max(...loads);
  mean += loads.reduce((a, b) => a + b, 0) / info.ranks;
}
await page.click("#tab-overview");
const ideal = await page.innerText("#ideal");
check(
  ideal === `Ideal balance would run this in ${(100 * info.ideal_saving).toFixed(1)} % less time.`,
  `${ideal}, not ${info.ideal_saving}`
);
near(
  info.ideal_saving,
  (info.critical_path - info.mean_path) / info.wall_seconds,
  1e-12,
  "the saving by ideal balance"
);
near(info.mean_path, mean, 0.01, "mean of exact and of decoded loads");
near(info.critical_path, critical, 0.1, "largest of exact and of decoded loads");
check(
  (await page.innerText("#findings")).includes(`${(100 * (info.critical_path / info.mean_path - 1)).toFixed(1)} %`),
  "the imbalance over all steps"
);

// Moves of ranks between strata, and costs of units of work, window by window.
await page.click("#tab-strata");
const moves = info.strata_moves.reduce((sum, m) => sum + m.moved, 0);
check(
  moves > 0 &&
    (await page.innerText("main")).includes(
      `${moves.toLocaleString("en")} moves between ${info.windows.length} windows`
    ),
  `${moves} moves between strata`
);
await page.click("#tab-costs");
check(
  info.windows.filter((w) => w.unit_costs?.length === 2).length === info.windows.length - 1,
  "costs in every window"
);
const drawn = page.waitForFunction(() => document.querySelectorAll("figure .uplot").length === 2, null, {
  timeout: PATIENCE,
});
check(
  await drawn.then(
    () => true,
    () => false
  ),
  "a chart per unit of work"
);
check(
  (await page.innerText("main")).includes("node 1") && (await page.$$(".nodes .slow")).length === 1,
  "the slow node is named"
);

// The page compares two runs as `effort diff` does.
await page.click("#tab-compare");
const diff = JSON.parse(run(effort, ["diff", snapshot, exactSnapshot, "--json"]));
for (const verdict of ["worse", "better", "only_a", "only_b"]) {
  const wanted = diff.regions
      .filter((r) => r.verdict === verdict)
      .map((r) => ((r.phase ? `${r.phase}: ` : "") + r.name).trim()),
    shownNames = await page.$$eval(`[data-verdict=${verdict}] td.name`, (cells) =>
      cells.map((c) => c.innerText.trim())
    );
  check(wanted.join("|") === shownNames.join("|"), `${verdict}: ${shownNames}, not ${wanted}`);
}
check(
  diff.regions.some((r) => r.verdict !== "same"),
  "something differs between the runs"
);
await page.close();

// Values that the snapshot also stores exactly are shown as they were measured.
const exactInfo = JSON.parse(run(effort, ["info", exactSnapshot, "--json"]));
run(effort, ["export", exactSnapshot, "--format", "npy", "--exact", "-o", exactArrays]);
const cube = readCube(exactArrays, "time");
const exactPage = await open(chromium, exactFile, { tab: "load" });
await refined(exactPage);
for (const [rank, step] of [
  [0, 0],
  [7, 23],
  [11, 39],
]) {
  const { value, error, exact, text } = await point(exactPage, exactInfo, rank, step);
  const wanted = exactInfo.regions.reduce(
    (sum, r, g) => sum + (r.kind === "compute" ? cube.cell(g, rank, step) : 0),
    0
  );
  near(Number(exact), wanted, 1e-15, `exact value of rank ${rank}, step ${step}`);
  check(
    text.includes("exact") && Math.abs(value - wanted) <= error * 1.001,
    `decoded ${value}, exact ${wanted}, at most ${error} apart: ${text}`
  );
}
await exactPage.close();

// For a large run, the page holds pictures of the whole run, from which it shows the sum of any regions and knows its
// worst rank at once.  Both agree with the command's export.
const wide = join(work, "wide.effort"),
  wideFile = join(work, "wide.html"),
  wideArrays = join(work, "wide-npy");
run(makeSnapshot, ["wide", wide]);
run(effort, ["report", wide, "-o", wideFile]);
run(effort, ["export", wide, "--format", "npy", "-o", wideArrays]);
const wideInfo = JSON.parse(run(effort, ["info", wide, "--json"])),
  loads = readCube(wideArrays, "time");
const widePage = await open(chromium, wideFile, { tab: "regions" });
for (const region of [0, 1]) await widePage.click(`tr[data-region="${region}"] input`);
await widePage.waitForFunction(() => /imbalance/.test(document.querySelector("#sum-worst").textContent), null, {
  timeout: PATIENCE,
});
const sums = Array.from({ length: wideInfo.ranks }, (_, rank) =>
  Array.from({ length: wideInfo.steps }, (_, step) => loads.cell(0, rank, step) + loads.cell(1, rank, step)).reduce(
    (a, b) => a + b
  )
);
const worst = Number(/rank ([\d,]+)/.exec(await widePage.innerText("#sum-worst"))[1].replaceAll(",", ""));
near(
  sums[worst],
  sums.reduce((a, b) => Math.max(a, b)),
  1e-6,
  `rank ${worst}, the worst of two regions`
);
await widePage.click("text=show their load");
await refined(widePage);
const scale = await widePage.$eval("canvas.map", (e) => ({ low: Number(e.dataset.low), most: Number(e.dataset.most) }));
const cells = (await widePage.innerText(".maptitle .status")).match(/[\d.]+/),
  rows = Math.round((wideInfo.ranks * wideInfo.steps) / Number(cells[0]) / wideInfo.steps);
check(rows > 200 && rows <= 512, `cells of ${cells} values: ${rows} rows`);
const blocks = Array.from({ length: rows * wideInfo.steps }, () => ({ sum: 0, n: 0 }));
for (let rank = 0; rank < wideInfo.ranks; ++rank)
  for (let step = 0; step < wideInfo.steps; ++step) {
    const block = blocks[Math.floor((rank * rows) / wideInfo.ranks) * wideInfo.steps + step];
    block.sum += loads.cell(0, rank, step) + loads.cell(1, rank, step);
    ++block.n;
  }
const means = blocks.map(({ sum, n }) => sum / n);
near(
  scale.most,
  means.reduce((a, b) => Math.max(a, b)),
  0.03,
  "largest cell of two regions"
);
near(
  scale.low,
  means.reduce((a, b) => Math.min(a, b)),
  0.03,
  "smallest cell of two regions"
);
await widePage.close();

// One step that takes 50 times as long does not hide the others.
const jolt = join(work, "jolt.effort"),
  joltFile = join(work, "jolt.html");
run(makeSnapshot, ["jolt", jolt]);
run(effort, ["report", jolt, "-o", joltFile]);
const joltPage = await open(chromium, joltFile, { tab: "load" });
await refined(joltPage);
const fitted = () =>
  joltPage.$eval("canvas.map", (e) => ({
    high: Number(e.dataset.high),
    most: Number(e.dataset.most),
    above: Number(e.dataset.above),
  }));
const { high, most, above } = await fitted();
check(high < 0.1 * most && above === 1, `a scale up to ${high} of ${most}, ${above} steps above it`);
await joltPage.selectOption("select[aria-label=scale]", "whole");
await refined(joltPage);
const whole = await fitted();
check(whole.high === whole.most && whole.above === 0, `the whole range: ${JSON.stringify(whole)}`);
await joltPage.click("#tab-overview");
check((await joltPage.innerText("main")).includes("are cut off"), "the chart says that a peak is cut off");
// Keys in a chart: the legend shows the values at the cursor, and Enter shows the step's load.
// A chart that is drawn again loses the focus, and a busy machine may draw it late.
const atCursor = () => joltPage.textContent(".chart .u-series .u-value");
for (const start = Date.now(); (await atCursor()) !== "59" && Date.now() - start < PATIENCE;) {
  await joltPage.focus(".chart");
  await joltPage.keyboard.press("End");
  await joltPage.waitForTimeout(50);
}
check((await atCursor()) === "59", "End does not lead to a chart's last step");
await joltPage.keyboard.press("ArrowLeft");
await joltPage
  .waitForFunction(() => document.querySelector(".chart .u-series .u-value").textContent === "58", null, {
    timeout: PATIENCE,
  })
  .catch(() => check(false, "an arrow does not move a chart's cursor"));
await joltPage.keyboard.press("Enter");
check((await joltPage.getAttribute("#tab-load", "aria-selected")) === "true", "Enter in a chart");
await joltPage.close();

// Snapshots of all versions of the format, with histories per node and with histories shared by all nodes.
const golden = join(source, "tests", "golden", "snapshot");
for (const name of readdirSync(golden).filter((f) => f.endsWith(".effort"))) {
  const old = join(golden, name),
    oldFile = join(work, `${name}.html`),
    oldArrays = join(work, `${name}-npy`);
  run(effort, ["report", old, "-o", oldFile]);
  run(effort, ["export", old, "--format", "npy", "-o", oldArrays]);
  const its = JSON.parse(run(effort, ["info", old, "--json"])),
    decoded = readCube(oldArrays, its.load_metric);
  const oldPage = await open(chromium, oldFile, { tab: "load" });
  await refined(oldPage);
  for (const [rank, step] of [
    [0, 0],
    [its.ranks - 1, its.steps - 1],
    [its.ranks >> 1, its.steps >> 1],
  ]) {
    const { value } = await point(oldPage, its, rank, step);
    near(
      value,
      its.regions.reduce((sum, r, g) => sum + (r.kind === "compute" ? decoded.cell(g, rank, step) : 0), 0),
      1e-5,
      `${name}: rank ${rank}, step ${step}`
    );
  }
  await oldPage.close();
}
await chromium.close();
finish();
