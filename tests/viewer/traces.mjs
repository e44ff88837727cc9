// The timeline and the page on trust: numbers as `effort trace info --json` prints them, keys, groups, windows that
// were not kept or do not fit, and the time that a picture takes.
import { statSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE, browser, check, drawn, finish, near, open, picture, run, settings } from "./harness.mjs";

const { effort, makeSnapshot, modules, work } = settings();
const makeTrace = process.env.EFFORT_MAKE_TRACE;
const snapshot = join(work, "full.effort"),
  trace = join(work, "full-7.trace"),
  large = join(work, "large-7.trace"),
  reduced = join(work, "reduced-7.trace");
run(makeSnapshot, ["full", snapshot]);
run(makeTrace, ["full", trace]);
run(makeTrace, ["large", large]);
run(makeTrace, ["reduced", reduced]);
const pages = { full: join(work, "full.html"), large: join(work, "large.html"), bare: join(work, "bare.html") };
pages.reduced = join(work, "reduced.html");
run(effort, ["report", snapshot, trace, "-o", pages.full]);
run(effort, ["report", snapshot, large, "-o", pages.large]);
run(effort, ["report", snapshot, reduced, "-o", pages.reduced]);
run(effort, ["report", snapshot, "-o", pages.bare]);
const info = JSON.parse(run(effort, ["trace", "info", trace, "--json"]));

const chromium = await browser(modules);
const settled = (page) =>
  page.waitForFunction(() => document.querySelector("canvas.timeline")?.dataset.done === "yes", null, {
    timeout: PATIENCE,
  });
const data = (page) => page.$eval("canvas.timeline", (e) => ({ ...e.dataset }));
const LABEL = 196,
  AXIS = 38;
/** Colour of a point of the canvas. */
const colour = (page, x, y) =>
  page.$eval("canvas.timeline", (e, [px, py]) => [...e.getContext("2d").getImageData(px, py, 1, 1).data].join(), [
    x,
    y,
  ]);

for (const [width, theme] of [
  [1440, "light"],
  [800, "dark"],
]) {
  const page = await open(chromium, pages.full, { tab: "timeline", width, theme });
  await settled(page);
  for (const tab of ["timeline", "trust"]) {
    await page.click(`#tab-${tab}`);
    if (tab === "timeline") await settled(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(wide <= 1, `${tab} at ${width}: ${wide} pixels wider than the window`);
    await picture(page, join(work, `${tab}-${width}-${theme}.png`));
  }
  await page.close();
}

const page = await open(chromium, pages.full, { tab: "timeline" });
await settled(page);
const box = await (await page.$("canvas.timeline")).boundingBox();
const { t0, t1 } = await data(page),
  place = (time) => LABEL + ((time - t0) / (t1 - t0)) * (box.width - LABEL);

// Closed strata show their medoid: rank 24, a medoid in all windows.  The fourth window was not kept: it is hatched,
// and the readout does not call it idle.
check(/rank 24/.test(await lane(24, 5e6)), "the lane of rank 24");
const kept = await page.$eval(".readout.slice", (e) => ({ ...e.dataset }));
check(/kept in steps 0\.\.9: medoid/.test(kept.why), `why rank 24 was kept: ${kept.why}`);
check(/not kept at this time/.test(await lane(24, 35e6)), "the window that was not kept");

/** The readout above a time of a rank whose row is shown, if there is one. */
async function lane(rank, time, on = page, height = box.height) {
  for (let y = AXIS + 4; y < height; y += 6) {
    await on.mouse.move(box.x + place(time), box.y + y);
    if ((await on.$eval(".readout.slice", (e) => e.dataset.rank)) === String(rank))
      return on.$eval(".readout.slice", (e) => e.innerText);
  }
  return "";
}
const colours = new Set();
for (let x = 0; x < 16; ++x) colours.add(await colour(page, Math.round(place(34e6)) + x, AXIS + 24 + 10));
check(colours.size > 1, `hatched: ${[...colours].join(" ")}`);

// All calls of a rank under the pointer have the times of the events: step 5 of rank 24 lasts from 5 ms to 5.995 ms.
await page.click("text=all ranks");
await settled(page);
const tall = await page.$eval("canvas.timeline", (e) => e.clientHeight);
check(tall > box.height, `all ranks are no higher than the medoids: ${tall}, ${box.height}`);

// Of a partner of kept ranks, only messages are known: its window is hatched, too.
const partner = await lane(6, 25e6, page, tall);
check(/only its messages with them are known/.test(partner), `the partner: ${partner}`);
await page.click("text=medoids only");
await settled(page);
await lane(24, 5.5e6);
const step = await page.$eval(".readout.slice", (e) => ({ ...e.dataset }));
check(step.name === "step" || step.name === "solve", `the call at 5.5 ms: ${step.name}`);
if (step.name === "step") {
  near(Number(step.begin), 5e6, 0.02, "begin of step 5");
  near(Number(step.end), 5.995e6, 0.02, "end of step 5");
}

// Keys move as in Perfetto.
const span = async () => {
  await settled(page);
  const now = await data(page);
  return [Number(now.t0), Number(now.t1)];
};
const [a0, a1] = await span();
await page.keyboard.press("w");
const [b0, b1] = await span();
near(b1 - b0, 0.8 * (a1 - a0), 1e-9, "W zooms in");
await page.keyboard.press("d");
const [c0] = await span();
check(c0 > b0, `D moves on: ${b0}, ${c0}`);
await page.keyboard.press("ArrowLeft");
near((await span())[0], b0, 1e-6, "left moves back");
await page.keyboard.press("s");
near((await span())[1] - (await span())[0], a1 - a0, 1e-9, "S zooms out");
await page.keyboard.down("w");
await page.waitForFunction(
  (most) => {
    const { t0: low, t1: high } = document.querySelector("canvas.timeline").dataset;
    return high - low < most;
  },
  (a1 - a0) / 10
);
await page.keyboard.up("w");
await page.keyboard.press("0");
near((await span())[1], a1, 1e-9, "0 shows the whole run");

// Near enough, messages between visible ranks are arrows.
await page.click("text=all ranks");
await page.mouse.move(box.x + place(2.5e6), box.y + 100);
for (let i = 0; i < 16; ++i) await page.keyboard.press("w");
for (let i = 0; i < 20; ++i) await page.keyboard.press("ArrowUp");
await settled(page);
let arrows = 0;
for (let i = 0; i < 40 && arrows === 0; ++i) {
  await page.keyboard.press("ArrowDown");
  await settled(page);
  arrows = Number((await data(page)).arrows);
}
check(arrows > 0, "no arrows");
await picture(page, join(work, "near.png"));

// The numbers of the page on trust are the command's.
await page.click("#tab-trust");
const text = (id) => page.$eval(`#trust-${id}`, (e) => e.textContent.replaceAll(",", ""));
const unmatched = info.unmatched.sends + info.unmatched.receives;
check((await text("dropped")) === String(info.dropped_steps), "dropped steps");
check((await text("unmatched")) === `${unmatched} of ${info.messages + unmatched}`, "unmatched messages");
check((await text("clock")) === `${info.clock_bound_ns} ns`, "the clocks' bound");
const rows = await page.$$eval("tr[data-window]", (all) => all.map((r) => [...r.cells].map((c) => c.innerText.trim())));
check(rows.length === info.windows.length, `${rows.length} windows`);
info.windows.forEach((w, i) => {
  const of = info.kept.filter((k) => k.window === w.window);
  check(rows[i][0] === `${w.first_step}..${w.last_step}`, `steps of window ${i}`);
  check(rows[i][1] === String(of.length), `ranks kept in window ${i}`);
  check(rows[i][2] === String(info.sample_sizes[i]), `sample of window ${i}`);
  check(rows[i][4] === `${(100 * w.error).toFixed(1)} %`, `error of window ${i}`);
});
const calls = await page.$$eval("tr[data-path]", (all) =>
  all.map((r) => ({ path: r.dataset.path, count: r.cells[1].innerText.replaceAll(",", "") }))
);
check(calls.length === info.calls.length, `${calls.length} call paths`);
calls.forEach(({ path, count }, i) => {
  const call = info.calls[i];
  check(path === call.path, `call path ${i}`);
  check(count.startsWith(String(Math.round(call.count))), `calls of ${path}: ${count}, not ${call.count}`);
});
await page.close();

// Times that are those of similar steps are marked, and counted by window.  Rank 24 has some from the first window on.
const rebuilt = JSON.parse(run(effort, ["trace", "info", reduced, "--json"])).kept.filter((k) => k.rebuilt);
check(rebuilt.length > 20, `${rebuilt.length} rebuilt windows of ranks`);
const similar = await open(chromium, pages.reduced, { tab: "timeline" });
await settled(similar);
check(/rebuilt: some times are those of similar steps/.test(await lane(24, 5e6, similar)), "rank 24 is not marked");
await similar.click("#tab-trust");
const marks = await similar.$$eval("tr[data-window]", (all) => all.map((r) => Number(r.cells[7].innerText)));
info.windows.forEach((w, i) =>
  check(marks[i] === rebuilt.filter((k) => k.window === w.window).length, `rebuilt in window ${i}: ${marks[i]}`)
);
check(/TRACE_REDUCE=relDiff:0.8/.test(await similar.innerText("main")), "the method is not named");
await similar.close();

// A trace that does not fit: the page keeps its limit, says what is missing, and draws with the whole of it in view.
const size = statSync(pages.large).size - statSync(pages.bare).size;
check(size < 21e6 && size > 15e6, `a large trace takes ${size} bytes`);
const full = await open(chromium, pages.large, { tab: "timeline" });
await settled(full);
check(/did not fit and are dotted/.test(await full.innerText("main")), "the page does not say what it leaves out");
await full.click("text=all ranks");
await settled(full);
const times = [];
for (const key of "wwwwwwwwssssddddaaaa") {
  await full.keyboard.press(key);
  await settled(full);
  await drawn(full);
  times.push(Number((await data(full)).ms));
}
times.sort((x, y) => x - y);
console.log(`a picture of the large trace: median ${times[10]} ms, longest ${times[19]} ms`);
await full.close();

// A report without a trace has no such parts.
const bare = await open(chromium, pages.bare);
check((await bare.$$("#tab-timeline, #tab-trust")).length === 0, "parts for a trace that is not there");
await chromium.close();
finish();
