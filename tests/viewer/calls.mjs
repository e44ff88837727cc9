// The page on function calls: numbers as `effort calls --json` prints them, keys, search, differences between ranks and
// files, and what a small page leaves out.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, check, drawn, finish, near, open, picture, run, settings } from "./harness.mjs";

const { effort, modules, source, work } = settings();
const file = (name) => join(work, name);

/** Steps with a loop of 5 iterations, in rank 2 of 7; rank 1 goes another way in the second step, and hangs there. */
function stream(rank, steps) {
  const out = [1];
  for (let step = 0; step < steps; ++step) {
    out.push(2);
    for (let i = 0; i < (rank === 2 ? 7 : 5); ++i) out.push(3, 6 + (i % 3), 0, 0);
    if (rank === 1 && step === 1) return [...out, 4, 5];
    out.push(0);
  }
  return [...out, 0];
}
function write(name, steps, ranks) {
  const names = Array.from({ length: ranks }, (_, rank) => {
    const raw = file(`${name}-${rank}`);
    writeFileSync(raw, Buffer.from(Uint16Array.from(stream(rank, steps)).buffer));
    return raw;
  });
  run(effort, ["calls", "encode", ...names, "-o", file(`${name}.calls`)]);
}
/** A recording of libeffort_functions with a time stamp for each event: record/calls/RECORDING.md. */
function recording(rank, events, gaps) {
  const bytes = new DataView(new ArrayBuffer(5 * 4096));
  const text = (at, s) => [...s].forEach((c, i) => bytes.setUint8(at + i, c.charCodeAt(0)));
  [0x89, 0x45, 0x43, 0x52, 0x0d, 0x0a, 0x1a, 0x0a].forEach((byte, i) => bytes.setUint8(i, byte));
  [2, 4096].forEach((n, i) => bytes.setUint32(8 + 4 * i, n, true));
  bytes.setBigInt64(24, BigInt(rank), true);
  [4, 8, 1, 1, 1].forEach((n, i) => bytes.setUint32(40 + 4 * i, n, true)); // chunks, functions, modules, threads, every
  const chunk = (number, kind, contents) => {
    bytes.setUint32(4096 * number, kind, true);
    contents.forEach((byte, i) => bytes.setUint8(4096 * number + 64 + i, byte));
    if (kind > 2) bytes.setUint32(4096 * number + 20, contents.length << 8, true);
  };
  chunk(1, 1, []);
  for (let f = 0; f < 8; ++f) bytes.setUint32(4096 + 64 + 16 * f, 4096 + 16 * f, true);
  chunk(2, 2, [4]);
  text(2 * 4096 + 64 + 48, "/app");
  const varint = (n) => (n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))]);
  chunk(
    3,
    3,
    events.flatMap((event) => [1, event])
  );
  chunk(4, 4, gaps.flatMap(varint));
  return Buffer.from(bytes.buffer);
}
// Ranks 0 and 3 make the same calls, and rank 3 takes twice as long; rank 2 makes others.
mkdirSync(file("timed"), { recursive: true });
for (const rank of [0, 2, 3]) {
  const events = stream(rank, 3),
    slow = rank === 3 ? 2 : 1;
  writeFileSync(
    join(file("timed"), `${rank}.rec`),
    recording(
      rank,
      events,
      events.map((event, i) => slow * (event === 0 ? 3e6 + i : 1e6))
    )
  );
}
write("a", 3, 4);
write("b", 4, 4);
const snapshot = join(source, "tests/viewer/data/flame.effort");
const report = (out, ...more) => run(effort, ["report", snapshot, ...more, "-o", file(out)]);
report("one.html", file("a.calls"));
report("two.html", file("a.calls"), file("b.calls"));
report("small.html", file("a.calls"), "--calls-bytes", "1");
report("timed.html", file("timed"));
report("none.html");
const calls = (...args) => JSON.parse(run(effort, ["calls", ...args, "--json"]));
const info = calls("info", file("a.calls"));
const diff = calls("diff", file("a.calls"), file("a.calls"), "--ranks", "0,1");

const chromium = await browser(modules);
const settled = async (page) => {
  await page.waitForFunction(() => document.querySelector("canvas.flame")?.dataset.done === "yes");
  await drawn(page);
};
const data = (page, what) => page.$eval(what, (e) => ({ ...e.dataset }));
const rows = (page, table) =>
  page.$$eval(`table.${table} tbody tr`, (list) => list.map((tr) => [...tr.cells].map((td) => td.innerText.trim())));

for (const [width, theme] of [
  [1440, "light"],
  [800, "dark"],
]) {
  const page = await open(chromium, file("two.html"), { tab: "calls", width, theme });
  await settled(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(wide <= 1, `at ${width}: ${wide} pixels wider than the window`);
  await picture(page, file(`calls-${width}-${theme}.png`), true);
  await page.close();
}

const page = await open(chromium, file("one.html"), { tab: "calls" });
await settled(page);
check(
  (await page.innerText(".lead.comm")).startsWith(`${info.calls} calls in 4 streams, up to 4 deep; 3 groups`),
  "answer"
);

// The flame graph: all calls, the widest callee, a rank alone.
check(!(await page.isVisible("#calls-flame select")), "no choice of widths without time stamps");
check((await data(page, ".readout.comm")).total === String(info.calls), "all calls");
await page.focus("canvas.flame");
for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
await settled(page);
const path = info.paths.find((p) => p.stack.join() === "1,2,3");
const pointed = await data(page, ".readout.comm");
check(pointed.name === "3" && pointed.calls === String(path.calls), `calls of 1 > 2 > 3: ${JSON.stringify(pointed)}`);
near(Number(pointed.total), 2 * path.calls, 0, "with those below");
await page.keyboard.press("Enter");
await settled(page);
check((await data(page, "canvas.flame")).root === "3", "Enter shows a box alone");
await page.keyboard.press("Backspace");
await settled(page);
check((await data(page, "canvas.flame")).root === "2", "Backspace shows the caller");
await page.keyboard.press("0");
await settled(page);
check((await data(page, "canvas.flame")).root === "all ranks", "0 shows all");
const box = await (await page.$("canvas.flame")).boundingBox();
await page.mouse.click(box.x + 20, box.y + 1 + 20 * 2.5);
await settled(page);
check((await data(page, "canvas.flame")).root === "2", "a click shows a box alone");
await page.keyboard.press("/");
await page.keyboard.type("7");
await settled(page);
check((await data(page, "canvas.flame")).matched === "1", "search marks the function");
const sevens = info.functions.find((f) => f.name === "7").calls;
near(
  parseFloat(await page.innerText("#calls-found")),
  (100 * sevens) / info.calls,
  0.01,
  "the share of what was found"
);

// Callers, callees and loops are those of `effort calls graph`.
const graph = calls("graph", file("a.calls"), "--rank", "2");
await page.selectOption("select[aria-label='calls of']", { label: "rank 2" });
await settled(page);
const functions = await rows(page, "functions");
check(functions.length === graph.functions.length, `functions of rank 2: ${functions.length}`);
await page.click("table.functions .link >> text='3'");
check((await data(page, "#calls-function")).function === "3", "the chosen function");
const edge = graph.edges.find((e) => e.caller === "2" && e.callee === "3");
check(
  (await rows(page, "callers"))[0].join() === `2,${edge.calls},\u21bb 7`,
  `callers: ${await rows(page, "callers")}`
);
check((await rows(page, "callees")).length === 3, "callees");
const loops = await rows(page, "loops");
check(loops.length === graph.loops.length, `loops: ${loops.length} and ${graph.loops.length}`);
check(loops[0][2] === String(graph.loops[0].iterations), `iterations: ${loops[0]}`);

// The difference of two ranks is that of `effort calls diff`.
const choose = async (on, side, label) => on.selectOption(`#calls-diff select[aria-label=${side}]`, { label });
await choose(page, "A", "ranks 0, 3");
await choose(page, "B", "rank 1");
const first = await page.innerText("#calls-pair .first");
check(first === `They part at event ${diff.first_difference.event}: A returns, B calls 4.`, first);
const stacks = await page.$$eval("ol.calls-stack", (list) =>
  list.map((ol) => [...ol.children].map((li) => li.innerText).join())
);
check(stacks[0] === "1,2" && stacks.includes("1,2,4,5"), `stacks: ${stacks.join(" | ")}`);
await choose(page, "A", "rank 1");
await choose(page, "B", "ranks 0, 3");
check(/A calls 4, B returns/.test(await page.innerText("#calls-pair .first")), "the other way round");
await choose(page, "A", "rank 2");
check((await rows(page, "loopdifferences"))[0].slice(1, 3).join() === "7,5", "iterations of the loop");
await choose(page, "A", "ranks 0, 3");
check(/All calls are the same/.test(await page.innerText("#calls-pair")), "equal ranks");
check((await rows(page, "streams"))[1][5] === "1 > 2 > 4 > 5", "the stack of the rank that hangs");
await page.close();

// Two files: the same rank of both.
const two = await open(chromium, file("two.html"), { tab: "calls" });
await settled(two);
await choose(two, "A", "a.calls: ranks 0, 3");
await choose(two, "B", "b.calls: ranks 0, 3");
const known = calls("diff", file("a.calls"), file("b.calls"), "--ranks", "0,0").first_difference;
check(new RegExp(`at event ${known.event}: A returns`).test(await two.innerText("#calls-pair .first")), "two files");
await two.close();

// With time stamps, boxes are as wide as their time.
const times = calls("info", file("timed"));
check(times.functions[0].own_seconds > 0.01, "the recording has times");
const clock = await open(chromium, file("timed.html"), { tab: "calls" });
await settled(clock);
const all = times.functions.reduce((sum, f) => sum + f.own_seconds, 0);
near(Number((await data(clock, ".readout.comm")).total), 1e6 * all, 1e-3, "all time");
await clock.focus("canvas.flame");
for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await clock.keyboard.press(key);
await settled(clock);
const timedPath = times.paths.find((p) => p.stack.length === 3 && p.stack.join().endsWith("+0x1020"));
const timedBox = await data(clock, ".readout.comm");
near(Number(timedBox.own), 1e6 * timedPath.own_seconds, 1e-3, "own time of a stack");
check(Number(timedBox.calls) === timedPath.calls, "calls of a stack");
check(/own time .* ms/.test(await clock.innerText(".readout.comm")), "own time in words");
await picture(clock, file("calls-timed.png"), true);
await clock.selectOption("#calls-flame select", "calls");
await settled(clock);
check((await data(clock, ".readout.comm")).total === String(times.calls), "by calls");
await clock.selectOption("#calls-flame select", "time");
for (const rank of [0, 2, 3]) {
  const own = calls("info", file("timed"), "--rank", String(rank)),
    seconds = own.functions.reduce((sum, f) => sum + f.own_seconds, 0);
  await clock.selectOption("select[aria-label='calls of']", { index: [0, 2, 3].indexOf(rank) + 2 });
  await settled(clock);
  near(Number((await data(clock, ".readout.comm")).total), 1e6 * seconds, 1e-3, `time of rank ${rank}`);
}
const offered = await clock.$$eval("select[aria-label='calls of'] option", (all) => all.map((o) => o.textContent));
check(/^all ranks;ranks 0, 3;rank 0, .*s;rank 2, .*s;rank 3, .*s$/.test(offered.join(";")), offered.join(";"));
check(/take .* \(rank 0\) to .* \(rank 3\)/.test(await clock.innerText("p.lead.comm")), "the slowest rank");
await clock.close();

// A page without room says so.
const small = await open(chromium, file("small.html"), { tab: "calls" });
await settled(small);
check(/4 ranks did not fit/.test(await small.innerText("main")), "ranks that did not fit");
await small.close();
const none = await open(chromium, file("none.html"));
await none.waitForSelector("#tab-about");
check((await none.$("#tab-calls")) === null, "a page without calls");
await none.close();
await chromium.close();
finish();
