// Reads the report from the JSON in the page.

import { Comparison, Head, RunJson } from "./model";
import { Run } from "./run";

export interface Report {
  head: Head;
  runs: Run[];
}

/** The comparisons of pairs of runs; none for one run. */
export function readComparisons(): { before: number; after: number; comparison: Comparison }[] {
  return document.getElementById("effort-compare") ? element("effort-compare") : [];
}

/** Reads one element's JSON; throws an error with a message for the user. */
function element<T>(id: string): T {
  const text = document.getElementById(id)?.textContent;
  if (!text)
    throw new Error(
      `The report has no part "${id}": it is cut short or was changed. Write it again with effort report.`
    );
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(
      `The part "${id}" of the report cannot be read: the file is cut short or was changed. ` +
        "Write it again with effort report."
    );
  }
}

export function readReport(): Report {
  const head = element<Head>("effort-head");
  return { head, runs: Array.from({ length: head.runs }, (_, r) => new Run(r, element<RunJson>(`effort-run-${r}`))) };
}
