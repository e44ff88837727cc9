// Where two ranks, or two runs, part ways.

import { Calls, PairJson, View } from "../../calls/data";
import { h, heading } from "../../dom";
import { table } from "../communication/tables";
import { viewChoice } from "./choice";

const eventText = (text: string) => (text === "return" ? "returns" : text === "end" ? "ends" : `calls ${text}`);

/** The pair that differs and that one would look at first. */
function firstPair(calls: Calls, views: View[]): [View, View] | undefined {
  const pair = calls.json.pairs.find(({ differ }) => differ.length > 0) ?? calls.json.pairs[0],
    find = ([source, view]: [number, number]) => views.find((v) => v.source.index === source && v.index === view);
  const a = pair && find(pair.a),
    b = pair && find(pair.b);
  return a && b ? [a, b] : undefined;
}

function stackList(calls: Calls, title: string, stack: number[]): HTMLElement {
  return h(
    "div",
    {},
    h("h3", {}, title),
    stack.length === 0
      ? h("p", { class: "quiet" }, "none: all calls returned")
      : h(
          "ol",
          { class: "calls-stack" },
          stack.map((i) => h("li", {}, calls.text(i)))
        )
  );
}

function difference(calls: Calls, json: PairJson, swapped: boolean, [a, b]: [View, View]): HTMLElement {
  if (json.streams === 0) return h("p", {}, "They have no thread in common.");
  if (json.differ.length === 0) return h("p", {}, "All calls are the same.");
  const side = <T>(x: T, y: T): [T, T] => (swapped ? [y, x] : [x, y]);
  return h(
    "div",
    {},
    json.differ.map((d) => {
      const [eventA, eventB] = side(d.first_difference.a, d.first_difference.b),
        [openA, openB] = side(d.open_a, d.open_b);
      return h(
        "div",
        { class: "calls-difference" },
        h(
          "p",
          { class: "first" },
          d.thread > 0 ? `Thread ${d.thread}: ` : "",
          `They part at event ${d.first_difference.event.toLocaleString("en")}: A `,
          h("b", {}, eventText(calls.text(eventA))),
          ", B ",
          h("b", {}, eventText(calls.text(eventB))),
          "."
        ),
        h("div", { class: "columns" }, stackList(calls, "inside of", d.first_difference.stack)),
        d.loops.length > 0
          ? h(
              "div",
              {},
              h("h3", {}, "Loops with other numbers of iterations"),
              table(
                "loopdifferences",
                [{ title: "loop of" }, { title: "A", number: true }, { title: "B", number: true }, { title: "in" }],
                d.loops.map((l) => {
                  const [x, y] = side(l.a, l.b);
                  return [calls.line(l.body), x.toLocaleString("en"), y.toLocaleString("en"), calls.line(l.stack)];
                }),
                6
              )
            )
          : null,
        d.calls.length > 0
          ? h(
              "div",
              {},
              h("h3", {}, "Other calls"),
              table(
                "calldifferences",
                [{ title: "A" }, { title: "B" }, { title: "in" }],
                d.calls.map((c) => [...side(calls.line([c.a]), calls.line([c.b])), calls.line(c.stack)]),
                6
              )
            )
          : null,
        openA.length + openB.length > 0
          ? h(
              "div",
              { class: "columns" },
              stackList(calls, `open at the end of A (${a.ranks})`, openA),
              stackList(calls, `open at the end of B (${b.ranks})`, openB)
            )
          : null
      );
    })
  );
}

export function differences(calls: Calls, all: View[]): HTMLElement | null {
  const views = all.filter((view) => view.json.ranks !== undefined);
  if (views.length === 1 && calls.json.ranks_left_out === 0)
    return h(
      "section",
      { id: "calls-diff" },
      heading("Differences", "All ranks called the same functions in the same order.")
    );
  let [a, b] = firstPair(calls, views) ?? [views[0], views[1] ?? views[0]];
  const host = h("div", { id: "calls-pair" });
  const show = () => {
    const pair = calls.pair(a, b);
    host.replaceChildren(
      a === b
        ? h("p", {}, "All calls are the same.")
        : pair
          ? difference(calls, pair.json, pair.swapped, [a, b])
          : h(
              "p",
              {},
              calls.json.problem ?? "The page does not hold this comparison: effort calls diff A B --ranks X,Y."
            )
    );
  };
  show();
  return h(
    "section",
    { id: "calls-diff" },
    heading("Differences", "The first call in which two ranks differ. Ranks with equal calls are one entry."),
    h(
      "div",
      { class: "toolbar" },
      viewChoice(calls, "A", views, a, (view) => ((a = view), show())),
      viewChoice(calls, "B", views, b, (view) => ((b = view), show()))
    ),
    host
  );
}
