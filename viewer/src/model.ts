// The JSON that `effort report` embeds in the page.

export interface MetricNumbers {
  total: number;
  mean_over_ranks: number;
  max_over_ranks: number;
  max_rank: number;
  imbalance: number;
  nrmse: number | null;
  bytes: number;
}

export interface Region {
  name: string;
  kind: "compute" | "comm" | "wait" | "io";
  phase: string;
  metrics: Record<string, MetricNumbers>;
}

/** Of the numbers in the table of analytics/window/report.hpp those that the page shows and that may be unknown. */
type WindowNumber =
  | "gain_per_step"
  | "rebalance_cost"
  | "prediction_error"
  | "load_balance"
  | "communication_efficiency"
  | "parallel_efficiency";

export interface Window extends Record<WindowNumber, number | null> {
  first: number;
  last: number;
  imbalance: number;
  rebalance: number;
  rebalanced: number;
  rebalanced_at: number | null;
  rebalances?: number;
  strata: number;
  advice: string[];
  worst_region: string | null;
  unit_costs?: { name: string; seconds_per_unit: number | null; error: number | null }[];
}

export interface Strata {
  first: number;
  last: number;
  sizes: number[];
  medoid_rank: number[];
  stratum: number[];
  regions: string[];
  stratum_region_load: number[][];
}

/** `effort info --json`. */
export interface Info {
  version: string;
  name: string;
  job: string;
  ranks: number;
  nodes: number;
  steps: number;
  window: number;
  hint_lag: number;
  load_metric: string;
  metrics: string[];
  metric_units: Record<string, string>;
  nrmse: number | null;
  wall_seconds: number;
  critical_path: number | null;
  mean_path: number | null;
  ideal_saving: number | null;
  ideal_saving_of: "time" | "critical_path" | null;
  own_cpu_seconds: number;
  own_cpu_share: number | null;
  own_cpu_seconds_per_node: number[];
  own_bytes_per_node: number[];
  merged_steps: number;
  lost_snapshots: number;
  bytes: number;
  regions: Region[];
  windows: Window[];
  strata: Strata[];
  strata_moves: { first: number; last: number; moved: number }[];
  unit_costs: { name: string; seconds_per_unit: number | null; error: number | null }[];
  /** Time per unit of work of all ranks, relative to the typical rank's (1), run-length coded; empty: not known. */
  speeds: { ranks: number; time: number }[];
  notes: string[];
}

/** How ranks moved between strata; see tools/view/strata_moves.hpp. */
export interface Movement {
  windows: { first: number; last: number; sizes: number[] }[];
  /** Index of the earlier window, stratum in it, stratum in the one after, ranks. */
  flows: [number, number, number, number][];
  first: number[];
  last: number[];
  moved: number[];
  /** Rank, number of moves. */
  movers: [number, number][];
}

/** Places in the program by call path frame, "MODULE+0xHEX"; the innermost function first. */
export type Frames = Record<string, Frame[]>;

export interface PackedValues {
  from: number;
  range: number;
  values: string;
}

/** Means over bins of ranks and of steps. */
export interface PackedPicture {
  rows: number;
  cols: number;
  cells: PackedValues;
}

export interface SeriesJson {
  region: number;
  metric: number;
  histories: [number, number, number][];
  mean: PackedValues;
  max: PackedValues;
  coarse: PackedPicture;
  /** Rows and columns of the picture at screen resolution; 0: none. */
  screen: [number, number];
  rank_totals: boolean;
  exact: boolean;
}

export interface RunJson {
  file: string;
  info: Info;
  placement: [number, number][];
  series: SeriesJson[];
  load: {
    steps_per_bin: number;
    level: number;
    mean: string;
    max: string;
    worst_rank: string;
    rank_total: string;
    critical_path: number;
    mean_path: number;
    exact: boolean;
    picture: PackedPicture;
  };
  exact_left_out: number;
  frames: Frames;
  frame_notes: string[];
  /** Short forms of names that are call paths; they fit on a line and still differ. */
  short_names: Record<string, string>;
  movement: Movement;
  shapes: { series: number[]; merges: [number, number, number, number][] };
  orders: { name: string; ranks: string }[];
}

export interface Place {
  region: number;
  file: number;
  first: number;
  last: number;
  what: string;
}

export interface Frame {
  function?: string;
  file?: string;
  line?: number;
}

export interface Head {
  title: string;
  effort: string;
  runs: number;
  regions: string[];
  /** Number of files of function calls in the page. */
  calls: number;
  /** Per run whether the page holds its trace. */
  traces: boolean[];
  source?: { files: { path: string; text: string }[]; places: Place[]; notes: string[] };
}

/** As `effort diff --json` prints it. */
export interface Comparison {
  problem?: string;
  metric: string;
  unit: string;
  threshold: number;
  a: RunSide;
  b: RunSide;
  regions: RegionChange[];
  notes: string[];
}
export interface RunSide {
  ranks: number;
  nodes: number;
  steps: number;
  wall_seconds: number | null;
  seconds_per_step: number | null;
  compute_per_step: number;
  other_per_step: number;
  imbalance: number | null;
  load_balance: number | null;
  parallel_efficiency: number | null;
  ideal_saving: number | null;
  rebalances: number;
  own_cpu_share: number | null;
}
export interface RegionChange {
  name: string;
  kind: string;
  phase: string;
  verdict: "same" | "better" | "worse" | "only_a" | "only_b";
  change_per_step: number;
  change: number | null;
  a: RegionSide | null;
  b: RegionSide | null;
}
export interface RegionSide {
  name: string;
  total_per_step: number;
  mean_per_step: number;
  max_per_step: number;
  max_rank: number;
  imbalance: number;
}
