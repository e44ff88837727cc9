// Waits: the ranks that made others wait, the pairs, the causes, and the critical path.

import { h, heading, unbroken } from "../../dom";
import { count, middle, percent, seconds } from "../../format";
import { category } from "../../palette";
import { Side, WaitsJson } from "../../communication/data";
import { State } from "../../state";
import { rankLink, table } from "./tables";

const CAUSES: Record<string, string> = {
  late_sender: "late senders",
  late_receiver: "late receivers",
  barrier: "barriers",
  nxn: "collectives of all with all",
  early_reduce: "reductions and gathers",
  late_broadcast: "broadcasts and scatters",
  early_scan: "prefix reductions",
};

const causeText = (cause: string) => CAUSES[cause] ?? cause.replaceAll("_", " ");

const name = (text: string) => h("span", { title: text }, unbroken(middle(text, 60)));

function causes(waits: WaitsJson): HTMLElement {
  const parts = waits.causes
    .map((cause, i) => ({ cause, i, ns: waits.cause_ns[i] }))
    .filter(({ ns }) => ns > 0)
    .sort((a, b) => b.ns - a.ns);
  const text = ({ cause, ns }: { cause: string; ns: number }) => `${causeText(cause)} ${seconds(ns * 1e-9)}`;
  return h(
    "div",
    {},
    h(
      "ul",
      { class: "legend" },
      parts.map((p) => h("li", {}, h("span", { class: `swatch hatch${p.i}`, style: `--c:${category(p.i)}` }), text(p)))
    ),
    h(
      "div",
      { class: "stack", role: "img", "aria-label": parts.map(text).join(", ") },
      parts.map((p) =>
        h("span", { class: `hatch${p.i}`, style: `flex:${p.ns} 0 0;--c:${category(p.i)}`, title: text(p) })
      )
    )
  );
}

/** The ranks that made others wait. */
function blamed(state: State, waits: WaitsJson): HTMLElement {
  const listed = waits.waited_for,
    most = Math.max(...listed.map((w) => w.delay_seconds), 1e-300),
    total = waits.total_seconds || 1;
  return table(
    "ranking",
    [
      { title: "rank", number: true },
      { title: "made others wait" },
      { title: "of all waiting", number: true },
      { title: "mostly in" },
      { title: "at its calls", number: true },
    ],
    listed.map((w) => [
      rankLink(state, w.rank),
      h(
        "span",
        { class: "of" },
        h("span", { class: "bar" }, h("span", { style: `width:${(100 * w.delay_seconds) / most}%` })),
        seconds(w.delay_seconds)
      ),
      percent(w.delay_seconds / total),
      w.region ? name(w.region) : h("span", { class: "quiet" }, "-"),
      seconds(w.seconds),
    ]),
    10,
    waits.waited_for_count
  );
}

/** The cells of a matrix with the largest values. */
export function largest(values: Float64Array, most: number): number[] {
  const threshold = values.slice().sort()[Math.max(0, values.length - most)],
    out: number[] = [];
  values.forEach((v, i) => v > 0 && v >= threshold && out.push(i));
  return out.sort((a, b) => values[b] - values[a] || a - b).slice(0, most);
}

function pairs(side: Side, show: (a: number, b: number) => void): HTMLElement {
  const { matrix } = side,
    values = matrix.values("waiting"),
    total = matrix.totals.waiting || 1;
  return table(
    "waiting",
    [
      { title: "rank", number: true },
      { title: "waited for", number: true },
      { title: "time", number: true },
      { title: "of all waiting", number: true },
      { title: "" },
    ],
    largest(values, 100).map((i) => [
      matrix.column[i].toLocaleString("en"),
      matrix.row[i].toLocaleString("en"),
      seconds(values[i]),
      percent(values[i] / total),
      h("button", { class: "link", onclick: () => show(matrix.row[i], matrix.column[i]) }, "the pair"),
    ])
  );
}

function paths(waits: WaitsJson): HTMLElement {
  return table(
    "waitpaths",
    [
      { title: "call path" },
      { title: "because of" },
      { title: "waits", number: true },
      { title: "time", number: true },
    ],
    waits.paths.map((p) => [name(p.path), causeText(p.cause), p.count.toLocaleString("en"), seconds(p.ns * 1e-9)]),
    10,
    waits.paths_count
  );
}

function critical(state: State, waits: WaitsJson): HTMLElement {
  return table(
    "critical",
    [
      { title: "rank", number: true },
      { title: "call path" },
      { title: "time", number: true },
      { title: "of the path", number: true },
    ],
    waits.critical_path.map((c) => [
      rankLink(state, c.rank),
      name(c.path),
      seconds(c.seconds),
      percent(c.seconds / (waits.critical_path_seconds || 1)),
    ]),
    10,
    waits.critical_path_count
  );
}

function sufferers(state: State, waits: WaitsJson): HTMLElement {
  const sums = waits.waiting.map(([, ...ns]) => ns.reduce((a, b) => a + b, 0));
  return table(
    "sufferers",
    [{ title: "rank", number: true }, { title: "waited", number: true }, { title: "mostly for" }],
    waits.waiting.map(([rank, ...ns], i) => [
      rankLink(state, rank),
      seconds(sums[i] * 1e-9),
      causeText(waits.causes[ns.indexOf(Math.max(...ns))]),
    ]),
    10,
    waits.waiting_count
  );
}

export function waitsOf(state: State, side: Side, show: (a: number, b: number) => void): HTMLElement | null {
  const found = side.found;
  if (!found || found.waits.total_seconds <= 0) return null;
  const { waits } = found,
    part = (title: string, content: HTMLElement) => h("div", {}, h("h3", {}, title), content);
  return h(
    "section",
    { id: "comm-waits" },
    heading(
      "Who waits for whom",
      "From the trace: the ranks and windows that it holds. A rank that comes late may itself have waited, so delays " +
        "are followed back to the rank that took longer. " +
        (waits.unexplained_seconds > 1e-3 * waits.total_seconds
          ? `${seconds(waits.unexplained_seconds)} of ${seconds(waits.total_seconds)} cannot be traced to such a ` +
            "rank (latency, transfers, clocks)."
          : "")
    ),
    causes(waits),
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        part("Ranks that made others wait", blamed(state, waits)),
        part("Where ranks waited", paths(waits)),
        part(`Critical path, ${seconds(waits.critical_path_seconds)}`, critical(state, waits))
      ),
      h("div", {}, part("Pairs", pairs(side, show)), part("Ranks that waited", sufferers(state, waits)))
    )
  );
}

/** Of a snapshot: the ranks whose messages took the most time in calls. */
export function callsOf(state: State, side: Side, waitsUnknown: boolean): HTMLElement {
  const { matrix } = side,
    values = matrix.values("seconds"),
    sums = new Float64Array(state.run.info.ranks);
  for (let i = 0; i < matrix.size; ++i) {
    sums[matrix.row[i]] += values[i];
    if (matrix.row[i] !== matrix.column[i]) sums[matrix.column[i]] += values[i];
  }
  const order = Array.from(sums.keys())
      .filter((rank) => sums[rank] > 0)
      .sort((a, b) => sums[b] - sums[a])
      .slice(0, 100),
    most = sums[order[0]] || 1;
  return h(
    "section",
    { id: "comm-calls" },
    heading(
      "Time in calls by rank",
      `Time in calls of both ends of a rank's messages; ${count(state.run.info.ranks, "rank")} in all. ` +
        (waitsUnknown
          ? "The run did not measure how much of it was waiting, and for whom. EFFORT_COMM_WAITS=1 does so at " +
            "collectives, a trace (EFFORT_TRACE=on) everywhere."
          : "A trace (EFFORT_TRACE=on) shows how much of it was waiting for messages.")
    ),
    table(
      "ranking",
      [{ title: "rank", number: true }, { title: "in calls" }],
      order.map((rank) => [
        rankLink(state, rank),
        h(
          "span",
          { class: "of" },
          h("span", { class: "bar" }, h("span", { style: `width:${(100 * sums[rank]) / most}%` })),
          seconds(sums[rank])
        ),
      ])
    )
  );
}
