// The choice of a group of ranks whose calls are shown.

import { Calls, View } from "../../calls/data";
import { select } from "../../dom";

const nameOf = (calls: Calls, view: View) =>
  calls.sources.length > 1 ? `${view.source.json.file}: ${view.ranks}` : view.ranks;

/** Chooses a view by its place in the list of all. */
export function viewChoice(calls: Calls, label: string, views: View[], now: View, change: (view: View) => void) {
  return select(
    label,
    views.map((view, i) => ({ value: String(i), title: nameOf(calls, view) })),
    String(views.indexOf(now)),
    (v) => change(views[Number(v)])
  );
}
