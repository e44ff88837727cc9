// The page on communication: it agrees with `effort comm`, for a trace and for a snapshot alone; a run of 16,384 ranks;
// a page that is too small; a run without communication.
import { statSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE, browser, check, drawn, finish, near, open, picture, run, settings } from "./harness.mjs";

const { effort, makeSnapshot, modules, work } = settings();
const makeTrace = process.env.EFFORT_MAKE_TRACE;
const file = (name) => join(work, name);
run(makeSnapshot, ["halo", file("halo.effort")]);
run(makeTrace, ["halo", file("halo-7.trace")]);
run(makeSnapshot, ["halo-large", file("halo-large.effort")]);
run(makeSnapshot, ["one-step", file("none.effort")]);
for (const kind of ["waits", "followed"]) run(makeSnapshot, [kind, file(`${kind}.effort`)]);
const report = (out, ...inputs) => run(effort, ["report", ...inputs, "-o", file(out)]);
report("trace.html", file("halo.effort"), file("halo-7.trace"));
report("snapshot.html", file("halo.effort"));
report("large.html", file("halo-large.effort"));
report("small.html", file("halo-large.effort"), "--communication-bytes", "400000");
report("none.html", file("none.effort"));
report("waits.html", file("waits.effort"));
report("followed.html", file("followed.effort"));
const comm = (what, input, ...more) => JSON.parse(run(effort, ["comm", what, file(input), "--json", ...more]));
const waits = comm("waits", "halo-7.trace"),
  pairs = comm("pairs", "halo-7.trace"),
  flows = comm("matrix", "halo-7.trace").matrix,
  patterns = comm("patterns", "halo-7.trace"),
  phases = comm("phases", "halo-7.trace");

const chromium = await browser(modules);
const settled = async (page) => {
  await page.waitForFunction(
    () => {
      const sheets = [...document.querySelectorAll("canvas.sheet")];
      return sheets.length > 0 && sheets.every((sheet) => sheet.dataset.done === "yes");
    },
    null,
    { timeout: PATIENCE }
  );
  await drawn(page);
};
const dataset = (page, selector) => page.$eval(selector, (e) => ({ ...e.dataset }));
const rows = (page, name) =>
  page.$$eval(`table.${name} tbody tr`, (all) => all.map((r) => [...r.cells].map((c) => c.innerText.trim())));
const LEFT = 72,
  TOP = 24;
/** Moves the pointer to a cell, if the whole matrix is in view, and reads its value. */
async function cell(page, row, column, ranks) {
  const canvas = await page.$("canvas.matrix");
  await canvas.scrollIntoViewIfNeeded();
  const { width } = await canvas.boundingBox(),
    side = Math.min(width - LEFT - 8, 640),
    at = (i) => ((i + 0.5) / ranks) * side;
  await page.hover("canvas.matrix", { position: { x: LEFT + at(column), y: TOP + at(row) } });
  await settled(page);
  return page.$eval("#comm-matrix .readout", (e) => ({ text: e.innerText, ...e.dataset }));
}

for (const [name, width, theme] of [
  ["trace", 1440, "light"],
  ["trace", 800, "dark"],
  ["snapshot", 800, "light"],
  ["large", 1440, "dark"],
]) {
  const page = await open(chromium, file(`${name}.html`), { tab: "communication", width, theme });
  await settled(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(wide <= 1, `${name} at ${width}: ${wide} pixels wider than the window`);
  await picture(page, file(`${name}-${width}-${theme}.png`), true);
  await page.close();
}

// Waits: the sentences and the ranking of the command.
const page = await open(chromium, file("trace.html"), { tab: "communication" });
await settled(page);
const said = run(effort, ["comm", "waits", file("halo-7.trace")]).split("\n")[0];
check((await page.innerText(".lead.comm")) === said.replaceAll("`", ""), `the first sentence: ${said}`);
const ranking = await rows(page, "ranking");
check(ranking.length === 10, `${ranking.length} ranks at first`);
ranking.forEach((row, i) => check(row[0] === String(waits.waited_for[i].rank), `rank ${i} of the ranking: ${row}`));
check(ranking[0][0] === "16" && ranking[0][3] === "solve", `the late rank: ${ranking[0]}`);
await page.click("table.ranking + button.more");
check((await rows(page, "ranking")).length === waits.waited_for.length, "all ranks that others waited for");

// The matrix: every pair, and the values of cells.
const between = (a, b, key) => flows.filter((f) => f.a === a && f.b === b).reduce((sum, f) => sum + f[key], 0);
const sent = new Set(flows.filter((f) => f.bytes > 0).map((f) => `${f.a},${f.b}`));
check(Number((await dataset(page, "canvas.matrix")).pairs) === sent.size, "pairs in the matrix");
for (const [a, b] of [...sent].slice(0, 200).flatMap((key, i) => (i % 67 === 0 ? [key.split(",").map(Number)] : []))) {
  const found = await cell(page, a, b, 48);
  near(Number(found.value), between(a, b, "bytes"), 1e-3, `bytes from ${a} to ${b}`);
  check(found.text.includes(`rank ${a} (node ${Math.floor(a / 12)}) to rank ${b}`), `readout: ${found.text}`);
}
await page.selectOption("select[aria-label=show]", "messages");
near(Number((await cell(page, 0, 1, 48)).value), between(0, 1, "messages"), 1e-3, "messages from 0 to 1");
await page.selectOption("select[aria-label=show]", "seconds");
near(Number((await cell(page, 0, 1, 48)).value), between(0, 1, "seconds"), 1e-3, "seconds from 0 to 1");
await page.selectOption("select[aria-label=show]", "waiting");
await settled(page);
const total = Object.values(waits.totals_ns)
  .flat()
  .reduce((a, b) => a + b, 0);
const column = await page.$$eval("#comm-matrix .total", ([e]) => e.textContent);
check(column.startsWith(`${Number((total * 1e-6).toPrecision(3))} ms`), `all waiting: ${column}, ${total} ns`);

// Another order moves the cells; zooming shows fewer, and 0 shows all again.
await page.selectOption("select[aria-label=show]", "bytes");
await page.selectOption("select[aria-label=order]", "dendrogram");
await settled(page);
const moved = await dataset(page, "canvas.matrix");
check(Number(moved.pairs) === sent.size, "pairs in the order of the dendrogram");
await page.focus("canvas.matrix");
await page.keyboard.press("+");
await settled(page);
check((await dataset(page, "canvas.matrix")).rows === "24", "half of the ranks in view");
await page.keyboard.press("0");
await settled(page);
check((await dataset(page, "canvas.matrix")).rows === "48", "all ranks in view");
await page.selectOption("select[aria-label=order]", "id");

// A click on a cell shows its pair, with the fit and the messages of the command.
await cell(page, 20, 36, 48);
await page.mouse.down();
await page.mouse.up();
check((await page.$eval(".pair", (e) => e.dataset.pair)) === "20,36", "the pair of a cell");
await settled(page);
const pair = comm("pairs", "halo-7.trace", "--pair", "20,36");
const points = await page.$$eval("#comm-pair canvas.scatter", (all) => all.map((e) => Number(e.dataset.points)));
check(points[0] === pair.messages.length && points[1] === pair.messages.length, `messages of the pair: ${points}`);
check(
  (await rows(page, "outliers")).length === pair.messages.filter((m) => m.outlier).length,
  "messages that took much longer"
);
const directions = await rows(page, "directions");
check(directions[0][2] === String(between(20, 36, "messages")), `messages from 20 to 36: ${directions[0]}`);
const first = pairs.pairs.reduce((a, b) => (b.time_ns > a.time_ns ? b : a));
check((await rows(page, "pairlist"))[0][0] === `${first.a}, ${first.b}`, "the pair with the most time");

// The dendrogram: its last merge holds all ranks, and Enter shows a group alone.
check((await dataset(page, "canvas.dendrogram")).groups === "48", "ranks of the dendrogram");
await page.focus("canvas.dendrogram");
await page.keyboard.press("ArrowLeft");
await page.keyboard.press("ArrowLeft");
await page.keyboard.press("Enter");
await settled(page);
const members = pairs.linkage[pairs.linkage.length - 2][3];
check((await dataset(page, "canvas.dendrogram")).ranks === String(members), `a group of ${members}`);

// Phases at each depth, and the slow instances.
check((await dataset(page, "canvas.phases")).phases === String(phases.leaves.length), "phases");
await page.fill("input[aria-label=depth]", "0");
await settled(page);
check((await dataset(page, "canvas.phases")).phases === "1", "no phase at depth 0 but the whole");
const slow = await rows(page, "slow");
check(slow.length === patterns.slow.length && slow.length > 0, `${slow.length} slow instances`);
check(slow[0][6] === `late sender, rank ${patterns.slow[0].last_rank}`, `the cause: ${slow[0]}`);
check((await rows(page, "patterns")).length === patterns.patterns.length, "patterns");

// A slow instance leads to its time on the timeline.
await page.click("table.slow button.link");
await page.waitForFunction(() => document.querySelector("canvas.timeline")?.dataset.done === "yes");
const instance = patterns.instances[patterns.slow[0].instance],
  shown = await dataset(page, "canvas.timeline"),
  length = instance.end_ns - instance.start_ns;
near(Number(shown.t1) - Number(shown.t0), 1.3 * length, 0.02, "the stretch of the timeline");
near((Number(shown.t0) + Number(shown.t1)) / 2, instance.start_ns + length / 2, 0.02, "the middle of the timeline");
await page.close();

// A snapshot alone: the matrix over windows.
const alone = await open(chromium, file("snapshot.html"), { tab: "communication" });
await settled(alone);
check((await alone.$$("#comm-waits, #comm-phases, #comm-slow")).length === 0, "parts that only a trace has");

// Waits at collectives, which the snapshot has for all ranks; the page names their source.
const inSeconds = (text) => parseFloat(text) * { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 }[text.split(/\s/)[1]];
async function collectives(page, input, title) {
  const known = comm("waits", input),
    delays = known.collective_delay_seconds,
    head = await page.innerText("#comm-collectives .heading");
  check(head.startsWith(title) && /From the snapshot/.test(head), `the source of the waits: ${head}`);
  check(/In 5 of the 6 windows with waits, it was rank 7 most/.test(head), `windows that name the rank: ${head}`);
  const [first, second] = await rows(page, "awaited");
  check(first[0] === "7" && second[0] === "20", `ranks that others waited for: ${first}, ${second}`);
  near(inSeconds(first[1]), delays[7], 0.01, "how long others waited for rank 7");
  near(inSeconds(second[1]), delays[20], 0.01, "how long others waited for rank 20");
  near(inSeconds(first[3]), known.collective_wait_seconds[7], 0.01, "how long rank 7 waited");
  check((await rows(page, "waiters")).length === 10, "the ranks that waited");
  const windows = await rows(page, "awaitedwindows");
  check(windows.length === 8, `${windows.length} windows`);
  check(windows[0][0] === "0..9" && windows[0][2] === "7", `the first window: ${windows[0]}`);
  check(parseFloat(windows[0][3]) > 90, `the share of rank 7: ${windows[0]}`);
  check(windows[5][2] === "-" && windows[7][2] === "20", `windows without waits and of another rank: ${windows[7]}`);
  const { most_awaited: most } = known;
  check(most.rank === 7 && most.seconds > 0, `the rank that is waited for most: ${JSON.stringify(most)}`);
}
await collectives(alone, "halo.effort", "Who waits for whom");
check(/^Rank 7 made the others wait/.test(await alone.innerText(".lead.comm")), "the answer begins with the waits");
const every = comm("matrix", "halo.effort").matrix;
check(Number((await dataset(alone, "canvas.matrix")).pairs) === every.length, "pairs of the snapshot");
await alone.fill("input[aria-label=windows]", "8");
await settled(alone);
check(Number((await dataset(alone, "canvas.matrix")).pairs) === 48 * 6, "pairs of the last window");
check(/steps 70\.\.79/.test(await alone.innerText("#comm-matrix output")), "steps of the last window");
near(Number((await cell(alone, 0, 1, 48)).value), 10 * 32768, 1e-3, "bytes of the last window");
await alone.close();

// 16,384 ranks.
const size = statSync(file("large.html")).size - statSync(file("none.html")).size;
check(size < 8e6, `the communication of 16,384 ranks takes ${size} bytes`);
const large = await open(chromium, file("large.html"), { tab: "communication" });
await settled(large);
check(Number((await dataset(large, "canvas.matrix")).pairs) === 16384 * 26, "pairs of 16,384 ranks");
const times = { matrix: [], dendrogram: [] };
for (let i = 0; i < 5; ++i) {
  for (const name of Object.keys(times)) {
    await large.focus(`canvas.${name}`);
    await large.keyboard.press("0");
    await settled(large);
    times[name].push(Number((await dataset(large, `canvas.${name}`)).ms));
  }
}
for (const [name, ms] of Object.entries(times))
  console.log(`${name} of 16,384 ranks: ${ms.sort((a, b) => a - b)[2]} ms`);
await large.fill("input[aria-label=windows]", "3");
await settled(large);
check(/ranks together/.test(await large.innerText("#comm-matrix output")), "blocks of ranks are not mentioned");
await large.close();

// The page says what it leaves out.
const small = await open(chromium, file("small.html"), { tab: "communication" });
await settled(small);
const there = Number((await dataset(small, "canvas.matrix")).pairs);
check(there > 1000 && there < 16384 * 26, `${there} pairs fit`);
const heading = await small.innerText("#comm-matrix .heading");
check(heading.includes(`${(16384 * 26 - there).toLocaleString("en")} cells with`), `left out: ${heading}`);
await small.close();

const measured = await open(chromium, file("waits.html"), { tab: "communication" });
await measured.waitForSelector("#comm-collectives");
await collectives(measured, "waits.effort", "Who waits for whom");
check(/EFFORT_COMM_MATRIX=1/.test(await measured.innerText("main")), "how to record messages");
check((await measured.$$("canvas.matrix, #comm-calls")).length === 0, "parts that only a matrix has");
await measured.close();

// With late senders, the page blames the rank that caused the waiting: rank 3, not rank 7, which is its victim.
const followed = await open(chromium, file("followed.html"), { tab: "communication" });
await followed.waitForSelector("#comm-collectives");
const blamed = comm("waits", "followed.effort");
check(blamed.most_awaited.rank === 3 && blamed.most_awaited.followed_back, `blamed: ${blamed.most_awaited.rank}`);
check(/^Rank 3 .* and for messages/.test(await followed.innerText(".lead.comm")), "the answer names the cause");
check(/followed back/.test(await followed.innerText("#comm-collectives .heading")), "where the values come from");
const [cause] = await rows(followed, "awaited");
check(cause[0] === "3", `the rank that caused most: ${cause}`);
near(inSeconds(cause[1]), blamed.caused_wait_seconds[3], 0.01, "how long others waited because of rank 3");
const waited = blamed.collective_wait_seconds[3] + blamed.late_sender_wait_seconds[3];
near(inSeconds(cause[3]), waited, 0.01, "how long rank 3 waited itself");
check((await rows(followed, "awaitedwindows"))[0][2] === "3", "the first window");
await picture(followed, file("followed.png"), true);
await followed.close();

const none = await open(chromium, file("none.html"), { tab: "communication" });
await none.waitForSelector(".sentence");
check(/EFFORT_COMM_MATRIX=1/.test(await none.innerText("main")), "how to record communication");
await chromium.close();
finish();
