// Function calls: a flame graph, callers and callees, and where ranks or runs part ways.

import { Calls, callsOfPage, View } from "../calls/data";
import { Flame } from "../calls/flame";
import { empty, h, heading, select } from "../dom";
import { amount, count, percent } from "../format";
import { State } from "../state";
import { viewChoice } from "./calls/choice";
import { differences } from "./calls/differences";
import { graph } from "./calls/graph";
import { table } from "./communication/tables";

function flameOf(calls: Calls, view: View): { element: HTMLElement; show: (view: View) => void } {
  const found = h("span", { class: "quiet", id: "calls-found" });
  const box = h("input", {
    type: "search",
    id: "calls-search",
    placeholder: "function",
    "aria-label": "search functions",
    oninput: () => mark(),
  });
  let shown = view,
    timed = true;
  const contexts = () => (timed ? shown.times : undefined) ?? shown.contexts;
  const widths = [
    { value: "time", title: "time" },
    { value: "calls", title: "calls" },
  ];
  const width = select("widths by", widths, "time", (v) => {
    timed = v === "time";
    show(shown);
  });
  const flame = new Flame(calls, view, contexts(), () => box.focus()),
    left = h("p", { class: "quiet" });
  const mark = () => {
    const share = flame.mark(box.value),
      what = contexts() === shown.contexts ? "calls are" : "time is";
    found.textContent = box.value === "" ? "" : `${percent(share)} of all ${what} in functions with this name`;
  };
  const show = (next: View) => {
    shown = next;
    width.hidden = next.times === undefined;
    flame.show(next, contexts());
    mark();
    const { context_count: all } = next.source.json,
      held = next.contexts.parent.length - 1;
    left.textContent =
      held < all
        ? `The page holds the ${held.toLocaleString("en")} largest of ${all.toLocaleString("en")} different stacks; ` +
          "the others are in the widths of their callers " +
          "(effort report --calls-bytes, effort calls info --folded)."
        : "";
  };
  show(view);
  return {
    show,
    element: h(
      "section",
      { id: "calls-flame" },
      heading(
        "Flame graph",
        "A box is a function, called by the one above it; it is as wide as its calls, or their time, and all calls " +
          "below it. From left to right in the order of first calls."
      ),
      h("div", { class: "toolbar" }, width, box, h("button", { onclick: () => flame.open(0) }, "all calls"), found),
      flame.sheet.element,
      left
    ),
  };
}

function streams(calls: Calls): HTMLElement {
  return h(
    "section",
    { id: "calls-streams" },
    heading("Calls that had not returned", "The calls in which a rank hung, was killed, or called exit."),
    calls.sources.map(({ json }) =>
      h(
        "div",
        {},
        calls.sources.length > 1 ? h("h3", {}, json.file) : null,
        table(
          "streams",
          [
            { title: "rank", number: true },
            { title: "thread", number: true },
            { title: "calls", number: true },
            { title: "depth", number: true },
            { title: "left out", number: true },
            { title: "open at the end" },
          ],
          json.streams.map(([rank, thread, n, depth, leftOut, , open]) => [
            rank.toLocaleString("en"),
            thread.toLocaleString("en"),
            n.toLocaleString("en"),
            depth.toLocaleString("en"),
            leftOut.toLocaleString("en"),
            calls.line(open),
          ]),
          12
        ),
        json.stream_count > json.streams.length
          ? h(
              "p",
              { class: "quiet" },
              `${(json.stream_count - json.streams.length).toLocaleString("en")} more: effort calls info --all`
            )
          : null,
        json.hot.length > 0
          ? h(
              "p",
              { class: "quiet" },
              `Called too often to be kept to the end: ${json.hot.map((i) => calls.text(i)).join(", ")}`
            )
          : null,
        json.notes.map((note) => h("p", { class: "quiet" }, note))
      )
    )
  );
}

/** What is most worth knowing. */
function answer(calls: Calls): string {
  const [{ json }] = calls.sources,
    hung = json.streams.filter((s) => s[6].length > 0).length,
    groups = json.views.length - 1 + (calls.json.ranks_left_out > 0 ? 1 : 0);
  return (
    `${count(json.calls, "call")} in ${count(json.stream_count, "stream")}, up to ${json.depth} deep; ` +
    (groups === 1 ? "all ranks called the same" : `${count(groups, "group")} of ranks differ`) +
    (hung > 0 ? `; ${hung} ended in mid-call.` : ".") +
    timesOfRanks(calls)
  );
}

/** Which ranks spend most and least time in their calls. */
function timesOfRanks(calls: Calls): string {
  const ranks = [...calls.sources[0].ranks].sort((a, b) => (a.seconds ?? 0) - (b.seconds ?? 0)),
    text = (view: View) => `${amount(view.seconds ?? 0, "s")} (${view.ranks})`;
  return ranks.length < 2 ? "" : ` Their calls take ${text(ranks[0])} to ${text(ranks[ranks.length - 1])}.`;
}

/** Says how many ranks are in the page only without their own times. */
function timesLeftOut(calls: Calls): HTMLElement | null {
  let left = -calls.json.ranks_left_out;
  for (const { json, ranks } of calls.sources)
    if (json.rank_times) left += new Set(json.streams.map(([rank]) => rank)).size - ranks.length;
  const text = `the times of ${count(left, "single rank")} did not fit (effort report --calls-bytes)`;
  return left > 0 ? h("span", { class: "quiet" }, text) : null;
}

/** All ranks, groups of ranks with equal calls, and single ranks. */
function choices(calls: Calls): View[] {
  return calls.sources.flatMap(({ views, ranks }) => [
    ...views.filter((view) => !ranks.some((rank) => rank.ranks === view.ranks)),
    ...ranks,
  ]);
}

export function calls(_state: State): HTMLElement {
  const data = callsOfPage();
  if (!data) return empty("Reading the function calls ...");
  const shown = choices(data),
    views = data.sources.flatMap((source) => source.views),
    flame = flameOf(data, views[0]),
    tables = graph(data, views[0]);
  return h(
    "div",
    { class: "calls" },
    h("p", { class: "lead comm" }, answer(data)),
    h(
      "div",
      { class: "toolbar" },
      viewChoice(data, "calls of", shown, shown[0], (view) => {
        flame.show(view);
        tables.show(view);
      }),
      data.json.ranks_left_out > 0
        ? h(
            "span",
            { class: "quiet" },
            `${count(data.json.ranks_left_out, "rank")} did not fit into the page (effort report --calls-bytes)`
          )
        : null,
      timesLeftOut(data)
    ),
    flame.element,
    tables.element,
    differences(data, views),
    streams(data)
  );
}
