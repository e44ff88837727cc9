// The call graph around a function: its callers and its callees, with loops marked, and all loops.

import { Calls, Loop, View } from "../../calls/data";
import { h, heading, unbroken } from "../../dom";
import { middle, percent } from "../../format";
import { table } from "../communication/tables";

const range = (loop: Loop) =>
  loop.least === loop.most
    ? loop.most.toLocaleString("en")
    : `${loop.least.toLocaleString("en")} to ${loop.most.toLocaleString("en")}`;

export function graph(calls: Calls, first: View): { element: HTMLElement; show: (view: View) => void } {
  const host = h("div", { class: "callgraph" }),
    loops = h("div");
  let view = first,
    chosen = -1;

  const link = (text: number) =>
    h(
      "button",
      { class: "link", title: calls.text(text), onclick: () => choose(text) },
      unbroken(middle(calls.text(text), 90))
    );
  /** The loop in which a function calls another, the one with the most iterations. */
  const loopOf = (caller: number, callee: number) =>
    view.loops.find((loop) => loop.caller === caller && loop.body.includes(callee));
  const inLoop = (caller: number, callee: number) => {
    const loop = loopOf(caller, callee);
    return loop ? `\u21bb ${range(loop)}` : "";
  };

  function edges(name: string, title: string, rows: { text: number; calls: number; loop: string }[]): HTMLElement {
    return h(
      "div",
      {},
      h("h3", {}, title),
      rows.length === 0
        ? h("p", { class: "quiet" }, "none")
        : table(
            name,
            [{ title: "function" }, { title: "calls", number: true }, { title: "in loops of", number: true }],
            rows
              .sort((a, b) => b.calls - a.calls)
              .map((row) => [link(row.text), row.calls.toLocaleString("en"), row.loop]),
            12
          )
    );
  }

  function choose(text: number): void {
    chosen = text;
    const all = view.edges,
      own = view.functions.find((f) => f.text === text)?.calls ?? 0;
    host.replaceChildren(
      h(
        "div",
        { class: "columns" },
        edges(
          "callers",
          "called by",
          all
            .filter((e) => e.callee === text)
            .map((e) => ({ text: e.caller, calls: e.calls, loop: inLoop(e.caller, text) }))
        ),
        edges(
          "callees",
          "calls",
          all
            .filter((e) => e.caller === text)
            .map((e) => ({ text: e.callee, calls: e.calls, loop: inLoop(text, e.callee) }))
        )
      )
    );
    title.replaceChildren(h("b", {}, calls.text(text)), ` ${own.toLocaleString("en")} calls`);
    title.dataset.function = calls.text(text);
  }

  const title = h("p", { id: "calls-function" }),
    list = h("div");
  function show(next: View): void {
    view = next;
    const { functions } = view,
      sum = view.json.calls || 1;
    list.replaceChildren(
      table(
        "functions",
        [{ title: "function" }, { title: "calls", number: true }, { title: "share", number: true }],
        functions.map((f) => [link(f.text), f.calls.toLocaleString("en"), percent(f.calls / sum)]),
        12
      )
    );
    const known = view.loops;
    loops.replaceChildren(
      h("h3", {}, "Loops"),
      known.length === 0
        ? h("p", { class: "quiet" }, calls.json.problem ?? "none")
        : table(
            "loops",
            [
              { title: "in" },
              { title: "calls again and again" },
              { title: "iterations", number: true },
              { title: "per run", number: true },
            ],
            known.map((loop) => [
              loop.caller < 0 ? "" : link(loop.caller),
              calls.line(loop.body),
              loop.iterations.toLocaleString("en"),
              range(loop),
            ]),
            8
          ),
      view.json.loop_count > known.length
        ? h(
            "p",
            { class: "quiet" },
            `${(view.json.loop_count - known.length).toLocaleString("en")} more, with fewer iterations: ` +
              "effort calls graph"
          )
        : ""
    );
    const again = functions.some((f) => f.text === chosen) ? chosen : functions[0]?.text;
    if (again !== undefined) choose(again);
  }
  show(first);
  return {
    show,
    element: h(
      "section",
      { id: "calls-graph" },
      heading(
        "Call graph",
        "Choose a function to see its callers and callees. \u21bb: called in a loop of so many iterations."
      ),
      h("div", { class: "columns" }, list, h("div", {}, title, host)),
      loops
    ),
  };
}
