// Two ranks: their messages, sizes over time, time over size, call paths, and messages that could be combined.

import { h, heading, unbroken } from "../../dom";
import { amount, bytes, count, middle, seconds } from "../../format";
import { Communication, Message, messagesOf, PairDetailsJson, Side } from "../../communication/data";
import { scatter } from "../../communication/scatter";
import { State } from "../../state";
import { nodesOf, table, timeLink } from "./tables";

const time = (ns: number) => seconds(ns * 1e-9);
const name = (text: string) => h("span", { title: text }, unbroken(middle(text, 60)));

/** Both directions, as the matrix has them. */
function directions(side: Side, a: number, b: number): HTMLElement {
  const rows =
    a === b
      ? [[a, b]]
      : [
          [a, b],
          [b, a],
        ];
  return table(
    "directions",
    [
      { title: "from" },
      { title: "to" },
      { title: "messages", number: true },
      { title: "bytes", number: true },
      { title: "in calls", number: true },
      ...(side.matrix.has("waiting") ? [{ title: "the receiver waited", number: true }] : []),
    ],
    rows.map(([from, to]) => {
      const sums = side.matrix.at(from, to);
      return [
        from.toLocaleString("en"),
        to.toLocaleString("en"),
        amount(sums.messages, ""),
        bytes(Math.round(sums.bytes)),
        seconds(sums.seconds),
        ...(side.matrix.has("waiting") ? [seconds(sums.waiting)] : []),
      ];
    })
  );
}

function sentence({ fit, outliers }: PairDetailsJson): string {
  if (fit.latency_ns === null) return "No message has both ends in the trace.";
  const late = outliers === 0 ? "No message" : count(outliers, "message"),
    rest = `${late} took much longer than others of the same size.`;
  if (fit.ns_per_byte === null)
    return `A message takes ${time(fit.latency_ns)}; the cost per byte cannot be told from these sizes. ${rest}`;
  return (
    `A message takes ${time(fit.latency_ns)} and ${time(1e6 * fit.ns_per_byte)} for each MB, within ` +
    `${time(fit.spread_ns ?? 0)} for half of them. ${rest}` +
    (fit.knee_bytes ? ` Below ${bytes(Math.round(fit.knee_bytes))}, most of the time is latency.` : "")
  );
}

function plots(state: State, pair: PairDetailsJson, messages: Message[]): HTMLElement {
  const { a, b, fit } = pair,
    groups = [
      { title: `from ${a} to ${b}`, colour: 0, shape: "dot" as const },
      { title: `from ${b} to ${a}`, colour: 1, shape: "square" as const },
      { title: "took much longer", colour: 5, shape: "cross" as const },
    ],
    groupOf = (m: Message) => (m.outlier ? 2 : m.fromA ? 0 : 1),
    timed = messages.filter((m) => m.ns >= 0),
    describe = (m: Message) =>
      `from rank ${m.fromA ? a : b} to rank ${m.fromA ? b : a} at ${time(m.start)}: ${bytes(m.bytes)}` +
      (m.ns >= 0 ? `, ${time(m.ns)} until it was received` : ""),
    pick = state.report.head.traces[state.run.index]
      ? (m: Message) => state.showTime(m.fromA ? [a, b] : [b, a], m.start, m.start + Math.max(m.ns, 100))
      : undefined;
  const sizes = {
    title: "bytes of a message",
    format: (v: number) => bytes(v < 1 ? Number(v.toPrecision(1)) : Math.round(v)),
    log: 2 as const,
  };
  const { course } = pair;
  return h(
    "div",
    { class: "plots" },
    h(
      "div",
      {},
      h("h3", {}, "Size over the time of the run"),
      scatter({
        label: "Size of messages over time",
        x: { title: "time since the first event of the trace", format: time },
        y: { ...sizes, title: "bytes" },
        groups,
        points: messages.map((m) => ({ x: m.start, y: Math.max(1, m.bytes), group: groupOf(m) })),
        describe: (i) => describe(messages[i]),
        pick: pick && ((i) => pick(messages[i])),
      })
    ),
    h(
      "div",
      {},
      h("h3", {}, "Time over size"),
      scatter({
        label: "Time of messages over their size",
        x: sizes,
        y: { title: "from send to receive", format: time, log: 10 },
        groups,
        points: timed.map((m) => ({ x: Math.max(1, m.bytes), y: Math.max(1, m.ns), group: groupOf(m) })),
        lines:
          fit.latency_ns === null
            ? []
            : [
                {
                  title: fit.ns_per_byte === null ? "median" : "fit",
                  y: (x) => Math.max(1, fit.latency_ns! + (fit.ns_per_byte ?? 0) * x),
                },
              ],
        describe: (i) => describe(timed[i]),
        pick: pick && ((i) => pick(timed[i])),
      })
    ),
    h(
      "div",
      {},
      h("h3", {}, "Messages under way"),
      scatter({
        label: "Messages under way over time",
        x: { title: "time since the first event of the trace", format: time },
        y: { title: "messages under way", format: (v) => amount(v, "") },
        groups: [{ title: "messages under way at a time, mean over an interval", colour: 0, shape: "line" }],
        points: course.share.map((y, i) => ({ x: course.first + (i + 0.5) * course.width, y, group: 0 })),
        describe: (i) =>
          `${time(course.first + i * course.width)}: ${course.share[i].toPrecision(3)} messages under way`,
        pick:
          pick &&
          ((i) => state.showTime([a, b], course.first + i * course.width, course.first + (i + 1) * course.width)),
      })
    )
  );
}

function lists(state: State, pair: PairDetailsJson, messages: Message[]): HTMLElement {
  const { a, b } = pair,
    late = messages.filter((m) => m.outlier).sort((x, y) => y.ns - x.ns);
  return h(
    "div",
    { class: "columns" },
    h(
      "div",
      {},
      h("h3", {}, "Call paths"),
      table(
        "pairpaths",
        [
          { title: "sent by", number: true },
          { title: "call path" },
          { title: "messages", number: true },
          { title: "bytes", number: true },
          { title: "in calls", number: true },
        ],
        pair.paths.map((p) => [
          p.sender.toLocaleString("en"),
          name(p.path),
          p.messages.toLocaleString("en"),
          bytes(p.bytes),
          seconds(p.seconds),
        ])
      )
    ),
    pair.packs.length > 0
      ? h(
          "div",
          {},
          h("h3", {}, "Small messages of one step that could be combined"),
          table(
            "packs",
            [
              { title: "sent by", number: true },
              { title: "first sent in" },
              { title: "messages", number: true },
              { title: "into", number: true },
              { title: "saves", number: true },
            ],
            pair.packs.map((p) => [
              p.sender.toLocaleString("en"),
              name(p.path),
              p.messages.toLocaleString("en"),
              p.into.toLocaleString("en"),
              seconds(p.gain_seconds),
            ])
          )
        )
      : null,
    late.length > 0
      ? h(
          "div",
          {},
          h("h3", {}, "Messages that took much longer"),
          table(
            "outliers",
            [
              { title: "sent by", number: true },
              { title: "at", number: true },
              { title: "size", number: true },
              { title: "took", number: true },
            ],
            late.map((m) => [
              (m.fromA ? a : b).toLocaleString("en"),
              timeLink(state, time(m.start), m.fromA ? [a, b] : [b, a], m.start, m.start + m.ns),
              bytes(m.bytes),
              time(m.ns),
            ])
          )
        )
      : null
  );
}

function detailsOf(state: State, data: Communication, a: number, b: number): (HTMLElement | null)[] {
  const found = data.trace?.found;
  if (!found)
    return [
      h("p", { class: "quiet" }, "A snapshot does not hold single messages: those are in a trace (EFFORT_TRACE=on)."),
    ];
  const pair = found.pair_details.find((p) => p.a === Math.min(a, b) && p.b === Math.max(a, b));
  if (!pair)
    return [
      h(
        "p",
        { class: "quiet" },
        `The page holds the messages of the ${count(found.pair_details.length, "pair")} with the most time; ` +
          `of others, effort comm pairs TRACE --pair ${Math.min(a, b)},${Math.max(a, b)} lists them.`
      ),
    ];
  const messages = messagesOf(pair);
  return [
    h("p", {}, sentence(pair)),
    pair.left_out > 0
      ? h(
          "p",
          { class: "quiet" },
          `${count(messages.length, "message")} are shown, those that took much longer and an even choice of the ` +
            `others; ${pair.left_out.toLocaleString("en")} are left out.`
        )
      : null,
    plots(state, pair, messages),
    lists(state, pair, messages),
  ];
}

/** The pairs with the most time, and one of them. */
export function pairOf(
  state: State,
  data: Communication,
  side: Side
): { list: HTMLElement; details: HTMLElement; show: (a: number, b: number) => void } {
  const view = state.communication,
    { ranks } = state.run.info,
    nodeOf = nodesOf(state.run),
    host = h("div", { class: "pair" });
  const field = (label: string, value: number) =>
    h("input", { type: "number", min: 0, max: ranks - 1, value, "aria-label": label });
  const boxes = [field("rank", 0), field("other rank", Math.min(1, ranks - 1))];
  const draw = () => {
    if (!view.pair) return host.replaceChildren();
    const [a, b] = view.pair;
    boxes[0].value = String(a);
    boxes[1].value = String(b);
    host.dataset.pair = `${a},${b}`;
    const where = nodeOf(a) === nodeOf(b) ? `both on node ${nodeOf(a)}` : `on nodes ${nodeOf(a)} and ${nodeOf(b)}`;
    host.replaceChildren(
      heading(`Ranks ${a} and ${b}`, `They are ${where}.`),
      directions(side, a, b),
      ...detailsOf(state, data, a, b).filter((e): e is HTMLElement => e !== null)
    );
  };
  const list = h(
    "section",
    { id: "comm-pairs" },
    heading(
      "Pairs",
      side.of === "trace"
        ? "Time from the start of the send to the end of the receive, both directions."
        : "Time in calls for the pair, of both ranks."
    ),
    table(
      "pairlist",
      [
        { title: "ranks" },
        { title: "node" },
        { title: "messages", number: true },
        { title: "bytes", number: true },
        { title: "time", number: true },
        { title: "in calls", number: true },
      ],
      side.json.pairs.map(([a, b, messages, size, ns, calls]) => [
        h(
          "button",
          { class: "link", onclick: () => show(a, b) },
          `${a.toLocaleString("en")}, ${b.toLocaleString("en")}`
        ),
        nodeOf(a) === nodeOf(b) ? "same" : "other",
        messages.toLocaleString("en"),
        bytes(size),
        time(ns),
        time(calls),
      ]),
      8,
      side.json.pair_count
    ),
    h(
      "form",
      {
        class: "toolbar",
        onsubmit: (event: Event) => {
          event.preventDefault();
          const [a, b] = boxes.map((box) => Math.min(ranks - 1, Math.max(0, Math.round(Number(box.value)) || 0)));
          show(a, b);
        },
      },
      h("label", { class: "field" }, "ranks", boxes[0], "and", boxes[1]),
      h("button", {}, "show")
    )
  );
  const show = (a: number, b: number) => {
    view.pair = [Math.min(a, b), Math.max(a, b)];
    draw();
    host.scrollIntoView({ block: "start", behavior: "smooth" });
  };
  const first = side.json.pairs[0];
  view.pair ??= first ? [first[0], first[1]] : undefined;
  draw();
  return { list, details: h("section", { id: "comm-pair" }, host), show };
}
