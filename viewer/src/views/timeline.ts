// The timeline of the ranks that the trace kept.

import { empty, h, heading } from "../dom";
import { count } from "../format";
import { State } from "../state";
import { KIND_COLOURS } from "../trace/colours";
import { noTrace, Trace, traceOf } from "../trace/data";
import { Timeline } from "../trace/timeline";

function contents({ json }: Trace): string {
  const kept = new Set(json.windows.flatMap((w) => w.kept.map(([rank]) => rank))).size;
  const what = json.otf2
    ? `${json.file}, recorded by ${json.recorder}, holds all ranks.`
    : `Of ${count(json.ranks, "rank")}, ${kept.toLocaleString("en")} were kept in at least one of ` +
      `${count(json.windows.length, "window")}. Hatched times were not kept: the activity in them is unknown.`;
  if (json.slices_left_out === 0) return `${what} The page holds all ${count(json.slices, "call")}.`;
  const windows = new Set(json.left_out.map(([window]) => window)).size;
  return (
    `${what} The page holds ${count(json.slices, "call")}, ` +
    "first those of the ranks shown initially, then those of the most unusual windows; " +
    `${count(json.slices_left_out, "call")} in ${count(windows, "window")} did not fit and are dotted ` +
    "(effort report --trace-bytes, effort trace export)."
  );
}

export function timeline(state: State): HTMLElement | { element: HTMLElement; destroy: () => void } {
  const trace = traceOf(state.run);
  if (!trace) return empty(noTrace(state.run, state.report.head));
  const tracks = new Timeline(trace);
  if (state.focus) {
    tracks.reveal(state.focus);
    state.focus = undefined;
  }
  const button = (title: string, click: () => void) => h("button", { onclick: click }, title);
  const element = h(
    "section",
    {},
    heading("Timeline", contents(trace)),
    h(
      "div",
      { class: "toolbar" },
      button("medoids only", () => tracks.openAll(false)),
      button("all ranks", () => tracks.openAll(true)),
      button("whole run", () => tracks.showAll()),
      button("zoom in", () => tracks.zoom(0.5)),
      button("zoom out", () => tracks.zoom(2)),
      h(
        "span",
        { class: "kinds" },
        ["compute", "communication", "waiting", "I/O"].map((kind, i) =>
          h("span", {}, h("i", { style: `background:${KIND_COLOURS(i)}` }), kind)
        ),
        h("span", {}, h("i", { class: "unknown" }), "not kept"),
        trace.json.slices_left_out > 0 ? h("span", {}, h("i", { class: "leftout" }), "not in the page") : null
      )
    ),
    tracks.element,
    h(
      "p",
      { class: "quiet" },
      "W and S zoom, A and D or left and right move, up and down scroll, 0 shows all, F the held call. " +
        "Click a triangle to open a node, a stratum or a rank's threads."
    )
  );
  return { element, destroy: () => tracks.destroy() };
}
