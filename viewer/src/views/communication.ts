// Traffic between ranks, waits, and changes of the communication over the run.

import { Communication, communicationOf, Side } from "../communication/data";
import { Dendrogram } from "../communication/tree";
import { empty, h, heading, select } from "../dom";
import { State } from "../state";
import { collectivesOf } from "./communication/collectives";
import { matrixOf } from "./communication/matrix";
import { pairOf } from "./communication/pair";
import { phasesOf } from "./communication/phases";
import { patternsOf, slowOf } from "./communication/slow";
import { nodesOf, sentences } from "./communication/tables";
import { callsOf, waitsOf } from "./communication/waits";

const NONE =
  "This run recorded no communication. With libeffort_pmpi, EFFORT_COMM_MATRIX=1 adds the communication matrix to " +
  "the snapshot, and EFFORT_COMM_WAITS=1 the waits at collectives. EFFORT_TRACE=on writes a trace, which has all " +
  "waits: pass it to effort report with the snapshot.";

const ONLY_COLLECTIVES =
  "The snapshot has no messages: EFFORT_COMM_MATRIX=1 adds the communication matrix, EFFORT_TRACE=on writes a trace.";

function dendrogramOf(state: State, side: Side): HTMLElement | null {
  const { tree } = side;
  if (!tree) {
    return side.json.pair_count > 0 && state.run.info.ranks > 1
      ? h(
          "section",
          {},
          heading(
            "Dendrogram",
            "It is omitted, because it would be too large for the page (effort report --communication-bytes, effort " +
              "comm pairs)."
          )
        )
      : null;
  }
  const drawing = new Dendrogram(tree, nodesOf(state.run));
  return h(
    "section",
    { id: "comm-dendrogram" },
    heading(
      "Dendrogram",
      `Ranks by the time that they spend on each other (${tree.method} linkage, distance 1 / time; logarithmic). ` +
        "Groups that join far down belong together; the strip has a colour for each node. A group of several colours " +
        "communicates across nodes: effort place finds better places for its ranks."
    ),
    h("div", { class: "toolbar" }, h("button", { onclick: () => drawing.showAll() }, "all ranks")),
    drawing.sheet.element
  );
}

/** Which of several sources is shown. */
function sourceOf(state: State, data: Communication): HTMLElement | null {
  if (!data.snapshot || !data.trace) return null;
  return h(
    "div",
    { class: "toolbar sources" },
    select(
      "matrix and pairs of",
      [
        { value: "trace", title: "the trace: kept ranks and windows" },
        { value: "snapshot", title: "the snapshot: all ranks, over windows" },
      ],
      state.communication.source ?? "trace",
      (v) => {
        state.communication.source = v === "snapshot" ? "snapshot" : "trace";
        state.communication.window = 0;
        state.emit("tab");
      }
    )
  );
}

export function communication(state: State): HTMLElement {
  const data = communicationOf(state.run);
  if (!data) return empty("Reading the communication ...");
  const chosen = state.communication.source === "snapshot" ? data.snapshot : data.trace,
    side = chosen ?? data.trace ?? data.snapshot;
  const waits = data.collectives ? collectivesOf(state, data.collectives, data.trace !== undefined) : null;
  if (!side) {
    if (!data.collectives) return empty(NONE);
    return h("div", { class: "communication" }, sentences([data.collectives.answer, ONLY_COLLECTIVES]), waits);
  }
  const pair = pairOf(state, data, side);
  const parts = [
    ...(data.trace ? [waitsOf(state, data.trace, pair.show), waits] : [waits, callsOf(state, side, waits === null)]),
    sourceOf(state, data),
    h(
      "div",
      { class: "columns picture" },
      matrixOf(state, side, pair.show),
      h("div", {}, dendrogramOf(state, side), pair.list)
    ),
    pair.details,
    ...(data.trace ? [phasesOf(state, data.trace), slowOf(state, data.trace), patternsOf(data.trace)] : []),
    data.trace ? limits(data.trace) : null,
  ];
  const answer = (data.trace ?? side).json.answer;
  return h(
    "div",
    { class: "communication" },
    sentences(data.collectives && !data.trace ? [data.collectives.answer, ...answer] : answer),
    parts
  );
}

function limits(side: Side): HTMLElement | null {
  const lines = side.found?.limits ?? [];
  if (lines.length === 0) return null;
  return h(
    "section",
    {},
    heading("Limits of this analysis"),
    h(
      "ul",
      {},
      lines.slice(0, 20).map((line) => h("li", {}, line)),
      lines.length > 20 ? h("li", {}, `and ${lines.length - 20} more (effort comm waits)`) : null
    )
  );
}
