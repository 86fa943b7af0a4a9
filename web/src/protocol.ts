// What the page and the worker say to each other.

export interface FlowInfo {
  name: string;
  group: string;
  protocol: "tcp" | "tfrc" | "cbr" | "on-off";
  algorithm: string | null;
  measured: boolean;
  start_s: number;
  stop_s: number | null;
}

export interface Adjustable {
  name: string;
  rate_bps: number | null;
  delay_ms: number;
  queue_packets: number | null;
  loss: number | null;
  loss_setting: [string, string];
  /** A TCP flow over this link, in TOML. */
  new_flow: string;
}

export interface Info {
  title: string;
  duration_s: number;
  step_s: number;
  window_s: [number, number];
  flows: FlowInfo[];
  drawn: number[];
  bottleneck: string;
  links: Adjustable[];
  algorithms: string[];
  parameters: [string, number][];
  packet_hops: number;
}

export interface Algorithm {
  name: string;
  summary: string;
  yardstick: boolean;
  /** Each key of `[lda.NAME]` and what it means. */
  settings: [string, string][];
}

export interface Catalogue {
  version: string;
  algorithms: Algorithm[];
}

/** A row of losses.csv. */
export interface LossRow {
  flow: string;
  seq: number;
  lost_s: number | null;
  link: string | null;
  cause: string | null;
  algorithm: string | null;
  judged_s: number | null;
  verdict: string | null;
  is_right: boolean | null;
  reason: string | null;
}

/** A scenario with what the program needs to read it. */
export interface Source {
  name: string;
  text: string;
  files: Record<string, string>;
}

/** What one side runs; empty words leave the scenario as it is. */
export interface System {
  protocol: string;
  algorithm: string;
  /** Other settings, KEY=VALUE, separated by semicolons. */
  settings: string;
}

/** What two runs are made of. */
export interface Setup {
  source: Source;
  seed: number;
  systems: [System, System];
  parameters: Record<string, number>;
  /** The link whose packets are shown; without a name, or if the scenario has no such link, the bottleneck. */
  link: string;
}

export interface Opened {
  /** What makes each system of the scenario, each KEY=VALUE. */
  settings: [string[], string[]];
  infos: [Info, Info];
  columns: [number, number];
  network: Network;
}

/** The links as they are, the flows and the changes. */
export interface Network {
  links: Adjustable[];
  /** All, also those that start later or have stopped. */
  flows: FlowInfo[];
  /** All, also those that come again after the run was taken back: the instant in seconds, KEY=VALUE. */
  changes: [number, string][];
}

export interface Outcome {
  json: string;
  finished: boolean;
  changes: [number, string][];
}

export type Ask =
  | { ask: "start" }
  | { ask: "open"; setup: Setup; most: number; changes: [number, string][] }
  | { ask: "frame"; to: number; budget_ms: number }
  | { ask: "change"; settings: string[] }
  | { ask: "watch"; link: string }
  | { ask: "seek"; to: number }
  | { ask: "foresee" }
  | { ask: "result"; side: 0 | 1 }
  | { ask: "loss"; side: 0 | 1; place: number };

export interface Side {
  rows: Float64Array;
  losses: Float64Array;
  packets: Float64Array;
  lost: Float64Array;
  verdicts: Float64Array;
}

export interface Frame {
  now: number;
  finished: boolean;
  /** If planned changes were made on the way. */
  network: Network | null;
  sides: [Side, Side];
}

export interface Question {
  id: number;
  ask: Ask;
}

export type Reply = { id: number; answer: unknown } | { id: number; error: string; fatal: boolean };
