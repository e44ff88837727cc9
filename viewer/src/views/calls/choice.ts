// The choice of a rank, or a group of ranks, whose calls are shown.

import { Calls, View } from "../../calls/data";
import { select } from "../../dom";
import { amount } from "../../format";

const nameOf = (calls: Calls, view: View) =>
  (calls.sources.length > 1 ? `${view.source.json.file}: ${view.ranks}` : view.ranks) +
  (view.seconds === undefined ? "" : `, ${amount(view.seconds, "s")}`);

/** Chooses a view by its place in the list of all. */
export function viewChoice(calls: Calls, label: string, views: View[], now: View, change: (view: View) => void) {
  return select(
    label,
    views.map((view, i) => ({ value: String(i), title: nameOf(calls, view) })),
    String(views.indexOf(now)),
    (v) => change(views[Number(v)])
  );
}
