// Measures how long a report takes to open, to refine and to answer, and its memory:
//   node first_view.mjs NODE_MODULES PAGE.html [TIMES]
// Prints medians in milliseconds, and the resident memory of the browser's page processes.  For a large page, run
// `make_snapshot large` (tests/viewer), then `effort report`.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { browser as launch } from "../../tests/viewer/harness.mjs";

const [modules, file, times = "3"] = process.argv.slice(2);

/** MiB of the renderer processes, which hold the page and its workers. */
function resident() {
  let pages = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (command.includes("--type=renderer") && !command.includes("extension"))
        pages += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    } catch {
      // The process has ended in the meantime.
    }
  }
  return Math.round(pages / 1024);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const seen = {
  first_view: [],
  heat_map_coarse: [],
  heat_map_refined: [],
  one_region_refined: [],
  zoom_refined: [],
  value: [],
  selection_worst: [],
  selection_load: [],
  selection_zoom: [],
  surface: [],
  memory_first: [],
  memory_after: [],
};
for (let i = 0; i < Number(times); ++i) {
  const browser = await launch(resolve(modules));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const before = resident();
  await page.goto(`file://${resolve(file)}`, { waitUntil: "commit" });
  await page.waitForSelector("#effort-app[data-ready]", { timeout: 120000 });
  seen.first_view.push(Number(await page.getAttribute("#effort-app", "data-ready")));
  await page.waitForLoadState("load");
  seen.memory_first.push(resident() - before);
  const timed = async (act, until) => {
    const start = Date.now();
    await act();
    await page.waitForFunction(until, null, { timeout: 300000 });
    return Date.now() - start;
  };
  const refined = () =>
    [...document.querySelectorAll(".heatmap")].length > 0 &&
    [...document.querySelectorAll(".heatmap")].every((map) => map.dataset.done === "yes");
  seen.heat_map_coarse.push(
    await timed(
      () => page.click("#tab-load"),
      () => document.querySelector(".heatmap")?.dataset.done !== undefined
    )
  );
  const start = Date.now();
  await page.waitForFunction(refined, null, { timeout: 300000 });
  seen.heat_map_refined.push(Date.now() - start);
  seen.one_region_refined.push(await timed(() => page.selectOption("select[aria-label=region]", "0"), refined));
  await page.focus("canvas.map");
  const zoom = async () => {
    for (let k = 0; k < 4; ++k) await page.keyboard.press("+");
  };
  seen.zoom_refined.push(await timed(zoom, refined));
  seen.value.push(
    await timed(
      () => page.keyboard.press("ArrowRight"),
      () => document.querySelector(".readout").dataset.value !== undefined
    )
  );
  // The sum of every other region, over the whole run and over a sixteenth of it.
  await page.keyboard.press("0");
  await page.waitForFunction(refined, null, { timeout: 300000 });
  await page.click("#tab-regions");
  const marked = (await page.$$("tr[data-region] input")).filter((_, i) => i % 2 === 0);
  for (const box of marked.slice(1)) await box.click();
  seen.selection_worst.push(
    await timed(
      () => marked[0].click(),
      () => /imbalance/.test(document.querySelector("#sum-worst")?.textContent ?? "")
    )
  );
  seen.selection_load.push(await timed(() => page.click("text=show their load"), refined));
  await page.focus("canvas.map");
  seen.selection_zoom.push(await timed(zoom, refined));
  seen.surface.push(
    await timed(
      () => page.selectOption("select[aria-label=show]", "both"),
      () => document.querySelector(".surface canvas") !== null
    )
  );
  await page.waitForFunction(refined, null, { timeout: 300000 });
  seen.memory_after.push(resident() - before);
  await browser.close();
}
console.log(
  JSON.stringify({
    bytes: statSync(file).size,
    times: Number(times),
    ...Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)])),
  })
);
