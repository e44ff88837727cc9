// Uses the report of whole runs as people do: the first screen, every part in both themes and widths, the cursor,
// zooms, brushes, sorting, the source lines of a region.  Compares the numbers with `effort info --json`.
//   runs.mjs EFFORT MAKE_SNAPSHOT NODE_MODULES SOURCE WORK [recordings [FOLDER]]
// Two of the runs resemble recorded codes, and one is of the example in examples/fortran.  With "recordings [FOLDER]",
// they are the recordings in the folder named by EFFORT_TEST_RECORDINGS, or else in FOLDER, each a NAME.json (regions,
// ranks, steps, names) with a NAME.cpu.f64, and the snapshots in EFFORT_TEST_SNAPSHOTS, separated by colons.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  PATIENCE,
  browser,
  check,
  drawn,
  finish,
  near,
  open,
  picture,
  placeOf,
  point,
  readCube,
  refined,
  run,
  settings,
} from "./harness.mjs";

const { effort, makeSnapshot, modules, source, work } = settings();
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Names and paths of snapshots, and of the folders with their sources. */
function lookAlikes() {
  return ["like-amr", "like-md"]
    .map((kind) => {
      const snapshot = join(work, `${kind}.effort`);
      run(makeSnapshot, [kind, snapshot]);
      return { name: kind, snapshot };
    })
    .concat({
      name: "flame",
      snapshot: join(source, "tests", "viewer", "data", "flame.effort"),
      sources: join(source, "examples", "fortran", "src"),
      region: "reaction",
    });
}

function recordings() {
  const folder = process.env.EFFORT_TEST_RECORDINGS || process.argv[8] || "",
    names =
      folder && existsSync(folder)
        ? readdirSync(folder)
            .filter((f) => f.endsWith(".json"))
            .map((f) => f.slice(0, -5))
        : [];
  const others = (process.env.EFFORT_TEST_SNAPSHOTS ?? "")
    .split(":")
    .filter(Boolean)
    .map((snapshot, i) => ({ name: `other-${i}`, snapshot }));
  return names
    .filter((name) => existsSync(join(folder, `${name}.cpu.f64`)))
    .map((name) => {
      const { regions, ranks, steps } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")),
        snapshot = join(work, `${name}.effort`);
      run("rm", ["-f", snapshot]);
      run(
        effort,
        [
          "replay",
          "--regions",
          regions,
          "--ranks",
          ranks,
          "--steps",
          steps,
          "--names",
          join(folder, `${name}.json`),
          "--nodes",
          2,
          "-o",
          snapshot,
          join(folder, `${name}.cpu.f64`),
        ].map(String)
      );
      return { name, snapshot };
    })
    .concat(others);
}

/** The first screen states the findings about the whole run. */
async function firstScreen(page, info) {
  const ideal = await page.innerText("#ideal");
  check(
    info.ideal_saving !== null && ideal.includes(percent(info.ideal_saving)),
    `${info.name}: "${ideal}" and ${info.ideal_saving}`
  );
  const findings = await page.$$eval("#findings > div", (all) =>
    all.map((e) => ({ text: e.innerText, bottom: e.getBoundingClientRect().bottom }))
  );
  check(
    findings.length === 4 && findings.every(({ bottom }) => bottom < 900),
    `${info.name}: how much, which region, which rank and when on the first screen: ${JSON.stringify(findings)}`
  );
  check(
    findings[0]?.text.includes(percent(info.critical_path / info.mean_path - 1)),
    `${info.name}: imbalance ${findings[0]?.text}`
  );
  const rank = Number(/rank ([\d,]+)/.exec(findings[2]?.text ?? "")?.[1].replaceAll(",", ""));
  check(rank >= 0 && rank < info.ranks, `${info.name}: which rank: ${findings[2]?.text}`);
}

/** The table shows every region with the command's numbers, sorts and searches. */
async function regions(page, info) {
  await page.click("#tab-regions");
  const rows = await page.$$eval("tr[data-region]", (all) =>
    all.map((row) => ({ region: Number(row.dataset.region), cells: [...row.cells].map((c) => c.innerText.trim()) }))
  );
  check(rows.length === info.regions.length, `${info.name}: ${rows.length} regions shown of ${info.regions.length}`);
  for (const { region, cells } of rows) {
    const numbers = info.regions[region].metrics[info.load_metric];
    check(
      numbers.total === 0 ||
        (cells.includes(numbers.max_rank.toLocaleString("en")) && cells.includes(percent(numbers.imbalance))),
      `${info.name}: region ${region}: ${cells} and ${JSON.stringify(numbers)}`
    );
  }
  await page.click("button[data-key=imbalance]");
  const order = await page.$$eval("tr[data-region]", (all) => all.map((row) => Number(row.dataset.region))),
    of = (i) => info.regions[order[i]];
  for (let i = 1; i < order.length; ++i)
    if (of(i).phase === of(i - 1).phase)
      check(
        of(i - 1).metrics[info.load_metric].imbalance >= of(i).metrics[info.load_metric].imbalance,
        `${info.name}: not sorted by imbalance`
      );
  const wanted = info.regions[order[0]].name.slice(0, 12);
  await page.fill("#region-search", wanted);
  const found = await page.$$eval("tr[data-region]", (all) => all.length),
    least = info.regions.filter((r) => r.name.toLowerCase().includes(wanted.toLowerCase())).length;
  check(found >= 1 && found >= least, `${info.name}: ${found} regions found for "${wanted}", not ${least}`);
  await page.fill("#region-search", "");
}

/** Values under the cursor, a brush, a zoom by keys, orders, and a second panel if the run has another metric. */
async function load(page, info, cube) {
  await page.click("#tab-load");
  await refined(page);
  const computing = info.regions.flatMap((r, i) => (r.kind === "compute" ? [i] : []));
  for (const [rank, step] of [
    [0, 0],
    [info.ranks - 1, info.steps - 1],
    [info.ranks >> 1, info.steps >> 1],
  ]) {
    const shown = await point(page, info, rank, step),
      wanted = computing.reduce((sum, r) => sum + cube.cell(r, rank, step), 0);
    check(
      Math.abs(shown.value - wanted) <= 1e-5 * Math.max(Math.abs(wanted), shown.error),
      `${info.name}: rank ${rank}, step ${step}: ${shown.value}, not ${wanted}`
    );
  }
  const picture = () => page.evaluate(() => document.querySelector("canvas.map").toDataURL()),
    leave = async () => {
      await page.mouse.move(5, 5);
      await drawn(page);
    };
  await leave();
  const whole = await picture(),
    from = await placeOf(page, info, info.ranks >> 2, info.steps >> 2),
    to = await placeOf(page, info, (3 * info.ranks) >> 2, info.steps >> 1);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await page.mouse.up();
  await refined(page);
  await leave();
  check((await picture()) !== whole, `${info.name}: the brush did not zoom`);
  await page.focus("canvas.map");
  await page.keyboard.press("0");
  await refined(page);
  await page.keyboard.press("+");
  await refined(page);
  await page.keyboard.press("0");
  await page.selectOption("select[aria-label=ranks]", "load");
  await refined(page);
  const last = info.metrics.length - 1;
  if (last > 0) {
    await page.click("text=add a panel");
    await refined(page);
    await page.locator("select[aria-label=metric]").last().selectOption(String(last));
    await refined(page);
    check(
      (await page.$$eval(".maptitle b", (all) => all.map((b) => b.innerText))).join().includes(info.metrics[last]),
      `${info.name}: a second panel by ${info.metrics[last]}`
    );
  }
  await page.selectOption("select[aria-label=ranks]", "id");
  await refined(page);
}

/** The lines of a region, in the example's own files. */
async function sourceOf(page, { name, region, sources }) {
  await page.click("#tab-regions");
  const row = page.locator("tr[data-region]", { hasText: region }).first();
  await row.locator("text=source").click();
  const lines = await page.$$eval("tr.here", (rows) => rows.map((r) => r.innerText));
  check(lines.length > 0, `${name}: no line of '${region}' in ${sources}`);
  check((await page.innerText("main")).includes(region), `${name}: the source of '${region}'`);
}

/** No part is blank or wider than the window, in both themes and widths. */
async function looks(chromium, file, name) {
  for (const [width, theme] of [
    [1440, "light"],
    [1440, "dark"],
    [800, "light"],
    [800, "dark"],
  ]) {
    const page = await open(chromium, file, { width, theme });
    const tabs = (await page.$$eval("[role=tab]", (all) => all.map((tab) => tab.id))).filter(
      (tab) => theme === "light" || ["tab-overview", "tab-load", "tab-strata"].includes(tab)
    );
    for (const tab of tabs) {
      await page.click(`#${tab}`);
      if (tab === "tab-load") await refined(page);
      const { text, wide } = await page.evaluate(() => ({
        text: document.querySelector("main").innerText.trim().length,
        wide: document.documentElement.scrollWidth - innerWidth,
      }));
      check(
        text > 10 && wide <= 1,
        `${name} ${tab} at ${width}: ${text} characters, ${wide} pixels wider than the window`
      );
      await picture(page, join(work, `${name}-${tab.slice(4)}-${width}-${theme}.png`));
    }
    await page.close();
  }
}

const recorded = process.argv[7] === "recordings",
  runs = recorded ? recordings() : lookAlikes();
if (runs.length === 0) {
  console.log("skipped: no recordings in the folder EFFORT_TEST_RECORDINGS, and no snapshot in EFFORT_TEST_SNAPSHOTS");
  process.exit(0);
}
const chromium = await browser(modules);
for (const one of runs) {
  const file = join(work, `${one.name}.html`),
    arrays = join(work, `${one.name}-npy`);
  run("rm", ["-rf", arrays]);
  run(effort, ["report", one.snapshot, "-o", file, ...(one.sources ? ["--source", one.sources] : [])]);
  run(effort, ["export", one.snapshot, "--format", "npy", "-o", arrays]);
  const info = JSON.parse(run(effort, ["info", one.snapshot, "--json"])),
    cube = readCube(arrays, info.load_metric);
  const page = await open(chromium, file);
  await firstScreen(page, info);
  await regions(page, info);
  await load(page, info, cube);
  if (one.region) await sourceOf(page, one);
  await page.close();
  if (recorded) await looks(chromium, file, one.name);
  console.log(`${one.name}: ${info.regions.length} regions, ${info.ranks} ranks, ${info.steps} steps`);
}
await chromium.close();
finish();
