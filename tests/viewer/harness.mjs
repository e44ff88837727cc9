// Shared by the browser tests: running the command, a browser whose pages may send no request, and counted checks.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

export function settings() {
  const [effort, makeSnapshot, modules, source, work] = process.argv.slice(2).map((p) => resolve(p));
  mkdirSync(work, { recursive: true });
  return { effort, makeSnapshot, modules, source, work };
}

/** Runs a program and returns its output.  If it fails, throws an error with its stderr. */
export function run(program, args) {
  const result = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, OMP_NUM_THREADS: "1", OMP_PROC_BIND: "false" },
  });
  if (result.status !== 0)
    throw new Error(`${program} ${args.join(" ")} ended with ${result.status}: ${result.stderr}`);
  return result.stdout;
}

/** Timeout in milliseconds; long, because machines may be busy. */
export const PATIENCE = 240000;

let failures = 0;
export function check(good, what) {
  if (good) return;
  ++failures;
  console.log(`FAILED: ${what}`);
}
export function near(a, b, relative, what) {
  check(Math.abs(a - b) <= relative * Math.max(Math.abs(a), Math.abs(b), 1e-300), `${what}: ${a} and ${b}`);
}
export function finish() {
  console.log(failures === 0 ? "all good" : `${failures} checks failed`);
  process.exit(failures === 0 ? 0 : 1);
}

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Pages are drawn without OpenGL, which takes a fifth less CPU time than its emulation; WebGL still uses that.
  "--disable-gpu-compositing",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

/** Debian's Chromium; `more` are further flags. */
export async function browser(modules, more = []) {
  const { chromium } = createRequire(join(modules, "here.js"))("playwright-core");
  return chromium.launch({
    executablePath: process.env.EFFORT_CHROMIUM || "/usr/bin/chromium",
    args: [...FLAGS, ...more],
  });
}

/** Opens a page.  Every error on its console and every request that leaves it fails the test. */
export async function open(chromium, file, { tab = "overview", width = 1440, theme = "light", quiet = false } = {}) {
  const page = await chromium.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  page.setDefaultTimeout(PATIENCE);
  const name = `${file.split("/").pop()} ${tab} ${width} ${theme}`;
  page.on("console", (m) => check(quiet || m.type() !== "error", `${name}: console: ${m.text()}`));
  page.on("pageerror", (e) => check(quiet, `${name}: ${e.message}`));
  page.on("request", (r) =>
    check(
      /^(file|blob|data):/.test(r.url()) && (!r.url().startsWith("file:") || r.isNavigationRequest()),
      `${name}: a request left the page: ${r.url()}`
    )
  );
  await page.goto(`file://${file}#${tab}`);
  return page;
}

/** Takes a picture for people to look at, if EFFORT_TEST_PICTURES is set. */
export async function picture(page, path, fullPage = false) {
  if (process.env.EFFORT_TEST_PICTURES) await page.screenshot({ path, fullPage });
}

/** Waits until pending drawing is done. */
export function drawn(page) {
  return page.evaluate(
    () => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(() => resume())))
  );
}

/** Waits until all heat maps show their last picture. */
export async function refined(page) {
  await page.waitForFunction(
    () => {
      const maps = [...document.querySelectorAll(".heatmap")];
      return maps.length > 0 && maps.every((map) => map.dataset.done === "yes");
    },
    null,
    { timeout: PATIENCE }
  );
  await drawn(page);
}

/** Reads one metric as `effort export --format npy` wrote it: regions by ranks by steps. */
export function readCube(directory, metric) {
  const bytes = readFileSync(join(directory, `${metric}.npy`)),
    length = bytes.readUInt16LE(8),
    body = bytes.subarray(10 + length);
  const axes = JSON.parse(readFileSync(join(directory, "axes.json"), "utf8"));
  const values = new Float64Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
  return {
    names: axes.regions,
    cell: (region, rank, step) => values[(region * axes.ranks.length + rank) * axes.steps.length + step],
  };
}

/** The place on the screen of the middle of a cell, if the heat map shows the whole run. */
export async function placeOf(page, info, rank, step) {
  const map = await page.waitForSelector("canvas.map"),
    box = await map.boundingBox();
  const w = box.width - 64 - 84 - 6,
    h = box.height - 34 - 54 - 6 - 4;
  return { x: box.x + 64 + ((step + 0.5) / info.steps) * w, y: box.y + 4 + ((rank + 0.5) / info.ranks) * h };
}

/** Moves the pointer over a cell, if the heat map shows the whole run, and reads the page's readout. */
export async function point(page, info, rank, step) {
  const { x, y } = await placeOf(page, info, rank, step);
  await page.mouse.move(x, y);
  await page.waitForFunction(
    ([r, s]) =>
      document.querySelector(".readout").dataset.rank === String(r) &&
      document.querySelector(".readout").dataset.step === String(s),
    [rank, step],
    { timeout: PATIENCE }
  );
  return page.$eval(".readout", (e) => ({
    value: Number(e.dataset.value),
    error: Number(e.dataset.error),
    exact: e.dataset.exact,
    text: e.innerText,
  }));
}
